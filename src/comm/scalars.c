/* scalars.c - messages of a few numbers from each block. */
#include "comm/scalars.h"

bool scalars_take(scalars *s, arena *memory, int most, bda_error *err)
{
    return (s->mine = ARENA_TAKE(memory, double, (s->local + 1) * (uint64_t)most, err)) &&
           (s->all = ARENA_TAKE(memory, double, s->blocks *(uint64_t)most, err));
}

void scalars_gather(scalars *s, int columns)
{
    s->columns = columns;
    comm_gather_blocks(s->comm, s->blocks, s->mine, columns, s->all);
}

double scalars_sum(const scalars *s, int column)
{
    return comm_column_sum(s->all, s->blocks, column, s->columns);
}

double scalars_max(const scalars *s, int column)
{
    return comm_column_max(s->all, s->blocks, column, s->columns);
}
