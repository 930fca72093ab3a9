/* multiclass.h - what the two kinds of multiclass blocks share. w is [columns][classes]. */
#ifndef PROBLEM_MULTICLASS_H
#define PROBLEM_MULTICLASS_H

#include <string.h>

#include "data/rows_math.h"
#include "problem/kinds.h"

typedef struct multiclass {
    block base;
    uint32_t *y;     /* [count] class */
    double *norm;    /* [count] x'x */
    uint32_t *order; /* [count] of the visits */
    /* Work space, [classes] each */
    double *score; /* x'w_m */
    double *A;     /* curvature of the model: a1 x'H_m x + a2 */
    double *step;  /* what changes */
} multiclass;

/* Fills the structure, which a kind's own begins with. */
bool multiclass_open(multiclass *b, arena *memory, const block *base, bda_error *err);
double multiclass_largest_norm(const block *base);

#define MULTICLASS_BYTES (sizeof(double) * 2 + sizeof(uint32_t) * 2) /* a row, see block_kind */

static inline double multiclass_cost(const multiclass *b, uint32_t i)
{
    return problem_cost(b->base.p, b->y[i], b->base.first_row + i);
}

/* Of instance i, [classes]; w == NULL: 0. */
ROWS_INLINE void multiclass_scores(const multiclass *b, uint32_t i, const double *w, double *z, rows_form form)
{
    const problem *p = b->base.p;
    if (w)
        rows_scores(&p->rows, form, b->base.first_row + i, w, p->classes, z);
    else
        memset(z, 0, p->classes * sizeof *z);
}

#endif
