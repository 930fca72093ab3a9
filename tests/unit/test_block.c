/* test_block.c - one block of the dual at a time, against the checker: given enough epochs the local solver must end
 * at the minimum of its sub-problem,
 *
 *     -(alpha_i + da_i) in the subdifferential of xi_i at  x_i'(w + a1 X_k da_k) + a2 da_i ,
 *
 * and what it tells the outer loop about the direction must be true. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "checker.h"
#include "checker/draw.h"
#include "problem/block.h"

enum { L = 24, N = 6, K = 3, PER_BLOCK = L / K };

typedef struct bench {
    uint64_t start[L + 1], check_start[L + 1], check_column[L * N];
    uint32_t column[L * N];
    double value[L * N], label[L], y[L], cost[L];
    check_problem check;
    comm *comm;
    data *data;
    problem problem;
    arena memory;
    block **blocks;
    double alpha[L], w[N]; /* of the last start */
} bench;

static void bench_open(bench *t, const loss *f)
{
    memset(t, 0, sizeof *t);
    for (uint64_t i = 0; i <= L; i++)
        t->start[i] = t->check_start[i] = i * N;
    for (uint64_t j = 0; j < L * N; j++) {
        t->column[j] = (uint32_t)(j % N);
        t->check_column[j] = j % N;
        t->value[j] = uniform(-1, 1);
    }
    const double factor[2] = {f->regression ? 1 : 1.7, 1};
    problem_request request = {
        .loss = f, .cost = 0.8, .cost_factor = factor, .epsilon = 0.1, .bias = -1, .threads = 1};
    for (int i = 0; i < L; i++) {
        t->label[i] = t->y[i] = f->regression ? uniform(-2, 2) : i % 2 ? 1 : -1;
        t->cost[i] = request.cost * factor[t->y[i] > 0];
    }
    t->check = (check_problem){.loss = check_loss_named(f->name),
                               .l = L,
                               .n = N,
                               .start = t->check_start,
                               .column = t->check_column,
                               .value = t->value,
                               .y = t->y,
                               .cost = t->cost,
                               .epsilon = 0.1};
    bda_error err = {0};
    t->comm = bda_comm_single(&err);
    t->data = data_copy(t->comm, K, L, t->start, t->column, t->value, t->label, &err);
    assert_non_null(t->data);
    assert_true(problem_open(&t->problem, t->comm, t->data, &request, &err));
    t->blocks = blocks_open(&t->memory, &t->problem, &err);
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
    for (int k = 0; k < K; k++) {
        assert_int_equal(block_count(t->blocks[k]), PER_BLOCK);
        block_alpha(t->blocks[k], alpha + k * PER_BLOCK);
    }
}

/* A few rounds lead to an alpha that is neither 0 nor optimal, with w = X alpha. */
static void walk(bench *t, int rounds)
{
    const double trial[BLOCK_TRIALS] = {1, 0.5, 0.25, 0.125};
    long double v[N];
    for (int round = 0; round <= rounds; round++) {
        read_alpha(t, t->alpha);
        check_combine(&t->check, t->alpha, v);
        for (int j = 0; j < N; j++)
            t->w[j] = (double)v[j];
        for (int k = 0; k < K; k++) {
            block_value value;
            block_evaluate(t->blocks[k], t->w, INFINITY, &value);
            if (round == rounds)
                continue;
            double dv[N];
            block_direction d;
            subproblem s = {.w = t->w,
                            .a1 = K,
                            .epochs = 1,
                            .seed = 3,
                            .round = (uint64_t)round,
                            .trial = trial,
                            .trials = BLOCK_TRIALS};
            block_solve(t->blocks[k], &s, dv, &d);
            block_move(t->blocks[k], 0.7);
        }
    }
}

static const subproblem models[] = {
    {.a1 = 1, .a2 = 0, .epochs = 4000},
    {.a1 = 1, .a2 = 0.5, .epochs = 4000},
    {.a1 = K, .a2 = 0.01, .epochs = 4000},
    {.a1 = 0, .a2 = 2, .epochs = 4000},
    {.a1 = 24, .a2 = 0, .epochs = 1, .separate = true},
    {.a1 = 1.5, .a2 = 3, .epochs = 2, .separate = true},
};
enum { MODELS = sizeof models / sizeof *models };

