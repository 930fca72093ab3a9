/* compare.h - what the runs of a report say together: which of them solve the same problem, what its optimum is, how
 * far each is from it, and what it took to come near.
 *
 * Runs belong to one problem where all settings agree that change the objective. Of a problem the runs certify
 *
 *     lower = max -dual  <=  min P  <=  upper = min primal.
 *
 * The optimum f* is taken to be the middle of the two, so every relative distance
 *
 *     (best_primal - f*) / |f*|,   (f* + dual) / |f*|
 *
 * is known up to `floor` = (upper - lower) / 2 |f*|.
 */
#ifndef REPORT_COMPARE_H
#define REPORT_COMPARE_H

#include "report/run.h"

#define TARGETS 6 /* 1e-1, ..., 1e-6 */

enum { MEASURE_PRIMAL, MEASURE_DUAL, MEASURES };

typedef struct reached {
    double rounds, seconds, vectors, bytes; /* NAN: never, or not certain */
} reached;

/* A run seen beside the others of its problem. */
typedef struct compared {
    const run *run;
    uint64_t problem;
    char label[200]; /* the method, and what tells it from others of the problem */
    reached reached[MEASURES][TARGETS];
    double load_seconds;
    /* Sums over all rounds: local, messages, line search, evaluation, other */
    double share[5];
    double seconds; /* of the last round */
} compared;

typedef struct compared_problem {
    char title[300]; /* "data, loss, what else tells it from the others" */
    uint64_t runs;
    double lower, upper, optimum, floor; /* optimum NAN: no run has a round */
} compared_problem;

typedef struct comparison {
    compared *run; /* [runs] ordered by problem, in a problem by method as it came first */
    uint64_t runs;
    compared_problem *problem; /* [problems] */
    uint64_t problems;
} comparison;

/* optimum: known from elsewhere, for a single problem; NAN: from the runs. */
bool comparison_open(comparison *c, const run_list *list, double optimum, bda_error *err);
void comparison_close(comparison *c);

double compare_target(int k); /* 1e-1 for k = 0 */

/* Relative to f* and never below 0; NAN where there is none. */
double compare_primal(const compared_problem *p, const run *r, uint64_t t);
double compare_dual(const compared_problem *p, const run *r, uint64_t t);
/* (best_primal + dual) / |best_primal| */
double compare_gap(const run *r, uint64_t t);

/* Is the setting one of those that define the problem? One that was measured, or follows from others? */
bool compare_defines_problem(const char *setting);
bool compare_is_result(const char *setting);
/* Do the settings of two runs agree, but for the exempt ones (NULL-terminated), results, and when to stop? */
bool compare_same_but(const run *a, const run *b, const char *const *exempt);

#endif
