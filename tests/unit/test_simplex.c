/* test_simplex.c - the small quadratic over the simplex against two slow solvers of its own: every point of a fine
 * grid in two and three variables, and accelerated projected gradient in long double in up to eight.
 *
 * Whatever the quadratic, the answer must be feasible, no worse than the start, and as much better than it as said.
 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "checker/draw.h"
#include "dual/simplex.h"
#include "unit/cmocka_all.h"

enum { MOST = 8 };

typedef struct quadratic {
    int m;
    double G[MOST * MOST], c[MOST], at[MOST]; /* G: the lower triangle alone, the rest is NAN */
    long double size;                         /* of its terms over the simplex */
} quadratic;

static long double entry(const quadratic *q, int a, int b)
{
    return a >= b ? q->G[a * q->m + b] : q->G[b * q->m + a];
}

static void slopes_at(const quadratic *q, const long double *x, long double *slope)
{
    for (int a = 0; a < q->m; a++) {
        slope[a] = q->c[a];
        for (int b = 0; b < q->m; b++)
            slope[a] += entry(q, a, b) * (x[b] - q->at[b]);
    }
}

static long double value_at(const quadratic *q, const long double *x)
{
    long double slope[MOST], value = 0;
    slopes_at(q, x, slope);
    for (int a = 0; a < q->m; a++)
        value += 0.5L * (x[a] - q->at[a]) * (q->c[a] + slope[a]);
    return value;
}

static long double value_of(const quadratic *q, const double *x)
{
    long double wide[MOST] = {0};
    for (int a = 0; a < q->m; a++)
        wide[a] = x[a];
    return value_at(q, wide);
}

/* A point of the simplex: 0 inside, 1 on the far side, 2 a vertex, 3 the origin. */
static void draw_point(int m, int place, double *x)
{
    double total = 0;
    int corner = (int)uniform(0, m);
    for (int a = 0; a < m; a++)
        total += x[a] = place == 2 ? a == corner : place == 3 ? 0 : -log(uniform(1e-9, 1));
    if (place == 0)
        total *= 1 + uniform(0, 1);
    for (int a = 0; a < m && place < 2; a++)
        x[a] /= total * (1 + 0x1p-52);
}

/* G = A'A with A of the given rank (0: no curvature at all), rows of A from 1 down to 10^-spread; with a wide spread
 * the first row is nearly the same for all: points far from `at` and near each other. */
static quadratic draw_quadratic(int m, int rank, double spread)
{
    quadratic q = {.m = m};
    double A[MOST][MOST], scale = power(-3, 3);
    for (int r = 0; r < rank; r++)
        for (int a = 0; a < m; a++)
            A[r][a] = (spread > 2 && r == 0 ? 1 + 0.01 * uniform(-1, 1) : uniform(-1, 1)) *
                      pow(10, rank > 1 ? -spread * r / (rank - 1) : 0);
    draw_point(m, (int)uniform(0, 4), q.at);
    for (int a = 0; a < m; a++) {
        q.c[a] = scale * uniform(-1, 1);
        q.size = fmaxl(q.size, fabs(q.c[a]));
        for (int b = 0; b < m; b++) {
            long double product = 0;
            for (int r = 0; r < rank; r++)
                product += (long double)A[r][a] * A[r][b];
            q.G[a * m + b] = b > a ? NAN : (double)(scale * product);
            q.size = fmaxl(q.size, scale * fabsl(product));
        }
    }
    return q;
}

/* Solves from x, and returns the value; all that must hold for any quadratic is checked here. */
static long double solve(const quadratic *q, double *x)
{
    double start[MOST], total = 0;
    memcpy(start, x, sizeof start);
    double decrease = simplex_minimise(q->m, q->G, q->c, q->at, x);
    for (int a = 0; a < q->m; a++) {
        assert_true(x[a] >= 0);
        total += x[a];
    }
    assert_true(total <= 1 + 1e-14);
    long double before = value_of(q, start), after = value_of(q, x);
    assert_true(decrease >= 0);
    assert_true(after <= before + 1e-15L * q->size);
    assert_true(fabsl(before - after - decrease) <= 1e-13L * q->size);
    return after;
}

