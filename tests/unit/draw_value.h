/* draw_value.h - the value of a cell of row i such that rows of them have the form: for tests that go through all
 * forms of rows. */
#ifndef UNIT_DRAW_VALUE_H
#define UNIT_DRAW_VALUE_H

#include "checker/draw.h"
#include "data/rows.h"

static inline double draw_value(rows_form form, uint64_t i)
{
    switch (form) {
    case ROWS_ONES:
        return 1;
    case ROWS_CONSTANT:
        return 0.1 + 0.01 * (double)i;
    case ROWS_FLOAT:
        return (float)uniform(-2, 2);
    default:
        return uniform(-2, 2);
    }
}

#endif
