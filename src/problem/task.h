/* task.h - what a unit is, how its loss follows from scores, and what that offers to methods: all that depends on
 * --task, the loss and the number of labels. problem_open chooses one, once; a task is a row of the table in task.c
 * and, where its mathematics is new, a kind of dual blocks and a primal kind. */
#ifndef PROBLEM_TASK_H
#define PROBLEM_TASK_H

#include "problem/loss.h"

struct block_kind;
struct primal_kind;
struct structure;

typedef struct task {
    const char *name;     /* as --task has it */
    unsigned losses;      /* TASK_LOSS of each that it takes */
    const char *usual;    /* the loss of the task of this name where none is asked for; of its other rows NULL */
    uint64_t least, most; /* numbers of labels; most 0: any */
    bool apart;           /* several labels are learnt one against the rest each, --multiclass=one-vs-rest */

    /* A unit is a row with a target; of labelled ones this is one of at least two labels, each with a cost of its own.
     * Otherwise `structure` says what it is. */
    bool labelled;
    const struct structure *structure;    /* of units of several rows, for their blocks; NULL: a unit is a row */
    uint64_t (*outputs)(uint64_t labels); /* weights of a column; NULL: 1 */
    uint64_t (*shared)(uint64_t labels);  /* weights of no column; NULL: none */

    /* Traits of xi, and of its conjugate on alpha */
    bool single;   /* xi is a function of one number, x'w */
    bool smooth;   /* xi is differentiable */
    bool entropic; /* xi* is an entropy: every variable moves in each visit, and slopes are infinite at the ends */
    bool sparse;   /* few of a unit's many variables are not 0; a visit changes few outputs */
    int lengths;   /* of w whose gaps block_evaluate can leave, at most BLOCK_LENGTHS; 0: it cannot */
    double bend;   /* the largest second derivative of xi along a score, or of its square where it has kinks; C = 1 */
    double steepness; /* a bound of the second derivative of xi, of its slope where it has kinks; C = 1 */
    /* What is taken where nobody asks for others; cost 0: what the options say. Accuracy no longer rises there. P(0)
     * of several rows counts every row as wrong, and so is a measure of the gap that is easily met. */
    double cost, gap;
    bool gap_of_start;

    uint64_t kept; /* numbers of a row in a kept point (points.h), about; 0: one for each output */

    const struct block_kind *dual;
    const struct primal_kind *primal; /* instances.h; NULL: not offered */
} task;

#define TASK_LOSS(kind) (1u << (kind))

extern const task *const task_table[]; /* NULL-terminated */

/* The first that takes them. labels 0: not known yet, and any number will do. structure NULL: any. NULL: there is none. */
const task *task_find(const char *name, const loss *l, uint64_t labels, const struct structure *structure);
/* The same, where several labels are learnt apart if there is a choice. */
const task *task_find_apart(const char *name, const loss *l, uint64_t labels);

/* The loss of the task of that name where none is asked for. */
const char *task_usual_loss(const char *name);

/* The name of the task of a structure; without one that of rows which a loss is for: classify or regress. */
const char *task_of_loss(const loss *l, const struct structure *structure);

static inline uint64_t task_outputs(const task *t, uint64_t labels)
{
    return t->outputs ? t->outputs(labels) : 1;
}

static inline uint64_t task_shared(const task *t, uint64_t labels)
{
    return t->shared ? t->shared(labels) : 0;
}

#endif
