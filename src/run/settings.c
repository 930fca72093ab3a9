/* settings.c - the options of every command, declared once: the command line, --help, the run log and other languages
 * read these tables. What the options of a training mean together is in training.c. */
#include "run/settings.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"

#define AT(field) .offset = offsetof(bda_settings, field)
/* Options that several commands have. */
#define ZERO_BASED                                                                                                   \
    .name = "zero-based", .type = BDA_FLAG, .preset = "0", .help = "features of LIBSVM text count from 0, not 1",    \
    AT(zero_based)
#define THREADS                                                                                                      \
    .name = "threads", .type = BDA_INTEGER, .argument = "N", .preset = "1", .least = 1, .most = 4096, AT(threads)
#define QUIET .name = "quiet", .letter = 'q', .type = BDA_FLAG, .preset = "0", AT(quiet)
#define SEED                                                                                                         \
    .name = "seed", .type = BDA_INTEGER, .argument = "N", .preset = "1", .least = 0, .most = INFINITY, AT(seed)

static const char *const tasks[] = {"classify", "regress", NULL};
static const char *const searches[] = {"exact", "backtracking", "none", NULL};
static const char *const hull_forms[] = {"fused", "one-vector", "momentum", NULL};
static const char *const thread_modes[] = {"blocks", "lock-free", NULL};
static const char *const progresses[] = {"auto", "always", "never", NULL};
static const char *const data_formats[] = {"binary", "text", NULL};
static const char *const model_formats[] = {"liblinear", NULL};

