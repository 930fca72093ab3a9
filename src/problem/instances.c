/* instances.c - products of a block's rows with vectors of weights and of margins. What follows from the margins
 * alone is in instances_loss.c.
 *
 * With more than two classes w is [columns][classes], and the second derivative by an instance's scores is
 * D = diag(b) - b b'/C, where b = C p is what `bend` holds; its elements add up to C. */
#include "problem/instances.h"

#include <math.h>
#include <string.h>

#include "base/vector.h"
#include "data/rows_math.h"

instances instances_of(const problem *p, uint64_t k)
{
    const data *d = p->data;
    return (instances){
        .kind = p->task->primal,
        .p = p,
        .first = d->block_start[k],
        .first_row = data_unit_row(d, d->block_start[k]),
        .count = (uint32_t)(d->block_start[k + 1] - d->block_start[k]),
        .width = p->outputs,
        .size = (d->block_start[k + 1] - d->block_start[k]) * p->outputs,
    };
}

bool instances_open(instances *b, const problem *p, uint64_t k, arena *memory, bda_error *err)
{
    *b = instances_of(p, k);
    return !b->kind->open || b->kind->open(b, memory, err);
}

double **instances_new_margins(arena *memory, const instances *part, uint64_t parts, bda_error *err)
{
    double **z = ARENA_TAKE(memory, double *, parts + 1, err);
    for (uint64_t k = 0; z && k < parts; k++)
        if (!(z[k] = arena_take(memory, part[k].size, sizeof(double), "margins", err)))
            return NULL;
    return z;
}

/* ---- margins and images ------------------------------------------------------------------------------------- */

ROWS_INLINE void margins(const instances *b, const double *w, double *z, rows_form form)
{
    const rows *r = &b->p->rows;
    for (uint64_t i = 0; i < b->count; i++) {
        if (b->width == 1)
            z[i] = rows_dot(r, form, b->first_row + i, w);
        else
            rows_scores(r, form, b->first_row + i, w, b->width, z + i * b->width);
    }
}

void rows_margins(const instances *b, const double *w, double *z)
{
#define CALL(form) margins(b, w, z, form)
    ROWS_DISPATCH(b->p->rows.form, CALL);
#undef CALL
}

static bool all_zero(const double *s, uint64_t n)
{
    for (uint64_t m = 0; m < n; m++)
        if (s[m] != 0)
            return false;
    return true;
}

ROWS_INLINE void image(const instances *b, const double *s, double *v, rows_form form)
{
    const rows *r = &b->p->rows;
    for (uint64_t i = 0; i < b->count; i++, s += b->width) {
        if (all_zero(s, b->width))
            continue;
        if (b->width == 1)
            rows_add(r, form, b->first_row + i, *s, v);
        else
            rows_add_scores(r, form, b->first_row + i, s, NULL, b->width, v);
    }
}

void rows_add_image(const instances *b, const double *s, double *v)
{
#define CALL(form) image(b, s, v, form)
    ROWS_DISPATCH(b->p->rows.form, CALL);
#undef CALL
}

/* ---- second derivatives ------------------------------------------------------------------------------------- */

static double total(const double *x, uint64_t n)
{
    double s = 0;
    for (uint64_t m = 0; m < n; m++)
        s += x[m];
    return s;
}

/* u = D u */
static void bend_scores(const double *bend, double *u, uint64_t classes)
{
    double mean = 0, C = total(bend, classes);
    for (uint64_t m = 0; m < classes; m++)
        mean += bend[m] * u[m];
    mean = C > 0 ? mean / C : 0;
    for (uint64_t m = 0; m < classes; m++)
        u[m] = bend[m] * (u[m] - mean);
}

ROWS_INLINE void hessian_times(const instances *b, const double *bend, const double *d, double *out, rows_form form)
{
    const rows *r = &b->p->rows;
    for (uint64_t i = 0; i < b->count; i++, bend += b->width) {
        if (b->width > 1) {
            rows_scores(r, form, b->first_row + i, d, b->width, b->work);
            bend_scores(bend, b->work, b->width);
            rows_add_scores(r, form, b->first_row + i, b->work, NULL, b->width, out);
        } else if (*bend != 0) {
            rows_add(r, form, b->first_row + i, *bend * rows_dot(r, form, b->first_row + i, d), out);
        }
    }
}

void rows_hessian_times(const instances *b, const double *bend, const double *d, double *out)
{
#define CALL(form) hessian_times(b, bend, d, out, form)
    ROWS_DISPATCH(b->p->rows.form, CALL);
#undef CALL
}

/* out[m] += x^2 D_mm */
ROWS_INLINE void add_diagonal(double *restrict out, double x, const double *bend, double C, uint64_t width)
{
    if (width == 1) {
        *out += x * x * *bend;
        return;
    }
    for (uint64_t m = 0; m < width; m++)
        out[m] += x * x * (bend[m] - bend[m] * (bend[m] / C));
}

