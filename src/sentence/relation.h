/* relation.h - the features of an edge of a finished tree, for the relation between its ends (DEPREL): words and tags
 * of both, and what the tree shows: the child's own children, its siblings, the head's head. */
#ifndef SENTENCE_RELATION_H
#define SENTENCE_RELATION_H

#include "sentence/edge.h"

/* A sentence with its tree. */
typedef struct relation_view {
    edge_view edge; /* its tokens */
    const corpus *corpus;
    const word *words;
    uint64_t first;
    const uint16_t *heads;
    uint16_t *child, *next; /* first child of each token and of the root; next sibling; 0: none */
    uint64_t room;
    uint64_t most; /* keys of an edge of this sentence */
    arena memory;
} relation_view;

/* heads: a tree, [tokens of the sentence]. */
bool relation_look(const edge_scheme *s, relation_view *v, const corpus *c, const word *words, uint64_t sentence,
                   const uint16_t *heads, bda_error *err);
/* The keys of the edge to token t + 1; at most v->most. Some may be equal. */
uint64_t relation_keys(const relation_view *v, uint64_t t, uint64_t *key);
void relation_view_free(relation_view *v);

#endif
