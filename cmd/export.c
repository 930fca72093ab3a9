/* export.c - `bda export`: a model as other tools read it. */
#include "cmd.h"

static bool export_model(const invocation *v, bda_error *err)
{
    bda_model *model = bda_model_read(v->argument[0], err);
    bool ok = model && bda_model_export(model, bda_get(v->settings, "format"), v->argument[1], err);
    bda_model_free(model);
    return ok;
}

static int run_export(invocation *v)
{
    bda_error err = {0};
    bool ok =
        can_write(v, v->argument[1], 1, &err) && bda_comm_agree(v->comm, !v->first || export_model(v, &err), &err);
    return ok ? EXIT_DONE : fail(v, &err);
}

const command export_command = {
    .name = "export",
    .arguments = "MODEL OUTPUT",
    .summary = "write a model that other tools read",
    .more =
        "liblinear: LIBLINEAR's text model, for liblinear-predict and everything else that reads it; OUTPUT may be "
        "- for standard output.",
    .least = 2,
    .most = 2,
    .run = run_export,
};
