/* comm.c - see comm.h. Scalars, agreement and bytes, on the operations of operations.h. Most of it is one trick:
 * ranks that own different parts of an array set the rest to 0 and add up the bits as integers, so that every rank
 * has the whole array, unaltered, after one message. */
#include "comm/comm.h"

#include "base/clock.h"
#include "base/vector.h"
#include "comm/operations.h"
#include "comm/pulse.h"

#include <math.h>
#include <string.h>

#define LONGEST ((uint64_t)1 << 30) /* below INT_MAX, with room for what MPI adds */

static uint64_t limit = LONGEST;

uint64_t comm_limit(void)
{
    return limit;
}

void comm_test_limit(uint64_t elements)
{
    limit = elements > 0 && elements < LONGEST ? elements : LONGEST;
}

comm *comm_new(const comm_operations *operations, int rank, int size, bda_error *err)
{
    comm *c = mem_resize(NULL, 0, sizeof *c, "a communicator", err);
    if (!c)
        return NULL;
    *c = (comm){.operations = operations, .rank = rank, .size = size};
    c->units = arena_take(&c->memory, COMM_UNITS, sizeof(int64_t), "a message buffer", err);
    c->per_rank = arena_take(&c->memory, (uint64_t)size, sizeof(uint64_t), "a number for each rank", err);
    if (!c->units || !c->per_rank) {
        comm_delete(c);
        return NULL;
    }
    return c;
}

void comm_delete(comm *c)
{
    if (c)
        arena_free(&c->memory);
    mem_free(c, sizeof *c);
}

void bda_comm_free(bda_comm *c)
{
    if (c) {
        c->operations->close(c); /* may wait for others, who may be lost meanwhile */
        pulse_stop(c->pulse);
    }
    comm_delete(c);
}

int bda_comm_rank(const bda_comm *c)
{
    return c->rank;
}

int bda_comm_size(const bda_comm *c)
{
    return c->size;
}

const comm_stats *comm_said(const comm *c)
{
    return &c->said;
}

uint64_t comm_first_block(uint64_t blocks, int rank, int size)
{
    uint64_t r = (uint64_t)rank, s = (uint64_t)size;
    return r * (blocks / s) + r * (blocks % s) / s;
}

void comm_sum_words(comm *c, void *x, uint64_t count)
{
    double start = clock_now();
    char *bytes = x;
    for (uint64_t done = 0; done < count;) {
        uint64_t piece = count - done < limit ? count - done : limit;
        c->operations->sum(c, bytes + 8 * done, (int)piece);
        done += piece;
    }
    c->said.seconds += clock_now() - start;
}

static void say(comm *c, uint64_t bytes)
{
    c->said.bytes += bytes;
}

void comm_sum_long(comm *c, void *x, uint64_t words)
{
    comm_sum_words(c, x, words);
    say(c, words * sizeof(uint64_t));
}

/* The sentence of a rank travels to all; the first message, when all is well the only one, finds the lowest rank that
 * failed as the largest of -rank. */
bool comm_agree(comm *c, bool ok, bda_error *err)
{
    const int64_t fine = INT64_MIN;
    int64_t worst = ok ? fine : -(int64_t)c->rank;
    double start = clock_now();
    c->operations->max(c, &worst, 1);
    c->said.seconds += clock_now() - start;
    say(c, sizeof worst);
    if (worst == fine)
        return true;
    int from = (int)-worst;
    if (c->rank == from)
        err_set(err, BDA_FAILED, "rank %d failed and did not say why", from);
    comm_broadcast(c, from, err, sizeof *err);
    return false;
}

bool bda_comm_agree(bda_comm *c, bool ok, bda_error *err)
{
    return comm_agree(c, ok, err);
}

void comm_gather_blocks(comm *c, uint64_t blocks, const double *mine, int m, double *all)
{
    uint64_t each = (uint64_t)m, total = blocks * each;
    uint64_t first = comm_first_block(blocks, c->rank, c->size) * each;
    uint64_t end = comm_first_block(blocks, c->rank + 1, c->size) * each;
    if (end > first)
        memmove(all + first, mine, (end - first) * sizeof *all);
    memset(all, 0, first * sizeof *all);
    memset(all + end, 0, (total - end) * sizeof *all);
    comm_sum_long(c, all, total);
}

