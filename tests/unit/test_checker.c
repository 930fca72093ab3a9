/* test_checker.c - is the second opinion itself right? Its conjugates against brute-force suprema, its slopes against
 * differences, its optimisers against problems that can be solved by hand, against each other and against their own
 * certificate. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "checker.h"
#include "checker/draw.h"

static const char *const names[] = {
    "hinge", "squared-hinge", "logistic", "epsilon-insensitive", "squared-epsilon-insensitive", "squared-error",
};

static double label(check_loss loss)
{
    if (loss >= CHECK_EPSILON_INSENSITIVE)
        return uniform(-3, 3);
    return uniform(0, 1) < 0.5 ? -1 : 1;
}

static void test_names(void **unused)
{
    (void)unused;
    for (int k = 0; k < CHECK_LOSSES; k++)
        assert_int_equal(check_loss_named(names[k]), k);
    assert_int_equal(check_loss_named("no such loss"), CHECK_LOSSES);
}

static void test_conjugates_are_suprema(void **unused)
{
    (void)unused;
    for (int k = 0; k < CHECK_LOSSES; k++)
        for (int trial = 0; trial < 500; trial++) {
            double y = label(k), c = pow(10, uniform(-3, 3)), e = uniform(0, 1);
            long double lo, hi;
            check_domain(k, y, c, &lo, &hi);
            if (isfinite(hi))
                assert_true(isinf(check_conjugate(k, hi + c * 1e-15L, y, c, e)));
            if (isfinite(lo))
                assert_true(isinf(check_conjugate(k, lo - c * 1e-15L, y, c, e)));
            lo = fmaxl(lo, -5 * c);
            hi = fminl(hi, 5 * c);
            long double a = trial == 0 ? lo : trial == 1 ? hi : lo + (hi - lo) * uniform(0, 1);
            long double brute = check_supremum(k, a, y, c, e), claimed = check_conjugate(k, a, y, c, e);
            if (fabsl(brute - claimed) > 1e-12L * c * (1 + fabs(y)))
                fail_msg("%s a=%Lg y=%g c=%g e=%g: conjugate %.20Lg, brute force %.20Lg", names[k], a, y, c, e,
                         claimed, brute);
        }
}

static void test_slopes_bound_differences(void **unused)
{
    (void)unused;
    for (int k = 0; k < CHECK_LOSSES; k++)
        for (int trial = 0; trial < 500; trial++) {
            double y = rint(64 * label(k)) / 64, c = pow(10, uniform(-3, 3)), e = rint(trial % 5 * 16) / 64;
            double z = uniform(-4, 4), other = uniform(-4, 4);
            if (trial % 7 == 0) /* at a kink, exactly */
                z = k >= CHECK_EPSILON_INSENSITIVE ? y + e : y;
            long double lo, hi;
            check_slopes(k, z, y, c, e, &lo, &hi);
            assert_true(lo <= hi);
            long double rise = check_value(k, other, y, c, e) - check_value(k, z, y, c, e);
            assert_true(rise >= lo * (other - z) - 1e-15L * c);
            assert_true(rise >= hi * (other - z) - 1e-15L * c);
            long double h = 1e-8L, here = check_value(k, z, y, c, e);
            assert_true(fabsl((check_value(k, z + h, y, c, e) - here) / h - hi) <= 1e-6L * c);
            assert_true(fabsl((here - check_value(k, z - h, y, c, e)) / h - lo) <= 1e-6L * c);
            assert_true(check_residual(k, z, -lo, y, c, e) == 0 && check_residual(k, z, -hi, y, c, e) == 0);
            assert_true(fabsl(check_residual(k, z, -hi - c, y, c, e) - c) <= 1e-15L * (c + fabsl(hi)));
        }
}

/* One instance x = 2 in one dimension, y = 1, C = 3. Squared hinge: b = 2C (1 - 4b) gives b = 6/25, w = 12/25 and
 * P = 72/625 + 3/625 = 3/25. Hinge: 4b = 1, w = 1/2, P = 1/8. Squared error: a = 2C (1 - 4a), as squared hinge. */
