/* calibration.h - maps from the scores of a classifier to probabilities, learned from scores of instances that it was
 * not trained on. With two labels there is one map, from the score to the probability of the positive label; with more
 * there is one for each label against all others, and what they say is divided by its sum.
 *
 *     Platt      1 / (1 + exp(slope s + offset)), fitted by maximum likelihood to targets that are drawn towards each
 *                other: (N+ + 1) / (N+ + 2) for the N+ instances of the label, 1 / (N- + 2) for the others
 *     isotonic   the function that never falls and has the least sum of squared errors: constant in stretches (pool
 *                adjacent violators), linear between them, constant beyond the first and the last score */
#ifndef RUN_CALIBRATION_H
#define RUN_CALIBRATION_H

#include "base/bytes.h"
#include "base/sections.h"

typedef enum calibration_kind { CALIBRATION_PLATT, CALIBRATION_ISOTONIC } calibration_kind;

typedef struct calibration_map {
    double slope, offset; /* Platt */
    uint64_t knots;       /* isotonic */
    double *score;        /* [knots] increasing */
    double *probability;  /* [knots] never falling */
} calibration_map;

typedef struct calibration {
    calibration_kind kind;
    uint64_t instances;   /* whose scores it was learned from */
    uint64_t maps;        /* as the model has outputs */
    calibration_map *map; /* [maps] */
} calibration;

/* An instance as a map sees it. */
typedef struct calibration_point {
    double score, weight;
    double target; /* 1: it has the label; 0: it has not */
} calibration_point;

/* "platt" or "isotonic"; false where it is neither. */
bool calibration_kind_of(const char *name, calibration_kind *kind);
const char *calibration_name(calibration_kind kind);

/* point: [count], which is put into another order. Knots are taken from the arena. */
bool calibration_fit(calibration_kind kind, calibration_point *point, uint64_t count, calibration_map *to,
                     arena *memory, bda_error *err);

/* score: [maps]; p: [2] with one map, else [maps] */
void calibration_apply(const calibration *c, const double *score, double *p);

/* -log(probability of the label `truth`), which counts as 2.2e-16 where it is less. */
double calibration_loss(const calibration *c, const double *score, uint64_t truth);

/* The section of a model file. */
#define MODEL_CALIBRATION "calibration"
void calibration_pack(const calibration *c, bytes *to);
/* False where the bytes are not a calibration for so many outputs, or there is no memory (then err says so). */
bool calibration_unpack(calibration *c, byte_reader *from, uint64_t outputs, arena *memory, bda_error *err);

#endif
