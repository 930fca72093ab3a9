/* edge.h - the features of an edge from a head to a child, for parsing: the templates of McDonald, Crammer and Pereira
 * (2005) with direction and distance, fine tags, and more of what is around and between. */
#ifndef SENTENCE_EDGE_H
#define SENTENCE_EDGE_H

#include "sentence/corpus.h"
#include "sentence/words.h"

enum { EDGE_FINE = 1, EDGE_EXTRA = 2 }; /* groups beside the basic one */

/* Where the tags of CoNLL-U come from. */
typedef struct edge_scheme {
    uint32_t groups;
    int tag;    /* column: UPOS, or XPOS where UPOS says nothing */
    int fine;   /* with EDGE_FINE: XPOS; or UPOS, together with FEATS */
    bool feats; /* fine tags have FEATS added */
} edge_scheme;

/* A token as its features see it: hashes of strings, and the number of its tags among those of the sentence. */
typedef struct edge_token {
    uint64_t word, stem; /* stem: the first five code points of a longer word, else the word */
    uint64_t tag, fine;
    uint16_t tag_number, fine_number;
    bool longer, punctuation;
} edge_token;

/* Room of one thread for the sentence it is at. Zeroed at first. */
typedef struct edge_view {
    int n;
    edge_token *token; /* [n + 3]: in front of all, the root, the tokens, behind all */
    uint64_t most;     /* keys of an edge of this sentence */
    /* Tags between the child and the heads that are walked past: how many of each, and the distinct ones. */
    uint32_t *tag_count, *fine_count;
    uint64_t *tags, *fines;
    int distinct_tags, distinct_fines, punctuation;
    uint64_t room;
    arena memory;
} edge_view;

bool edge_look(const edge_scheme *s, edge_view *v, const corpus *c, const word *words, uint64_t sentence,
               bda_error *err);

/* The keys of the edges from all heads to the child, a token 1 .. n: those of head h are key[begin[h]] up to
 * key[end[h]]; none for h = child. key: [n * most], begin, end: [n + 1] */
void edge_keys_of_child(const edge_scheme *s, edge_view *v, int child, uint64_t *key, uint32_t *begin, uint32_t *end);
/* The keys of one edge; returns how many. */
uint64_t edge_keys(const edge_scheme *s, edge_view *v, int child, int head, uint64_t *key);
void edge_view_free(edge_view *v);

#endif