static void test_solved_by_hand(void **unused)
{
    (void)unused;
    uint64_t start[] = {0, 1}, column[] = {0};
    double value[] = {2}, y[] = {1}, cost[] = {3}, alpha[1], w[1];
    check_problem p = {.l = 1, .n = 1, .start = start, .column = column, .value = value, .y = y, .cost = cost};
    p.loss = CHECK_SQUARED_HINGE;
    assert_true(check_solve(&p, 1e-15, 100, alpha, w));
    assert_true(fabs(alpha[0] - 6.0 / 25) < 1e-15 && fabs(w[0] - 12.0 / 25) < 1e-15);
    assert_true(fabsl(check_primal(&p, w) - 3.0L / 25) < 1e-15L);
    p.loss = CHECK_HINGE;
    assert_true(check_solve(&p, 1e-15, 100, alpha, w));
    assert_true(fabs(w[0] - 0.5) < 1e-15 && fabsl(check_primal(&p, w) - 0.125L) < 1e-15L);
    p.loss = CHECK_SQUARED_ERROR;
    assert_true(check_solve(&p, 1e-15, 100, alpha, w));
    assert_true(fabs(w[0] - 12.0 / 25) < 1e-15);
}

enum { L = 30, N = 8 };

static void test_optimum_is_certified(void **unused)
{
    (void)unused;
    for (int k = 0; k < CHECK_LOSSES; k++) {
        uint64_t start[L + 1], column[L * N];
        double value[L * N], y[L], cost[L], alpha[L], w[N], other[N];
        for (uint64_t i = 0; i <= L; i++)
            start[i] = i * N;
        for (uint64_t i = 0; i < L * N; i++) {
            column[i] = i % N;
            value[i] = uniform(-1, 1);
        }
        for (int i = 0; i < L; i++) {
            y[i] = label(k);
            cost[i] = uniform(0.5, 2);
        }
        check_problem p = {.loss = k,
                           .l = L,
                           .n = N,
                           .start = start,
                           .column = column,
                           .value = value,
                           .y = y,
                           .cost = cost,
                           .epsilon = 0.1};
        assert_true(check_solve(&p, 1e-13, 100000, alpha, w));
        check_verdict best = check_points(&p, w, alpha);
        assert_true(best.feasible);
        assert_true(best.gap >= -1e-15L * best.primal && best.drift < 1e-14L);
        for (int trial = 0; trial < 200; trial++) {
            for (int j = 0; j < N; j++)
                other[j] = w[j] + uniform(-1, 1) * pow(10, uniform(-4, 0));
            assert_true(check_primal(&p, other) > best.primal * (1 - 1e-13L));
        }
        alpha[0] += 1e3;
        w[0] += 1;
        check_verdict worse = check_points(&p, w, alpha);
        assert_true(worse.drift > 0.5L && worse.residual > 1);
    }
}

static void test_penalties_are_suprema(void **unused)
{
    (void)unused;
    for (int trial = 0; trial < 1000; trial++) {
        double R = trial % 3 ? uniform(0, 0.99) : 0, f = trial % 5 ? pow(10, uniform(-3, 3)) : 1;
        long double v = f * uniform(-3, 3) * pow(10, uniform(-2, 2));
        long double brute = check_penalty_supremum(R, f, v), claimed = check_penalty_conjugate(R, f, v);
        assert_true(fabsl(brute - claimed) <= 1e-14L * (fabsl(claimed) + 1e-6L * f));
        long double w = check_penalty_weight(R, f, v);
        assert_true(fabsl(check_penalty_value(R, f, w) + claimed - v * w) <= 1e-17L * (fabsl(v * w) + f));
    }
    assert_true(check_penalty_conjugate(0.5, 2, 1) == 0 && check_penalty_weight(0.5, 2, -1) == 0);
    assert_true(check_penalty_weight(0.5, 2, -3) == -2 && check_penalty_conjugate(0.5, 2, 3) == 2);
}

