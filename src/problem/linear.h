/* linear.h - what the files of linear blocks share: linear.c (the solver), linear_points.c (kept points), and
 * one_vs_rest.c, whose instances have a variable for each label. */
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
    uint64_t width;      /* variables of an instance: 1, or one for each label */
    uint64_t variables;  /* count * width */
    variable *var;       /* [variables] */
    logistic_rest *rest; /* [variables] logistic only */
    double *clear_until; /* [variables] `travelled` up to which the instance surely adds nothing; for a width of 1 */
    uint32_t *order;     /* [count] the first `active` are visited */
    uint8_t *settled;    /* [variables] left out of this round */
    uint32_t active;
    int points;
    double *point[POINTS_MOST];      /* [variables] kept points */
    double *point_rest[POINTS_MOST]; /* [variables] logistic only: c - b of each */
    /* Work space of one_vs_rest.c, [width] */
    double *score, *bends, *step;
    uint32_t *changed;
} linear;

/* C of the block's variable i, whose label is y */
LOSS_INLINE double linear_cost(const linear *b, loss_kind kind, uint64_t i, double y)
{
    const problem *p = b->base.p;
    const bool regression = kind >= LOSS_EPSILON_INSENSITIVE;
    if (!regression && b->width > 1) {
        const uint64_t row = b->base.first_row + i / b->width;
        return problem_cost(p, p->data->target.class[row], row);
    }
    return problem_cost(p, !regression && y > 0, b->base.first_row + i);
}

/* Against rounding at a step up to the limit. */
LOSS_INLINE double linear_clip(loss_kind kind, double a, double y, double c)
{
    if (kind < LOSS_EPSILON_INSENSITIVE)
        return y * clip(y * a, 0, kind == LOSS_SQUARED_HINGE ? INFINITY : c);
    return kind == LOSS_EPSILON_INSENSITIVE ? clip(a, -c, c) : a;
}

extern const point_kind linear_points;

/* Memory for an instance's variables, so many. */
linear *linear_take(arena *memory, const block *base, uint64_t width, bda_error *err);
/* What does not look at rows. */
void linear_describe(const block *base, block_direction *d);
void linear_ray(const block *base, int trials, const double *eta, double *change, double *slope);
void linear_move(block *base, double eta);
double linear_largest_norm(const block *base);
void linear_alpha(const block *base, double *alpha);
void linear_state(block *base, archive *a);

#endif
