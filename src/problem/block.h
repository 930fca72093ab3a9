/* block.h - the dual variables of one block of instances, and what the outer loop asks of them.
 *
 * The outer loop sees vectors of length n and a few sums. What the variables are is known to a block's kind alone:
 * one alpha an instance (linear.c), or one for each class (crammer_singer.c, softmax.c). Blocks never talk to other
 * ranks; different blocks may be worked on by different threads.
 *
 * In a round: block_evaluate at w, block_solve (the direction da and its image dv = X da), block_ray as often as the
 * step size needs it, block_move. */
#ifndef PROBLEM_BLOCK_H
#define PROBLEM_BLOCK_H

#include "base/archive.h"
#include "base/memory.h"
#include "base/random.h"
#include "problem/pool.h"
#include "problem/problem.h"

#define BLOCK_TRIALS 4          /* step sizes tried in one message */
#define BLOCK_LENGTHS 8         /* lengths of w tried in one look at it */
#define BLOCK_FAILED UINT64_MAX /* what an epoch returns that got no memory */

/* What all kinds have; a kind's own structure begins with it. */
typedef struct block {
    const struct block_kind *kind;
    const problem *p;
    uint64_t number;    /* among all K */
    uint64_t first;     /* unit of this rank where it begins */
    uint32_t count;     /* units */
    uint64_t first_row; /* row of the problem where it begins */
    uint64_t rows;
    double violation; /* the worst violation of optimality seen in the last epoch: what sits tighter is settled */
    double *margins;  /* [count][width] where block_evaluate leaves all x'w; NULL: they are not wanted */
    /* [lengths of the task] all at least 1: block_evaluate leaves the gaps of w so much longer; NULL: they are not
     * wanted, or the kind has none */
    const double *lengths;
} block;

/* The local sub-problem (eq. subprob) around w = grad g*(v):  min over da of
 *     w'X da + 1/2 da'(a1 X'H X + a2 I) da + sum_i xi_i*(-(alpha_i + da_i)),   H the Hessian of g* at v   */
typedef struct subproblem {
    const double *w; /* [n] */
    const double *h; /* [n] the diagonal of H; NULL: H is the identity */
    double a1, a2;
    bool separate;        /* B keeps the diagonal of X'X alone: every instance is a block of its own */
    int64_t epochs;       /* passes of coordinate descent */
    int64_t learning;     /* of structures: visits of each unit in an epoch, outputs are sought in the first; 0: 1 */
    bool settled_outputs; /* of structures: outputs are sought by block_evaluate alone */
    pool_seat *seat;      /* among the blocks that form one model with this one; NULL: none do */
    const double *pool;   /* [n] what their u is before any of them begins: w, but for what each begins with */
    uint64_t seed, round;
    const double *trial; /* [trials] step sizes at which `change` is wanted, see block_direction */
    int trials;          /* at most BLOCK_TRIALS */
} subproblem;

typedef struct block_direction {
    double largest; /* max |dv_j| */
    double cells;   /* nonzeros visited */
    /* Along alpha + eta da: the separable part xi* changes by
     *     slope eta + curve eta^2 / 2   where the loss has a quadratic dual, and otherwise by change[] at the trials
     */
    double slope, curve;
    double limit; /* the largest feasible eta, at least 1 up to rounding */
    double change[BLOCK_TRIALS];
    bool failed; /* there was no memory for a variable: nothing else here counts */
} block_direction;

typedef struct block_value {
    double cells;                 /* nonzeros looked at */
    double loss;                  /* sum of xi_i(x_i'w) */
    double conjugate;             /* sum of xi_i*(-alpha_i) */
    double gap;                   /* sum of xi_i + xi_i* + alpha_i x_i'w, each term >= 0 */
    double gap_at[BLOCK_LENGTHS]; /* the same at t w for the lengths t */
} block_value;

