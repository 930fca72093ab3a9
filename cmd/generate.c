/* generate.c - `bda generate`: synthetic data with the shape of known data sets. */
#include "cmd.h"

static int generate(invocation *v)
{
    bda_error err = {0};
    const char *path = v->argument[0];
    bda_output output = {path, bda_data_file_kind(v->settings, NULL, path)};
    if (!bda_check(v->settings, &err) || !can_write(v, &output, 1, NULL, 0, &err) ||
        !bda_generate(v->comm, v->settings, path, &err))
        return fail(v, &err);
    if (!is_set(v, "quiet"))
        say(v, "data like %s at scale %s written to %s", bda_get(v->settings, "like"), bda_get(v->settings, "scale"),
            path);
    return EXIT_DONE;
}

const command generate_command = {
    .name = "generate",
    .arguments = "OUTPUT",
    .summary = "make synthetic data with the shape of known data sets",
    .more = "Numbers of instances, features and nonzeros, and how often features occur, are those of the data set "
            "named; labels come from a planted model with noise. The bytes depend on --like, --scale, --seed and the "
            "format alone.",
    .examples = {"bda generate --like=rcv1 rcv1.svm", "bda generate --like=url --scale=0.01 --seed=7 small.bda",
                 "bda generate --like=kddb --scale=0.1 --format=text kddb.txt"},
    .least = 1,
    .most = 1,
    .run = generate,
};
