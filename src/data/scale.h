/* scale.h - data whose rows or columns are scaled before training (--scale). Sparse rows stay sparse: nothing is
 * centred. */
#ifndef DATA_SCALE_H
#define DATA_SCALE_H

#include "data/data.h"

typedef enum scale_kind {
    SCALE_NONE,
    SCALE_UNIT_ROWS, /* each row by its length */
    SCALE_MAX_ABS,   /* each column by its largest magnitude */
    SCALE_STANDARD,  /* each column by its standard deviation, zeros and weights counted */
} scale_kind;

typedef struct scaled {
    data data;            /* shares with the original all but the values */
    const double *factor; /* [features] by which the columns were multiplied; NULL: 1 */
    arena memory;
} scaled;

/* Rows of one kind of instances; d must live as long. The same factors on all ranks, and for any number of them.
 * Collective. */
bool scale_open(scaled *s, comm *c, const data *d, scale_kind kind, bda_error *err);
void scale_close(scaled *s);

/* The largest over the least of the largest magnitudes of the columns that are not 0. Collective; 1 where there is no
 * memory to find out. */
double scale_spread(comm *c, const data *d);

/* By which a row of that length is multiplied. */
static inline double scale_of_length(double length)
{
    return length > 0 ? 1 / length : 1;
}

#endif
