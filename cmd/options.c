/* options.c - the command line, by glibc's argp, from the library's tables of options.
 *
 * All ranks parse the same words and come to the same end; the streams of all but rank 0 lead nowhere meanwhile, so
 * that messages appear once. argp exits by itself; the communicator is then closed by main's atexit. */
#include <argp.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"

#define SHORT_HELP 'h'
#define LONG_ONLY 1000 /* keys of options without a letter: this and their place in the table */

static int key_of(const bda_option *table, const bda_option *o)
{
    return o->letter ? o->letter : LONG_ONLY + (int)(o - table);
}

static const bda_option *option_of(const bda_option *table, int key)
{
    for (const bda_option *o = table; o->name; o++)
        if (key_of(table, o) == key)
            return o;
    return NULL;
}

static error_t parse(int key, char *word, struct argp_state *state)
{
    invocation *v = state->input;
    const command *c = v->command;
    bda_error err = {0};
    if (key == ARGP_KEY_ARG) {
        if ((int)state->arg_num >= c->most)
            argp_error(state, "there is one word too many: '%s'", word);
        else
            v->argument[state->arg_num] = word;
        return 0;
    }
    if (key == ARGP_KEY_END) {
        const char *method = bda_get(v->settings, "method");
        bool listing = method && strcmp(method, "list") == 0;
        if ((int)state->arg_num < c->least && !listing)
            argp_error(state, "expected %s", c->arguments);
        return 0;
    }
    if (key == SHORT_HELP) {
        argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
        return 0;
    }
    const bda_option *o = option_of(bda_options(c->name), key);
    if (!o)
        return ARGP_ERR_UNKNOWN;
    if (!bda_set(v->settings, o->name, word ? word : "1", &err))
        argp_error(state, "%s", err.text);
    return 0;
}

/* "help (default a)" */
static char *describe(const bda_option *o)
{
    char text[1000];
    bool tells = o->type != BDA_FLAG && o->preset[0];
    snprintf(text, sizeof text, "%s%s%s%s", o->help, tells ? " (default " : "", tells ? o->preset : "",
             tells ? ")" : "");
    return strdup(text);
}

/* "a|b|c", or what the table calls the value */
static char *name_value(const bda_option *o)
{
    char text[200];
    size_t used = 0;
    for (const char *const *c = o->choices; c && *c && used < sizeof text; c++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? "|" : "", *c);
    return used ? strdup(text) : o->argument ? strdup(o->argument) : NULL;
}

static struct argp_option *list_options(const bda_option *table)
{
    size_t count = 0;
    while (table[count].name)
        count++;
    struct argp_option *list = calloc(count + 2, sizeof *list);
    for (size_t i = 0; list && i < count; i++) {
        const bda_option *o = &table[i];
        list[i] = (struct argp_option){.name = o->name,
                                       .key = key_of(table, o),
                                       .arg = name_value(o),
                                       .doc = describe(o),
                                       .group = (int)i + 1}; /* in the order of the table */
    }
    if (list)
        list[count] = (struct argp_option){.key = SHORT_HELP, .flags = OPTION_HIDDEN};
    return list;
}

static void free_options(struct argp_option *list)
{
    for (size_t i = 0; list[i].name; i++) {
        free((char *)list[i].arg);
        free((char *)list[i].doc);
    }
    free(list);
}

static void out_of_memory(void)
{
    fputs("bda: out of memory\n", stderr);
    exit(EXIT_FAILED);
}

void options_parse(invocation *v, int argc, char **argv)
{
    const bda_option *table = bda_options(v->command->name);
    struct argp_option *list = list_options(table);
    char name[64], documentation[4000];
    snprintf(name, sizeof name, "bda %s", v->command->name);
    snprintf(documentation, sizeof documentation, "%s.\v%s", v->command->summary, v->command->more);
    documentation[0] = (char)toupper((unsigned char)documentation[0]);
    bda_error err = {0};
    v->settings = bda_settings_new(v->command->name, &err);
    if (!list || !v->settings)
        out_of_memory();
    struct argp argp = {.options = list, .parser = parse, .args_doc = v->command->arguments, .doc = documentation};

    FILE *nowhere = v->first ? NULL : fopen("/dev/null", "w"), *output = stdout, *errors = stderr;
    if (nowhere)
        stdout = stderr = nowhere;
    argv[0] = name;
    argp_err_exit_status = EXIT_USAGE;
    argp_parse(&argp, argc, argv, 0, NULL, v);
    stdout = output;
    stderr = errors;
    if (nowhere)
        fclose(nowhere);
    free_options(list);
}
