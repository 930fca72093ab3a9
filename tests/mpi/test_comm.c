/* test_comm.c - what ranks say to each other, at any number of ranks. Every rank knows all the data, so it computes
 * by itself what must come back; a vector's sum must have the bits that a single rank without MPI gives, and be
 * within the rounding of the grid of the sum in long double. */
#include "base/memory.h"
#include "base/random.h"
#include "comm/comm.h"
#include "comm/operations.h"
#include "mpi/check.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCKS 16

typedef enum kind { PLAIN, MIXED, HUGE_VALUES, DENORMAL, SPARSE, KINDS } kind;

static double number(kind k, rng *r)
{
    double u = rng_uniform(r) - 0.5;
    switch (k) {
    case MIXED:
        return ldexp(u, (int)rng_below(r, 120) - 60);
    case HUGE_VALUES:
        return u * 1e300;
    case DENORMAL:
        return (double)(int)rng_below(r, 2001) * 0x1p-1074 - 1000 * 0x1p-1074;
    case SPARSE:
        return rng_below(r, 10) == 0 ? u : 0;
    default:
        return u;
    }
}

/* sum = exact up to half a unit of the grid for each block, and half a unit in its own last place */
static void check_accuracy(const double *const *part, uint64_t blocks, double largest, uint64_t n, const double *sum)
{
    long double unit = ldexpl((long double)largest * blocks, -61);
    for (uint64_t j = 0; j < n; j++) {
        long double exact = 0;
        for (uint64_t b = 0; b < blocks; b++)
            exact += part[b][j];
        long double allowed = blocks * unit / 2 + fabsl(exact) * DBL_EPSILON + 0x1p-1074L;
        CHECK(fabsl(sum[j] - exact) <= allowed);
    }
}

static void check_sum(comm *c, comm *single, kind k, uint64_t blocks, uint64_t n, int threads)
{
    double *data = malloc((blocks + 2) * (n + 1) * sizeof *data), *part[BLOCKS];
    double *sum = data + blocks * n, *expected = sum + n, largest = 0;
    for (uint64_t b = 0; b < blocks; b++) {
        rng r;
        rng_open(&r, (uint64_t)k, n, b);
        part[b] = data + b * n;
        for (uint64_t j = 0; j < n; j++) {
            part[b][j] = number(k, &r);
            largest = fmax(largest, fabs(part[b][j]));
        }
    }
    uint64_t first = comm_first_block(blocks, c->rank, c->size);
    int parts = (int)(comm_first_block(blocks, c->rank + 1, c->size) - first);
    const double *const *all = (const double *const *)part;
    comm_sum_vectors(single, blocks, largest, all, (int)blocks, n, expected, 1);
    if (blocks > 1)
        check_accuracy(all, blocks, largest, n, expected);
    else
        CHECK(memcmp(expected, part[0], n * sizeof *sum) == 0);

    memset(sum, 77, n * sizeof *sum);
    comm_sum_vectors(c, blocks, largest, all + first, parts, n, sum, threads);
    CHECK(memcmp(sum, expected, n * sizeof *sum) == 0);
    if (parts > 0) {
        double *last = part[first + (uint64_t)parts - 1];
        comm_sum_vectors(c, blocks, largest, all + first, parts, n, last, threads);
        CHECK(memcmp(last, expected, n * sizeof *sum) == 0);
    } else {
        comm_sum_vectors(c, blocks, largest, NULL, 0, n, sum, threads);
    }
    free(data);
}

static void test_sums(comm *c, comm *single)
{
    static const uint64_t blocks[] = {1, 2, 3, 6, 7, 16}, lengths[] = {0, 1, 100, 4097, 140001};
    for (kind k = 0; k < KINDS; k++)
        for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
            for (size_t j = 0; j < sizeof lengths / sizeof lengths[0]; j++)
                if (lengths[j] < 10000 || k == PLAIN || k == MIXED)
                    check_sum(c, single, k, blocks[i], lengths[j], 1 + (int)(i + j) % 2);
    comm_test_limit(13);
    check_sum(c, single, MIXED, 6, 100, 1);
    check_sum(c, single, PLAIN, 1, 100, 1);
    comm_test_limit(0);
}

