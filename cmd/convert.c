/* convert.c - `bda convert`: data from text to the binary format and back. */
#include "cmd.h"

static int convert(invocation *v)
{
    bda_error err = {0};
    const char *from = v->argument[0], *to = v->argument[1];
    bda_data *data = can_write(v, to, 1, &err) ? bda_data_read(v->comm, v->settings, from, &err) : NULL;
    if (!data)
        return fail(v, &err);
    note_data(v, data, from);
    bool ok = bda_data_write(v->comm, data, v->settings, to, &err);
    if (ok && !is_set(v, "quiet")) {
        bda_data_summary d;
        bda_data_summarise(data, &d);
        say(v, "%s: %llu instances, %llu features, %llu nonzeros written to %s", from,
            (unsigned long long)d.instances, (unsigned long long)d.features, (unsigned long long)d.nonzeros, to);
    }
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
    .least = 2,
    .most = 2,
    .run = convert,
};
