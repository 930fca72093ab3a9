/* blockwise.h - what admm and average share: the blocks of the dual, messages of a few scalars for each, and the
 * certified report of a round for a w that need not be grad g*(X alpha). */
#ifndef METHODS_BLOCKWISE_H
#define METHODS_BLOCKWISE_H

#include "comm/scalars.h"
#include "problem/block.h"
#include "problem/report.h"

#define BLOCKWISE_COLUMNS 16 /* of a message of scalars, at most */

typedef struct blockwise {
    problem *p;
    watch *watch;
    uint64_t K, local;   /* blocks of all, of this rank */
    arena memory;        /* methods take theirs from it as well */
    block **blocks;      /* [local] */
    block_value *value;  /* [local] */
    scalars scalars;     /* messages of at most BLOCKWISE_COLUMNS a block */
    round_report report; /* of the round under way */
} blockwise;

/* alpha = 0. Local, and to be agreed on; blockwise_close takes what failed to open, too. */
bool blockwise_open(blockwise *r, problem *p, watch *watch, bda_error *err);
void blockwise_close(blockwise *r);

/* A vector of length n for each block of this rank, ended by NULL; local. */
double **blockwise_vectors(blockwise *r, bda_error *err);

/* At w and v = X alpha: primal, dual and their gap
 *     P(w) + f(alpha) = [g(w) + g*(v) - w'v] + sum_i [xi_i + xi_i* + alpha_i x_i'w],   all terms >= 0,
 * by one pass over the rows and one message of scalars; reports round t. travelled: see block_evaluate. True: stop.
 * Collective. */
bool blockwise_evaluate(blockwise *r, uint64_t t, const double *w, const double *v, double travelled);

#endif
