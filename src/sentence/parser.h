/* parser.h - the dependency tree of a sentence by a model. */
#ifndef SENTENCE_PARSER_H
#define SENTENCE_PARSER_H

#include "sentence/dictionary.h"
#include "sentence/edge.h"

/* Weights beside their keys: what is 0 is left out. */
typedef struct parser {
    edge_scheme scheme;
    bool projective;
    uint64_t room;
    struct parser_slot {
        uint64_t key; /* 0: free */
        double weight;
    } * slot;
    uint64_t *filter, filter_mask; /* as in key_table */
} parser;

/* key: in increasing order; weight: [columns] */
bool parser_open(parser *p, const edge_scheme *scheme, bool projective, const uint64_t *key, const uint32_t *column,
                 uint64_t features, const double *weight, arena *memory, bda_error *err);

/* Room of one thread. Zeroed at first. */
typedef struct parser_room {
    edge_view view;
    uint64_t length, most; /* there is room for */
    uint64_t *key;
    uint32_t *begin, *end;
    double *score, *marginal, *work; /* score: [n][n + 1] */
    arena memory;
} parser_room;

/* heads, probability: [tokens of the sentence]; probability: of the head chosen, NULL where it is not wanted. */
bool parser_parse(const parser *p, parser_room *r, const corpus *c, const word *words, uint64_t sentence,
                  uint16_t *heads, double *probability, bda_error *err);
void parser_room_free(parser_room *r);

#endif
