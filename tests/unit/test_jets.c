/* test_jets.c - losses of many instances at once against the same one by one, at ordinary and at extreme points. */
#include <math.h>

#include "checker/draw.h"
#include "problem/jets.h"
#include "problem/loss_math.h"
#include "unit/cmocka_all.h"

static jets x;

/* Within a few roundings; `floor`: below it nobody looks. */
static void assert_near(double a, double b, double floor)
{
    if (!(a == b || fabs(a - b) <= 1e-15 * fabs(b) + floor))
        print_error("%.17g is not %.17g\n", a, b);
    assert_true(a == b || fabs(a - b) <= 1e-15 * fabs(b) + floor);
}

static void draw_points(loss_kind kind, bool extreme)
{
    for (int i = 0; i < JETS; i++) {
        x.z[i] = extreme ? (uniform(0, 1) < 0.5 ? -1 : 1) * power(-300, 300) : uniform(-4, 4);
        x.y[i] = kind >= LOSS_EPSILON_INSENSITIVE ? uniform(-3, 3) : uniform(0, 1) < 0.5 ? -1 : 1;
        x.c[i] = power(-2, 2);
    }
    x.z[0] = 0;
}

/* The losses other than the logistic one are the same formulas, and so the same bits. */
static void piecewise_losses_have_the_same_bits(void **unused)
{
    (void)unused;
    state = 3;
    for (loss_kind kind = LOSS_HINGE; kind <= LOSS_SQUARED_ERROR; kind++)
        for (int turn = 0; turn < 20 && kind != LOSS_LOGISTIC; turn++) {
            const int count = 1 + (int)uniform(0, JETS);
            draw_points(kind, false);
            jets_take(&x, kind, count, 0.2);
            for (int i = 0; i < count; i++) {
                const double slope = loss_slope(kind, x.z[i], x.y[i], x.c[i], 0.2);
                assert_true(x.value[i] == loss_value(kind, x.z[i], x.y[i], x.c[i], 0.2));
                assert_true(x.slope[i] == slope);
                assert_true(x.curve[i] == loss_curvature(kind, x.z[i], x.y[i], x.c[i], 0.2));
                assert_true(x.conjugate[i] == loss_conjugate(kind, -slope, NAN, x.y[i], x.c[i], 0.2));
            }
        }
}

static void the_logistic_loss_is_accurate(void **unused)
{
    (void)unused;
    state = 4;
    for (int turn = 0; turn < 2000; turn++) {
        draw_points(LOSS_LOGISTIC, turn % 2);
        jets_take(&x, LOSS_LOGISTIC, JETS, 0);
        for (int i = 0; i < JETS; i++) {
            const long double u = -(long double)x.y[i] * x.z[i], t = expl(-fabsl(u)), c = x.c[i];
            const long double most = 1 / (1 + t), least = t / (1 + t), rise = log1pl(t);
            assert_near(x.value[i], (double)(c * ((u > 0 ? u : 0) + rise)), 1e-305);
            assert_near(x.slope[i], (double)(-c * x.y[i] * (u > 0 ? most : least)), 1e-305);
            assert_near(x.curve[i], (double)(c * least * most), 1e-305);
            assert_near(x.conjugate[i], (double)(least > 0 ? -c * (least * fabsl(u) + rise) : 0), 1e-302);
        }
    }
}

static void what_is_no_number_stays_so(void **unused)
{
    (void)unused;
    draw_points(LOSS_LOGISTIC, false);
    x.z[1] = NAN;
    x.z[2] = -INFINITY * x.y[2];
    x.z[3] = INFINITY * x.y[3];
    jets_take(&x, LOSS_LOGISTIC, 8, 0);
    assert_true(isnan(x.value[1]) && isnan(x.slope[1]));
    assert_true(x.value[2] == INFINITY && x.curve[2] == 0 && x.slope[2] == -x.c[2] * x.y[2] && x.conjugate[2] == 0);
    assert_true(x.value[3] == 0 && x.curve[3] == 0 && x.slope[3] == 0 && x.conjugate[3] == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(piecewise_losses_have_the_same_bits),
        cmocka_unit_test(the_logistic_loss_is_accurate),
        cmocka_unit_test(what_is_no_number_stays_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