static const bda_option train_options[] = {
    {.name = "task",
     .letter = 't',
     .type = BDA_CHOICE,
     .argument = "TASK",
     .preset = "classify",
     .choices = tasks,
     .help = "what to learn: one of two or more labels, or a number",
     AT(task)},
    {.name = "loss",
     .letter = 'l',
     .type = BDA_TEXT,
     .argument = "LOSS",
     .preset = "",
     .help = "classify: hinge, squared-hinge (default) or logistic; regress: epsilon-insensitive, "
             "squared-epsilon-insensitive or squared-error (default)",
     AT(loss)},
    {.name = "cost",
     .letter = 'c',
     .type = BDA_REAL,
     .argument = "C",
     .preset = "1",
     .least = 0,
     .most = INFINITY,
     .above_least = true,
     .help = "weight of the losses against the regulariser",
     AT(cost)},
    {.name = "epsilon",
     .letter = 'p',
     .type = BDA_REAL,
     .argument = "E",
     .preset = "0.1",
     .least = 0,
     .most = INFINITY,
     .help = "half-width of the tube of the epsilon-insensitive losses",
     AT(epsilon)},
    {.name = "l1-ratio",
     .type = BDA_REAL,
     .argument = "R",
     .preset = "0",
     .least = 0,
     .most = 1,
     .below_most = true,
     .help = "elastic net: the regulariser is (1-R)/2 times the squared norm of the weights plus R times the sum of "
             "their magnitudes; more of the weights are 0 the larger R is",
     AT(l1_ratio)},
    {.name = "feature-penalty",
     .type = BDA_TEXT,
     .argument = "FILE",
     .preset = "",
     .help = "multiply the regulariser of single features: lines of an index, as in the data, and a factor above 0; "
             "features that FILE does not name have the factor 1",
     AT(feature_penalty)},
    {.name = "bias",
     .letter = 'b',
     .type = BDA_REAL,
     .argument = "B",
     .preset = "-1",
     .least = -INFINITY,
     .most = INFINITY,
     .help = "add a constant feature of value B, regularised like the rest; none if negative",
     AT(bias)},
    {.name = "class-weight",
     .type = BDA_TEXT,
     .argument = "LABEL:W",
     .preset = "",
     .repeats = true,
     .help =
         "multiply C by W for the instances of a label, may be repeated; or 'balanced': all labels weigh the same",
     AT(class_weight)},
    {.name = "method",
     .letter = 'm',
     .type = BDA_TEXT,
     .argument = "METHOD",
     .preset = "auto",
     .help = "how to train; 'list' prints the methods and what each needs",
     AT(method)},
    {.name = "gap",
     .type = BDA_REAL,
     .argument = "E",
     .preset = "1e-3",
     .least = 0,
     .most = INFINITY,
     .help = "stop once the duality gap is E times that of the starting point; not for perceptron, which has none",
     AT(gap)},
    {.name = "max-rounds",
     .type = BDA_INTEGER,
     .argument = "N",
     .preset = "1000",
     .least = 0,
     .most = INFINITY,
     .help = "stop after N rounds anyway; perceptron does 10 unless told otherwise",
     AT(max_rounds)},
    {.name = "max-time",
     .type = BDA_REAL,
     .argument = "S",
     .preset = "",
     .least = 0,
     .most = INFINITY,
     .help = "stop after the round in which S seconds have passed; without it there is no limit",
     AT(max_time)},
    {.name = "local-epochs",
     .type = BDA_INTEGER,
     .argument = "N",
     .preset = "",
     .least = 1,
     .most = 1000000,
     .help = "passes over the local data between two rounds; default: the method's, mostly 1",
     AT(local_epochs)},
    {.name = "a1",
     .type = BDA_TEXT,
     .argument = "X",
     .preset = "",
     .help = "the local model is a1 times the block-diagonal Hessian plus a2 times the identity; 'K' is the number "
             "of blocks; default: the method's",
     AT(a1)},
    {.name = "a2",
     .type = BDA_REAL,
     .argument = "X",
     .preset = "",
     .least = 0,
     .most = INFINITY,
     .help = "see --a1; default: the method's",
     AT(a2)},
    {.name = "line-search",
     .type = BDA_CHOICE,
     .argument = "SEARCH",
     .preset = "",
     .choices = searches,
     .help = "how the step is found; default: the method's, exact where the dual is quadratic along the direction",
     AT(line_search)},
    {.name = "step",
     .type = BDA_REAL,
     .argument = "X",
     .preset = "",
     .least = 0,
     .most = INFINITY,
     .above_least = true,
     .help = "the step of --line-search=none; default: the method's",
     AT(step)},
    {.name = "tau",
     .type = BDA_REAL,
     .argument = "X",
     .preset = "0.01",
     .least = 0,
     .most = 1,
     .above_least = true,
     .below_most = true,
     .help = "a step must decrease the objective (mostly the dual) by this part of what its slope promises; asks for "
             "backtracking",
     AT(tau)},
    {.name = "beta",
     .type = BDA_REAL,
     .argument = "X",
     .preset = "0.5",
     .least = 0,
     .most = 1,
     .above_least = true,
     .below_most = true,
     .help = "the factor from one trial step to the next; asks for backtracking",
     AT(beta)},
    {.name = "hull",
     .type = BDA_CHOICE,
     .argument = "FORM",
     .preset = "",
     .choices = hull_forms,
     .help = "what a round of --method=hull sends: two vectors (fused, momentum) or one (one-vector); default: "
             "momentum, with fewer vectors where messages prove slow",
     AT(hull)},
    {.name = "accelerate",
     .type = BDA_FLAG,
     .preset = "0",
     .help = "run the method inside an accelerated proximal point method; for bda, disdca, disdca-basic, cocoa+, "
             "dsvm-ave and prox-grad",
     AT(accelerate)},
    {.name = "history",
     .type = BDA_INTEGER,
     .argument = "N",
     .preset = "",
     .least = 1,
     .most = 11,
     .help = "past steps that l-commdir (default: 5) and lbfgs (default: 10) remember",
     AT(history)},
    {.name = "penalty",
     .type = BDA_REAL,
     .argument = "RHO",
     .preset = "1",
     .least = 0,
     .most = INFINITY,
     .above_least = true,
     .help = "of admm: the weight of agreement between blocks",
     AT(penalty)},
    {.name = "balance",
     .type = BDA_FLAG,
     .preset = "0",
     .help = "of admm: change the penalty until its two residuals are about equal",
     AT(balance)},
    {.name = "relaxation",
     .type = BDA_REAL,
     .argument = "X",
     .preset = "1.8",
     .least = 0,
     .most = 2,
     .above_least = true,
     .below_most = true,
     .help = "of admm: over-relaxation, 1 for none",
     AT(relaxation)},
    {.name = "blocks",
     .type = BDA_INTEGER,
     .argument = "K",
     .preset = "",
     .least = 1,
     .most = 1000000,
     .help = "blocks of the dual; the model depends on K, not on how many ranks and threads share them out; default: "
             "ranks x threads",
     AT(blocks)},
    {SEED, .help = "names the random order in which instances are visited"},
    {THREADS, .help = "threads of each rank"},
    {.name = "threads-mode",
     .type = BDA_CHOICE,
     .argument = "MODE",
     .preset = "",
     .choices = thread_modes,
     .help = "blocks: each rank and thread has blocks of its own, and the same seed gives the same bits; lock-free: "
             "those on one machine work on one block, and it does not; default: lock-free where auto finds "
             "100,000 nonzeros or more and all ranks on one machine, unless --blocks is given",
     AT(threads_mode)},
    {.name = "log",
     .type = BDA_TEXT,
     .argument = "FILE",
     .preset = "",
     .help = "write a run log, one JSON object a line",
     AT(log)},
    {ZERO_BASED},
    {QUIET, .help = "print nothing but errors and why training stopped early"},
    {.name = "progress",
     .type = BDA_CHOICE,
     .argument = "WHEN",
     .preset = "auto",
     .choices = progresses,
     .help = "show progress on stderr; auto: where that is a terminal",
     AT(progress)},
    {.name = NULL},
};