static void test_grid_of_two(void **unused)
{
    (void)unused;
    enum { STEPS = 200 };
    state = 1;
    for (int trial = 0; trial < 48; trial++) {
        quadratic q = draw_quadratic(2, trial % 3, trial % 5);
        double x[MOST] = {0};
        draw_point(2, trial / 3 % 4, x);
        long double least = solve(&q, x);
        for (int i = 0; i <= STEPS; i++)
            for (int j = 0; i + j <= STEPS; j++)
                assert_true(least <= value_at(&q, (long double[]){i / (long double)STEPS, j / (long double)STEPS}) +
                                         1e-12L * q.size);
    }
}

static void test_grid_of_three(void **unused)
{
    (void)unused;
    enum { STEPS = 40 };
    state = 2;
    for (int trial = 0; trial < 48; trial++) {
        quadratic q = draw_quadratic(3, trial % 4, trial % 5);
        double x[MOST] = {0};
        draw_point(3, trial / 4 % 4, x);
        long double least = solve(&q, x);
        for (int i = 0; i <= STEPS; i++)
            for (int j = 0; i + j <= STEPS; j++)
                for (int k = 0; i + j + k <= STEPS; k++) {
                    const long double point[3] = {i / (long double)STEPS, j / (long double)STEPS,
                                                  k / (long double)STEPS};
                    assert_true(least <= value_at(&q, point) + 1e-12L * q.size);
                }
    }
}

/* The nearest point with x >= 0, sum x <= 1: x - shift, cut at 0, with the shift by bisection. */
static void project(int m, long double *x)
{
    long double low = 0, high = 0, total = 0;
    for (int a = 0; a < m; a++) {
        high = fmaxl(high, x[a]);
        total += fmaxl(x[a], 0);
    }
    for (int k = 0; total > 1 && k < 66; k++) {
        long double shift = (low + high) / 2, sum = 0;
        for (int a = 0; a < m; a++)
            sum += fmaxl(x[a] - shift, 0);
        if (sum > 1)
            low = shift;
        else
            high = shift;
    }
    for (int a = 0; a < m; a++)
        x[a] = fmaxl(x[a] - (total > 1 ? high : 0), 0);
}

/* Projected gradient with momentum, which begins anew where it goes uphill. */
static long double projected_gradient(const quadratic *q, int steps)
{
    const int m = q->m;
    long double x[MOST] = {0}, y[MOST] = {0}, next[MOST], slope[MOST], bound = 0, t = 1, value = value_at(q, x);
    for (int a = 0; a < m; a++) {
        long double row = 0;
        for (int b = 0; b < m; b++)
            row += fabsl(entry(q, a, b));
        bound = fmaxl(bound, row);
    }
    for (int k = 0; k < steps; k++) {
        slopes_at(q, y, slope);
        for (int a = 0; a < m; a++)
            next[a] = y[a] - slope[a] / (bound + 1e-300L);
        project(m, next);
        long double reached = value_at(q, next), t_next = (1 + sqrtl(1 + 4 * t * t)) / 2;
        bool uphill = reached > value;
        for (int a = 0; a < m; a++) {
            y[a] = uphill ? x[a] : next[a] + (t - 1) / t_next * (next[a] - x[a]);
            x[a] = uphill ? x[a] : next[a];
        }
        value = uphill ? value : reached;
        t = uphill ? 1 : t_next;
    }
    return value;
}

/* What is left at most: the slope towards the best vertex, the origin included. */
static long double certificate(const quadratic *q, const double *x)
{
    long double wide[MOST] = {0}, slope[MOST], least = 0, here = 0;
    for (int a = 0; a < q->m; a++)
        wide[a] = x[a];
    slopes_at(q, wide, slope);
    for (int a = 0; a < q->m; a++) {
        least = fminl(least, slope[a]);
        here += slope[a] * x[a];
    }
    return here - least;
}

