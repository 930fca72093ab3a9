/* rows_math.h - products of one row with a dense vector, written once for all forms.
 *
 * `form` is a constant where these are called, so that the compiler keeps one branch of each switch. Four partial
 * sums hide the latency of an addition; their order is fixed, so the bits are the same everywhere. */
#ifndef DATA_ROWS_MATH_H
#define DATA_ROWS_MATH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/sizes.h"
#include "data/rows.h"

#define ROWS_INLINE static inline __attribute__((always_inline))

/* Cell j's column and value; row i has it. */
ROWS_INLINE uint32_t rows_column(const rows *r, rows_form form, uint64_t j)
{
    return form == ROWS_FLOAT ? r->pair[j].column : r->column[j];
}

ROWS_INLINE double rows_value(const rows *r, rows_form form, uint64_t i, uint64_t j)
{
    switch (form) {
    case ROWS_ONES:
        return 1;
    case ROWS_CONSTANT:
        return r->value[i];
    case ROWS_FLOAT:
        return (double)r->pair[j].value;
    case ROWS_DOUBLE:
        return r->value[j];
    }
    return 0;
}

/* Does BODY for each cell of row i that is not stored: its column is c, its value x. */
#define ROWS_UNSTORED(r, i, BODY)                                                                                    \
    do {                                                                                                             \
        if ((r)->bias != 0) {                                                                                        \
            const uint64_t c = (r)->columns - 1;                                                                     \
            const double x = (r)->bias;                                                                              \
            BODY;                                                                                                    \
        }                                                                                                            \
        if ((r)->own) {                                                                                              \
            const uint64_t c = (r)->own_first + (i);                                                                 \
            const double x = (r)->own[i];                                                                            \
            BODY;                                                                                                    \
        }                                                                                                            \
    } while (0)

/* Where weights are far, those of cells farther on in the row are asked for before they are needed. */
#define ROWS_CELLS_AHEAD 32   /* where a cell wants one weight */
#define ROWS_CLASSES_AHEAD 24 /* those of some classes */
#define ROWS_ADDS_AHEAD 16    /* the same, to be changed */
#define ROWS_SCORES_AHEAD 8   /* those of many or all classes */

ROWS_INLINE bool rows_are_far(const rows *r, uint64_t classes)
{
    return r->columns * classes > base_sizes.far_weights;
}

/* sum over the cells of row i of  CELL(j) , j a cell's number; AHEAD(j) for those farther on where `far` */
#define ROWS_SUM(CELL, AHEAD)                                                                                        \
    do {                                                                                                             \
        for (; far && j + ROWS_CELLS_AHEAD + 4 <= end; j += 4) {                                                     \
            for (uint64_t ahead = j + ROWS_CELLS_AHEAD; ahead < j + ROWS_CELLS_AHEAD + 4; ahead++)                   \
                AHEAD(ahead);                                                                                        \
            s0 += CELL(j);                                                                                           \
            s1 += CELL(j + 1);                                                                                       \
            s2 += CELL(j + 2);                                                                                       \
            s3 += CELL(j + 3);                                                                                       \
        }                                                                                                            \
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
    const bool far = rows_are_far(r, 1);
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
#define WEIGHT(j) __builtin_prefetch(&w[rows_column(r, form, j)])
#define BARE(j) w[r->column[j]]
#define PAIR(j) ((double)r->pair[j].value * w[r->pair[j].column])
#define FULL(j) (r->value[j] * w[r->column[j]])
    switch (form) {
    case ROWS_ONES:
    case ROWS_CONSTANT:
        ROWS_SUM(BARE, WEIGHT);
        break;
    case ROWS_FLOAT:
        ROWS_SUM(PAIR, WEIGHT);
        break;
    case ROWS_DOUBLE:
        ROWS_SUM(FULL, WEIGHT);
        break;
    }
#undef WEIGHT
#undef BARE
#undef PAIR
#undef FULL
    double s = (s0 + s1) + (s2 + s3);
    if (form == ROWS_CONSTANT)
        s *= r->value[i];
    ROWS_UNSTORED(r, i, s += x * w[c]);
    return s;
}

