/* fold.h - the rows that are trained on, where w can be made shorter without a change to the problem.
 *
 * In text most features occur once. What row i alone has, the cells x_ij of a set O_i of columns, enters the problem
 * with g(w) = |w|^2/2 through  sum over O_i of x_ij w_j  and  sum over O_i of w_j^2/2  alone; of all w_j with the
 * same first sum the smallest are multiples of x_ij. So one column of the row's own with the value
 *
 *     own_i = sqrt(sum over O_i of x_ij^2)   and the weight u_i,   w_j = x_ij / own_i u_i,
 *
 * stands for all of O_i: the same inner products of rows and of models, the same optimum, gap and rounds, and
 * vectors, messages and memory of half the length or less. Columns that no row has are left out, and those of several
 * rows are numbered by falling frequency: what most rows want is then side by side and stays in the cache. */
#ifndef DATA_FOLD_H
#define DATA_FOLD_H

#include "data/data.h"
#include "data/frequency.h"

typedef struct fold {
    bool folded;       /* it pays; otherwise the rest is not set */
    rows rows;         /* to train on: columns in any order within a row */
    uint64_t nonzeros; /* of all ranks, own cells left out */
    uint32_t *place;   /* [features] the column of `rows` that has a feature's weight, or FOLD_AWAY */
    arena memory;
    comm *comm;
} fold;

#define FOLD_AWAY FREQUENCY_RARE

/* For models of so many outputs. Collective. */
bool fold_open(fold *f, comm *c, const data *d, uint64_t outputs, bda_error *err);
void fold_close(fold *f);

/* full: [features][outputs], from w: [columns][outputs] of the folded rows. Collective: what is a row's own, its rank
 * tells all. */
void fold_weights(const fold *f, const data *d, const double *w, uint64_t outputs, double *full);
/* The other way: the w with the margins of `full`. Weights that no row tells apart become the shortest such. Collective. */
void fold_take_weights(const fold *f, const data *d, const double *full, uint64_t outputs, double *w);

#endif
