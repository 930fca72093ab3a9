/* structured_primal.c - conditional random fields as primal methods see them. The margins of a unit are its table of
 * scores z, in which w'Phi(y) is linear, and
 *
 *     xi_i = C (log Z(z) - score of gold),     s_i = C (parts of gold - E parts),     xi_i*(-s_i) = -C H,
 *
 * where expectations and the entropy H = log Z - E score are those of the distribution with scores z. Second
 * derivatives are C times the covariances of parts: a product with them is the derivative of E parts along the other
 * factor. */
#include <math.h>
#include <string.h>

#include "base/vector.h"
#include "data/rows_math.h"
#include "problem/instances.h"
#include "problem/structured.h"

#define MOST INSTANCES_DIRECTIONS

typedef struct structured_primal {
    structured s;
    double C;
    uint64_t *at;             /* [count + 1] where a unit's table begins */
    double *mu, *room, *bent; /* work space: marginals, twice as many, a table */
} fields;

static bool primal_open(instances *b, arena *memory, bda_error *err)
{
    fields *f = b->structured = ARENA_TAKE(memory, fields, 1, err);
    if (!f || !structured_open(&f->s, memory, b->p, b->first, b->count, err) ||
        !(f->at = ARENA_TAKE(memory, uint64_t, b->count + (uint64_t)1, err)))
        return false;
    for (uint32_t i = 0; i < b->count; i++)
        f->at[i + 1] = f->at[i] + f->s.kind->table(&f->s, structured_length(&f->s, i));
    f->C = b->p->cost[0];
    b->size = f->at[b->count];
    const uint64_t marginals = f->s.longest ? f->s.kind->marginals(&f->s, f->s.longest) : 0;
    return (f->mu = ARENA_TAKE(memory, double, marginals + 1, err)) &&
           (f->room = ARENA_TAKE(memory, double, 2 * marginals + 1, err)) &&
           (f->bent = ARENA_TAKE(memory, double, f->s.largest + 1, err));
}

static uint64_t size_of(const fields *f, uint32_t i)
{
    return f->at[i + 1] - f->at[i];
}

/* What stands in the padding of scores is finite, and of parts 0. */
static double dot(const double *a, const double *b, uint64_t n)
{
    sum all = {0, 0};
    for (uint64_t k = 0; k < n; k++)
        if (a[k] != 0)
            sum_add(&all, a[k] * b[k]);
    return sum_value(&all);
}

static void primal_margins(const instances *b, const double *w, double *z)
{
    fields *f = b->structured;
    for (uint32_t i = 0; i < b->count; i++)
        f->s.kind->score(&f->s, i, w, z + f->at[i]);
}

static void primal_add_image(const instances *b, const double *s, double *v)
{
    fields *f = b->structured;
    for (uint32_t i = 0; i < b->count; i++) {
        memcpy(f->s.x, s + f->at[i], size_of(f, i) * sizeof *s);
        f->s.kind->spread(&f->s, i, f->s.x, NULL, v);
    }
}

/* s = C (parts of gold - E parts); returns log Z. */
static double find_slopes(fields *f, uint32_t i, const double *z, double *s)
{
    const double log_z = f->s.kind->sum(&f->s, i, z, f->mu);
    memset(s, 0, size_of(f, i) * sizeof *s);
    f->s.kind->expect(&f->s, i, -f->C, f->mu, s);
    f->s.kind->add(&f->s, i, f->C, structured_gold(&f->s, i), s);
    return log_z;
}

static void primal_slopes(const instances *b, const double *z, double *s)
{
    fields *f = b->structured;
    for (uint32_t i = 0; i < b->count; i++)
        find_slopes(f, i, z + f->at[i], s + f->at[i]);
}

/* With R = log Z - score of gold: the loss is C R, and C H = C R + s'z. */
static point_sums primal_point(const instances *b, const double *z, double *s)
{
    fields *f = b->structured;
    sum loss = {0, 0}, conjugate = {0, 0};
    for (uint32_t i = 0; i < b->count; i++) {
        const double *of = z + f->at[i], log_z = find_slopes(f, i, of, s + f->at[i]);
        const double here = f->C * (log_z - f->s.kind->total(&f->s, i, of, structured_gold(&f->s, i)));
        sum_add(&loss, here);
        sum_add(&conjugate, -fmax(0, here + dot(s + f->at[i], of, size_of(f, i))));
    }
    return (point_sums){sum_value(&loss), sum_value(&conjugate)};
}

typedef struct along_sums {
    sum value, gradient[MOST], hessian[MOST][MOST]; /* of the last the lower triangle */
} along_sums;

