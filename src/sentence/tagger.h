/* tagger.h - the tags of a sentence by a model. */
#ifndef SENTENCE_TAGGER_H
#define SENTENCE_TAGGER_H

#include "sentence/dictionary.h"
#include "sentence/tag.h"
#include "structure/chain.h"

typedef struct tagger {
    const tag_scheme *scheme;
    key_table table;
    float *value;       /* [columns] of a feature: 1/sqrt(m) where it shares its column with m - 1 others */
    const double *w;    /* [columns][tags], then transitions [tags + 1][tags] by the tag before */
    double *transition; /* [tags + 1][stride] */
    int tags, stride;
    chain_factors factors; /* where probabilities are wanted */
} tagger;

/* What a model knows: keys in increasing order and their columns, and weights. */
typedef struct tagger_model {
    const tag_scheme *scheme;
    const uint64_t *key;
    const uint32_t *column;
    uint64_t features, columns;
    const double *w;
    int tags;
} tagger_model;

/* The arrays of m stay the caller's. */
bool tagger_open(tagger *g, const tagger_model *m, bool probabilities, arena *memory, bda_error *err);

/* Room of one thread. Zeroed at first. */
typedef struct tagger_room {
    tag_view view;
    uint64_t length; /* there is room for */
    uint64_t *key;
    uint32_t *column;
    double *emission, *node, *work;
    arena memory;
} tagger_room;

/* tags, probability: [tokens of the sentence]; probability: of the tag chosen, NULL where it is not wanted. */
bool tagger_tag(const tagger *g, tagger_room *r, const corpus *c, const word *words, uint64_t sentence,
                uint16_t *tags, double *probability, bda_error *err);
void tagger_room_free(tagger_room *r);

#endif
