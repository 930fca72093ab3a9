/* pool.h - one vector u that several blocks work on at the same time, each through a copy of its own.
 *
 * Threads and ranks that write one vector wait for each other's cache lines, and lose some of the changes. So each
 * block has a copy, which it reads and writes alone, and now and then brings a page of it and of the common u
 * together: it adds what it has changed there since the last time, and takes over what others have. Nothing is lost,
 * nobody waits - a page that somebody else is at is left for the next time - and what it costs does not grow with the
 * number of blocks.
 *
 * How often is a matter of how much happens in a page: in text a few columns have most of the cells, and are brought
 * together after few rows, rare ones a few times in a pass. So a block is late by about the same number of changes
 * in every column.
 *
 * Where u is very long and a visit changes little of it - a hinge loss of many classes - cores seldom meet, and
 * copies would fill the cache. There all work on the common u itself; a change may be lost, and X da is computed
 * anew. */
#ifndef PROBLEM_POOL_H
#define PROBLEM_POOL_H

#include "base/memory.h"
#include "comm/comm.h"
#include "data/rows_math.h"

struct problem;

#define POOL_PAGE 512 /* numbers that are brought together at once */
#define POOL_TIERS 24 /* pages of tier t are due every 2^t looks */
#define POOL_LINE 64  /* bytes of a cache line */

/* All blocks of the model. */
typedef struct pool {
    uint64_t n;
    double *u;                      /* [n] in memory that all of them see, beginning with what rows have most often */
    uint32_t *busy;                 /* [pages] there, too: 1 where somebody is at the page */
    uint32_t *order;                /* [n] where a number of u is in a copy; NULL: at the same place */
    uint32_t *page;                 /* those that are ever due, tier by tier */
    uint64_t first[POOL_TIERS + 1]; /* in `page`, of each tier */
    int tiers;                      /* in use */
    uint64_t every;                 /* visits of rows from one look at what is due to the next */
    bool one_machine;               /* the memory is that of all ranks */
    bool direct;                    /* without copies, in the order of w */
    bool in_turn;                   /* some blocks begin when others have ended */
    comm *comm;
} pool;

/* One block's place in it. Its copy is in the order of w, the rest in that of u. */
typedef struct pool_seat {
    const pool *of;
    double *seen; /* [n] what the copy was when its pages were last brought together */
    double *mine; /* [n] the block's changes up to then */
    uint64_t visits, looks;
    char apart[POOL_LINE]; /* from the next, which is another thread's */
} pool_seat;

/* A pool for the blocks of all ranks where these are on one machine, otherwise for those of this rank, with a seat
 * for each of its blocks, [local_blocks]. Where the ranks are on several machines and `anywhere` is false there is
 * none: u == NULL. Collective. */
bool pool_open(pool *l, pool_seat **seats, const struct problem *p, bool anywhere, arena *memory, bda_error *err);
void pool_close(pool *l);

/* u = from, before each round; the message between two rounds has made sure that nobody is still at the last one.
 * Collective. */
void pool_fill(const pool *l, const double *from);

/* A block begins with `start` where the round does with `from`. copy -> start, and what blocks that have ended left
 */
void pool_begin(pool_seat *s, const double *from, const double *start, double *copy);
/* copy -> what the block has changed in it since; not where there are no copies */
void pool_end(const pool_seat *s, double *copy);

/* False: somebody else is at it. */
ROWS_INLINE bool pool_bring_together(const pool_seat *s, uint32_t page, double *copy)
{
    const pool *l = s->of;
    if (__atomic_exchange_n(&l->busy[page], 1, __ATOMIC_ACQUIRE))
        return false;
    const uint64_t first = (uint64_t)page * POOL_PAGE, count = l->n - first < POOL_PAGE ? l->n - first : POOL_PAGE;
    double *restrict u = l->u + first, *restrict seen = s->seen + first, *restrict mine = s->mine + first;
    const uint32_t *order = l->order ? l->order + first : NULL;
    double *restrict own = order ? copy : copy + first;
#define NUMBER(j, at)                                                                                                \
    do {                                                                                                             \
        const double change = own[at] - seen[j];                                                                     \
        mine[j] += change;                                                                                           \
        u[j] = seen[j] = own[at] = u[j] + change;                                                                    \
    } while (0)
    if (order)
        for (uint64_t j = 0; j < count; j++)
            NUMBER(j, order[j]);
    else
        for (uint64_t j = 0; j < count; j++)
            NUMBER(j, j);
#undef NUMBER
    __atomic_store_n(&l->busy[page], 0, __ATOMIC_RELEASE);
    return true;
}

/* What is due, spread evenly over the looks. */
ROWS_INLINE void pool_look(pool_seat *s, double *copy)
{
    const pool *l = s->of;
    for (int t = 0; t < l->tiers; t++) {
        const uint64_t turns = (uint64_t)1 << t, turn = s->looks & (turns - 1), pages = l->first[t + 1] - l->first[t];
        const uint64_t end = l->first[t] + (pages * (turn + 1) >> t);
        for (uint64_t k = l->first[t] + (pages * turn >> t); k < end; k++)
            pool_bring_together(s, l->page[k], copy);
    }
    s->looks++;
}

/* Before each visit of a row. */
ROWS_INLINE void pool_visit(pool_seat *s, double *copy)
{
    if (s->visits++ % s->of->every == 0)
        pool_look(s, copy);
}

/* From so many numbers on there may be no copies; tests lower it, 0: as usual again. */
void pool_test_direct(uint64_t numbers);

#endif
