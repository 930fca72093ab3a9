/* builder.c - see builder.h. Arrays grow by half of their size: large ones move by pages, not by bytes. */
#include "data/builder.h"

#include "base/memory.h"

#include <string.h>

#define LITTLE 64 /* what is kept stays where it is, behind a gap, if at most a 64th of it is dropped before it */

rows_form builder_form(builder_facts facts)
{
    if (!facts.not_ones)
        return ROWS_ONES;
    if (!facts.varied)
        return ROWS_CONSTANT;
    return facts.inexact ? ROWS_DOUBLE : ROWS_FLOAT;
}

/* The gap of `value`. */
static uint64_t value_gap(const builder *b)
{
    return b->form == ROWS_CONSTANT ? b->gap_rows : b->gap_cells;
}

static void release(void *array, uint64_t bytes, uint64_t gap)
{
    if (bytes > 0)
        mem_free((char *)array - gap, bytes);
}

static void free_values(builder *b)
{
    release(b->column, b->column_bytes, b->gap_cells * sizeof *b->column);
    release(b->pair, b->pair_bytes, b->gap_cells * sizeof *b->pair);
    release(b->value, b->value_bytes, value_gap(b) * sizeof *b->value);
}

void builder_free(builder *b)
{
    release(b->start, b->start_bytes, b->gap_rows * sizeof *b->start);
    release(b->label, b->label_bytes, b->gap_rows * sizeof *b->label);
    free_values(b);
    *b = (builder){0};
}

static uint64_t without(uint64_t bytes, uint64_t gap)
{
    return bytes > gap ? bytes - gap : 0;
}

uint64_t builder_bytes(const builder *b)
{
    return without(b->start_bytes, b->gap_rows * sizeof *b->start) +
           without(b->label_bytes, b->gap_rows * sizeof *b->label) +
           without(b->column_bytes, b->gap_cells * sizeof *b->column) +
           without(b->pair_bytes, b->gap_cells * sizeof *b->pair) +
           without(b->value_bytes, value_gap(b) * sizeof *b->value);
}

/* `array` points to a pointer to what is behind the gap of an array of `*bytes` bytes. */
static bool resize(void *array, uint64_t *bytes, uint64_t gap, uint64_t need, bda_error *err)
{
    char *old;
    memcpy(&old, array, sizeof old);
    char *moved = mem_resize(old ? old - gap : NULL, *bytes, need, "rows", err);
    if (!moved)
        return false;
    moved += gap;
    memcpy(array, &moved, sizeof moved);
    *bytes = need;
    return true;
}

/* Room for so many items behind the gap. */
static bool grow(void *array, uint64_t *bytes, uint64_t gap, uint64_t items, uint64_t size, bda_error *err)
{
    uint64_t need;
    if (__builtin_add_overflow(gap, items, &items) || __builtin_mul_overflow(items, size, &need))
        return err_memory(err, UINT64_MAX, "rows");
    if (need <= *bytes)
        return true;
    return resize(array, bytes, gap * size, need > *bytes + *bytes / 2 ? need : *bytes + *bytes / 2, err);
}

static bool reserve_starts(builder *b, uint64_t more_rows, bda_error *err)
{
    bool first = !b->start;
    if (!grow(&b->start, &b->start_bytes, b->gap_rows, b->count + more_rows + 1, sizeof *b->start, err))
        return false;
    if (first)
        b->start[0] = 0;
    return true;
}

/* Arrays of cells and values as a form wants them. */
static bool reserve_values(builder *b, rows_form form, uint64_t more_rows, uint64_t cells, bda_error *err)
{
    cells += b->cells;
    if (form == ROWS_FLOAT)
        return grow(&b->pair, &b->pair_bytes, b->gap_cells, cells, sizeof *b->pair, err);
    if (!grow(&b->column, &b->column_bytes, b->gap_cells, cells, sizeof *b->column, err))
        return false;
    if (form == ROWS_CONSTANT)
        return grow(&b->value, &b->value_bytes, b->gap_rows, b->count + more_rows, sizeof *b->value, err);
    return form != ROWS_DOUBLE || grow(&b->value, &b->value_bytes, b->gap_cells, cells, sizeof *b->value, err);
}

bool builder_reserve(builder *b, uint64_t more_rows, uint64_t cells, bda_error *err)
{
    return reserve_starts(b, more_rows, err) &&
           grow(&b->label, &b->label_bytes, b->gap_rows, b->count + more_rows, sizeof *b->label, err) &&
           reserve_values(b, b->form, more_rows, cells, err);
}

static uint64_t left(uint64_t bytes, uint64_t size, uint64_t used)
{
    return bytes / size > used ? bytes / size - used : 0;
}