static void test_projected_gradient(void **unused)
{
    (void)unused;
    state = 3;
    for (int trial = 0; trial < 160; trial++) {
        int m = 1 + trial % MOST;
        quadratic q = draw_quadratic(m, trial / 8 % (m + 1), trial % 3);
        double x[MOST] = {0};
        draw_point(m, trial % 4, x);
        long double least = solve(&q, x), other = projected_gradient(&q, 500);
        if (!(least <= other + 1e-10L * q.size))
            fail_msg("trial %d: %.17Lg, projected gradient %.17Lg, size %Lg", trial, least, other, q.size);
        assert_true(certificate(&q, x) <= 1e-6L * q.size);
    }
}

/* Points of a hull are near each other after a while: curvatures that differ by ten orders. The least value without
 * bounds is at a point near the simplex, so that all of them matter; pairs take many steps there, and the last
 * thousandth of the gain is not worth them. */
static void test_nearly_singular(void **unused)
{
    (void)unused;
    state = 4;
    for (int trial = 0; trial < 60; trial++) {
        int m = 2 + trial % (MOST - 1);
        quadratic q = draw_quadratic(m, m, trial % 2 ? 5 : 2);
        double x[MOST] = {0}, aim[MOST] = {0};
        draw_point(m, trial / 2 % 2, aim);
        for (int a = 0; a < m; a++)
            aim[a] = q.at[a] - 1.2 * aim[a];
        for (int a = 0; a < m; a++) {
            q.c[a] = 0;
            for (int b = 0; b < m; b++)
                q.c[a] += (double)entry(&q, a, b) * aim[b];
        }
        draw_point(m, trial % 4, x);
        long double start = value_of(&q, x), least = solve(&q, x), other = projected_gradient(&q, 500);
        if (!(least <= other + 1e-3L * (start - other) + 1e-12L * q.size))
            fail_msg("trial %d: %.17Lg, projected gradient %.17Lg, start %.17Lg", trial, least, other, start);
    }
}

static void test_known_minima(void **unused)
{
    (void)unused;
    /* |x - (2, 0.2)|^2 / 2: the nearest point of the simplex is (1, 0) */
    double x[2] = {0, 1}, origin[2] = {0, 0};
    simplex_minimise(2, (double[]){1, NAN, 0, 1}, (double[]){-2, -0.2}, origin, x);
    assert_true(x[0] == 1 && x[1] == 0);
    /* inside, from a vertex and from the origin */
    for (int k = 0; k < 2; k++) {
        double y[2] = {0, k};
        double decrease = simplex_minimise(2, (double[]){1, NAN, 0, 1}, (double[]){0, 0}, (double[]){0.25, 0.5}, y);
        assert_true(fabs(y[0] - 0.25) <= 1e-6 && fabs(y[1] - 0.5) <= 1e-6);
        assert_true(fabs(decrease - 0.15625) <= 1e-12);
    }
    /* no curvature: all to the least slope, none where all rise */
    double z[3] = {0.2, 0.3, 0.1}, up[3] = {0.2, 0.3, 0.1}, at[3] = {0};
    simplex_minimise(3, (double[9]){0}, (double[]){-1, -3, -2}, at, z);
    assert_true(z[0] == 0 && fabs(z[1] - 1) <= 1e-15 && z[2] == 0);
    simplex_minimise(3, (double[9]){0}, (double[]){1, 3, 2}, at, up);
    assert_true(up[0] == 0 && up[1] == 0 && up[2] == 0);
    /* a minimum stays where it is */
    double still[2] = {0.25, 0.5};
    assert_true(simplex_minimise(2, (double[]){1, NAN, 0, 1}, (double[]){0, 0}, still, still) == 0);
    assert_true(still[0] == 0.25 && still[1] == 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_minima),    cmocka_unit_test(test_grid_of_two),
        cmocka_unit_test(test_grid_of_three),   cmocka_unit_test(test_projected_gradient),
        cmocka_unit_test(test_nearly_singular),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
