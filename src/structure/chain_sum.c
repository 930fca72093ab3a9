/* chain_sum.c - sums over all tag strings of a chain: forward-backward (Rabiner 1989) with scaling.
 *
 * With e_t[j] = exp(E[t][j] - top_t) and M[i][j] = exp(tr[i][j] - shift), all at most 1,
 *
 *     a_t = e_t o (M'a_{t-1}) / c_t,  c_t such that a_t sums to 1;     b_{t-1} = M (e_t o b_t) / c_t,  b_{L-1} = 1
 *     node_t = a_t o b_t;  edge_t[i][j] = a_t[i] M[i][j] e_{t+1}[j] b_{t+1}[j] / c_{t+1}
 *     log Z = sum_t (top_t + log c_t) + (L - 1) shift.
 *
 * Where transitions differ by at most R, c_t >= e^-R, and b_t[i] / b_t[k] lies between e^-R and e^R, whatever the
 * emissions: what underflows in a_t has a probability below e^(2R - 708). So this is exact to rounding for R <= 300;
 * beyond that (`wide`) the same recursions run on logarithms.
 */
#include "base/vector.h"
#include "structure/chain.h"
#include "structure/lanes.h"

static const double most_range = 300;

uint64_t chain_factors_size(int tags)
{
    return 2 * (uint64_t)tags * (uint64_t)chain_stride(tags);
}

WIDE_VECTORS
void chain_factors_make(chain_factors *f, int tags, const double *transition, double *memory)
{
    const int stride = chain_stride(tags);
    f->forward = memory;
    f->backward = memory + (int64_t)tags * stride;
    double low = transition[0], high = transition[0];
    for (int i = 0; i < tags; i++)
        for (int j = 0; j < tags; j++) {
            double x = transition[(int64_t)i * stride + j];
            low = x < low ? x : low;
            high = x > high ? x : high;
        }
    f->shift = high;
    f->wide = !(high - low <= most_range);
    memset(memory, 0, chain_factors_size(tags) * sizeof *memory);
    for (int i = 0; i < tags; i++) {
        const double *tr = transition + (int64_t)i * stride;
        double *row = f->forward + (int64_t)i * stride;
        for (int j = 0; j < tags; j++)
            row[j] = lanes_exp(tr[j] - high);
        for (int j = 0; j < tags; j++)
            f->backward[(int64_t)j * stride + i] = row[j];
    }
}

uint64_t chain_sum_work(int length, int tags)
{
    return 2 * (uint64_t)(length + 1) * (uint64_t)chain_stride(tags) + (uint64_t)length;
}

/* out[j] = sum_i x[i] M[i][j], four rows of M at a time */
LANES_INLINE void row_times(int tags, int padded, const double *x, const double *M, double *restrict out)
{
    const int stride = padded & -LANES;
    int i = tags % 4;
    for (int j = 0; j < stride; j++)
        out[j] = i ? x[0] * M[j] : 0;
    for (int first = 1; first < i; first++)
        for (int j = 0; j < stride; j++)
            out[j] += x[first] * M[first * stride + j];
    for (; i < tags; i += 4) {
        const double *row = M + (int64_t)i * stride, x0 = x[i], x1 = x[i + 1], x2 = x[i + 2], x3 = x[i + 3];
        for (int j = 0; j < stride; j++)
            out[j] += (x0 * row[j] + x1 * row[stride + j]) + (x2 * row[2 * stride + j] + x3 * row[3 * stride + j]);
    }
}

/* e = exp(E[t] - top), with the transitions of the start for t = 0, and 0 in the padding; returns top */
LANES_INLINE double emission_factors(const chain *c, int t, int padded, double *restrict e)
{
    const int stride = padded & -LANES;
    const double *E = c->emission + (int64_t)t * stride, *start = c->transition + (int64_t)c->tags * stride;
    for (int j = 0; j < stride; j++)
        e[j] = t ? E[j] : E[j] + start[j];
    double top = lanes_max(e, c->tags);
    for (int j = 0; j < stride; j++)
        e[j] = lanes_exp(e[j] - top);
    for (int j = c->tags; j < stride; j++)
        e[j] = 0;
    return top;
}

/* Fills a, e [L][stride] and inverse [L] = 1 / c_t; returns log Z. */
WIDE_VECTORS
static double forward(const chain *c, const chain_factors *f, double *a, double *e, double *inverse)
{
    const int stride = lanes_padded(c->tags);
    double product = 1; /* of c_t: one logarithm for many tokens */
    sum log_z = {0};
    for (int t = 0; t < c->length; t++, a += stride, e += stride) {
        sum_add(&log_z, emission_factors(c, t, stride, e));
        if (t == 0) {
            memcpy(a, e, (size_t)stride * sizeof *a);
        } else {
            sum_add(&log_z, f->shift);
            row_times(c->tags, stride, a - stride, f->forward, a);
            for (int j = 0; j < stride; j++)
                a[j] *= e[j];
        }
        double total = lanes_sum(a, stride);
        inverse[t] = 1 / total;
        for (int j = 0; j < stride; j++)
            a[j] *= inverse[t];
        product *= total;
        if (!(product > 1e-150 && product < 1e150)) { /* c_t itself is at least e^-300 = 1e-131 */
            sum_add(&log_z, log(product));
            product = 1;
        }
    }
    sum_add(&log_z, log(product));
    return sum_value(&log_z);
}

