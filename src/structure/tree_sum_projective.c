/* tree_sum_projective.c - sums over projective trees with one root edge: inside-outside on logarithms, O(n^3).
 *
 * The inside pass is the recursion of tree_projective.c with log-sum-exp in place of max; each tree has exactly one
 * derivation there, so it counts once. The outside pass runs the same recursion in reverse: the derivative of log Z
 * by the logarithm of a part is the probability of that part, and a part hands it on to the ways in which it is made,
 * in proportion to their weights. All terms are positive. The probability of I(h,c) is the marginal of h -> c.
 *
 * Scores are taken relative to the best head of their token, which keeps the logarithms small.
 */
#include "base/vector.h"
#include "structure/lanes.h"
#include "structure/tree.h"

typedef struct chart {
    int n, stride;
    double *right, *left, *edge; /* [n][stride] logarithms, laid out as in tree_projective.c */
    double *p_right, *p_left,
        *p_edge;   /* [n][stride] probabilities; those of (i,j) and (j,i) add up in the first two */
    double *top;   /* [n] best score of a head */
    double *share; /* [n] weights of the ways to make a part */
} chart;

uint64_t tree_sum_projective_work(int n)
{
    return 6 * (uint64_t)n * (uint64_t)lanes_padded(n) + 2 * (uint64_t)n;
}

/* share[k] = exp(x[k] + y[k] - largest); returns log sum_k exp(x[k] + y[k]) and the sum of the shares. */
LANES_INLINE double log_sum(const double *x, const double *y, int count, double *restrict share, double *total)
{
    for (int k = 0; k < count; k++)
        share[k] = x[k] + y[k];
    const double largest = lanes_max(share, count);
    for (int k = 0; k < count; k++)
        share[k] = lanes_exp(share[k] - largest);
    *total = lanes_sum(share, count);
    return largest;
}

LANES_INLINE double score_of(const chart *t, const double *S, int head, int child)
{
    return S[(int64_t)child * (t->n + 1) + head + 1] - t->top[child];
}

WIDE_VECTORS
static void inside(const chart *t, const double *S)
{
    double total, most;
    for (int j = 0; j < t->n; j++) {
        double *right_j = t->right + (int64_t)j * t->stride, *left_j = t->left + (int64_t)j * t->stride;
        double *edge_j = t->edge + (int64_t)j * t->stride;
        right_j[j] = left_j[j] = 0;
        for (int i = j - 1; i >= 0; i--) {
            double *right_i = t->right + (int64_t)i * t->stride, *left_i = t->left + (int64_t)i * t->stride;
            double *edge_i = t->edge + (int64_t)i * t->stride;
            most = log_sum(right_i + i, left_j + i + 1, j - i, t->share, &total);
            const double pair = most + log(total);
            edge_i[j] = pair + score_of(t, S, i, j);
            edge_j[i] = pair + score_of(t, S, j, i);
            most = log_sum(edge_i + i + 1, right_j + i + 1, j - i, t->share, &total);
            right_i[j] = right_j[i] = most + log(total);
            most = log_sum(left_i + i, edge_j + i, j - i, t->share, &total);
            left_i[j] = left_j[i] = most + log(total);
        }
    }
}

/* Hands the probability p of a part on to the pairs (x[k], y[k]) that make it. */
LANES_INLINE void hand_on(double p, const double *x, const double *y, int count, double *share, double *restrict p_x,
                          double *restrict p_y)
{
    if (p == 0)
        return;
    double total;
    log_sum(x, y, count, share, &total);
    const double scale = p / total;
    for (int k = 0; k < count; k++) {
        p_x[k] += share[k] * scale;
        p_y[k] += share[k] * scale;
    }
}

WIDE_VECTORS
static void outside(const chart *t)
{
    const int stride = t->stride;
    for (int j = t->n - 1; j > 0; j--)
        for (int i = 0; i < j; i++) {
            const int64_t row_i = (int64_t)i * stride, row_j = (int64_t)j * stride, count = j - i;
            hand_on(t->p_right[row_i + j] + t->p_right[row_j + i], t->edge + row_i + i + 1, t->right + row_j + i + 1,
                    (int)count, t->share, t->p_edge + row_i + i + 1, t->p_right + row_j + i + 1);
            hand_on(t->p_left[row_i + j] + t->p_left[row_j + i], t->left + row_i + i, t->edge + row_j + i, (int)count,
                    t->share, t->p_left + row_i + i, t->p_edge + row_j + i);
            hand_on(t->p_edge[row_i + j] + t->p_edge[row_j + i], t->right + row_i + i, t->left + row_j + i + 1,
                    (int)count, t->share, t->p_right + row_i + i, t->p_left + row_j + i + 1);
        }
}

/* The root edge to each token: its probability is that of the two halves on its sides. */
static double root_edges(const chart *t, const double *S, double *mu)
{
    const int n = t->n;
    const int64_t last = (int64_t)(n - 1) * t->stride;
    double most = -INFINITY, total = 0;
    for (int r = 0; r < n; r++) {
        t->share[r] = t->left[r] + score_of(t, S, -1, r) + t->right[last + r];
        most = lanes_larger(t->share[r], most);
    }
    for (int r = 0; r < n; r++)
        total += t->share[r] = lanes_exp(t->share[r] - most);
    for (int r = 0; mu && r < n; r++) {
        double p = t->share[r] / total;
        mu[(int64_t)r * (n + 1)] = p;
        t->p_left[r] += p;
        t->p_right[last + r] += p;
    }
    return most + log(total);
}

double tree_sum_projective(int n, const double *S, double *mu, double *work)
{
    const int stride = lanes_padded(n);
    const int64_t cells = (int64_t)n * stride;
    chart t = {n,
               stride,
               work,
               work + cells,
               work + 2 * cells,
               work + 3 * cells,
               work + 4 * cells,
               work + 5 * cells,
               work + 6 * cells,
               work + 6 * cells + n};
    sum log_z = {0};
    for (int c = 0; c < n; c++) {
        const double *row = S + (int64_t)c * (n + 1);
        t.top[c] = row[0];
        for (int h = 1; h <= n; h++)
            t.top[c] = h == c + 1 ? t.top[c] : lanes_larger(row[h], t.top[c]);
        sum_add(&log_z, t.top[c]);
    }
    inside(&t, S);
    if (mu)
        memset(t.p_right, 0, 3 * (size_t)cells * sizeof *work);
    sum_add(&log_z, root_edges(&t, S, mu));
    if (!mu)
        return sum_value(&log_z);
    outside(&t);
    for (int c = 0; c < n; c++) {
        for (int h = 0; h < n; h++)
            mu[(int64_t)c * (n + 1) + h + 1] = h == c ? 0 : t.p_edge[(int64_t)h * stride + c];
    }
    return sum_value(&log_z);
}
