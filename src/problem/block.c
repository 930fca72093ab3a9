/* block.c - what all kinds of blocks share: opening, and the frame of the local solver.
 *
 * The solver is coordinate descent in random order. It keeps u = w + a1 H X (alpha - alpha at the start), so that
 * x_i'u is the slope of the model; the damping a2 is centred at the start of the round, for any number of epochs. */
#include "problem/block.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/vector.h"
#include "problem/kinds.h"
#include "problem/points.h"

block **blocks_open(arena *memory, const problem *p, bda_error *err)
{
    const data *d = p->data;
    block **blocks = ARENA_TAKE(memory, block *, d->local_blocks + 1, err);
    for (uint64_t k = 0; blocks && k < d->local_blocks; k++) {
        uint64_t count = d->block_start[k + 1] - d->block_start[k], first, end;
        data_block_rows(d, k, &first, &end);
        block b = {.kind = p->task->dual,
                   .p = p,
                   .number = d->first_block + k,
                   .first = d->block_start[k],
                   .count = (uint32_t)count,
                   .first_row = first,
                   .rows = end - first,
                   .violation = INFINITY};
        if (count >= UINT32_MAX)
            err_set(err, BDA_FAILED, "a block of %llu instances is too large; use more blocks (--blocks) or ranks",
                    (unsigned long long)count);
        else
            blocks[k] = b.kind->open(memory, &b, err);
        if (!blocks[k]) {
            blocks_close(blocks);
            return NULL;
        }
    }
    return blocks;
}

void blocks_close(block **blocks)
{
    for (block **b = blocks; b && *b; b++)
        if ((*b)->kind->close)
            (*b)->kind->close(*b);
}

/* u -> dv where u = w + a1 H dv, or a1 H dv as pool_end leaves it; returns max |dv_j| */
static double turn_into_direction(double *u, const subproblem *s, uint64_t n)
{
    if (!s->seat && !s->h)
        return vec_difference(u, s->w, s->a1, n, 1);
    for (uint64_t j = 0; !s->seat && j < n; j++)
        u[j] -= s->w[j];
    for (uint64_t j = 0; s->h && j < n; j++)
        u[j] /= s->a1 * s->h[j];
    for (uint64_t j = 0; !s->h && s->a1 != 1 && j < n; j++)
        u[j] /= s->a1;
    return vec_largest(u, n, 1);
}

#define LEAST_A1 (1.0 / 16)

void block_solve(block *b, const subproblem *s, double *dv, block_direction *d)
{
    const uint64_t n = b->p->n;
    bool coupled = s->a1 > 0 && !s->separate;
    double *u = dv; /* its memory until the passes are over, unless there is a view */
    if (s->seat)
        u = pool_begin(s->seat, s->epochs, s->pool, s->w, dv);
    else if (!coupled)
        memset(dv, 0, n * sizeof *dv);
    else
        memcpy(u, s->w, n * sizeof *u);

    rng random;
    rng_open(&random, s->seed, s->round, b->number);
    *d = (block_direction){0};
    for (int64_t k = 0; k < s->epochs && !d->failed && !(k > 0 && problem_late(b->p)); k++) {
        uint64_t cells = b->kind->epoch(b, s, &random, coupled ? u : s->w, coupled ? u : dv);
        d->failed = cells == BLOCK_FAILED;
        d->cells += (double)cells;
        if (!coupled)
            break; /* every variable has found its minimum */
    }
    /* u - w = a1 H dv, but for other blocks' changes where there is one u, and digits that a small a1 costs */
    const bool anew = coupled && (u != dv || s->a1 < LEAST_A1);
    if (s->seat)
        pool_end(s->seat, dv);
    if (anew) {
        memset(dv, 0, n * sizeof *dv);
        b->kind->image(b, dv);
    }
    d->largest = !coupled || anew ? vec_largest(dv, n, 1) : turn_into_direction(dv, s, n);
    b->kind->describe(b, d);
    if (!b->p->loss->quadratic_dual)
        b->kind->ray(b, s->trials, s->trial, d->change, NULL);
}

