/* test_regulariser.c - every regulariser of the table against the checker: g and g* against definition and brute
 * force, w = grad g*(v) by Fenchel's equality, the Hessian by differences, the ray by direct evaluation, and the
 * constant of strong convexity by random pairs of points.
 *
 * A new regulariser needs a row in `kinds`; a test fails until it has one. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "checker.h"
#include "checker/draw.h"
#include "problem/regulariser.h"

enum { COLUMNS = 2400, SHARED = 11, LONGEST = COLUMNS * 5 + SHARED };

static const struct kind {
    const regulariser *is;
    double l1_ratio;
    bool factors;
} kinds[] = {
    {&squared_norm, 0, false}, {&weighted_norm, 0, true},   {&elastic_net, 0.3, false},
    {&elastic_net, 0.5, true}, {&elastic_net, 0.999, true}, {&elastic_net, 1e-9, true},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static double factor[COLUMNS], v[LONGEST], w[LONGEST], u[LONGEST], h[LONGEST], dv[LONGEST], other[LONGEST];

/* A penalty of this kind, and points for it; `trial` decides on the shape. */
static penalty draw(const struct kind *k, int trial)
{
    uint64_t classes = trial % 3 == 0   ? 1
                       : trial % 3 == 1 ? 3
                                        : 5,
             columns = trial ? (uint64_t)uniform(1, COLUMNS) : 1;
    for (uint64_t j = 0; j < columns; j++)
        factor[j] = power(-2, 2);
    penalty p =
        penalty_for(columns, classes, trial % 2 ? SHARED : 0, k->l1_ratio, k->factors ? factor : NULL, 1 + trial % 3);
    double size = power(-4, 4);
    for (uint64_t j = 0; j < p.n; j++) {
        v[j] = size * uniform(-1, 1);
        u[j] = size * uniform(-1, 1);
        dv[j] = trial % 4 == 0 && j % 3 ? 0 : size * uniform(-1, 1);
    }
    return p;
}

static double factor_at(const penalty *p, uint64_t j)
{
    return p->factor && j / p->outputs < p->columns ? factor[j / p->outputs] : 1;
}

static void test_table(void **unused)
{
    (void)unused;
    for (const regulariser *const *r = regularisers; *r; r++) {
        bool found = false;
        for (int k = 0; k < KINDS; k++)
            found = found || kinds[k].is == *r;
        if (!found)
            fail_msg("%s has no row in the tests", (*r)->name);
    }
    for (int k = 0; k < KINDS; k++) {
        penalty p = penalty_for(7, 3, SHARED, kinds[k].l1_ratio, kinds[k].factors ? factor : NULL, 2);
        assert_ptr_equal(p.kind, kinds[k].is);
        assert_true(p.n == 21 + SHARED && p.columns == 7 && p.outputs == 3 && p.threads == 2);
    }
}

static void test_values(void **unused)
{
    (void)unused;
    for (int k = 0; k < KINDS; k++)
        for (int trial = 0; trial < 12; trial++) {
            penalty p = draw(&kinds[k], trial);
            p.kind->gradient(&p, w, v);
            long double g = 0, dual = 0, product = 0, brute = 0;
            uint64_t some = p.n < 300 ? p.n : 300;
            for (uint64_t j = 0; j < p.n; j++) {
                double f = factor_at(&p, j);
                long double best = check_penalty_weight(p.l1_ratio, f, v[j]);
                assert_true(fabsl(w[j] - best) <= 4e-16L * (fabsl(v[j]) + f) / (f * (1 - p.l1_ratio)));
                g += check_penalty_value(p.l1_ratio, f, u[j]);
                dual += check_penalty_conjugate(p.l1_ratio, f, v[j]);
                product += (long double)u[j] * v[j];
                brute += j < some ? check_penalty_supremum(p.l1_ratio, f, v[j]) : 0;
            }
            double value = p.kind->value(&p, u), conjugate = p.kind->conjugate(&p, v);
            assert_true(fabsl(value - g) <= 1e-14L * g);
            assert_true(fabsl(conjugate - dual) <= 1e-14L * dual);
            assert_true(value + conjugate >= product - 1e-14L * (g + dual)); /* Fenchel */
            penalty alone = p;
            alone.threads = 1;
            assert_true(value == p.kind->value(&alone, u) && conjugate == p.kind->conjugate(&alone, v)); /* bits */
            p.n = some;
            assert_true(fabsl(p.kind->conjugate(&p, v) - brute) <= 1e-12L * (brute + 1e-9L));
        }
}

