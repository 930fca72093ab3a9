/* test_shifted_norm.c - the regulariser with a pull towards a centre against its definition: g_j of the checker, plus
 * pull/2 (w - centre)^2. */
#include <math.h>
#include <string.h>

#include "checker.h"
#include "checker/draw.h"
#include "problem/regulariser.h"
#include "unit/cmocka_all.h"

enum { N = 6 };

typedef struct scalar {
    double l1_ratio, factor, pull, centre, v;
} scalar;

static long double value(const scalar *s, long double w)
{
    return check_penalty_value(s->l1_ratio, s->factor, w) + 0.5L * s->pull * (w - s->centre) * (w - s->centre);
}

static long double minus_linear(long double w, const void *self)
{
    const scalar *s = self;
    return value(s, w) - s->v * w;
}

/* g*(v), and the w where it is attained */
static long double conjugate(const scalar *s, long double *at)
{
    return -check_golden(minus_linear, s, -50, 50, at);
}

typedef struct draw {
    double factor[N], centre[N], v[N], w[N], dv[N];
    penalty base, shifted;
} draw;

static void draw_case(draw *d, double l1_ratio, bool factors)
{
    for (int j = 0; j < N; j++) {
        d->factor[j] = uniform(0.3, 3);
        d->centre[j] = uniform(-2, 2);
        d->v[j] = uniform(-3, 3);
        d->w[j] = uniform(-2, 2);
        d->dv[j] = uniform(-2, 2);
    }
    d->base = penalty_for(N, 1, 0, l1_ratio, factors ? d->factor : NULL, 1);
    d->shifted = penalty_shifted(&d->base, power(-2, 2), d->centre);
    if (!factors)
        for (int j = 0; j < N; j++)
            d->factor[j] = 1;
}

static scalar scalar_of(const draw *d, int j, double v)
{
    return (scalar){d->base.l1_ratio, d->factor[j], d->shifted.pull, d->centre[j], v};
}

/* g*(v) as a sum, and its gradient */
static long double whole_conjugate(const draw *d, const double *v, double *at)
{
    long double sum = 0, w;
    for (int j = 0; j < N; j++) {
        scalar s = scalar_of(d, j, v[j]);
        sum += conjugate(&s, &w);
        if (at)
            at[j] = (double)w;
    }
    return sum;
}

static void expect_definition(const draw *d)
{
    const penalty *p = &d->shifted;
    double at[N], w[N], h[N], bound[N], slope[N], bend[N], moved[N];
    long double g = 0, star = whole_conjugate(d, d->v, at), cross = 0;
    for (int j = 0; j < N; j++) {
        scalar s = scalar_of(d, j, d->v[j]);
        g += value(&s, d->w[j]);
        cross += (long double)d->w[j] * d->v[j];
    }
    assert_true(fabsl(p->kind->value(p, d->w) - g) <= 1e-13L * (1 + g));
    assert_true(fabsl(p->kind->conjugate(p, d->v) - star) <= 1e-12L * (1 + fabsl(star)));
    assert_true(fabsl(p->kind->distance(p, d->w, d->v) - (g + star - cross)) <= 1e-11L * (1 + g));
    p->kind->gradient(p, w, d->v);
    assert_true(p->kind->distance(p, w, d->v) <= 1e-14L * (1 + g));
    p->kind->curvature(p, h, d->v, false);
    p->kind->curvature(p, bound, d->v, true);
    p->kind->slope(p, slope, d->w);
    p->kind->bend(p, bend);
    for (int j = 0; j < N; j++) {
        assert_true(fabs(w[j] - at[j]) <= 1e-7);
        scalar s = scalar_of(d, j, d->v[j]);
        long double rise = (value(&s, d->w[j] + 1e-6L) - value(&s, d->w[j] - 1e-6L)) / 2e-6L;
        assert_true(fabsl(slope[j] - rise) <= 1e-6L * (1 + fabsl(rise)));
        assert_true(fabs(bend[j] * bound[j] - 1) <= 1e-14);
        assert_true(h[j] <= bound[j] && h[j] > 0 && bound[j] <= (1 + 1e-14) / p->convexity);
    }
    for (int j = 0; j < N; j++)
        moved[j] = d->v[j] + 0.7 * d->dv[j];
    long double change = whole_conjugate(d, moved, at) - star, ray = 0;
    assert_true(fabsl(p->kind->ray_change(p, d->v, d->dv, 0.7) - change) <= 1e-11L * (1 + fabsl(star)));
    for (int j = 0; j < N; j++)
        ray += (long double)at[j] * d->dv[j];
    assert_true(fabsl(p->kind->ray_slope(p, d->v, d->dv, 0.7) - ray) <= 1e-6L);
}

static void test_definition(void **unused)
{
    (void)unused;
    state = 41;
    for (int k = 0; k < 200; k++) {
        draw d;
        draw_case(&d, k % 2 ? uniform(0, 0.9) : 0, k / 2 % 2);
        expect_definition(&d);
    }
}

/* The curvature is the derivative of the gradient, where that has one. */
static void test_curvature(void **unused)
{
    (void)unused;
    state = 43;
    for (int k = 0; k < 200; k++) {
        draw d;
        draw_case(&d, k % 2 ? uniform(0, 0.9) : 0, k / 2 % 2);
        double h[N], up[N], down[N], more[N], less[N];
        d.shifted.kind->curvature(&d.shifted, h, d.v, false);
        for (int j = 0; j < N; j++) {
            more[j] = d.v[j] + 1e-6;
            less[j] = d.v[j] - 1e-6;
        }
        d.shifted.kind->gradient(&d.shifted, up, more);
        d.shifted.kind->gradient(&d.shifted, down, less);
        for (int j = 0; j < N; j++) {
            double x = d.v[j] + d.shifted.pull * d.centre[j], kink = d.factor[j] * d.base.l1_ratio;
            if (fabs(fabs(x) - kink) > 1e-5)
                assert_true(fabs((up[j] - down[j]) / 2e-6 - h[j]) <= 1e-8);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_definition),
        cmocka_unit_test(test_curvature),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
