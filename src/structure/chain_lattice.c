/* chain_lattice.c - see chain_lattice.h. The sums are those of chain_sum.c with the rows and columns of M that the
 * lattice has, which are gathered to where the edges go. */
#include "structure/chain_lattice.h"

#include "structure/lanes.h"

uint64_t chain_lattice_tags(const chain_lattice *l)
{
    uint64_t all = 0;
    for (int t = 0; t < l->length; t++)
        all += l->size[t];
    return all;
}

uint64_t chain_lattice_nodes(const chain_lattice *l)
{
    uint64_t all = 0;
    for (int t = 0; t < l->length; t++)
        all += (uint64_t)lanes_padded(l->size[t]);
    return all;
}

uint64_t chain_lattice_edges(const chain_lattice *l)
{
    uint64_t all = 0;
    for (int t = 1; t < l->length; t++)
        all += (uint64_t)l->size[t - 1] * (uint64_t)lanes_padded(l->size[t]);
    return all;
}

/* M[i][k] of the tags of two neighbours */
LANES_INLINE void gather_factors(const double *factor, int stride, int before, const uint16_t *tag_before, int size,
                                 const uint16_t *tag, double *restrict M)
{
    const int padded = lanes_padded(size);
    for (int i = 0; i < before; i++, M += padded) {
        const double *row = factor + (int64_t)tag_before[i] * stride;
        for (int k = 0; k < size; k++)
            M[k] = row[tag[k]];
        for (int k = size; k < padded; k++)
            M[k] = 0;
    }
}

/* a = e o (M'before), whole lanes, summing to 1; false: all of it is 0. */
LANES_INLINE bool step_forward(int rows, const double *before, const double *M, int size, const uint16_t *tag,
                               const double *e, double *restrict a, double *inverse)
{
    const int padded = lanes_padded(size);
    double total = 0;
    for (int k = 0; k < padded; k++)
        a[k] = before ? 0 : 1;
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < padded; k++)
            a[k] += before[i] * M[i * padded + k];
    for (int k = 0; k < size; k++) {
        a[k] *= e[tag[k]];
        total += a[k];
    }
    for (int k = size; k < padded; k++)
        a[k] = 0;
    *inverse = 1 / total;
    for (int k = 0; k < size; k++)
        a[k] *= *inverse;
    return total >= DBL_MIN;
}

/* From b of a token to that of the one before; M becomes the marginals of their edge. g: [padded] */
LANES_INLINE void step_backward(int rows, const double *before, int size, const uint16_t *tag, const double *e,
                                double inverse, double *restrict M, double *restrict b, double *restrict g)
{
    const int padded = lanes_padded(size);
    for (int k = 0; k < size; k++)
        g[k] = e[tag[k]] * b[k] * inverse;
    for (int k = size; k < padded; k++)
        g[k] = 0;
    for (int i = 0; i < rows; i++, M += padded) {
        double lane[LANES] = {0};
        for (int k = 0; k < padded; k += LANES)
            for (int j = 0; j < LANES; j++) {
                M[k + j] *= g[k + j];
                lane[j] += M[k + j];
                M[k + j] *= before[i];
            }
        b[i] = lanes_add(lane);
    }
}

/* What is certain is so to the last bit, that sums over it vanish. */
LANES_INLINE void set_certain(int size, double *node, int rows, double *edge)
{
    if (size == 1)
        node[0] = 1;
    if (size == 1 && rows == 1)
        edge[0] = 1;
}

WIDE_VECTORS
bool chain_sum_within(const chain *c, const chain_factors *f, const chain_lattice *l, double *node, double *edge,
                      double *work)
{
    const int stride = lanes_padded(c->tags), last = c->length - 1;
    double *e = work + (int64_t)c->length * stride, *b = e + (int64_t)c->length * stride, *g = b + stride,
           *inverse = g + stride;
    const uint16_t *tag = l->tag;
    double *a = node, *M = edge;
    for (int t = 0; t <= last; t++) {
        const int size = l->size[t], rows = t ? l->size[t - 1] : 0;
        const double *before = t ? a - lanes_padded(rows) : NULL;
        if (t)
            gather_factors(f->forward, stride, rows, tag - rows, size, tag, M);
        if (!step_forward(rows, before, M, size, tag, e + (int64_t)t * stride, a, &inverse[t]))
            return false;
        tag += size;
        a += lanes_padded(size);
        M += rows * lanes_padded(size);
    }
    for (int k = 0; k < stride; k++)
        b[k] = 1;
    for (int t = last; t >= 0; t--) {
        const int size = l->size[t], rows = t ? l->size[t - 1] : 0, padded = lanes_padded(size);
        tag -= size;
        a -= padded;
        M -= rows * padded;
        for (int k = 0; k < size; k++)
            a[k] *= b[k];
        if (t)
            step_backward(rows, a - lanes_padded(rows), size, tag, e + (int64_t)t * stride, inverse[t], M, b, g);
        set_certain(size, a, rows, M);
    }
    return true;
}

/* Numbers of the tags of one token, in the places of a larger set */
LANES_INLINE void widen_row(int size, const uint16_t *tag, const double *x, int to_size, const uint16_t *to_tag,
                            double *restrict to)
{
    const int padded = lanes_padded(to_size);
    if (size == to_size) {
        memcpy(to, x, (size_t)padded * sizeof *to);
        return;
    }
    for (int k = 0; k < padded; k++)
        to[k] = 0;
    for (int k = 0, at = 0; k < size; k++) {
        while (to_tag[at] != tag[k])
            at++;
        to[at] = x[k];
    }
}

void chain_lattice_widen(const chain_lattice *from, const double *node, const double *edge, const chain_lattice *to,
                         double *to_node, double *to_edge)
{
    const uint16_t *tag = from->tag, *to_tag = to->tag;
    for (int t = 0; t < from->length; t++) {
        const int size = from->size[t], to_size = to->size[t], padded = lanes_padded(size),
                  to_padded = lanes_padded(to_size);
        widen_row(size, tag, node, to_size, to_tag, to_node);
        node += padded;
        to_node += to_padded;
        const uint16_t *before = t ? tag - from->size[t - 1] : NULL, *to_before = t ? to_tag - to->size[t - 1] : NULL;
        int row = 0;
        for (int i = 0; t && i < to->size[t - 1]; i++, to_edge += to_padded)
            if (row < from->size[t - 1] && before[row] == to_before[i]) {
                widen_row(size, tag, edge, to_size, to_tag, to_edge);
                edge += padded;
                row++;
            } else {
                memset(to_edge, 0, (size_t)to_padded * sizeof *to_edge);
            }
        tag += size;
        to_tag += to_size;
    }
}

void chain_lattice_expect(const chain_lattice *l, int tags, double scale, const double *node, const double *edge,
                          double *token, double *pair)
{
    const int64_t stride = chain_stride(tags);
    const uint16_t *tag = l->tag;
    for (int k = 0; k < l->size[0]; k++)
        pair[tags * stride + tag[k]] = scale * node[k];
    for (int t = 0; t < l->length; t++, token += stride) {
        const int size = l->size[t], rows = t ? l->size[t - 1] : 0, padded = lanes_padded(size);
        for (int k = 0; k < size; k++)
            token[tag[k]] = scale * node[k];
        for (int i = 0; i < rows; i++, edge += padded) {
            double *to = pair + (tag - rows)[i] * stride;
            for (int k = 0; k < size; k++)
                to[tag[k]] += scale * edge[k];
        }
        node += padded;
        tag += size;
    }
}
