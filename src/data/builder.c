/* builder.c - see builder.h. Arrays grow by half of their size: large ones move by pages, not by bytes. */
#include "data/builder.h"

#include "base/memory.h"

#include <string.h>

rows_form builder_form(builder_facts facts)
{
    if (!facts.not_ones)
        return ROWS_ONES;
    if (!facts.varied)
        return ROWS_CONSTANT;
    return facts.inexact ? ROWS_DOUBLE : ROWS_FLOAT;
}

static void release(void *array, uint64_t bytes)
{
    if (bytes > 0)
        mem_free(array, bytes);
}

static void free_values(builder *b)
{
    release(b->column, b->column_bytes);
    release(b->pair, b->pair_bytes);
    release(b->value, b->value_bytes);
}

void builder_free(builder *b)
{
    release(b->start, b->start_bytes);
    release(b->label, b->label_bytes);
    free_values(b);
    *b = (builder){0};
}

uint64_t builder_bytes(const builder *b)
{
    return b->start_bytes + b->label_bytes + b->column_bytes + b->pair_bytes + b->value_bytes;
}

/* `array` points to a pointer to `*bytes` bytes. */
static bool resize(void *array, uint64_t *bytes, uint64_t need, bda_error *err)
{
    void *old;
    memcpy(&old, array, sizeof old);
    void *moved = mem_resize(old, *bytes, need, "rows", err);
    if (!moved)
        return false;
    memcpy(array, &moved, sizeof moved);
    *bytes = need;
    return true;
}

static bool grow(void *array, uint64_t *bytes, uint64_t items, uint64_t size, bda_error *err)
{
    uint64_t need;
    if (__builtin_mul_overflow(items, size, &need))
        return err_memory(err, UINT64_MAX, "rows");
    if (need <= *bytes)
        return true;
    return resize(array, bytes, need > *bytes + *bytes / 2 ? need : *bytes + *bytes / 2, err);
}

static bool reserve_starts(builder *b, uint64_t more_rows, bda_error *err)
{
    bool first = !b->start;
    if (!grow(&b->start, &b->start_bytes, b->count + more_rows + 1, sizeof *b->start, err))
        return false;
    if (first)
        b->start[0] = 0;
    return true;
}

/* Arrays of cells and values as a form wants them. */
static bool reserve_values(builder *b, rows_form form, uint64_t more_rows, uint64_t cells, bda_error *err)
{
    if (form == ROWS_FLOAT)
        return grow(&b->pair, &b->pair_bytes, b->cells + cells, sizeof *b->pair, err);
    if (!grow(&b->column, &b->column_bytes, b->cells + cells, sizeof *b->column, err))
        return false;
    if (form == ROWS_CONSTANT)
        return grow(&b->value, &b->value_bytes, b->count + more_rows, sizeof *b->value, err);
    return form != ROWS_DOUBLE || grow(&b->value, &b->value_bytes, b->cells + cells, sizeof *b->value, err);
}

bool builder_reserve(builder *b, uint64_t more_rows, uint64_t cells, bda_error *err)
{
    return reserve_starts(b, more_rows, err) &&
           grow(&b->label, &b->label_bytes, b->count + more_rows, sizeof *b->label, err) &&
           reserve_values(b, b->form, more_rows, cells, err);
}

static uint64_t left(uint64_t bytes, uint64_t size, uint64_t used)
{
    return bytes / size > used ? bytes / size - used : 0;
}

/* Room of the old form goes over to the new one, so that what was reserved stays reserved. */
static void rooms(const builder *b, uint64_t *more_rows, uint64_t *cells)
{
    *more_rows = left(b->label_bytes, sizeof *b->label, b->count);
    *cells = b->form == ROWS_FLOAT ? left(b->pair_bytes, sizeof *b->pair, b->cells)
                                   : left(b->column_bytes, sizeof *b->column, b->cells);
}

static double value_of(const builder *b, uint64_t row, uint64_t cell)
{
    return b->form == ROWS_ONES ? 1 : b->form == ROWS_CONSTANT ? b->value[row] : b->pair[cell].value;
}

bool builder_upgrade(builder *b, rows_form form, bda_error *err)
{
    if (form <= b->form)
        return true;
    uint64_t more_rows, cells;
    rooms(b, &more_rows, &cells);
    builder to = {.count = b->count, .cells = b->cells};
    bool stays = b->form != ROWS_FLOAT && form != ROWS_FLOAT && b->column_bytes > 0;
    if (stays) { /* the columns */
        to.column = b->column;
        to.column_bytes = b->column_bytes;
    }
    if (!reserve_values(&to, form, more_rows, cells, err)) {
        if (!stays)
            release(to.column, to.column_bytes);
        return false;
    }
    for (uint64_t i = 0; i < b->count; i++) {
        if (form == ROWS_CONSTANT)
            to.value[i] = b->start[i + 1] > b->start[i];
        for (uint64_t k = b->start[i]; k < b->start[i + 1]; k++) {
            uint32_t column = b->form == ROWS_FLOAT ? b->pair[k].column : b->column[k];
            if (form == ROWS_FLOAT)
                to.pair[k] = (rows_pair){column, (float)value_of(b, i, k)};
            else
                to.column[k] = column;
            if (form == ROWS_DOUBLE)
                to.value[k] = value_of(b, i, k);
        }
    }
    if (stays)
        b->column_bytes = 0;
    free_values(b);
    b->column = to.column, b->column_bytes = to.column_bytes;
    b->pair = to.pair, b->pair_bytes = to.pair_bytes;
    b->value = to.value, b->value_bytes = to.value_bytes;
    b->form = form;
    return true;
}

