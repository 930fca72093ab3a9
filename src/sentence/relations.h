/* relations.h - relations of edges as a task of several classes: its data, and its predictions. */
#ifndef SENTENCE_RELATIONS_H
#define SENTENCE_RELATIONS_H

#include "sentence/relation.h"
#include "sentence/sentences.h"

/* A row for the gold edge of each token of data of parsing; blocks have the same sentences as there. d: filled in; the
 * caller frees it. Collective. */
data *relations_data(comm *c, const data *from, int threads, dictionary *d, bda_error *err);

/* Weights of columns: those of a column that are not 0, by relation. */
typedef struct relation_weights {
    uint64_t columns;
    uint64_t *start; /* [columns + 1] */
    uint32_t *relation;
    double *weight;
} relation_weights;

typedef struct relation_model {
    edge_scheme scheme;
    key_table table;
    const relation_weights *weights;
    uint64_t relations;
} relation_model;

/* Room of one thread. Zeroed at first. */
typedef struct relation_room {
    relation_view view;
    uint64_t most;
    uint64_t *key;
    uint32_t *column;
    double *score; /* [relations] */
    arena memory;
} relation_room;

/* The relation of each token to its head, the one with the largest score, of equals the first. number: [tokens] */
bool relations_predict(const relation_model *m, relation_room *r, const corpus *c, const word *words,
                       uint64_t sentence, const uint16_t *heads, uint32_t *number, bda_error *err);
void relation_room_free(relation_room *r);

#endif
