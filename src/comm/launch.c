/* launch.c - a communicator over MPI, through part.h. */
#include <stdlib.h>
#include <string.h>

#include "comm/guard.h"
#include "comm/operations.h"
#include "comm/part.h"

typedef struct mpi_link {
    const mpi_part *part;
    part_link link;
    bool ends_mpi; /* we started MPI, so we end it */
} mpi_link;

static const mpi_link *of(const comm *c)
{
    return c->link;
}

static void mpi_sum(comm *c, void *x, int count)
{
    of(c)->part->sum(of(c)->link, x, count);
}

static void mpi_max(comm *c, int64_t *x, int count)
{
    of(c)->part->max(of(c)->link, x, count);
}

static void mpi_broadcast(comm *c, int from, void *bytes, int count)
{
    of(c)->part->broadcast(of(c)->link, from, bytes, count);
}

static void mpi_send(comm *c, int to, const void *bytes, int count)
{
    of(c)->part->send(of(c)->link, to, bytes, count);
}

static void mpi_receive(comm *c, int from, void *bytes, int count)
{
    of(c)->part->receive(of(c)->link, from, bytes, count);
}

static void mpi_swap(comm *c, int to, const void *out, int out_count, int from, void *in, int in_count)
{
    of(c)->part->swap(of(c)->link, to, out, out_count, from, in, in_count);
}

static void mpi_close(comm *c)
{
    const mpi_link *l = of(c);
    l->part->free(l->link);
    if (l->ends_mpi)
        l->part->end();
}

static const comm_operations mpi = {.sum = mpi_sum,
                                    .max = mpi_max,
                                    .broadcast = mpi_broadcast,
                                    .send = mpi_send,
                                    .receive = mpi_receive,
                                    .swap = mpi_swap,
                                    .close = mpi_close};

/* BDA_SHARED_MEMORY=off: what runs on one machine behaves as on several. */
static bool choose_sharing(comm *c, bda_error *err)
{
    const char *word = getenv("BDA_SHARED_MEMORY");
    c->apart = word && strcmp(word, "off") == 0;
    return !word || !*word || c->apart || strcmp(word, "on") == 0 ||
           err_set(err, BDA_FAILED, "the environment has BDA_SHARED_MEMORY=%.100s, which must be on or off", word);
}

/* Collective, also in its failures: a rank that cannot go on is known to all before anyone returns. */
static bda_comm *duplicate(const mpi_part *part, const void *original, bool ends_mpi, bda_error *err)
{
    int rank, size;
    const part_link link = part->duplicate(original, &rank, &size);
    comm *c = comm_new(&mpi, rank, size, err);
    mpi_link *l = c ? ARENA_TAKE(&c->memory, mpi_link, 1, err) : NULL;
    bool good = part->agree(link, l != NULL);
    if (!good)
        err_set(err, BDA_FAILED, "out of memory on another rank, for its communicator");
    else if (!(good = part->agree(link, choose_sharing(c, err))))
        err_set(err, BDA_FAILED, "BDA_SHARED_MEMORY of another rank is neither on nor off");
    if (!good) {
        comm_delete(c);
        part->free(link);
        return NULL;
    }
    *l = (mpi_link){.part = part, .link = link, .ends_mpi = ends_mpi};
    c->link = l;
    return c;
}

bda_comm *bda_comm_mpi(const void *mpi_comm, bda_error *err)
{
    const mpi_part *part = part_find(err);
    if (!part)
        return NULL;
    if (part->state() != PART_RUNNING) {
        err_set(err, BDA_FAILED,
                "a communicator of MPI is of use between MPI_Init and MPI_Finalize only, and of the MPI that this "
                "library was built with");
        return NULL;
    }
    return duplicate(part, mpi_comm, false, err);
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

static bda_comm *launch(guard *g, bda_error *err)
{
    if (!started_by_launcher() && !part_is_likely())
        return bda_comm_single(err);
    const mpi_part *part = part_find(err);
    if (!part)
        return NULL;
    const part_state state = part->state();
    if (state == PART_ENDED) {
        err_set(err, BDA_FAILED, "MPI has been ended in this process, and cannot be started again");
        return NULL;
    }
    if (state == PART_NEW && !started_by_launcher())
        return bda_comm_single(err);
    if (state == PART_NEW && !part->start()) {
        err_set(err, BDA_FAILED, "this MPI library does not allow threads (MPI_THREAD_FUNNELED) beside it");
        return NULL;
    }
    guard_begin(g);
    bda_comm *c = duplicate(part, NULL, state == PART_NEW, err);
    if (!c && state == PART_NEW)
        part->end();
    return c;
}

bda_comm *bda_comm_launch(bda_error *err)
{
    return launch(NULL, err);
}

bda_comm *bda_comm_launch_watched(double patience, void (*lost)(void *self, int rank, bool first), void *self,
                                  bda_error *err)
{
    guard g = {.patience = patience, .lost = lost, .self = self, .fd = -1};
    bda_comm *c = launch(&g, err);
    if (c && !bda_comm_watch(c, patience, lost, self, err)) {
        bda_comm_free(c);
        c = NULL;
    }
    guard_end(&g);
    return c;
}
