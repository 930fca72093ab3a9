/* test_loss.c - every loss of the table against its definition, as the checker has it: values, slopes, curvatures,
 * conjugates, gaps and coordinate steps at random and at extreme points.
 *
 * Tolerances follow from conditioning: a result may differ by what a few roundings of its inputs explain. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "checker.h"
#include "checker/draw.h"
#include "problem/loss_math.h"

#define EPS 0x1p-52L
#define FLOOR 1e-300L /* below this doubles lose digits */

typedef struct point {
    double z, a, y, c, e;
} point;

static int below(int n)
{
    return (int)uniform(0, n);
}

static double sign(void)
{
    return below(2) ? 1 : -1;
}

/* Points that ordinary training sees. */
static point ordinary(const loss *f)
{
    point p = {.z = uniform(-4, 4), .y = sign(), .c = power(-2, 2), .e = uniform(0, 1)};
    if (f->regression)
        p.y = uniform(-3, 3);
    p.a = f->regression ? p.c * uniform(-1, 1) : p.y * p.c * uniform(0, 1);
    return p;
}

/* A dual variable anywhere in its domain: the ends, next to them, denormal, tiny, optimal for z. */
static double extreme_dual(const loss *f, const point *p)
{
    long double low, high;
    check_domain((check_loss)f->kind, 1, 1, &low, &high);
    bool bounded = isfinite(high);
    double b;
    switch (below(7)) {
    case 0:
        return f->regression ? -0.0 : 0;
    case 1:
        b = p->c;
        break;
    case 2:
        b = nextafter(p->c, 0);
        break;
    case 3:
        b = 5e-324;
        break;
    case 4:
        b = p->c * power(-300, 0);
        break;
    case 5:
        return -f->slope(p->z, p->y, p->c, p->e);
    default:
        b = p->c * (bounded ? uniform(0, 1) : power(-8, 8));
    }
    return b * (f->regression ? sign() : p->y);
}

static point extreme(const loss *f)
{
    point p = {.y = sign(), .c = below(2) ? power(-3, 3) : power(-30, 30), .e = below(4) ? power(-8, 2) : 0};
    if (f->regression)
        p.y = sign() * (below(2) ? uniform(0, 10) : power(-8, 8));
    switch (below(6)) {
    case 0:
        p.z = 0;
        break;
    case 1:
        p.z = f->regression ? p.y + sign() * p.e : p.y; /* at the kink, or as near as a double comes */
        break;
    case 2:
        p.z = p.y + sign() * power(-16, 0);
        break;
    case 3:
        p.z = sign() * power(-8, 8);
        break;
    default:
        p.z = uniform(-40, 40);
    }
    p.a = extreme_dual(f, &p);
    return p;
}

static long double scale(const point *p)
{
    return 1 + fabs(p->z) + fabs(p->y) + p->e;
}

/* |got - wanted| <= tolerance, and no NaN */
static void near(const char *what, const loss *f, const point *p, double got, long double wanted,
                 long double tolerance)
{
    if (got == wanted || fabsl(got - wanted) <= tolerance)
        return;
    fail_msg("%s %s at z=%.17g a=%.17g y=%.17g c=%.17g e=%.17g: %.17g, expected %.20Lg within %Lg", f->name, what,
             p->z, p->a, p->y, p->c, p->e, got, wanted, tolerance);
}

static void test_table(void **unused)
{
    (void)unused;
    int count = 0;
    for (const loss *f = losses; f->name; f++, count++) {
        assert_int_equal(check_loss_named(f->name), f->kind);
        assert_ptr_equal(loss_find(f->name), f);
    }
    assert_int_equal(count, CHECK_LOSSES);
    assert_null(loss_find("no such loss"));
}

static void test_value(void **unused)
{
    (void)unused;
    for (const loss *f = losses; f->name; f++)
        for (int trial = 0; trial < 20000; trial++) {
            point p = trial % 2 ? ordinary(f) : extreme(f);
            long double lo, hi, want = check_value((check_loss)f->kind, p.z, p.y, p.c, p.e);
            check_slopes((check_loss)f->kind, p.z, p.y, p.c, p.e, &lo, &hi);
            /* the logistic loss is a function of z alone up to a sign: relative precision at both ends */
            long double inputs = f->kind == LOSS_LOGISTIC ? 0 : fmaxl(fabsl(lo), fabsl(hi)) * scale(&p);
            inputs += f->kind == LOSS_LOGISTIC ? 0 : EPS * p.c * scale(&p) * scale(&p);
            near("value", f, &p, f->value(p.z, p.y, p.c, p.e), want, 8 * EPS * (want + inputs) + FLOOR);
        }
}