/* The grid's ends: equal numbers of the largest size in all blocks, and nothing at all. */
static void test_extremes(comm *c)
{
    static const double sizes[] = {1, 0x1.fffffffffffffp0, DBL_MAX / 32, DBL_MIN, 0x1p-1074};
    double values[BLOCKS][2], sum[2];
    const double *part[BLOCKS];
    uint64_t first = comm_first_block(BLOCKS, c->rank, c->size);
    int parts = (int)(comm_first_block(BLOCKS, c->rank + 1, c->size) - first);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (int b = 0; b < BLOCKS; b++) {
            values[b][0] = sizes[i], values[b][1] = -sizes[i];
            part[b] = values[b];
        }
        comm_sum_vectors(c, BLOCKS, sizes[i], part + first, parts, 2, sum, 1);
        CHECK(sum[0] == BLOCKS * sizes[i] && sum[1] == -BLOCKS * sizes[i]);
        comm_sum_vectors(c, BLOCKS, 0, part + first, parts, 2, sum, 1);
        CHECK(sum[0] == 0 && sum[1] == 0);
        comm_sum_vectors(c, BLOCKS, NAN, part + first, parts, 2, sum, 1);
        CHECK(isnan(sum[0]) && isnan(sum[1]));
        comm_sum_vectors(c, BLOCKS, INFINITY, part + first, parts, 2, sum, 1);
        CHECK(isnan(sum[0]));
    }
    /* One block passes as it is: signed zeros, infinities and NaN with their bits. */
    uint64_t bits[] = {0x8000000000000000, 0x7ff0000000000000, 0xfff8000000000123, 1, 0x7ff4000000000000}, back[5];
    double odd[5], got[5];
    const double *only = odd;
    memcpy(odd, bits, sizeof odd);
    int owner = (int)(comm_first_block(1, c->rank + 1, c->size) - comm_first_block(1, c->rank, c->size));
    comm_sum_vectors(c, 1, 1, &only, owner, 5, got, 1);
    memcpy(back, got, sizeof back);
    CHECK(memcmp(back, bits, sizeof bits) == 0);
}

static void test_gather(comm *c)
{
    static const uint64_t blocks[] = {1, 4, 7, 16};
    for (int limited = 0; limited < 2; limited++) {
        comm_test_limit(limited ? 5 : 0);
        for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
            for (int m = 1; m <= 3; m++) {
                double all[BLOCKS * 3], mine[BLOCKS * 3];
                uint64_t first = comm_first_block(blocks[i], c->rank, c->size);
                uint64_t end = comm_first_block(blocks[i], c->rank + 1, c->size);
                for (uint64_t k = 0; k < (end - first) * (uint64_t)m; k++)
                    mine[k] = -1.0 / (double)(first * (uint64_t)m + k + 1);
                memset(all, 77, sizeof all);
                comm_gather_blocks(c, blocks[i], mine, m, all);
                for (uint64_t k = 0; k < blocks[i] * (uint64_t)m; k++)
                    CHECK(all[k] == -1.0 / (double)(k + 1));
                comm_gather_blocks(c, blocks[i], all + first * (uint64_t)m, m, all);
                for (uint64_t k = 0; k < blocks[i] * (uint64_t)m; k++)
                    CHECK(all[k] == -1.0 / (double)(k + 1));
            }
    }
    comm_test_limit(0);
}

static void test_counts(comm *c)
{
    uint64_t size = (uint64_t)c->size, rank = (uint64_t)c->rank, big = (uint64_t)1 << 60;
    uint64_t x[] = {rank + 1, big + rank, 0};
    comm_sum_counts(c, x, 3);
    CHECK(x[0] == size * (size + 1) / 2 && x[1] == size * big + size * (size - 1) / 2 && x[2] == 0);
    CHECK(comm_count_before(c, big + rank) == rank * big + rank * (rank - 1) / 2);
    uint64_t *all = malloc(size * sizeof *all);
    comm_gather_counts(c, 10 * rank + 3, all);
    for (uint64_t r = 0; r < size; r++)
        CHECK(all[r] == 10 * r + 3);
    free(all);
}

static void test_max(comm *c)
{
    const double last = c->size - 1;
    double x[] = {(double)c->rank, -(double)c->rank - 1, c->rank == 0 ? -INFINITY : -1e300,
                  c->rank == c->size - 1 ? -(double)NAN : INFINITY, -5e-324 * c->rank};
    comm_max_reals(c, x, 5);
    CHECK(x[0] == last && x[1] == -1 && x[2] == (c->size == 1 ? -INFINITY : -1e300) && isnan(x[3]) && x[4] == 0);
}

