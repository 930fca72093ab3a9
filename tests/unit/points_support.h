/* points_support.h - blocks with kept points, and beside them what alpha and each point ought to be: the bench of
 * test_points.c. A point cannot be read; but alpha can, before and after what makes a point of it. */
#ifndef UNIT_POINTS_SUPPORT_H
#define UNIT_POINTS_SUPPORT_H

#include <math.h>
#include <string.h>

#include "checker.h"
#include "checker/draw.h"
#include "problem/instances.h"
#include "problem/points.h"
#include "unit/cmocka_all.h"

enum { ROWS = 17, N = 5, K = 3, MOST_CLASSES = 4, LENGTH = N * MOST_CLASSES, VARIABLES = ROWS * MOST_CLASSES };
enum { POINTS = 5 }; /* in use; one more is there to remember alpha */

typedef struct bench {
    uint64_t start[ROWS + 1], check_column[ROWS * N], width;
    uint32_t column[ROWS * N];
    double value[ROWS * N], label[ROWS], y[ROWS], cost[ROWS];
    check_problem check;
    comm *comm;
    data *data;
    problem problem;
    arena memory;
    block **blocks;
    instances part[K];
    double alpha[VARIABLES];         /* what it ought to be */
    double point[POINTS][VARIABLES]; /* likewise */
} bench;

/* ---- opening -------------------------------------------------------------------------------------------------- */

static inline void draw_rows(bench *t, const loss *f, uint64_t classes, double cost, const double *factor)
{
    uint64_t cells = 0;
    for (uint64_t i = 0; i < ROWS; i++) {
        for (uint32_t j = 0; j < N && i != 4; j++) { /* row 4 is empty */
            t->check_column[cells] = t->column[cells] = j;
            t->value[cells++] = uniform(-1, 1);
        }
        t->start[i + 1] = cells;
        t->y[i] = classes ? (double)(i % classes) : f->regression ? uniform(-2, 2) : i % 2 ? 1 : -1;
        t->label[i] = t->y[i];
        t->cost[i] = cost * (f->regression ? 1 : factor[classes ? i % classes : i % 2]);
    }
    t->check = (check_problem){.loss = check_loss_named(f->name), .l = ROWS, .n = N, .start = t->start};
    t->check.column = t->check_column;
    t->check.value = t->value;
    t->check.y = t->y;
    t->check.cost = t->cost;
    t->check.epsilon = 0.1;
    t->check.classes = classes;
}

static inline void read_alpha(const bench *t, double *alpha)
{
    for (int k = 0; k < K; k++)
        block_alpha(t->blocks[k], alpha + t->blocks[k]->first * t->width);
}

static inline void bench_open(bench *t, const loss *f, uint64_t classes)
{
    bda_error err = {0};
    const double factor[MOST_CLASSES] = {f->regression ? 1 : 1.7, 1, 0.6, 1.1}, cost = power(-1, 1);
    memset(t, 0, sizeof *t);
    draw_rows(t, f, classes, cost, factor);
    t->width = classes ? classes : 1;
    problem_request request = {.loss = f, .cost = cost, .cost_factor = factor, .epsilon = 0.1, .bias = -1};
    request.threads = 1;
    t->comm = bda_comm_single(&err);
    t->data = data_copy(t->comm, K, ROWS, t->start, t->column, t->value, t->label, &err);
    assert_non_null(t->data);
    assert_true(problem_open(&t->problem, t->comm, t->data, &request, &err));
    assert_non_null(t->blocks = blocks_open(&t->memory, &t->problem, &err));
    for (int k = 0; k < K; k++) {
        assert_true(block_points(t->blocks[k], &t->memory, POINTS + 1, &err));
        t->part[k] = instances_of(&t->problem, (uint64_t)k);
    }
}

static inline void bench_close(bench *t)
{
    blocks_close(t->blocks);
    arena_free(&t->memory);
    problem_close(&t->problem);
    data_free(t->data);
    bda_comm_free(t->comm);
}

/* ---- moving, and what ought to come of it --------------------------------------------------------------------- */

/* The solver looks at every variable. */
static inline void wake(bench *t, const double *w)
{
    for (int k = 0; k < K; k++) {
        block_value value;
        t->blocks[k]->violation = INFINITY;
        block_evaluate(t->blocks[k], w, INFINITY, &value);
    }
}

static inline void random_weights(const bench *t, double size, double *w)
{
    for (uint64_t j = 0; j < t->problem.n; j++)
        w[j] = size * uniform(-1, 1);
}

/* z of a sub-problem at random weights; the least of the blocks' limits comes back. */
static inline double solve_somewhere(bench *t, double size, double *z)
{
    static const double trial[BLOCK_TRIALS] = {1, 0.5, 0.25, 0.125};
    double w[LENGTH], dv[LENGTH], limit = INFINITY;
    random_weights(t, size, w);
    wake(t, w);
    for (int k = 0; k < K; k++) {
        block_direction d;
        subproblem s = {.w = w, .a1 = 1, .a2 = 0.1, .epochs = 1, .seed = 5, .round = (uint64_t)state};
        s.trial = trial;
        s.trials = BLOCK_TRIALS;
        block_solve(t->blocks[k], &s, dv, &d);
        assert_false(d.failed);
        limit = fmin(limit, d.limit);
    }
    read_alpha(t, z);
    return limit;
}

