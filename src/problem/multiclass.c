/* multiclass.c - see multiclass.h. */
#include "problem/multiclass.h"

#include <math.h>

#include "data/rows_math.h"

bool multiclass_open(multiclass *b, arena *memory, const block *base, bda_error *err)
{
    const problem *p = base->p;
    const uint64_t count = base->count, classes = p->classes;
    b->base = *base;
    if (!(b->y = ARENA_TAKE(memory, uint32_t, count, err)) || !(b->norm = ARENA_TAKE(memory, double, count, err)) ||
        !(b->order = ARENA_TAKE(memory, uint32_t, count, err)) ||
        !(b->score = ARENA_TAKE(memory, double, classes, err)) ||
        !(b->A = ARENA_TAKE(memory, double, classes, err)) || !(b->step = ARENA_TAKE(memory, double, classes, err)))
        return false;
    for (uint64_t i = 0; i < count; i++)
        b->y[i] = p->data->target.class[base->first_row + i];
#define CALL(form)                                                                                                   \
    for (uint64_t i = 0; i < count; i++)                                                                             \
    b->norm[i] = rows_norm(&p->rows, form, base->first_row + i)
    ROWS_DISPATCH(p->rows.form, CALL);
#undef CALL
    return true;
}

double multiclass_largest_norm(const block *base)
{
    const multiclass *b = (const multiclass *)base;
    double largest = 0;
    for (uint32_t i = 0; i < base->count; i++)
        largest = fmax(largest, b->norm[i]);
    return largest;
}
