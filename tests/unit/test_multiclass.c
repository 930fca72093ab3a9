/* test_multiclass.c - dual blocks of more than two classes (crammer_singer.c, softmax.c) against the checker: the
 * sub-problem of an instance against its slow minimiser, what a block tells about itself and its direction against
 * direct evaluation, moves against the domain, two classes against the binary losses, and no memory in an epoch.
 *
 * Tolerances are relative to the size of the terms that are added up. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "checker.h"
#include "checker/draw.h"
#include "dual/presets.h"
#include "problem/kinds.h"

enum { MOST_ROWS = 16, N = 5, MOST_CLASSES = 8, LENGTH = N * MOST_CLASSES, VARIABLES = MOST_ROWS * MOST_CLASSES };

typedef struct shape {
    const char *loss;
    uint64_t rows, classes, blocks;
    double cost, size; /* size: of the values */
    bool zeros;        /* every third row is empty */
} shape;

/* A problem, as the program and as the checker know it. */
typedef struct bench {
    shape shape;
    uint64_t start[MOST_ROWS + 1], column[MOST_ROWS * N];
    uint32_t narrow_column[MOST_ROWS * N];
    double value[MOST_ROWS * N], label[MOST_ROWS], y[MOST_ROWS], cost[MOST_ROWS], factor[MOST_CLASSES];
    check_problem check;
    comm *comm;
    data *data;
    problem problem;
    arena memory;
    block **blocks;
} bench;

static const char *const names[] = {"hinge", "squared-hinge", "logistic"};
static const double trial[BLOCK_TRIALS] = {1, 0.5, 0.25, 0.125};
static void draw_rows(bench *t, const shape *s)
{
    uint64_t cells = 0;
    for (uint64_t m = 0; m < s->classes; m++)
        t->factor[m] = uniform(0.5, 2);
    for (uint64_t i = 0; i < s->rows; i++) {
        for (uint32_t j = 0; j < N && !(s->zeros && i % 3 == 1); j++) {
            t->column[cells] = t->narrow_column[cells] = j;
            t->value[cells++] = s->size * uniform(-1, 1);
        }
        t->start[i + 1] = cells;
        t->y[i] = (double)(i % s->classes);
        t->label[i] = 3 * t->y[i] - 4;
        t->cost[i] = s->cost * t->factor[i % s->classes];
    }
    t->check = (check_problem){.loss = check_loss_named(s->loss), .l = s->rows, .n = N, .start = t->start};
    t->check.column = t->column;
    t->check.value = t->value;
    t->check.y = t->y;
    t->check.cost = t->cost;
    t->check.classes = s->classes;
}

/* Two labels are a binary problem to problem_open, so there the blocks of more classes are opened by hand. */
static void open_two_classes(bench *t, bda_error *err)
{
    problem *p = &t->problem;
    assert_true(p->classes == 2 && p->n == N);
    p->outputs = 2;
    p->n = 2 * N;
    p->penalty = penalty_for(N, 2, 0, 0, NULL, 1);
    const block_kind *kind = p->loss->kind == LOSS_LOGISTIC ? &softmax_blocks : &crammer_singer_blocks;
    block base = {.kind = kind, .p = p, .count = (uint32_t)t->shape.rows, .violation = INFINITY};
    t->blocks = ARENA_TAKE(&t->memory, block *, 2, err);
    assert_non_null(t->blocks);
    assert_non_null(t->blocks[0] = kind->open(&t->memory, &base, err));
}

static void bench_open(bench *t, const shape *s)
{
    memset(t, 0, sizeof *t);
    t->shape = *s;
    draw_rows(t, s);
    problem_request request = {.loss = loss_find(s->loss), .cost = s->cost, .bias = -1, .threads = 1};
    request.cost_factor = t->factor;
    bda_error err = {0};
    t->comm = bda_comm_single(&err);
    t->data = data_copy(t->comm, s->blocks, s->rows, t->start, t->narrow_column, t->value, t->label, &err);
    assert_non_null(t->data);
    assert_true(problem_open(&t->problem, t->comm, t->data, &request, &err));
    if (s->classes == 2) {
        open_two_classes(t, &err);
    } else {
        assert_true(t->problem.n == N * s->classes);
        t->blocks = blocks_open(&t->memory, &t->problem, &err);
    }
    assert_non_null(t->blocks);
}