static inline void keep_solution(bench *t, int point, double size, double eta)
{
    double z[VARIABLES], now[VARIABLES], limit = solve_somewhere(t, size, z);
    eta = fmin(eta, limit);
    for (int k = 0; k < K; k++)
        assert_true(block_keep(t->blocks[k], point, eta));
    read_alpha(t, now);
    for (uint64_t i = 0; i < ROWS * t->width; i++) {
        t->point[point][i] = t->alpha[i] + eta * (z[i] - t->alpha[i]);
        assert_true(now[i] == t->alpha[i]); /* z is forgotten, alpha stays */
    }
}

static inline void keep_image(bench *t, int point, double size)
{
    double z[VARIABLES];
    for (uint64_t i = 0; i < ROWS * t->width; i++)
        z[i] = size * uniform(-1, 1);
    for (int k = 0; k < K; k++) {
        uint64_t at = t->part[k].first_row * t->width;
        instances_slopes(&t->part[k], z + at, t->point[point] + at);
        assert_true(block_keep_image(t->blocks[k], point, t->point[point] + at));
    }
}

static inline void blend(bench *t, int count, const int *points, const double *theta)
{
    for (int k = 0; k < K; k++)
        assert_true(block_blend(t->blocks[k], count, points, theta));
    read_alpha(t, t->alpha);
}

/* Some rounds at random weights, so that alpha is nowhere special. */
static inline void stray(bench *t, int rounds)
{
    double z[VARIABLES];
    for (int round = 0; round < rounds; round++) {
        solve_somewhere(t, 1, z);
        for (int k = 0; k < K; k++)
            block_move(t->blocks[k], round % 2 ? 1 : 0.6);
    }
    read_alpha(t, t->alpha);
}

/* Solutions at several lengths and images at several sizes, some at the ends of the domain. */
static inline void keep_many(bench *t)
{
    keep_solution(t, 0, 1, 1);
    keep_solution(t, 1, 3, 1.3);
    keep_image(t, 2, 1);
    keep_image(t, 3, 5);
    keep_solution(t, 4, 2, 0.4);
}

static inline void random_theta(int count, double total, double *theta)
{
    double sum = 0;
    for (int a = 0; a < count; a++)
        sum += theta[a] = uniform(0, 1);
    for (int a = 0; a < count; a++)
        theta[a] *= total / sum;
}

static const int all_points[POINTS] = {0, 1, 2, 3, 4};

static inline void for_all_kinds(void (*test)(bench *t, const loss *f))
{
    for (const loss *f = losses; f->name; f++)
        for (uint64_t classes = 0; classes <= (f->regression ? 0 : MOST_CLASSES); classes += MOST_CLASSES)
            for (int rounds = 0; rounds < 6; rounds++) {
                bench t;
                bench_open(&t, f, classes);
                stray(&t, rounds);
                test(&t, f);
                bench_close(&t);
            }
}

/* ---- what the checker makes of it ----------------------------------------------------------------------------- */

/* alpha(theta) of one instance: [width] */
static inline void combination(const bench *t, uint64_t i, int count, const int *points, const double *theta,
                               long double *a)
{
    for (uint64_t m = i * t->width; m < (i + 1) * t->width; m++) {
        a[m - i * t->width] = t->alpha[m];
        for (int k = 0; k < count; k++)
            a[m - i * t->width] += theta[k] * ((long double)t->point[points[k]][m] - t->alpha[m]);
    }
}

/* Rounding may lead out of the domain by a hair, where the conjugate is infinite: back into it. */
static inline long double conjugate(const bench *t, uint64_t i, const long double *a)
{
    const check_problem *p = &t->check;
    long double near[MOST_CLASSES], lo, hi;
    for (uint64_t m = 0; m < t->width; m++) {
        if (p->classes)
            check_multi_domain(p->loss, m == (uint64_t)p->y[i], p->cost[i], &lo, &hi);
        else
            check_domain(p->loss, p->y[i], p->cost[i], &lo, &hi);
        near[m] = fminl(fmaxl(a[m], lo), hi);
        assert_true(fabsl(near[m] - a[m]) <= 1e-14L * (p->cost[i] + fabsl(a[m])));
    }
    long double value = p->classes ? check_multi_conjugate(p->loss, near, p->classes, (uint64_t)p->y[i], p->cost[i])
                                   : check_conjugate(p->loss, near[0], p->y[i], p->cost[i], p->epsilon);
    assert_true(isfinite(value));
    return value;
}

static inline long double conjugates(const bench *t, const block *b, int count, const int *points,
                                     const double *theta)
{
    long double sum = 0, a[MOST_CLASSES];
    for (uint64_t i = b->first; i < b->first + b->count; i++) {
        combination(t, i, count, points, theta, a);
        sum += conjugate(t, i, a);
    }
    return sum;
}

/* Feasible, to the last bit where bounds are all there is. */
static inline void expect_feasible(const bench *t, const double *alpha)
{
    const check_problem *p = &t->check;
    long double a[MOST_CLASSES], lo, hi;
    for (uint64_t i = 0; i < ROWS; i++) {
        for (uint64_t m = 0; m < t->width; m++)
            a[m] = alpha[i * t->width + m];
        check_domain(p->loss, p->y[i], p->cost[i], &lo, &hi);
        if (p->classes)
            assert_true(isfinite(check_multi_conjugate(p->loss, a, p->classes, (uint64_t)p->y[i], p->cost[i])));
        else
            assert_true(a[0] >= lo && a[0] <= hi);
    }
}

#endif