static const bda_option predict_options[] = {
    {.name = "scores",
     .type = BDA_FLAG,
     .preset = "0",
     .help = "add the decision value to each line, with more than two labels one for each, in increasing order",
     AT(scores)},
    {.name = "probability",
     .type = BDA_FLAG,
     .preset = "0",
     .help = "add the probabilities of the labels: of two the larger label first, of more in increasing order; for "
             "the logistic loss only",
     AT(probability)},
    {.name = "metrics",
     .type = BDA_TEXT,
     .argument = "FILE",
     .preset = "",
     .help = "write one JSON object: accuracy, log_loss, and auc and f1 of two labels, macro_f1 and confusion of "
             "more; or mse, mae, r2",
     AT(metrics)},
    {THREADS, .help = "threads of each rank"},
    {ZERO_BASED},
    {QUIET, .help = "print no summary"},
    {.name = NULL},
};

static const bda_option convert_options[] = {
    {.name = "format",
     .type = BDA_CHOICE,
     .argument = "FORMAT",
     .preset = "",
     .choices = data_formats,
     .help =
         "what to write; default: as the name of OUTPUT ends (.bda, .bin: binary; .txt, .svm, .libsvm, .gz, .zst: "
         "text), else what DATA is not",
     AT(format)},
    {THREADS, .help = "threads of each rank"},
    {ZERO_BASED},
    {QUIET, .help = "print no summary"},
    {.name = NULL},
};

static const bda_option generate_options[] = {
    {.name = "like",
     .type = BDA_TEXT,
     .argument = "NAME",
     .preset = "",
     .help = "the data set to imitate: webspam, url, kddb or rcv1",
     AT(like)},
    {.name = "scale",
     .type = BDA_REAL,
     .argument = "X",
     .preset = "1",
     .least = 0,
     .most = 1000,
     .above_least = true,
     .help = "multiplies the numbers of instances and features",
     AT(scale)},
    {SEED, .help = "the same seed makes the same bytes"},
    {.name = "format",
     .type = BDA_CHOICE,
     .argument = "FORMAT",
     .preset = "",
     .choices = data_formats,
     .help = "what to write; default: binary where the name of OUTPUT ends in .bda or .bin, else text",
     AT(format)},
    {QUIET, .help = "print no summary"},
    {.name = NULL},
};

static const bda_option export_options[] = {
    {.name = "format",
     .type = BDA_CHOICE,
     .argument = "FORMAT",
     .preset = "liblinear",
     .choices = model_formats,
     .help = "whose model file to write",
     AT(format)},
    {.name = NULL},
};

static const bda_option info_options[] = {
    {THREADS, .help = "threads of each rank, for reading data and for the forecast"},
    {ZERO_BASED},
    {.name = NULL},
};

