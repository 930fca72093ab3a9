/* made.c - see made.h. */
#include "matrix/made.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEATURES = 24, MOST_PER_ROW = 7 };

static double uniform(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    uint64_t x = *state;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return (double)((x ^ (x >> 31)) >> 11) * 0x1p-53;
}

void *take(uint64_t count, size_t bytes)
{
    void *p = calloc(count + 1, bytes);
    if (!p)
        abort();
    return p;
}

static double draw_value(uint64_t *state, rows_form form, double constant)
{
    double x = 2 * uniform(state) - 1;
    return form == ROWS_ONES ? 1 : form == ROWS_CONSTANT ? constant : form == ROWS_FLOAT ? (float)x : x;
}

static const double class_labels[MOST_CLASSES] = {-7, -2, 0, 3, 1000000};

/* Rows of up to MOST_PER_ROW cells, every ninth row empty; labels from a planted model with noise. Of more than two
 * classes each has features that it likes. */
static void draw_rows(made *g, const setup *s)
{
    uint64_t state = 1000 * (uint64_t)s->form + s->loss->regression + s->instances, cells = 0;
    double planted[FEATURES];
    for (int j = 0; j < FEATURES; j++)
        planted[j] = 2 * uniform(&state) - 1;
    for (uint64_t i = 0; i < g->l; i++) {
        double z = 0, constant = 0.25 + uniform(&state);
        uint64_t most = i % 9 == 4 ? 0 : 1 + (uint64_t)(uniform(&state) * MOST_PER_ROW), here = 0;
        uint64_t class = s->classes * i / g->l;
        for (uint32_t j = 0; j < FEATURES && here < most; j++)
            if (uniform(&state) < (s->classes && j % s->classes == class ? 0.6 : 0.3)) {
                g->column[cells] = j;
                g->value[cells] = draw_value(&state, s->form, constant);
                z += planted[j] * g->value[cells++];
                here++;
            }
        g->start[i + 1] = cells;
        double noisy = z + 0.5 * (uniform(&state) - 0.5);
        bool positive = i < 2 ? i == 0 : noisy > 0; /* both labels occur in any case */
        g->label[i] = s->loss->regression ? 3 * noisy : positive ? 7 : -2;
        if (s->classes)
            g->label[i] = class_labels[class];
    }
    g->n = 0;
    for (uint64_t k = 0; k < cells; k++)
        g->n = g->column[k] + 1u > g->n ? g->column[k] + 1u : g->n;
}

/* The same in the checker's terms: the constant feature is a column, class weights are costs. */
static void tell_checker(made *g, const setup *s)
{
    check_problem *p = &g->check;
    bool bias = g->bias >= 0;
    p->loss = check_loss_named(s->loss->name);
    p->l = g->l;
    p->n = g->n + bias;
    p->epsilon = 0.1;
    p->classes = s->classes;
    p->l1_ratio = g->l1_ratio;
    p->factor = g->penalty_factor;
    uint64_t to = 0;
    for (uint64_t i = 0; i < g->l; i++) {
        for (uint64_t k = g->start[i]; k < g->start[i + 1]; k++, to++) {
            p->column[to] = g->column[k];
            p->value[to] = g->value[k];
        }
        if (bias) {
            p->column[to] = g->n;
            p->value[to++] = g->bias;
        }
        p->start[i + 1] = to;
        uint64_t class = s->classes ? s->classes * i / g->l : g->label[i] == 7;
        p->y[i] = s->loss->regression ? g->label[i] : s->classes ? (double)class : class ? 1 : -1;
        p->cost[i] = s->cost * g->cost_factor[class];
    }
}

made *made_new(const setup *s)
{
    made *g = take(1, sizeof *g);
    uint64_t l = g->l = s->instances, cells = l * (MOST_PER_ROW + 1);
    g->start = take(l + 1, sizeof *g->start);
    g->column = take(cells, sizeof *g->column);
    g->value = take(cells, sizeof *g->value);
    g->label = take(l, sizeof *g->label);
    g->check.start = take(l + 1, sizeof *g->check.start);
    g->check.column = take(cells, sizeof *g->check.column);
    g->check.value = take(cells, sizeof *g->check.value);
    g->check.y = take(l, sizeof *g->check.y);
    g->check.cost = take(l, sizeof *g->check.cost);
    g->bias = s->extra == EXTRA_BIAS ? 0.7 : -1;
    bool weighted = s->extra == EXTRA_WEIGHTS && !s->loss->regression;
    for (int m = 0; m < MOST_CLASSES; m++)
        g->cost_factor[m] = !weighted ? 1 : m % 2 ? 0.3 : 2.5;
    g->l1_ratio = s->penalty >= 2 ? 0.3 : 0;
    draw_rows(g, s);
    if (s->penalty % 2) {
        g->penalty_factor = take(g->n + 1, sizeof *g->penalty_factor);
        for (uint64_t j = 0; j <= g->n; j++) /* the constant feature has 1 */
            g->penalty_factor[j] = j < g->n ? 0.25 * (double)(1 + j % 7) : 1;
    }
    tell_checker(g, s);
    return g;
}

uint64_t hash_doubles(uint64_t h, const double *x, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        h = (h ^ bits) * 0x100000001b3u;
        h ^= h >> 29;
    }
    return h;
}

void made_find_optimum(made *g)
{
    static struct known {
        uint64_t key;
        long double optimum, slack;
    } known[1000];
    static int count;
    const check_problem *p = &g->check;
    double rest[] = {(double)p->loss, (double)p->l, (double)p->classes, p->l1_ratio, p->factor != NULL, g->bias};
    uint64_t key = hash_doubles(hash_doubles(5, p->y, p->l), p->cost, p->l);
    key = hash_doubles(hash_doubles(key, p->value, p->start[p->l]), rest, sizeof rest / sizeof *rest);
    int k = 0;
    while (k < count && known[k].key != key)
        k++;
    if (k == count) {
        double *alpha = take(g->l * MOST_CLASSES, sizeof *alpha), *w = take(check_length(p), sizeof *w);
        bool slow = p->classes || p->l1_ratio > 0;
        check_solve(p, slow ? 1e-7 : 1e-10, slow ? 100 : 3000, alpha, w);
        check_verdict best = check_points(p, w, alpha);
        known[k] = (struct known){key, best.primal, best.gap + 1e-14L * best.primal};
        count += count < 999;
        free(alpha);
        free(w);
    }
    g->optimum = known[k].optimum;
    g->slack = known[k].slack;
}

void made_free(made *g)
{
    void *all[] = {
        g->start,   g->column,     g->value,          g->label, g->check.column, g->check.start, g->check.value,
        g->check.y, g->check.cost, g->penalty_factor, g};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        free(all[k]);
}

void made_write(const made *g, const char *path)
{
    FILE *f = fopen(path, "w");
    if (!f)
        abort();
    for (uint64_t i = 0; i < g->l; i++) {
        fprintf(f, "%.17g", g->label[i]);
        for (uint64_t k = g->start[i]; k < g->start[i + 1]; k++)
            fprintf(f, " %u:%.17g", g->column[k] + 1, g->value[k]);
        fprintf(f, "\n");
    }
    if (fclose(f) != 0)
        abort();
}
