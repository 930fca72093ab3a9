/* trial.h - one training of one cell of the matrix, each round of it under the eyes of the checker. */
#ifndef MATRIX_TRIAL_H
#define MATRIX_TRIAL_H

#include "comm/comm.h"
#include "matrix/made.h"

/* What a method promises in every round, beyond what is asked of all. */
typedef struct promises {
    const char *method;
    bool linked;         /* w = grad g*(X alpha) */
    bool dual_falls;     /* f never rises */
    bool primal_falls;   /* P never rises */
    bool ends_by_itself; /* whatever the gap is */
    double target;       /* relative gap that it is asked for; 0: 1e-3 */
} promises;

typedef struct trial {
    watch watch; /* first: the methods hand it back */
    const made *problem;
    const setup *setup;
    const promises *promises;
    bool alone; /* rank 0 by itself */
    uint64_t local, local_blocks, most_rounds;
    double target;         /* of the relative gap */
    uint64_t width;        /* dual variables of an instance */
    double *alpha;         /* [l][width] of all ranks; on rank 0, and where the method has blocks */
    double *w;             /* of the last round */
    int *counts, *offsets; /* [size] of what rank 0 collects: alpha and a hash from each */
    double first_gap, last_gap, last_dual, last_primal;
    bool has_blocks, finished;
    bool refused; /* the method does not serve the problem */
    uint64_t rounds;
    char why[400]; /* the first thing that was wrong, "" if none */
} trial;

extern int rank, size;
extern char text_path[32]; /* where rank 0 keeps the problem at hand for all to read */

trial *trial_new(const made *g, const setup *s, bool alone);
void trial_free(trial *t);

/* Trains over all ranks, or alone. */
void trial_run(trial *t, comm *c);

/* The first complaint stays. */
void expect(trial *t, bool ok, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Of w, alpha and the number of rounds, on rank 0. */
uint64_t trial_hash(const trial *t);

/* judge.c: rank 0 compares a round with what the checker says. */
void judge_round(trial *t, const round_report *r, const double *model, const double *w);
/* A method that is refused: does the sentence name methods, and do they serve? */
void judge_refusal(trial *t, const problem *p, const bda_error *err);
const promises *promises_of(const setup *s);

#endif