/* g(w) + g*(v) = w'v at w = grad g*(v), and at no other w */
static void test_equality_at_the_gradient(void **unused)
{
    (void)unused;
    for (int k = 0; k < KINDS; k++)
        for (int trial = 0; trial < 12; trial++) {
            penalty p = draw(&kinds[k], trial);
            p.kind->gradient(&p, w, v);
            long double product = 0, size = 0, moved = 0;
            for (uint64_t j = 0; j < p.n; j++) {
                product += (long double)w[j] * v[j];
                size += fabsl((long double)w[j] * v[j]);
            }
            double conjugate = p.kind->conjugate(&p, v);
            for (uint64_t j = 0; p.kind->identity && j < p.n; j++)
                assert_true(w[j] == v[j]);
            assert_true(!p.kind->identity || conjugate == p.kind->value(&p, v));
            assert_true(fabsl(p.kind->value(&p, w) + conjugate - product) <= 1e-14L * size);
            uint64_t j = (uint64_t)uniform(0, (double)p.n);
            double step = (fabs(w[j]) + 0.1) * uniform(0.5, 1);
            w[j] += step;
            moved = product + (long double)step * v[j];
            long double least = (long double)p.convexity / 2 * step * step; /* strongly convex */
            assert_true(p.kind->value(&p, w) + conjugate - moved >=
                        least * (1 - 1e-9L) - 1e-14L * (size + fabsl(moved)));
        }
}

/* Distance of v_j from where the gradient bends. */
static double distance_from_kink(const penalty *p, uint64_t j)
{
    return p->l1_ratio > 0 ? fabs(fabs(v[j]) - factor_at(p, j) * p->l1_ratio) : INFINITY;
}

static void test_curvature(void **unused)
{
    (void)unused;
    for (int k = 0; k < KINDS; k++)
        for (int trial = 0; trial < 12; trial++) {
            penalty p = draw(&kinds[k], trial);
            p.kind->curvature(&p, other, v, true);
            p.kind->curvature(&p, h, v, false);
            p.kind->gradient(&p, w, v);
            for (uint64_t j = 0; j < p.n; j++) {
                double step = 0x1p-12 * (fabs(v[j]) + 1e-6);
                assert_true(h[j] > 0 && h[j] <= other[j] && other[j] <= 1 / p.convexity * (1 + 1e-12));
                if (distance_from_kink(&p, j) <= step)
                    continue;
                double shifted[5] = {0}, there[5]; /* a penalty of the one column that j belongs to */
                penalty one = p;
                const uint64_t m = j % p.outputs, column = j / p.outputs;
                one.n = p.outputs;
                one.factor = p.factor && column < p.columns ? p.factor + column : NULL;
                shifted[m] = v[j] + step;
                p.kind->gradient(&one, there, shifted);
                double rise = (there[m] - w[j]) / (shifted[m] - v[j]);
                if (rise == 0)
                    assert_true(h[j] <= 1e-9 * other[j]); /* a dead zone: next to nothing */
                else
                    assert_true(fabs(h[j] - rise) <= 1e-9 * rise);
            }
        }
}