static void test_slope(void **unused)
{
    (void)unused;
    for (const loss *f = losses; f->name; f++)
        for (int trial = 0; trial < 20000; trial++) {
            point p = trial % 2 ? ordinary(f) : extreme(f);
            check_loss k = (check_loss)f->kind;
            double got = f->slope(p.z, p.y, p.c, p.e);
            long double here = check_value(k, p.z, p.y, p.c, p.e), h = 1e-6L;
            for (int other = 0; other < 5; other++) {
                long double d = other ? sign() * power(-6, 6) : -2 * p.z, line = here + got * d;
                long double there = check_value(k, p.z + d, p.y, p.c, p.e);
                long double slack = 8 * EPS * (here + there + fabsl(got * d) + p.c * scale(&p) * scale(&p));
                if (!(there >= line - slack))
                    fail_msg("%s slope %.17g at z=%.17g y=%.17g c=%g e=%g is no subgradient: %.20Lg < %.20Lg at %Lg",
                             f->name, got, p.z, p.y, p.c, p.e, there, line, p.z + d);
            }
            long double kink = f->regression ? fabsl(fabsl((long double)p.z - p.y) - p.e) : fabsl(1 - p.y * p.z);
            if (trial % 2 == 0 || kink < 2 * h)
                continue;
            long double rise = check_value(k, p.z + h, p.y, p.c, p.e) - check_value(k, p.z - h, p.y, p.c, p.e);
            near("slope", f, &p, got, rise / (2 * h), 1e-10L * p.c);
        }
}

static void test_curvature(void **unused)
{
    (void)unused;
    for (const loss *f = losses; f->name; f++)
        for (int trial = 0; trial < 20000; trial++) {
            point p = ordinary(f);
            long double h = 1e-6L, lo, hi, before, after;
            double kink = f->regression ? fabs(fabs(p.z - p.y) - p.e) : fabs(1 - p.y * p.z);
            if (f->kind != LOSS_SQUARED_ERROR && kink < 1e-5)
                continue;
            check_slopes((check_loss)f->kind, p.z - h, p.y, p.c, p.e, &lo, &before);
            check_slopes((check_loss)f->kind, p.z + h, p.y, p.c, p.e, &after, &hi);
            near("curvature", f, &p, f->curvature(p.z, p.y, p.c, p.e), (after - before) / (2 * h), 1e-9L * p.c);
        }
}

static void test_conjugate(void **unused)
{
    (void)unused;
    for (const loss *f = losses; f->name; f++) {
        check_loss k = (check_loss)f->kind;
        for (int trial = 0; trial < 2000; trial++) {
            point p = ordinary(f);
            if (trial % 10 == 0)
                p.a = extreme_dual(f, &p);
            long double lo, hi, brute = check_supremum(k, p.a, p.y, p.c, p.e);
            near("conjugate (supremum)", f, &p, f->conjugate(p.a, p.y, p.c, p.e), brute,
                 1e-13L * (p.c + fabs(p.a)) * (scale(&p) + fabs(p.a) / p.c));
            check_domain(k, p.y, p.c, &lo, &hi);
            if (isfinite(hi))
                assert_true(isinf(f->conjugate(nextafter((double)hi, INFINITY), p.y, p.c, p.e)));
            if (isfinite(lo))
                assert_true(isinf(f->conjugate(nextafter((double)lo, -INFINITY), p.y, p.c, p.e)));
        }
        for (int trial = 0; trial < 20000; trial++) {
            point p = extreme(f);
            long double want = check_conjugate(k, p.a, p.y, p.c, p.e);
            long double parts = fabs(p.a) * (1 + fabs(p.y) + p.e) + (long double)p.a * p.a / p.c;
            if (f->kind ==
                LOSS_LOGISTIC) /* b log(b/c) + (c-b) log(1 - b/c): the second term is near -b for a small b */
                parts = fabsl(want) + fminl(fabs(p.a), (long double)p.c - fabs(p.a));
            near("conjugate", f, &p, f->conjugate(p.a, p.y, p.c, p.e), want, 8 * EPS * parts + FLOOR);
        }
    }
}

