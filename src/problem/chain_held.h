/* chain_held.h - a distribution over the tags of a sentence as a block of a CRF holds it: marginals of the tags that are
 * not next to impossible, on a lattice (structure/chain_lattice.h), in one piece of memory of its own. */
#ifndef PROBLEM_CHAIN_HELD_H
#define PROBLEM_CHAIN_HELD_H

#include "base/archive.h"
#include "structure/chain_lattice.h"

typedef struct chain_held {
    chain_lattice lattice;
    double *node, *edge;   /* in one array: edges behind nodes */
    uint64_t nodes, edges; /* numbers */
    uint64_t bytes;        /* of the piece */
} chain_held;

/* Room for marginals on this lattice, which is copied; they are not set. False: no memory. */
bool chain_held_open(chain_held *h, const chain_lattice *l);
void chain_held_close(chain_held *h);

/* All on one string. */
bool chain_held_open_at(chain_held *h, int length, const uint16_t *tags);

static inline uint64_t chain_held_numbers(const chain_held *h)
{
    return h->nodes + h->edges;
}

/* The tags of `l` that are not those of h: are there any? l has all of h's. */
static inline bool chain_held_misses(const chain_held *h, const chain_lattice *l)
{
    return chain_lattice_tags(l) != chain_lattice_tags(&h->lattice);
}

/* sum |p - mu| over the tags of a token, on average; p: [length][stride] probabilities of all tags */
double chain_held_distance(const chain_held *h, int stride, const double *p);

/* Of a sentence of this length; see base/archive.h. */
void chain_held_state(chain_held *h, int length, int tags, archive *a);

#endif
