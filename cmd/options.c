/* options.c - command lines, as GNU programs read them: options anywhere, `--name=value` or `--name value`, letters
 * with their value behind them, unique beginnings of names, `--` before words that only look like options.
 *
 * All ranks read the same words and come to the same end; only rank 0 prints. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"

/* What the words come to. */
typedef enum outcome {
    OUTCOME_RUN,
    OUTCOME_HELP,
    OUTCOME_USAGE,
    OUTCOME_VERSION,
    OUTCOME_REFUSED,
    OUTCOME_NO_MEMORY
} outcome;

/* A command line that is being read. */
typedef struct reader {
    invocation *v;
    const bda_option *table;
    int count, at; /* of word */
    char **word;
    outcome outcome;
    char why[1000]; /* it was refused */
} reader;

/* Reading ends; the first reason counts. */
static void end(reader *r, outcome how)
{
    if (r->outcome == OUTCOME_RUN)
        r->outcome = how;
}

static void refuse(reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void refuse(reader *r, const char *format, ...)
{
    if (r->outcome != OUTCOME_RUN)
        return;
    r->outcome = OUTCOME_REFUSED;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->why, sizeof r->why, format, arguments);
    va_end(arguments);
}

/* Memory that is missing is nothing that the words could help. */
static void refuse_value(reader *r, const bda_error *err)
{
    if (err->status == BDA_USAGE)
        refuse(r, "%s", err->text);
    else
        end(r, OUTCOME_NO_MEMORY);
}

/* Many beginnings are of one option only. */
static const bda_option *find(const bda_option *table, const char *name, size_t length, bool *ambiguous)
{
    const bda_option *found = NULL;
    *ambiguous = false;
    for (const bda_option *o = table; o->name; o++) {
        if (strncmp(o->name, name, length) != 0)
            continue;
        if (o->name[length] == 0) {
            *ambiguous = false;
            return o;
        }
        *ambiguous = found != NULL;
        found = o;
    }
    return *ambiguous ? NULL : found;
}

static const bda_option *find_letter(const bda_option *table, char letter)
{
    for (const bda_option *o = table; o->name; o++)
        if (o->letter == letter)
            return o;
    return NULL;
}

/* --threads=auto: as many as every rank has processors. */
static bool set(reader *r, const bda_option *o, const char *value, bda_error *err)
{
    char number[32];
    if (strcmp(o->name, "threads") == 0 && strcmp(value, "auto") == 0) {
        snprintf(number, sizeof number, "%d", bda_comm_processors(r->v->comm));
        value = number;
    }
    return bda_set(r->v->settings, o->name, value, err);
}

/* value: what follows the name or letter directly; NULL: nothing. */
static void take(reader *r, const bda_option *o, const char *written, const char *value)
{
    bda_error err = {0};
    if (o->type == BDA_FLAG && value) {
        refuse(r, "%.80s takes no value, and '%.80s' was given", written, value);
        return;
    }
    if (o->type == BDA_FLAG)
        value = "1";
    else if (!value && r->at < r->count)
        value = r->word[r->at++];
    if (!value)
        refuse(r, "%.80s needs a value: %.80s%c%s", written, written, written[1] == '-' ? '=' : ' ',
               o->argument ? o->argument : "VALUE");
    else if (!set(r, o, value, &err))
        refuse_value(r, &err);
}

/* --name, --name=value */
static void read_name(reader *r, const char *word)
{
    const size_t length = strcspn(word + 2, "=");
    const char *value = word[2 + length] ? word + 3 + length : NULL;
    bool ambiguous;
    const bda_option *o = find(r->table, word + 2, length, &ambiguous);
    char text[400], written[100];
    snprintf(written, sizeof written, "%.*s", (int)length + 2, word);
    if (o) {
        take(r, o, written, value);
    } else if (strcmp(word, "--help") == 0 || strcmp(word, "--usage") == 0) {
        end(r, word[2] == 'h' ? OUTCOME_HELP : OUTCOME_USAGE);
    } else if (strcmp(word, "--version") == 0) {
        end(r, OUTCOME_VERSION);
    } else if (ambiguous) {
        refuse(r, "%s begins more than one option; `bda %s --help' lists them", written, r->v->command->name);
    } else {
        hint_name(r->v->command, written, text, sizeof text);
        refuse(r, "%s", text);
    }
}