/* What a row adds to the facts. Flat loops without a way out: they are vectorised. */
static void learn(builder_facts *facts, const double *value, uint64_t cells)
{
    uint64_t other = 0, inexact = 0;
    if (!facts->varied)
        for (uint64_t k = 0; k < cells; k++)
            other += value[k] != value[0];
    if (!facts->inexact)
        for (uint64_t k = 0; k < cells; k++)
            inexact += (double)(float)value[k] != value[k];
    facts->not_ones |= other > 0 || value[0] != 1;
    facts->varied |= other > 0;
    facts->inexact |= inexact > 0;
}

static void add_values(builder *b, const double *value, uint64_t cells)
{
    if (b->form == ROWS_CONSTANT)
        b->value[b->count] = cells == 0 ? 0 : value ? value[0] : 1;
    else if (b->form == ROWS_DOUBLE && value && cells > 0)
        memcpy(b->value + b->cells, value, cells * sizeof *value);
    else if (b->form == ROWS_DOUBLE)
        for (uint64_t k = 0; k < cells; k++)
            b->value[b->cells + k] = 1;
}

bool builder_add(builder *b, double label, const uint32_t *column, const double *value, uint64_t cells,
                 bda_error *err)
{
    if (value && cells > 0 && b->form != ROWS_DOUBLE) {
        learn(&b->facts, value, cells);
        if (!builder_upgrade(b, builder_form(b->facts), err))
            return false;
    }
    if (b->form == ROWS_FLOAT)
        for (uint64_t k = 0; k < cells; k++)
            b->pair[b->cells + k] = (rows_pair){column[k], value ? (float)value[k] : 1};
    else if (cells > 0)
        memcpy(b->column + b->cells, column, cells * sizeof *column);
    if (b->form != ROWS_ONES)
        add_values(b, value, cells);
    b->label[b->count++] = label;
    b->cells += cells;
    b->start[b->count] = b->cells;
    return true;
}

/* Items [first, first + items) become the first of the array. */
static void keep(void *array, uint64_t first, uint64_t items, uint64_t size)
{
    if (first > 0 && items > 0)
        memmove(array, (char *)array + first * size, items * size);
}

void builder_cut(builder *b, uint64_t first, uint64_t end)
{
    uint64_t from = b->start[first], cells = b->start[end] - from, count = end - first;
    for (uint64_t i = 0; i <= count; i++)
        b->start[i] = b->start[first + i] - from;
    keep(b->label, first, count, sizeof *b->label);
    if (b->form == ROWS_FLOAT)
        keep(b->pair, from, cells, sizeof *b->pair);
    else
        keep(b->column, from, cells, sizeof *b->column);
    if (b->form == ROWS_DOUBLE)
        keep(b->value, from, cells, sizeof *b->value);
    else if (b->form == ROWS_CONSTANT)
        keep(b->value, first, count, sizeof *b->value);
    b->count = count;
    b->cells = cells;
}

/* Puts `added` items before or behind the `items` that an array has. */
static void join(void *array, uint64_t items, const void *other, uint64_t added, uint64_t size, bool front)
{
    if (added == 0)
        return;
    if (front && items > 0)
        memmove((char *)array + added * size, array, items * size);
    memcpy((char *)array + (front ? 0 : items * size), other, added * size);
}

bool builder_join(builder *b, builder *other, bool front, bda_error *err)
{
    uint64_t added = other->count, cells = other->cells;
    builder_facts both = {b->facts.not_ones | other->facts.not_ones, b->facts.varied | other->facts.varied,
                          b->facts.inexact | other->facts.inexact};
    rows_form form = builder_form(both);
    if (!builder_upgrade(b, form, err) || !builder_upgrade(other, form, err) ||
        !builder_reserve(b, added, cells, err))
        return false;
    b->facts = both;
    for (uint64_t i = b->count + 1; front && i-- > 0;)
        b->start[i + added] = b->start[i] + cells;
    for (uint64_t i = 0; i < added; i++)
        b->start[front ? i : b->count + 1 + i] = front ? other->start[i] : b->cells + other->start[i + 1];
    join(b->label, b->count, other->label, added, sizeof *b->label, front);
    if (form == ROWS_FLOAT)
        join(b->pair, b->cells, other->pair, cells, sizeof *b->pair, front);
    else
        join(b->column, b->cells, other->column, cells, sizeof *b->column, front);
    if (form == ROWS_DOUBLE)
        join(b->value, b->cells, other->value, cells, sizeof *b->value, front);
    else if (form == ROWS_CONSTANT)
        join(b->value, b->count, other->value, added, sizeof *b->value, front);
    b->count += added;
    b->cells += cells;
    builder_free(other);
    return true;
}

static bool fit(void *array, uint64_t *bytes, uint64_t need, bda_error *err)
{
    need = need > 0 ? need : 1;
    return *bytes <= need || resize(array, bytes, need, err);
}

bool builder_fit(builder *b, bda_error *err)
{
    uint64_t values = b->form == ROWS_CONSTANT ? b->count : b->cells;
    return (b->start || reserve_starts(b, 0, err)) &&
           fit(&b->start, &b->start_bytes, (b->count + 1) * sizeof *b->start, err) &&
           fit(&b->label, &b->label_bytes, b->count * sizeof *b->label, err) &&
           fit(&b->column, &b->column_bytes, b->cells * sizeof *b->column, err) &&
           fit(&b->pair, &b->pair_bytes, b->cells * sizeof *b->pair, err) &&
           fit(&b->value, &b->value_bytes, values * sizeof *b->value, err);
}
