/* forecast.h - how much memory a training takes, before it takes it. */
#ifndef RUN_FORECAST_H
#define RUN_FORECAST_H

#include "problem/problem.h"

/* Is there room for the columns alone: the weights of a model, and counts of the columns? Asked before anything is taken for
 * them. Collective. */
bool forecast_columns(comm *c, const data *d, bda_error *err);

/* Is there memory for the dual variables and the vectors of this training on the machine of every rank? One sentence
 * if not. shares: its blocks form one model (pool.h). Collective. */
bool forecast_check(comm *c, const problem *p, const method *m, bool shares, bda_error *err);

/* *room: what the machine of this rank could still give, shared out among its ranks. Collective. */
bool forecast_room(comm *c, uint64_t *room, bda_error *err);

#endif
