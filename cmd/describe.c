/* describe.c - `bda --describe`: all commands and options as JSON, from which tools/generate-docs makes the man pages,
 * the completions of shells and a table of all options. */
#include <math.h>
#include <stdio.h>

#include "cmd.h"

/* All texts are ours: ASCII, with newlines at most. */
static void string(FILE *to, const char *text)
{
    fputc('"', to);
    for (; text && *text; text++)
        if (*text == '\n')
            fputs("\\n", to);
        else if (*text == '"' || *text == '\\')
            fprintf(to, "\\%c", *text);
        else
            fputc(*text, to);
    fputc('"', to);
}

static void field(FILE *to, const char *name, const char *text)
{
    fprintf(to, ",\"%s\":", name);
    string(to, text);
}

static void strings(FILE *to, const char *name, const char *const *text, int most)
{
    fprintf(to, ",\"%s\":[", name);
    for (int i = 0; text && i < most && text[i]; i++) {
        fputs(i ? "," : "", to);
        string(to, text[i]);
    }
    fputc(']', to);
}

static void describe_option(FILE *to, const bda_option *o)
{
    static const char *const types[] = {[BDA_FLAG] = "flag",     [BDA_INTEGER] = "integer", [BDA_REAL] = "real",
                                        [BDA_CHOICE] = "choice", [BDA_TEXT] = "text",       [BDA_TIME] = "time"};
    const char letter[] = {o->letter, 0};
    fprintf(to, "{\"type\":\"%s\"", types[o->type]);
    field(to, "name", o->name);
    field(to, "letter", letter);
    field(to, "group", o->group ? o->group : "options");
    field(to, "argument", o->argument);
    field(to, "default", o->preset);
    field(to, "help", o->help);
    strings(to, "choices", o->choices, 100);
    fprintf(to, ",\"file\":%s,\"repeats\":%s}", o->file ? "true" : "false", o->repeats ? "true" : "false");
}

void describe(FILE *to)
{
    fputs("{\"version\":\"" BDA_VERSION "\"", to);
    strings(to, "groups", option_groups, 100);
    fputs(",\"commands\":[", to);
    for (const command *const *c = commands; *c; c++) {
        fprintf(to, "%s\n{\"least\":%d", c == commands ? "" : ",", (*c)->least);
        field(to, "name", (*c)->name);
        field(to, "arguments", (*c)->arguments);
        field(to, "summary", (*c)->summary);
        field(to, "more", (*c)->more);
        strings(to, "examples", (*c)->examples, MOST_EXAMPLES);
        fputs(",\"options\":[", to);
        const bda_option *table = bda_options((*c)->name);
        for (const bda_option *o = table; o->name; o++) {
            fputs(o == table ? "\n" : ",\n", to);
            describe_option(to, o);
        }
        fputs("]}", to);
    }
    fputs("]}\n", to);
}
