/* model.h - a linear model and its file (docs/model-format.md). */
#ifndef RUN_MODEL_H
#define RUN_MODEL_H

#include "base/memory.h"
#include "problem/loss.h"

#define MODEL_NAME 32 /* bytes of a name in the file, its final zero included */

struct bda_model {
    const loss *loss;
    char method[MODEL_NAME];
    double cost, epsilon, bias; /* bias < 0: no constant feature */
    double labels[2];           /* classification: the larger first; regression: 0, 0 */
    uint64_t features;          /* without the constant feature */
    uint64_t instances;         /* trained on */
    double primal, relative_gap;
    double *w; /* [n], n = features + (bias >= 0) */
    uint64_t n;
    arena memory; /* holds w */
};

/* A model of n = features + (bias >= 0) weights, all 0. NULL and a sentence where there is no memory for it. */
bda_model *model_new(uint64_t features, double bias, bda_error *err);

#endif