/* sup over the two scores other than z_y = 0 (a adds up to 0, so that a shift of all scores changes nothing) */
typedef struct plane {
    check_loss loss;
    const long double *a;
    uint64_t y;
    double c;
    long double reach, first;
} plane;

static long double plane_inner(long double second, const void *self)
{
    const plane *s = self;
    long double z[3] = {0}, product = 0;
    z[(s->y + 1) % 3] = s->first;
    z[(s->y + 2) % 3] = second;
    for (int m = 0; m < 3; m++)
        product += s->a[m] * z[m];
    return product + check_multi_value(s->loss, z, 3, s->y, s->c);
}

static long double plane_outer(long double first, const void *self)
{
    plane s = *(const plane *)self;
    long double at;
    s.first = first;
    return check_golden(plane_inner, &s, -s.reach, s.reach, &at);
}

static void test_multiclass_conjugates_are_suprema(void **unused)
{
    (void)unused;
    for (int k = 0; k < CHECK_EPSILON_INSENSITIVE; k++)
        for (int trial = 0; trial < 20; trial++) {
            uint64_t y = (uint64_t)(trial % 3), one = (y + 1) % 3, two = (y + 2) % 3;
            double c = pow(10, uniform(-3, 3));
            double size = (k == CHECK_SQUARED_HINGE ? 4 : 1) * uniform(0.01, 0.99), part = uniform(0.01, 0.99);
            long double a[3], at;
            a[one] = trial == 4 ? 0 : -c * size * part;
            a[two] = trial == 4 ? 0 : -c * size * (1 - part);
            a[y] = -(a[one] + a[two]);
            plane s = {k, a, y, c, k == CHECK_LOGISTIC ? 60 : 3 + size, 0};
            long double brute = -check_golden(plane_outer, &s, -s.reach, s.reach, &at);
            long double claimed = check_multi_conjugate(k, a, 3, y, c);
            if (!(fabsl(brute - claimed) <= 1e-12L * c))
                fail_msg("%s: conjugate %.20Lg, brute force %.20Lg", names[k], claimed, brute);
            a[one] += 1e-9L * c; /* the sum */
            assert_true(isinf(check_multi_conjugate(k, a, 3, y, c)));
            a[one] = 1e-9L * c; /* a sign */
            a[y] = -(a[one] + a[two]);
            assert_true(isinf(check_multi_conjugate(k, a, 3, y, c)));
            a[one] = -1.1L * c; /* the bound */
            a[y] = -(a[one] + a[two]);
            assert_true(isinf(check_multi_conjugate(k, a, 3, y, c)) == (k != CHECK_SQUARED_HINGE));
        }
}

/* One instance x = 1 of class 0 of 3, C = 1. By symmetry alpha = (2t, -t, -t), w = alpha, M = 1 - 3t.
 * Hinge: at M = 0, t = 1/3 and P = (4 + 1 + 1)/18 = 1/3. Squared: 2t = 2 C M, so t = 1/4, P = 6/32 + 1/16 = 1/4. */
static void test_multiclass_solved_by_hand(void **unused)
{
    (void)unused;
    uint64_t start[] = {0, 1}, column[] = {0};
    double value[] = {1}, y[] = {0}, cost[] = {1}, alpha[3], w[3];
    check_problem p = {.l = 1, .n = 1, .start = start, .column = column, .value = value, .y = y, .cost = cost};
    p.classes = 3;
    p.loss = CHECK_HINGE;
    assert_true(check_solve(&p, 1e-14, 1000, alpha, w));
    assert_true(fabsl(check_primal(&p, w) - 1 / 3.0L) < 1e-14L && fabs(w[0] - 2 / 3.0) < 1e-7);
    p.loss = CHECK_SQUARED_HINGE;
    assert_true(check_solve(&p, 1e-14, 1000, alpha, w));
    assert_true(fabsl(check_primal(&p, w) - 0.25L) < 1e-14L && fabs(w[1] + 0.25) < 1e-7);
}

