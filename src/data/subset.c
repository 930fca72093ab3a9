/* subset.c - some rows of data as data of their own, such as the folds of a cross-validation. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "data/rows_math.h"
#include "data/shard.h"

/* The columns and values of row i. */
static uint64_t take_row(const rows *r, uint64_t i, uint32_t *column, double *value)
{
    uint64_t cells = 0;
    for (uint64_t j = r->start[i]; j < r->start[i + 1]; j++, cells++) {
        column[cells] = rows_column(r, r->form, j);
        value[cells] = rows_value(r, r->form, i, j);
    }
    return cells;
}

/* As the builder holds it: the number, or the place of the name in the shard's set. */
static bool take_label(shard *s, const data *d, uint64_t i, double *label, bda_error *err)
{
    uint32_t place = 0;
    if (!s->named) {
        *label = d->target.real[i];
        return true;
    }
    const char *name = d->labels.name[d->target.class[i]];
    if (!names_add(&s->names, name, strlen(name), &place, err))
        return false;
    *label = place;
    return true;
}

static bool take_rows(shard *s, const data *d, const uint8_t *keep, bda_error *err)
{
    const rows *r = &d->rows;
    uint64_t kept = 0, cells = 0, most = 0;
    for (uint64_t i = 0; i < r->count; i++) {
        const uint64_t length = r->start[i + 1] - r->start[i];
        most = length > most ? length : most;
        kept += keep[i] != 0;
        cells += keep[i] ? length : 0;
    }
    arena memory = {0};
    uint32_t *column = ARENA_TAKE(&memory, uint32_t, most + 1, err);
    double *value = ARENA_TAKE(&memory, double, most + 1, err), label;
    bool ok = column && value && builder_reserve(&s->rows, kept, cells, err);
    for (uint64_t i = 0; ok && i < r->count; i++) {
        if (!keep[i])
            continue;
        const uint64_t length = take_row(r, i, column, value);
        ok = take_label(s, d, i, &label, err) && builder_add(&s->rows, label, column, value, length, err);
    }
    arena_free(&memory);
    return ok;
}

data *data_subset(comm *c, const data *d, const uint8_t *keep, uint64_t blocks, bda_error *err)
{
    const double began = clock_now();
    shard s = {.named = !d->target.real, .features = d->features};
    snprintf(s.format, sizeof s.format, "%s", "memory");
    bool ok = take_rows(&s, d, keep, err);
    data *part = shard_finish(c, &s, ok, false, d->name, blocks, began, err);
    if (!part || !d->weight)
        return part;
    double *weight = data_take_weights(part, err);
    if (!comm_agree(c, weight != NULL, err)) {
        data_free(part);
        return NULL;
    }
    for (uint64_t i = 0; i < d->rows.count; i++)
        if (keep[i])
            *weight++ = d->weight[i];
    return part;
}