static void bench_close(bench *t)
{
    blocks_close(t->blocks);
    arena_free(&t->memory);
    problem_close(&t->problem);
    data_free(t->data);
    bda_comm_free(t->comm);
}

static void read_alpha(const bench *t, double *alpha)
{
    uint64_t at = 0;
    for (block **b = t->blocks; *b; b++) {
        block_alpha(*b, alpha + at * t->shape.classes);
        at += block_count(*b);
    }
    assert_true(at == t->shape.rows);
}

static void random_weights(const bench *t, double size, double *w)
{
    for (uint64_t j = 0; j < t->problem.n; j++)
        w[j] = size * uniform(-1, 1);
}

static block_value evaluate(bench *t, const double *w)
{
    block_value sums = {0}, one;
    for (block **b = t->blocks; *b; b++) {
        block_evaluate(*b, w, INFINITY, &one);
        assert_true(one.gap >= 0);
        sums.cells += one.cells;
        sums.loss += one.loss;
        sums.conjugate += one.conjugate;
        sums.gap += one.gap;
    }
    assert_true(sums.cells == (w ? (double)t->problem.nonzeros : 0));
    return sums;
}

static subproblem with_trials(const subproblem *s)
{
    subproblem model = *s;
    model.trial = trial;
    model.trials = BLOCK_TRIALS;
    return model;
}

/* All blocks solve the sub-problem and move. */
static void solve_and_move(bench *t, const subproblem *s, double eta, double *dv)
{
    subproblem model = with_trials(s);
    for (block **b = t->blocks; *b; b++) {
        block_direction d;
        block_solve(*b, &model, dv, &d);
        assert_true(!d.failed);
        block_move(*b, eta);
    }
}

/* Some rounds at random weights lead to an alpha that has nothing to do with any optimum. */
static void stray(bench *t, int rounds, double size)
{
    double w[LENGTH], dv[LENGTH];
    for (int k = 0; k < rounds; k++) {
        random_weights(t, size, w);
        evaluate(t, w);
        subproblem s = {.w = w, .a1 = 1, .epochs = 1, .seed = 3, .round = (uint64_t)k};
        solve_and_move(t, &s, k % 2 ? 1 : 0.7, dv);
    }
}

/* ---- the sub-problem of one instance -------------------------------------------------------------------------- */

/* In long double: slopes, curvatures and centre of the instance's model. */
typedef struct instance_model {
    long double slope[MOST_CLASSES], curve[MOST_CLASSES], from[MOST_CLASSES];
    long double size; /* of the terms of its value */
} instance_model;

static instance_model model_of(const bench *t, uint64_t i, const subproblem *s, const double *alpha)
{
    const uint64_t T = t->shape.classes;
    instance_model model = {.size = 0};
    for (uint64_t m = 0; m < T; m++) {
        model.from[m] = alpha[i * T + m];
        model.curve[m] = s->a2;
        for (uint64_t k = t->start[i]; k < t->start[i + 1]; k++) {
            uint64_t at = t->column[k] * T + m;
            long double x = t->value[k];
            model.slope[m] += x * s->w[at];
            model.curve[m] += s->a1 * (s->h ? s->h[at] : 1) * x * x;
        }
    }
    return model;
}

static long double model_value(const bench *t, uint64_t i, instance_model *model, const long double *a)
{
    const uint64_t T = t->shape.classes;
    long double value = check_multi_conjugate(t->check.loss, a, T, (uint64_t)t->y[i], t->cost[i]);
    model->size = fabsl(value) + t->cost[i];
    for (uint64_t m = 0; m < T; m++) {
        long double d = a[m] - model->from[m];
        value += model->slope[m] * d + model->curve[m] * d * d / 2;
        model->size += fabsl(model->slope[m] * d) + model->curve[m] * d * d / 2;
        /* slope and curvature cancel in what decides, and the program has them as doubles */
        model->size += (fabsl(model->slope[m]) + model->curve[m] * (fabsl(a[m]) + fabsl(model->from[m]))) * fabsl(d);
        if (t->check.loss == CHECK_LOGISTIC) /* beta is rounded to 1e-16 of C, and known to 1e-9: here squared */
            model->size += t->cost[i] * (1e-2L * fabsl(model->slope[m]) + 1e-5L * model->curve[m] * t->cost[i]);
    }
    return value;
}

/* Blocks of one instance each, so that one epoch is one step, and another one finds nothing to do: the damping is centred
 * where the round began. */
