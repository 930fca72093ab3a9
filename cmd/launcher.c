/* launcher.c - has a launcher started several processes that know nothing of each other?
 *
 * That is what happens where srun is not told which MPI to speak (--mpi), where the mpirun is that of another MPI
 * library, and where a batch script forgets srun: every process does the whole work and writes the same files. */
#include <stdio.h>
#include <stdlib.h>

#include "cmd.h"

/* In the order in which they are asked: a launcher's own word counts more than that of the allocation around it. */
static const struct {
    const char *size, *rank;
} variables[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"}, /* Open MPI */
    {"PMI_SIZE", "PMI_RANK"},                         /* MPICH, Intel MPI */
    {"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"},   /* MVAPICH2 */
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"},         /* srun */
    {"SLURM_NTASKS", "SLURM_PROCID"},                 /* sbatch, salloc */
};

bool may_speak(void)
{
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *rank = getenv(variables[i].rank);
        if (rank)
            return atoi(rank) == 0;
    }
    return true;
}

void warn_if_alone(int ranks)
{
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *size = getenv(variables[i].size), *rank = getenv(variables[i].rank);
        if (!size)
            continue;
        if (ranks == 1 && atoi(size) > 1 && (!rank || atoi(rank) == 0))
            fprintf(
                stderr,
                "bda: warning: %s is %d, but this process is alone; if the ranks were to work together, start them "
                "with the mpirun of the MPI library that bda was built with, or with srun --mpi=pmix\n",
                variables[i].size, atoi(size));
        return;
    }
}
