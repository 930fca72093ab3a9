/* mpi.c - what we need of MPI; see part.h. Errors of MPI end the program, on the duplicate as MPI does by default: after
 * a lost message there is nobody left to agree with. MPI is called from the main thread alone (MPI_THREAD_FUNNELED). */
#include <mpi.h>
#include <string.h>

#include "comm/part.h"

#define TAG 1

_Static_assert(sizeof(MPI_Comm) <= sizeof(part_link), "a link holds what MPI calls a communicator");

static MPI_Comm comm_of(part_link link)
{
    MPI_Comm c;
    memcpy(&c, &link, sizeof c);
    return c;
}

static part_state mpi_state(void)
{
    int started = 0, ended = 0;
    MPI_Initialized(&started);
    MPI_Finalized(&ended);
    return ended ? PART_ENDED : started ? PART_RUNNING : PART_NEW;
}

static void mpi_end(void)
{
    MPI_Finalize();
}

static bool mpi_start(void)
{
    int support;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &support);
    if (support < MPI_THREAD_FUNNELED)
        MPI_Finalize();
    return support >= MPI_THREAD_FUNNELED;
}

static part_link mpi_duplicate(const void *original, int *rank, int *size)
{
    MPI_Comm copy;
    part_link link = 0;
    MPI_Comm_dup(original ? *(const MPI_Comm *)original : MPI_COMM_WORLD, &copy);
    MPI_Comm_set_errhandler(copy, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_rank(copy, rank);
    MPI_Comm_size(copy, size);
    memcpy(&link, &copy, sizeof copy);
    return link;
}

static bool mpi_agree(part_link link, bool good)
{
    int all = good;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm_of(link));
    return all;
}

static void mpi_free(part_link link)
{
    MPI_Comm c = comm_of(link);
    MPI_Comm_free(&c);
}

static void mpi_sum(part_link link, void *x, int count)
{
    MPI_Allreduce(MPI_IN_PLACE, x, count, MPI_UINT64_T, MPI_SUM, comm_of(link));
}

static void mpi_max(part_link link, int64_t *x, int count)
{
    MPI_Allreduce(MPI_IN_PLACE, x, count, MPI_INT64_T, MPI_MAX, comm_of(link));
}

static void mpi_broadcast(part_link link, int from, void *bytes, int count)
{
    MPI_Bcast(bytes, count, MPI_BYTE, from, comm_of(link));
}

static void mpi_send(part_link link, int to, const void *bytes, int count)
{
    MPI_Send(bytes, count, MPI_BYTE, to, TAG, comm_of(link));
}

static void mpi_receive(part_link link, int from, void *bytes, int count)
{
    MPI_Recv(bytes, count, MPI_BYTE, from, TAG, comm_of(link), MPI_STATUS_IGNORE);
}

static void mpi_swap(part_link link, int to, const void *out, int out_count, int from, void *in, int in_count)
{
    MPI_Sendrecv(out, out_count, MPI_BYTE, out_count > 0 ? to : MPI_PROC_NULL, TAG, in, in_count, MPI_BYTE,
                 in_count > 0 ? from : MPI_PROC_NULL, TAG, comm_of(link), MPI_STATUS_IGNORE);
}

const mpi_part *bda_mpi_part(void)
{
    static const mpi_part part = {.version = BDA_VERSION,
                                  .state = mpi_state,
                                  .start = mpi_start,
                                  .end = mpi_end,
                                  .duplicate = mpi_duplicate,
                                  .agree = mpi_agree,
                                  .free = mpi_free,
                                  .sum = mpi_sum,
                                  .max = mpi_max,
                                  .broadcast = mpi_broadcast,
                                  .send = mpi_send,
                                  .receive = mpi_receive,
                                  .swap = mpi_swap};
    return &part;
}
