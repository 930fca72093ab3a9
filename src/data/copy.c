/* copy.c - data from rows in memory, which are checked as those of files are. */
#include "base/clock.h"
#include "data/shard.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool copy_row(builder *b, double label, const uint32_t *column, const double *value, uint64_t cells,
                     uint32_t *kept_column, double *kept_value, bda_error *err)
{
    unsigned long long row = b->count;
    uint64_t kept = 0;
    for (uint64_t k = 0; k < cells; k++) {
        double x = value ? value[k] : 1;
        if (!isfinite(x))
            return err_set(err, BDA_FAILED, "row %llu: value %g is not a finite number", row, x);
        if (k > 0 && column[k] <= column[k - 1])
            return err_set(err, BDA_FAILED, "row %llu: columns do not increase: %u behind %u", row, column[k],
                           column[k - 1]);
        kept_column[kept] = column[k];
        kept_value[kept] = x;
        kept += x != 0;
    }
    if (cells > 0 && column[cells - 1] == UINT32_MAX)
        return err_set(err, BDA_FAILED, "row %llu: column %u is beyond %u", row, UINT32_MAX, UINT32_MAX - 1);
    return builder_add(b, label, kept_column, kept_value, kept, err);
}

/* The labels of the rows: numbers, names or class numbers, or none where all are NULL. */
typedef struct row_labels {
    bool named;
    const double *number;
    const char *const *name;
    const uint32_t *class;
    uint64_t classes;
} row_labels;

/* As the builder holds it: the number, or the place of the name in the shard's set, or the class number. */
static bool take_label(shard *s, const row_labels *labels, uint64_t i, double *label, bda_error *err)
{
    uint32_t place = 0;
    if (labels->class) {
        *label = labels->class[i];
        return labels->class[i] < labels->classes ||
               err_set(err, BDA_FAILED, "row %llu: class %u is beyond the %llu labels", (unsigned long long)i,
                       labels->class[i], (unsigned long long)labels -> classes);
    }
    if (!labels->named) {
        *label = labels->number ? labels->number[i] + 0.0 : 0; /* a zero is +0 */
        return isfinite(*label) ||
               err_set(err, BDA_FAILED, "row %llu: label %g is not a finite number", (unsigned long long)i, *label);
    }
    if (!names_add(&s->names, labels->name[i], strlen(labels->name[i]), &place, err))
        return false;
    *label = place;
    return true;
}

static bool copy_rows(shard *s, uint64_t count, const uint64_t *start, const uint32_t *column, const double *value,
                      const row_labels *labels, bda_error *err)
{
    double label;
    uint64_t most = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (start[i + 1] < start[i])
            return err_set(err, BDA_FAILED, "row %llu: ends before it begins", (unsigned long long)i);
        most = start[i + 1] - start[i] > most ? start[i + 1] - start[i] : most;
    }
    arena memory = {0};
    uint32_t *kept_column = ARENA_TAKE(&memory, uint32_t, most + 1, err);
    double *kept_value = ARENA_TAKE(&memory, double, most + 1, err);
    bool ok = kept_column && kept_value && builder_reserve(&s->rows, count, count ? start[count] - start[0] : 0, err);
    for (uint64_t i = 0; i < count && ok; i++) {
        uint64_t k = start[i], cells = start[i + 1] - k;
        ok = take_label(s, labels, i, &label, err) &&
             copy_row(&s->rows, label, column + k, value ? value + k : NULL, cells, kept_column, kept_value, err);
        if (ok && cells > 0 && (uint64_t)column[k + cells - 1] + 1 > s->features)
            s->features = (uint64_t)column[k + cells - 1] + 1;
    }
    arena_free(&memory);
    return ok;
}

static bool too_few_blocks(comm *c, uint64_t blocks, bda_error *err)
{
    return blocks < (uint64_t)bda_comm_size(c) &&
           !err_set(err, BDA_USAGE, "%llu blocks are too few for %d ranks that each bring rows",
                    (unsigned long long)blocks, bda_comm_size(c));
}

static data *copy(comm *c, uint64_t blocks, uint64_t count, const uint64_t *start, const uint32_t *column,
                  const double *value, const row_labels *labels, bda_error *err)
{
    double began = clock_now();
    shard s = {.format = "memory", .named = labels->named, .unlabelled = !labels->number && !labels->name};
    bool ok = !too_few_blocks(c, blocks, err) && copy_rows(&s, count, start, column, value, labels, err);
    return shard_finish(c, &s, ok, false, "the data in memory", blocks, began, err);
}

data *data_copy(comm *c, uint64_t blocks, uint64_t count, const uint64_t *start, const uint32_t *column,
                const double *value, const double *label, bda_error *err)
{
    return copy(c, blocks, count, start, column, value, &(row_labels){.number = label}, err);
}

data *data_copy_named(comm *c, uint64_t blocks, uint64_t count, const uint64_t *start, const uint32_t *column,
                      const double *value, const char *const *label, bda_error *err)
{
    return copy(c, blocks, count, start, column, value, &(row_labels){.named = label != NULL, .name = label}, err);
}

static bool units_are_sound(const data_units *u, bda_error *err)
{
    for (uint64_t k = 1; k < u->labels; k++)
        if (strcmp(u->label[k - 1], u->label[k]) >= 0)
            return err_set(err, BDA_FAILED, "%s: the labels '%s' and '%s' are not in increasing order", u->name,
                           u->label[k - 1], u->label[k]);
    for (uint64_t i = 0; i < u->units; i++)
        if (u->unit_row[i + 1] < u->unit_row[i])
            return err_set(err, BDA_FAILED, "%s: unit %llu ends before it begins", u->name, (unsigned long long)i);
    return u->units == 0 || u->unit_row[0] == 0 ||
           err_set(err, BDA_FAILED, "%s: the first unit begins with row %llu", u->name,
                   (unsigned long long)u->unit_row[0]);
}

data *data_copy_units(comm *c, uint64_t blocks, const data_units *from, bda_error *err)
{
    double began = clock_now();
    const row_labels labels = {.class = from->class, .classes = from->labels};
    const uint64_t count = from->units > 0 ? from->unit_row[from->units] : 0;
    shard s = {.units = from, .features = from->features, .bytes_read = from->bytes_read};
    snprintf(s.format, sizeof s.format, "%s", from->format);
    bool ok = units_are_sound(from, err) && (from->shared || !too_few_blocks(c, blocks, err)) &&
              copy_rows(&s, count, from->start, from->column, from->value, &labels, err);
    return shard_finish(c, &s, ok, from->shared, from->name, blocks, began, err);
}

data *data_take_units(comm *c, uint64_t blocks, builder *rows, bool ok, const data_units *from, bda_error *err)
{
    shard s = {.rows = *rows, .units = from, .features = from->features, .bytes_read = from->bytes_read};
    snprintf(s.format, sizeof s.format, "%s", from->format);
    *rows = (builder){0};
    ok = ok && units_are_sound(from, err) && (from->shared || !too_few_blocks(c, blocks, err));
    return shard_finish(c, &s, ok, from->shared, from->name, blocks, clock_now(), err);
}
