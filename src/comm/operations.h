/* operations.h - private to src/comm and its tests: what a communicator consists of, and the few operations that MPI
 * (launch.c) and a single rank (single.c) each provide. Everything else is built on them in comm.c and vectors.c.
 *
 * A count is that of one message and fits an int; callers cut what is longer, at comm_limit elements. 64-bit sums
 * wrap around, so they serve signed numbers, unsigned ones and raw bits to which the other ranks add 0.
 */
#ifndef COMM_OPERATIONS_H
#define COMM_OPERATIONS_H

#include "base/memory.h"
#include "comm/comm.h"

#define COMM_UNITS ((uint64_t)1 << 17) /* 64-bit numbers in `units`: a message that stays in the cache */

typedef struct comm_operations {
    void (*sum)(comm *c, void *x, int count);    /* of 64-bit integers, in place, to all */
    void (*max)(comm *c, int64_t *x, int count); /* in place, to all */
    void (*broadcast)(comm *c, int from, void *bytes, int count);
    void (*send)(comm *c, int to, const void *bytes, int count); /* waits until `bytes` may be used again */
    void (*receive)(comm *c, int from, void *bytes, int count);
    /* Both at once; a count of 0 is no message. */
    void (*swap)(comm *c, int to, const void *out, int out_count, int from, void *in, int in_count);
    void (*close)(comm *c);
} comm_operations;

struct bda_comm {
    const comm_operations *operations;
    int rank, size;
    bool apart; /* ranks share no memory, be they on one machine or not */
    comm_stats said;
    arena memory;
    int64_t *units;      /* [COMM_UNITS] the part of a vector, or of collected bytes, that is on its way */
    uint64_t *per_rank;  /* [size] */
    void *link;          /* what launch.c needs */
    struct pulse *pulse; /* NULL: nobody watches */
};

/* The structure and its buffers; not collective. */
comm *comm_new(const comm_operations *operations, int rank, int size, bda_error *err);
void comm_delete(comm *c); /* without closing; accepts NULL */

/* Elements of the longest message; tests lower it. */
uint64_t comm_limit(void);
void comm_test_limit(uint64_t elements); /* 0: the usual limit again */

/* 64-bit integers, in place; cut into messages. */
void comm_sum_words(comm *c, void *x, uint64_t count);

#endif
