/* dense.c - see dense.h. LAPACK counts columns first, so the lower triangle of our rows is its upper triangle; its
 * `_work` functions take their memory from us. */
#include "base/dense.h"

#include <lapacke.h>
#include <limits.h>
#include <math.h>
#include <string.h>

/* OpenBLAS, where it is the BLAS at hand. Several threads would take cores that belong to other ranks, and could
 * change bits. The number is put back, for the process may have other uses of it. */
extern void openblas_set_num_threads(int threads) __attribute__((weak));
extern int openblas_get_num_threads(void) __attribute__((weak));

static int one_thread(void)
{
    int before = openblas_get_num_threads ? openblas_get_num_threads() : 1;
    if (before > 1 && openblas_set_num_threads)
        openblas_set_num_threads(1);
    return before;
}

static void threads_again(int before)
{
    if (before > 1 && openblas_set_num_threads)
        openblas_set_num_threads(before);
}

static bool all_finite(const double *x, uint64_t n)
{
    for (uint64_t j = 0; j < n; j++)
        if (!isfinite(x[j]))
            return false;
    return true;
}

bool dense_factor(double *a, uint64_t n)
{
    if (n > INT_MAX)
        return false;
    int before = one_thread();
    bool ok = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', (lapack_int)n, a, n > 1 ? (lapack_int)n : 1) == 0;
    threads_again(before);
    for (uint64_t j = 0; ok && j < n; j++) /* LAPACK lets NaN pass */
        ok = isfinite(a[j * n + j]);
    return ok;
}

bool dense_solve(const double *factors, uint64_t n, double *x)
{
    const lapack_int m = (lapack_int)n, ld = m > 1 ? m : 1;
    int before = one_thread();
    bool ok = LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'U', m, 1, factors, ld, x, ld) == 0;
    threads_again(before);
    return ok && all_finite(x, n);
}

int dense_solve_singular(double *a, int n, double *x, double cut)
{
    enum { WORK = 1 + 6 * DENSE_SMALL + 2 * DENSE_SMALL * DENSE_SMALL, COUNTS = 3 + 5 * DENSE_SMALL };
    double value[DENSE_SMALL], b[DENSE_SMALL], work[WORK], largest = 0;
    lapack_int counts[COUNTS];
    bool finite = n <= DENSE_SMALL && all_finite(x, (uint64_t)n);
    for (int i = 0; i < n && finite; i++)
        finite = all_finite(a + i * n, (uint64_t)i + 1);
    int before = one_thread();
    bool ok = finite && (n == 0 || LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'U', n, a, n, value, work, WORK, counts,
                                                       COUNTS) == 0);
    threads_again(before);
    if (ok)
        memcpy(b, x, (size_t)n * sizeof *b);
    memset(x, 0, (size_t)n * sizeof *x);
    if (!ok)
        return -1;
    for (int k = 0; k < n; k++)
        largest = fmax(largest, fabs(value[k]));
    int rank = 0;
    for (int k = 0; k < n; k++) {
        const double *vector = a + k * n;
        double along = 0;
        if (!(fabs(value[k]) > cut * largest))
            continue;
        for (int i = 0; i < n; i++)
            along += vector[i] * b[i];
        for (int i = 0; i < n; i++)
            x[i] += along / value[k] * vector[i];
        rank++;
    }
    return rank;
}
