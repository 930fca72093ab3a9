/* rows.h - sparse rows, held in the smallest form that loses nothing.
 *
 *   form       a row's values                          bytes a nonzero
 *   ones       every value is 1                        4
 *   constant   one number per row                      4
 *   float      each value is a float exactly           8, index and value side by side
 *   double     anything                                12
 *
 * Columns count from 0 and increase within a row; they are below `columns`, which readers check, so that loops need
 * not. A constant feature of value `bias` (0: none) is not stored: it is column columns - 1 of every row. Folded rows
 * (fold.h) have their columns in any order and a cell each of their own, which is not among the others. */
#ifndef DATA_ROWS_H
#define DATA_ROWS_H

#include <stdint.h>

typedef enum rows_form { ROWS_ONES, ROWS_CONSTANT, ROWS_FLOAT, ROWS_DOUBLE } rows_form;

typedef struct rows_pair {
    uint32_t column;
    float value;
} rows_pair;

typedef struct rows {
    rows_form form;
    uint64_t count;         /* rows held here */
    uint64_t columns;       /* n, the constant feature included */
    const uint64_t *start;  /* [count + 1] row i has the cells start[i] .. start[i+1]-1; start[0] may be > 0 */
    const uint32_t *column; /* [cells] ones, constant, double */
    const rows_pair *pair;  /* [cells] float */
    const double *value;    /* double: [cells]; constant: [count] */
    double bias;
    const double *own; /* [count] row i's value in its own column, own_first + i; NULL: none have one */
    uint64_t own_first;
} rows;

#endif