double comm_column_sum(const double *all, uint64_t blocks, int column, int m)
{
    sum s = {0, 0};
    for (uint64_t k = 0; k < blocks; k++)
        sum_add(&s, all[k * (uint64_t)m + (uint64_t)column]);
    return sum_value(&s);
}

double comm_column_max(const double *all, uint64_t blocks, int column, int m)
{
    double most = -INFINITY;
    for (uint64_t k = 0; k < blocks && !isnan(most); k++) {
        double x = all[k * (uint64_t)m + (uint64_t)column];
        most = x <= most ? most : x;
    }
    return most;
}

void comm_sum_counts(comm *c, uint64_t *x, int m)
{
    comm_sum_long(c, x, (uint64_t)m);
}

void comm_gather_counts(comm *c, uint64_t mine, uint64_t *all)
{
    memset(all, 0, (uint64_t)c->size * sizeof *all);
    all[c->rank] = mine;
    comm_sum_long(c, all, (uint64_t)c->size);
}

uint64_t comm_count_before(comm *c, uint64_t mine)
{
    uint64_t before = 0;
    comm_gather_counts(c, mine, c->per_rank);
    for (int r = 0; r < c->rank; r++)
        before += c->per_rank[r];
    return before;
}

/* Integers in the order of the reals: negative ones have their magnitude bits turned round. All NaN are one, above
 * everything. It is its own inverse but for that. */
static int64_t turn(int64_t bits)
{
    return bits < 0 ? bits ^ INT64_MAX : bits;
}

void comm_max_reals(comm *c, double *x, int m)
{
    const uint64_t room = COMM_UNITS < limit ? COMM_UNITS : limit;
    for (uint64_t done = 0; done < (uint64_t)m;) {
        uint64_t piece = (uint64_t)m - done < room ? (uint64_t)m - done : room;
        for (uint64_t i = 0; i < piece; i++) {
            double value = isnan(x[done + i]) ? (double)NAN : x[done + i];
            int64_t bits;
            memcpy(&bits, &value, sizeof bits);
            c->units[i] = isnan(value) ? INT64_MAX : turn(bits);
        }
        double start = clock_now();
        c->operations->max(c, c->units, (int)piece);
        c->said.seconds += clock_now() - start;
        for (uint64_t i = 0; i < piece; i++) {
            int64_t bits = turn(c->units[i]);
            memcpy(&x[done + i], &bits, sizeof bits);
        }
        done += piece;
    }
    say(c, (uint64_t)m * sizeof *x);
}

void comm_broadcast(comm *c, int from, void *bytes, uint64_t count)
{
    double start = clock_now();
    char *next = bytes;
    for (uint64_t done = 0; done < count;) {
        uint64_t piece = count - done < limit ? count - done : limit;
        c->operations->broadcast(c, from, next + done, (int)piece);
        done += piece;
    }
    c->said.seconds += clock_now() - start;
    say(c, count);
}

void comm_collect(comm *c, const void *bytes, uint64_t count, comm_take take, void *self)
{
    const uint64_t buffer = COMM_UNITS * sizeof *c->units, room = buffer < limit ? buffer : limit;
    comm_gather_counts(c, count, c->per_rank);
    if (c->rank == 0 && count > 0)
        take(self, bytes, count);
    const char *next = bytes;
    for (int r = 1; r < c->size; r++) {
        say(c, c->per_rank[r]);
        for (uint64_t done = 0; done < c->per_rank[r] && (c->rank == 0 || c->rank == r);) {
            uint64_t piece = c->per_rank[r] - done < room ? c->per_rank[r] - done : room;
            double start = clock_now();
            if (c->rank == 0)
                c->operations->receive(c, r, c->units, (int)piece);
            else
                c->operations->send(c, 0, next + done, (int)piece);
            c->said.seconds += clock_now() - start;
            if (c->rank == 0)
                take(self, c->units, piece);
            done += piece;
        }
    }
}
