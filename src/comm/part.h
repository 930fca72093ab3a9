/* part.h - private to src/comm: MPI as a part that is loaded when a launcher or a caller asks for it. The library itself
 * needs no MPI: it finds these functions in libbda-mpi (part_loaded.c), while the program has them within
 * (part_linked.c).
 *
 * A link is what MPI calls a communicator, whatever that is: a number or an address. */
#ifndef COMM_PART_H
#define COMM_PART_H

#include "base/error.h"

typedef uint64_t part_link;

typedef enum part_state { PART_NEW, PART_RUNNING, PART_ENDED } part_state;

typedef struct mpi_part {
    const char *version;       /* of the library that it belongs to; the first member for all time */
    part_state (*state)(void); /* of MPI in this process */
    bool (*start)(void);       /* false: this MPI does not allow threads beside it, and was ended */
    void (*end)(void);
    /* A duplicate of the MPI_Comm at `original`, or of the one of all ranks (NULL). Collective. */
    part_link (*duplicate)(const void *original, int *rank, int *size);
    bool (*agree)(part_link link, bool good); /* are all of them good? */
    void (*free)(part_link link);
    /* As in operations.h. */
    void (*sum)(part_link link, void *x, int count);
    void (*max)(part_link link, int64_t *x, int count);
    void (*broadcast)(part_link link, int from, void *bytes, int count);
    void (*send)(part_link link, int to, const void *bytes, int count);
    void (*receive)(part_link link, int from, void *bytes, int count);
    void (*swap)(part_link link, int to, const void *out, int out_count, int from, void *in, int in_count);
} mpi_part;

/* What libbda-mpi exports. */
BDA_API const mpi_part *bda_mpi_part(void);

/* NULL and a sentence where there is none. */
const mpi_part *part_find(bda_error *err);
/* May MPI be running in this process, so that part_find is worth its while? */
bool part_is_likely(void);

#endif
