/* instances_hessian.c - X D X' of a block of rows, slab by slab of its lower triangle.
 *
 * Each number of the triangle is added up in the order of the rows, whatever way they are gone through, so that all ways
 * give the same bits. */
#include "problem/instances.h"

#include <string.h>

#include "data/rows_math.h"
#include "structure/lanes.h"

/* Which rows of the triangle are wanted, and where the first is. */
typedef struct slab {
    uint64_t first, end;
    double *out;
} slab;

/* Row c of the triangle, NULL where it is not wanted; `whole`: all are. */
ROWS_INLINE double *slab_row(const slab *s, uint64_t c, bool whole)
{
    if (whole)
        return s->out + instances_triangle(c);
    return c < s->first || c >= s->end ? NULL : s->out + (instances_triangle(c) - instances_triangle(s->first));
}

/* What column c with value x has in common with itself and the cells `from` up to `to`, which are left of it. */
ROWS_INLINE void add_pairs(const rows *r, rows_form form, uint64_t row, double bend, uint64_t c, double x,
                           uint64_t from, uint64_t to, const slab *s, bool whole)
{
    double *of = slab_row(s, c, whole);
    if (!whole && !of)
        return;
    const double scale = bend * x;
    for (uint64_t j = from; j < to; j++)
        of[rows_column(r, form, j)] += scale * rows_value(r, form, row, j);
    of[c] += scale * x;
}

/* All pairs of a row: the cells two by two, so that those left of both are looked at once. */
ROWS_INLINE void add_row(const rows *r, rows_form form, uint64_t row, double bend, const slab *s, bool whole)
{
    const uint64_t from = r->start[row], to = r->start[row + 1];
    uint64_t k = from;
    for (; k + 2 <= to; k += 2) {
        const uint64_t c = rows_column(r, form, k), next = rows_column(r, form, k + 1);
        double *of = slab_row(s, c, whole), *of_next = slab_row(s, next, whole);
        const double x = rows_value(r, form, row, k), y = rows_value(r, form, row, k + 1);
        const double scale = bend * x, scale_next = bend * y;
        if (!whole && (!of || !of_next)) {
            add_pairs(r, form, row, bend, c, x, from, k, s, whole);
            add_pairs(r, form, row, bend, next, y, from, k + 1, s, whole);
            continue;
        }
        for (uint64_t j = from; j < k; j++) {
            const uint32_t left = rows_column(r, form, j);
            const double value = rows_value(r, form, row, j);
            of[left] += scale * value;
            of_next[left] += scale_next * value;
        }
        of[c] += scale * x;
        of_next[c] += scale_next * x;
        of_next[next] += scale_next * y;
    }
    if (k < to)
        add_pairs(r, form, row, bend, rows_column(r, form, k), rows_value(r, form, row, k), from, k, s, whole);
    if (r->bias != 0)
        add_pairs(r, form, row, bend, r->columns - 1, r->bias, from, to, s, whole);
}

/* The same with the T x T matrix D in place of bend. */
ROWS_INLINE void add_class_pairs(const rows *r, rows_form form, uint64_t row, const double *bend, double C,
                                 uint64_t classes, uint64_t c, double x, uint64_t from, uint64_t to, const slab *s)
{
    for (uint64_t m = 0; m < classes; m++) {
        const uint64_t at = c * classes + m;
        if (at < s->first || at >= s->end)
            continue;
        double *of = s->out + (instances_triangle(at) - instances_triangle(s->first));
        const double scale = bend[m] * x, share = scale / C;
        for (uint64_t j = from; j < to; j++) {
            double *restrict pair = of + (uint64_t)rows_column(r, form, j) * classes;
            const double y = rows_value(r, form, row, j), part = share * y;
            for (uint64_t k = 0; k < classes; k++)
                pair[k] -= part * bend[k];
            pair[m] += scale * y;
        }
        for (uint64_t k = 0; k <= m; k++)
            of[c * classes + k] -= share * x * bend[k];
        of[at] += scale * x;
    }
}

/* ---- rows that have every column ------------------------------------------------------------------------------ */

/* Such rows are gone through in bunches, tile by tile of the triangle, whose numbers stay in registers meanwhile. */
#define TILE_ROWS 4
#define TILE_COLUMNS 8
#define BUNCH 4096 /* values: with their multiples they stay near the processor */

typedef struct bunch {
    uint64_t columns, stride, count, most; /* rows have `count` of at most `most`, `stride` numbers apart */
    double value[BUNCH], bent[BUNCH];      /* the values, and those times the weight of the row */
} bunch;

static bool bunch_serves(const rows *r, const slab *s)
{
    return s->first == 0 && s->end == r->columns && !r->own && r->columns <= BUNCH / 8 && r->columns > 1 &&
           (r->form == ROWS_DOUBLE || r->form == ROWS_FLOAT);
}