/* Largest KKT residual of the sub-problem of block k, over the cost. */
static long double model_residual(const bench *t, int k, const subproblem *s, const double *after)
{
    const check_problem *p = &t->check;
    long double worst = 0, image[N] = {0};
    for (int i = k * PER_BLOCK; i < (k + 1) * PER_BLOCK; i++)
        for (int j = 0; j < N; j++)
            image[j] += ((long double)after[i] - t->alpha[i]) * p->value[i * N + j];
    for (int i = k * PER_BLOCK; i < (k + 1) * PER_BLOCK; i++) {
        long double z = 0, xx = 0, own = (long double)after[i] - t->alpha[i];
        for (int j = 0; j < N; j++) {
            long double x = p->value[i * N + j];
            z += x * (t->w[j] + (s->separate ? 0 : s->a1 * image[j]));
            xx += x * x;
        }
        z += s->a2 * own + (s->separate ? s->a1 * xx * own : 0);
        /* the z that belongs to alpha may be off by rounding, which a kink turns into a jump */
        long double lo, hi, unused, slack = 1e-9L;
        check_slopes(p->loss, z - slack, p->y[i], p->cost[i], p->epsilon, &lo, &unused);
        check_slopes(p->loss, z + slack, p->y[i], p->cost[i], p->epsilon, &unused, &hi);
        worst = fmaxl(worst, fmaxl(lo + after[i], -after[i] - hi) / p->cost[i]);
    }
    return worst;
}

static void test_solver_ends_at_the_minimum(void **unused)
{
    (void)unused;
    for (const loss *f = losses; f->name; f++)
        for (int m = 0; m < MODELS; m++) {
            bench t;
            bench_open(&t, f);
            walk(&t, 3);
            subproblem s = models[m];
            s.w = t.w;
            s.seed = 5;
            double after[L], dv[N];
            for (int k = 0; k < K; k++) {
                block_direction d;
                block_solve(t.blocks[k], &s, dv, &d);
                block_move(t.blocks[k], 1);
            }
            read_alpha(&t, after);
            for (int k = 0; k < K; k++) {
                long double residual = model_residual(&t, k, &s, after);
                if (!(residual <= 1e-7L))
                    fail_msg("%s a1=%g a2=%g separate=%d block %d: residual %Lg", f->name, s.a1, s.a2, s.separate, k,
                             residual);
            }
            bench_close(&t);
        }
}

static long double conjugate_sum(const bench *t, int k, const double *from, const double *to, double eta)
{
    const check_problem *p = &t->check;
    long double sum = 0;
    for (int i = k * PER_BLOCK; i < (k + 1) * PER_BLOCK; i++)
        sum +=
            check_conjugate(p->loss, from[i] + eta * ((long double)to[i] - from[i]), p->y[i], p->cost[i], p->epsilon);
    return sum;
}

/* Compares a direction with what the checker makes of alpha before and after it. */
static void expect_direction(const bench *t, const loss *f, int k, const block_direction *d, const double *dv,
                             const double *after, const double *trial)
{
    const check_problem *p = &t->check;
    long double image[N] = {0}, limit = INFINITY, largest = 0, lo, hi;
    for (int i = k * PER_BLOCK; i < (k + 1) * PER_BLOCK; i++) {
        long double da = (long double)after[i] - t->alpha[i];
        check_domain(p->loss, p->y[i], p->cost[i], &lo, &hi);
        limit = da == 0 ? limit : fminl(limit, ((da > 0 ? hi : lo) - t->alpha[i]) / da);
        for (int j = 0; j < N; j++)
            image[j] += da * p->value[i * N + j];
    }
    for (int j = 0; j < N; j++) {
        assert_true(fabsl(dv[j] - image[j]) <= 1e-13L);
        largest = fmaxl(largest, fabs(dv[j]));
    }
    assert_true(d->largest >= largest && d->largest <= largest * (1 + 1e-12L));
    assert_true(d->limit == limit || fabsl(d->limit - limit) <= 1e-10L * limit);
    assert_true(d->limit >= 1 - 1e-12 && d->cells > 0);
    long double before = conjugate_sum(t, k, t->alpha, after, 0);
    for (int j = 0; j < BLOCK_TRIALS; j++) {
        double told = f->quadratic_dual ? trial[j] * (d->slope + 0.5 * trial[j] * d->curve) : d->change[j];
        long double change = conjugate_sum(t, k, t->alpha, after, trial[j]) - before;
        assert_true(fabsl(told - change) <= 1e-12L * (1 + fabsl(change)));
    }
}

