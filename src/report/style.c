/* style.c - see style.h. The colours are those of Okabe and Ito (2008), without the yellow, which is lost on white. */
#include "report/style.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const style_colour[STYLE_COLOURS] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                 "#e69f00", "#56b4e9", "#333333"};
const char *const style_dash[STYLE_DASHES] = {"", "6 3", "2 2", "9 3 2 3", "12 4"};

/* The first seven have colours of their own; a method that is not here shares the last. */
static int colour_of_method(const char *method)
{
    static const char *const order[] = {"bda",       "hull",         "disdca",  "l-commdir", "tron",
                                        "newton",    "cocoa+",       "lbfgs",   "admm",      "dsvm-ave",
                                        "prox-grad", "disdca-basic", "average", "perceptron"};
    for (int i = 0; i < (int)(sizeof order / sizeof *order); i++)
        if (strcmp(order[i], method) == 0)
            return i % STYLE_COLOURS;
    return STYLE_COLOURS - 1;
}

static bool one_method(const comparison *c, uint64_t problem)
{
    const char *method = NULL;
    for (uint64_t i = 0; i < c->runs; i++) {
        if (c->run[i].problem != problem)
            continue;
        const char *own = run_text(c->run[i].run, "method");
        if (method && strcmp(method, own) != 0)
            return false;
        method = own;
    }
    return true;
}

void style_choose(const comparison *c, run_style *style)
{
    for (uint64_t i = 0, next; i < c->runs; i = next) {
        const uint64_t problem = c->run[i].problem;
        const bool spread = one_method(c, problem);
        int used[STYLE_COLOURS] = {0};
        for (next = i; next < c->runs && c->run[next].problem == problem; next++) {
            const int colour =
                spread ? (int)((next - i) % STYLE_COLOURS) : colour_of_method(run_text(c->run[next].run, "method"));
            style[next] = (run_style){.colour = colour, .dash = used[colour]++ % STYLE_DASHES};
        }
    }
}

static int by_size(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

uint64_t style_thin(uint64_t rounds, uint64_t room, uint64_t *t)
{
    uint64_t count = 0, kept = 0;
    if (rounds <= room) {
        for (; count < rounds; count++)
            t[count] = count;
        return count;
    }
    const double last = (double)(rounds - 1);
    const uint64_t half = room / 2;
    for (uint64_t i = 0; i < room - half; i++)
        t[count++] = (uint64_t)llround(last * (double)i / (double)(room - half - (room - half > 1)));
    for (uint64_t i = 0; i < half; i++)
        t[count++] = (uint64_t)llround(exp(log(last + 1) * (double)(i + 1) / (double)half) - 1);
    qsort(t, count, sizeof *t, by_size);
    for (uint64_t i = 0; i < count; i++)
        if (i == 0 || t[i] != t[kept - 1])
            t[kept++] = t[i];
    return kept;
}
