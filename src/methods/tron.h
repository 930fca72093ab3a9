/* tron.h - the trust region's rule of TRON, for its tests. */
#ifndef METHODS_TRON_H
#define METHODS_TRON_H

#include <stdbool.h>

#define TRON_ACCEPT 1e-4 /* eta_0: the part of the predicted reduction at which a step is taken */

typedef struct tron_trial {
    double radius;    /* of the region in which the step was sought */
    double length;    /* of the step */
    double slope;     /* gradient times step, negative */
    double actual;    /* P(w) - P(w + step) */
    double predicted; /* the model's, positive */
    bool boundary;    /* the region cut the step short */
} tron_trial;

/* The radius of the next region (Lin and More 1999, section 3). */
double tron_radius(const tron_trial *s);

#endif
