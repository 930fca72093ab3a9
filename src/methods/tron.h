/* tron.h - the trust region's rule of TRON, for its tests. */
#ifndef METHODS_TRON_H
#define METHODS_TRON_H

#include <stdbool.h>

typedef struct tron_trial {
    double radius; /* of the region in which the step was sought */
    double length; /* of the step that was found */
    double taken;  /* the part of it at which P is least */
    bool boundary; /* the region cut it short */
} tron_trial;

/* The radius of the next region. */
double tron_radius(const tron_trial *s);

#endif