static void test_safe_curvature_bounds(void **unused)
{
    (void)unused;
    for (int k = 0; k < KINDS; k++)
        for (int trial = 0; trial < 12; trial++) {
            penalty p = draw(&kinds[k], trial);
            p.kind->curvature(&p, h, v, true);
            p.kind->gradient(&p, w, v);
            p.kind->gradient(&p, other, u);
            long double apart = 0, weights_apart = 0;
            for (uint64_t j = 0; j < p.n; j++) {
                long double from = v[j], to = u[j], rise = (long double)other[j] - w[j];
                assert_true(rise * (to - from) >= 0);
                assert_true(fabsl(rise) <= h[j] * (fabsl(to - from) + 1e-15L * (fabsl(to) + fabsl(from))));
                apart += (to - from) * (to - from);
                weights_apart += rise * rise;
            }
            /* grad g* is 1/sigma-Lipschitz */
            assert_true(sqrtl(weights_apart) <= sqrtl(apart) / p.convexity * (1 + 1e-12L));
        }
}

static long double conjugate_along(const penalty *p, double eta)
{
    long double sum = 0;
    for (uint64_t j = 0; j < p->n; j++)
        sum += check_penalty_conjugate(p->l1_ratio, factor_at(p, j), v[j] + eta * (long double)dv[j]);
    return sum;
}

static void test_ray(void **unused)
{
    (void)unused;
    for (int k = 0; k < KINDS; k++)
        for (int trial = 0; trial < 12; trial++) {
            penalty p = draw(&kinds[k], trial);
            long double before = conjugate_along(&p, 0);
            for (double eta = 0x1p-20; eta <= 4; eta *= 16) {
                long double after = conjugate_along(&p, eta), slope = 0, size = 0;
                for (uint64_t j = 0; j < p.n; j++) {
                    long double at =
                        check_penalty_weight(p.l1_ratio, factor_at(&p, j), v[j] + eta * (long double)dv[j]);
                    slope += at * dv[j];
                    size += fabsl(at * dv[j]);
                }
                assert_true(fabsl(p.kind->ray_change(&p, v, dv, eta) - (after - before)) <=
                            1e-13L * (after + before + 1e-300L));
                assert_true(fabsl(p.kind->ray_slope(&p, v, dv, eta) - slope) <= 1e-12L * (size + 1e-300L));
                long double rise = p.kind->ray_change(&p, v, dv, eta * (1 + 0x1p-10)) -
                                   p.kind->ray_change(&p, v, dv, eta * (1 - 0x1p-10));
                long double low = p.kind->ray_slope(&p, v, dv, eta * (1 - 0x1p-10)) * eta * 0x1p-9L;
                long double high = p.kind->ray_slope(&p, v, dv, eta * (1 + 0x1p-10)) * eta * 0x1p-9L;
                long double slack = 1e-13L * (after + before);
                assert_true(rise >= low - slack &&
                            rise <= high + slack); /* convex: the chord is between the slopes */
            }
        }
}

/* grad g and its second derivative by differences of g, on the one side of the kink that a weight is on. */
static void test_slope_and_bend(void **unused)
{
    (void)unused;
    for (int k = 0; k < KINDS; k++)
        for (int trial = 0; trial < 12; trial++) {
            penalty p = draw(&kinds[k], trial);
            assert_true(p.kind->smooth == (p.l1_ratio == 0));
            p.kind->slope(&p, other, u);
            p.kind->bend(&p, h);
            for (uint64_t j = 0; j < p.n; j++) {
                double f = factor_at(&p, j);
                long double step = fabsl((long double)u[j]) / 1024;
                long double before = check_penalty_value(p.l1_ratio, f, u[j] - step);
                long double after = check_penalty_value(p.l1_ratio, f, u[j] + step);
                long double here = check_penalty_value(p.l1_ratio, f, u[j]);
                assert_true(fabsl(other[j] - (after - before) / (2 * step)) <= 1e-12L * fabsl((long double)other[j]));
                assert_true(fabsl(h[j] - (after - 2 * here + before) / (step * step)) <=
                            1e-12L * f + 1e-17L * here / (step * step));
            }
            for (uint64_t j = 0; j < p.n; j++)
                w[j] = 0;
            p.kind->slope(&p, other, w);
            for (uint64_t j = 0; j < p.n; j++) /* a subgradient at the kink */
                assert_true(fabs(other[j]) <= factor_at(&p, j) * p.l1_ratio);
        }
}