static void test_conjugate_slope(void **unused)
{
    (void)unused;
    for (const loss *f = losses; f->name; f++)
        for (int trial = 0; trial < 5000; trial++) {
            point p = ordinary(f);
            check_loss k = (check_loss)f->kind;
            long double h = 1e-7L * fminl(fabs(p.a), p.c - fabs(p.a));
            if (h < 1e-9L * p.c)
                continue;
            long double rise =
                check_conjugate(k, p.a + h, p.y, p.c, p.e) - check_conjugate(k, p.a - h, p.y, p.c, p.e);
            double got = loss_conjugate_slope(f->kind, p.a, p.c - p.y * p.a, p.y, p.c, p.e);
            near("conjugate slope", f, &p, got, rise / (2 * h), 1e-8L * scale(&p));
        }
}

/* xi(z) + xi*(-a) + a z. Its derivative by z is the residual xi'(z) + a, so z rounded costs that times |z|; where the
 * residual vanishes what remains is of second order. A sum with cancellation would not pass. */
static void test_gap(void **unused)
{
    (void)unused;
    for (const loss *f = losses; f->name; f++)
        for (int trial = 0; trial < 60000; trial++) {
            point p = trial % 2 ? ordinary(f) : extreme(f);
            check_loss k = (check_loss)f->kind;
            double got = f->gap(p.z, p.a, p.y, p.c, p.e);
            assert_true(got >= 0);
            long double value = check_value(k, p.z, p.y, p.c, p.e);
            long double conjugate = check_conjugate(k, p.a, p.y, p.c, p.e), product = (long double)p.a * p.z;
            long double want = value + conjugate + product;
            long double widest = value + fabsl(conjugate) + fabs(p.a) * scale(&p); /* of this sum */
            long double size = scale(&p), b = fabs(p.a), lo, hi;
            if (k == CHECK_LOGISTIC && b > 0 && b < p.c)
                size += fabsl(logl(b / (p.c - b)));
            check_slopes(k, p.z, p.y, p.c, p.e, &lo, &hi);
            long double residual = fmaxl(fabsl(lo + p.a), fabsl(hi + p.a));
            long double curve = f->smooth ? 2 * p.c : 0;
            long double series = k == CHECK_LOGISTIC ? 1e-10L : 0; /* a power series near the zero may be cut off */
            near("gap", f, &p, got, want,
                 32 * EPS * (fabsl(want) + residual * size) + 32 * EPS * EPS * curve * size * size +
                     8 * 0x1p-63L * widest + series * want + FLOOR);
        }
}

static void test_gap_vanishes_at_optimal_pairs(void **unused)
{
    (void)unused;
    for (const loss *f = losses; f->name; f++)
        for (int trial = 0; trial < 20000; trial++) {
            point p = trial % 2 ? ordinary(f) : extreme(f);
            p.a = -f->slope(p.z, p.y, p.c, p.e);
            double got = f->gap(p.z, p.a, p.y, p.c, p.e);
            long double allowed = 0, size = scale(&p);
            if (f->kind == LOSS_LOGISTIC) { /* c - b is known to EPS c only, unless it is passed along */
                double rest = p.c * sigmoid(p.y * p.z);
                double better = loss_gap(f->kind, p.z, p.a, rest, p.y, p.c, p.e);
                near("gap at its zero, c-b known", f, &p, better, 0,
                     64 * EPS * EPS * size * size * fminl(fabs(p.a), rest) + FLOOR + p.c * 1e-307L);
                allowed = 4 * EPS * p.c * fminl(1, EPS * p.c / fmaxl(rest, FLOOR));
                allowed += 64 * EPS * EPS * size * size * p.c + p.c * 1e-307L;
            } else if (f->smooth) {
                allowed = 16 * EPS * EPS * p.c * size * size;
            }
            near("gap at its zero", f, &p, got, 0, allowed);
        }
}

/* What the logistic gap is where the dual variable sits at an end: c log(1 + exp(-+yz)), to full relative precision.
 */
static void test_logistic_ends(void **unused)
{
    (void)unused;
    const loss *f = loss_find("logistic");
    for (int trial = 0; trial < 2000; trial++) {
        point p = {.z = uniform(-600, 600), .y = sign(), .c = power(-6, 6)};
        long double m = p.y * p.z;
        near("gap at b=0", f, &p, f->gap(p.z, 0, p.y, p.c, 0), p.c * (m > 0 ? log1pl(expl(-m)) : log1pl(expl(m)) - m),
             16 * EPS * p.c * (m > 0 ? expl(-m) : 1 - m));
        near("gap at b=c", f, &p, f->gap(p.z, p.y * p.c, p.y, p.c, 0),
             p.c * (m < 0 ? log1pl(expl(m)) : log1pl(expl(-m)) + m), 16 * EPS * p.c * (m < 0 ? expl(m) : 1 + m));
    }
}