static void expect_minimum(const shape *s, subproblem model, double w_size, int stray_rounds, bool bent)
{
    bench t;
    bench_open(&t, s);
    stray(&t, stray_rounds, w_size);
    const uint64_t T = s->classes;
    double w[LENGTH], h[LENGTH], dv[LENGTH], before[VARIABLES], after[VARIABLES];
    random_weights(&t, w_size, w);
    for (uint64_t j = 0; j < t.problem.n; j++)
        h[j] = power(-3, 3);
    model.w = w;
    model.h = bent ? h : NULL;
    model.epochs = 1 + stray_rounds % 3;
    evaluate(&t, w);
    read_alpha(&t, before);
    solve_and_move(&t, &model, 1, dv);
    read_alpha(&t, after);
    for (uint64_t i = 0; i < s->rows; i++) {
        long double a[MOST_CLASSES], best[MOST_CLASSES];
        instance_model m = model_of(&t, i, &model, before);
        for (uint64_t k = 0; k < T; k++)
            a[k] = after[i * T + k];
        check_multi_minimise(t.check.loss, T, (uint64_t)t.y[i], t.cost[i], m.slope, m.curve, m.from, best);
        long double least = model_value(&t, i, &m, best), value = model_value(&t, i, &m, a);
        if (!(value - least <= 1e-12L * m.size) || !(least - value <= 1e-11L * m.size))
            fail_msg("%s, %d classes, C=%g, a1=%g a2=%g, w %g, x %g, row %d: %.20Lg, expected %.20Lg (%Lg)", s->loss,
                     (int)T, s->cost, model.a1, model.a2, w_size, s->size, (int)i, value, least,
                     (value - least) / m.size);
    }
    bench_close(&t);
}

static const subproblem models[] = {
    {.a1 = 1},   {.a1 = 7, .a2 = 0.01},        {.a1 = 1, .a2 = 2},
    {.a2 = 0.5}, {.a1 = 30, .separate = true}, {.a1 = 0.3, .a2 = 5, .separate = true},
};
enum { MODELS = sizeof models / sizeof *models };

static void test_instance_minimum(void **unused)
{
    (void)unused;
    state = 1;
    for (int k = 0; k < 3; k++)
        for (uint64_t T = 3; T <= MOST_CLASSES; T++)
            for (int m = 0; m < MODELS; m++) {
                shape s = {names[k], T, T, T, power(-1, 1), 1, T % 2};
                expect_minimum(&s, models[m], power(-1, 1), m % 4, (m + (int)T) % 2);
            }
}

static void test_instance_minimum_at_wide_scales(void **unused)
{
    (void)unused;
    state = 2;
    for (int k = 0; k < 3; k++)
        for (double cost = 1e-6; cost < 2e6; cost *= 1e3)
            for (double size = 1e-3; size < 2e3; size *= 1e3)
                for (int m = 0; m < 2; m++) {
                    shape s = {names[k], 4, 4, 4, cost, size, false};
                    expect_minimum(&s, models[m], 1e3 / size, 2, false);
                    expect_minimum(&s, models[m], 1, 2, true);
                }
}

/* ---- what a block tells --------------------------------------------------------------------------------------- */

static void test_values(void **unused)
{
    (void)unused;
    state = 3;
    for (int k = 0; k < 3; k++)
        for (int rounds = 0; rounds < 8; rounds++)
            for (double cost = 1e-6; cost < 2e6; cost *= 1e3)
                for (double size = 1e-2; size < 2e3; size *= 1e5) {
                    shape s = {names[k], MOST_ROWS, 3 + (uint64_t)rounds % 6, 3, cost, 1, rounds % 2};
                    bench t;
                    bench_open(&t, &s);
                    stray(&t, rounds, size);
                    double w[LENGTH], alpha[VARIABLES];
                    random_weights(&t, size, w);
                    read_alpha(&t, alpha);
                    check_value_sums truth = check_sums(&t.check, w, alpha);
                    block_value told = evaluate(&t, w);
                    assert_true(isfinite(truth.conjugate));
                    long double scale = truth.loss + fabsl(truth.conjugate) + truth.gap;
                    assert_true(fabsl(told.loss - truth.loss) <= 1e-14L * scale);
                    assert_true(fabsl(told.conjugate - truth.conjugate) <= 1e-14L * scale);
                    assert_true(fabsl(told.gap - truth.gap) <= 1e-12L * scale);
                    const block_value nowhere = evaluate(&t, (const double[LENGTH]){0}), none = evaluate(&t, NULL);
                    assert_true(nowhere.loss == none.loss && nowhere.conjugate == none.conjugate &&
                                nowhere.gap == none.gap);
                    bench_close(&t);
                }
}