typedef struct taken {
    unsigned char *bytes;
    uint64_t count;
} taken;

static void take(void *self, const void *bytes, uint64_t count)
{
    taken *t = self;
    memcpy(t->bytes + t->count, bytes, count);
    t->count += count;
}

static uint64_t share(int rank)
{
    static const uint64_t shares[] = {1000, 0, 3000001, 7, 2097152};
    return shares[rank % 5];
}

static unsigned char byte_of(int rank, uint64_t i)
{
    return (unsigned char)(i * 31 + (uint64_t)rank * 7 + i / 1000);
}

static void test_bytes(comm *c)
{
    for (int limited = 0; limited < 2; limited++) {
        comm_test_limit(limited ? 100003 : 0);
        uint64_t count = share(c->rank), total = 0;
        unsigned char *mine = malloc(count + 1);
        for (uint64_t i = 0; i < count; i++)
            mine[i] = byte_of(c->rank, i);
        for (int r = 0; r < c->size; r++)
            total += share(r);
        taken t = {.bytes = malloc(total)};
        comm_collect(c, mine, count, take, &t);
        CHECK(t.count == (c->rank == 0 ? total : 0));
        for (uint64_t r = 0, at = 0; c->rank == 0 && r < (uint64_t)c->size; r++)
            for (uint64_t i = 0; i < share((int)r); i++, at++)
                CHECK(t.bytes[at] == byte_of((int)r, i));
        for (int from = 0; from < c->size; from++) {
            if (c->rank == from)
                memcpy(t.bytes, mine, count);
            comm_broadcast(c, from, t.bytes, share(from));
            for (uint64_t i = 0; i < share(from); i++)
                CHECK(t.bytes[i] == byte_of(from, i));
        }
        free(mine);
        free(t.bytes);
    }
    comm_test_limit(0);
}

/* Every set of failing ranks: all hear the lowest one's sentence, with its status. */
static void test_agree(comm *c)
{
    for (unsigned failing = 0; failing < 1u << c->size; failing++) {
        bda_error err = {0};
        char expected[100];
        int lowest = 0;
        bool ok = !(failing >> c->rank & 1);
        if (!ok)
            err_set(&err, c->rank % 2 ? BDA_USAGE : BDA_FAILED, "rank %d saw it", c->rank);
        bool agreed = bda_comm_agree(c, ok, &err);
        CHECK(agreed == (failing == 0));
        if (failing == 0) {
            CHECK(err.status == BDA_OK && err.text[0] == 0);
            continue;
        }
        while (!(failing >> lowest & 1))
            lowest++;
        snprintf(expected, sizeof expected, "rank %d saw it", lowest);
        CHECK(strcmp(err.text, expected) == 0);
        CHECK(err.status == (lowest % 2 ? BDA_USAGE : BDA_FAILED));
    }
    bda_error err = {0};
    CHECK(!comm_agree(c, c->rank != c->size - 1, &err));
    CHECK(err.status == BDA_FAILED && strstr(err.text, "did not say why"));
}

/* Two views on each rank: what is written to one before its own part ends, it alone has; what is after, all have. */
static void test_views(comm *c)
{
    const uint64_t own = (uint64_t)sysconf(_SC_PAGESIZE) / sizeof(double), n = 3 * own + 7,
                   bytes = n * sizeof(double);
    double *x = comm_share(c, bytes), *view[2];
    CHECK(x);
    comm_meet(c);
    for (int k = 0; k < 2; k++) {
        CHECK(view[k] = comm_view(x, bytes, own * sizeof *x));
        view[k][own - 1] = 2 * c->rank + k + 1;
        view[k][own + (uint64_t)(2 * c->rank + k) % (n - own)] = 2 * c->rank + k + 1;
    }
    comm_meet(c);
    CHECK(x[own - 1] == 0);
    for (int k = 0; k < 2; k++) {
        CHECK(view[k][own - 1] == 2 * c->rank + k + 1);
        for (uint64_t j = 0; j < n - own; j++)
            CHECK(view[k][own + j] == x[own + j] && x[own + j] == (j < 2 * (uint64_t)c->size ? (double)(j + 1) : 0));
    }
    comm_meet(c);
    for (int k = 0; k < 2; k++)
        comm_unshare(view[k], bytes);
    comm_unshare(x, bytes);
}

