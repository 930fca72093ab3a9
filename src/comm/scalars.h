/* scalars.h - messages of a few numbers from each block. Every rank then has those of all blocks in their order, so
 * sums and maxima over them have the same bits on any number of ranks. */
#ifndef COMM_SCALARS_H
#define COMM_SCALARS_H

#include "base/memory.h"
#include "comm/comm.h"

typedef struct scalars {
    comm *comm;
    uint64_t blocks; /* of all ranks */
    uint64_t local;  /* blocks of this rank */
    int columns;     /* of the last message: numbers from a block */
    double *mine;    /* [local][columns] to send */
    double *all;     /* [blocks][columns] received */
} scalars;

/* Memory for messages of at most `most` columns, in place of what there was. Local. */
bool scalars_take(scalars *s, arena *memory, int most, bda_error *err);

/* mine -> all. Collective. */
void scalars_gather(scalars *s, int columns);

/* Of one column over all blocks; the maximum is NaN where any block has it. */
double scalars_sum(const scalars *s, int column);
double scalars_max(const scalars *s, int column);

#endif
