/* descent.h - what all primal methods share: the point with its kept margins, the gradient that costs one vector, the
 * certificate, and the report of a round.
 *
 *     P(w) = g(w) + sum_i xi_i(x_i'w),   grad P = grad g(w) - X s,   s_i = -xi_i'(z_i)
 *
 * X s is the one n-vector of a gradient, and it is also the image of a feasible dual point, so every point certifies
 * itself: P(w) + f(s) = g(w) + g*(X s) - w'X s. The best f so far is kept.
 *
 * A method is a loop:
 *     descent_open; for t = 0, 1, ...: descent_evaluate (stop?), a direction d, q = X'd by descent_margins, a step by
 *     descent_along, descent_move; descent_close. */
#ifndef METHODS_DESCENT_H
#define METHODS_DESCENT_H

#include "comm/scalars.h"
#include "problem/instances.h"
#include "problem/intercept.h"
#include "problem/keeper.h"
#include "problem/report.h"

#define DESCENT_DIRECTIONS INSTANCES_DIRECTIONS /* the most that descent_along takes */
#define DESCENT_TRIALS 4                        /* points of descent_along in one message */
/* scalars of descent_along: value, gradient, lower triangle of the Hessian */
#define DESCENT_POINT (1 + DESCENT_DIRECTIONS + DESCENT_DIRECTIONS * (DESCENT_DIRECTIONS + 1) / 2)
#define DESCENT_COLUMNS (DESCENT_TRIALS * DESCENT_POINT)

typedef struct descent {
    problem *p;
    watch *watch;
    uint64_t K, local;      /* blocks of all, of this rank */
    arena memory;           /* methods take theirs from it as well */
    instances *part;        /* [local] */
    double *w;              /* [n] */
    double *image;          /* [n] X s(w) */
    double *gradient;       /* [n] of P at w */
    double *curve;          /* [n] diagonal of the Hessian of g, NULL where it is the identity */
    double **z;             /* [local][size] margins of w */
    double **s;             /* [local][size] s(w) */
    double **part_sum;      /* [local][n] work space: what descent_sum adds up */
    double *largest;        /* [local] max of |part_sum[k]| */
    double primal;          /* P(w) */
    double loss;            /* its second part */
    double best_dual;       /* least f(s) so far */
    double norm;            /* |gradient| */
    intercept intercept;    /* free ones */
    bool own_dual;          /* s is the method's own feasible dual point, one margin an instance, not s(w) */
    uint64_t extra_vectors; /* see descent_sum_long */
    double *moved;          /* [n] work space: a point w + D t */
    double since;           /* clock when the last round was reported */
    round_report report;    /* of the round under way; methods add step, line_search_steps, epochs */
    scalars scalars;        /* messages of at most DESCENT_COLUMNS a block */
} descent;

/* w = 0. Collective; false and a sentence on all ranks, and then nothing is left to close. */
bool descent_open(descent *r, problem *p, watch *watch, bda_error *err);
void descent_close(descent *r);

/* At w, whose margins are r->z: the loss, s, the image (one vector), the gradient, the certificate; reports round t.
 * True: stop. Collective, as are the next ones. */
bool descent_evaluate(descent *r, uint64_t t);

/* The same, where the state may be kept; or instead of it, where the run goes on from a state, *t becomes the round that
 * ended there. `state`: of descent_whole and descent_block, or of one that holds more. */
bool descent_look(descent *r, const method_state *state, uint64_t *t);
/* The state between the evaluation of a round and its step; see problem/keeper.h. run: a descent */
void descent_whole(archive *a, void *run);
void descent_block(archive *a, void *run, uint64_t k);
/* Margins as part of the state of the k-th block of this rank. */
void descent_margins_state(archive *a, const descent *r, const char *name, double *const *q, uint64_t k);

/* q[k] = X'd for each local block; local. */
void descent_margins(const descent *r, const double *d, double *const *q);

/* Arrays of margins for each local block. NULL without memory; local. */
double **descent_new_margins(descent *r, bda_error *err);

/* P(w + sum_k t_k d_k) - P(w) and its derivatives by t, at `trials` points t (rows of [trials][m]), from kept margins
 * and one message of scalars. d: [m] vectors, q[i]: margins of d_i in each local block. gradient: [trials][m] and
 * hessian: [trials][m][m] may be NULL. d may be NULL: then it is the losses' part of all this, for who keeps the
 * products of the vectors himself. */
void descent_along(descent *r, int m, const double *const *d, double *const *const *q, int trials, const double *t,
                   double *change, double *gradient, double *hessian);

/* A step along d at which the slope of P is at most a tenth of `slope` = gradient'd < 0: 1 if it will do. P falls up
 * to there. 0: there is nothing to gain in double precision. Scalars alone: one point in the first message, two in
 * the second, DESCENT_TRIALS in the next ones; they are added to `trials`. */
double descent_search(descent *r, const double *d, double *const *q, double slope, uint64_t *trials);

/* w += t d, z += t q */
void descent_move(descent *r, double t, const double *d, double *const *q);

/* to = the sum over all blocks of part_sum: one vector of n numbers; `largest` holds each part's max. */
void descent_sum(descent *r, double *to);

/* The same for parts of another length, in one message; `largest` holds each part's max. It counts as one vector:
 * who sends n numbers many times over adds the others to extra_vectors. */
void descent_sum_long(descent *r, double *const *part, uint64_t length, double *to);

/* scalars_gather, whose time becomes part of the report. */
void descent_gather(descent *r, int columns);

#endif
