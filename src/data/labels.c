/* labels.c - keeps the smallest labels in order, so that the list does not depend on who saw which label first. */
#include "data/labels.h"

#include <math.h>
#include <string.h>

#define ROOM (DATA_LABELS_COUNTED + 1)

static bool set_open(label_set *s, bda_error *err)
{
    *s = (label_set){.least = INFINITY, .most = -INFINITY};
    s->at = mem_resize(NULL, 0, ROOM * sizeof *s->at, "labels", err);
    return s->at != NULL;
}

void labels_free(label_set *s)
{
    mem_free(s->at, ROOM * sizeof *s->at);
    *s = (label_set){0};
}

static void set_add(label_set *s, double x)
{
    s->least = x < s->least ? x : s->least;
    s->most = x > s->most ? x : s->most;
    uint64_t low = 0, high = s->count;
    while (low < high) {
        uint64_t middle = (low + high) / 2;
        if (s->at[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < s->count && s->at[low] == x)
        return;
    s->more = s->more || s->count == DATA_LABELS_COUNTED;
    if (low == DATA_LABELS_COUNTED)
        return;
    memmove(s->at + low + 1, s->at + low, (s->count - low) * sizeof *s->at);
    s->at[low] = x;
    s->count += s->count < DATA_LABELS_COUNTED;
}

bool labels_take(label_set *s, const double *label, uint64_t count, bda_error *err)
{
    if (!set_open(s, err))
        return false;
    double known[2] = {NAN, NAN}; /* the last two that were added: most data has two labels */
    for (uint64_t i = 0; i < count; i++) {
        if (label[i] == known[0] || label[i] == known[1])
            continue;
        set_add(s, label[i]);
        known[1] = known[0];
        known[0] = label[i];
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

bool labels_agree(comm *c, label_set *s, data *d, bda_error *err)
{
    label_set all = {0};
    /* Only rank 0 joins; it goes through the motions without memory, too. */
    bool ok = bda_comm_rank(c) > 0 || set_open(&all, err);
    if (!comm_agree(c, ok, err)) {
        labels_free(&all);
        return false;
    }
    joiner j = {.set = &all};
    comm_collect(c, s->at, s->count * sizeof *s->at, join, &j);
    uint64_t more = s->more;
    comm_sum_counts(c, &more, 1);
    double ends[2] = {s->most, -s->least};
    comm_max_reals(c, ends, 2);
    d->label_most = ends[0];
    d->label_least = -ends[1];
    more = more > 0 || all.more;
    d->label_count = all.count;
    comm_broadcast(c, 0, &more, sizeof more);
    comm_broadcast(c, 0, &d->label_count, sizeof d->label_count);
    if (bda_comm_rank(c) == 0)
        memcpy(d->labels, all.at, all.count * sizeof *all.at);
    comm_broadcast(c, 0, d->labels, d->label_count * sizeof *d->labels);
    if (more)
        d->label_count = DATA_LABELS_COUNTED + 1;
    labels_free(&all);
    return true;
}
