/* newton.h - the Hessian that newton.c and interior.c share. */
#ifndef METHODS_NEWTON_H
#define METHODS_NEWTON_H

#include "methods/descent.h"

typedef struct newton {
    descent r;
    uint64_t room;      /* numbers of a slab */
    double *matrix;     /* [n][n] H, then its factors, in the lower triangle */
    double *total;      /* [room] a slab of all blocks */
    double **slab;      /* [local][room] */
    double **bend, **q; /* second derivatives by the margins; margins of d */
    double *d;          /* [n] */
    double *l1;         /* [n] factors of |w_j|, and the gradient of the model, where g has kinks; else NULL */
    double *product;    /* [n] */
    int idle;           /* rounds in a row that made no difference */
} newton;

/* After descent_open; local. */
bool newton_take_memory(newton *x, bda_error *err);

/* See descent_whole. run: a newton, which begins with its descent */
void newton_whole(archive *a, void *run);

/* matrix = the factors of (Hessian of g) + X D X', D of `bend`. It counts as (n+1)/2 vectors, rounded up. False, and
 * the matrix undefined, where it is not positive definite in double precision. Collective. */
bool newton_factor(newton *x);

/* Newton's method for a loss with kinks; `x` is open. w: [n] to start from, whose gap is `gap` times that of w = 0;
 * NULL for 0. Collective; true, unless there was no memory. */
bool interior_train(newton *x, const double *w, double gap, bda_error *err);

#endif
