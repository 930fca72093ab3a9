/* rows_math.h - products of one row with a dense vector, written once for all forms.
 *
 * `form` is a constant where these are called, so that the compiler keeps one branch of each switch. Four partial
 * sums hide the latency of an addition; their order is fixed, so the bits are the same everywhere. */
#ifndef DATA_ROWS_MATH_H
#define DATA_ROWS_MATH_H

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

/* A weight that several threads read and write at once. Some updates may be lost, none is torn. */
ROWS_INLINE double rows_read_shared(const double *w)
{
    double x;
    __atomic_load(w, &x, __ATOMIC_RELAXED);
    return x;
}

ROWS_INLINE void rows_add_shared_weight(double *w, double change)
{
    double x = rows_read_shared(w) + change;
    __atomic_store(w, &x, __ATOMIC_RELAXED);
}

/* rows_dot and rows_add for such weights; h as in rows_add_scaled, or NULL */
ROWS_INLINE double rows_dot_shared(const rows *r, rows_form form, uint64_t i, const double *w)
{
    double s0 = 0, s1 = 0;
    uint64_t j = r->start[i], end = r->start[i + 1];
    for (; j + 2 <= end; j += 2) {
        s0 += rows_value(r, form, i, j) * rows_read_shared(&w[rows_column(r, form, j)]);
        s1 += rows_value(r, form, i, j + 1) * rows_read_shared(&w[rows_column(r, form, j + 1)]);
    }
    if (j < end)
        s0 += rows_value(r, form, i, j) * rows_read_shared(&w[rows_column(r, form, j)]);
    return s0 + s1 + (r->bias != 0 ? r->bias * rows_read_shared(&w[r->columns - 1]) : 0);
}

ROWS_INLINE void rows_add_shared(const rows *r, rows_form form, uint64_t i, double s, const double *h, double *w)
{
    const uint64_t last = r->columns - 1;
    if (r->bias != 0)
        rows_add_shared_weight(&w[last], s * r->bias * (h ? h[last] : 1));
    for (uint64_t j = r->start[i], end = r->start[i + 1]; j < end; j++) {
        uint32_t c = rows_column(r, form, j);
        rows_add_shared_weight(&w[c], s * rows_value(r, form, i, j) * (h ? h[c] : 1));
    }
}

/* w_j += s h_j x_ij */
ROWS_INLINE void rows_add_scaled(const rows *r, rows_form form, uint64_t i, double s, const double *h, double *w)
{
    const uint64_t last = r->columns - 1, end = r->start[i + 1];
    if (r->bias != 0)
        w[last] += s * r->bias * h[last];
    for (uint64_t j = r->start[i]; j < end; j++) {
        uint32_t c = rows_column(r, form, j);
        w[c] += s * rows_value(r, form, i, j) * h[c];
    }
}