static void expect_ray(const bench *t, int k, const double *after)
{
    double eta[2] = {0.3, 0.9}, change[2], slope[2];
    block_ray(t->blocks[k], 2, eta, change, slope);
    long double before = conjugate_sum(t, k, t->alpha, after, 0);
    for (int j = 0; j < 2; j++) {
        long double here = conjugate_sum(t, k, t->alpha, after, eta[j]), h = 1e-7L;
        assert_true(fabsl(change[j] - (here - before)) <= 1e-12L);
        long double rise = conjugate_sum(t, k, t->alpha, after, (double)(eta[j] + h)) -
                           conjugate_sum(t, k, t->alpha, after, (double)(eta[j] - h));
        assert_true(fabsl(slope[j] - rise / (2 * h)) <= 1e-6L * (1 + fabsl(rise / h)));
    }
}

/* da is only known after the move, so one block is solved twice from the same start: to move, and to be asked. The
 * smaller a1 is, the fewer digits of X da are in u = w + a1 X da. */
static void directions_with(double a1)
{
    for (const loss *f = losses; f->name; f++) {
        bench t, twin;
        state = 99;
        bench_open(&t, f);
        state = 99;
        bench_open(&twin, f);
        walk(&t, 2);
        walk(&twin, 2);
        const double trial[BLOCK_TRIALS] = {1, 0.5, 0.25, 0.125};
        subproblem s = {
            .w = t.w, .a1 = a1, .a2 = 0.1, .epochs = 2, .seed = 8, .trial = trial, .trials = BLOCK_TRIALS};
        double dv[N], other[N], after[L];
        block_direction d;
        for (int k = 0; k < K; k++) {
            block_solve(t.blocks[k], &s, other, &d);
            block_move(t.blocks[k], 1);
        }
        read_alpha(&t, after);
        for (int k = 0; k < K; k++) {
            block_solve(twin.blocks[k], &s, dv, &d);
            expect_direction(&twin, f, k, &d, dv, after, trial);
            expect_ray(&twin, k, after);
        }
        bench_close(&t);
        bench_close(&twin);
    }
}

static void test_direction_is_told_truly(void **unused)
{
    (void)unused;
    for (double a1 = 1; a1 > 1e-8; a1 /= 100)
        directions_with(a1);
}

static void test_value(void **unused)
{
    (void)unused;
    for (const loss *f = losses; f->name; f++)
        for (int rounds = 0; rounds < 12; rounds++) {
            bench t;
            bench_open(&t, f);
            walk(&t, rounds);
            long double z[L], value = 0, conjugate = 0, gap = 0;
            double told[3] = {0, 0, 0};
            check_margins(&t.check, t.w, z);
            for (int i = 0; i < L; i++) {
                long double xi = check_value(t.check.loss, z[i], t.y[i], t.cost[i], 0.1);
                long double star = check_conjugate(t.check.loss, t.alpha[i], t.y[i], t.cost[i], 0.1);
                value += xi;
                conjugate += star;
                gap += xi + star + t.alpha[i] * z[i];
            }
            for (int k = 0; k < K; k++) {
                block_value v;
                block_evaluate(t.blocks[k], t.w, INFINITY, &v);
                told[0] += v.loss;
                told[1] += v.conjugate;
                told[2] += v.gap;
                assert_true(v.gap >= 0);
                block_value nowhere, none;
                block_evaluate(t.blocks[k], (const double[N]){0}, INFINITY, &nowhere);
                block_evaluate(t.blocks[k], NULL, INFINITY, &none);
                assert_true(nowhere.loss == none.loss && nowhere.conjugate == none.conjugate &&
                            nowhere.gap == none.gap);
            }
            assert_true(fabsl(told[0] - value) <= 1e-13L * (1 + value));
            assert_true(fabsl(told[1] - conjugate) <= 1e-13L * (1 + value));
            assert_true(fabsl(told[2] - gap) <= 1e-13L * (1 + value));
            bench_close(&t);
        }
}

