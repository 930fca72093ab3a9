/* pool.c - see pool.h. */
#include "problem/pool.h"

#include <math.h>
#include <omp.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "base/sizes.h"
#include "data/frequency.h"
#include "problem/problem.h"

#define NUMBERS_A_LINE (POOL_LINE / sizeof(double))
/* A block's own changes in a cache line from one time to the next, where it shares with one other: then the line's
 * way from that one's processor costs little beside them, and convergence does not suffer yet. The more others, the
 * more of their changes a block does not know of in the meantime. */
#define CHANGES_A_LINE 32.0
/* Below this stiffness blocks hardly disturb each other, and changes may wait longer, up to so many times. */
#define SOFT 0.1
#define LONGER 4.0
#define TIMES_A_PASS 2.0 /* at least */
#define EVERY 16         /* visits from one look to the next; fewer where a pass is short */
#define LOOKS_A_PASS 64
#define SHORT_PASS 100000    /* cells times classes: about a tenth of a millisecond */
#define MOST_TRIES 1000      /* for a page that somebody is at, where it will not be due again */
#define VERY_LONG (1u << 19) /* numbers of u */
#define CELLS_COUNTED 65536  /* of a block at most, about: it soon shows which columns are common */
#define LEAST_PASSES 2       /* X da computed anew takes half as long as a pass */

static uint64_t test_copies = POOL_USUAL;

void pool_test_copies(uint64_t numbers)
{
    test_copies = numbers;
}

static uint64_t pages_of(const pool *l)
{
    return (l->n + POOL_PAGE - 1) / POOL_PAGE;
}

static uint64_t bytes_of(const pool *l)
{
    return l->n * sizeof *l->u + pages_of(l) * sizeof *l->busy;
}

static double rows_of_a_block(const problem *p)
{
    return (double)p->data->rows_all / (double)p->data->blocks;
}

static uint64_t blocks_of(const pool *l, const problem *p)
{
    return l->one_machine ? p->data->blocks : p->data->local_blocks;
}

/* Are some blocks at work when others have ended: for want of threads or cores, or because a pass takes no longer
 * than the start of a thread? */
static bool one_by_one(const pool *l, const problem *p)
{
    return l->queues || blocks_of(l, p) > (uint64_t)omp_get_num_procs() ||
           p->nonzeros / p->data->blocks * p->outputs < SHORT_PASS;
}

/* ---- how often each page is due ------------------------------------------------------------------------------ */

/* count: of each column, among the rows looked at; returns how many these are. */
ROWS_INLINE uint64_t count_cells(const problem *p, uint32_t *count, rows_form form)
{
    const rows *r = &p->rows;
    uint64_t looked_at = 0;
    for (uint64_t k = 0; k < p->data->local_blocks; k++) {
        uint64_t first, end;
        data_block_rows(p->data, k, &first, &end);
        const uint64_t by_rows = problem_stride(end - first);
        const uint64_t by_cells = (r->start[end] - r->start[first]) / CELLS_COUNTED + 1;
        const uint64_t stride = by_rows > by_cells ? by_rows : by_cells;
        for (uint64_t i = first; i < end; i += stride, looked_at++)
            for (uint64_t j = r->start[i]; j < r->start[i + 1]; j++)
                count[rows_column(r, form, j)]++;
    }
    if (r->bias != 0)
        count[r->columns - 1] += (uint32_t)looked_at;
    return looked_at;
}

/* place: [columns] of each in the common u */
static void order_numbers(pool *l, const problem *p, const uint32_t *place)
{
    const uint64_t width = p->outputs;
    for (uint64_t j = 0; j < p->rows.columns; j++)
        for (uint64_t m = 0; m < width; m++)
            l->order[place[j] * width + m] = (uint32_t)(j * width + m);
    for (uint64_t j = p->rows.columns * width; j < p->n; j++)
        l->order[j] = (uint32_t)j;
}

/* Visits from one time that a page is due to the next. a_visit: changes of one of its numbers, on average */
static double visits_until_due(const pool *l, const problem *p, double a_visit)
{
    const double members = (double)blocks_of(l, p), longer = fmin(fmax(SOFT / p->stiffness, 1), LONGER);
    return longer * CHANGES_A_LINE / NUMBERS_A_LINE / a_visit / sqrt(fmax(members - 1, 1));
}

/* Looks from one time to the next, as a power of 2. */
static int tier_of(const pool *l, const problem *p, double visits)
{
    const double most = rows_of_a_block(p) / TIMES_A_PASS;
    return (int)fmin(fmax(log2(fmin(visits, most) / (double)l->every), 0), POOL_TIERS - 1);
}

/* In no order of frequency, and yet too long for copies. */
static bool is_all_common(const pool *l, const problem *p)
{
    return !p->fold.folded && p->task->sparse && l->n >= VERY_LONG;
}

