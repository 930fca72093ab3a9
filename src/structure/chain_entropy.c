/* chain_entropy.c - entropy of a chain given by its marginals, and its divergence from the chain of given scores.
 *
 * A chain is a first tag and conditional tags, so with 0 log 0 = 0
 *
 *     H(mu)      = H(node_0) + sum_t (H(edge_t) - H(node_t))
 *     KL(mu | p) = KL(node_0 | p) + sum_t sum_i node_t[i] KL(mu(. | y_t = i) | p(. | y_t = i)).
 *
 * The conditional distributions q | p are compared by terms q log(q/p) - q + p >= 0, whose last two parts cancel in
 * the sum. With q = p (1 + x) a term is p ((1 + x) log(1 + x) - x); where x is small, this is its series
 * p (x^2/2 - x^3/6 + x^4/12 - ...), so that a small divergence keeps its digits.
 *
 * log p(y_{t+1} = j | y_t = i) = tr[i][j] + E[t+1][j] + B[t+1][j] - log of the sum over j, and that sum is
 * exp(B[t][i]): the backward recursion on logarithms, which neither overflows nor vanishes.
 */
#include "base/vector.h"
#include "structure/chain.h"
#include "structure/lanes.h"

/* sum_j x_j log x_j */
LANES_INLINE double negative_entropy(const double *x, int n)
{
    double lane[LANES] = {0};
    for (int j = 0; j < n; j += LANES)
        for (int a = 0; a < LANES; a++)
            lane[a] += x[j + a] * lanes_log(x[j + a]);
    return lanes_add(lane);
}

WIDE_VECTORS
double chain_entropy(int length, int tags, const double *node, const double *edge)
{
    const int stride = lanes_padded(tags);
    sum h = {0};
    sum_add(&h, -negative_entropy(node, stride));
    for (int t = 0; t + 1 < length; t++) {
        sum_add(&h, negative_entropy(node + (int64_t)t * stride, stride));
        for (int i = 0; i < tags; i++)
            sum_add(&h, -negative_entropy(edge + ((int64_t)t * tags + i) * stride, stride));
    }
    return sum_value(&h);
}

/* q log(q/p) - q + p */
LANES_INLINE double divergence_term(double q, double p, double log_p)
{
    double d = q - p, x = d / p;
    double series = 1 / 90.0;
    series = 1 / 72.0 - x * series;
    series = 1 / 56.0 - x * series;
    series = 1 / 42.0 - x * series;
    series = 1 / 30.0 - x * series;
    series = 1 / 20.0 - x * series;
    series = 1 / 12.0 - x * series;
    series = 1 / 6.0 - x * series;
    series = 0.5 - x * series;
    double near = d * x * series, far = q * (lanes_log(q) - log_p) - d;
    far = far < 0 ? 0 : far;
    return fabs(d) < p / 64 ? near : far;
}

/* KL of the distribution q[j] * scale from p[j] = exp(x[j]) / (sum of them), and the logarithm of that sum;
 * e: [stride] */
LANES_INLINE double row_divergence(int tags, const double *q, double scale, const double *x, double *restrict e,
                                   double *log_total)
{
    const double largest = lanes_max(x, tags);
    const int stride = lanes_padded(tags);
    for (int j = 0; j < stride; j++)
        e[j] = lanes_exp(x[j] - largest);
    for (int j = tags; j < stride; j++)
        e[j] = 0;
    const double total = lanes_sum(e, stride), inverse = 1 / total, log_sum = log(total);
    *log_total = largest + log_sum;
    if (!(scale < INFINITY)) /* no such row */
        return 0;
    for (int j = 0; j < tags; j++)
        e[j] = divergence_term(q[j] * scale, e[j] * inverse, x[j] - largest - log_sum);
    return lanes_sum(e, stride);
}

uint64_t chain_divergence_work(int tags)
{
    return 4 * (uint64_t)chain_stride(tags);
}

WIDE_VECTORS
double chain_divergence(const chain *c, const double *node, const double *edge, double *work)
{
    const int stride = lanes_padded(c->tags);
    double *b = work, *restrict g = b + stride, *restrict x = g + stride, *e = x + stride, unused;
    sum kl = {0};
    for (int j = 0; j < stride; j++)
        b[j] = 0;
    for (int t = c->length - 1; t > 0; t--) {
        const double *mass = node + (int64_t)(t - 1) * stride;
        for (int j = 0; j < stride; j++)
            g[j] = c->emission[(int64_t)t * stride + j] + b[j];
        const double top = lanes_max(g, c->tags); /* keeps b small over long chains */
        for (int i = 0; i < c->tags; i++) {
            const double *tr = c->transition + (int64_t)i * stride;
            for (int j = 0; j < stride; j++)
                x[j] = tr[j] + (g[j] - top);
            const double *q = edge + ((int64_t)(t - 1) * c->tags + i) * stride;
            sum_add(&kl, mass[i] * row_divergence(c->tags, q, 1 / mass[i], x, e, &b[i]));
        }
    }
    for (int j = 0; j < stride; j++)
        x[j] = c->transition[(int64_t)c->tags * stride + j] + c->emission[j] + b[j];
    sum_add(&kl, row_divergence(c->tags, node, 1, x, e, &unused));
    return sum_value(&kl);
}
