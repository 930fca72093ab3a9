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
#include "structure/chain_lattice.h"
#include "structure/lanes.h"

#define CHUNK (16 * LANES) /* numbers that are added up without compensation */

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
double chain_entropy(const chain_lattice *l, const double *node, const double *edge)
{
    const int last = l->length - 1;
    const int64_t nodes = (int64_t)chain_lattice_nodes(l) - lanes_padded(l->size[last]);
    sum h = {0};
    sum_add(&h, -negative_entropy(node, lanes_padded(l->size[0])));
    for (int64_t at = 0; at < nodes; at += CHUNK)
        sum_add(&h, negative_entropy(node + at, (int)(nodes - at < CHUNK ? nodes - at : CHUNK)));
    const int64_t edges = (int64_t)chain_lattice_edges(l);
    for (int64_t at = 0; at < edges; at += CHUNK)
        sum_add(&h, -negative_entropy(edge + at, (int)(edges - at < CHUNK ? edges - at : CHUNK)));
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

/* exp(x[j]) / (sum of them) to p, and the logarithm of that sum */
LANES_INLINE void normalise(int tags, const double *x, double *restrict p, double *largest, double *log_sum)
{
    const int stride = lanes_padded(tags);
    *largest = lanes_max(x, tags);
    for (int j = 0; j < stride; j++)
        p[j] = lanes_exp(x[j] - *largest);
    for (int j = tags; j < stride; j++)
        p[j] = 0;
    const double total = lanes_sum(p, stride), inverse = 1 / total;
    *log_sum = log(total);
    for (int j = 0; j < stride; j++)
        p[j] *= inverse;
}

/* KL of the distribution q[j] * scale, over the strings' own tags, from p[j] = exp(x[j] - shift); p is used up. */
LANES_INLINE double row_divergence(int tags, int size, const uint16_t *tag, const double *q, double scale,
                                   const double *x, double shift, double *restrict p)
{
    for (int k = 0; k < size; k++) {
        const int j = tag[k];
        p[j] = divergence_term(q[k] * scale, p[j], x[j] - shift);
    }
    return lanes_sum(p, lanes_padded(tags)); /* where q is 0, the term is p */
}

uint64_t chain_divergence_work(int tags)
{
    return 4 * (uint64_t)chain_stride(tags);
}

WIDE_VECTORS
double chain_divergence(const chain *c, const chain_lattice *l, const double *node, const double *edge, double *work)
{
    const int stride = lanes_padded(c->tags);
    double *b = work, *restrict g = b + stride, *restrict x = g + stride, *p = x + stride, largest, log_sum;
    const uint16_t *tag = l->tag + chain_lattice_tags(l);
    const double *mass = node + chain_lattice_nodes(l);
    edge += chain_lattice_edges(l);
    sum kl = {0};
    for (int j = 0; j < stride; j++)
        b[j] = 0;
    mass -= lanes_padded(l->size[c->length - 1]);
    for (int t = c->length - 1; t > 0; t--) {
        const int size = l->size[t], rows = l->size[t - 1], padded = lanes_padded(size);
        tag -= size;
        edge -= rows * padded;
        mass -= lanes_padded(rows);
        for (int j = 0; j < stride; j++)
            g[j] = c->emission[(int64_t)t * stride + j] + b[j];
        const double top = lanes_max(g, c->tags); /* keeps b small over long chains */
        for (int i = 0, row = 0; i < c->tags; i++) {
            const double *tr = c->transition + (int64_t)i * stride;
            for (int j = 0; j < stride; j++)
                x[j] = tr[j] + (g[j] - top);
            normalise(c->tags, x, p, &largest, &log_sum);
            b[i] = largest + log_sum;
            if (row == rows || (tag - rows)[row] != i)
                continue;
            const double *q = edge + row * padded, scale = 1 / mass[row];
            if (scale < INFINITY) /* otherwise there is no such row */
                sum_add(&kl, mass[row] * row_divergence(c->tags, size, tag, q, scale, x, b[i], p));
            row++;
        }
    }
    for (int j = 0; j < stride; j++)
        x[j] = c->transition[(int64_t)c->tags * stride + j] + c->emission[j] + b[j];
    normalise(c->tags, x, p, &largest, &log_sum);
    sum_add(&kl, row_divergence(c->tags, l->size[0], l->tag, node, 1, x, largest + log_sum, p));
    return sum_value(&kl);
}