/* At the scores f->s.S. */
static void add_unit(fields *f, uint32_t i, int m, const double *const *q, bool first, bool second, along_sums *a)
{
    structured *s = &f->s;
    const uint16_t *gold = structured_gold(s, i);
    const uint64_t size = size_of(f, i);
    const double log_z = s->kind->sum(s, i, s->S, first || second ? f->mu : NULL);
    sum_add(&a->value, f->C * (log_z - s->kind->total(s, i, s->S, gold)));
    if (first) {
        s->kind->expect(s, i, f->C, f->mu, s->x);
        s->kind->add(s, i, -f->C, gold, s->x);
        for (int k = 0; k < m; k++)
            sum_add(&a->gradient[k], dot(s->x, q[k] + f->at[i], size));
        memset(s->x, 0, size * sizeof *s->x);
    }
    for (int k = 0; second && k < m; k++) {
        s->kind->bend(s, i, s->S, f->mu, q[k] + f->at[i], f->room, s->x);
        for (int j = 0; j <= k; j++)
            sum_add(&a->hessian[k][j], f->C * dot(s->x, q[j] + f->at[i], size));
        memset(s->x, 0, size * sizeof *s->x);
    }
}

static void primal_along(const instances *b, const double *z, int m, const double *const *q, const double *t,
                         double *value, double *gradient, double *hessian)
{
    fields *f = b->structured;
    along_sums a = {.value = {0, 0}};
    for (uint32_t i = 0; i < b->count; i++) {
        const uint64_t at = f->at[i], size = size_of(f, i);
        memcpy(f->s.S, z + at, size * sizeof *z);
        for (int k = 0; k < m; k++)
            vec_add(f->s.S, t[k], q[k] + at, size, 1);
        add_unit(f, i, m, q, gradient != NULL, hessian != NULL, &a);
    }
    if (value)
        *value = sum_value(&a.value);
    for (int k = 0; k < m; k++) {
        if (gradient)
            gradient[k] = sum_value(&a.gradient[k]);
        for (int j = 0; hessian && j <= k; j++)
            hessian[k * m + j] = hessian[j * m + k] = sum_value(&a.hessian[k][j]);
    }
}

static void primal_curvature(const instances *b, const double *z, double *bend)
{
    memcpy(bend, z, b->size * sizeof *z);
}

static void primal_hessian_times(const instances *b, const double *bend, const double *d, double *out)
{
    fields *f = b->structured;
    structured *s = &f->s;
    for (uint32_t i = 0; i < b->count; i++) {
        const double *z = bend + f->at[i];
        s->kind->score(s, i, d, f->bent);
        s->kind->sum(s, i, z, f->mu);
        s->kind->bend(s, i, z, f->mu, f->bent, f->room, s->x);
        for (uint64_t k = 0; k < size_of(f, i); k++)
            s->x[k] *= f->C;
        s->kind->spread(s, i, s->x, NULL, out);
    }
}

/* out += x_j^2 variance for the columns j of a row and its outputs */
static void add_variances(const rows *r, uint64_t row, const double *variance, uint64_t outputs, double *out)
{
#define ADD(form)                                                                                                    \
    ROWS_UNSTORED(r, row, for (uint64_t k = 0; k < outputs; k++) out[c * outputs + k] += x * x * variance[k]);       \
    for (uint64_t j = r->start[row]; j < r->start[row + 1]; j++) {                                                   \
        const double x = rows_value(r, form, row, j);                                                                \
        for (uint64_t k = 0; k < outputs; k++)                                                                       \
            out[(uint64_t)rows_column(r, form, j) * outputs + k] += x * x * variance[k];                             \
    }
    ROWS_DISPATCH(r->form, ADD);
#undef ADD
}

/* As if parts were independent, and pairs of tags rare. */
static void primal_diagonal(const instances *b, const double *bend, double *out)
{
    fields *f = b->structured;
    structured *s = &f->s;
    const uint64_t T = b->p->outputs, columns = b->p->rows.columns, shared = b->p->n - columns * T;
    for (uint32_t i = 0; i < b->count; i++) {
        const uint64_t first = structured_row(s, i), count = structured_row(s, i + 1) - first;
        const uint64_t stride = shared ? (uint64_t)s->stride : 1;
        s->kind->sum(s, i, bend + f->at[i], f->mu);
        s->kind->expect(s, i, 1, f->mu, s->x);
        for (uint64_t row = 0; row < count; row++) {
            double *p = s->x + row * stride;
            for (uint64_t k = 0; k < T; k++)
                p[k] = f->C * p[k] * (1 - p[k]);
            add_variances(&b->p->rows, first + row, p, T, out);
        }
        for (uint64_t k = 0; k < shared; k++)
            out[columns * T + k] += f->C * s->x[(count + k / T) * stride + k % T];
        memset(s->x, 0, size_of(f, i) * sizeof *s->x);
    }
}

const primal_kind structured_primal = {
    .open = primal_open,
    .margins = primal_margins,
    .add_image = primal_add_image,
    .slopes = primal_slopes,
    .point = primal_point,
    .curvature = primal_curvature,
    .along = primal_along,
    .hessian_times = primal_hessian_times,
    .diagonal = primal_diagonal,
};
