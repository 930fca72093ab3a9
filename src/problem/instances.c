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

/* u = D u */
static void bend_scores(const double *bend, double *u, uint64_t classes)
{
    double mean = 0, C = instances_weight(bend, classes);
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
        const double C = instances_weight(bend, width);
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

/* ---- margins of a row that have nothing to do with each other: D is the diagonal of `bend` ------------------- */

ROWS_INLINE void apart_times(const instances *b, const double *bend, const double *d, double *out, rows_form form)
{
    const rows *r = &b->p->rows;
    for (uint64_t i = 0; i < b->count; i++, bend += b->width) {
        if (all_zero(bend, b->width))
            continue;
        rows_scores(r, form, b->first_row + i, d, b->width, b->work);
        for (uint64_t m = 0; m < b->width; m++)
            b->work[m] *= bend[m];
        rows_add_scores(r, form, b->first_row + i, b->work, NULL, b->width, out);
    }
}

void apart_hessian_times(const instances *b, const double *bend, const double *d, double *out)
{
#define CALL(form) apart_times(b, bend, d, out, form)
    ROWS_DISPATCH(b->p->rows.form, CALL);
#undef CALL
}

static void add_apart(double *restrict out, double x, const double *bend, uint64_t width)
{
    for (uint64_t m = 0; m < width; m++)
        out[m] += x * x * bend[m];
}

ROWS_INLINE void apart_squares(const instances *b, const double *bend, double *out, rows_form form)
{
    const rows *r = &b->p->rows;
    const uint64_t width = b->width;
    for (uint64_t row = b->first_row; row < b->first_row + b->count; row++, bend += width) {
        ROWS_UNSTORED(r, row, add_apart(out + c * width, x, bend, width));
        for (uint64_t j = r->start[row]; j < r->start[row + 1]; j++)
            add_apart(out + (uint64_t)rows_column(r, form, j) * width, rows_value(r, form, row, j), bend, width);
    }
}

void apart_diagonal(const instances *b, const double *bend, double *out)
{
#define CALL(form) apart_squares(b, bend, out, form)
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
