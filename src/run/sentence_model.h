/* sentence_model.h - what models of sentences keep beside their weights, as sections of their file: how features are
 * made, their keys and columns, and for parsing the weights of relations (docs/model-format.md). */
#ifndef RUN_SENTENCE_MODEL_H
#define RUN_SENTENCE_MODEL_H

#include "run/model.h"
#include "sentence/relations.h"
#include "structure/chain.h"

/* Features and their columns, keys in increasing order. */
typedef struct keyed_columns {
    uint64_t *key;
    uint32_t *column;
    uint64_t features;
} keyed_columns;

typedef struct sentence_model {
    bool parse;
    bool projective; /* trees */
    tag_scheme tag;
    edge_scheme edge;
    keyed_columns keys;
    label_table relations; /* of edges; count 0: they are not predicted */
    keyed_columns relation_keys;
    relation_weights relation_weights;
    arena memory;
} sentence_model;

/* Adds the sections to a model. Local. */
bool sentence_model_put(bda_model *m, const sentence_model *s, bda_error *err);
/* From the sections of a model of sentences; everything is checked. Local. */
bool sentence_model_take(const bda_model *m, sentence_model *s, bda_error *err);
/* The same without keys and weights, for the traits of the model. */
bool sentence_model_glance(bda_model *m, bda_error *err);
bool sentence_model_look(bda_model *m, const sentence_model *s, bda_error *err); /* the traits; local */
void sentence_model_free(sentence_model *s);

#endif
