/* start.h - a training that begins at the weights of a model (--start). */
#ifndef RUN_START_H
#define RUN_START_H

#include "problem/problem.h"
#include "run/model.h"

/* The weights of the model, which knows the same labels and, where both have names, features, become p->start; features
 * that only one of the two knows have the weight 0. Collective. */
bool start_at_model(problem *p, const bda_model *m, bda_error *err);

#endif
