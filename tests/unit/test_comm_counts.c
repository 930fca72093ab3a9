/* test_comm_counts.c - counts beyond 2^31: a communicator whose operations only look at what they are asked. No
 * single message may have more than INT_MAX elements, together they must cover the whole range once and in order.
 * Memory that is touched is a few megabytes, mapped over and over; the rest cannot be touched at all. */
#include "comm/comm.h"
#include "comm/operations.h"
#include "unit/cmocka_all.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BEYOND (((uint64_t)1 << 31) + 12345)

static struct {
    uint64_t elements, messages, sent, received;
    const char *next;      /* where the following message must begin; NULL: anywhere */
    uint64_t others_count; /* what rank 1 says it will send, to rank 0 */
} seen;

static void see(const void *address, int count, uint64_t size)
{
    assert_true(count > 0);
    assert_true(!seen.next || seen.next == address);
    if (seen.next)
        seen.next += (uint64_t)count * size;
    seen.elements += (uint64_t)count;
    seen.messages++;
}

static void fake_sum(comm *c, void *x, int count)
{
    if (x == c->per_rank) {
        c->per_rank[1] += seen.others_count;
        return;
    }
    if (seen.sent == 0) /* otherwise it is the statistics of an exchange */
        see(x, count, 8);
}

static void fake_max(comm *c, int64_t *x, int count)
{
    (void)c;
    see(x, count, 8);
}

static void fake_broadcast(comm *c, int from, void *bytes, int count)
{
    assert_true(from >= 0 && from < c->size);
    see(bytes, count, 1);
}

static void fake_send(comm *c, int to, const void *bytes, int count)
{
    assert_true(c->rank == 1 && to == 0);
    see(bytes, count, 1);
}

static void fake_receive(comm *c, int from, void *bytes, int count)
{
    assert_true(c->rank == 0 && from == 1 && bytes == c->units);
    assert_true((uint64_t)count <= COMM_UNITS * 8);
    seen.received += (uint64_t)count;
}

/* Two ranks: what is sent ahead goes to the other, and what it sends is received. */
static void fake_swap(comm *c, int to, const void *out, int out_count, int from, void *in, int in_count)
{
    assert_true(to == 1 - c->rank && from == to && out_count >= 0 && in_count >= 0 &&
                (out_count > 0 || in_count > 0));
    assert_true(out_count == 0 || out);
    seen.sent += (uint64_t)out_count;
    assert_true(out_count == 0 || out);
    if (in_count > 0)
        see(in, in_count, 1);
}

static void fake_close(comm *c)
{
    (void)c;
}

static const comm_operations fake = {.sum = fake_sum,
                                     .max = fake_max,
                                     .broadcast = fake_broadcast,
                                     .send = fake_send,
                                     .receive = fake_receive,
                                     .swap = fake_swap,
                                     .close = fake_close};

static comm *fake_comm(int rank)
{
    bda_error err = {0};
    memset(&seen, 0, sizeof seen);
    comm *c = comm_new(&fake, rank, 2, &err);
    assert_non_null(c);
    return c;
}

/* Addresses without memory behind them. */
static void *reserve(uint64_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(p != MAP_FAILED);
    return p;
}

/* The same 4 MB again and again. */
static void *repeat(uint64_t bytes)
{
    const uint64_t tile = (uint64_t)4 << 20;
    int file = memfd_create("bda-test", MFD_CLOEXEC);
    assert_true(file >= 0 && ftruncate(file, (off_t)tile) == 0);
    char *p = reserve(bytes);
    for (uint64_t at = 0; at < bytes; at += tile) {
        uint64_t length = bytes - at < tile ? bytes - at : tile;
        void *q = mmap(p + at, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_POPULATE, file, 0);
        assert_true(q == p + at);
    }
    close(file);
    return p;
}

static void broadcasts_are_cut(void **state)
{
    (void)state;
    comm *c = fake_comm(0);
    const uint64_t bytes = 5 * BEYOND;
    seen.next = reserve(bytes);
    char *start = (char *)seen.next;
    comm_broadcast(c, 1, start, bytes);
    assert_true(seen.elements == bytes);
    assert_true(seen.messages >= 5 && seen.messages < 20);
    assert_true(comm_said(c)->bytes == bytes);
    munmap(start, bytes);
    bda_comm_free(c);
}