/* often: numbers of the pages that are due more than TIMES_A_PASS; behind them all work on the common u. */
static uint64_t choose_copied(const pool *l, const problem *p, uint64_t often)
{
    const uint64_t whole =
        (uint64_t)sysconf(_SC_PAGESIZE) / sizeof *l->u; /* a view is made of whole pages of memory */
    uint64_t copied = p->fold.folded ? often : is_all_common(l, p) ? 0 : l->n;
    copied = test_copies < l->n ? test_copies : copied;
    copied = (copied + whole - 1) / whole * whole;
    return copied < l->n ? copied : l->n;
}

/* Rows, of those looked at, that may change number j of u: any row may change a shared weight. */
static uint64_t rows_of_number(const problem *p, const uint32_t *count, uint64_t looked_at, uint64_t j)
{
    const uint64_t column = j / p->outputs;
    return column < p->rows.columns ? count[column] : looked_at;
}

/* count: of each column among so many rows. tier: [pages], work space */
static void make_tiers(pool *l, const problem *p, const uint32_t *count, uint64_t looked_at, int *tier)
{
    const uint64_t pages = pages_of(l);
    uint64_t often = 0;
    for (uint64_t page = 0; page < pages; page++) {
        const uint64_t first = page * POOL_PAGE, end = l->n - first < POOL_PAGE ? l->n : first + POOL_PAGE;
        uint64_t cells = 0;
        for (uint64_t k = first; k < end; k++)
            cells += rows_of_number(p, count, looked_at, l->order ? l->order[k] : k);
        const double a_visit = (double)cells / (double)(end - first) / (double)looked_at;
        const double visits = visits_until_due(l, p, p->task->sparse ? a_visit * 2 / (double)p->outputs : a_visit);
        tier[page] = cells > 0 ? tier_of(l, p, visits) : -1; /* nobody else changes it */
        if (visits * TIMES_A_PASS < rows_of_a_block(p))
            often = end;
    }
    l->copied = choose_copied(l, p, often);
    l->least_passes = p->task->sparse || test_copies != POOL_USUAL ? 1 : LEAST_PASSES;
    uint64_t k = 0;
    for (int t = 0; t < POOL_TIERS; t++) {
        l->first[t] = l->end[1][t] = k;
        for (uint64_t page = 0; page < pages; page++) {
            if (tier[page] == t)
                l->page[k++] = (uint32_t)page;
            if (page * POOL_PAGE < l->copied)
                l->end[1][t] = k;
        }
        l->end[0][t] = k;
        if (k > l->first[t])
            l->tiers = t + 1;
    }
}

/* By some of the rows of each block. Folded columns are in order of frequency already. */
static bool plan(pool *l, const problem *p, arena *memory, bda_error *err)
{
    const uint64_t columns = p->rows.columns;
    const bool usual = test_copies == POOL_USUAL && !is_all_common(l, p);
    const bool sorts = usual && !p->fold.folded && l->n > base_sizes.unordered_shared && l->n < UINT32_MAX;
    arena scratch = {0};
    uint32_t *count = ARENA_TAKE(&scratch, uint32_t, columns + columns % 2, err), *place = NULL;
    uint64_t *bucket = ARENA_TAKE(&scratch, uint64_t, FREQUENCY_BUCKETS, err);
    int *tier = ARENA_TAKE(&scratch, int, pages_of(l) + 1, err);
    l->page = ARENA_TAKE(memory, uint32_t, pages_of(l) + 1, err);
    if (sorts) {
        place = ARENA_TAKE(&scratch, uint32_t, columns, err);
        l->order = ARENA_TAKE(memory, uint32_t, l->n, err);
    }
    const bool ok = comm_agree(l->comm, count && bucket && tier && l->page && (!sorts || (place && l->order)), err);
    if (ok) {
        uint64_t looked_at = 0;
#define CALL(form) looked_at = count_cells(p, count, form)
        ROWS_DISPATCH(p->rows.form, CALL);
#undef CALL
        if (l->one_machine) {
            comm_sum_long(l->comm, count, (columns + 1) / 2);
            comm_sum_counts(l->comm, &looked_at, 1);
        }
        if (sorts) {
            memcpy(place, count, columns * sizeof *place);
            frequency_places(place, columns, 0, bucket);
            order_numbers(l, p, place);
        }
        make_tiers(l, p, count, looked_at > 0 ? looked_at : 1, tier);
    }
    arena_free(&scratch);
    return ok;
}

/* ---- before and after ---------------------------------------------------------------------------------------- */

static void leave_views(pool *l)
{
    for (uint64_t k = 0; k < l->seats; k++) {
        if (l->seat[k].view != l->u)
            comm_unshare(l->seat[k].view, bytes_of(l));
        l->seat[k].view = NULL;
    }
}

