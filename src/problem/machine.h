/* machine.h - what training is made of, and how long a machine takes for it: work in counts, and seconds from counts.
 *
 * A method declares its work as counts of a few units (methods/cost.c). The table of a machine, nanoseconds for each of
 * these units, turns them into seconds, of which only the proportions matter: they are compared with those of other
 * methods. `bda bench --calibrate` measures a table, `--machine=FILE` gives it to auto. */
#ifndef PROBLEM_MACHINE_H
#define PROBLEM_MACHINE_H

#include "comm/comm.h"

/* T: classes of a problem that has several */
typedef enum machine_unit {
    UNIT_CELL,        /* a nonzero in a pass over the rows, multiplied and added */
    UNIT_CLASS_CELL,  /* the same for one class, where each nonzero serves all of them */
    UNIT_PAIR,        /* two nonzeros of a row multiplied and added to a Hessian */
    UNIT_DENSE,       /* a multiplication in the factors of a dense matrix */
    UNIT_LOSS,        /* the loss of a row and its slope */
    UNIT_STEP,        /* a dual variable's step */
    UNIT_EXPONENTIAL, /* an exponential with the logarithm or division that goes with it */
    UNIT_WIDE_CELL,   /* a nonzero in a product with the Hessian of a softmax, */
    UNIT_WIDE_CLASS,  /* one class of it, */
    UNIT_WIDE_ROW,    /* and one class of a row */
    UNIT_MESSAGE,     /* a message of all ranks, however short */
    UNIT_BYTE,        /* of such a message */
    MACHINE_UNITS
} machine_unit;

_Static_assert(MACHINE_UNITS == BDA_SPEEDS, "the public table has another length");

typedef struct work {
    double count[MACHINE_UNITS];
} work;

/* The table that models are made with where none is given: of one core of a common machine, and of messages that cost
 * nothing, so that the choice of a method depends on nothing but the problem. */
extern const bda_machine machine_usual;

/* Nanoseconds. */
double machine_time(const bda_machine *m, const work *w);

/* Reads what `bda bench --calibrate` prints; names that are missing keep the usual speed. The same on all ranks, of
 * which the first reads. Collective. */
bool machine_read(comm *c, const char *path, bda_machine *m, bda_error *err);

#endif
