/* test_checker.c - is the second opinion itself right? Its conjugates against brute-force suprema, its slopes against
 * differences, its optimiser against a problem that can be solved by hand and against its own certificate. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "checker.h"

static const char *const names[] = {
    "hinge", "squared-hinge", "logistic", "epsilon-insensitive", "squared-epsilon-insensitive", "squared-error",
};

static uint64_t state;

static double uniform(double lo, double hi)
{
    state += 0x9e3779b97f4a7c15u;
    uint64_t x = state;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return lo + (hi - lo) * (double)((x ^ (x >> 31)) >> 11) * 0x1p-53;
}

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
        check_problem p = {k, L, N, start, column, value, y, cost, 0.1};
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_conjugates_are_suprema),
        cmocka_unit_test(test_slopes_bound_differences),
        cmocka_unit_test(test_solved_by_hand),
        cmocka_unit_test(test_optimum_is_certified),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