/* -q, -c 10, -c10, and several flags in one word */
static void read_letters(reader *r, const char *word)
{
    for (const char *at = word + 1; *at; at++) {
        const bda_option *o = find_letter(r->table, *at);
        const char written[] = {'-', *at, 0};
        if (!o && (*at == 'h' || *at == '?')) {
            end(r, OUTCOME_USAGE);
            return;
        }
        if (!o) {
            char text[400];
            const char *value = at[1] ? at + 1 : r->at < r->count ? r->word[r->at] : "";
            hint_letter(r->v->command, *at, value, text, sizeof text);
            refuse(r, "%s", text);
            return;
        }
        if (o->type == BDA_FLAG) {
            take(r, o, written, NULL);
            continue;
        }
        take(r, o, written, at[1] == '=' ? at + 2 : at[1] ? at + 1 : NULL);
        return;
    }
}

static void read_argument(reader *r, const char *word)
{
    if (r->v->arguments == r->v->command->most)
        refuse(r, "there is one word too many: '%.100s'; expected %s", word, r->v->command->arguments);
    else
        r->v->argument[r->v->arguments++] = word;
}

static void read_words(reader *r)
{
    bool only_arguments = false;
    while (r->at < r->count && r->outcome == OUTCOME_RUN) {
        const char *word = r->word[r->at++];
        if (only_arguments || word[0] != '-' || word[1] == 0)
            read_argument(r, word);
        else if (strcmp(word, "--") == 0)
            only_arguments = true;
        else if (word[1] == '-')
            read_name(r, word);
        else
            read_letters(r, word);
    }
    const invocation *v = r->v;
    const char *method = bda_get(v->settings, "method");
    if (r->outcome == OUTCOME_RUN && v->arguments < v->command->least && !(method && strcmp(method, "list") == 0))
        refuse(r, "expected %s; `bda %s -h' shows how", v->command->arguments, v->command->name);
}

/* The program ends, and what the words ask for is printed; main's atexit closes the communicator. */
static _Noreturn void leave(reader *r, const char *trouble)
{
    invocation *v = r->v;
    int status = EXIT_DONE;
    if (trouble) {
        say(v, "%s", trouble);
        status = EXIT_FAILED;
    } else if (r->outcome == OUTCOME_REFUSED) {
        say(v, "%s", r->why);
        status = EXIT_USAGE;
    } else if (r->outcome == OUTCOME_VERSION) {
        if (v->first)
            puts("bda " BDA_VERSION);
    } else {
        print_help(v->first ? stdout : NULL, v->command, r->outcome == OUTCOME_HELP);
    }
    bda_settings_free(v->settings);
    free(v->argument);
    exit(status);
}

void options_parse(invocation *v, int argc, char **argv)
{
    bda_error err = {0};
    reader r = {.v = v, .table = bda_options(v->command->name), .count = argc, .at = 1, .word = argv};
    v->settings = bda_settings_new(v->command->name, &err);
    v->argument = calloc((size_t)argc + 3, sizeof *v->argument);
    if (v->settings && v->argument)
        read_words(&r);
    else
        end(&r, OUTCOME_NO_MEMORY);
    /* Words are the same everywhere, memory is not. */
    bda_error missing = {0};
    if (r.outcome == OUTCOME_NO_MEMORY)
        no_memory("the options", &missing);
    if (!bda_comm_agree(v->comm, r.outcome != OUTCOME_NO_MEMORY, &missing))
        leave(&r, missing.text);
    if (r.outcome != OUTCOME_RUN)
        leave(&r, NULL);
}