/* g(w) + g*(v) - w'v, and with full precision next to w = grad g*(v), where the definition has none left. */
static void test_distance(void **unused)
{
    (void)unused;
    for (int k = 0; k < KINDS; k++)
        for (int trial = 0; trial < 12; trial++) {
            penalty p = draw(&kinds[k], trial);
            for (double away = 1; away >= 1e-12; away *= 1e-4) {
                long double wanted = 0, rounding = 0;
                p.kind->gradient(&p, w, v);
                for (uint64_t j = 0; j < p.n; j++) {
                    long double f = factor_at(&p, j), R = p.l1_ratio;
                    w[j] += away * fabs(w[j]) * uniform(-1, 1) + (j % 3 == 0 ? away * 1e-3 * uniform(-1, 1) : 0);
                    long double at = check_penalty_weight(p.l1_ratio, (double)f, v[j]), d = w[j] - at;
                    long double cut = fminl(fmaxl(v[j], -f * R), f * R); /* the part of v that the kink takes */
                    long double kink = f * R * fabsl((long double)w[j]) - w[j] * cut;
                    wanted += 0.5L * f * (1 - R) * d * d + kink;
                    long double rough = 1e-15L * (fabsl((long double)v[j]) + f * R) / (f * (1 - R)); /* of d */
                    rounding += f * (1 - R) * rough * (fabsl(d) + rough) + 1e-15L * f * R * fabsl((long double)w[j]);
                }
                double distance = p.kind->distance(&p, w, v);
                assert_true(distance >= 0);
                assert_true(fabsl(distance - wanted) <= 1e-9L * wanted + rounding);
            }
        }
}

/* Free weights are in no g; for the dual side they have v^2/2. */
static void test_free_weights(void **unused)
{
    (void)unused;
    for (int k = 0; k < KINDS; k++)
        for (int trial = 1; trial < 12; trial += 3) {
            penalty without = draw(&kinds[k], trial), p = without;
            const regulariser *r = p.kind;
            p.free = 4;
            without.n -= 4;
            const uint64_t bound = without.n;
            assert_true(r->value(&p, u) == r->value(&without, u));
            assert_true(r->conjugate(&p, v) == r->conjugate(&without, v));
            assert_true(r->distance(&p, u, v) == r->distance(&without, u, v));
            r->gradient(&p, w, v);
            r->gradient(&without, other, v);
            for (uint64_t j = 0; j < p.n; j++)
                assert_true(w[j] == (j < bound ? other[j] : v[j]));
            r->curvature(&p, h, v, false);
            r->curvature(&without, other, v, false);
            for (uint64_t j = 0; j < p.n; j++)
                assert_true(h[j] == (j < bound ? other[j] : 1));
            r->slope(&p, w, u);
            r->slope(&without, other, u);
            r->bend(&p, h);
            for (uint64_t j = 0; j < p.n; j++)
                assert_true(w[j] == (j < bound ? other[j] : 0) && (h[j] == 0) == (j >= bound));
            double change = r->ray_change(&without, v, dv, 0.7), slope = r->ray_slope(&without, v, dv, 0.7);
            for (uint64_t j = bound; j < p.n; j++) {
                change += 0.5 * (pow(v[j] + 0.7 * dv[j], 2) - v[j] * v[j]);
                slope += (v[j] + 0.7 * dv[j]) * dv[j];
            }
            assert_true(fabs(r->ray_change(&p, v, dv, 0.7) - change) <= 1e-9 * (1 + fabs(change)));
            assert_true(fabs(r->ray_slope(&p, v, dv, 0.7) - slope) <= 1e-9 * (1 + fabs(slope)));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_equality_at_the_gradient),
        cmocka_unit_test(test_curvature),
        cmocka_unit_test(test_safe_curvature_bounds),
        cmocka_unit_test(test_ray),
        cmocka_unit_test(test_slope_and_bend),
        cmocka_unit_test(test_distance),
        cmocka_unit_test(test_free_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