typedef struct step_case {
    check_loss k;
    point p;
    double slope, curve;
} step_case;

static long double step_objective(long double a, const void *self)
{
    const step_case *s = self;
    long double d = a - s->p.a;
    return s->slope * d + s->curve * d * d / 2 + check_conjugate(s->k, a, s->p.y, s->p.c, s->p.e);
}

static void test_step_minimises(void **unused)
{
    (void)unused;
    for (const loss *f = losses; f->name; f++)
        for (int trial = 0; trial < 3000; trial++) {
            step_case s = {.k = (check_loss)f->kind, .p = ordinary(f), .slope = uniform(-4, 4)};
            s.curve = trial % 4 ? power(-3, 3) : 0;
            if (trial % 5 == 0)
                s.p.a = f->regression ? 0 : s.p.y * s.p.c * below(2);
            long double lo, hi, at;
            check_domain(s.k, s.p.y, s.p.c, &lo, &hi);
            long double reach = fabs(s.p.a) + 2 * s.p.c * (fabs(s.slope) + s.curve * fabs(s.p.a) + scale(&s.p));
            long double best = check_golden(step_objective, &s, fmaxl(lo, -reach), fminl(hi, reach), &at);
            double got = f->step(s.p.a, s.slope, s.curve, s.p.y, s.p.c, s.p.e);
            assert_true(got >= lo && got <= hi);
            long double slack = 1e-15L * (fabsl(best) + (fabs(s.slope) + scale(&s.p)) * (fabs(s.p.a) + fabs(got)) +
                                          s.curve * ((long double)s.p.a * s.p.a + (long double)got * got) +
                                          (long double)got * got / s.p.c);
            near("step (objective)", f, &s.p, (double)fmaxl(step_objective(got, &s) - best, 0), 0, slack);
        }
}

/* a is the argmin where -a is in the subdifferential at slope + curve (a - old), which moves one way only as a grows:
 * so the argmin is within [got - slack, got + slack] where the residual changes sign between the two. */
static void expect_argmin(const loss *f, const step_case *s, double got, long double slack)
{
    long double left = got - slack, right = got + slack, low, high, unused;
    check_slopes(s->k, s->slope + s->curve * (left - s->p.a), s->p.y, s->p.c, s->p.e, &low, &unused);
    check_slopes(s->k, s->slope + s->curve * (right - s->p.a), s->p.y, s->p.c, s->p.e, &unused, &high);
    if (!(left + low <= 0 && right + high >= 0))
        fail_msg("%s step from a=%.17g with slope=%.17g curve=%.17g y=%.17g c=%.17g e=%.17g gave %.17g, off by more "
                 "than %Lg",
                 f->name, s->p.a, s->slope, s->curve, s->p.y, s->p.c, s->p.e, got, slack);
}

static void test_step_at_extremes(void **unused)
{
    (void)unused;
    for (const loss *f = losses; f->name; f++) {
        if (f->kind == LOSS_LOGISTIC)
            continue;
        for (int trial = 0; trial < 40000; trial++) {
            step_case s = {.k = (check_loss)f->kind, .p = trial % 2 ? ordinary(f) : extreme(f)};
            s.slope = below(3) ? sign() * power(-8, 8) : uniform(-3, 3);
            s.curve = below(4) ? power(-8, 8) : 0;
            if (below(8) == 0)
                s.slope = s.p.y; /* flat for the hinge where curve = 0 */
            double got = f->step(s.p.a, s.slope, s.curve, s.p.y, s.p.c, s.p.e);
            long double lo, hi;
            check_domain(s.k, s.p.y, s.p.c, &lo, &hi);
            if (!(got >= lo && got <= hi))
                fail_msg("%s step left the domain: %.17g with c=%.17g", f->name, got, s.p.c);
            long double H = s.curve + (f->smooth ? 1 / (2 * (long double)s.p.c) : 0);
            long double inputs = fabs(s.slope) + fabs(s.p.y) + s.p.e + 1;
            long double moved = H > 0 ? inputs / H : 0;
            expect_argmin(f, &s, got, 8 * EPS * (fabs(s.p.a) + fabs(got) + moved) + FLOOR);
        }
    }
}