/* The same blocks twice: da is known after a move alone. */
static void open_twins(bench *t, bench *twin, const shape *s, int rounds)
{
    uint64_t seed = state;
    bench_open(t, s);
    stray(t, rounds, 1);
    uint64_t end = state;
    state = seed;
    bench_open(twin, s);
    stray(twin, rounds, 1);
    assert_true(state == end);
}

static long double conjugate_at(const bench *t, uint64_t first, uint64_t rows, const double *from, const double *to,
                                double eta)
{
    const uint64_t T = t->shape.classes;
    long double sum = 0, a[MOST_CLASSES];
    for (uint64_t i = first; i < first + rows; i++) {
        for (uint64_t m = 0; m < T; m++)
            a[m] = from[i * T + m] + eta * ((long double)to[i * T + m] - from[i * T + m]);
        sum += check_multi_conjugate(t->check.loss, a, T, (uint64_t)t->y[i], t->cost[i]);
    }
    return sum;
}

static void expect_direction(const bench *t, const block *b, const block_direction *d, const double *dv,
                             const double *from, const double *to)
{
    const uint64_t T = t->shape.classes, n = t->problem.n;
    long double image[LENGTH] = {0}, limit = INFINITY, largest = 0;
    for (uint64_t i = b->first; i < b->first + b->count; i++)
        for (uint64_t m = 0; m < T; m++) {
            long double da = (long double)to[i * T + m] - from[i * T + m], lo, hi;
            check_multi_domain(t->check.loss, m == (uint64_t)t->y[i], t->cost[i], &lo, &hi);
            limit = da > 0 ? fminl(limit, (hi - from[i * T + m]) / da) : limit;
            for (uint64_t k = t->start[i]; k < t->start[i + 1]; k++)
                image[t->column[k] * T + m] += da * t->value[k];
        }
    for (uint64_t j = 0; j < n; j++) {
        assert_true(fabsl(dv[j] - image[j]) <= 1e-12L);
        largest = fmaxl(largest, fabs(dv[j]));
    }
    assert_true(d->largest >= largest && d->largest <= largest * (1 + 1e-12L));
    assert_true(d->limit >= 1 - 1e-9 && (d->limit == limit || fabsl(d->limit - limit) <= 1e-9L * limit));
    long double before = conjugate_at(t, b->first, b->count, from, to, 0);
    double change[BLOCK_TRIALS], slope[BLOCK_TRIALS];
    bool quadratic = t->problem.loss->quadratic_dual;
    if (!quadratic)
        block_ray(b, BLOCK_TRIALS, trial, change, slope);
    for (int j = 0; j < BLOCK_TRIALS; j++) {
        long double truth = conjugate_at(t, b->first, b->count, from, to, trial[j]) - before;
        double told = quadratic ? trial[j] * (d->slope + 0.5 * trial[j] * d->curve) : d->change[j];
        assert_true(fabsl(told - truth) <= 1e-12L * (1 + fabsl(before)));
        if (quadratic || j == 0)
            continue;
        long double rise = conjugate_at(t, b->first, b->count, from, to, trial[j] * (1 + 0x1p-20)) -
                           conjugate_at(t, b->first, b->count, from, to, trial[j] * (1 - 0x1p-20));
        rise /= trial[j] * 0x1p-19L;
        assert_true(change[j] == d->change[j] && fabsl(slope[j] - rise) <= 1e-6L * (1 + fabsl(rise)));
    }
}

static void test_direction_is_told_truly(void **unused)
{
    (void)unused;
    state = 4;
    for (int k = 0; k < 3; k++)
        for (uint64_t T = 2; T <= MOST_CLASSES; T++)
            for (int m = 0; m < MODELS; m++) {
                shape s = {names[k], MOST_ROWS, T, T == 2 ? 1 : 3, power(-1, 1), 1, m % 2};
                bench t, twin;
                open_twins(&t, &twin, &s, m % 4);
                double w[LENGTH], h[LENGTH], dv[LENGTH], from[VARIABLES], to[VARIABLES];
                random_weights(&t, 1, w);
                for (uint64_t j = 0; j < t.problem.n; j++)
                    h[j] = uniform(0.1, 3);
                subproblem model = models[m];
                model.w = w;
                model.h = T % 2 ? h : NULL;
                model.epochs = 3;
                model = with_trials(&model);
                read_alpha(&t, from);
                evaluate(&t, w);
                evaluate(&twin, w);
                solve_and_move(&t, &model, 1, dv);
                read_alpha(&t, to);
                for (block **b = twin.blocks; *b; b++) {
                    block_direction d;
                    block_solve(*b, &model, dv, &d);
                    expect_direction(&twin, *b, &d, dv, from, to);
                }
                bench_close(&t);
                bench_close(&twin);
            }
}

