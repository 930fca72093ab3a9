/* intercept.h - free intercepts: weights b of a constant feature that are not regularised.
 *
 *     P(w, b) = g(w) + sum_i xi_i(x_i'w + b),   f(alpha) = g*(X alpha) + sum_i xi_i*(-alpha_i)   where  sum_i alpha_i = 0
 *
 * with a b for each output. Where the sum is not 0, alpha still bounds P from below as far as b is known to lie in
 * some interval around the b' at hand,
 *
 *     P(w', b') + f(alpha) + price >= P(w', b') - min P,    price = max of (b - b')'(sum_i alpha_i) over that interval,
 *
 * and here it is. With U >= min P and Jensen's inequality for the instances of a class k, whose C add up to W_k,
 *
 *     W_k xi(mean margin of the class at the optimum) <= U,
 *
 * so the mean margin is not lower than what a loss of U/W_k allows. It differs from the mean m_k at (w', b') by b - b'
 * and by x_k'(w - w'), x_k the mean row, and |w - w'| <= sqrt(2 (P(w', b') - min P) / sigma), as P is strongly convex in
 * w. Each class so bounds b from one side, or with several classes the differences of its b to the others; in
 * regression the mean target bounds it from both. The interval shrinks with the gap: the price is of second order. Where
 * g is the sum of f_j |w_j| alone and not strongly convex, |w - w'| <= |w|_1 + |w'|_1 <= 2 P / min f_j.
 *
 * The methods that work on P know b as any weight. Those that work on f take proximal steps in b, an augmented
 * Lagrangian for the constraint: v has the centre c of the step beside X alpha, so that w = v there, too, and
 * f_c(alpha) = f(alpha) + v_b^2/2 up to a constant, v_b = c + B sum alpha. After each look at the gap c becomes v_b. */
#ifndef PROBLEM_INTERCEPT_H
#define PROBLEM_INTERCEPT_H

#include "base/archive.h"
#include "problem/problem.h"

typedef struct intercept {
    const problem *p; /* NULL: there is none to be free */
    uint64_t classes; /* of the rows; 1 in regression */
    uint64_t outputs;
    double *weight;      /* [classes] W_k */
    double target;       /* regression: the mean of the targets */
    double *length;      /* [classes] the root of the mean of |x_i|^2, at least |x_k| */
    double *mean;        /* [classes][outputs] of the margins, see intercept_look */
    double *mine, *all;  /* messages of classes * outputs scalars */
    double *centre;      /* [outputs] c of a dual method */
    double *sum, *b;     /* [outputs] work space of a dual method */
    double least_factor; /* of the penalty */
    double least_dual;   /* f of the best certificate so far */
    arena memory;
} intercept;

/* Does nothing where the problem has none. Collective. */
bool intercept_open(intercept *c, const problem *p, bda_error *err);
void intercept_close(intercept *c);
/* What the next look builds on, as part of the state of a method; nothing where there are none. */
void intercept_state(archive *a, intercept *c);

/* The mean margins of all classes at the point that is reported: z has those of each block of this rank, all of them
 * to be multiplied by `scale`. Collective. */
void intercept_look(intercept *c, double *const *z, double scale);

/* Completes the certificate of a point with weights b [outputs], whose dual point has B sum alpha = sum [outputs]:
 * *gap is the gap without a price and f(alpha) = *dual without a multiplier. After intercept_look. Local. */
void intercept_certify(intercept *c, const double *sum, const double *b, double primal, double *dual, double *gap);

#endif
