/* options_train.c - the table of train: what is learnt (options_problem.c), how (options_methods.c), and, here, what is
 * watched, read and written. */
#include <threads.h>

#include "run/options.h"

static const char *const progresses[] = {"auto", "always", "never", NULL};
static const char *const table_formats[] = {"libsvm", "csv", "tsv", NULL};
const char *const missing_choices[] = {"refuse", "zero", "mean", NULL};

static const bda_option file_options[] = {
    {.name = "validate",
     .group = "stopping",
     .file = true,
     .type = BDA_TEXT,
     .argument = "DATA[,every=N]",
     .preset = "",
     .help = "score the model of every Nth round (default: 1) and the last on other data; the time it takes is not "
             "that of the training",
     AT(validate)},
    {.name = "patience",
     .group = "stopping",
     .type = BDA_INTEGER,
     .argument = "N",
     .preset = "",
     .least = 1,
     .most = 1e9,
     .help = "stop when N scores of --validate in turn were no better than the best before, and write the model that "
             "scored best, by accuracy, mse, tags or heads",
     AT(patience)},
    {.name = "output",
     .group = "output",
     .file = true,
     .letter = 'o',
     .type = BDA_TEXT,
     .argument = "MODEL",
     .preset = "",
     .help = "the model to write; all arguments are DATA then",
     AT(output)},
    {.name = "format",
     .group = "data",
     .type = BDA_CHOICE,
     .argument = "FORMAT",
     .preset = "libsvm",
     .choices = table_formats,
     .help = "what DATA is, where it is text: LIBSVM's lines, or a table with a header",
     AT(format)},
    {.name = "label",
     .group = "data",
     .type = BDA_TEXT,
     .argument = "NAME",
     .preset = "",
     .help = "of a table: the column to learn",
     AT(label)},
    {.name = "missing",
     .group = "data",
     .type = BDA_CHOICE,
     .argument = "HOW",
     .preset = "refuse",
     .choices = missing_choices,
     .help = "of a table: what an empty cell counts as",
     AT(missing)},
    {.name = "log",
     .group = "output",
     .file = true,
     .type = BDA_TEXT,
     .argument = "FILE",
     .preset = "",
     .help = "write a run log, one JSON object a line",
     AT(log)},
    {.name = "checkpoint",
     .group = "stopping",
     .file = true,
     .type = BDA_TEXT,
     .argument = "FILE",
     .preset = "",
     .help = "keep the state of the training in FILE from time to time and where it ends, so that --resume can go on "
             "from there; {rank} in the name: each rank has a file of its own",
     AT(checkpoint)},
    {.name = "checkpoint-every",
     .group = "stopping",
     .type = BDA_TEXT,
     .argument = "N|TIME",
     .preset = "5m",
     .help = "keep it every N rounds, or after the round in which this time has passed: 90s, 10m, 1h30m",
     AT(checkpoint_every)},
    {.name = "resume",
     .group = "stopping",
     .type = BDA_FLAG,
     .preset = "0",
     .help =
         "go on from the state in the file of --checkpoint, on any number of ranks; where there is none yet, begin",
     AT(resume)},
    {FORCE},
    {ZERO_BASED},
    {QUIET, .help = "print nothing but errors and why training stopped early"},
    {.name = "progress",
     .group = "output",
     .type = BDA_CHOICE,
     .argument = "WHEN",
     .preset = "auto",
     .choices = progresses,
     .help = "show progress on stderr in a line that is rewritten (always); auto: so on a terminal, elsewhere by a "
             "line from time to time",
     AT(progress)},
    {.name = "progress-every",
     .group = "output",
     .type = BDA_TIME,
     .argument = "TIME",
     .preset = "30",
     .least = 0.1,
     .most = INFINITY,
     .help = "where stderr is no terminal: the time between two lines of progress",
     AT(progress_every)},
    {.name = NULL},
};

IS_OPTION_PART(file_options);

static bda_option table[MOST_OPTIONS];

static void fill(void)
{
    bda_option *end = options_append(table, problem_options, NULL);
    end = options_append(end, how_options, NULL);
    options_append(end, file_options, NULL);
}

const bda_option *train_options(void)
{
    static once_flag once = ONCE_FLAG_INIT;
    call_once(&once, fill);
    return table;
}
