/* sizes.h - from how large a problem on something is done by which only large ones gain. Tests make the sizes small, so
 * that small problems go the ways of large ones. */
#ifndef BASE_SIZES_H
#define BASE_SIZES_H

#include <stdbool.h>
#include <stdint.h>

typedef struct sizes {
    uint64_t far_weights;      /* more are not all in a core's own cache: they are asked for ahead within a row */
    uint64_t farther_weights;  /* more are in no cache: they are asked for some rows ahead */
    uint64_t unordered_shared; /* more shared weights are put in the order of how many rows want them */
    uint64_t timed_weights;    /* with as many messages may take longer than passes: hull looks at the clock */
    uint64_t shared_cells; /* as many, times classes, take long enough for auto to let blocks share their u: below,
                                  a training takes no time, and the same bits are worth more */
} sizes;

/* Read only, but for sizes_shrink. */
extern sizes base_sizes;

/* For tests: each is 1, or what it usually is. */
void sizes_shrink(bool small);

#endif
