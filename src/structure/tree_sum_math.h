/* tree_sum_math.h - elimination of states and its derivatives, see tree_sum.c; written once for REAL double and long
 * double, with SUFFIX in the names. No include guard: it is included for each. */

/* y[j] += a x[j] */
LANES_INLINE void NAME(add)(REAL *restrict y, REAL a, const REAL *restrict x, int n)
{
    for (int j = 0; j < n; j++)
        y[j] += a * x[j];
}

/* Four rows of q at once: q[i][j] += q[i][k] p[j] */
LANES_INLINE void NAME(eliminate)(int stride, int k, REAL *q, const REAL *restrict p)
{
    int i = 0;
    for (; i + 4 <= k; i += 4) {
        REAL *restrict q0 = q + (int64_t)i * stride, *restrict q1 = q0 + stride, *restrict q2 = q1 + stride;
        REAL *restrict q3 = q2 + stride;
        const REAL a0 = q0[k], a1 = q1[k], a2 = q2[k], a3 = q3[k];
        for (int j = 0; j < k; j++) {
            q0[j] += a0 * p[j];
            q1[j] += a1 * p[j];
            q2[j] += a2 * p[j];
            q3[j] += a3 * p[j];
        }
    }
    for (; i < k; i++)
        NAME(add)(q + (int64_t)i * stride, q[(int64_t)i * stride + k], p, k);
}

/* q: [n][stride] rates, in place; outflow: S [n]; pi: [n]; p: [n]. Returns sum_r root[r] pi[r]. */
WIDE_VECTORS
static REAL NAME(forward)(int n, int stride, REAL *q, const REAL *root, REAL *outflow, REAL *pi, REAL *p)
{
    for (int k = n - 1; k > 0; k--) {
        const REAL *row = q + (int64_t)k * stride;
        REAL total = 0;
        for (int j = 0; j < k; j++)
            total += row[j];
        outflow[k] = total;
        for (int j = 0; j < k; j++)
            p[j] = row[j] / total;
        NAME(eliminate)(stride, k, q, p);
    }
    REAL trees = root[0];
    pi[0] = 1;
    for (int k = 1; k < n; k++) {
        REAL total = 0;
        for (int i = 0; i < k; i++)
            total += pi[i] * q[(int64_t)i * stride + k];
        pi[k] = total / outflow[k];
        trees += root[k] * pi[k];
    }
    return trees;
}

/* out[j] += a d[j] and returns d'p, for one row d of derivatives */
LANES_INLINE REAL NAME(pull)(REAL *restrict out, REAL a, const REAL *restrict d, const REAL *restrict p, int n)
{
    REAL lane[LANES] = {0};
    int whole = n / LANES * LANES;
    for (int j = 0; j < whole; j += LANES)
        for (int b = 0; b < LANES; b++) {
            out[j + b] += a * d[j + b];
            lane[b] += d[j + b] * p[j + b];
        }
    for (int j = whole; j < n; j++) {
        out[j] += a * d[j];
        lane[j - whole] += d[j] * p[j];
    }
    return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

/* The derivatives d [n][stride], zero before, of log sum_r root[r] pi[r] + sum_k log outflow[k] with respect to the
 * rates; q, outflow, pi, trees: as forward left them. dpi, p, dp: [n]. */
WIDE_VECTORS
static void NAME(reverse)(int n, int stride, const REAL *q, const REAL *root, const REAL *outflow, const REAL *pi,
                          REAL trees, REAL *d, REAL *dpi, REAL *p, REAL *dp)
{
    for (int k = 0; k < n; k++)
        dpi[k] = root[k] / trees;
    for (int k = n - 1; k > 0; k--) {
        const REAL slope = dpi[k] / outflow[k];
        for (int i = 0; i < k; i++) {
            dpi[i] += slope * q[(int64_t)i * stride + k];
            d[(int64_t)i * stride + k] = slope * pi[i];
        }
    }
    for (int k = 1; k < n; k++) {
        const REAL *row = q + (int64_t)k * stride;
        REAL *drow = d + (int64_t)k * stride, total = 0;
        for (int j = 0; j < k; j++) {
            p[j] = row[j] / outflow[k];
            dp[j] = 0;
        }
        for (int i = 0; i < k; i++)
            d[(int64_t)i * stride + k] += NAME(pull)(dp, q[(int64_t)i * stride + k], d + (int64_t)i * stride, p, k);
        for (int j = 0; j < k; j++)
            total += dp[j] * p[j];
        /* outflow[k] enters log Z itself, pi[k] and p */
        const REAL slope = (1 - dpi[k] * pi[k] - total) / outflow[k];
        for (int j = 0; j < k; j++)
            drow[j] += dp[j] / outflow[k] + slope;
    }
}
