/* common.c - messages and checks that several commands need. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"

void say(const invocation *v, const char *format, ...)
{
    if (!v->first)
        return;
    char text[2000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    bda_plain_text(text);
    fprintf(stderr, "bda %s: %s\n", v->command->name, text);
}

int fail(const invocation *v, const bda_error *err)
{
    say(v, "%s", err->text);
    return err->status == BDA_USAGE ? EXIT_USAGE : EXIT_FAILED;
}

bool is_set(const invocation *v, const char *flag)
{
    return strcmp(bda_get(v->settings, flag), "1") == 0;
}

void note_data(const invocation *v, const bda_data *data, const char *path)
{
    bda_data_summary d = {.size = sizeof d};
    bda_data_summarise(data, &d);
    if (is_set(v, "quiet"))
        return;
    char holds[100], features[60] = "";
    if (d.features > 0 || d.tokens == 0)
        snprintf(features, sizeof features, ", %llu features", (unsigned long long)d.features);
    if (d.tokens > 0)
        snprintf(holds, sizeof holds, "%llu sentence%s, %llu token%s%s", (unsigned long long)d.instances,
                 d.instances == 1 ? "" : "s", (unsigned long long)d.tokens, d.tokens == 1 ? "" : "s", features);
    else
        snprintf(holds, sizeof holds, "%llu instances%s, %llu nonzeros", (unsigned long long)d.instances, features,
                 (unsigned long long)d.nonzeros);
    say(v, "%s: %s, read from %llu file%s in %.2f s", path, holds, (unsigned long long)d.files,
        d.files == 1 ? "" : "s", d.seconds);
    if (d.empty_files > 0)
        say(v, "note: %llu of these files %s no instances, that of rank %d%s", (unsigned long long)d.empty_files,
            d.empty_files == 1 ? "has" : "have", d.first_empty, d.empty_files == 1 ? "" : " and others");
    if (d.reordered)
        say(v, "note: %s has rows whose indices are not in order; they were sorted", path);
}

/* P - min P <= gap = r P, so P is at most r / (1 - r) of min P above it. */
void describe_gap(double relative_gap, char *text, size_t size)
{
    if (isnan(relative_gap))
        text[0] = 0;
    else if (relative_gap < 1e-15) /* less than the objective is rounded by */
        snprintf(text, size, ", the optimum");
    else if (relative_gap < 1) {
        const double percent = 100 * relative_gap / (1 - relative_gap);
        snprintf(text, size,
                 percent < 99.5 ? ", at most %.2g %% above the optimum" : ", at most %.0f %% above the optimum",
                 percent);
    } else {
        snprintf(text, size, ", and the optimum may be anything down to 0");
    }
}

bool can_write(const invocation *v, const bda_output *output, int outputs, const char *const *input, int inputs,
               bda_error *err)
{
    return bda_check_outputs(v->comm, output, outputs, input, inputs, is_set(v, "force"), err);
}

/* With --output all arguments are files of data. */
static int data_files(const invocation *v)
{
    return bda_get(v->settings, "output")[0] ? v->arguments : 1;
}

static bool is_data(const invocation *v, bda_error *err)
{
    err->status = BDA_USAGE;
    if (data_files(v) == 1 && v->arguments > 2) {
        snprintf(err->text, sizeof err->text,
                 "'%.300s' is one word too many; several files of data need --output=MODEL, or -o MODEL",
                 v->argument[2]);
        return false;
    }
    if (bda_is_model(v->argument[0])) {
        snprintf(err->text, sizeof err->text, "'%.300s' is a model, and DATA is expected in its place",
                 v->argument[0]);
        return false;
    }
    err->status = BDA_OK;
    return true;
}

bool check_data(const invocation *v, bda_error *err)
{
    return bda_comm_agree(v->comm, !v->first || is_data(v, err), err); /* the others may not even see the file */
}

bool can_write_beside(const invocation *v, const bda_output *output, int outputs, const char *other, bda_error *err)
{
    const int files = data_files(v);
    const char **input = calloc((size_t)files + 3, sizeof *input);
    if (!input)
        no_memory("the names of the files", err);
    if (!bda_comm_agree(v->comm, input != NULL, err)) {
        free(input);
        return false;
    }
    memcpy(input, v->argument, (size_t)files * sizeof *input);
    input[files] = bda_get(v->settings, "feature-penalty");
    input[files + 1] = bda_get(v->settings, "weights");
    input[files + 2] = other ? other : "";
    const bool ok = can_write(v, output, outputs, input, files + 3, err);
    free(input);
    return ok;
}

bda_data *read_data(const invocation *v, bda_error *err)
{
    char what[120];
    snprintf(what, sizeof what, "reading %.100s", v->argument[0]);
    progress *line = bda_get(v->settings, "progress") ? progress_begin(v, what) : NULL;
    bda_data *data = bda_data_read_files(v->comm, v->settings, (uint64_t)data_files(v), v->argument, err);
    progress_end(line);
    return data;
}

bool no_memory(const char *what, bda_error *err)
{
    err->status = BDA_FAILED;
    snprintf(err->text, sizeof err->text, "out of memory: needed some for %s", what);
    return false;
}

static char *own_model_name(const invocation *v)
{
    const char *output = bda_get(v->settings, "output");
    if (output && output[0])
        return strdup(output);
    if (v->argument[1])
        return strdup(v->argument[1]);
    const char *slash = strrchr(v->argument[0], '/'), *base = slash ? slash + 1 : v->argument[0];
    char *name = NULL;
    return asprintf(&name, "%s.model", base) < 0 ? NULL : name;
}

char *model_name(const invocation *v, bda_error *err)
{
    char *name = own_model_name(v);
    if (!name)
        no_memory("the name of the model", err);
    if (bda_comm_agree(v->comm, name != NULL, err))
        return name;
    free(name);
    return NULL;
}