/* b, g: [stride] */
WIDE_VECTORS
static void backward(const chain *c, const chain_factors *f, const double *a, const double *e, const double *inverse,
                     double *node, double *edge, double *restrict b, double *restrict g)
{
    const int stride = lanes_padded(c->tags);
    for (int j = 0; j < stride; j++)
        b[j] = 1;
    for (int t = c->length - 1; t >= 0; t--) {
        const double *at = a + (int64_t)t * stride, *et = e + (int64_t)t * stride;
        if (node)
            for (int j = 0; j < stride; j++)
                node[(int64_t)t * stride + j] = at[j] * b[j];
        if (t == 0)
            break;
        for (int j = 0; j < stride; j++)
            g[j] = et[j] * b[j] * inverse[t];
        for (int i = 0; edge && i < c->tags; i++) {
            const double *row = f->forward + (int64_t)i * stride, before = (at - stride)[i];
            double *restrict out = edge + ((int64_t)(t - 1) * c->tags + i) * stride;
            for (int j = 0; j < stride; j++)
                out[j] = before * row[j] * g[j];
        }
        row_times(c->tags, stride, g, f->backward, b);
    }
}

/* x = x - max x; returns the maximum */
static double subtract_largest(double *x, int n)
{
    double largest = lanes_max(x, n);
    for (int j = 0; j < n; j++)
        x[j] -= largest;
    return largest;
}

/* log sum_j exp(x[j * step] + y[j]) */
static double log_sum(int n, const double *x, int step, const double *y)
{
    double largest = -INFINITY, total = 0;
    for (int j = 0; j < n; j++)
        largest = lanes_larger(x[(int64_t)j * step] + y[j], largest);
    for (int j = 0; j < n; j++)
        total += lanes_exp(x[(int64_t)j * step] + y[j] - largest);
    return largest + log(total);
}

/* The logarithms of a_t, up to a constant for each t; returns log Z. */
static double forward_wide(const chain *c, double *a)
{
    const int stride = chain_stride(c->tags), tags = c->tags;
    const double *tr = c->transition;
    sum log_z = {0};
    for (int t = 0; t < c->length; t++, a += stride) {
        const double *E = c->emission + (int64_t)t * stride;
        for (int j = 0; j < tags; j++)
            a[j] = E[j] + (t ? log_sum(tags, tr + j, stride, a - stride) : tr[(int64_t)tags * stride + j]);
        sum_add(&log_z, subtract_largest(a, tags));
    }
    double total = 0;
    for (int j = 0; j < tags; j++)
        total += lanes_exp((a - stride)[j]);
    sum_add(&log_z, log(total));
    return sum_value(&log_z);
}

static void backward_wide(const chain *c, const double *a, double *node, double *edge, double *b, double *g)
{
    const int stride = chain_stride(c->tags), tags = c->tags;
    for (int j = 0; j < tags; j++)
        b[j] = 0;
    for (int t = c->length - 1; t >= 0; t--) {
        const double *at = a + (int64_t)t * stride, *before = at - stride;
        const double norm = log_sum(tags, at, 1, b);
        for (int j = 0; node && j < stride; j++)
            node[(int64_t)t * stride + j] = j < tags ? lanes_exp(at[j] + b[j] - norm) : 0;
        if (t == 0)
            break;
        for (int j = 0; j < tags; j++)
            g[j] = c->emission[(int64_t)t * stride + j] + b[j];
        for (int i = 0; i < tags; i++)
            b[i] = log_sum(tags, c->transition + (int64_t)i * stride, 1, g);
        const double norm_edges = edge ? log_sum(tags, before, 1, b) : 0;
        for (int i = 0; edge && i < tags; i++) {
            const double *tr = c->transition + (int64_t)i * stride;
            double *out = edge + ((int64_t)(t - 1) * tags + i) * stride;
            for (int j = 0; j < stride; j++)
                out[j] = j < tags ? lanes_exp(before[i] + tr[j] + g[j] - norm_edges) : 0;
        }
        subtract_largest(b, tags);
    }
}

double chain_sum(const chain *c, const chain_factors *f, double *node, double *edge, double *work)
{
    const int stride = chain_stride(c->tags);
    const int64_t rows = (int64_t)c->length * stride;
    double *a = work, *e = a + rows, *b = e + rows, *g = b + stride, *inverse = g + stride;
    double log_z = f->wide ? forward_wide(c, a) : forward(c, f, a, e, inverse);
    if (!node && !edge)
        return log_z;
    if (f->wide)
        backward_wide(c, a, node, edge, b, g);
    else
        backward(c, f, a, e, inverse, node, edge, b, g);
    return log_z;
}
