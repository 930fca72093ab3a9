/* feed.h - what the blocks of one model tell each other while they solve it.
 *
 * Threads and ranks that write one vector u at the same time wait for each other's cache lines, and lose some of the
 * changes. With a feed each block has a u of its own, and a list of its steps, (row, change), that the others read:
 * they add  change x_row  to their u. Nothing is lost, and no lines but those of the lists are fought for; what it
 * costs is an addition of the row for each step of another block, and that a step is known a few rows late.
 *
 * Who falls behind has more to add and so falls behind further, while the others run through their rows without
 * hearing of his. So who is ahead waits a little; not for long, and where it is in vain not again in this round, for
 * the other may have no processor.
 *
 * A round's steps are counted from 0 in one of two counters by turns: while one is in use the teller clears the
 * other, which nobody looks at before all have come through the messages between two rounds. */
#ifndef PROBLEM_FEED_H
#define PROBLEM_FEED_H

#include <math.h>

#include "base/memory.h"
#include "comm/comm.h"
#include "data/rows_math.h"

struct problem;

#define FEED_LINE 64 /* bytes of a cache line */
#define FEED_MOST 4  /* members: each adds all others' steps, so more of them gain little over sharing a u */
#define FEED_EVERY 8 /* visits of rows between two looks at the lists */
#define FEED_AHEAD (4 * FEED_EVERY) /* visits that a member may be ahead of another without waiting for it */
#define FEED_PATIENCE 10000         /* looks at how far it is: some tenths of a millisecond */

typedef struct feed_step {
    double change;
    uint64_t row; /* of the teller's rank */
} feed_step;

typedef struct feed_count {
    uint64_t told[2];                             /* steps of this round, and of the next or last */
    double passes[2];                             /* over its rows, likewise; infinite: it is through */
    char apart[FEED_LINE - 4 * sizeof(uint64_t)]; /* a line for each */
} feed_count;

/* All blocks of the model. */
typedef struct feed {
    uint64_t members;
    uint64_t capacity; /* steps that a list remembers, a power of 2; who is half of it late misses what was told */
    feed_count *count; /* [members] in memory that all of them see */
    feed_step *step;   /* [members][capacity] there, too */
    const rows **rows; /* [members] each one's, without own cells: nobody else reads those columns */
    bool one_machine;  /* the memory is that of all ranks */
    comm *comm;
} feed;

/* One block's place in it. */
typedef struct feed_seat {
    const feed *of;
    uint64_t me;
    int turn;                 /* which counter is in use */
    uint64_t told;            /* steps of this round, those included that the others do not see yet */
    double passes;            /* that are over */
    bool waits;               /* for others, when ahead */
    uint64_t *added, *called; /* [members] steps that are in u, and those whose rows were called for */
    char apart[FEED_LINE];    /* from the next, which is another thread's */
} feed_seat;

/* Seats for this rank's blocks, [local_blocks], of a feed among the blocks of all ranks on one machine, or among
 * those of this rank. *seats stays NULL where there is no feed: rows that are not folded, or that not all can see,
 * more than two classes, other regularisers than w'w/2, one member or more than FEED_MOST. Collective. */
bool feed_open(feed *f, feed_seat **seats, struct problem *p, bool one_machine, arena *memory, bda_error *err);
void feed_close(feed *f);

/* Before each round. */
static inline void feed_begin(feed_seat *s)
{
    const uint64_t none = 0;
    const double no_pass = 0;
    s->turn = !s->turn;
    s->told = 0;
    s->passes = 0;
    s->waits = true;
    for (uint64_t m = 0; m < s->of->members; m++)
        s->added[m] = s->called[m] = 0;
    __atomic_store(&s->of->count[s->me].told[!s->turn], &none, __ATOMIC_RELEASE);
    __atomic_store(&s->of->count[s->me].passes[!s->turn], &no_pass, __ATOMIC_RELEASE);
}

/* After the passes of a round. */
static inline void feed_end(feed_seat *s)
{
    const double through = INFINITY;
    __atomic_store(&s->of->count[s->me].passes[s->turn], &through, __ATOMIC_RELEASE);
}

ROWS_INLINE feed_step *feed_at(const feed *f, uint64_t member, uint64_t k)
{
    return &f->step[member * f->capacity + (k & (f->capacity - 1))];
}

ROWS_INLINE void feed_tell(feed_seat *s, uint64_t row, double change)
{
    feed_step *to = feed_at(s->of, s->me, s->told++);
    __atomic_store(&to->change, &change, __ATOMIC_RELAXED);
    __atomic_store(&to->row, &row, __ATOMIC_RELAXED);
}

ROWS_INLINE feed_step feed_read(const feed *f, uint64_t member, uint64_t k)
{
    const feed_step *from = feed_at(f, member, k);
    feed_step s;
    s.change = rows_read_shared(&from->change);
    __atomic_load(&from->row, &s.row, __ATOMIC_RELAXED);
    return s;
}

/* And has begun: its thread may be at work for another block. */
ROWS_INLINE bool feed_is_behind(const feed_seat *s, uint64_t member, double passes)
{
    const double of_member = rows_read_shared(&s->of->count[member].passes[s->turn]);
    return of_member > 0 && of_member < passes;
}

static inline void feed_wait(feed_seat *s, uint64_t member, double passes)
{
    int looks = 0;
    while (feed_is_behind(s, member, passes) && looks++ < FEED_PATIENCE)
#if defined __x86_64__
        __builtin_ia32_pause();
#else
        ;
#endif
    s->waits = looks <= FEED_PATIENCE;
}

/* Shows the others what was told, and adds to u what they told up to the last look: its rows have arrived by now.
 * Before a visit of a pass over so many rows. */
ROWS_INLINE void feed_look(feed_seat *s, uint64_t visit, uint64_t rows, rows_form form, double *u)
{
    const feed *f = s->of;
    const double a_row = 1 / (double)(rows + 1), passes = s->passes + (double)visit * a_row;
    __atomic_store(&f->count[s->me].told[s->turn], &s->told, __ATOMIC_RELEASE);
    __atomic_store(&f->count[s->me].passes[s->turn], &passes, __ATOMIC_RELEASE);
    for (uint64_t m = 0; m < f->members; m++) {
        uint64_t told = 0;
        if (m == s->me)
            continue;
        if (s->waits)
            feed_wait(s, m, passes - FEED_AHEAD * a_row);
        __atomic_load(&f->count[m].told[s->turn], &told, __ATOMIC_ACQUIRE);
        if (told - s->added[m] > f->capacity / 2)
            s->added[m] = s->called[m] = told;
        for (uint64_t k = s->called[m]; k < told; k++)
            rows_prefetch(f->rows[m], form, feed_read(f, m, k).row);
        for (; s->added[m] < s->called[m]; s->added[m]++) {
            const feed_step step = feed_read(f, m, s->added[m]);
            rows_add(f->rows[m], form, step.row, step.change, u);
        }
        s->called[m] = told;
    }
}

#endif