/* w += s x_i */
ROWS_INLINE void rows_add(const rows *r, rows_form form, uint64_t i, double s, double *w)
{
    uint64_t end = r->start[i + 1];
    ROWS_UNSTORED(r, i, w[c] += s * x);
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

/* w_j += s h_j x_ij */
ROWS_INLINE void rows_add_scaled(const rows *r, rows_form form, uint64_t i, double s, const double *h, double *w)
{
    ROWS_UNSTORED(r, i, w[c] += s * x * h[c]);
    for (uint64_t j = r->start[i], end = r->start[i + 1]; j < end; j++) {
        uint32_t c = rows_column(r, form, j);
        w[c] += s * rows_value(r, form, i, j) * h[c];
    }
}

/* sum_j h_j x_ij^2 */
ROWS_INLINE double rows_bend(const rows *r, rows_form form, uint64_t i, const double *h)
{
    double s = 0;
    ROWS_UNSTORED(r, i, s += x * x * h[c]);
    for (uint64_t j = r->start[i], end = r->start[i + 1]; j < end; j++) {
        double x = rows_value(r, form, i, j);
        s += x * x * h[rows_column(r, form, j)];
    }
    return s;
}

/* x_i'x_i */
ROWS_INLINE double rows_norm(const rows *r, rows_form form, uint64_t i)
{
    const bool far = false;
    uint64_t j = r->start[i], end = r->start[i + 1];
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
#define NOTHING(j)
#define PAIR(j) ((double)r->pair[j].value * (double)r->pair[j].value)
#define FULL(j) (r->value[j] * r->value[j])
    if (form == ROWS_FLOAT)
        ROWS_SUM(PAIR, NOTHING);
    else if (form == ROWS_DOUBLE)
        ROWS_SUM(FULL, NOTHING);
    else
        s0 = (double)(end - j);
#undef NOTHING
#undef PAIR
#undef FULL
    double s = (s0 + s1) + (s2 + s3);
    if (form == ROWS_CONSTANT)
        s *= r->value[i] * r->value[i];
    return s + r->bias * r->bias + (r->own ? r->own[i] * r->own[i] : 0);
}

/* Asks for the cells of row i before they are needed: rows are visited in random order, so the processor does not
 * foresee them. Of long rows the first lines, which it goes on from by itself. */
#define ROWS_LINE 64
#define ROWS_LINES_AHEAD 16
ROWS_INLINE void rows_prefetch_range(const void *from, const void *to)
{
    const char *line = from, *end = to;
    if (end - line > ROWS_LINE * ROWS_LINES_AHEAD)
        end = line + ROWS_LINE * ROWS_LINES_AHEAD;
    for (; line < end; line += ROWS_LINE)
        __builtin_prefetch(line);
}

ROWS_INLINE void rows_prefetch(const rows *r, rows_form form, uint64_t i)
{
    uint64_t j = r->start[i], end = r->start[i + 1];
    if (form == ROWS_FLOAT) {
        rows_prefetch_range(&r->pair[j], &r->pair[end]);
        return;
    }
    rows_prefetch_range(&r->column[j], &r->column[end]);
    if (form == ROWS_CONSTANT)
        __builtin_prefetch(&r->value[i]);
    if (form == ROWS_DOUBLE)
        rows_prefetch_range(&r->value[j], &r->value[end]);
}

/* Asks for the row's own cell and its weight, whose places need no look at anything else. */
ROWS_INLINE void rows_prefetch_own(const rows *r, uint64_t i, const double *w)
{
    if (r->own) {
        __builtin_prefetch(&r->own[i]);
        __builtin_prefetch(&w[r->own_first + i], 1);
    }
}

/* Asks for the weights that row i will be multiplied with. */
ROWS_INLINE void rows_prefetch_weights(const rows *r, rows_form form, uint64_t i, const double *w)
{
    uint64_t end = r->start[i + 1];
    for (uint64_t j = r->start[i]; j < end; j++)
        __builtin_prefetch(&w[form == ROWS_FLOAT ? r->pair[j].column : r->column[j]], 1);
}

/* Two neighbouring classes at once. Each class has its own sum in the order of the cells, so that the bits are those
 * of a plain loop. */
typedef double rows_two __attribute__((vector_size(16), aligned(8), may_alias));
#define ROWS_TWOS 12         /* so many sums stay in registers */
#define ROWS_FEW_CLASSES 128 /* beyond them passing over the row again costs more than sums in memory */

/* Calls few(m, twos) for the classes from m on, two by two, with a constant `twos`, and one(m) for an odd one. */
#define ROWS_BY_TWOS(classes, few, one)                                                                              \
    do {                                                                                                             \
        uint64_t m = 0;                                                                                              \
        for (; (classes)-m >= 2 * ROWS_TWOS; m += 2 * ROWS_TWOS)                                                     \
            few(m, ROWS_TWOS);                                                                                       \
        switch (((classes)-m) / 2) {                                                                                 \
            ROWS_TWOS_CASE(few, 1);                                                                                  \
            ROWS_TWOS_CASE(few, 2);                                                                                  \
            ROWS_TWOS_CASE(few, 3);                                                                                  \
            ROWS_TWOS_CASE(few, 4);                                                                                  \
            ROWS_TWOS_CASE(few, 5);                                                                                  \
            ROWS_TWOS_CASE(few, 6);                                                                                  \
            ROWS_TWOS_CASE(few, 7);                                                                                  \
            ROWS_TWOS_CASE(few, 8);                                                                                  \
            ROWS_TWOS_CASE(few, 9);                                                                                  \
            ROWS_TWOS_CASE(few, 10);                                                                                 \
            ROWS_TWOS_CASE(few, 11);                                                                                 \
        }                                                                                                            \
        if ((classes) % 2)                                                                                           \
            one((classes)-1);                                                                                        \
    } while (0)
#define ROWS_TWOS_CASE(few, twos)                                                                                    \
    case twos:                                                                                                       \
        few(m, twos);                                                                                                \
        break

/* score[m] for the first 2 twos classes from w on, twos a constant */
ROWS_INLINE void rows_scores_few(const rows *r, rows_form form, uint64_t i, const double *w, uint64_t classes,
                                 int twos, double *score)
{
    rows_two s[ROWS_TWOS];
    for (int k = 0; k < twos; k++)
        s[k] = (rows_two){0, 0};
#define ADD(c, x)                                                                                                    \
    for (int k = 0; k < twos; k++)                                                                                   \
    s[k] += (x) * ((const rows_two *)(w + (c)*classes))[k]
    ROWS_UNSTORED(r, i, ADD(c, x));
    uint64_t j = r->start[i];
    const uint64_t end = r->start[i + 1];
    for (; rows_are_far(r, classes) && j + ROWS_SCORES_AHEAD < end; j++) {
        const double *ahead = w + (uint64_t)rows_column(r, form, j + ROWS_SCORES_AHEAD) * classes;
        for (int k = 0; k < 2 * twos; k += ROWS_LINE / (int)sizeof *w)
            __builtin_prefetch(ahead + k);
        __builtin_prefetch(ahead + 2 * twos - 1); /* classes do not begin where lines do */
        ADD((uint64_t)rows_column(r, form, j), rows_value(r, form, i, j));
    }
    for (; j < end; j++)
        ADD((uint64_t)rows_column(r, form, j), rows_value(r, form, i, j));
#undef ADD
    for (int k = 0; k < twos; k++)
        ((rows_two *)score)[k] = s[k];
}

ROWS_INLINE void rows_scores_one(const rows *r, rows_form form, uint64_t i, const double *w, uint64_t classes,
                                 double *score)
{
    double s = 0;
    ROWS_UNSTORED(r, i, s += x * w[c * classes]);
    for (uint64_t j = r->start[i], end = r->start[i + 1]; j < end; j++)
        s += rows_value(r, form, i, j) * w[(uint64_t)rows_column(r, form, j) * classes];
    *score = s;
}

/* w[m] += s[m] x for all classes, times h[m] where h is not NULL */
ROWS_INLINE void rows_add_cell(const double *restrict s, double x, const double *restrict h, uint64_t classes,
                               double *restrict w)
{
    if (h)
        for (uint64_t m = 0; m < classes; m++)
            w[m] += s[m] * x * h[m];
    else
        for (uint64_t m = 0; m < classes; m++)
            w[m] += s[m] * x;
}

ROWS_INLINE void rows_scores_many(const rows *r, rows_form form, uint64_t i, const double *w, uint64_t classes,
                                  double *restrict score)
{
    for (uint64_t m = 0; m < classes; m++)
        score[m] = 0;
    ROWS_UNSTORED(r, i, rows_add_cell(w + c * classes, x, NULL, classes, score));
    for (uint64_t j = r->start[i], end = r->start[i + 1]; j < end; j++)
        rows_add_cell(w + (uint64_t)rows_column(r, form, j) * classes, rows_value(r, form, i, j), NULL, classes,
                      score);
}

/* score[m] = sum_j x_ij w[j][m]: a pass over the row serves many classes. w: [columns][classes] */
ROWS_INLINE void rows_scores(const rows *r, rows_form form, uint64_t i, const double *w, uint64_t classes,
                             double *restrict score)
{
    if (classes > ROWS_FEW_CLASSES) {
        rows_scores_many(r, form, i, w, classes, score);
        return;
    }
#define FEW(m, twos) rows_scores_few(r, form, i, w + (m), classes, twos, score + (m))
#define ONE(m) rows_scores_one(r, form, i, w + (m), classes, score + (m))
    ROWS_BY_TWOS(classes, FEW, ONE);
#undef FEW
#undef ONE
}

/* sum over the cells of x_ij w[j][m], or of x_ij^2 w[j][m], for `count` classes, a constant, at most 4 */
ROWS_INLINE void rows_sums_of(const rows *r, rows_form form, uint64_t i, const double *w, uint64_t classes, int count,
                              const uint32_t *class, bool squares, double *score)
{
    double s[4] = {0, 0, 0, 0};
#define ADD(c, x)                                                                                                    \
    do {                                                                                                             \
        const double *of = w + (c)*classes, value = squares ? (x) * (x) : (x);                                       \
        for (int k = 0; k < count; k++)                                                                              \
            s[k] += value * of[class[k]];                                                                            \
    } while (0)
    ROWS_UNSTORED(r, i, ADD(c, x));
    uint64_t j = r->start[i];
    const uint64_t end = r->start[i + 1];
    for (; rows_are_far(r, classes) && j + ROWS_CLASSES_AHEAD < end; j++) {
        const double *ahead = w + (uint64_t)rows_column(r, form, j + ROWS_CLASSES_AHEAD) * classes;
        for (int k = 0; k < count; k++)
            __builtin_prefetch(ahead + class[k]);
        ADD((uint64_t)rows_column(r, form, j), rows_value(r, form, i, j));
    }
    for (; j < end; j++)
        ADD((uint64_t)rows_column(r, form, j), rows_value(r, form, i, j));
#undef ADD
    for (int k = 0; k < count; k++)
        score[class[k]] = s[k];
}

ROWS_INLINE void rows_sums_of_any(const rows *r, rows_form form, uint64_t i, const double *w, uint64_t classes,
                                  uint32_t count, const uint32_t *class, bool squares, double *score)
{
    uint32_t k = 0;
    for (; k + 4 <= count; k += 4)
        rows_sums_of(r, form, i, w, classes, 4, class + k, squares, score);
    if (count - k == 3)
        rows_sums_of(r, form, i, w, classes, 3, class + k, squares, score);
    else if (count - k == 2)
        rows_sums_of(r, form, i, w, classes, 2, class + k, squares, score);
    else if (count - k == 1)
        rows_sums_of(r, form, i, w, classes, 1, class + k, squares, score);
}

/* score[m] for the classes given, the bits as in rows_scores */
ROWS_INLINE void rows_scores_of(const rows *r, rows_form form, uint64_t i, const double *w, uint64_t classes,
                                uint32_t count, const uint32_t *class, double *score)
{
    rows_sums_of_any(r, form, i, w, classes, count, class, false, score);
}

/* bend[m] = sum_j h[j][m] x_ij^2 */
ROWS_INLINE void rows_bends(const rows *r, rows_form form, uint64_t i, const double *h, uint64_t classes,
                            double *restrict bend)
{
    for (uint64_t m = 0; m < classes; m++)
        bend[m] = 0;
    ROWS_UNSTORED(r, i, rows_add_cell(h + c * classes, x * x, NULL, classes, bend));
    for (uint64_t j = r->start[i], end = r->start[i + 1]; j < end; j++) {
        const double x = rows_value(r, form, i, j);
        rows_add_cell(h + (uint64_t)rows_column(r, form, j) * classes, x * x, NULL, classes, bend);
    }
}

/* bend[m] for the classes given */
ROWS_INLINE void rows_bends_of(const rows *r, rows_form form, uint64_t i, const double *h, uint64_t classes,
                               uint32_t count, const uint32_t *class, double *bend)
{
    rows_sums_of_any(r, form, i, h, classes, count, class, true, bend);
}

/* w[.][class[k]] += s[k] x_i for k below `count`, a constant */
ROWS_INLINE void rows_add_few(const rows *r, rows_form form, uint64_t i, int count, const uint32_t *class,
                              const double *s, uint64_t classes, double *w)
{
    double step[4];
    uint64_t at[4];
    for (int k = 0; k < count; k++) {
        step[k] = s[k];
        at[k] = class[k];
    }
    const uint64_t end = r->start[i + 1], far_end = rows_are_far(r, classes) ? end : 0;
    for (uint64_t j = r->start[i]; j < end; j++) {
        double *of = w + (uint64_t)rows_column(r, form, j) * classes;
        for (int k = 0; j + ROWS_ADDS_AHEAD < far_end && k < count; k++)
            __builtin_prefetch(w + (uint64_t)rows_column(r, form, j + ROWS_ADDS_AHEAD) * classes + at[k], 1);
        const double x = rows_value(r, form, i, j);
        for (int k = 0; k < count; k++)
            of[at[k]] += step[k] * x;
    }
}

/* w[.][class[k]] += s[k] x_i for the classes given, all different, times h where it is not NULL */
ROWS_INLINE void rows_add_classes(const rows *r, rows_form form, uint64_t i, uint32_t count, const uint32_t *class,
                                  const double *s, const double *h, uint64_t classes, double *w)
{
    ROWS_UNSTORED(r, i,
                  for (uint32_t k = 0; k < count; k++) w[c * classes + class[k]] +=
                  s[k] * x * (h ? h[c * classes + class[k]] : 1));
    if (!h && count <= 3) {
        if (count == 1)
            rows_add_few(r, form, i, 1, class, s, classes, w);
        else if (count == 2)
            rows_add_few(r, form, i, 2, class, s, classes, w);
        else if (count == 3)
            rows_add_few(r, form, i, 3, class, s, classes, w);
        return;
    }
    const uint64_t end = r->start[i + 1], far_end = rows_are_far(r, classes) ? end : 0;
    for (uint64_t j = r->start[i]; j < end; j++) {
        uint64_t at = (uint64_t)rows_column(r, form, j) * classes;
        const double x = rows_value(r, form, i, j);
        double *of = w + at;
        for (uint32_t k = 0; j + ROWS_SCORES_AHEAD < far_end && k < count; k++)
            __builtin_prefetch(w + (uint64_t)rows_column(r, form, j + ROWS_SCORES_AHEAD) * classes + class[k], 1);
        if (h) {
            for (uint32_t k = 0; k < count; k++)
                of[class[k]] += s[k] * x * h[at + class[k]];
        } else {
            for (uint32_t k = 0; k < count; k++)
                of[class[k]] += s[k] * x;
        }
    }
}

/* w[.][m] += s[m] x_i for the first 2 twos classes from s and w on, twos a constant */
ROWS_INLINE void rows_add_scores_few(const rows *r, rows_form form, uint64_t i, const double *s, uint64_t classes,
                                     int twos, double *w)
{
    rows_two step[ROWS_TWOS];
    for (int k = 0; k < twos; k++)
        step[k] = ((const rows_two *)s)[k];
    for (uint64_t j = r->start[i], end = r->start[i + 1]; j < end; j++) {
        rows_two *of = (rows_two *)(w + (uint64_t)rows_column(r, form, j) * classes);
        const double x = rows_value(r, form, i, j);
        for (int k = 0; k < twos; k++)
            of[k] += step[k] * x;
    }
}

ROWS_INLINE void rows_add_scores_one(const rows *r, rows_form form, uint64_t i, double s, uint64_t classes, double *w)
{
    for (uint64_t j = r->start[i], end = r->start[i + 1]; j < end; j++)
        w[(uint64_t)rows_column(r, form, j) * classes] += s * rows_value(r, form, i, j);
}

/* w[.][m] += s[m] x_i for all classes, times h where it is not NULL: as rows_add_classes, and faster */
ROWS_INLINE void rows_add_scores(const rows *r, rows_form form, uint64_t i, const double *s, const double *h,
                                 uint64_t classes, double *w)
{
    ROWS_UNSTORED(r, i, rows_add_cell(s, x, h ? h + c * classes : NULL, classes, w + c * classes));
    if (!h && classes <= ROWS_FEW_CLASSES) {
#define FEW(m, twos) rows_add_scores_few(r, form, i, s + (m), classes, twos, w + (m))
#define ONE(m) rows_add_scores_one(r, form, i, s[m], classes, w + (m))
        ROWS_BY_TWOS(classes, FEW, ONE);
#undef FEW
#undef ONE
        return;
    }
    for (uint64_t j = r->start[i], end = r->start[i + 1]; j < end; j++) {
        const uint64_t at = (uint64_t)rows_column(r, form, j) * classes;
        rows_add_cell(s, rows_value(r, form, i, j), h ? h + at : NULL, classes, w + at);
    }
}

/* A loop that is written for a constant form, called for the form at hand. */
#define ROWS_DISPATCH(form, call)                                                                                    \
    do {                                                                                                             \
        switch (form) {                                                                                              \
        case ROWS_ONES:                                                                                              \
            call(ROWS_ONES);                                                                                         \
            break;                                                                                                   \
        case ROWS_CONSTANT:                                                                                          \
            call(ROWS_CONSTANT);                                                                                     \
            break;                                                                                                   \
        case ROWS_FLOAT:                                                                                             \
            call(ROWS_FLOAT);                                                                                        \
            break;                                                                                                   \
        case ROWS_DOUBLE:                                                                                            \
            call(ROWS_DOUBLE);                                                                                       \
            break;                                                                                                   \
        }                                                                                                            \
    } while (0)

#endif
