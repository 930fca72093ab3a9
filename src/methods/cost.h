/* cost.h - what methods take for a problem: their work in counts, from which a machine's table makes seconds. */
#ifndef METHODS_COST_H
#define METHODS_COST_H

#include "problem/machine.h"
#include "problem/problem.h"
#include "problem/stage.h"

/* What the counts are made from. Of a block, as blocks work side by side: not of a rank, for the model shall not depend
 * on how many ranks share the blocks out. */
typedef struct extent {
    const problem *problem;
    double cells, pairs, rows; /* of a block */
    double n, classes;         /* 1 class where there is one margin */
    double stiffness;          /* the problem's */
    double gap, digits;        /* asked for, against that of the start, and minus its logarithm */
} extent;

extent cost_extent(const problem *p, const method_options *o);

/* Should the blocks share their model? */
bool cost_sharing_pays(const extent *e);

/* The whole training by a method, and a pass of a dual one. */
work cost_newton(const extent *e);
work cost_tron(const extent *e);
work cost_l_commdir(const extent *e, bool few_weights); /* few enough for newton */
work cost_lbfgs(const extent *e);                       /* with l1-ratio 1 */
work cost_dual(const extent *e);
work cost_dual_pass(const extent *e);

/* For stages: hull is under way, and newton would be the faster way on. */
bool cost_newton_is_faster(const stage *s);

#endif
