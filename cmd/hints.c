/* hints.c - what somebody may have meant: the command or option of the nearest spelling, and for those who come from
 * LIBLINEAR the option that does what theirs did (docs/from-liblinear.md has all of them). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"

#define LONGEST 64

static int least_of(int a, int b, int c)
{
    const int d = a < b ? a : b;
    return d < c ? d : c;
}

/* How many letters to insert, leave out, change or swap with their neighbour turn a into b. */
static int distance(const char *a, const char *b)
{
    const int m = (int)strlen(a), n = (int)strlen(b);
    int d[LONGEST + 1][LONGEST + 1];
    if (m > LONGEST || n > LONGEST)
        return LONGEST;
    for (int i = 0; i <= m; i++)
        for (int j = 0; j <= n; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            d[i][j] = least_of(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && d[i - 2][j - 2] < d[i][j])
                d[i][j] = d[i - 2][j - 2] + 1;
        }
    return d[m][n];
}

/* A word as far off as a third of its letters is another word. */
typedef struct guess {
    const char *word, *best;
    int distance;
} guess;

static guess guess_of(const char *word)
{
    return (guess){.word = word, .distance = (int)strlen(word) / 3 + 1};
}

static void consider(guess *g, const char *candidate)
{
    const int d = distance(g->word, candidate);
    if (d <= g->distance && (!g->best || d < g->distance)) {
        g->best = candidate;
        g->distance = d;
    }
}

const char *hint_command(const char *word)
{
    guess g = guess_of(word);
    for (const command *const *c = commands; *c; c++)
        consider(&g, (*c)->name);
    return g.best;
}

/* Options of train that other commands do not have are asked of these at times. */
static const char *other_command(const command *mine, const char *name)
{
    for (const command *const *c = commands; *c; c++)
        for (const bda_option *o = bda_options((*c)->name); *c != mine && o->name; o++)
            if (strcmp(o->name, name) == 0)
                return (*c)->name;
    return NULL;
}

void hint_name(const command *c, const char *written, char *text, size_t size)
{
    const char *other = other_command(c, written + 2);
    guess g = guess_of(written + 2);
    for (const bda_option *o = bda_options(c->name); o->name; o++)
        consider(&g, o->name);
    if (other && !(g.best && g.distance <= 1))
        snprintf(text, size, "there is no option %s; it is one of `bda %s'", written, other);
    else if (g.best)
        snprintf(text, size, "there is no option %s; did you mean --%s?", written, g.best);
    else
        snprintf(text, size, "there is no option %s; `bda %s --help' lists all", written, c->name);
}

/* LIBLINEAR's -s. */
static const char *of_solver(const char *value)
{
    static const struct {
        const char *solver, *options;
    } solvers[] = {
        {"0", "--loss=logistic"},
        {"1", "--loss=squared-hinge, the default"},
        {"2", "--loss=squared-hinge, the default"},
        {"3", "--loss=hinge"},
        {"4", "--loss=hinge, with more than two labels"},
        {"5", "--loss=squared-hinge --l1-ratio=0.99"},
        {"6", "--loss=logistic --l1-ratio=0.99"},
        {"7", "--loss=logistic"},
        {"11", "--task=regress --loss=squared-epsilon-insensitive"},
        {"12", "--task=regress --loss=squared-epsilon-insensitive"},
        {"13", "--task=regress --loss=epsilon-insensitive"},
    };
    for (size_t i = 0; i < sizeof solvers / sizeof *solvers; i++)
        if (strcmp(solvers[i].solver, value) == 0)
            return solvers[i].options;
    return "--loss, with --task=regress for numbers";
}

/* What does here what a letter of `train` of LIBLINEAR did; NULL: it is none of these. */
static const char *of_liblinear(char letter, const char *value, char *text, size_t size)
{
    switch (letter) {
    case 's':
        return of_solver(value);
    case 'e':
        return "--gap, which is relative to the objective";
    case 'B':
        snprintf(text, size, "--bias=%.20s", value);
        return text;
    case 'w':
        snprintf(text, size, "--class-weight=LABEL:W");
        return text;
    case 'n':
        return "--threads";
    case 'v':
        return has_command("select") ? "`bda select --folds=N'" : NULL;
    case 'C':
        return has_command("select") ? "`bda select'" : NULL;
    default:
        return NULL;
    }
}

void hint_letter(const command *c, char letter, const char *value, char *text, size_t size)
{
    char made[80];
    const char *instead = strcmp(c->name, "train") == 0 ? of_liblinear(letter, value, made, sizeof made) : NULL;
    if (strcmp(c->name, "predict") == 0 && letter == 'b')
        instead = "--probability";
    if (instead)
        snprintf(text, size, "there is no option -%c; what LIBLINEAR calls so is %s", letter, instead);
    else
        snprintf(text, size, "there is no option -%c; `bda %s -h' lists all", letter, c->name);
}