static const struct {
    const char *command;
    const bda_option *options;
} commands[] = {
    {"train", train_options},       {"predict", predict_options}, {"convert", convert_options},
    {"generate", generate_options}, {"export", export_options},   {"info", info_options},
};

const bda_option *bda_options(const char *command)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(commands[i].command, command) == 0)
            return commands[i].options;
    return NULL;
}

static size_t option_count(const bda_option *options)
{
    size_t count = 0;
    while (options[count].name)
        count++;
    return count;
}

bda_settings *bda_settings_new(const char *command, bda_error *err)
{
    err_clear(err);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(commands[i].command, command) != 0)
            continue;
        bda_settings *s = calloc(1, sizeof *s);
        char **given = calloc(option_count(commands[i].options), sizeof *given);
        if (!s || !given) {
            free(s);
            free(given);
            err_memory(err, sizeof *s, "settings");
            return NULL;
        }
        s->command = commands[i].command;
        s->options = commands[i].options;
        s->given = given;
        option_defaults(s->options, s);
        /* Commands without these options read data with one thread and a block for each rank. */
        if (!option_find(s->options, "threads"))
            s->threads = 1;
        if (!option_find(s->options, "blocks"))
            s->blocks = OPTION_UNSET;
        return s;
    }
    err_set(err, BDA_USAGE, "there is no command '%s'", command);
    return NULL;
}

void bda_settings_free(bda_settings *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < option_count(s->options); i++)
        free(s->given[i]);
    free(s->given);
    free(s);
}

bool bda_set(bda_settings *s, const char *name, const char *value, bda_error *err)
{
    err_clear(err);
    const bda_option *o = option_find(s->options, name);
    if (!o)
        return err_set(err, BDA_USAGE, "bda %s has no option --%s", s->command, name);
    char *copy = strdup(value);
    if (!copy)
        return err_memory(err, strlen(value) + 1, "settings");
    if (!option_set(o, s, value, err)) {
        free(copy);
        return false;
    }
    free(s->given[o - s->options]);
    s->given[o - s->options] = copy;
    return true;
}

const char *bda_get(const bda_settings *s, const char *name)
{
    const bda_option *o = option_find(s->options, name);
    if (!o)
        return NULL;
    if (o->type == BDA_CHOICE || o->type == BDA_TEXT)
        return (const char *)s + o->offset;
    const char *given = s->given[o - s->options];
    return given ? given : o->preset;
}

bool settings_given(const bda_settings *s, const char *name)
{
    const bda_option *o = option_find(s->options, name);
    return o && s->given[o - s->options];
}

bool settings_are_of(const bda_settings *s, const char *command, bda_error *err)
{
    if (strcmp(s->command, command) == 0)
        return true;
    return err_set(err, BDA_USAGE, "settings of '%s' were given where those of '%s' are needed", s->command, command);
}

static bool ends_in(const char *path, const char *ending)
{
    size_t a = strlen(path), b = strlen(ending);
    return a > b && strcmp(path + a - b, ending) == 0;
}

bool settings_text(const bda_settings *s, const char *path, bool otherwise)
{
    static const char *const text[] = {".txt", ".svm", ".libsvm", ".gz", ".zst"};
    if (s->format[0])
        return strcmp(s->format, "text") == 0;
    if (ends_in(path, ".bda") || ends_in(path, ".bin"))
        return false;
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        if (ends_in(path, text[i]))
            return true;
    return otherwise;
}

static bool check_generate(const bda_settings *s, bda_error *err)
{
    char names[300] = "";
    for (const data_shape *shape = data_shapes; shape->name; shape++) {
        if (strcmp(shape->name, s->like) == 0)
            return true;
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", shape->name);
    }
    if (!s->like[0])
        return err_set(err, BDA_USAGE, "--like must say which data set to imitate, one of %s", names);
    return err_set(err, BDA_USAGE, "--like must be one of %s, not '%s'", names, s->like);
}

bool bda_check(const bda_settings *s, bda_error *err)
{
    err_clear(err);
    training t;
    if (strcmp(s->command, "train") == 0)
        return settings_training(s, &t, err);
    if (strcmp(s->command, "generate") == 0)
        return check_generate(s, err);
    return true;
}
