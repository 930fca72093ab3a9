/* problem.h - what is minimised:  P(w) = g(w) + sum_i xi_i(x_i'w), and its dual. */
#ifndef PROBLEM_PROBLEM_H
#define PROBLEM_PROBLEM_H

#include "data/data.h"
#include "data/fold.h"
#include "problem/loss.h"
#include "problem/method.h"
#include "problem/regulariser.h"

typedef struct problem_request {
    const loss *loss;
    double cost;               /* C */
    const double *cost_factor; /* [labels] of each label in increasing order, NULL for 1 */
    double epsilon;            /* half-width of the insensitive tube */
    double l1_ratio;           /* R of the elastic net, 0 for none */
    const double *factor;      /* [features] penalty factors, NULL for 1 */
    double bias;               /* value of the constant feature; < 0: none */
    int threads;
} problem_request;

struct problem {
    comm *comm;
    const data *data;
    const loss *loss;
    penalty penalty;
    fold fold;
    rows rows;            /* the data's, folded where that pays, with the constant feature */
    uint64_t nonzeros;    /* of all ranks' rows */
    uint64_t n;           /* length of w and v: columns times classes */
    uint64_t classes;     /* T: more than 2 only for multiclass, where w is [features][T] */
    const double *labels; /* [classes] in increasing order; of two the larger counts as +1; classification only */
    const double *cost;   /* C of each class: [2] -1 and +1 (regression: [1] for all), or [T] */
    double epsilon;
    /* Means over some rows of each block: C |x|^2 times the largest second derivative of the loss, or of its square
     * where it has kinks; pairs of cells in a row, each with itself included. */
    double stiffness, pairs;
    int threads;
    arena memory;
};

/* Looks at the labels (one alone is refused) and at some rows, fixes n. Collective. */
bool problem_open(problem *p, comm *c, const data *d, const problem_request *request, bda_error *err);
void problem_close(problem *p);

/* Between the rows of a block that are looked at where some will do: a pass over all costs as much as many a
 * training. */
#define PROBLEM_ROWS_LOOKED_AT 2048
static inline uint64_t problem_stride(uint64_t rows)
{
    return rows / PROBLEM_ROWS_LOOKED_AT + 1;
}

/* From weights [n] to those of the data's features, and of the constant one: [features + bias][classes]. Needed where
 * the rows are folded, which only then are not the same. Collective. */
void problem_weights(const problem *p, const double *w, double *full);

/* The number of a label's class; labels of the data only. */
uint32_t problem_class(const problem *p, double label);

#endif
