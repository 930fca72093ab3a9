/* mpi.c - a communicator over MPI. Errors of MPI end the program, on the duplicate as MPI does by default: after a
 * lost message there is nobody left to agree with. MPI is called from the main thread alone (MPI_THREAD_FUNNELED). */
#include "comm/operations.h"

#include <mpi.h>
#include <stdlib.h>

#define TAG 1

typedef struct mpi_link {
    MPI_Comm comm;
    bool ends_mpi; /* we started MPI, so we end it */
} mpi_link;

static MPI_Comm mpi_of(const comm *c)
{
    return ((const mpi_link *)c->link)->comm;
}

static void mpi_sum(comm *c, void *x, int count)
{
    MPI_Allreduce(MPI_IN_PLACE, x, count, MPI_UINT64_T, MPI_SUM, mpi_of(c));
}

static void mpi_max(comm *c, int64_t *x, int count)
{
    MPI_Allreduce(MPI_IN_PLACE, x, count, MPI_INT64_T, MPI_MAX, mpi_of(c));
}

static void mpi_broadcast(comm *c, int from, void *bytes, int count)
{
    MPI_Bcast(bytes, count, MPI_BYTE, from, mpi_of(c));
}

static void mpi_send(comm *c, int to, const void *bytes, int count)
{
    MPI_Send(bytes, count, MPI_BYTE, to, TAG, mpi_of(c));
}

static void mpi_receive(comm *c, int from, void *bytes, int count)
{
    MPI_Recv(bytes, count, MPI_BYTE, from, TAG, mpi_of(c), MPI_STATUS_IGNORE);
}

static void mpi_swap(comm *c, int to, const void *out, int out_count, int from, void *in, int in_count)
{
    MPI_Sendrecv(out, out_count, MPI_BYTE, out_count > 0 ? to : MPI_PROC_NULL, TAG, in, in_count, MPI_BYTE,
                 in_count > 0 ? from : MPI_PROC_NULL, TAG, mpi_of(c), MPI_STATUS_IGNORE);
}

static void mpi_close(comm *c)
{
    mpi_link *l = c->link;
    MPI_Comm_free(&l->comm);
    if (l->ends_mpi)
        MPI_Finalize();
}

static const comm_operations mpi = {.sum = mpi_sum,
                                    .max = mpi_max,
                                    .broadcast = mpi_broadcast,
                                    .send = mpi_send,
                                    .receive = mpi_receive,
                                    .swap = mpi_swap,
                                    .close = mpi_close};

/* Collective, also in its failures: a rank without memory is known to all before anyone returns. */
static bda_comm *duplicate(MPI_Comm original, bool ends_mpi, bda_error *err)
{
    MPI_Comm copy;
    int rank, size, good;
    MPI_Comm_dup(original, &copy);
    MPI_Comm_set_errhandler(copy, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_rank(copy, &rank);
    MPI_Comm_size(copy, &size);
    comm *c = comm_new(&mpi, rank, size, err);
    mpi_link *l = c ? ARENA_TAKE(&c->memory, mpi_link, 1, err) : NULL;
    good = l != NULL;
    MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, copy);
    if (!good) {
        err_set(err, BDA_FAILED, "out of memory on another rank, for its communicator");
        comm_delete(c);
        MPI_Comm_free(&copy);
        return NULL;
    }
    *l = (mpi_link){.comm = copy, .ends_mpi = ends_mpi};
    c->link = l;
    return c;
}

bda_comm *bda_comm_mpi(const void *mpi_comm, bda_error *err)
{
    int started = 0, ended = 0;
    MPI_Initialized(&started);
    MPI_Finalized(&ended);
    if (!started || ended) {
        err_set(err, BDA_FAILED, "a communicator of MPI is of use between MPI_Init and MPI_Finalize only");
        return NULL;
    }
    return duplicate(*(const MPI_Comm *)mpi_comm, false, err);
}

/* Variables that launchers set for every process: Open MPI's mpirun; PMIx (Open MPI 5, srun --mpi=pmix); PMI-1 and 2
 * (Hydra of MPICH, Intel MPI and MVAPICH2, srun --mpi=pmi2). */
static bool started_by_launcher(void)
{
    static const char *const names[] = {
        "OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE", "PMI_FD", "PMI_PORT"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (getenv(names[i]))
            return true;
    return false;
}

bda_comm *bda_comm_launch(bda_error *err)
{
    int started = 0, ended = 0, support;
    MPI_Initialized(&started);
    MPI_Finalized(&ended);
    if (ended) {
        err_set(err, BDA_FAILED, "MPI has been ended in this process, and cannot be started again");
        return NULL;
    }
    if (started)
        return duplicate(MPI_COMM_WORLD, false, err);
    if (!started_by_launcher())
        return bda_comm_single(err);
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &support);
    if (support < MPI_THREAD_FUNNELED) {
        MPI_Finalize();
        err_set(err, BDA_FAILED, "this MPI library does not allow threads (MPI_THREAD_FUNNELED) beside it");
        return NULL;
    }
    bda_comm *c = duplicate(MPI_COMM_WORLD, true, err);
    if (!c)
        MPI_Finalize();
    return c;
}
