/* linear.h - what the two files of linear blocks share: linear.c (the solver) and linear_points.c (kept points). */
#ifndef PROBLEM_LINEAR_H
#define PROBLEM_LINEAR_H

#include "problem/kinds.h"
#include "problem/loss_math.h"
#include "problem/points.h"

typedef struct variable {
    double a;     /* alpha, moving while the sub-problem is solved */
    double start; /* alpha when the round began */
    double norm;  /* x'x */
    double y;     /* label or target */
} variable;

/* c - b of a logistic variable, which b alone could not tell when it is near c */
typedef struct logistic_rest {
    double now, start;
} logistic_rest;

typedef struct linear {
    block base;
    variable *var;       /* [count] */
    logistic_rest *rest; /* [count] logistic only */
    double *clear_until; /* [count] `travelled` up to which the instance surely adds nothing */
    uint32_t *order;     /* [count] the first `active` are visited */
    uint8_t *settled;    /* [count] left out of this round */
    uint32_t active;
    int points;
    double *point[POINTS_MOST];      /* [count] kept points */
    double *point_rest[POINTS_MOST]; /* [count] logistic only: c - b of each */
} linear;

/* C of the block's row i, whose label is y */
LOSS_INLINE double linear_cost(const linear *b, loss_kind kind, uint32_t i, double y)
{
    bool regression = kind >= LOSS_EPSILON_INSENSITIVE;
    return problem_cost(b->base.p, !regression && y > 0, b->base.first_row + i);
}

/* Against rounding at a step up to the limit. */
LOSS_INLINE double linear_clip(loss_kind kind, double a, double y, double c)
{
    if (kind < LOSS_EPSILON_INSENSITIVE)
        return y * clip(y * a, 0, kind == LOSS_SQUARED_HINGE ? INFINITY : c);
    return kind == LOSS_EPSILON_INSENSITIVE ? clip(a, -c, c) : a;
}

extern const point_kind linear_points;

#endif
