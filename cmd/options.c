/* options.c - command lines, as GNU programs read them: options anywhere, `--name=value` or `--name value`, letters
 * with their value behind them, unique beginnings of names, `--` before words that only look like options.
 *
 * All ranks read the same words and come to the same end; only rank 0 prints. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"

/* A command line that is being read. */
typedef struct reader {
    invocation *v;
    const bda_option *table;
    int count, at; /* of word */
    char **word;
} reader;

/* The program ends: main's atexit closes the communicator. */
static _Noreturn void leave(invocation *v, int status)
{
    bda_settings_free(v->settings);
    free(v->argument);
    exit(status);
}

static _Noreturn void refuse(invocation *v, const char *what)
{
    say(v, "%s", what);
    leave(v, EXIT_USAGE);
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
    char text[300];
    bda_error err = {0};
    if (o->type == BDA_FLAG && value) {
        snprintf(text, sizeof text, "%.80s takes no value, and '%.80s' was given", written, value);
        refuse(r->v, text);
    }
    if (o->type == BDA_FLAG)
        value = "1";
    else if (!value && r->at < r->count)
        value = r->word[r->at++];
    if (!value) {
        snprintf(text, sizeof text, "%.80s needs a value: %.80s%c%s", written, written, written[1] == '-' ? '=' : ' ',
                 o->argument ? o->argument : "VALUE");
        refuse(r->v, text);
    }
    if (!set(r, o, value, &err))
        refuse(r->v, err.text);
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
        return;
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "--usage") == 0) {
        print_help(r->v->first ? stdout : NULL, r->v->command, word[2] == 'h');
        leave(r->v, EXIT_DONE);
    }
    if (strcmp(word, "--version") == 0) {
        if (r->v->first)
            puts("bda " BDA_VERSION);
        leave(r->v, EXIT_DONE);
    }
    if (ambiguous)
        snprintf(text, sizeof text, "%s begins more than one option; `bda %s --help' lists them", written,
                 r->v->command->name);
    else
        hint_name(r->v->command, written, text, sizeof text);
    refuse(r->v, text);
}

/* -q, -c 10, -c10, and several flags in one word */
static void read_letters(reader *r, const char *word)
{
    for (const char *at = word + 1; *at; at++) {
        const bda_option *o = find_letter(r->table, *at);
        const char written[] = {'-', *at, 0};
        if (!o && (*at == 'h' || *at == '?')) {
            print_help(r->v->first ? stdout : NULL, r->v->command, false);
            leave(r->v, EXIT_DONE);
        }
        if (!o) {
            char text[400];
            const char *value = at[1] ? at + 1 : r->at < r->count ? r->word[r->at] : "";
            hint_letter(r->v->command, *at, value, text, sizeof text);
            refuse(r->v, text);
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
    if (r->v->arguments == r->v->command->most) {
        char text[300];
        snprintf(text, sizeof text, "there is one word too many: '%.100s'; expected %s", word,
                 r->v->command->arguments);
        refuse(r->v, text);
    }
    r->v->argument[r->v->arguments++] = word;
}

void options_parse(invocation *v, int argc, char **argv)
{
    bda_error err = {0};
    reader r = {.v = v, .table = bda_options(v->command->name), .count = argc, .at = 1, .word = argv};
    v->settings = bda_settings_new(v->command->name, &err);
    v->argument = calloc((size_t)argc + 3, sizeof *v->argument);
    if (!v->settings || !v->argument)
        refuse(v, v->settings ? "out of memory" : err.text);
    bool only_arguments = false;
    while (r.at < r.count) {
        const char *word = r.word[r.at++];
        if (only_arguments || word[0] != '-' || word[1] == 0)
            read_argument(&r, word);
        else if (strcmp(word, "--") == 0)
            only_arguments = true;
        else if (word[1] == '-')
            read_name(&r, word);
        else
            read_letters(&r, word);
    }
    const char *method = bda_get(v->settings, "method");
    if (v->arguments < v->command->least && !(method && strcmp(method, "list") == 0)) {
        char text[300];
        snprintf(text, sizeof text, "expected %s; `bda %s -h' shows how", v->command->arguments, v->command->name);
        refuse(v, text);
    }
}