/* Where the system does not map memory twice there are copies of everything; others need not know. */
static void take_views(pool *l)
{
    bool all = true;
    for (uint64_t k = 0; l->copied < l->n && all && k < l->seats; k++) {
        l->seat[k].view = l->copied > 0 ? comm_view(l->u, bytes_of(l), l->copied * sizeof *l->u) : l->u;
        all = l->seat[k].view != NULL;
    }
    if (all)
        return;
    leave_views(l);
    l->copied = l->n;
}

static bool take_seats(pool *l, const problem *p, arena *memory, bda_error *err)
{
    if (!(l->seat = ARENA_TAKE(memory, pool_seat, p->data->local_blocks + 1, err)))
        return false;
    l->seats = p->data->local_blocks;
    for (uint64_t k = 0; k < l->seats; k++)
        l->seat[k] = (pool_seat){.of = l, .looks = p->data->first_block + k}; /* not all at one page at once */
    take_views(l);
    const bool copies = l->copied == l->n || l->least_passes > 1;
    for (uint64_t k = 0; k < l->seats; k++)
        if (!(l->seat[k].seen = ARENA_TAKE(memory, double, copies ? l->n : l->copied + 1, err)) ||
            (copies && !(l->seat[k].mine = ARENA_TAKE(memory, double, l->n, err))))
            return false;
    return true;
}

bool pool_open(pool *l, const problem *p, bool anywhere, arena *memory, bda_error *err)
{
    *l = (pool){.n = p->n, .comm = p->comm};
    l->u = comm_share(p->comm, bytes_of(l));
    l->one_machine = l->u != NULL;
    if (!l->one_machine && !anywhere) {
        *l = (pool){0}; /* blocks are on their own; nothing here may look like a pool */
        return true;
    }
    if (!l->one_machine)
        l->u = comm_share_alone(bytes_of(l));
    if (!comm_agree(p->comm, l->u || err_memory(err, bytes_of(l), "weights that threads share"), err))
        return false;
    l->busy = (void *)(l->u + l->n);
    l->queues = blocks_of(l, p) > (uint64_t)(p->threads * (l->one_machine ? bda_comm_size(p->comm) : 1));
    l->in_turn = one_by_one(l, p);
    l->every = (uint64_t)fmin(fmax(rows_of_a_block(p) / LOOKS_A_PASS, 1), EVERY);
    return plan(l, p, memory, err) && comm_agree(p->comm, take_seats(l, p, memory, err), err);
}

void pool_close(pool *l)
{
    leave_views(l);
    comm_unshare(l->u, bytes_of(l));
}

/* ---- a round -------------------------------------------------------------------------------------------------- */

void pool_fill(const pool *l, const double *from)
{
    const int size = l->one_machine ? bda_comm_size(l->comm) : 1, rank = l->one_machine ? bda_comm_rank(l->comm) : 0;
    const uint64_t first = comm_first_block(l->n, rank, size), end = comm_first_block(l->n, rank + 1, size);
    for (uint64_t j = first; j < end; j++)
        l->u[j] = from[l->order ? l->order[j] : j];
    if (l->one_machine)
        comm_meet(l->comm);
}

/* What a block has not told when it ends, those that begin after it would never hear of. */
static void bring_all_together(const pool_seat *s, double *copy)
{
    const pool *l = s->of;
    for (int t = 0; l->in_turn && t < l->tiers; t++)
        for (uint64_t k = l->first[t]; k < l->end[s->viewing][t]; k++)
            for (int tries = 0; !pool_bring_together(s, l->page[k], copy) && tries < MOST_TRIES; tries++)
                sched_yield();
}

double *pool_begin(pool_seat *s, int64_t passes, const double *from, const double *start, double *copy)
{
    const pool *l = s->of;
    s->viewing = pool_is_viewed(l, passes);
    double *to = s->viewing ? s->view : copy;
    const uint64_t copied = s->viewing ? l->copied : l->n;
    const uint32_t *order = l->order;
    for (uint64_t j = 0; j < copied; j++) {
        const uint64_t at = order ? order[j] : j;
        s->seen[j] = from[at];
        if (!s->viewing)
            s->mine[j] = from[at] - start[at]; /* what it begins with is for the others to know, and no change */
    }
    memcpy(to, start, copied * sizeof *to);
    for (uint64_t j = copied; from != start && j < l->n; j++)
        if (start[j] != from[j])
            to[j] += start[j] - from[j];
    bring_all_together(s, to);
    return to;
}

void pool_end(const pool_seat *s, double *copy)
{
    const uint32_t *order = s->of->order;
    const double *restrict seen = s->seen, *restrict mine = s->mine;
    bring_all_together(s, s->viewing ? s->view : copy);
    for (uint64_t j = 0; !s->viewing && j < s->of->n; j++) {
        const uint64_t at = order ? order[j] : j;
        copy[at] = mine[j] + (copy[at] - seen[j]);
    }
}
