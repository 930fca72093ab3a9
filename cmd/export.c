/* export.c - `bda export`: a model as other tools read it. */
#include <string.h>

#include "cmd.h"

/* LIBLINEAR knows no softmax: from many labels it computes 1 / (1 + exp(-z)) for each and divides by their sum. */
static void note_probabilities(const invocation *v, const bda_model *model)
{
    bda_model_summary m = {.size = sizeof m};
    bda_model_summarise(model, &m);
    if (m.outputs > 1 && strcmp(m.loss, "logistic") == 0 && strcmp(bda_get(v->settings, "format"), "liblinear") == 0)
        say(v, "note: liblinear-predict predicts the same labels, but the probabilities of its -b 1 are those of one "
               "against the rest, not the softmax of this model; `bda predict --probability' has these");
}

static bool export_model(const invocation *v, bda_error *err)
{
    bda_model *model = bda_model_read(v->argument[0], err);
    bool ok = model && bda_model_export(model, bda_get(v->settings, "format"), v->argument[1], err);
    if (ok)
        note_probabilities(v, model);
    bda_model_free(model);
    return ok;
}

static int run_export(invocation *v)
{
    bda_error err = {0};
    const char *format = bda_get(v->settings, "format");
    const bda_file_kind kind = strcmp(format, "json") == 0 ? BDA_FILE_JSON
                               : strcmp(format, "c") == 0  ? BDA_FILE_C
                                                           : BDA_FILE_LIBLINEAR;
    const bda_output output = {v->argument[1], kind};
    bool ok = can_write(v, &output, 1, v->argument, 1, &err) &&
              bda_comm_agree(v->comm, !v->first || export_model(v, &err), &err);
    return ok ? EXIT_DONE : fail(v, &err);
}

const command export_command = {
    .name = "export",
    .arguments = "MODEL OUTPUT",
    .summary = "write a model that other tools read",
    .more =
        "liblinear: LIBLINEAR's text model, for liblinear-predict and everything else that reads it; OUTPUT may be "
        "- for standard output. json: all that the model holds. c: C source that scores rows and needs nothing else.",
    .examples = {"bda export model model.liblinear", "bda export --format=liblinear model -",
                 "bda export --force model old.liblinear"},
    .least = 2,
    .most = 2,
    .run = run_export,
};
