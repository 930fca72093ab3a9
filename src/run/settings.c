/* settings.c - one structure for the options of a command, filled by name from its table (options_*.c). The command
 * line, --help, the run log and other languages read the same tables. What the options of a training mean together is in
 * training.c. */
#include "run/settings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#include "data/schema.h"
#include "run/options.h"

static const struct {
    const char *command;
    const bda_option *options; /* NULL: put together by the next */
    const bda_option *(*options_of)(void);
} commands[] = {
    {"train", NULL, train_options},       {"predict", predict_options, NULL}, {"convert", convert_options, NULL},
    {"generate", generate_options, NULL}, {"export", export_options, NULL},   {"import", import_options, NULL},
    {"info", info_options, NULL},         {"report", report_options, NULL},   {"bench", bench_options, NULL},
    {"select", NULL, select_options},
};

static const char *command_names[sizeof commands / sizeof *commands + 1];

static void list_commands(void)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        command_names[i] = commands[i].command;
}

const char *const *bda_commands(void)
{
    static once_flag once = ONCE_FLAG_INIT;
    call_once(&once, list_commands);
    return command_names;
}

const bda_option *bda_options(const char *command)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(commands[i].command, command) == 0)
            return commands[i].options ? commands[i].options : commands[i].options_of();
    return NULL;
}

/* The name, in memory that stays. */
static const char *command_named(const char *name)
{
    const char *const *command = bda_commands();
    while (strcmp(*command, name) != 0)
        command++;
    return *command;
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
    const bda_option *options = bda_options(command);
    if (!options) {
        err_set(err, BDA_USAGE, "there is no command '%s'", command);
        return NULL;
    }
    bda_settings *s = calloc(1, sizeof *s);
    char **given = calloc(option_count(options), sizeof *given);
    if (!s || !given) {
        free(s);
        free(given);
        err_memory(err, sizeof *s, "settings");
        return NULL;
    }
    s->command = command_named(command);
    s->options = options;
    s->given = given;
    option_defaults(s->options, s);
    /* Commands without these options read data with one thread and a block for each rank. */
    if (!option_find(s->options, "threads"))
        s->threads = 1;
    if (!option_find(s->options, "blocks"))
        s->blocks = OPTION_UNSET;
    return s;
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

double bda_get_number(const bda_settings *s, const char *name)
{
    const bda_option *o = option_find(s->options, name);
    if (o && o->type == BDA_INTEGER) {
        const int64_t x = *(const int64_t *)((const char *)s + o->offset);
        return x == OPTION_UNSET ? NAN : (double)x;
    }
    return o && (o->type == BDA_REAL || o->type == BDA_TIME) ? *(const double *)((const char *)s + o->offset) : NAN;
}

uint64_t settings_blocks(const bda_settings *s, int ranks)
{
    return s->blocks > 0 ? (uint64_t)s->blocks : (uint64_t)ranks * (uint64_t)s->threads;
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

#define FEW_LABELS 10 /* these may be any numbers */

bool settings_suit_labels(const bda_settings *s, const data *d, bda_error *err)
{
    const label_table *labels = &d->labels;
    if (strcmp(s->task, "classify") != 0 || settings_given(s, "task") || labels->count <= FEW_LABELS)
        return true;
    for (uint64_t k = 0; labels->number && k < labels->count; k++)
        if (labels->number[k] != rint(labels->number[k]))
            return err_set(err, BDA_USAGE,
                           "%s: there are %llu different labels, and some are no whole numbers, such as %s: say "
                           "--task=regress to learn numbers, or --task=classify if they are classes",
                           d->name, (unsigned long long)labels->count, labels->name[k]);
    return true;
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

bool settings_table(const bda_settings *s, table_request *table)
{
    if (!option_find(s->options, "missing")) /* of predict and others --format is something else */
        return false;
    static const schema_missing kinds[] = {SCHEMA_REFUSE, SCHEMA_ZERO, SCHEMA_MEAN};
    *table = (table_request){.separator = strcmp(s->format, "tsv") == 0 ? '\t' : ',', .label = s->label};
    for (int k = 0; missing_choices[k]; k++)
        if (strcmp(s->missing, missing_choices[k]) == 0)
            table->missing = (int)kinds[k];
    return strcmp(s->format, "libsvm") != 0;
}
