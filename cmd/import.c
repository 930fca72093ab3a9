/* import.c - `bda import`: a model of another program made ours. */
#include <string.h>

#include "cmd.h"

/* LIBLINEAR learns each of several labels against the rest; we have the softmax. */
static void note_probabilities(const invocation *v, const bda_model *model)
{
    bda_model_summary m = {.size = sizeof m};
    bda_model_summarise(model, &m);
    if (m.outputs > 1 && strcmp(m.loss, "logistic") == 0 && !is_set(v, "quiet"))
        say(v, "note: it predicts the same labels, but with more than two of them --probability differs from "
               "LIBLINEAR's, "
               "which looks at each label alone");
}

static bool import_model(const invocation *v, bda_error *err)
{
    bda_model *model = bda_model_import(bda_get(v->settings, "format"), v->argument[0], err);
    const bool ok = model && bda_model_write(model, v->argument[1], err);
    if (ok)
        note_probabilities(v, model);
    bda_model_free(model);
    return ok;
}

static int run_import(invocation *v)
{
    bda_error err = {0};
    const bda_output output = {v->argument[1], BDA_FILE_MODEL};
    bool ok = can_write(v, &output, 1, v->argument, 1, &err) &&
              bda_comm_agree(v->comm, !v->first || import_model(v, &err), &err);
    return ok ? EXIT_DONE : fail(v, &err);
}

const command import_command = {
    .name = "import",
    .arguments = "FILE MODEL",
    .summary = "make a model of another program ours",
    .more = "liblinear: LIBLINEAR's text model of any solver but that for one class. With more than two labels it "
            "predicts the same, but has other probabilities.",
    .examples = {"bda import liblinear.model model", "bda import --format=liblinear old.txt model",
                 "bda import --force liblinear.model model"},
    .least = 2,
    .most = 2,
    .run = run_import,
};
