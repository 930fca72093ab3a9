/* labels.c - the distinct labels: a hash table that grows with them, up to DATA_LABELS_COUNTED. Beyond that the data
 * has numbers to regress on rather than labels: then none is listed, and only the range goes on being followed. */
#include "data/labels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_ROOM 64
#define AT_ONCE 512 /* labels */

static bool set_open(label_set *s, uint64_t room, bda_error *err)
{
    *s = (label_set){.least = INFINITY, .most = -INFINITY};
    s->at = mem_resize(NULL, 0, room * sizeof *s->at, "labels", err);
    if (!s->at)
        return false;
    s->room = room;
    for (uint64_t k = 0; k < room; k++)
        s->at[k] = NAN;
    return true;
}

void labels_free(label_set *s)
{
    if (s->at)
        mem_free(s->at, s->room * sizeof *s->at);
    *s = (label_set){0};
}

/* Where x is, or where it would go. */
static double *set_find(const label_set *s, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits ^ bits >> 32) * 0x9e3779b97f4a7c15u; /* the upper bits of the product are mixed best */
    uint64_t k = bits >> 32 & (s->room - 1);
    while (s->at[k] != x && !isnan(s->at[k]))
        k = (k + 1) & (s->room - 1);
    return &s->at[k];
}

static void set_add(label_set *s, double x)
{
    double *place = s->more ? NULL : set_find(s, x);
    if (!place || *place == x)
        return;
    if (s->count == DATA_LABELS_COUNTED) {
        s->more = true;
        return;
    }
    *place = x;
    s->count++;
}

static bool set_grow(label_set *s, bda_error *err)
{
    label_set larger;
    if (!set_open(&larger, s->room * 2, err))
        return false;
    for (uint64_t k = 0; k < s->room; k++)
        if (!isnan(s->at[k]))
            set_add(&larger, s->at[k]);
    larger.least = s->least;
    larger.most = s->most;
    labels_free(s);
    *s = larger;
    return true;
}

/* How many are neither of the two. Which of the two comes next cannot be foreseen, so this does not branch. */
static uint64_t count_others(const double *label, uint64_t count, const double *known)
{
    uint64_t others = 0;
    for (uint64_t i = 0; i < count; i++)
        others += (label[i] != known[0]) & (label[i] != known[1]);
    return others;
}

/* Looks up all but those that are known: [2], the last two that were looked up. */
static bool take_some(label_set *s, const double *label, uint64_t count, double *known, bda_error *err)
{
    for (uint64_t i = 0; i < count; i++) {
        double x = label[i];
        if (x == known[0] || x == known[1])
            continue;
        s->least = x < s->least ? x : s->least;
        s->most = x > s->most ? x : s->most;
        set_add(s, x);
        if (s->count * 2 > s->room && !set_grow(s, err))
            return false;
        known[1] = known[0];
        known[0] = x;
    }
    return true;
}

bool labels_take(label_set *s, const double *label, uint64_t count, bda_error *err)
{
    if (!set_open(s, LEAST_ROOM, err))
        return false;
    double known[2] = {NAN, NAN}; /* most data has two labels */
    for (uint64_t i = 0; i < count; i += AT_ONCE) {
        uint64_t some = count - i < AT_ONCE ? count - i : AT_ONCE;
        if (count_others(label + i, some, known) > 0 && !take_some(s, label + i, some, known, err))
            return false;
    }
    return true;
}

/* Doubles out of bytes that come in pieces of any length. */
typedef struct joiner {
    label_set *set;
    char part[sizeof(double)];
    uint64_t filled;
} joiner;

static void join(void *self, const void *bytes, uint64_t count)
{
    joiner *j = self;
    for (uint64_t i = 0; i < count; i++) {
        j->part[j->filled++] = ((const char *)bytes)[i];
        if (j->filled == sizeof(double)) {
            double x;
            memcpy(&x, j->part, sizeof x);
            set_add(j->set, x);
            j->filled = 0;
        }
    }
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Moves the labels to the front of the table, which is no table any more, in increasing order. */
static void set_list(label_set *s)
{
    uint64_t listed = 0;
    for (uint64_t k = 0; k < s->room; k++)
        if (!isnan(s->at[k]))
            s->at[listed++] = s->at[k];
    qsort(s->at, listed, sizeof *s->at, by_size);
}

/* Rank 0 joins the lists of all; `together` is the sum of their lengths. */
static bool join_sets(comm *c, label_set *s, uint64_t together, label_set *all, bda_error *err)
{
    uint64_t room = LEAST_ROOM, most = together < DATA_LABELS_COUNTED ? together : DATA_LABELS_COUNTED;
    while (room < 2 * most)
        room *= 2;
    if (!comm_agree(c, bda_comm_rank(c) > 0 || set_open(all, room, err), err))
        return false;
    set_list(s);
    joiner j = {.set = all};
    comm_collect(c, s->at, s->count * sizeof *s->at, join, &j);
    if (bda_comm_rank(c) == 0)
        set_list(all);
    return true;
}

/* Rank 0 tells everybody the labels, which it has in order. */
static bool list_labels(comm *c, const label_set *all, uint64_t count, data *d, arena *memory, bda_error *err)
{
    arena temporary = {0};
    double *number = ARENA_TAKE(&temporary, double, count, err);
    bool ok = comm_agree(c, number != NULL, err);
    if (ok) {
        if (bda_comm_rank(c) == 0)
            memcpy(number, all->at, count * sizeof *number);
        comm_broadcast(c, 0, number, count * sizeof *number);
        ok = comm_agree(c, label_table_make(&d->labels, count, NULL, number, memory, err), err);
    }
    arena_free(&temporary);
    return ok;
}

bool labels_agree(comm *c, label_set *s, data *d, arena *memory, bda_error *err)
{
    uint64_t sums[] = {s->more, s->count};
    comm_sum_counts(c, sums, 2);
    double ends[2] = {s->most, -s->least};
    comm_max_reals(c, ends, 2);
    d->label_most = ends[0];
    d->label_least = -ends[1];
    label_set all = {.more = sums[0] > 0};
    bool ok = all.more || join_sets(c, s, sums[1], &all, err);
    uint64_t count = all.more ? DATA_LABELS_COUNTED + 1 : all.count;
    if (ok) {
        comm_broadcast(c, 0, &count, sizeof count);
        d->labels = (label_table){.count = count};
    }
    if (ok && count <= DATA_LABELS_COUNTED)
        ok = list_labels(c, &all, count, d, memory, err);
    labels_free(&all);
    return ok;
}

void labels_classify(const label_table *t, const double *label, uint64_t count, uint32_t *class)
{
    if (t->count == 2) /* most data; which of the two comes next cannot be foreseen */
        for (uint64_t i = 0; i < count; i++)
            class[i] = label[i] == t->number[1];
    else
        for (uint64_t i = 0; i < count; i++)
            class[i] = label_of_number(t, label[i]);
}
