/* chain_held.c - see chain_held.h. */
#include "problem/chain_held.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

/* Marginals, sizes and tags, one behind the other. */
static bool take(chain_held *h, int length, uint64_t nodes, uint64_t edges, uint64_t tags)
{
    const uint64_t bytes = (nodes + edges) * sizeof(double) + ((uint64_t)length + tags) * sizeof(uint16_t);
    bda_error ignored = {0};
    double *piece = mem_resize(NULL, 0, bytes, "marginals", &ignored);
    if (!piece)
        return false;
    const uint16_t *size = (const uint16_t *)(piece + nodes + edges);
    *h = (chain_held){{length, size, size + length}, piece, piece + nodes, nodes, edges, bytes};
    return true;
}

static uint16_t *sizes_of(chain_held *h)
{
    return (uint16_t *)(h->node + h->nodes + h->edges);
}

bool chain_held_open(chain_held *h, const chain_lattice *l)
{
    const uint64_t tags = chain_lattice_tags(l);
    if (!take(h, l->length, chain_lattice_nodes(l), chain_lattice_edges(l), tags))
        return false;
    memcpy(sizes_of(h), l->size, (uint64_t)l->length * sizeof *l->size);
    memcpy(sizes_of(h) + l->length, l->tag, tags * sizeof *l->tag);
    return true;
}

void chain_held_close(chain_held *h)
{
    mem_free(h->node, h->bytes);
    *h = (chain_held){0};
}

bool chain_held_open_at(chain_held *h, int length, const uint16_t *tags)
{
    const uint64_t row = (uint64_t)chain_stride(1), nodes = (uint64_t)length * row, edges = nodes - row;
    if (!take(h, length, nodes, edges, (uint64_t)length))
        return false;
    uint16_t *size = sizes_of(h);
    for (int t = 0; t < length; t++)
        size[t] = 1;
    memcpy(size + length, tags, (uint64_t)length * sizeof *tags);
    for (uint64_t k = 0; k < nodes + edges; k++)
        h->node[k] = k % row == 0;
    return true;
}

double chain_held_distance(const chain_held *h, int stride, const double *p)
{
    const uint16_t *tag = h->lattice.tag;
    const double *mu = h->node;
    double all = 0;
    for (int t = 0; t < h->lattice.length; t++, p += stride) {
        const uint16_t size = h->lattice.size[t];
        double elsewhere = 1;
        for (uint16_t k = 0; k < size; k++) {
            all += fabs(p[tag[k]] - mu[k]);
            elsewhere -= p[tag[k]];
        }
        all += fmax(elsewhere, 0);
        mu += chain_stride(size);
        tag += size;
    }
    return all / h->lattice.length;
}

/* Tags as they were read: below `tags`, those of a token increasing. */
static bool is_lattice(const chain_lattice *l, int tags)
{
    const uint16_t *tag = l->tag;
    for (int t = 0; t < l->length; tag += l->size[t++])
        for (int k = 0; k < l->size[t]; k++)
            if (tag[k] >= tags || (k > 0 && tag[k] <= tag[k - 1]))
                return false;
    return true;
}

void chain_held_state(chain_held *h, int length, int tags, archive *a)
{
    uint64_t many = h->node ? chain_lattice_tags(&h->lattice) : 0, nodes = h->nodes, edges = h->edges;
    ARCHIVE(a, many);
    ARCHIVE(a, nodes);
    ARCHIVE(a, edges);
    if (!archive_has(a, "marginals", many, sizeof(uint16_t)) || !archive_has(a, "marginals", nodes, sizeof(double)) ||
        !archive_has(a, "marginals", edges, sizeof(double)))
        return;
    if (archive_loads(a)) {
        chain_held_close(h);
        if (!take(h, length, nodes, edges, many)) {
            archive_refuse(a, "marginals, for which there is no memory");
            return;
        }
        memset(sizes_of(h), 0, (uint64_t)length * sizeof(uint16_t));
    }
    uint16_t *size = sizes_of(h);
    ARCHIVE_ARRAY(a, size, (uint64_t)length);
    ARCHIVE_ARRAY(a, size + length, many);
    ARCHIVE_ARRAY(a, h->node, nodes + edges);
    if (!archive_loads(a) || a->wrong)
        return;
    bool sound = chain_lattice_tags(&h->lattice) == many;
    for (int t = 0; t < length; t++)
        sound = sound && size[t] > 0;
    if (!sound || chain_lattice_nodes(&h->lattice) != nodes || chain_lattice_edges(&h->lattice) != edges ||
        !is_lattice(&h->lattice, tags))
        archive_refuse(a, "marginals");
}
