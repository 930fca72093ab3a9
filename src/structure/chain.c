/* chain.c - the best tag string of a chain (Viterbi), and scores of given ones.
 *
 * The forward pass keeps maxima only,
 *
 *     m[t][j] = max_i d[t-1][i] + tr[i][j],     d[t][j] = E[t][j] + cost[t][j] + m[t][j],
 *
 * vectorised over j; back pointers would double its work. On the way back the tag before y_t is the first i for which
 * d[t-1][i] + tr[i][y_t] is m[t][y_t]: the same two numbers are added, so the comparison is exact.
 *
 * Rounded addition is monotone: what the pass computes is the exact maximum over all strings of their scores as
 * chain_score rounds them.
 */
#include "structure/chain.h"

#include "base/vector.h"
#include "structure/lanes.h"

int chain_stride(int tags)
{
    return lanes_padded(tags);
}

uint64_t chain_best_work(int length, int tags)
{
    return 2 * (uint64_t)length * (uint64_t)chain_stride(tags);
}

/* m[j] = max_i d[i] + tr[i][j], four rows of tr at a time, so that m passes through memory seldom */
LANES_INLINE void best_before(int tags, int padded, const double *d, const double *tr, double *restrict m)
{
    const int stride = padded & -LANES; /* tells the compiler that no columns are left over */
    int i = tags % 4;
    if (i == 0)
        for (int j = 0; j < stride; j++)
            m[j] = -INFINITY;
    else
        for (int j = 0; j < stride; j++)
            m[j] = d[0] + tr[j];
    for (int first = 1; first < i; first++)
        for (int j = 0; j < stride; j++)
            m[j] = lanes_larger(d[first] + tr[first * stride + j], m[j]);
    for (; i < tags; i += 4) {
        const double *row = tr + (int64_t)i * stride, d0 = d[i], d1 = d[i + 1], d2 = d[i + 2], d3 = d[i + 3];
        for (int j = 0; j < stride; j++) {
            double a = lanes_larger(d0 + row[j], d1 + row[stride + j]);
            double b = lanes_larger(d2 + row[2 * stride + j], d3 + row[3 * stride + j]);
            m[j] = lanes_larger(lanes_larger(a, b), m[j]);
        }
    }
}

WIDE_VECTORS
static void viterbi_forward(const chain *c, const uint16_t *gold, double *m, double *d)
{
    const int stride = lanes_padded(c->tags);
    const double cost = gold ? 1 : 0;
    for (int t = 0; t < c->length; t++, m += stride, d += stride) {
        const double *e = c->emission + (int64_t)t * stride;
        if (t == 0)
            memcpy(m, c->transition + (int64_t)c->tags * stride, (size_t)stride * sizeof *m);
        else
            best_before(c->tags, stride, d - stride, c->transition, m);
        for (int j = 0; j < stride; j++)
            d[j] = (e[j] + cost) + m[j];
        if (gold)
            d[gold[t]] = e[gold[t]] + m[gold[t]];
    }
}

double chain_best(const chain *c, const uint16_t *gold, uint16_t *tags, double *work)
{
    const int stride = chain_stride(c->tags), last = c->length - 1;
    double *m = work, *d = work + (int64_t)c->length * stride;
    viterbi_forward(c, gold, m, d);
    const double *row = d + (int64_t)last * stride;
    int y = 0;
    for (int j = 1; j < c->tags; j++)
        y = row[j] > row[y] ? j : y;
    tags[last] = (uint16_t)y;
    const double best = row[y];
    for (int t = last; t > 0; t--) {
        const double *before = d + (int64_t)(t - 1) * stride, sought = m[(int64_t)t * stride + y];
        const double *tr = c->transition + y;
        int i = 0;
        while (i < c->tags - 1 && before[i] + tr[(int64_t)i * stride] != sought)
            i++;
        tags[t - 1] = (uint16_t)i;
        y = i;
    }
    return best;
}

double chain_score(const chain *c, const uint16_t *tags, const uint16_t *gold)
{
    const int stride = chain_stride(c->tags);
    double score = 0;
    for (int t = 0; t < c->length; t++) {
        const double *tr = c->transition + (int64_t)(t ? tags[t - 1] : c->tags) * stride;
        double cost = gold && tags[t] != gold[t];
        double before = t ? score + tr[tags[t]] : tr[tags[t]];
        score = (c->emission[(int64_t)t * stride + tags[t]] + cost) + before;
    }
    return score;
}

double chain_difference(const chain *c, const uint16_t *a, const uint16_t *b)
{
    const int stride = chain_stride(c->tags);
    sum s = {0};
    int from_a = c->tags, from_b = c->tags;
    for (int t = 0; t < c->length; t++) {
        if (a[t] != b[t]) {
            const double *e = c->emission + (int64_t)t * stride;
            sum_add(&s, e[a[t]]);
            sum_add(&s, -e[b[t]]);
        }
        if (a[t] != b[t] || from_a != from_b) {
            sum_add(&s, c->transition[(int64_t)from_a * stride + a[t]]);
            sum_add(&s, -c->transition[(int64_t)from_b * stride + b[t]]);
        }
        from_a = a[t];
        from_b = b[t];
    }
    return sum_value(&s);
}

int chain_wrong(int length, const uint16_t *tags, const uint16_t *gold)
{
    int wrong = 0;
    for (int t = 0; t < length; t++)
        wrong += tags[t] != gold[t];
    return wrong;
}