/* alpha + eta da is feasible up to the limit, where it is on the border. */
static void test_moves_stay_feasible(void **unused)
{
    (void)unused;
    state = 5;
    for (int k = 0; k < 3; k++)
        for (int round = 0; round < 60; round++) {
            shape s = {names[k], MOST_ROWS, 3 + (uint64_t)round % 6, 1, power(-6, 6), 1, round % 2};
            bench t, twin;
            open_twins(&t, &twin, &s, round % 4);
            double w[LENGTH], dv[LENGTH], from[VARIABLES], full[VARIABLES], to[VARIABLES];
            random_weights(&t, power(-2, 3), w);
            subproblem model = {.w = w, .a1 = 1, .epochs = 1, .trial = trial, .trials = BLOCK_TRIALS};
            read_alpha(&t, from);
            evaluate(&t, w);
            evaluate(&twin, w);
            solve_and_move(&t, &model, 1, dv);
            read_alpha(&t, full);
            block_direction d;
            block_solve(twin.blocks[0], &model, dv, &d);
            double farthest = fmin(d.limit, 10);
            double eta = round % 5 == 0 ? farthest : round % 5 == 1 ? power(-9, 0) : uniform(0, farthest);
            block_move(twin.blocks[0], eta);
            read_alpha(&twin, to);
            for (uint64_t i = 0; i < s.rows; i++) {
                long double a[MOST_CLASSES];
                for (uint64_t m = 0; m < s.classes; m++) {
                    uint64_t at = i * s.classes + m;
                    a[m] = to[at];
                    long double there = from[at] + eta * ((long double)full[at] - from[at]);
                    long double size = t.cost[i] + fabsl(there) + eta * fabsl(full[at]);
                    assert_true(fabsl(a[m] - there) <= 1e-14L * size);
                }
                if (!isfinite(check_multi_conjugate(t.check.loss, a, s.classes, (uint64_t)t.y[i], t.cost[i])))
                    fail_msg("%s, %d classes, C=%g: row %d is not feasible after a step of %.17g, limit %.17g",
                             s.loss, (int)s.classes, t.cost[i], (int)i, eta, d.limit);
            }
            bench_close(&t);
            bench_close(&twin);
        }
}

/* With one block the model is the dual itself: rounds of several epochs, which pass over what is settled, end at its
 * minimum, and an epoch never costs more than a pass over the rows. */
static void test_epochs_end_at_the_optimum(void **unused)
{
    (void)unused;
    for (int k = 0; k < 2; k++) {
        bench t;
        bench_open(&t, &(shape){names[k], 16, 5, 1, 2, 1, false});
        double w[LENGTH] = {0}, dv[LENGTH], first = evaluate(&t, w).gap;
        for (uint64_t round = 0; round < 300; round++) {
            subproblem model = with_trials(&(subproblem){.w = w, .a1 = 1, .epochs = 5, .seed = 1, .round = round});
            block_direction d;
            block_solve(t.blocks[0], &model, dv, &d);
            assert_true(d.cells <= 5 * 16 * N);
            block_move(t.blocks[0], 1);
            for (uint64_t j = 0; j < t.problem.n; j++)
                w[j] += dv[j];
            evaluate(&t, w);
        }
        assert_true(evaluate(&t, w).gap <= 1e-9 * first);
        bench_close(&t);
    }
}

/* ---- two classes ---------------------------------------------------------------------------------------------- */

/* With two classes the best weights are w_1 = -w_0 = u/2, and  u'u/4 + C sum xi(u'x) = (u'u/2 + 2C sum xi(u'x)) / 2 :
 * half the binary problem with twice the cost. */
