/* row_sink.c - see row_sink.h. */
#include "data/row_sink.h"

#include <math.h>
#include <string.h>

/* With rows of about the same length a rank's instances begin close to its bytes. If they begin before, the cells
 * that it lacks find room in front of those it has read: for a 32nd of what so many bytes can hold, at 4 bytes a
 * cell, in whole huge pages, so that no memory is taken unless it is used. Little text is moved as fast. */
#define BYTES_PER_GAP_CELL 128
#define GAP_STEP ((uint64_t)1 << 19) /* cells in a huge page, 4 bytes each */

void row_sink_free(row_sink *s)
{
    builder_free(&s->rows);
    names_free(&s->names);
    *s = (row_sink){0};
}

uint64_t row_sink_held(const void *sink)
{
    return ((const row_sink *)sink)->rows.count;
}

void row_sink_cut(void *sink, uint64_t first, uint64_t end)
{
    builder_cut(&((row_sink *)sink)->rows, first, end);
}

/* The labels of `from` become numbers of the names of `to`. */
static bool join_names(row_sink *to, row_sink *from, bda_error *err)
{
    arena temporary = {0};
    uint32_t *number = ARENA_TAKE(&temporary, uint32_t, (uint64_t)from->names.count + 1, err);
    bool ok = number != NULL;
    for (uint32_t k = 0; ok && k < from->names.count; k++)
        ok = names_add(&to->names, from->names.name[k], strlen(from->names.name[k]), &number[k], err);
    for (uint64_t i = 0; ok && i < from->rows.count; i++)
        if (!isnan(from->rows.label[i]))
            from->rows.label[i] = number[(uint32_t)from->rows.label[i]];
    arena_free(&temporary);
    return ok;
}

bool row_sink_join(void *sink, void *other, bool front, bda_error *err)
{
    row_sink *to = sink, *from = other;
    to->features = from->features > to->features ? from->features : to->features;
    to->reordered |= from->reordered;
    to->named |= from->named;
    return (!from->named || join_names(to, from, err)) && builder_join(&to->rows, &from->rows, front, err);
}

void row_sink_expect(void *sink, uint64_t bytes)
{
    ((row_sink *)sink)->rows.gap_cells = bytes / BYTES_PER_GAP_CELL / GAP_STEP * GAP_STEP;
}
