/* tree_sum.c - sums over all trees with one root edge, by elimination of states.
 *
 * Let the edges h -> c be rates q[c][h] = exp(S[c][h] - top_c) from state c to state h, without the root. By the
 * Markov chain tree theorem the trees below token r weigh tau_r = tau_1 pi_r, pi the stationary distribution with
 * pi_1 = 1, and tau_1 is the product of the outflows met while states are eliminated. Elimination in the form of
 * Grassmann, Taksar and Heyman (1985) adds, multiplies and divides positive numbers only, so no digits cancel, where
 * the determinant of the matrix-tree theorem loses all of them once scores differ by 40:
 *
 *     for k = n .. 2:   S_k = sum_{j<k} q[k][j];   q[i][j] += q[i][k] q[k][j] / S_k   for i, j < k
 *     for k = 2 .. n:   pi_k = sum_{i<k} pi_i q[i][k] / S_k
 *     log Z = sum_c top_c + sum_k log S_k + log sum_r exp(S[r][0] - top_r) pi_r.
 *
 * The marginals are the derivatives of log Z by S, by these loops in reverse (2/3 n^3 more multiplications). The
 * diagonal of q fills with numbers that nothing reads.
 *
 * If the scores of a token's heads differ by at most R, then S_k >= e^-R and e^-2R <= pi_k <= e^2R: doubles do for
 * R <= 150. Beyond that the same loops run in long double, whose exponents last for R = 2500, and scores further
 * below the best head of their token are lifted to that.
 */
#include "base/vector.h"
#include "structure/lanes.h"
#include "structure/tree.h"

static const double most_range = 150, most_range_wide = 2500;

#define JOIN(a, b) a##_##b
#define REAL double
#define NAME(x) JOIN(x, double)
#include "structure/tree_sum_math.h"
#undef REAL
#undef NAME
#define REAL long double
#define NAME(x) JOIN(x, wide)
#include "structure/tree_sum_math.h"

uint64_t tree_sum_any_work(int n)
{
    uint64_t numbers = 2 * (uint64_t)n * (uint64_t)lanes_padded(n) + 6 * (uint64_t)n;
    return numbers * (sizeof(long double) / sizeof(double)) + (uint64_t)n + 2; /* 2: to align long doubles */
}

/* The best score over other tokens as heads; *range is widened to the distance of the worst. */
static double top_of(int n, const double *row, int c, double *range)
{
    double high = -INFINITY, low = INFINITY;
    for (int h = 0; h < n; h++)
        if (h != c) {
            high = row[h + 1] > high ? row[h + 1] : high;
            low = row[h + 1] < low ? row[h + 1] : low;
        }
    *range = high - low <= *range ? *range : high - low;
    return high;
}

WIDE_VECTORS
static void rates_double(int n, int stride, const double *S, const double *top, double *restrict q)
{
    for (int c = 0; c < n; c++)
        for (int h = 0; h < n; h++)
            q[(int64_t)c * stride + h] = lanes_exp(S[(int64_t)c * (n + 1) + h + 1] - top[c]);
}

static double sum_double(int n, const double *S, const double *top, double shift, double *mu, double *work)
{
    const int stride = lanes_padded(n);
    const int64_t cells = (int64_t)n * stride;
    double *q = work, *d = q + cells, *root = d + cells, *outflow = root + n, *pi = outflow + n, *dpi = pi + n;
    double *p = dpi + n, *dp = p + n;
    rates_double(n, stride, S, top, q);
    for (int c = 0; c < n; c++)
        root[c] = lanes_exp(S[(int64_t)c * (n + 1)] - top[c] - shift);
    const double trees = forward_double(n, stride, q, root, outflow, pi, p);
    sum log_z = {shift, 0};
    for (int c = 0; c < n; c++) {
        sum_add(&log_z, top[c]);
        sum_add(&log_z, c ? log(outflow[c]) : log(trees));
    }
    if (mu) {
        memset(d, 0, (size_t)cells * sizeof *d);
        reverse_double(n, stride, q, root, outflow, pi, trees, d, dpi, p, dp);
        rates_double(n, stride, S, top, q);
        for (int c = 0; c < n; c++) {
            double *out = mu + (int64_t)c * (n + 1);
            out[0] = root[c] / trees * pi[c];
            for (int h = 0; h < n; h++)
                out[h + 1] = h == c ? 0 : fmax(0, q[(int64_t)c * stride + h] * d[(int64_t)c * stride + h]);
        }
    }
    return sum_value(&log_z);
}

static long double rate_wide(const double *S, int n, int c, int h, double top)
{
    return expl(fmax(S[(int64_t)c * (n + 1) + h + 1] - top, -most_range_wide));
}

static double sum_wide(int n, const double *S, const double *top, double shift, double *mu, double *work)
{
    const int stride = lanes_padded(n);
    const int64_t cells = (int64_t)n * stride;
    uintptr_t rest = (uintptr_t)work % sizeof(long double);
    long double *q = (long double *)((char *)work + (rest ? sizeof(long double) - rest : 0)), *d = q + cells;
    long double *root = d + cells, *outflow = root + n, *pi = outflow + n, *dpi = pi + n, *p = dpi + n, *dp = p + n;
    for (int c = 0; c < n; c++) {
        root[c] = expl(S[(int64_t)c * (n + 1)] - top[c] - shift);
        for (int h = 0; h < n; h++)
            q[(int64_t)c * stride + h] = h == c ? 0 : rate_wide(S, n, c, h, top[c]);
    }
    const long double trees = forward_wide(n, stride, q, root, outflow, pi, p);
    sum log_z = {shift, 0};
    for (int c = 0; c < n; c++) {
        sum_add(&log_z, top[c]);
        sum_add(&log_z, (double)(c ? logl(outflow[c]) : logl(trees)));
    }
    if (mu) {
        memset(d, 0, (size_t)cells * sizeof *d);
        reverse_wide(n, stride, q, root, outflow, pi, trees, d, dpi, p, dp);
        for (int c = 0; c < n; c++) {
            double *out = mu + (int64_t)c * (n + 1);
            out[0] = (double)(root[c] / trees * pi[c]);
            for (int h = 0; h < n; h++)
                out[h + 1] =
                    h == c ? 0 : fmax(0, (double)(rate_wide(S, n, c, h, top[c]) * d[(int64_t)c * stride + h]));
        }
    }
    return sum_value(&log_z);
}

double tree_sum_any(int n, const double *S, double *mu, double *work)
{
    if (n == 1) {
        if (mu) {
            mu[0] = 1;
            mu[1] = 0;
        }
        return S[0];
    }
    double *top = work, range = 0, shift = -INFINITY;
    for (int c = 0; c < n; c++) {
        top[c] = top_of(n, S + (int64_t)c * (n + 1), c, &range);
        shift = fmax(shift, S[(int64_t)c * (n + 1)] - top[c]);
    }
    return range <= most_range ? sum_double(n, S, top, shift, mu, work + n)
                               : sum_wide(n, S, top, shift, mu, work + n);
}