static void test_two_classes_are_binary(void **unused)
{
    (void)unused;
    state = 6;
    for (int k = 0; k < 3; k++)
        for (double cost = 1e-3; cost < 20; cost *= 10) {
            shape s = {names[k], MOST_ROWS, 2, 1, cost, 1, false};
            bench t;
            bench_open(&t, &s);
            double w[2 * N] = {0}, dv[2 * N], alpha[2 * MOST_ROWS], y[MOST_ROWS], doubled[MOST_ROWS];
            double binary_alpha[MOST_ROWS], u[N];
            block_value value = evaluate(&t, w);
            for (uint64_t round = 0; round < 3000 && value.gap > 1e-12 * value.loss; round++) {
                subproblem model = {.w = w, .a1 = 1, .epochs = 10, .seed = 1, .round = round};
                solve_and_move(&t, &model, 1, dv);
                read_alpha(&t, alpha);
                check_weights(&t.check, alpha, w);
                value = evaluate(&t, w);
            }
            check_problem binary = t.check;
            binary.classes = 0;
            binary.y = y;
            binary.cost = doubled;
            for (uint64_t i = 0; i < s.rows; i++) {
                y[i] = t.y[i] > 0 ? 1 : -1;
                doubled[i] = 2 * t.cost[i];
            }
            assert_true(check_solve(&binary, 1e-11, 100000, binary_alpha, u));
            long double multi = check_primal(&t.check, w), half = check_primal(&binary, u) / 2;
            if (!(fabsl(multi - half) <= 1e-10L * half))
                fail_msg("%s C=%g: %.17Lg, binary %.17Lg", names[k], cost, multi, half);
            for (int j = 0; j < N; j++) {
                assert_true(fabs(w[2 * j] + w[2 * j + 1]) <= 1e-12);
                assert_true(fabs(2 * w[2 * j + 1] - u[j]) <= 1e-4); /* the square root of the gap */
            }
            bench_close(&t);
        }
}

/* ---- no memory ------------------------------------------------------------------------------------------------ */

static void test_epoch_without_memory(void **unused)
{
    (void)unused;
    state = 7;
    for (int k = 0; k < 2; k++) {
        shape s = {names[k], MOST_ROWS, 5, 1, 1, 1, false};
        bench t;
        bench_open(&t, &s);
        double w[LENGTH] = {0}, dv[LENGTH];
        block_direction d;
        subproblem model = {.w = w, .a1 = 1, .epochs = 2};
        evaluate(&t, w);
        mem_fail_at(1);
        block_solve(t.blocks[0], &model, dv, &d);
        mem_fail_at(0);
        assert_true(d.failed);
        bench_close(&t);
    }
}

static double no_seconds(watch *self)
{
    (void)self;
    return 0;
}

static bool never_interrupted(watch *self)
{
    (void)self;
    return false;
}

static bool three_rounds(watch *self, const round_report *report, const double *w)
{
    (void)self;
    (void)w;
    return report->round == 3;
}

/* Every request for memory fails once: training ends with a sentence, wherever it was. */
static void test_training_without_memory(void **unused)
{
    (void)unused;
    state = 8;
    for (int k = 0; k < 3; k++) {
        shape s = {names[k], MOST_ROWS, 5, 2, 1, 1, false};
        bench t;
        bench_open(&t, &s);
        watch eyes = {.seconds = no_seconds, .interrupted = never_interrupted, .round = three_rounds};
        method_options options = {.a1 = NAN, .a2 = NAN, .step = NAN, .tau = 0.01, .beta = 0.5, .local_epochs = 1};
        bool in_epoch = false, done = false;
        for (uint64_t at = 1; !done; at++) {
            bda_error err = {0};
            assert_true(at < 1000);
            mem_fail_at(at);
            done = bda_method.train(&bda_method, &t.problem, &options, &eyes, &err);
            mem_fail_at(0);
            assert_true(done || (err.status == BDA_FAILED && strstr(err.text, "out of memory")));
            in_epoch = in_epoch || strstr(err.text, "more ranks");
        }
        assert_true(in_epoch == (k < 2)); /* the softmax takes all its memory beforehand */
        bench_close(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_instance_minimum),
        cmocka_unit_test(test_instance_minimum_at_wide_scales),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_direction_is_told_truly),
        cmocka_unit_test(test_moves_stay_feasible),
        cmocka_unit_test(test_epochs_end_at_the_optimum),
        cmocka_unit_test(test_two_classes_are_binary),
        cmocka_unit_test(test_epoch_without_memory),
        cmocka_unit_test(test_training_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