/* Large arrays grow while MPI is at work, whatever its library does to the functions that map memory: into the space
 * behind them, and elsewhere where a neighbour is in the way. */
static void test_growth(void)
{
    const uint64_t megabyte = (uint64_t)1 << 20;
    bda_error err = {0};
    uint64_t held = 2 * megabyte, neighbour_bytes = 4 * megabyte, *x = mem_resize(NULL, 0, held, "test", &err);
    CHECK(x);
    for (uint64_t j = 0; j < held / sizeof *x; j++)
        x[j] = j * 0x9e3779b97f4a7c15u;
    for (; held < 32 * megabyte; held *= 2) {
        void *neighbour = mem_resize(NULL, 0, neighbour_bytes, "test", &err);
        uint64_t *more = mem_resize(x, held, 2 * held, "test", &err);
        CHECK(neighbour && more && err.status == BDA_OK);
        x = more;
        for (uint64_t j = 0; j < held / sizeof *x; j++)
            CHECK(x[j] == j * 0x9e3779b97f4a7c15u);
        for (uint64_t j = held / sizeof *x; j < 2 * held / sizeof *x; j++)
            x[j] = j * 0x9e3779b97f4a7c15u;
        mem_free(neighbour, neighbour_bytes);
    }
    mem_free(x, held);
}

/* Ranks that are kept apart, as on machines of their own. */
static void test_not_shared(comm *c)
{
    CHECK(!comm_share(c, 8) && !comm_share(c, 1 << 20));
    double *alone = comm_share_alone(sizeof *alone); /* for threads */
    CHECK(alone && *alone == 0);
    comm_unshare(alone, sizeof *alone);
}

/* What each rank writes to its part, all read after they have met; it comes zeroed, and nothing has a name that would
 * stay behind. */
static void test_shared(comm *c)
{
    const uint64_t lengths[] = {0, 1, 1000, 300000};
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        const uint64_t n = lengths[k], bytes = n * sizeof(double);
        double *x = comm_share(c, bytes);
        CHECK(x);
        comm_meet(c); /* rank 0 has taken away its token */
        for (uint64_t j = 0; j < n; j++)
            CHECK(x[j] == 0);
        comm_meet(c);
        uint64_t end = comm_first_block(n, c->rank + 1, c->size);
        for (uint64_t j = comm_first_block(n, c->rank, c->size); j < end; j++)
            x[j] = 0.5 * (double)j;
        comm_meet(c);
        for (uint64_t j = 0; j < n; j++)
            CHECK(x[j] == 0.5 * (double)j);
        comm_meet(c);
        comm_unshare(x, bytes);
    }
    test_views(c);
    CHECK(!comm_share(c, (uint64_t)1 << 60)); /* more than there is: on all ranks */
    comm_unshare(NULL, 8);
}

static void test_statistics(comm *c)
{
    comm_stats before = *comm_said(c);
    const uint64_t n = 1000;
    double *v = calloc(n, sizeof *v);
    const double *part[BLOCKS];
    for (int b = 0; b < BLOCKS; b++)
        part[b] = v;
    int parts = (int)(comm_first_block(BLOCKS, c->rank + 1, c->size) - comm_first_block(BLOCKS, c->rank, c->size));
    comm_sum_vectors(c, BLOCKS, 1, part, parts, n, v, 1);
    CHECK(comm_said(c)->vectors == before.vectors + 1);
    CHECK(comm_said(c)->bytes == before.bytes + 8 * n);
    CHECK(comm_said(c)->seconds >= before.seconds);
    free(v);
    uint64_t bytes = comm_said(c)->bytes, all[64];
    CHECK(c->size <= 64);
    comm_gather_counts(c, bytes, all);
    for (int r = 0; r < c->size; r++)
        CHECK(all[r] == bytes);
}

/* Rank a has (a + 2 b) % 7 words for rank b, each of which says who sent it, to whom, and its place; none of the
 * messages that begin at a multiple of 5 away. With messages of 3 bytes the words are cut. */
static uint64_t words_between(int a, int b)
{
    return b % 5 == 4 ? 0 : (uint64_t)(a + 2 * b) % 7;
}