/* One instance and the squared norm: the whole problem is one sub-problem, which has a solver of its own. */
static void test_multiclass_solvers_agree(void **unused)
{
    (void)unused;
    for (int k = 0; k < CHECK_EPSILON_INSENSITIVE; k++)
        for (uint64_t T = 2; T < 8; T++) {
            uint64_t start[] = {0, 2}, column[] = {0, 1};
            double value[] = {uniform(-2, 2), uniform(-2, 2)}, y[] = {(double)(T / 2)}, cost[] = {uniform(0.1, 3)};
            double f[] = {0.5, 2}, w[16], alpha[8];
            check_problem p = {.l = 1, .n = 2, .start = start, .column = column, .value = value, .y = y};
            p.cost = cost;
            p.loss = k;
            p.classes = T;
            p.factor = f;
            assert_true(check_solve(&p, 1e-12, 10000, alpha, w));
            long double slope[8] = {0}, curve[8], from[8] = {0}, a[8];
            for (uint64_t m = 0; m < T; m++)
                curve[m] = (long double)value[0] * value[0] / f[0] + (long double)value[1] * value[1] / f[1];
            check_multi_minimise(k, T, T / 2, cost[0], slope, curve, from, a);
            long double dual = check_multi_conjugate(k, a, T, T / 2, cost[0]);
            for (uint64_t m = 0; m < T; m++)
                dual += curve[m] * a[m] * a[m] / 2;
            check_verdict best = check_points(&p, w, alpha);
            assert_true(best.feasible && best.gap >= -1e-15L * best.primal);
            if (!(dual <= best.dual + 1e-15L * best.primal && -dual <= best.primal * (1 + 1e-15L)))
                fail_msg("%s, %d classes: %.20Lg, %.20Lg", names[k], (int)T, dual, best.dual);
        }
}

static void test_multiclass_optimum_is_certified(void **unused)
{
    (void)unused;
    enum { T = 4, CELLS = L * N };
    for (int kind = 0; kind < 9; kind++) {
        uint64_t start[L + 1], column[CELLS];
        double value[CELLS], y[L], cost[L], alpha[L * T], w[N * T], other[N * T], f[N];
        for (uint64_t i = 0; i <= L; i++)
            start[i] = i * N;
        for (uint64_t i = 0; i < CELLS; i++) {
            column[i] = i % N;
            value[i] = uniform(-1, 1);
        }
        for (int i = 0; i < L; i++) {
            y[i] = i % T;
            cost[i] = uniform(0.5, 2);
        }
        for (int j = 0; j < N; j++)
            f[j] = uniform(0.5, 2);
        check_problem p = {.loss = kind % 3, .l = L, .n = N, .start = start, .column = column, .value = value};
        p.y = y;
        p.cost = cost;
        p.classes = T;
        p.l1_ratio = kind / 3 ? 0.3 : 0;
        p.factor = kind / 3 == 2 ? f : NULL;
        assert_true(check_solve(&p, 1e-9, 3000, alpha, w));
        check_verdict best = check_points(&p, w, alpha);
        assert_true(best.feasible && best.gap >= -1e-15L * best.primal && best.drift < 1e-14L);
        for (int trial = 0; trial < 100; trial++) {
            for (int j = 0; j < N * T; j++)
                other[j] = w[j] + uniform(-1, 1) * pow(10, uniform(-4, 0));
            assert_true(check_primal(&p, other) > best.primal * (1 - 1e-9L));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_conjugates_are_suprema),
        cmocka_unit_test(test_slopes_bound_differences),
        cmocka_unit_test(test_solved_by_hand),
        cmocka_unit_test(test_optimum_is_certified),
        cmocka_unit_test(test_penalties_are_suprema),
        cmocka_unit_test(test_multiclass_conjugates_are_suprema),
        cmocka_unit_test(test_multiclass_solved_by_hand),
        cmocka_unit_test(test_multiclass_solvers_agree),
        cmocka_unit_test(test_multiclass_optimum_is_certified),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
