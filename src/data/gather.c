/* gather.c - all ranks' rows on every rank, as data of its own. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "data/rows_math.h"
#include "data/shard.h"

/* The rows of one rank on their way. */
typedef struct parcel {
    uint64_t *start; /* [rows + 1] from 0 on */
    uint32_t *column;
    double *value;
    double *label; /* [rows] numbers, or places in the table of labels */
    double *weight;
    arena memory;
} parcel;

static bool take_parcel(parcel *to, uint64_t rows, uint64_t cells, bda_error *err)
{
    arena *m = &to->memory;
    return (to->start = ARENA_TAKE(m, uint64_t, rows + 1, err)) &&
           (to->column = ARENA_TAKE(m, uint32_t, cells + 1, err)) &&
           (to->value = ARENA_TAKE(m, double, cells + 1, err)) &&
           (to->label = ARENA_TAKE(m, double, rows + 1, err)) && (to->weight = ARENA_TAKE(m, double, rows + 1, err));
}

static void fill_parcel(parcel *to, const data *d)
{
    const rows *r = &d->rows;
    const uint64_t first = r->start[0];
    for (uint64_t i = 0; i < r->count; i++) {
        to->start[i + 1] = r->start[i + 1] - first;
        to->label[i] = d->target.real ? d->target.real[i] : d->target.class[i];
        to->weight[i] = d->weight ? d->weight[i] : 1;
        for (uint64_t j = r->start[i]; j < r->start[i + 1]; j++) {
            to->column[j - first] = rows_column(r, r->form, j);
            to->value[j - first] = rows_value(r, r->form, i, j);
        }
    }
}

/* From one rank to all. Collective. */
static void send_parcel(comm *c, int from, parcel *p, uint64_t rows, uint64_t cells, bool weights)
{
    comm_broadcast(c, from, p->start, (rows + 1) * sizeof *p->start);
    comm_broadcast(c, from, p->column, cells * sizeof *p->column);
    comm_broadcast(c, from, p->value, cells * sizeof *p->value);
    comm_broadcast(c, from, p->label, rows * sizeof *p->label);
    if (weights)
        comm_broadcast(c, from, p->weight, rows * sizeof *p->weight);
}

static bool add_parcel(shard *s, const parcel *p, uint64_t rows, const data *d, double *weight, bda_error *err)
{
    for (uint64_t i = 0; i < rows; i++) {
        double label = p->label[i];
        uint32_t place = 0;
        if (s->named) {
            const char *name = d->labels.name[(uint32_t)label];
            if (!names_add(&s->names, name, strlen(name), &place, err))
                return false;
            label = place;
        }
        if (weight)
            weight[s->rows.count] = p->weight[i];
        if (!builder_add(&s->rows, label, p->column + p->start[i], p->value + p->start[i],
                         p->start[i + 1] - p->start[i], err))
            return false;
    }
    return true;
}

/* Rank after rank. weight: [rows of all], or NULL */
static bool add_all(comm *c, shard *s, const data *d, double *weight, bda_error *err)
{
    bool ok = true;
    for (int from = 0; ok && from < bda_comm_size(c); from++) {
        const bool mine = from == bda_comm_rank(c);
        uint64_t sizes[] = {d->rows.count, d->rows.start[d->rows.count] - d->rows.start[0]};
        comm_broadcast(c, from, sizes, sizeof sizes);
        parcel p = {0};
        ok = comm_agree(c, take_parcel(&p, sizes[0], sizes[1], err), err);
        if (ok) {
            if (mine)
                fill_parcel(&p, d);
            send_parcel(c, from, &p, sizes[0], sizes[1], weight != NULL);
            ok = comm_agree(c, add_parcel(s, &p, sizes[0], d, weight, err), err);
        }
        arena_free(&p.memory);
    }
    return ok;
}

data *data_gather(comm *c, const data *d, comm *alone, uint64_t blocks, bda_error *err)
{
    const double began = clock_now();
    arena memory = {0};
    shard s = {.named = !d->target.real, .features = d->features};
    snprintf(s.format, sizeof s.format, "%s", "memory");
    double *weight = d->weight ? ARENA_TAKE(&memory, double, d->rows_all, err) : NULL;
    bool ok = comm_agree(c, (weight || !d->weight) && builder_reserve(&s.rows, d->rows_all, d->nonzeros, err), err);
    ok = ok && add_all(c, &s, d, weight, err);
    data *all = shard_finish(alone, &s, ok, false, d->name, blocks, began, err);
    if (all && weight) {
        double *to = data_take_weights(all, err);
        if (to)
            memcpy(to, weight, d->rows_all * sizeof *to);
        else {
            data_free(all);
            all = NULL;
        }
    }
    arena_free(&memory);
    if (comm_agree(c, all != NULL, err))
        return all;
    data_free(all);
    return NULL;
}