/* sum_j h_j x_ij^2 */
ROWS_INLINE double rows_bend(const rows *r, rows_form form, uint64_t i, const double *h)
{
    double s = r->bias != 0 ? r->bias * r->bias * h[r->columns - 1] : 0;
    for (uint64_t j = r->start[i], end = r->start[i + 1]; j < end; j++) {
        double x = rows_value(r, form, i, j);
        s += x * x * h[rows_column(r, form, j)];
    }
    return s;
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
#define ROWS_TWOS 8          /* so many sums stay in registers */
#define ROWS_FEW_CLASSES 128 /* beyond them passing over the row again costs more than sums in memory */

/* score[m] for the first 2 twos classes from w on, twos a constant */
ROWS_INLINE void rows_scores_few(const rows *r, rows_form form, uint64_t i, const double *w, uint64_t classes,
                                 int twos, double *score)
{
    rows_two s[ROWS_TWOS];
    const rows_two *of = (const rows_two *)(w + (r->columns - 1) * classes);
    for (int k = 0; k < twos; k++) {
        s[k] = (rows_two){0, 0};
        if (r->bias != 0)
            s[k] = r->bias * of[k];
    }
    for (uint64_t j = r->start[i], end = r->start[i + 1]; j < end; j++) {
        of = (const rows_two *)(w + (uint64_t)rows_column(r, form, j) * classes);
        const double x = rows_value(r, form, i, j);
        for (int k = 0; k < twos; k++)
            s[k] += x * of[k];
    }
    for (int k = 0; k < twos; k++)
        ((rows_two *)score)[k] = s[k];
}

ROWS_INLINE void rows_scores_one(const rows *r, rows_form form, uint64_t i, const double *w, uint64_t classes,
                                 double *score)
{
    double s = r->bias != 0 ? r->bias * w[(r->columns - 1) * classes] : 0;
    for (uint64_t j = r->start[i], end = r->start[i + 1]; j < end; j++)
        s += rows_value(r, form, i, j) * w[(uint64_t)rows_column(r, form, j) * classes];
    *score = s;
}

ROWS_INLINE void rows_scores_many(const rows *r, rows_form form, uint64_t i, const double *w, uint64_t classes,
                                  double *restrict score)
{
    for (uint64_t m = 0; m < classes; m++)
        score[m] = r->bias != 0 ? r->bias * w[(r->columns - 1) * classes + m] : 0;
    for (uint64_t j = r->start[i], end = r->start[i + 1]; j < end; j++) {
        const double *restrict of = w + (uint64_t)rows_column(r, form, j) * classes;
        const double x = rows_value(r, form, i, j);
        for (uint64_t m = 0; m < classes; m++)
            score[m] += x * of[m];
    }
}

/* score[m] = sum_j x_ij w[j][m]: a pass over the row serves many classes. w: [columns][classes] */
ROWS_INLINE void rows_scores(const rows *r, rows_form form, uint64_t i, const double *w, uint64_t classes,
                             double *restrict score)
{
    if (classes > ROWS_FEW_CLASSES) {
        rows_scores_many(r, form, i, w, classes, score);
        return;
    }
    uint64_t m = 0;
    while (m + 1 < classes) {
        uint64_t twos = (classes - m) / 2;
        switch (twos) {
#define FEW(n)                                                                                                       \
    case n:                                                                                                          \
        rows_scores_few(r, form, i, w + m, classes, n, score + m);                                                   \
        break
            FEW(1);
            FEW(2);
            FEW(3);
            FEW(4);
            FEW(5);
            FEW(6);
            FEW(7);
        default:
            twos = ROWS_TWOS;
            rows_scores_few(r, form, i, w + m, classes, ROWS_TWOS, score + m);
#undef FEW
        }
        m += 2 * twos;
    }
    if (m < classes)
        rows_scores_one(r, form, i, w + m, classes, score + m);
}

/* bend[m] = sum_j h[j][m] x_ij^2 */
ROWS_INLINE void rows_bends(const rows *r, rows_form form, uint64_t i, const double *h, uint64_t classes,
                            double *restrict bend)
{
    for (uint64_t m = 0; m < classes; m++)
        bend[m] = r->bias != 0 ? r->bias * r->bias * h[(r->columns - 1) * classes + m] : 0;
    for (uint64_t j = r->start[i], end = r->start[i + 1]; j < end; j++) {
        const double *restrict of = h + (uint64_t)rows_column(r, form, j) * classes;
        const double x = rows_value(r, form, i, j);
        for (uint64_t m = 0; m < classes; m++)
            bend[m] += x * x * of[m];
    }
}

/* w[.][class[k]] += s[k] x_i for the classes given, times h where it is not NULL */
ROWS_INLINE void rows_add_classes(const rows *r, rows_form form, uint64_t i, uint32_t count, const uint32_t *class,
                                  const double *s, const double *h, uint64_t classes, double *w)
{
    if (r->bias != 0) {
        uint64_t at = (r->columns - 1) * classes;
        for (uint32_t k = 0; k < count; k++)
            w[at + class[k]] += s[k] * r->bias * (h ? h[at + class[k]] : 1);
    }
    for (uint64_t j = r->start[i], end = r->start[i + 1]; j < end; j++) {
        uint64_t at = (uint64_t)rows_column(r, form, j) * classes;
        const double x = rows_value(r, form, i, j);
        double *of = w + at;
        if (h) {
            for (uint32_t k = 0; k < count; k++)
                of[class[k]] += s[k] * x * h[at + class[k]];
        } else {
            for (uint32_t k = 0; k < count; k++)
                of[class[k]] += s[k] * x;
        }
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
