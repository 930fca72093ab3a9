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

#include "problem/instances.h"

#define DESCENT_DIRECTIONS 24 /* the most that descent_along takes */
#define DESCENT_TRIALS 4      /* points of descent_along in one message */

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
    double **z;             /* [local][count * width] margins of w */
    double **s;             /* [local][count * width] s(w) */
    double **part_sum;      /* [local][n] work space: what descent_sum adds up */
    double *largest;        /* [local] max of |part_sum[k]| */
    double primal;          /* P(w) */
    double loss;            /* its second part */
    double best_dual;       /* least f(s) so far */
    double norm;            /* |gradient| */
    uint64_t extra_vectors; /* see descent_sum_long */
    round_report report;    /* of the round under way; methods add step, line_search_steps, epochs */
    double *mine, *all;     /* scalars of a message */
} descent;

/* w = 0. Collective; false and a sentence on all ranks. */
bool descent_open(descent *r, problem *p, watch *watch, bda_error *err);
void descent_close(descent *r);

/* At w, whose margins are r->z: the loss, s, the image (one vector), the gradient, the certificate; reports round t.
 * True: stop. Collective, as are the next ones. */
bool descent_evaluate(descent *r, uint64_t t);

/* q[k] = X'd for each local block; local. */
void descent_margins(const descent *r, const double *d, double *const *q);

/* Arrays of margins for each local block. NULL without memory; local. */
double **descent_new_margins(descent *r, bda_error *err);

/* P(w + sum_k t_k d_k) - P(w) and its derivatives by t, at `trials` points t (rows of [trials][m]), from kept margins
 * and one message of scalars. d: [m] vectors, q[i]: margins of d_i in each local block. gradient: [trials][m] and
 * hessian: [trials][m][m] may be NULL. */
void descent_along(descent *r, int m, const double *const *d, double *const *const *q, int trials, const double *t,
                   double *change, double *gradient, double *hessian);

/* w += t d, z += t q */
void descent_move(descent *r, double t, const double *d, double *const *q);

/* to = the sum over all blocks of part_sum: one vector of n numbers; `largest` holds each part's max. */
void descent_sum(descent *r, double *to);

#endif
