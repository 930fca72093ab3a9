/* jets.h - losses of many instances at once, with their derivatives: loops that the compiler turns into vector
 * instructions, of the same bits for every vector width. */
#ifndef PROBLEM_JETS_H
#define PROBLEM_JETS_H

#include "problem/loss.h"

#define JETS 256

/* call(kind) with a constant kind, so that each loss has loops of its own. */
#define KIND_DISPATCH(kind, call)                                                                                    \
    do {                                                                                                             \
        switch (kind) {                                                                                              \
        case LOSS_HINGE:                                                                                             \
            call(LOSS_HINGE);                                                                                        \
            break;                                                                                                   \
        case LOSS_SQUARED_HINGE:                                                                                     \
            call(LOSS_SQUARED_HINGE);                                                                                \
            break;                                                                                                   \
        case LOSS_LOGISTIC:                                                                                          \
            call(LOSS_LOGISTIC);                                                                                     \
            break;                                                                                                   \
        case LOSS_EPSILON_INSENSITIVE:                                                                               \
            call(LOSS_EPSILON_INSENSITIVE);                                                                          \
            break;                                                                                                   \
        case LOSS_SQUARED_EPSILON_INSENSITIVE:                                                                       \
            call(LOSS_SQUARED_EPSILON_INSENSITIVE);                                                                  \
            break;                                                                                                   \
        case LOSS_SQUARED_ERROR:                                                                                     \
            call(LOSS_SQUARED_ERROR);                                                                                \
            break;                                                                                                   \
        }                                                                                                            \
    } while (0)

typedef struct jets {
    double z[JETS], y[JETS], c[JETS];             /* given: margins, labels (+1, -1) or targets, costs */
    double value[JETS], slope[JETS], curve[JETS]; /* xi and its derivatives by z */
    double conjugate[JETS];                       /* xi*(slope) */
} jets;

/* The results of the first `count` of them; epsilon: half the width of the tube. */
void jets_take(jets *x, loss_kind kind, int count, double epsilon);

#endif
