/* check.h - for test programs that run on several ranks: a failed CHECK says where and ends all of them. */
#ifndef MPI_CHECK_H
#define MPI_CHECK_H

#include <mpi.h>
#include <stdio.h>

#define CHECK(condition)                                                                                             \
    do {                                                                                                             \
        if (!(condition)) {                                                                                          \
            fprintf(stderr, "%s:%d: %s is false\n", __FILE__, __LINE__, #condition);                                 \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                                            \
        }                                                                                                            \
    } while (0)

#endif
