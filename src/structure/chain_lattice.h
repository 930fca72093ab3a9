/* chain_lattice.h - chains with some of the tags of each token alone.
 *
 * Of most tokens a model is nearly sure: a distribution over the strings of a lattice is held in far fewer numbers than
 * one over all strings. Its marginals are nodes, padded_t numbers a token with size_t of them in use, and edges, [size_t-1]
 * [padded_t] numbers for each token but the first; padded_t is size_t rounded up to whole lanes, and the padding is 0.
 * The lattice of all tags has the layout of chain_sum.
 *
 * All is local: no memory is taken, `work` is the caller's, and bits depend on the arguments alone. */
#ifndef STRUCTURE_CHAIN_LATTICE_H
#define STRUCTURE_CHAIN_LATTICE_H

#include "structure/chain.h"

typedef struct chain_lattice {
    int length;
    const uint16_t *size; /* [length] how many tags a token has, at least one */
    const uint16_t *tag;  /* [sum of sizes] those of a token increase */
} chain_lattice;

uint64_t chain_lattice_tags(const chain_lattice *l);  /* the sum of sizes */
uint64_t chain_lattice_nodes(const chain_lattice *l); /* numbers of the nodes */
uint64_t chain_lattice_edges(const chain_lattice *l); /* numbers of the edges */

/* The marginals of p, given that its string is one of the lattice; `work` is as chain_sum left it for the same c and f,
 * and not f->wide. False: all strings of the lattice are so improbable that they cannot be told from 0. */
bool chain_sum_within(const chain *c, const chain_factors *f, const chain_lattice *l, double *node, double *edge,
                      double *work);

/* The same marginals in the layout of a lattice that has all of these tags: to is 0 where `from` has nothing. */
void chain_lattice_widen(const chain_lattice *from, const double *node, const double *edge, const chain_lattice *to,
                         double *to_node, double *to_edge);

/* token [L][stride] and pair [T+1][stride], both 0, = scale times the expected tags of tokens, and of pairs of neighbours
 * by the tag before, row T: the first. */
void chain_lattice_expect(const chain_lattice *l, int tags, double scale, const double *node, const double *edge,
                          double *token, double *pair);

/* The entropy of the chain with these marginals, H(node_0) + sum_t (H(edge_t) - H(node_t)). */
double chain_entropy(const chain_lattice *l, const double *node, const double *edge);

/* KL(mu | p) = sum_y mu(y) log(mu(y) / p(y)) of the chain mu with these marginals against the p of c, over all strings:
 * a sum of terms that are each at least 0, accurate however close mu is to p. O(L T^2), with an exponential and a
 * logarithm for each edge. */
double chain_divergence(const chain *c, const chain_lattice *l, const double *node, const double *edge, double *work);
uint64_t chain_divergence_work(int tags);

#endif
