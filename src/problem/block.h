/* block.h - the dual variables of one block of instances, and what the outer loop asks of them.
 *
 * The outer loop sees vectors of length n and a few sums; that a block holds one alpha per instance is known here
 * alone. Blocks never talk to other ranks; different blocks may be worked on by different threads.
 *
 * In a round: block_evaluate at w, block_solve (the direction da and its image dv = X da), block_ray as often as the
 * step size needs it, block_move. */
#ifndef PROBLEM_BLOCK_H
#define PROBLEM_BLOCK_H

#include "base/memory.h"
#include "problem/problem.h"

#define BLOCK_TRIALS 4 /* step sizes tried in one message */

typedef struct block block;

/* Memory that a block needs for a row, for forecasts; the logistic loss needs BLOCK_BYTES_LOGISTIC more. */
#define BLOCK_BYTES_PER_ROW (sizeof(double) * 5 + sizeof(uint32_t) + 1)
#define BLOCK_BYTES_LOGISTIC (sizeof(double) * 2)

/* This rank's blocks, at alpha = 0. NULL and a sentence on failure; local. */
block **blocks_open(arena *memory, const problem *p, bda_error *err);

/* The local sub-problem (eq. subprob) around w = grad g*(v):  min over da of
 *     w'X da + 1/2 da'(a1 X'X + a2 I) da + sum_i xi_i*(-(alpha_i + da_i))   */
typedef struct subproblem {
    const double *w;    /* [n] */
    double a1, a2;
    bool separate;      /* B keeps the diagonal of X'X alone: every instance is a block of its own */
    int64_t epochs;     /* passes of coordinate descent */
    uint64_t seed, round;
} subproblem;

typedef struct block_direction {
    double largest;     /* max |dv_j| */
    double norm;        /* sum of da_i^2 */
    double cells;       /* nonzeros visited */
    /* Along alpha + eta da: the separable part xi* changes by
     *     slope eta + curve eta^2 / 2   where the loss has a quadratic dual, and otherwise by change[] at the trials */
    double slope, curve;
    double limit;       /* the largest feasible eta, at least 1 up to rounding */
    double change[BLOCK_TRIALS];
} block_direction;

/* dv: [n], work space that ends as X da of this block. trial: the step sizes of `change`. */
void block_solve(block *b, const subproblem *s, const double trial[BLOCK_TRIALS], double *dv, block_direction *d);

/* Change of the separable part at other step sizes, and its derivative by eta there. */
void block_ray(const block *b, int trials, const double *eta, double *change, double *slope);

/* alpha += eta da; eta at most the limit. */
void block_move(block *b, double eta);

typedef struct block_value {
    double loss;      /* sum of xi_i(x_i'w) */
    double conjugate; /* sum of xi_i*(-alpha_i) */
    double gap;       /* sum of xi_i + xi_i* + alpha_i x_i'w, each term >= 0 */
} block_value;

/* At w and alpha. `travelled` is the sum of |w - w'| over all moves so far: an instance whose loss was 0 by a wide
 * margin is not looked at again before w has come far enough. Also decides which variables are settled. */
void block_evaluate(block *b, const double *w, double travelled, block_value *value);

/* max over the rows of |x_i|^2 */
double block_largest_norm(const block *b);

/* alpha of the block's instances, [count] */
void block_alpha(const block *b, double *alpha);
uint64_t block_count(const block *b);

#endif