void block_begin(block *b, const double *alpha, int trials, const double *trial, double *dv, block_direction *d)
{
    const uint64_t n = b->p->n;
    *d = (block_direction){0};
    b->kind->begin(b, alpha);
    memset(dv, 0, n * sizeof *dv);
    b->kind->image(b, dv);
    d->largest = vec_largest(dv, n, 1);
    b->kind->describe(b, d);
    if (!b->p->loss->quadratic_dual)
        b->kind->ray(b, trials, trial, d->change, NULL);
}

void block_solve_ahead(block *b, const subproblem *s, double beta, double *dv, block_direction *d)
{
    const uint64_t n = b->p->n;
    double *u = dv; /* its memory until the passes are over */
    rng random;
    rng_open(&random, s->seed, s->round, b->number);
    memcpy(u, s->w, n * sizeof *u);
    b->kind->advance(b, beta, s->h, u);
    *d = (block_direction){.limit = 1};
    for (int64_t k = 0; k < s->epochs && !d->failed && !(k > 0 && problem_late(b->p)); k++) {
        uint64_t cells = b->kind->epoch(b, s, &random, u, u);
        d->failed = cells == BLOCK_FAILED;
        d->cells += (double)cells;
    }
    d->largest = turn_into_direction(u, s, n);
}

void block_take_back(block *b)
{
    b->kind->take_back(b);
}

void block_ray(const block *b, int trials, const double *eta, double *change, double *slope)
{
    b->kind->ray(b, trials, eta, change, slope);
}

void block_move(block *b, double eta)
{
    b->kind->move(b, eta);
}

void block_evaluate(block *b, const double *w, double travelled, block_value *value)
{
    b->kind->evaluate(b, w, travelled, value);
}

double block_largest_norm(const block *b)
{
    return b->kind->largest_norm(b);
}

void block_alpha(const block *b, double *alpha)
{
    b->kind->alpha(b, alpha);
}

uint64_t block_count(const block *b)
{
    return b->count;
}

void block_image(const block *b, double *v)
{
    memset(v, 0, b->p->n * sizeof *v);
    b->kind->whole_image(b, v);
}

bool blocks_have_image(const problem *p)
{
    return p->task->dual->whole_image != NULL;
}

bool block_points(block *b, arena *memory, int points, bda_error *err)
{
    return b->kind->points->open(b, memory, points, err);
}

bool block_keep(block *b, int point, double eta)
{
    return b->kind->points->keep(b, point, eta);
}

bool block_keep_image(block *b, int point, const double *s)
{
    return b->kind->points->keep_image(b, point, s);
}

void block_products(const block *b, int point, int count, const int *others, double *product, double *linear)
{
    b->kind->points->products(b, point, count, others, product, linear);
}

void block_combine(const block *b, int count, const int *points, const double *theta, double reach, double *change,
                   double *gradient, double *hessian)
{
    b->kind->points->combine(b, count, points, theta, reach, change, gradient, hessian);
}

bool block_blend(block *b, int count, const int *points, const double *theta)
{
    return b->kind->points->blend(b, count, points, theta);
}

void block_advance(block *b, int point, double beta, double *beyond, double *moved)
{
    b->kind->points->advance(b, point, beta, beyond, moved);
}

double block_gap(const block *b, const double *z)
{
    return b->kind->points->gap(b, z);
}

void block_state(block *b, archive *a)
{
    uint32_t count = b->count;
    ARCHIVE(a, count);
    if (count != b->count)
        archive_refuse(a, "instances of a block");
    ARCHIVE(a, b->violation);
    b->kind->state(b, a);
}

uint64_t block_forecast(const task *t, uint64_t outputs, uint64_t rows)
{
    return rows * t->dual->bytes(t, outputs);
}
