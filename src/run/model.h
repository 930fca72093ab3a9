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
    double l1_ratio;
    uint64_t classes;   /* 0 for regression */
    double *labels;     /* [classes] the larger first where there are two, in increasing order otherwise */
    uint64_t features;  /* without the constant feature */
    uint64_t instances; /* trained on */
    double primal, relative_gap;
    uint64_t outputs; /* decision values of an instance: the classes, or 1 where there are not more than two */
    double *w;        /* [n] = [features + (bias >= 0)][outputs] */
    uint64_t n;
    arena memory; /* holds w and labels */
};

/* A model of n weights, all 0; so are the labels. NULL and a sentence where there is no memory for it. */
bda_model *model_new(uint64_t features, double bias, uint64_t classes, bda_error *err);

/* The place of a label among those of a model of more than two classes; `classes` where it is none of them. */
uint64_t model_class(const bda_model *m, double label);

#endif
