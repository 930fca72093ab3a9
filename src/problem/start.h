/* start.h - a training that begins at given weights instead of 0.
 *
 * Methods that work on w begin there. Those that work on the dual need an alpha: every s = -xi'(X'w) is feasible, and at
 * the optimum of a differentiable loss it is alpha itself. Elsewhere it may be worse than alpha = 0, and where xi has a
 * kink any s between two slopes would do; so alpha is what is best of the way from 0 towards s(w), and from there towards
 * those of margins on either side of a kink. Its X alpha is not w: what the rounds begin with is the dual point, while the
 * given weights count as the best model so far until the rounds find a better one. */
#ifndef PROBLEM_START_H
#define PROBLEM_START_H

#include "problem/block.h"

/* full: weights of the data's features [features][outputs], then of a constant feature of value 1 [outputs], in the
 * outputs' order of class numbers. They become p->start, and P there p->start_primal. Structures have no such start.
 * Collective. */
bool problem_start(problem *p, const double *full, bda_error *err);

/* Of blocks at alpha = 0 and v = X alpha = 0, a centre of free intercepts added: both move, v by vectors of which there
 * is one for each way that is looked at. Those of v may be off by *error, and the largest number that was added to them is
 * *largest. `work`: room for n numbers. Collective; not where a state of the blocks is loaded, see start_prepare. */
bool start_dual(const problem *p, block *const *blocks, double *v, double *error, double *largest, bda_error *err);

/* The room in blocks that start_dual needs, and states of blocks have. Local. */
bool start_prepare(const problem *p, block *const *blocks, arena *memory, bda_error *err);

#endif