ROWS_INLINE void diagonal(const instances *b, const double *bend, double *out, rows_form form)
{
    const rows *r = &b->p->rows;
    const uint64_t width = b->width;
    for (uint64_t row = b->first_row; row < b->first_row + b->count; row++, bend += width) {
        const double C = total(bend, width);
        if (C == 0)
            continue;
        ROWS_UNSTORED(r, row, add_diagonal(out + c * width, x, bend, C, width));
        for (uint64_t j = r->start[row]; j < r->start[row + 1]; j++)
            add_diagonal(out + (uint64_t)rows_column(r, form, j) * width, rows_value(r, form, row, j), bend, C,
                         width);
    }
}

void rows_diagonal(const instances *b, const double *bend, double *out)
{
#define CALL(form) diagonal(b, bend, out, form)
    ROWS_DISPATCH(b->p->rows.form, CALL);
#undef CALL
}

/* Which rows of the triangle are wanted, and where the first is. */
typedef struct slab {
    uint64_t first, end;
    double *out;
} slab;

/* Row c of the triangle, NULL where it is not wanted. */
ROWS_INLINE double *slab_row(const slab *s, uint64_t c)
{
    return c < s->first || c >= s->end ? NULL : s->out + (instances_triangle(c) - instances_triangle(s->first));
}

/* What column c with value x has in common with itself and the cells `from` up to `to`, which are left of it. */
ROWS_INLINE void add_pairs(const rows *r, rows_form form, uint64_t row, double bend, uint64_t c, double x,
                           uint64_t from, uint64_t to, const slab *s)
{
    double *of = slab_row(s, c);
    if (!of)
        return;
    const double scale = bend * x;
    for (uint64_t j = from; j < to; j++)
        of[rows_column(r, form, j)] += scale * rows_value(r, form, row, j);
    of[c] += scale * x;
}

/* All pairs of a row: the cells two by two, so that those left of both are looked at once. */
ROWS_INLINE void add_row(const rows *r, rows_form form, uint64_t row, double bend, const slab *s)
{
    const uint64_t from = r->start[row], to = r->start[row + 1];
    uint64_t k = from;
    for (; k + 2 <= to; k += 2) {
        const uint64_t c = rows_column(r, form, k), next = rows_column(r, form, k + 1);
        double *of = slab_row(s, c), *of_next = slab_row(s, next);
        const double x = rows_value(r, form, row, k), y = rows_value(r, form, row, k + 1);
        const double scale = bend * x, scale_next = bend * y;
        if (!of || !of_next) {
            add_pairs(r, form, row, bend, c, x, from, k, s);
            add_pairs(r, form, row, bend, next, y, from, k + 1, s);
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
        add_pairs(r, form, row, bend, rows_column(r, form, k), rows_value(r, form, row, k), from, k, s);
    if (r->bias != 0)
        add_pairs(r, form, row, bend, r->columns - 1, r->bias, from, to, s);
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

ROWS_INLINE void hessian(const instances *b, const double *bend, const slab *s, rows_form form)
{
    const rows *r = &b->p->rows;
    const uint64_t width = b->width;
    for (uint64_t row = b->first_row; row < b->first_row + b->count; row++, bend += width) {
        const uint64_t from = r->start[row], to = r->start[row + 1];
        const double C = total(bend, width);
        if (C == 0)
            continue;
        if (width == 1)
            add_row(r, form, row, C, s);
        for (uint64_t j = from; width > 1 && j < to + (r->bias != 0); j++) {
            uint64_t c = j < to ? rows_column(r, form, j) : r->columns - 1;
            double x = j < to ? rows_value(r, form, row, j) : r->bias;
            add_class_pairs(r, form, row, bend, C, width, c, x, from, j, s);
        }
    }
}

void rows_hessian(const instances *b, const double *bend, uint64_t first, uint64_t end, double *out)
{
    const slab s = {first, end, out};
#define CALL(form) hessian(b, bend, &s, form)
    ROWS_DISPATCH(b->p->rows.form, CALL);
#undef CALL
}

/* ---- any kind ------------------------------------------------------------------------------------------------ */

void instances_margins(const instances *b, const double *w, double *z)
{
    b->kind->margins(b, w, z);
}

void instances_add_image(const instances *b, const double *s, double *v)
{
    b->kind->add_image(b, s, v);
}

double instances_image(const instances *b, const double *s, double *v)
{
    memset(v, 0, b->p->n * sizeof *v);
    instances_add_image(b, s, v);
    return vec_largest(v, b->p->n, 1);
}

double instances_hessian_times(const instances *b, const double *bend, const double *d, double *out)
{
    memset(out, 0, b->p->n * sizeof *out);
    b->kind->hessian_times(b, bend, d, out);
    return vec_largest(out, b->p->n, 1);
}

double instances_diagonal(const instances *b, const double *bend, double *out)
{
    memset(out, 0, b->p->n * sizeof *out);
    b->kind->diagonal(b, bend, out);
    return vec_largest(out, b->p->n, 1);
}

double instances_hessian(const instances *b, const double *bend, uint64_t first, uint64_t end, double *out)
{
    const uint64_t length = instances_triangle(end) - instances_triangle(first);
    memset(out, 0, length * sizeof *out);
    b->kind->hessian(b, bend, first, end, out);
    return vec_largest(out, length, 1);
}
