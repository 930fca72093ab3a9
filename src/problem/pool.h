/* pool.h - one vector u that several blocks work on at the same time, each through a copy of what all want.
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
 * Columns that few rows have need no copies: cores seldom meet there, and copies of a long u would fill the cache. So
 * where columns are in order of frequency, each block has a view of its own: memory whose beginning is a copy, and
 * whose rest is that of the common u. Changes may be lost there, and X da is computed anew after the passes, for
 * which there should be several of them in a round. The same goes for all of u where it is very long and a visit
 * changes little of it, as a hinge loss of many classes does. */
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
    double *u;                   /* [n] in memory that all of them see, beginning with what rows have most often;
                                  * NULL: there is no pool, and all else is zero, too */
    uint32_t *busy;              /* [pages] there, too: 1 where somebody is at the page */
    uint32_t *order;             /* [n] where a number of u is in a copy; NULL: at the same place */
    uint32_t *page;              /* those that are ever due, tier by tier */
    uint64_t first[POOL_TIERS];  /* in `page`, of each tier */
    uint64_t end[2][POOL_TIERS]; /* behind the last of each tier; [1]: of those that are copied in a view */
    int tiers;                   /* in use */
    uint64_t every;              /* visits of rows from one look at what is due to the next */
    uint64_t copied;             /* the first numbers of u, which are copies in a view; n: there are no views */
    int64_t least_passes;        /* of a round that works on views */
    bool one_machine;            /* the memory is that of all ranks */
    bool queues;                 /* some blocks wait for a thread: one's many passes would be lost on the others */
    bool in_turn;                /* some blocks begin when others have ended */
    struct pool_seat *seat;      /* [seats] one for each block of this rank */
    uint64_t seats;
    comm *comm;
} pool;

/* One block's place in it. Its copy is in the order of w, the rest in that of u. */
typedef struct pool_seat {
    const pool *of;
    double *view; /* [n] where there are views: copies, and then the common u, both in the order of w */
    double *seen; /* [n] what the copy was when its pages were last brought together; in a view, [copied] */
    double *mine; /* [n] the block's changes up to then; not in a view */
    uint64_t visits, looks;
    bool viewing;          /* in this round */
    char apart[POOL_LINE]; /* from the next, which is another thread's */
} pool_seat;

/* A pool for the blocks of all ranks where these are on one machine, otherwise for those of this rank, with a seat
 * for each of its blocks, [local_blocks]. Where the ranks are on several machines and `anywhere` is false there is
 * no pool: all of *l is zero, as in one that was never opened. Collective. */
bool pool_open(pool *l, const struct problem *p, bool anywhere, arena *memory, bda_error *err);
void pool_close(pool *l); /* also one that was never opened */

/* Do blocks share a u at all? */
static inline bool pool_is_open(const pool *l)
{
    return l->u != NULL;
}

/* Does a round of so many passes work on views? Never where there is no pool. */
static inline bool pool_is_viewed(const pool *l, int64_t passes)
{
    return pool_is_open(l) && l->copied < l->n && passes >= l->least_passes;
}

/* u = from, before each round; the message between two rounds has made sure that nobody is still at the last one.
 * Collective. */
void pool_fill(const pool *l, const double *from);

/* A block begins with `start` where the round does with `from`. copy, or the view -> start, and what blocks that have
 * ended left. Returns which of the two it is. */
double *pool_begin(pool_seat *s, int64_t passes, const double *from, const double *start, double *copy);
/* copy -> what the block has changed in it since; a view has not kept that */
void pool_end(const pool_seat *s, double *copy);

/* False: somebody else is at it. */
ROWS_INLINE bool pool_bring_together(const pool_seat *s, uint32_t page, double *copy)
{
    const pool *l = s->of;
    if (__atomic_exchange_n(&l->busy[page], 1, __ATOMIC_ACQUIRE))
        return false;
    const uint64_t first = (uint64_t)page * POOL_PAGE, count = l->n - first < POOL_PAGE ? l->n - first : POOL_PAGE;
    double *restrict u = l->u + first, *restrict seen = s->seen + first;
    double *restrict mine = s->viewing ? NULL : s->mine + first;
    const uint32_t *order = l->order ? l->order + first : NULL;
    double *restrict own = order ? copy : copy + first;
#define NUMBER(j, at, KEEP)                                                                                          \
    do {                                                                                                             \
        const double change = own[at] - seen[j];                                                                     \
        KEEP;                                                                                                        \
        u[j] = seen[j] = own[at] = u[j] + change;                                                                    \
    } while (0)
    if (order)
        for (uint64_t j = 0; j < count; j++)
            NUMBER(j, order[j], mine[j] += change);
    else if (mine)
        for (uint64_t j = 0; j < count; j++)
            NUMBER(j, j, mine[j] += change);
    else
        for (uint64_t j = 0; j < count; j++)
            NUMBER(j, j, );
#undef NUMBER
    __atomic_store_n(&l->busy[page], 0, __ATOMIC_RELEASE);
    return true;
}

/* What is due, spread evenly over the looks. */
ROWS_INLINE void pool_look(pool_seat *s, double *copy)
{
    const pool *l = s->of;
    for (int t = 0; t < l->tiers; t++) {
        const uint64_t turns = (uint64_t)1 << t, turn = s->looks & (turns - 1);
        const uint64_t first = l->first[t], pages = l->end[s->viewing][t] - first;
        const uint64_t end = first + (pages * (turn + 1) >> t);
        for (uint64_t k = first + (pages * turn >> t); k < end; k++)
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

/* For tests: views with copies of so many numbers, in the order of w; POOL_USUAL: as usual again. */
#define POOL_USUAL UINT64_MAX
void pool_test_copies(uint64_t numbers);

#endif
