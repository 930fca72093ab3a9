/* decide.h - scores of rows, and what they stand for. */
#ifndef RUN_DECIDE_H
#define RUN_DECIDE_H

#include "data/data.h"
#include "run/model.h"

/* s = x_i'w over the features that the model knows; [outputs] */
void decide_scores(const bda_model *m, const rows *r, uint64_t i, double *s);

#endif