/* Loops over a block's variables; the functions below say what each is for. */
typedef struct block_kind {
    /* A new block at alpha = 0 for the rows given in `b`, which it copies to the front of its own structure. */
    block *(*open)(arena *memory, const block *b, bda_error *err);
    void (*close)(block *b); /* what is not in the arena; may be NULL */
    /* Of a block at alpha = 0: da is this alpha [rows], moved into the domain; NULL: not offered. */
    void (*begin)(block *b, const double *alpha);
    /* One pass over what is not settled, in random order. Slopes come from `from`, changes go to `to`, which is one
     * vector u for the coupled model, and w and dv where each instance is on its own. Returns the cells visited. */
    uint64_t (*epoch)(block *b, const subproblem *s, rng *random, const double *from, double *to);
    void (*image)(const block *b, double *dv);            /* dv += X da */
    void (*whole_image)(const block *b, double *v);       /* v += X alpha; NULL: the kind has none */
    void (*describe)(const block *b, block_direction *d); /* slope, curve, limit */
    void (*ray)(const block *b, int trials, const double *eta, double *change, double *slope);
    void (*move)(block *b, double eta);
    void (*evaluate)(block *b, const double *w, double travelled, block_value *value);
    double (*largest_norm)(const block *b);
    void (*alpha)(const block *b, double *alpha); /* NULL for structures, which show their variables themselves */
    uint64_t (*bytes)(const task *t, uint64_t outputs); /* of dual variables, about, that a row takes */
    const struct point_kind *points;                    /* see points.h */
    /* For block_solve_ahead and block_take_back, NULL: not offered. u += H X (z - y). */
    void (*advance)(block *b, double beta, const double *h, double *u);
    void (*take_back)(block *b);
    void (*state)(block *b, archive *a); /* all that is not as it was opened, between two rounds */
    /* Where alpha may be any multiple t alpha: xi*(-t alpha) = curve t^2 / 2 + slope t, and alpha = t alpha. NULL:
     * it may not. slope NAN: not with this loss. */
    void (*along_itself)(const block *b, double *slope, double *curve);
    void (*stretch)(block *b, double t);
    bool whole_steps; /* it moves by steps of 0 or 1 alone, in coupled models without damping */
} block_kind;

/* This rank's blocks, at alpha = 0; ended by NULL. NULL and a sentence on failure; local. */
block **blocks_open(arena *memory, const problem *p, bda_error *err);
void blocks_close(block **blocks);

/* Of a block at alpha = 0: what block_solve gives where alpha [rows] is what it finds, at so many trial steps. Only where
 * the kind has `begin`. */
void block_begin(block *b, const double *alpha, int trials, const double *trial, double *dv, block_direction *d);

/* dv: [n], work space that ends as X da of this block. */
void block_solve(block *b, const subproblem *s, double *dv, block_direction *d);

/* The same model around y = alpha + beta (alpha - alpha of the round before), where s->w is what w would be there: the
 * block begins at z, which is y moved into its domain. dv: X (alpha it ends with - y). There is no block_move: what is
 * found is alpha, and what was alpha is that of the round before, to which block_take_back goes back. */
void block_solve_ahead(block *b, const subproblem *s, double beta, double *dv, block_direction *d);
void block_take_back(block *b);

/* Change of the separable part at other step sizes, and its derivative by eta there (slope may be NULL). */
void block_ray(const block *b, int trials, const double *eta, double *change, double *slope);

/* alpha += eta da; eta at most the limit. */
void block_move(block *b, double eta);

/* At w (NULL: 0, which takes no pass over the rows) and alpha. `travelled` is the sum of |w - w'| over all moves so
 * far: an instance whose loss was 0 by a wide margin is not looked at again before w has come far enough. Also
 * decides which variables are settled. */
void block_evaluate(block *b, const double *w, double travelled, block_value *value);

/* max over the units of |X_i|^2, or a bound of it */
double block_largest_norm(const block *b);

/* alpha of the block's instances: [count], or [count][classes] */
void block_alpha(const block *b, double *alpha);
uint64_t block_count(const block *b);

/* v: [n] X alpha of this block, from nothing but alpha and the rows. Only where blocks_have_image. */
void block_image(const block *b, double *v);
bool blocks_have_image(const problem *p); /* the same on all ranks */

/* The block between two rounds, kept points included; see base/archive.h. */
void block_state(block *b, archive *a);

/* Bytes of dual variables for so many rows, about. */
uint64_t block_forecast(const task *t, uint64_t outputs, uint64_t rows);

#endif