/* Room of the old form goes over to the new one, so that what was reserved stays reserved. */
static void rooms(const builder *b, uint64_t *more_rows, uint64_t *cells)
{
    *more_rows = left(b->label_bytes, sizeof *b->label, b->gap_rows + b->count);
    *cells = b->form == ROWS_FLOAT ? left(b->pair_bytes, sizeof *b->pair, b->gap_cells + b->cells)
                                   : left(b->column_bytes, sizeof *b->column, b->gap_cells + b->cells);
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
    builder to = {.count = b->count, .cells = b->cells, .gap_rows = b->gap_rows, .gap_cells = b->gap_cells};
    bool stays = b->form != ROWS_FLOAT && form != ROWS_FLOAT && b->column_bytes > 0;
    if (stays) { /* the columns */
        to.column = b->column;
        to.column_bytes = b->column_bytes;
    }
    if (!reserve_values(&to, form, more_rows, cells, err)) {
        if (!stays)
            release(to.column, to.column_bytes, to.gap_cells * sizeof *to.column);
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

/* Items [first, first + items) become the first of the array: they move, or the array begins with them. */
static void keep(void *array, bool moves, uint64_t first, uint64_t items, uint64_t size)
{
    char *old;
    memcpy(&old, array, sizeof old);
    char *kept = old + first * size;
    if (!moves)
        memcpy(array, &kept, sizeof kept);
    else if (items > 0)
        memmove(old, kept, items * size);
}

void builder_cut(builder *b, uint64_t first, uint64_t end)
{
    uint64_t from = b->start[first], cells = b->start[end] - from, count = end - first;
    b->count = count;
    b->cells = cells;
    if (first == 0)
        return;
    bool moves = first > count / LITTLE || from > cells / LITTLE;
    keep(&b->start, moves, first, count + 1, sizeof *b->start);
    for (uint64_t i = 0; i <= count; i++)
        b->start[i] -= from;
    keep(&b->label, moves, first, count, sizeof *b->label);
    if (b->form == ROWS_FLOAT)
        keep(&b->pair, moves, from, cells, sizeof *b->pair);
    else
        keep(&b->column, moves, from, cells, sizeof *b->column);
    if (b->form == ROWS_DOUBLE)
        keep(&b->value, moves, from, cells, sizeof *b->value);
    else if (b->form == ROWS_CONSTANT)
        keep(&b->value, moves, first, count, sizeof *b->value);
    b->gap_rows += moves ? 0 : first;
    b->gap_cells += moves ? 0 : from;
}

/* Where items are put: behind those of an array, into the gap before them, or in their place, so that they move up.
 */
typedef enum side { BEHIND, INTO_GAP, IN_PLACE } side;

static void join(void *array, uint64_t items, const void *other, uint64_t added, uint64_t size, side to)
{
    if (added == 0)
        return;
    char *first;
    memcpy(&first, array, sizeof first);
    if (to == INTO_GAP)
        first -= added * size;
    else if (to == IN_PLACE && items > 0)
        memmove(first + added * size, first, items * size);
    memcpy(to == BEHIND ? first + items * size : first, other, added * size);
    memcpy(array, &first, sizeof first);
}

static void join_starts(builder *b, const builder *other, side to)
{
    if (other->count == 0)
        return;
    bool behind = to == BEHIND;
    join(&b->start, b->count + 1, other->start + behind, other->count, sizeof *b->start, to);
    uint64_t from = behind ? b->count + 1 : other->count, later = behind ? other->count : b->count + 1;
    for (uint64_t i = from; i < from + later; i++)
        b->start[i] += behind ? b->cells : other->cells;
}

/* Of a builder without rows. */
static bool take_over(builder *b, builder *other, builder_facts facts, bda_error *err)
{
    builder_free(b);
    *b = *other;
    *other = (builder){0};
    b->facts = facts;
    return builder_upgrade(b, builder_form(facts), err);
}

bool builder_join(builder *b, builder *other, bool front, bda_error *err)
{
    builder_facts both = {b->facts.not_ones | other->facts.not_ones, b->facts.varied | other->facts.varied,
                          b->facts.inexact | other->facts.inexact};
    if (b->count == 0)
        return take_over(b, other, both, err);
    uint64_t added = other->count, cells = other->cells;
    rows_form form = builder_form(both);
    side by_row = !front ? BEHIND : added <= b->gap_rows ? INTO_GAP : IN_PLACE;
    side by_cell = !front ? BEHIND : cells <= b->gap_cells ? INTO_GAP : IN_PLACE;
    if (!builder_upgrade(b, form, err) || !builder_upgrade(other, form, err) ||
        !builder_reserve(b, by_row == INTO_GAP ? 0 : added, by_cell == INTO_GAP ? 0 : cells, err))
        return false;
    b->facts = both;
    join_starts(b, other, by_row);
    join(&b->label, b->count, other->label, added, sizeof *b->label, by_row);
    if (form == ROWS_FLOAT)
        join(&b->pair, b->cells, other->pair, cells, sizeof *b->pair, by_cell);
    else
        join(&b->column, b->cells, other->column, cells, sizeof *b->column, by_cell);
    if (form == ROWS_DOUBLE)
        join(&b->value, b->cells, other->value, cells, sizeof *b->value, by_cell);
    else if (form == ROWS_CONSTANT)
        join(&b->value, b->count, other->value, added, sizeof *b->value, by_row);
    b->count += added;
    b->cells += cells;
    b->gap_rows -= by_row == INTO_GAP ? added : 0;
    b->gap_cells -= by_cell == INTO_GAP ? cells : 0;
    builder_free(other);
    return true;
}

/* Down to so many items behind the gap. */
static bool fit(void *array, uint64_t *bytes, uint64_t gap, uint64_t items, uint64_t size, bda_error *err)
{
    uint64_t need = gap + items > 0 ? (gap + items) * size : 1;
    return *bytes <= need || resize(array, bytes, gap * size, need, err);
}

bool builder_fit(builder *b, bda_error *err)
{
    uint64_t values = b->form == ROWS_CONSTANT ? b->count : b->cells;
    return (b->start || reserve_starts(b, 0, err)) &&
           (b->label || grow(&b->label, &b->label_bytes, b->gap_rows, b->count + 1, sizeof *b->label, err)) &&
           fit(&b->start, &b->start_bytes, b->gap_rows, b->count + 1, sizeof *b->start, err) &&
           fit(&b->label, &b->label_bytes, b->gap_rows, b->count, sizeof *b->label, err) &&
           fit(&b->column, &b->column_bytes, b->gap_cells, b->cells, sizeof *b->column, err) &&
           fit(&b->pair, &b->pair_bytes, b->gap_cells, b->cells, sizeof *b->pair, err) &&
           fit(&b->value, &b->value_bytes, value_gap(b), values, sizeof *b->value, err);
}
