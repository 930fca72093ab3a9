/* dense.c - see dense.h. Systems with factors, and small ones by their eigenvalues. */
#include "base/dense.h"

#include <math.h>
#include <string.h>

#define LANES 8

static bool all_finite(const double *x, uint64_t n)
{
    for (uint64_t j = 0; j < n; j++)
        if (!isfinite(x[j]))
            return false;
    return true;
}

/* In LANES interleaved sums, added in order: the same bits for every width of vectors. */
static double dot(const double *a, const double *b, uint64_t n)
{
    double sum[LANES] = {0}, total = 0;
    const uint64_t whole = n / LANES * LANES;
    for (uint64_t j = 0; j < whole; j += LANES)
        for (uint64_t l = 0; l < LANES; l++)
            sum[l] += a[j + l] * b[j + l];
    for (uint64_t j = whole; j < n; j++)
        sum[j - whole] += a[j] * b[j];
    for (uint64_t l = 0; l < LANES; l++)
        total += sum[l];
    return total;
}

bool dense_solve(const double *factors, uint64_t n, double *x)
{
    for (uint64_t i = 0; i < n; i++)
        x[i] = (x[i] - dot(factors + i * n, x, i)) / factors[i * n + i];
    for (uint64_t i = n; i-- > 0;) {
        const double *row = factors + i * n, y = x[i] /= row[i];
        for (uint64_t j = 0; j < i; j++)
            x[j] -= row[j] * y;
    }
    return all_finite(x, n);
}

/* ---- eigenvalues, by Jacobi's method --------------------------------------------------------------------------- */

#define SWEEPS 60 /* about 10 are needed */

/* Turns rows and columns p, q of the symmetric a so that a[p][q] becomes 0; the rows of v turn with them. */
static void rotate(double *a, double *v, int n, int p, int q)
{
    const double off = a[p * n + q], theta = (a[q * n + q] - a[p * n + p]) / (2 * off);
    const double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
    const double c = 1 / sqrt(t * t + 1), s = t * c;
    for (int k = 0; k < n; k++) { /* columns */
        const double x = a[k * n + p], y = a[k * n + q];
        a[k * n + p] = c * x - s * y;
        a[k * n + q] = s * x + c * y;
    }
    for (int k = 0; k < n; k++) { /* rows, and the vectors */
        const double x = a[p * n + k], y = a[q * n + k], e = v[p * n + k], f = v[q * n + k];
        a[p * n + k] = c * x - s * y;
        a[q * n + k] = s * x + c * y;
        v[p * n + k] = c * e - s * f;
        v[q * n + k] = s * e + c * f;
    }
    a[p * n + q] = a[q * n + p] = 0;
}

/* The eigenvalues are on the diagonal of a afterwards, the vectors are the rows of v. False: not within SWEEPS. */
static bool diagonalise(double *a, double *v, int n)
{
    double largest = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            v[i * n + j] = i == j;
            largest = fmax(largest, fabs(a[i * n + j]));
        }
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        bool done = true;
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++)
                if (fabs(a[p * n + q]) > 1e-18 * largest) {
                    rotate(a, v, n, p, q);
                    done = false;
                }
        if (done)
            return true;
    }
    return false;
}

int dense_solve_singular(double *a, int n, double *x, double cut)
{
    double v[DENSE_SMALL * DENSE_SMALL], b[DENSE_SMALL], largest = 0;
    bool ok = n <= DENSE_SMALL && all_finite(x, (uint64_t)n);
    for (int i = 0; i < n && ok; i++) {
        ok = all_finite(a + i * n, (uint64_t)i + 1);
        for (int j = 0; j < i; j++)
            a[j * n + i] = a[i * n + j];
    }
    ok = ok && diagonalise(a, v, n);
    if (ok)
        memcpy(b, x, (size_t)n * sizeof *b);
    memset(x, 0, (size_t)n * sizeof *x);
    if (!ok)
        return -1;
    for (int k = 0; k < n; k++)
        largest = fmax(largest, fabs(a[k * n + k]));
    int rank = 0;
    for (int k = 0; k < n; k++) {
        const double *vector = v + k * n, value = a[k * n + k];
        double along = 0;
        if (!(fabs(value) > cut * largest))
            continue;
        for (int i = 0; i < n; i++)
            along += vector[i] * b[i];
        for (int i = 0; i < n; i++)
            x[i] += along / value * vector[i];
        rank++;
    }
    return rank;
}
