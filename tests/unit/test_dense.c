/* test_dense.c - dense systems against their definition: residuals of solutions, the shortest solution of a singular
 * system, and matrices that have none. */
#include <math.h>
#include <string.h>

#include "base/dense.h"
#include "checker/draw.h"
#include "unit/cmocka_all.h"

enum { MOST = 150 };

static double matrix[MOST * MOST], copy[MOST * MOST], b[MOST], x[MOST];

/* B'B of a random B with `rank` rows: [n][n], positive definite for rank >= n. */
static void draw_gram(int n, int rank)
{
    static double rows[2 * MOST][MOST];
    for (int k = 0; k < rank; k++)
        for (int j = 0; j < n; j++)
            rows[k][j] = uniform(-1, 1);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            matrix[i * n + j] = 0;
            for (int k = 0; k < rank; k++)
                matrix[i * n + j] += rows[k][i] * rows[k][j];
        }
    memcpy(copy, matrix, sizeof copy);
}

/* Nothing above the diagonal may be looked at. */
static void spoil_upper(int n)
{
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++)
            matrix[i * n + j] = NAN;
}

/* The largest |a x - b| */
static double residual(int n)
{
    double most = 0;
    for (int i = 0; i < n; i++) {
        long double r = -b[i];
        for (int j = 0; j < n; j++)
            r += (long double)copy[i * n + j] * x[j];
        most = fmax(most, fabs((double)r));
    }
    return most;
}

static void test_cholesky(void **unused)
{
    (void)unused;
    for (int n = 0; n <= MOST; n = n < 5 ? n + 1 : 2 * n + 1) {
        draw_gram(n, 2 * n);
        spoil_upper(n);
        assert_true(dense_factor(matrix, (uint64_t)n));
        for (int side = 0; side < 2; side++) { /* factors serve more than once */
            for (int j = 0; j < n; j++)
                x[j] = b[j] = uniform(-1, 1);
            assert_true(dense_solve(matrix, (uint64_t)n, x));
            assert_true(residual(n) <= 1e-11);
        }
    }
}

/* More than one block, and no multiple of anything; checked against the factors by their definition. */
static void test_large_cholesky(void **unused)
{
    enum { N = 301 };
    static double a[N][N], narrow[N][N], plain[N][N];
    (void)unused;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i][j] = narrow[i][j] = plain[i][j] = j > i ? NAN : j == i ? 20 + uniform(0, 1) : uniform(-1, 1);
    assert_true(dense_factor(a[0], N));
    assert_true(dense_factor_narrow(narrow[0], N));
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++) {
            long double x = plain[i][j];
            for (int k = 0; k < j; k++)
                x -= (long double)plain[i][k] * plain[j][k];
            plain[i][j] = (double)(i == j ? sqrtl(x) : x / plain[j][j]);
            assert_true(fabs(a[i][j] - plain[i][j]) <= 1e-13);
            assert_memory_equal(&a[i][j], &narrow[i][j], sizeof a[i][j]); /* the same bits */
        }
}

static void test_no_cholesky(void **unused)
{
    (void)unused;
    draw_gram(20, 30);
    matrix[7 * 20 + 7] = -1;
    assert_false(dense_factor(matrix, 20));
    draw_gram(20, 30);
    matrix[19 * 20 + 3] = NAN;
    assert_false(dense_factor(matrix, 20));
    double zero = 0;
    assert_false(dense_factor(&zero, 1));
    draw_gram(20, 30);
    assert_true(dense_factor(matrix, 20));
    for (int j = 0; j < 20; j++)
        x[j] = j == 4 ? INFINITY : 0;
    assert_false(dense_solve(matrix, 20, x));
}

/* With b in the range of a the residual is 0; the solution is shortest: no part of it is in the kernel, so it is a
 * times something, and a (a^+ x) = x. */
static void test_singular(void **unused)
{
    (void)unused;
    for (int n = 1; n <= DENSE_SMALL; n = 2 * n)
        for (int rank = (n + 1) / 2; rank <= n; rank += n / 2 + 1) {
            double again[DENSE_SMALL], wanted[DENSE_SMALL];
            draw_gram(n, rank);
            for (int i = 0; i < n; i++)
                wanted[i] = uniform(-1, 1);
            for (int i = 0; i < n; i++) {
                b[i] = 0;
                for (int j = 0; j < n; j++)
                    b[i] += copy[i * n + j] * wanted[j];
                x[i] = b[i];
            }
            spoil_upper(n);
            assert_int_equal(dense_solve_singular(matrix, n, x, 1e-12), rank);
            assert_true(residual(n) <= 1e-9);
            memcpy(again, x, sizeof again);
            memcpy(matrix, copy, sizeof matrix);
            assert_int_equal(dense_solve_singular(matrix, n, again, 1e-12), rank);
            for (int i = 0; i < n; i++) {
                long double back = 0;
                for (int j = 0; j < n; j++)
                    back += (long double)copy[i * n + j] * again[j];
                assert_true(fabsl(back - x[i]) <= 1e-9L);
            }
        }
}

static void test_singular_ends(void **unused)
{
    (void)unused;
    double a[4] = {2, NAN, 0, -4}, y[2] = {1, 1}; /* an indefinite one */
    assert_int_equal(dense_solve_singular(a, 2, y, 1e-12), 2);
    assert_true(fabs(y[0] - 0.5) < 1e-15 && fabs(y[1] + 0.25) < 1e-15);
    double none[4] = {0}, z[2] = {3, 4};
    assert_int_equal(dense_solve_singular(none, 2, z, 1e-12), 0);
    assert_true(z[0] == 0 && z[1] == 0);
    double bad[4] = {1, 0, NAN, 1}, u[2] = {3, 4};
    assert_int_equal(dense_solve_singular(bad, 2, u, 1e-12), -1);
    assert_true(u[0] == 0 && u[1] == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cholesky), cmocka_unit_test(test_large_cholesky), cmocka_unit_test(test_no_cholesky),
        cmocka_unit_test(test_singular), cmocka_unit_test(test_singular_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
