/* exact.c - times the exact sum of vectors of src/comm against a plain MPI_Allreduce of doubles, one block a rank.
 *
 *     mpirun -n 2 exact N REPEATS      prints two numbers: seconds of the plain sum, seconds of the exact one
 * (minima)
 *
 * Both begin after a barrier, and a repeat counts with its slowest rank. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "comm/comm.h"

static double slowest(double seconds)
{
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return seconds;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    if (argc != 3) {
        fprintf(stderr, "usage: exact N REPEATS\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    uint64_t n = strtoull(argv[1], NULL, 10);
    int repeats = atoi(argv[2]), rank, size;
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    bda_error err = {0};
    comm *c = bda_comm_mpi(&world, &err);
    double *part = malloc(n * sizeof *part), *sum = malloc(n * sizeof *sum);
    if (!c || !part || !sum)
        MPI_Abort(world, 1);
    for (uint64_t j = 0; j < n; j++)
        part[j] = sin((double)(j + 1) * (rank + 1));
    double plain = INFINITY, exact = INFINITY;
    for (int k = 0; k < repeats; k++) {
        MPI_Barrier(world);
        double begin = MPI_Wtime();
        MPI_Allreduce(part, sum, (int)n, MPI_DOUBLE, MPI_SUM, world);
        plain = fmin(plain, slowest(MPI_Wtime() - begin));
        MPI_Barrier(world);
        begin = MPI_Wtime();
        comm_sum_vectors(c, (uint64_t)size, 1, (const double *const[]){part}, 1, n, sum, 1);
        exact = fmin(exact, slowest(MPI_Wtime() - begin));
    }
    if (rank == 0)
        printf("%.9f %.9f\n", plain, exact);
    free(part);
    free(sum);
    bda_comm_free(c);
    MPI_Finalize();
    return 0;
}
