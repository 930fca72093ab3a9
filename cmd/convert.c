/* convert.c - `bda convert`: data from text to the binary format and back. */
#include "cmd.h"

static int convert(invocation *v)
{
    bda_error err = {0};
    const char *from = v->argument[0], *to = v->argument[1];
    bda_output output = {to, bda_data_file_kind(v->settings, from, to)};
    bda_data *data =
        can_write(v, &output, 1, &from, 1, &err) ? bda_data_read(v->comm, v->settings, from, &err) : NULL;
    if (!data)
        return fail(v, &err);
    note_data(v, data, from);
    bool ok = bda_data_write(v->comm, data, v->settings, to, &err);
    if (ok && !is_set(v, "quiet"))
        say(v, "%s written to %s", output.kind == BDA_FILE_TEXT ? "text" : "binary data", to);
    bda_data_free(data);
    return ok ? EXIT_DONE : fail(v, &err);
}

const command convert_command = {
    .name = "convert",
    .arguments = "DATA OUTPUT",
    .summary = "turn text into the binary format that loads at memory speed, and back",
    .more =
        "Text is packed where the name of OUTPUT ends in .gz or .zst. With --zero-based, text counts features from "
        "0 where it is read and where it is written.",
    .examples = {"bda convert data.svm.gz data.bda", "bda convert data.bda data.svm.zst",
                 "bda convert --threads=8 --zero-based counts.txt counts.bda"},
    .least = 2,
    .most = 2,
    .run = convert,
};
