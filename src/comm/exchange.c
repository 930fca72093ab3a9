/* exchange.c - every rank sends bytes of its own to every other: in step s rank r sends to r + s and receives from
 * r - s, so that nobody waits for more than one message at a time. */
#include "base/clock.h"
#include "comm/operations.h"

#include <string.h>

/* One message each way, in pieces: `to` and `from` know how many bytes there are, so they cut alike. */
static void swap(comm *c, int to, const char *out, uint64_t out_bytes, int from, char *in, uint64_t in_bytes)
{
    const uint64_t limit = comm_limit();
    while (out_bytes > 0 || in_bytes > 0) {
        uint64_t sent = out_bytes < limit ? out_bytes : limit, received = in_bytes < limit ? in_bytes : limit;
        c->operations->swap(c, to, out, (int)sent, from, in, (int)received);
        out += sent;
        out_bytes -= sent;
        in += received;
        in_bytes -= received;
    }
}

static int ahead(const comm *c, int step)
{
    return (int)(((int64_t)c->rank + step) % c->size);
}

static int behind(const comm *c, int step)
{
    return (int)(((int64_t)c->rank + c->size - step) % c->size);
}

void comm_exchange_counts(comm *c, const uint64_t *mine, uint64_t *theirs)
{
    double start = clock_now();
    theirs[c->rank] = mine[c->rank];
    for (int step = 1; step < c->size; step++) {
        int to = ahead(c, step), from = behind(c, step);
        swap(c, to, (const char *)&mine[to], sizeof *mine, from, (char *)&theirs[from], sizeof *theirs);
    }
    c->said.seconds += clock_now() - start;
    c->said.bytes += (uint64_t)c->size * (uint64_t)(c->size - 1) * sizeof *mine;
}

static uint64_t sum_before(const uint64_t *bytes, int rank)
{
    uint64_t sum = 0;
    for (int r = 0; r < rank; r++)
        sum += bytes[r];
    return sum;
}

void comm_exchange(comm *c, const void *out, const uint64_t *out_bytes, void *in, const uint64_t *in_bytes)
{
    const char *outgoing = out;
    char *incoming = in;
    uint64_t said = sum_before(out_bytes, c->size) - out_bytes[c->rank];
    if (out_bytes[c->rank] > 0)
        memcpy(incoming + sum_before(in_bytes, c->rank), outgoing + sum_before(out_bytes, c->rank),
               out_bytes[c->rank]);
    double start = clock_now();
    for (int step = 1; step < c->size; step++) {
        int to = ahead(c, step), from = behind(c, step);
        swap(c, to, outgoing + sum_before(out_bytes, to), out_bytes[to], from, incoming + sum_before(in_bytes, from),
             in_bytes[from]);
    }
    c->said.seconds += clock_now() - start;
    comm_sum_words(c, &said, 1); /* the statistics are the same on every rank */
    c->said.bytes += said;
}
