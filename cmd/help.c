/* help.c - `bda --help`, `bda COMMAND --help` and the short `-h`, from the tables of commands and options. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd.h"

#define USUAL_WIDTH 80
#define WIDEST 110 /* longer lines are hard to read */
#define NARROWEST 50
#define HELP_COLUMN 30

static int width_of(FILE *to)
{
    struct winsize size;
    if (ioctl(fileno(to), TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return USUAL_WIDTH;
    return size.ws_col < NARROWEST ? NARROWEST : size.ws_col > WIDEST ? WIDEST : size.ws_col;
}

/* Words from column `at` on, in lines that begin at `indent`; a blank line between paragraphs. */
static void wrap(FILE *to, const char *text, int at, int indent)
{
    const int width = width_of(to);
    for (const char *word = text; *word;) {
        if (*word == '\n') {
            fprintf(to, "\n%s", word[1] == '\n' ? "\n" : "");
            word += word[1] == '\n' ? 2 : 1;
            at = fprintf(to, "%*s", indent, "");
            continue;
        }
        const int length = (int)strcspn(word, " \n");
        if (at > indent && at + 1 + length >= width) {
            fprintf(to, "\n%*s", indent, "");
            at = indent;
        }
        at += fprintf(to, "%s%.*s", at > indent ? " " : "", length, word);
        word += length;
        word += *word == ' ';
    }
    fputc('\n', to);
}

/* "a|b|c", or what the table calls the value */
static void name_value(const bda_option *o, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    if (o->type != BDA_CHOICE)
        snprintf(text, size, "%s", o->argument ? o->argument : "");
    else
        for (const char *const *c = o->choices; *c && used < size; c++)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? "|" : "", *c);
}

static void print_line(FILE *to, const char *left, const char *text)
{
    int at = fprintf(to, "%s", left);
    if (at > HELP_COLUMN - 2) {
        fputc('\n', to);
        at = 0;
    }
    at += fprintf(to, "%*s", HELP_COLUMN - at, "");
    wrap(to, text, at, HELP_COLUMN);
}

static void print_option(FILE *to, const bda_option *o)
{
    char left[200], value[150], text[1200];
    name_value(o, value, sizeof value);
    const bool tells = o->type != BDA_FLAG && o->preset[0];
    const char letter[] = {'-', o->letter, ',', ' ', 0};
    snprintf(left, sizeof left, "  %s--%s%s%s", o->letter ? letter : "    ", o->name, value[0] ? "=" : "", value);
    snprintf(text, sizeof text, "%s%s%s%s", o->help ? o->help : "", tells ? " (default " : "", tells ? o->preset : "",
             tells ? ")" : "");
    print_line(to, left, text);
}

const char *const option_groups[] = {"problem", "data", "stopping", "output", "parallel", "methods", NULL};

/* Those of no group stand under "options". */
bool option_in_group(const bda_option *o, const char *group)
{
    return group ? o->group && strcmp(o->group, group) == 0 : !o->group;
}

static bool any_in_group(const bda_option *table, const char *group)
{
    for (const bda_option *o = table; o->name; o++)
        if (option_in_group(o, group))
            return true;
    return false;
}

static void print_heading(FILE *to, const char *group)
{
    group = group ? group : "options";
    fprintf(to, "%c%s:", toupper((unsigned char)*group), group + 1);
}

static void print_group(FILE *to, const bda_option *table, const char *group, bool full)
{
    if (!any_in_group(table, group))
        return;
    if (full)
        fputc('\n', to);
    print_heading(to, group);
    if (full)
        fputc('\n', to);
    char names[2000] = "";
    for (const bda_option *o = table; o->name; o++) {
        const size_t used = strlen(names);
        if (option_in_group(o, group) && full)
            print_option(to, o);
        else if (option_in_group(o, group) && o->letter)
            snprintf(names + used, sizeof names - used, "%s-%c,--%s", used ? " " : "", o->letter, o->name);
        else if (option_in_group(o, group))
            snprintf(names + used, sizeof names - used, "%s--%s", used ? " " : "", o->name);
    }
    if (full)
        return;
    fprintf(to, "\n  ");
    wrap(to, names, 2, 2);
}

void print_help(FILE *to, const command *c, bool full)
{
    if (!to)
        return;
    const bda_option *table = bda_options(c->name);
    fprintf(to, "Usage: bda %s [OPTION...] %s\n%c%s.\n\nExamples:\n", c->name, c->arguments,
            toupper((unsigned char)c->summary[0]), c->summary + 1);
    for (int i = 0; i < MOST_EXAMPLES && c->examples[i]; i++)
        fprintf(to, "  %s\n", c->examples[i]);
    if (!full)
        fputc('\n', to);
    for (const char *const *group = option_groups; *group; group++)
        print_group(to, table, *group, full);
    print_group(to, table, NULL, full);
    if (!full) {
        fprintf(to, "\n`bda %s --help' says what they do.\n", c->name);
        return;
    }
    fprintf(to, "\nHelp:\n");
    print_line(to, "  -h, -?, --usage", "examples and the names of the options");
    print_line(to, "      --help", "this text");
    print_line(to, "      --version", "the version of the program");
    fputc('\n', to);
    wrap(to, c->more, 0, 0);
}

void print_overview(FILE *to)
{
    fputs("Usage: bda COMMAND [OPTION...] ARGUMENT...\n"
          "Linear models from data of any size, on one machine or on many under mpirun.\n\n",
          to);
    for (const command *const *c = commands; *c; c++) {
        char left[100];
        snprintf(left, sizeof left, "  bda %s %s", (*c)->name, (*c)->arguments);
        fprintf(to, "%-40s %s\n", left, (*c)->summary);
    }
    fputs("\n"
          "`bda help COMMAND' or `bda COMMAND --help' describes a command, `bda COMMAND -h' shows it in short, and\n"
          "`bda --version' prints the version.\n"
          "Exit status: 0 done; 1 failed; 2 wrong command line; 3 training stopped before the gap was reached;\n"
          "129, 130 or 143 training was stopped by a signal, after the model was saved.\n",
          to);
}