/* Longer w, with instances among the rest that are not looked at again since they have no loss. */
static void test_lengths(void **unused)
{
    (void)unused;
    const double length[BLOCK_LENGTHS] = {1, 1.001, 1.01, 1.1, 1.5, 2, 4, 8};
    int without_loss = 0;
    for (int rounds = 0; rounds < 12; rounds++) {
        bench t;
        bench_open(&t, loss_find("hinge"));
        walk(&t, rounds);
        long double z[L];
        double told[BLOCK_LENGTHS] = {0};
        check_margins(&t.check, t.w, z);
        for (int k = 0; k < K; k++) {
            block_value v, again;
            block_evaluate(t.blocks[k], t.w, 0, &v);
            t.blocks[k]->lengths = length;
            block_evaluate(t.blocks[k], t.w, 0, &again);
            assert_true(again.gap == v.gap && again.gap_at[0] >= 0);
            for (int j = 0; j < BLOCK_LENGTHS; j++)
                told[j] += again.gap_at[j];
        }
        for (int i = 0; i < L; i++)
            without_loss += t.alpha[i] == 0 && t.y[i] * (double)z[i] > 1;
        for (int j = 0; j < BLOCK_LENGTHS; j++) {
            long double gap = 0;
            for (int i = 0; i < L; i++)
                gap += check_value(t.check.loss, length[j] * z[i], t.y[i], t.cost[i], 0.1) +
                       check_conjugate(t.check.loss, t.alpha[i], t.y[i], t.cost[i], 0.1) +
                       t.alpha[i] * length[j] * z[i];
            assert_true(fabsl(told[j] - gap) <= 1e-13L * (1 + gap));
        }
        bench_close(&t);
    }
    assert_true(without_loss > 0);
}

/* Instances that surely have no loss are not looked at, and settled where what is left of their slack is more than
 * the last violation. */
static void test_clear_instances(void **unused)
{
    (void)unused;
    int clear = 0, settled = 0, unsettled = 0;
    const double way = 0.4, violation = 0.7;
    for (int draw = 0; draw < 40; draw++) {
        bench t;
        bench_open(&t, loss_find(draw % 2 ? "hinge" : "squared-hinge"));
        for (int j = 0; j < N; j++)
            t.w[j] = uniform(-3, 3);
        for (int k = 0; k < K; k++) {
            int looked_at = 0, visited = 0;
            for (int i = k * PER_BLOCK; i < (k + 1) * PER_BLOCK; i++) {
                double slack = -1, square = 0;
                for (int j = 0; j < N; j++) {
                    slack += t.y[i] * t.value[i * N + j] * t.w[j];
                    square += t.value[i * N + j] * t.value[i * N + j];
                }
                const bool far = slack / sqrt(square) > way;
                const bool left_out = (far ? slack - way * sqrt(square) : slack) > violation;
                looked_at += !far;
                visited += !left_out;
                clear += far;
                settled += far && left_out;
                unsettled += far && !left_out;
            }
            block_value v;
            block_direction d;
            double dv[N];
            block_evaluate(t.blocks[k], t.w, 0, &v);
            assert_true(v.cells == PER_BLOCK * N);
            t.blocks[k]->violation = violation;
            block_evaluate(t.blocks[k], t.w, way, &v);
            assert_true(v.cells == looked_at * N);
            block_solve(t.blocks[k], &(subproblem){.w = t.w, .a1 = 1, .epochs = 1}, dv, &d);
            assert_true(d.cells == visited * N);
        }
        bench_close(&t);
    }
    assert_true(clear > 0 && settled > 0 && unsettled > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_solver_ends_at_the_minimum),
        cmocka_unit_test(test_direction_is_told_truly),
        cmocka_unit_test(test_value),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_clear_instances),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