/* t + A c sigmoid(t) + g = 0 by bisection in long double; then b = c sigmoid(t), c - b = c sigmoid(-t). */
static long double logistic_zero(long double A, long double c, long double g)
{
    long double lo = -g - A * c, hi = -g;
    for (int k = 0; k < 300; k++) {
        long double t = (lo + hi) / 2;
        if (t + A * c / (1 + expl(-t)) + g > 0)
            hi = t;
        else
            lo = t;
    }
    return (lo + hi) / 2;
}

static void test_logistic_step_keeps_both_ends(void **unused)
{
    (void)unused;
    const loss *f = loss_find("logistic");
    for (int trial = 0; trial < 40000; trial++) {
        point p = trial % 2 ? ordinary(f) : extreme(f);
        if (fabs(log10(p.c)) > 12)
            p.c = 1;
        if (fabs(p.a) > p.c)
            p.a = p.y * p.c;
        double slope = below(3) ? sign() * power(-8, 2.7) : uniform(-3, 3), curve = below(4) ? power(-8, 8) : 0;
        double rest = p.c - p.y * p.a, b = p.y * loss_step(f->kind, p.a, &rest, slope, curve, p.y, p.c, 0);
        long double g = p.y * slope - (long double)curve * (p.y * p.a), t = logistic_zero(curve, p.c, g);
        long double want = p.c / (1 + expl(-t)), left = p.c / (1 + expl(t));
        /* relative error of b and of c - b: that of t, which is that of g over the slope 1 + A b (c-b) / c */
        long double inputs = fabs(slope) + curve * fabs(p.a) + fabsl(t) + curve * want;
        long double relative = 64 * EPS * (1 + inputs / (1 + curve * want * left / p.c));
        relative +=
            1e-16L * (1 + fabsl(t)) * (1 + fabsl(t)); /* what Newton's method may leave after a step of 1e-8 */
        point shown = {slope, p.a, p.y, p.c, curve};
        assert_true(b >= 0 && b <= p.c && rest >= 0 && rest <= p.c);
        near("step of the table", f, &shown, p.y * f->step(p.a, slope, curve, p.y, p.c, 0), b, 0);
        if (relative > 1e-3L) /* g itself was lost in rounding: A c beyond 1e12 */
            continue;
        near("step, b (z: slope, e: curve)", f, &shown, b, want,
             relative * fminl(want, left) + 4 * EPS * want + FLOOR);
        near("step, c-b (z: slope, e: curve)", f, &shown, rest, left,
             relative * fminl(want, left) + 4 * EPS * left + FLOOR);
    }
}

/* The step stays where the slack is positive and leaves where it is negative; and the longest step ends in the
 * domain. */
static void test_slack_and_limit(void **unused)
{
    (void)unused;
    for (const loss *f = losses; f->name; f++)
        for (int trial = 0; trial < 20000; trial++) {
            point p = ordinary(f);
            if (trial % 2)
                p.a = f->regression ? p.c * (below(3) - 1) : p.y * p.c * below(2);
            double slope = uniform(-4, 4), slack = loss_slack(f->kind, p.a, slope, p.y, p.c, p.e);
            double to = f->step(p.a, slope, 1, p.y, p.c, p.e);
            if (slack > 1e-12)
                assert_true(to == p.a);
            if (slack < -1e-12)
                assert_true(to != p.a);
            long double lo, hi, d = to - p.a;
            double limit = loss_limit(f->kind, p.a, (double)d, p.y, p.c);
            check_domain((check_loss)f->kind, p.y, p.c, &lo, &hi);
            assert_true(limit >= 1 - 1e-12);
            if (!isfinite(limit))
                assert_true(d == 0 || (d > 0 ? isinf(hi) : isinf(lo)));
            else
                near("limit", f, &p, (double)(p.a + limit * d), d > 0 ? hi : lo, 4 * EPS * p.c);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_value),
        cmocka_unit_test(test_slope),
        cmocka_unit_test(test_curvature),
        cmocka_unit_test(test_conjugate),
        cmocka_unit_test(test_conjugate_slope),
        cmocka_unit_test(test_gap),
        cmocka_unit_test(test_gap_vanishes_at_optimal_pairs),
        cmocka_unit_test(test_logistic_ends),
        cmocka_unit_test(test_step_minimises),
        cmocka_unit_test(test_step_at_extremes),
        cmocka_unit_test(test_logistic_step_keeps_both_ends),
        cmocka_unit_test(test_slack_and_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