static void test_exchange(comm *c)
{
    uint64_t out[64 * 7], in[64 * 7], out_bytes[64], in_bytes[64], n = 0, total = 0;
    CHECK(c->size <= 64);
    for (int b = 0; b < c->size; b++) {
        out_bytes[b] = 8 * words_between(c->rank, b);
        for (uint64_t k = 0; k < words_between(c->rank, b); k++)
            out[n++] = (uint64_t)c->rank << 40 | (uint64_t)b << 20 | k;
        for (int a = 0; a < c->size; a++)
            total += a == b ? 0 : 8 * words_between(a, b);
    }
    for (uint64_t limit = 0; limit < 4; limit += 3) {
        comm_test_limit(limit);
        memset(in, 255, sizeof in);
        comm_exchange_counts(c, out_bytes, in_bytes);
        uint64_t before = comm_said(c)->bytes;
        comm_exchange(c, out, out_bytes, in, in_bytes);
        CHECK(comm_said(c)->bytes == before + total);
        n = 0;
        for (int a = 0; a < c->size; a++) {
            CHECK(in_bytes[a] == 8 * words_between(a, c->rank));
            for (uint64_t k = 0; k < words_between(a, c->rank); k++)
                CHECK(in[n++] == ((uint64_t)a << 40 | (uint64_t)c->rank << 20 | k));
        }
        CHECK(in[n] == UINT64_MAX);
    }
    comm_test_limit(0);
}

/* A communicator of the host's: ranks in reverse order, in two halves. No memory on one rank is told to all. */
static void test_host_communicator(void)
{
    int rank, size, half_rank, half_size;
    MPI_Comm half;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Comm_rank(half, &half_rank);
    MPI_Comm_size(half, &half_size);
    bda_error err = {0};
    bda_comm *c = bda_comm_mpi(&half, &err);
    CHECK(c && bda_comm_rank(c) == half_rank && bda_comm_size(c) == half_size);
    test_counts(c);
    test_agree(c);
    bda_comm_free(c);
    for (uint64_t k = 1; k <= 4; k++) {
        err_clear(&err);
        mem_fail_at(half_rank == half_size - 1 ? k : 0);
        CHECK(!bda_comm_mpi(&half, &err));
        CHECK(err.status == BDA_FAILED && strstr(err.text, "out of memory"));
        mem_fail_at(0);
    }
    MPI_Comm_free(&half);
}

/* Rank r's count j: mostly small, some large, and some for which a rank alone has as much as a field can send. */
static uint32_t small_count(uint64_t j, int r)
{
    if (j % 97 == 5)
        return (uint32_t)(j * 40000 + (uint64_t)r);
    return j % 31 == 7 ? (uint32_t)(j % 8 * 40) * (r == 1) : (uint32_t)((j + (uint64_t)r) % 3);
}

static void test_small_counts(comm *c)
{
    enum { MOST = 2000 };
    static uint32_t x[MOST + 1];
    static uint64_t word[MOST];
    for (uint64_t n = 0; n < MOST; n = 3 * n + 1) {
        for (uint64_t j = 0; j < n; j++)
            x[j] = small_count(j, bda_comm_rank(c));
        CHECK(comm_small_words(c, n) <= MOST);
        const uint64_t before = comm_said(c)->bytes;
        comm_sum_small(c, x, n, word);
        CHECK(bda_comm_size(c) == 1 || n < 300 || comm_said(c)->bytes - before < 2 * n);
        for (uint64_t j = 0; j < n; j++) {
            uint32_t sum = 0;
            for (int r = 0; r < bda_comm_size(c); r++)
                sum += small_count(j, r);
            CHECK(x[j] == sum);
        }
    }
}

int main(void)
{
    bda_error err = {0};
    bda_comm *c = bda_comm_launch(&err), *single = bda_comm_single(&err);
    int size;
    if (!c || !single) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(bda_comm_size(c) == size);
    test_sums(c, single);
    test_extremes(c);
    test_gather(c);
    test_counts(c);
    test_small_counts(c);
    test_max(c);
    test_bytes(c);
    test_exchange(c);
    test_exchange(single);
    test_agree(c);
    test_growth();
    if (getenv("BDA_SHARED_MEMORY"))
        test_not_shared(c);
    else
        test_shared(c);
    test_statistics(c);
    test_host_communicator();
    bda_comm_free(single);
    bda_comm_free(c);
    int ended = 0;
    MPI_Finalized(&ended);
    return !ended || bda_comm_launch(&err) != NULL;
}
