/* softmax.h - what the two files of softmax blocks share: softmax.c (the solver) and softmax_points.c (kept points).
 */
#ifndef PROBLEM_SOFTMAX_H
#define PROBLEM_SOFTMAX_H

#include <math.h>

#include "problem/multiclass.h"
#include "problem/points.h"

typedef struct softmax {
    multiclass m;
    double *now, *start;             /* [count][classes] beta */
    double *c, *beta, *log_A, *logs; /* [classes] work space */
    double *point[POINTS_MOST];      /* [count][classes] beta of kept points */
} softmax;

/* p d - p + q for p = q e^d: what KL(p | q) has of one class, never negative */
static inline double divergence_term(double p, double q, double d)
{
    if (fabs(d) < 1e-2)
        return q * d * d * (0.5 + d * (1.0 / 3 + d * (0.125 + d / 30)));
    return fmax(0, p * d - p + q);
}

/* log sum_k e^z_k */
static inline double softmax_log_total(const double *z, uint64_t classes)
{
    double most = -INFINITY, total = 0;
    for (uint64_t k = 0; k < classes; k++)
        most = fmax(most, z[k]);
    for (uint64_t k = 0; k < classes; k++)
        total += exp(z[k] - most);
    /* cppcheck-suppress invalidFunctionArg ; the largest score has added 1 */
    return most + log(total);
}

/* What a class adds to the duality gap of an instance: share = beta / C, log_q the log of its probability under the
 * model */
static inline double softmax_gap_term(double share, double log_share, double log_q)
{
    double q = exp(log_q);
    return share > 0 ? divergence_term(share, q, log_share - log_q) : q;
}

extern const point_kind softmax_points;

#endif
