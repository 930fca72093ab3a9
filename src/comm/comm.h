/* comm.h - what ranks say to each other. The only room that sees mpi.h.
 *
 * K blocks are shared out among the ranks in order: rank r holds the blocks comm_first_block(r) up to, not including,
 * comm_first_block(r+1). A rank may hold none. Every result below is the same, to the last bit, for any number of
 * ranks: scalars are gathered per block and combined in block order, vectors are summed as integers on a common grid,
 * which is exact in any order.
 *
 * All functions are collective. A message that MPI cannot deliver ends the program (MPI's own error handler): after a
 * lost rank there is nobody left to agree with. Counts are 64-bit; messages beyond 2^31 elements are cut here.
 */
#ifndef COMM_COMM_H
#define COMM_COMM_H

#include "base/error.h"

typedef bda_comm comm;

/* What was said so far; the same on every rank but for the seconds. */
typedef struct comm_stats {
    uint64_t vectors; /* reductions of n numbers: the cost the paper counts */
    uint64_t bytes;   /* of payload, vectors and scalars */
    double seconds;   /* spent in messages by this rank, waiting included */
} comm_stats;

const comm_stats *comm_said(const comm *c);

uint64_t comm_first_block(uint64_t blocks, int rank, int size); /* floor(rank * blocks / size), without overflow */

/* See bda_comm_agree. */
bool comm_agree(comm *c, bool ok, bda_error *err);

/* mine: m numbers for each block of this rank, block after block; all: [blocks][m] of all blocks, in order. */
void comm_gather_blocks(comm *c, uint64_t blocks, const double *mine, int m, double *all);

/* Of one column of what comm_gather_blocks gathered: the sum in block order, and the maximum, NaN where any block has
 * it.
 */
double comm_column_sum(const double *all, uint64_t blocks, int column, int m);
double comm_column_max(const double *all, uint64_t blocks, int column, int m);

/* In place, exact. */
void comm_sum_counts(comm *c, uint64_t *x, int m);
/* The same for any length of 64-bit words: counts; two counts of 32 bits side by side, whose sums fit as well; or
 * doubles of which one rank at most has each, and all others a 0. */
void comm_sum_long(comm *c, void *x, uint64_t words);
/* The same for counts of which most are small: x has a place more where `count` is odd, and no sum reaches beyond UINT32_MAX.
 * word: [comm_small_words] for messages. */
void comm_sum_small(comm *c, uint32_t *x, uint64_t count, uint64_t *word);
uint64_t comm_small_words(const comm *c, uint64_t count);
void comm_max_reals(comm *c, double *x, int m); /* NaN where any rank has it */
/* The sum of `mine` over the lower ranks. */
uint64_t comm_count_before(comm *c, uint64_t mine);
/* all: [size], each rank's number. */
void comm_gather_counts(comm *c, uint64_t mine, uint64_t *all);

/* sum[j] = sum over all blocks of part[b][j]: one vector message. part: this rank's blocks, `parts` of them (as
 * comm_first_block says), [n] each. `largest` >= |part[b][j]| for all blocks of all ranks, and the same on all of
 * them; it sets the grid, 2^-62 of (the power of two above) blocks * largest. Infinite or NaN: the sum is NaN. With
 * one block the sum is the part, bit for bit, and `largest` is not looked at. sum may be one of the parts. */
void comm_sum_vectors(comm *c, uint64_t blocks, double largest, const double *const *part, int parts, uint64_t n,
                      double *sum, int threads);

/* The same with `fields` (1, 2 or 3) numbers in each word of the message, for vectors that may be a little off: by at
 * most what is returned, the same on all ranks, half a unit a block where a unit is 2^-19 (3 fields) or 2^-30 (2) of
 * what the blocks can add up to in the same stretch of columns. With one field, one block or more than 2^16 it is comm_sum_vectors. */
#define COMM_MOST_PACKED 3
double comm_sum_packed(comm *c, int fields, uint64_t blocks, double largest, const double *const *part, int parts,
                       uint64_t n, double *sum, int threads);

/* Zeroed memory that all ranks see; NULL on all of them where they are not on one machine, or it has no room for it.
 * Nobody waits for anybody: what one rank writes, others may count on after comm_meet. */
void *comm_share(comm *c, uint64_t bytes);
void *comm_share_alone(uint64_t bytes); /* for the threads of this rank; not collective */
/* Memory as long as what was shared, whose first `own` bytes, whole pages, are the caller's alone, and whose rest is
 * that of `shared`; NULL: there is none. Not collective. */
void *comm_view(void *shared, uint64_t bytes, uint64_t own);
void comm_unshare(void *p, uint64_t bytes); /* views, too; not collective; accepts NULL */
void comm_meet(comm *c);

/* Bytes of any kind from one rank to all. */
void comm_broadcast(comm *c, int from, void *bytes, uint64_t count);

/* Rank 0 gets every rank's bytes in rank order, piece by piece: take(self, bytes, count) is called on rank 0 only. */
typedef void (*comm_take)(void *self, const void *bytes, uint64_t count);
void comm_collect(comm *c, const void *bytes, uint64_t count, comm_take take, void *self);

/* theirs[r] is what rank r has in mine[this rank]; [size] each. */
void comm_exchange_counts(comm *c, const uint64_t *mine, uint64_t *theirs);

/* All to all. out: out_bytes[0] bytes for rank 0, those for rank 1 behind them, and so on; in: in_bytes[r] bytes from
 * rank r, in rank order, where in_bytes is what comm_exchange_counts makes of out_bytes. The buffers do not overlap.
 * Memory is the caller's, so that ranks can agree on it between the two calls. */
void comm_exchange(comm *c, const void *out, const uint64_t *out_bytes, void *in, const uint64_t *in_bytes);

#endif
