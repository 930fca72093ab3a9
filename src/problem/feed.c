/* feed.c - see feed.h. */
#include "problem/feed.h"

#include <math.h>

#include "problem/problem.h"

#define LEAST_STEPS 8192

static uint64_t bytes_of(const feed *f)
{
    return f->members * (sizeof(feed_count) + f->capacity * sizeof(feed_step));
}

/* Each member's rows, with the constant feature. */
static bool find_rows(feed *f, const problem *p, arena *memory, bda_error *err)
{
    const uint64_t ranks = f->one_machine ? (uint64_t)bda_comm_size(p->comm) : 1;
    rows *of = ARENA_TAKE(memory, rows, ranks, err);
    f->rows = ARENA_TAKE(memory, const rows *, f->members, err);
    if (!of || !f->rows)
        return false;
    for (uint64_t r = 0, k = 0; r < ranks; r++) {
        of[r] = f->one_machine ? p->fold.all[r] : p->rows;
        of[r].own = NULL;
        of[r].bias = p->rows.bias;
        of[r].columns = p->rows.columns;
        const uint64_t end = f->one_machine ? comm_first_block(f->members, (int)r + 1, (int)ranks) : f->members;
        for (; k < end; k++)
            f->rows[k] = &of[r];
    }
    return true;
}

static bool take_seats(feed *f, feed_seat **seats, const problem *p, arena *memory, bda_error *err)
{
    const uint64_t local = p->data->local_blocks, first = f->one_machine ? p->data->first_block : 0;
    feed_seat *seat = ARENA_TAKE(memory, feed_seat, local + 1, err);
    const uint64_t stride = 2 * f->members + FEED_LINE / sizeof(uint64_t);
    uint64_t *counts = ARENA_TAKE(memory, uint64_t, (local + 1) * stride, err);
    if (!seat || !counts)
        return false;
    for (uint64_t k = 0; k < local; k++) {
        uint64_t *added = counts + k * stride;
        seat[k] = (feed_seat){.of = f, .me = first + k, .added = added, .called = added + f->members};
    }
    *seats = seat;
    return true;
}

/* Lists as long as two passes over the largest block. */
static uint64_t choose_capacity(const problem *p)
{
    double most = LEAST_STEPS;
    for (uint64_t k = 0; k < p->data->local_blocks; k++)
        most = fmax(most, 2 * (double)(p->data->block_start[k + 1] - p->data->block_start[k]));
    comm_max_reals(p->comm, &most, 1);
    uint64_t capacity = LEAST_STEPS;
    while ((double)capacity < most)
        capacity *= 2;
    return capacity;
}

bool feed_open(feed *f, feed_seat **seats, problem *p, bool one_machine, arena *memory, bda_error *err)
{
    *seats = NULL;
    *f = (feed){.comm = p->comm, .one_machine = one_machine};
    const uint64_t size = one_machine ? 1 : (uint64_t)bda_comm_size(p->comm), K = p->data->blocks;
    const uint64_t most = K / size + (K % size != 0); /* members of the largest feed: the same on all ranks */
    if (!p->fold.folded || p->classes > 2 || !p->penalty.kind->identity || most < 2 || most > FEED_MOST)
        return true;
    if (one_machine && !problem_share_rows(p, err))
        return false;
    if (one_machine && !p->fold.all)
        return true;
    f->members = one_machine ? K : most;
    f->capacity = choose_capacity(p);
    f->count =
        one_machine ? comm_share(p->comm, bytes_of(f)) : arena_take(memory, bytes_of(f), 1, "lists of steps", err);
    if (one_machine && !f->count)
        return true;
    if (f->count)
        f->step = (feed_step *)(f->count + f->members);
    return comm_agree(p->comm, f->count && find_rows(f, p, memory, err) && take_seats(f, seats, p, memory, err), err);
}

void feed_close(feed *f)
{
    if (f->one_machine && f->count)
        comm_unshare(f->comm, f->count, bytes_of(f));
}