static void exchanges_are_cut(void **state)
{
    (void)state;
    comm *c = fake_comm(1);
    const uint64_t bytes = 3 * BEYOND, sent[2] = {BEYOND, 0}, received[2] = {bytes, 0};
    char *in = reserve(bytes), *out = reserve(BEYOND);
    seen.next = in;
    comm_exchange(c, out, sent, in, received);
    assert_true(seen.elements == bytes && seen.sent == BEYOND);
    assert_true(seen.messages >= 3 && seen.messages < 12);
    munmap(in, bytes);
    munmap(out, BEYOND);
    bda_comm_free(c);
}

static void one_block_is_cut(void **state)
{
    (void)state;
    comm *c = fake_comm(0);
    double *v = reserve(BEYOND * 8);
    const double *parts[] = {v};
    seen.next = (const char *)v;
    comm_sum_vectors(c, 1, 1, parts, 1, BEYOND, v, 1);
    assert_true(seen.elements == BEYOND);
    assert_true(seen.messages >= 2 && seen.messages < 10);
    assert_true(comm_said(c)->vectors == 1 && comm_said(c)->bytes == BEYOND * 8);
    munmap(v, BEYOND * 8);
    bda_comm_free(c);
}

static void vectors_are_cut(void **state)
{
    (void)state;
    comm *c = fake_comm(0);
    double *v = repeat(BEYOND * 8);
    const double *parts[] = {v};
    v[0] = 3, v[BEYOND - 1] = -7;
    comm_sum_vectors(c, 2, 7, parts, 1, BEYOND, v, 1);
    assert_true(seen.elements == BEYOND);
    assert_true(comm_said(c)->vectors == 1 && comm_said(c)->bytes == BEYOND * 8);
    assert_true(v[0] == 3 && v[BEYOND - 1] == -7);
    munmap(v, BEYOND * 8);
    bda_comm_free(c);
}

static void gathered_blocks_are_cut(void **state)
{
    (void)state;
    comm *c = fake_comm(1);
    const uint64_t blocks = BEYOND / 3 + 1, total = 3 * blocks;
    double *all = repeat(total * 8);
    seen.next = (const char *)all;
    /* In place: this rank's numbers already are where they belong. */
    comm_gather_blocks(c, blocks, all + 3 * comm_first_block(blocks, 1, 2), 3, all);
    assert_true(seen.elements == total);
    munmap(all, total * 8);
    bda_comm_free(c);
}

static void count_taken(void *self, const void *bytes, uint64_t count)
{
    (void)bytes;
    *(uint64_t *)self += count;
}

static void collected_bytes_are_cut(void **state)
{
    (void)state;
    const uint64_t bytes = 2 * BEYOND;
    uint64_t taken = 0;
    comm *c = fake_comm(1);
    char *mine = reserve(bytes);
    seen.next = mine;
    comm_collect(c, mine, bytes, count_taken, &taken);
    assert_true(seen.elements == bytes && taken == 0);
    munmap(mine, bytes);
    bda_comm_free(c);

    c = fake_comm(0);
    seen.others_count = bytes;
    comm_collect(c, "abc", 3, count_taken, &taken);
    assert_true(seen.received == bytes && taken == bytes + 3);
    bda_comm_free(c);
}

static void the_limit_can_be_lowered(void **state)
{
    (void)state;
    comm *c = fake_comm(0);
    comm_test_limit(10);
    comm_broadcast(c, 0, reserve(4096), 95);
    assert_int_equal(seen.messages, 10);
    uint64_t counts[95] = {0};
    comm_sum_counts(c, counts, 95);
    assert_int_equal(seen.messages, 20);
    double reals[95] = {0};
    comm_max_reals(c, reals, 95);
    assert_int_equal(seen.messages, 30);
    assert_int_equal(seen.elements, 3 * 95);
    comm_test_limit(0);
    assert_true(comm_limit() > 1000000 && comm_limit() <= INT_MAX);
    bda_comm_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broadcasts_are_cut),      cmocka_unit_test(exchanges_are_cut),
        cmocka_unit_test(one_block_is_cut),        cmocka_unit_test(vectors_are_cut),
        cmocka_unit_test(gathered_blocks_are_cut), cmocka_unit_test(collected_bytes_are_cut),
        cmocka_unit_test(the_limit_can_be_lowered)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
