/* options_select.c - the options of select: its own, and those of a training that it does not set itself. */
#include <string.h>
#include <threads.h>

#include "run/options.h"

static const char *const score_names[] = {"accuracy", "auc", "f1", "macro-f1", "log-loss", "mse", "mae", "r2", NULL};
static const char *const calibration_names[] = {"none", "platt", "isotonic", NULL};

static const bda_option select_own[] = {
    {.name = "folds",
     .group = "problem",
     .letter = 'v',
     .type = BDA_INTEGER,
     .argument = "N",
     .preset = "5",
     .least = 2,
     .most = 1000,
     .help = "parts of the data, each of which is held out once",
     AT(folds)},
    {.name = "costs",
     .group = "problem",
     .type = BDA_TEXT,
     .argument = "C,C...",
     .preset = "0.001,0.003,0.01,0.03,0.1,0.3,1,3,10,30",
     .help = "values of --cost to try, increasing",
     AT(costs)},
    {.name = "l1-ratios",
     .group = "problem",
     .type = BDA_TEXT,
     .argument = "R,R...",
     .preset = "0",
     .help = "values of --l1-ratio to try, increasing, each with all costs",
     AT(l1_ratios)},
    {.name = "score",
     .group = "problem",
     .type = BDA_CHOICE,
     .argument = "SCORE",
     .preset = "",
     .choices = score_names,
     .help = "what to choose by; default: accuracy, or for numbers mse",
     AT(score)},
    {.name = "one-standard-error",
     .group = "problem",
     .type = BDA_FLAG,
     .preset = "0",
     .help = "choose the least cost whose mean score is within a standard error of the best",
     AT(one_standard_error)},
    {.name = "calibrate",
     .group = "problem",
     .type = BDA_CHOICE,
     .argument = "METHOD",
     .preset = "none",
     .choices = calibration_names,
     .help = "probabilities for the model, from the scores of what was held out: none, platt (a logistic curve) or "
             "isotonic (a function that never falls)",
     AT(calibration)},
    {.name = "groups",
     .group = "data",
     .file = true,
     .type = BDA_TEXT,
     .argument = "FILE",
     .preset = "",
     .help = "a word for each instance, a line each: instances with the same word stay in one fold",
     AT(groups)},
    {.name = "json",
     .group = "output",
     .type = BDA_FLAG,
     .preset = "0",
     .help = "print all scores as JSON instead of a table",
     AT(json)},
    {.name = NULL},
};

IS_OPTION_PART(select_own);

static bda_option table[MOST_OPTIONS];

static void fill(void)
{
    static const char *const not_for_select[] = {
        "cost",     "l1-ratio", "log",        "column",           "template", "trees", "labels", "min-count",
        "validate", "patience", "checkpoint", "checkpoint-every", "resume",   "start", NULL};
    options_append(options_append(table, select_own, NULL), train_options(), not_for_select);
}

const bda_option *select_options(void)
{
    static once_flag once = ONCE_FLAG_INIT;
    call_once(&once, fill);
    return table;
}

static bool named(const char *const *names, const char *name)
{
    while (names && *names && strcmp(*names, name) != 0)
        names++;
    return names && *names;
}

bda_option *options_append(bda_option *to, const bda_option *from, const char *const *without)
{
    for (; from->name; from++)
        if (!named(without, from->name))
            *to++ = *from;
    return to;
}
