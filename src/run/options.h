/* options.h - the option tables of the commands, one table for each command, and what their rows share. */
#ifndef RUN_OPTIONS_H
#define RUN_OPTIONS_H

#include <assert.h>
#include <math.h>
#include <stddef.h>

#include "run/settings.h"

extern const bda_option predict_options[];
extern const bda_option convert_options[];
extern const bda_option generate_options[];
extern const bda_option export_options[];
extern const bda_option import_options[];
extern const bda_option info_options[];
extern const bda_option report_options[];
extern const bda_option bench_options[];
const bda_option *train_options(void);
const bda_option *select_options(void);

/* Tables that are put together from parts, when they are first asked for. */
extern const bda_option problem_options[]; /* options_problem.c */
extern const bda_option how_options[];     /* options_methods.c */
enum { MOST_OPTIONS_OF_A_PART = 40, MOST_OPTIONS = 4 * MOST_OPTIONS_OF_A_PART + 1 };
#define IS_OPTION_PART(table)                                                                                        \
    static_assert(sizeof(table) <= (MOST_OPTIONS_OF_A_PART + 1) * sizeof(bda_option), "too many options for a part")
/* Copies rows, but for those of some names (NULL: all), to the end of a table; the new end. */
bda_option *options_append(bda_option *to, const bda_option *from, const char *const *without);

extern const char *const scale_names[];     /* of --scale, in the order of scale_kind */
extern const char *const missing_choices[]; /* of --missing, in the order of schema_missing */

#define AT(field) .offset = offsetof(bda_settings, field)
/* Options that several commands have. */
#define ZERO_BASED                                                                                                   \
    .name = "zero-based", .group = "data", .type = BDA_FLAG, .preset = "0",                                          \
    .help = "features of LIBSVM text count from 0, not 1", AT(zero_based)
#define THREADS                                                                                                      \
    .name = "threads", .group = "parallel", .type = BDA_INTEGER, .argument = "N", .preset = "1", .least = 1,         \
    .most = 4096, AT(threads)
#define QUIET .name = "quiet", .group = "output", .letter = 'q', .type = BDA_FLAG, .preset = "0", AT(quiet)
#define FORCE                                                                                                        \
    .name = "force", .group = "output", .type = BDA_FLAG, .preset = "0",                                             \
    .help = "replace files also where they are of another kind "                                                     \
            "than what is written; never those that are read",                                                       \
    AT(force)
#define SEED                                                                                                         \
    .name = "seed", .group = "parallel", .type = BDA_INTEGER, .argument = "N", .preset = "1", .least = 0,            \
    .most = INFINITY, AT(seed)

#endif
