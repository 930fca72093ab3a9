/* problem.h - what is minimised:  P(w) = g(w) + sum_i xi_i(x_i'w), and its dual. */
#ifndef PROBLEM_PROBLEM_H
#define PROBLEM_PROBLEM_H

#include "data/data.h"
#include "data/fold.h"
#include "problem/loss.h"
#include "problem/method.h"
#include "problem/regulariser.h"
#include "problem/task.h"

typedef struct problem_request {
    const char *task; /* NULL: that of the structure, or the loss's own, classify or regress */
    const loss *loss;
    const struct structure *structure; /* of the units (structured.h) where a task has several; NULL: its first */
    bool apart;                        /* several labels, each against the rest */
    double cost;                       /* C */
    const double *cost_factor;         /* [labels] by class number, NULL for 1 */
    double epsilon;                    /* half-width of the insensitive tube */
    double l1_ratio;                   /* R of the elastic net, 0 for none */
    const double *scale;               /* [features] by which the columns were multiplied; NULL: 1 */
    const double *factor;              /* [features] penalty factors, NULL for 1 */
    double bias;                       /* value of the constant feature; < 0: none */
    bool free_intercept;               /* a constant feature that is not regularised, of a value to be chosen */
    int threads;
} problem_request;

struct problem {
    comm *comm;
    const data *data;
    const task *task;
    const loss *loss;
    penalty penalty;
    fold fold;
    const double *scale;      /* [features] by which the data's columns were multiplied; NULL: 1 */
    rows rows;                /* the data's, folded where that pays, with the constant feature */
    uint64_t nonzeros;        /* of all ranks' rows */
    uint64_t outputs;         /* weights of a column: 1, or T for several classes */
    uint64_t shared;          /* weights that belong to no column, such as transitions between tags */
    uint64_t n;               /* length of w and v: w is [columns][outputs], then [shared] */
    uint64_t classes;         /* labels with a cost of their own; 1 where the task has none */
    struct {                  /* C of a row: problem_cost */
        const double *cost;   /* [classes] by class number; of two classes 1 counts as +1 */
        const double *weight; /* [rows.count] factors; NULL: 1 */
        double weight_all;    /* their sum over all instances; the number of these where there are none */
        double most_cost;     /* the largest C of a row, or a bound of it */
    };
    double epsilon;
    /* Means over some rows of each block: C |x|^2 times the largest second derivative of the loss, or of its square
     * where it has kinks; pairs of cells in a row, each with itself included. */
    double stiffness, pairs;
    int threads;
    struct watch *watch;                  /* of the training under way, for problem_late; NULL: none */
    bool timed;                           /* its time is limited */
    struct {                              /* where the training begins (start.h); members are named directly */
        const double *start;              /* [n] its weights; NULL: 0 */
        double start_primal, primal_at_0; /* P there, and at w = 0 */
    };
    int fields; /* numbers in a word of the messages that carry long vectors, see comm_sum_packed; 0: one */
    arena memory;
};

/* Looks at the labels (one alone is refused) and at some rows, fixes n. Collective. */
bool problem_open(problem *p, comm *c, const data *d, const problem_request *request, bda_error *err);
void problem_close(problem *p);

/* C of a row with the label `class`. */
static inline double problem_cost(const problem *p, uint64_t class, uint64_t row)
{
    return p->weight ? p->cost[class] * p->weight[row] : p->cost[class];
}

/* Is the time of the training up, or does somebody interrupt it, as this rank sees it? Then passes that only make a round
 * better are left out. False for ever where there is no watch. */
bool problem_late(const problem *p);
/* Is it on any rank? A message, and only where the time is limited; otherwise false. Collective. */
bool problem_late_anywhere(const problem *p);

/* The sum of the weights of the instances in the k-th block of this rank. */
double problem_weight(const problem *p, uint64_t k);
/* Chooses `fields` for a training that ends at this gap. */
void problem_pack(problem *p, double gap, bool gap_of_start);
/* For tests: the least length of vectors that are packed; 0: the usual one again. */
void problem_test_packed(uint64_t length);

/* Between the rows of a block that are looked at where some will do: a pass over all costs as much as many a
 * training. */
#define PROBLEM_ROWS_LOOKED_AT 2048
static inline uint64_t problem_stride(uint64_t rows)
{
    return rows / PROBLEM_ROWS_LOOKED_AT + 1;
}

/* From weights [n] to those of the data's features, of the constant one, and the shared ones:
 * [features + bias][outputs], then [shared]. Needed where they differ: the rows are folded, or the columns scaled.
 * Collective. */
bool problem_weights_differ(const problem *p);
void problem_weights(const problem *p, const double *w, double *full);

#endif
