/* rows_math.h - products of one row with a dense vector, written once for all forms.
 *
 * `form` is a constant where these are called, so that the compiler keeps one branch of each switch. Four partial
 * sums hide the latency of an addition; their order is fixed, so the bits are the same everywhere. */
#ifndef DATA_ROWS_MATH_H
#define DATA_ROWS_MATH_H

#include "data/rows.h"

#define ROWS_INLINE static inline __attribute__((always_inline))

/* sum over the cells of row i of  CELL(j) , j a cell's number */
#define ROWS_SUM(CELL)                                                                                               \
    do {                                                                                                             \
        for (; j + 4 <= end; j += 4) {                                                                               \
            s0 += CELL(j);                                                                                           \
            s1 += CELL(j + 1);                                                                                       \
            s2 += CELL(j + 2);                                                                                       \
            s3 += CELL(j + 3);                                                                                       \
        }                                                                                                            \
        for (; j < end; j++)                                                                                         \
            s0 += CELL(j);                                                                                           \
    } while (0)

/* x_i'w */
ROWS_INLINE double rows_dot(const rows *r, rows_form form, uint64_t i, const double *w)
{
    uint64_t j = r->start[i], end = r->start[i + 1];
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
#define BARE(j) w[r->column[j]]
#define PAIR(j) ((double)r->pair[j].value * w[r->pair[j].column])
#define FULL(j) (r->value[j] * w[r->column[j]])
    switch (form) {
    case ROWS_ONES:
    case ROWS_CONSTANT:
        ROWS_SUM(BARE);
        break;
    case ROWS_FLOAT:
        ROWS_SUM(PAIR);
        break;
    case ROWS_DOUBLE:
        ROWS_SUM(FULL);
        break;
    }
#undef BARE
#undef PAIR
#undef FULL
    double s = (s0 + s1) + (s2 + s3);
    if (form == ROWS_CONSTANT)
        s *= r->value[i];
    if (r->bias != 0)
        s += r->bias * w[r->columns - 1];
    return s;
}

/* w += s x_i */
ROWS_INLINE void rows_add(const rows *r, rows_form form, uint64_t i, double s, double *w)
{
    uint64_t end = r->start[i + 1];
    if (r->bias != 0)
        w[r->columns - 1] += s * r->bias;
    if (form == ROWS_CONSTANT)
        s *= r->value[i];
    for (uint64_t j = r->start[i]; j < end; j++) {
        if (form == ROWS_FLOAT)
            w[r->pair[j].column] += s * (double)r->pair[j].value;
        else if (form == ROWS_DOUBLE)
            w[r->column[j]] += s * r->value[j];
        else
            w[r->column[j]] += s;
    }
}

/* x_i'x_i */
ROWS_INLINE double rows_norm(const rows *r, rows_form form, uint64_t i)
{
    uint64_t j = r->start[i], end = r->start[i + 1];
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
#define PAIR(j) ((double)r->pair[j].value * (double)r->pair[j].value)
#define FULL(j) (r->value[j] * r->value[j])
    if (form == ROWS_FLOAT)
        ROWS_SUM(PAIR);
    else if (form == ROWS_DOUBLE)
        ROWS_SUM(FULL);
    else
        s0 = (double)(end - j);
#undef PAIR
#undef FULL
    double s = (s0 + s1) + (s2 + s3);
    if (form == ROWS_CONSTANT)
        s *= r->value[i] * r->value[i];
    return s + r->bias * r->bias;
}

/* Asks for the cells of row i before they are needed; the processor follows by itself after the first lines. */
ROWS_INLINE void rows_prefetch(const rows *r, rows_form form, uint64_t i)
{
    uint64_t j = r->start[i];
    if (form == ROWS_FLOAT) {
        __builtin_prefetch(&r->pair[j]);
        __builtin_prefetch(&r->pair[j + 8]);
        return;
    }
    __builtin_prefetch(&r->column[j]);
    __builtin_prefetch(&r->column[j + 16]);
    if (form == ROWS_CONSTANT)
        __builtin_prefetch(&r->value[i]);
    if (form == ROWS_DOUBLE) {
        __builtin_prefetch(&r->value[j]);
        __builtin_prefetch(&r->value[j + 8]);
        __builtin_prefetch(&r->value[j + 16]);
    }
}

/* Asks for the weights that row i will be multiplied with. */
ROWS_INLINE void rows_prefetch_weights(const rows *r, rows_form form, uint64_t i, const double *w)
{
    uint64_t end = r->start[i + 1];
    for (uint64_t j = r->start[i]; j < end; j++)
        __builtin_prefetch(&w[form == ROWS_FLOAT ? r->pair[j].column : r->column[j]], 1);
}

#endif