static void bunch_open(bunch *b, const rows *r)
{
    b->columns = r->columns;
    b->stride = (r->columns + TILE_COLUMNS - 1) / TILE_COLUMNS * TILE_COLUMNS;
    b->most = BUNCH / b->stride;
    b->count = 0;
    memset(b->value, 0, sizeof b->value); /* columns beyond the last are 0 */
    memset(b->bent, 0, sizeof b->bent);
}

ROWS_INLINE void bunch_take(bunch *b, const rows *r, rows_form form, uint64_t row, double bend)
{
    double *value = b->value + b->count * b->stride, *bent = b->bent + b->count * b->stride;
    const uint64_t from = r->start[row], cells = r->start[row + 1] - from;
    for (uint64_t j = 0; j < cells; j++)
        value[j] = rows_value(r, form, row, from + j);
    if (r->bias != 0)
        value[cells] = r->bias;
    for (uint64_t j = 0; j < b->columns; j++)
        bent[j] = bend * value[j];
    b->count++;
}

/* The tile whose first row is c and first column j: TILE_ROWS times TILE_COLUMNS numbers. */
LANES_INLINE void add_tile(const bunch *b, uint64_t c, uint64_t j, double *out)
{
    double sum[TILE_ROWS][TILE_COLUMNS];
    const uint64_t height = b->columns - c < TILE_ROWS ? b->columns - c : TILE_ROWS;
    for (uint64_t m = 0; m < TILE_ROWS; m++)
        for (uint64_t k = 0; k < TILE_COLUMNS; k++)
            sum[m][k] = m < height && j + k <= c + m ? out[instances_triangle(c + m) + j + k] : 0;
    const double *value = b->value + j, *bent = b->bent + c;
    for (uint64_t i = 0; i < b->count; i++, value += b->stride, bent += b->stride)
        for (int m = 0; m < TILE_ROWS; m++)
            for (int k = 0; k < TILE_COLUMNS; k++)
                sum[m][k] += bent[m] * value[k];
    for (uint64_t m = 0; m < height; m++)
        for (uint64_t k = 0; k < TILE_COLUMNS && j + k <= c + m; k++)
            out[instances_triangle(c + m) + j + k] = sum[m][k];
}

WIDE_VECTORS
static void bunch_add(bunch *b, double *out)
{
    for (uint64_t c = 0; b->count > 0 && c < b->columns; c += TILE_ROWS)
        for (uint64_t j = 0; j < b->columns && j < c + TILE_ROWS; j += TILE_COLUMNS)
            add_tile(b, c, j, out);
    b->count = 0;
}

/* ---- all rows --------------------------------------------------------------------------------------------------- */

ROWS_INLINE void one_margin(const instances *b, const double *bend, const slab *s, rows_form form, bool whole)
{
    const rows *r = &b->p->rows;
    const uint64_t full = r->columns - (r->bias != 0);
    const bool bunches = whole && bunch_serves(r, s);
    bunch dense;
    if (bunches)
        bunch_open(&dense, r);
    for (uint64_t row = b->first_row, end = row + b->count; row < end; row++, bend++) {
        if (*bend == 0)
            continue;
        if (bunches && r->start[row + 1] - r->start[row] == full) {
            bunch_take(&dense, r, form, row, *bend);
            if (dense.count == dense.most)
                bunch_add(&dense, s->out);
            continue;
        }
        if (bunches)
            bunch_add(&dense, s->out);
        add_row(r, form, row, *bend, s, whole);
    }
    if (bunches)
        bunch_add(&dense, s->out);
}

ROWS_INLINE void classes(const instances *b, const double *bend, const slab *s, rows_form form)
{
    const rows *r = &b->p->rows;
    const uint64_t width = b->width;
    for (uint64_t row = b->first_row; row < b->first_row + b->count; row++, bend += width) {
        const uint64_t from = r->start[row], to = r->start[row + 1];
        const double C = instances_weight(bend, width);
        for (uint64_t j = from; C != 0 && j < to + (r->bias != 0); j++) {
            uint64_t c = j < to ? rows_column(r, form, j) : r->columns - 1;
            double x = j < to ? rows_value(r, form, row, j) : r->bias;
            add_class_pairs(r, form, row, bend, C, width, c, x, from, j, s);
        }
    }
}

ROWS_INLINE void hessian(const instances *b, const double *bend, const slab *s, rows_form form)
{
    if (b->width > 1)
        classes(b, bend, s, form);
    else if (s->first == 0 && s->end == b->p->rows.columns)
        one_margin(b, bend, s, form, true);
    else
        one_margin(b, bend, s, form, false);
}

void rows_hessian(const instances *b, const double *bend, uint64_t first, uint64_t end, double *out)
{
    const slab s = {first, end, out};
#define CALL(form) hessian(b, bend, &s, form)
    ROWS_DISPATCH(b->p->rows.form, CALL);
#undef CALL
}
