/* problem.h - what is minimised:  P(w) = g(w) + sum_i xi_i(x_i'w), and its dual. */
#ifndef PROBLEM_PROBLEM_H
#define PROBLEM_PROBLEM_H

#include "data/data.h"
#include "problem/loss.h"
#include "problem/method.h"
#include "problem/regulariser.h"

typedef struct problem_request {
    const loss *loss;
    double cost;        /* C */
    double cost_factor[2]; /* of the label -1, +1; 1 for regression */
    double epsilon;     /* half-width of the insensitive tube */
    double bias;        /* value of the constant feature; < 0: none */
    int threads;
} problem_request;

struct problem {
    comm *comm;
    const data *data;
    const loss *loss;
    const regulariser *regulariser;
    rows rows;       /* the data's, with the constant feature */
    uint64_t n;      /* columns: length of w and v */
    double cost[2];  /* C of the label -1, +1 */
    double epsilon;
    double positive; /* the label that counts as +1; classification only */
    int threads;
};

/* Looks at the labels (binary: exactly two), fixes n. No memory of its own. The same verdict on all ranks. */
bool problem_open(problem *p, comm *c, const data *d, const problem_request *request, bda_error *err);

#endif
