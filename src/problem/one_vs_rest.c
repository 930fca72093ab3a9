/* one_vs_rest.c - dual blocks of several labels, each against the rest: as many problems of two labels as there are labels,
 * which have nothing but their rows in common.
 *
 *     xi_i(W) = sum_m xi(w_m'x, y_m),   y_m = 1 for the label of the instance and -1 for the others
 *     xi_i*(-alpha_i) = sum_m xi*(-alpha_im)
 *
 * The weights of a feature lie side by side, so one pass over a row serves all its variables: the scores of all labels, a
 * step of coordinate descent for each, as linear.c has it, and the changes. A row is visited while any of its variables is
 * unsettled; those that rest at a bound take no step. C of an instance is that of its own label in all of them. */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/vector.h"
#include "data/rows_math.h"
#include "problem/linear.h"

/* The variables of row i take their steps at b->score; those that changed are listed in b->changed with what they change by
 * in b->step. Returns their number. */
LOSS_INLINE uint32_t take_steps(linear *b, uint32_t i, const subproblem *s, const double *bends, double *worst,
                                loss_kind kind)
{
    const double a1 = s->a1, a2 = s->a2;
    const uint64_t first = (uint64_t)i * b->width;
    const double c = linear_cost(b, kind, first, 1);
    uint32_t changed = 0;
    for (uint32_t m = 0; m < b->width; m++) {
        variable *v = &b->var[first + m];
        if (b->settled[first + m])
            continue;
        const double slope = b->score[m] + a2 * (v->a - v->start);
        const double slack = loss_slack(kind, v->a, slope, v->y, c, 0);
        if (slack > 0)
            continue;
        *worst = fmax(*worst, -slack);
        double none = 0, *rest = kind == LOSS_LOGISTIC ? &b->rest[first + m].now : &none;
        const double a = loss_step(kind, v->a, rest, slope, a1 * (bends ? bends[m] : v->norm) + a2, v->y, c, 0);
        if (a == v->a)
            continue;
        b->changed[changed] = m;
        b->step[changed++] = a - v->a;
        v->a = a;
    }
    return changed;
}

#define AHEAD 4

LOSS_INLINE uint64_t epoch(linear *b, const subproblem *s, const double *from, double *to, loss_kind kind,
                           rows_form form)
{
    const problem *p = b->base.p;
    const rows *r = &p->rows;
    const uint64_t first = b->base.first_row;
    const double scale = from == to ? s->a1 : 1;
    double worst = 0;
    uint64_t cells = 0;
    for (uint32_t q = 0; q < b->active; q++) {
        if (s->seat)
            pool_visit(s->seat, to);
        if (q + AHEAD < b->active)
            rows_prefetch(r, form, first + b->order[q + AHEAD]);
        const uint32_t i = b->order[q];
        rows_scores(r, form, first + i, from, b->width, b->score);
        if (s->h)
            rows_bends(r, form, first + i, s->h, b->width, b->bends);
        const uint32_t changed = take_steps(b, i, s, s->h ? b->bends : NULL, &worst, kind);
        for (uint32_t k = 0; k < changed; k++)
            b->step[k] *= scale;
        if (changed > 0)
            rows_add_classes(r, form, first + i, changed, b->changed, b->step, from == to ? s->h : NULL, b->width,
                             to);
        cells += r->start[first + i + 1] - r->start[first + i];
    }
    b->base.violation = worst;
    return cells;
}

LOSS_INLINE void evaluate(linear *b, const double *w, block_value *value, loss_kind kind, rows_form form)
{
    const problem *p = b->base.p;
    const rows *r = &p->rows;
    sum loss_sum = {0, 0}, conjugate = {0, 0}, gap = {0, 0};
    uint32_t active = 0;
    for (uint32_t i = 0; i < b->base.count; i++) {
        const uint64_t first = (uint64_t)i * b->width;
        const double c = linear_cost(b, kind, first, 1);
        double *z = b->base.margins ? b->base.margins + first : b->score;
        bool moves = false;
        if (w)
            rows_scores(r, form, b->base.first_row + i, w, b->width, z);
        else
            memset(z, 0, b->width * sizeof *z);
        for (uint64_t m = 0; m < b->width; m++) {
            const variable *v = &b->var[first + m];
            const double rest = kind == LOSS_LOGISTIC ? b->rest[first + m].now : 0;
            b->settled[first + m] = loss_slack(kind, v->a, z[m], v->y, c, 0) > b->base.violation;
            moves |= !b->settled[first + m];
            sum_add(&loss_sum, loss_value(kind, z[m], v->y, c, 0));
            sum_add(&conjugate, loss_conjugate(kind, v->a, rest, v->y, c, 0));
            sum_add(&gap, loss_gap(kind, z[m], v->a, rest, v->y, c, 0));
        }
        b->order[active] = i;
        active += moves;
    }
    b->active = active;
    const uint64_t *start = r->start + b->base.first_row;
    *value = (block_value){.cells = w ? (double)(start[b->base.count] - start[0]) : 0,
                           .loss = sum_value(&loss_sum),
                           .conjugate = sum_value(&conjugate),
                           .gap = sum_value(&gap)};
}

/* ---- for each loss and form of the rows ------------------------------------------------------------------------- */

typedef struct apart_loops {
    uint64_t (*epoch)(linear *b, const subproblem *s, const double *from, double *to);
    void (*evaluate)(linear *b, const double *w, block_value *value);
} apart_loops;

#define LOOPS_OF(name, kind, form)                                                                                   \
    static uint64_t name##_##form##_epoch(linear *b, const subproblem *s, const double *from, double *to)            \
    {                                                                                                                \
        return epoch(b, s, from, to, kind, form);                                                                    \
    }                                                                                                                \
    static void name##_##form##_evaluate(linear *b, const double *w, block_value *value)                             \
    {                                                                                                                \
        evaluate(b, w, value, kind, form);                                                                           \
    }
#define LOOPS_OF_LOSS(name, kind)                                                                                    \
    LOOPS_OF(name, kind, ROWS_ONES)                                                                                  \
    LOOPS_OF(name, kind, ROWS_CONSTANT)                                                                              \
    LOOPS_OF(name, kind, ROWS_FLOAT)                                                                                 \
    LOOPS_OF(name, kind, ROWS_DOUBLE)

LOOPS_OF_LOSS(hinge, LOSS_HINGE)
LOOPS_OF_LOSS(squared_hinge, LOSS_SQUARED_HINGE)
LOOPS_OF_LOSS(logistic, LOSS_LOGISTIC)

#define LOOP_CELL(name, form) [form] = {name##_##form##_epoch, name##_##form##_evaluate}
#define LOOP_ROW(kind, name)                                                                                         \
    [kind] = {LOOP_CELL(name, ROWS_ONES), LOOP_CELL(name, ROWS_CONSTANT), LOOP_CELL(name, ROWS_FLOAT),               \
              LOOP_CELL(name, ROWS_DOUBLE)}

static const apart_loops loops[][4] = {
    LOOP_ROW(LOSS_HINGE, hinge),
    LOOP_ROW(LOSS_SQUARED_HINGE, squared_hinge),
    LOOP_ROW(LOSS_LOGISTIC, logistic),
};

static const apart_loops *loops_of(const linear *b)
{
    return &loops[b->base.p->loss->kind][b->base.p->rows.form];
}

static uint64_t apart_epoch(block *base, const subproblem *s, rng *random, const double *from, double *to)
{
    linear *b = (linear *)base;
    rng_shuffle(random, b->order, b->active);
    return loops_of(b)->epoch(b, s, from, to);
}

static void apart_evaluate(block *base, const double *w, double travelled, block_value *value)
{
    (void)travelled; /* all labels have to be clear of their margins for a row to be left out, which is rare */
    linear *b = (linear *)base;
    loops_of(b)->evaluate(b, w, value);
}

/* v += X (alpha, less what it was before where that is wanted) */
static void add_image(const linear *b, bool change, double *v)
{
    const rows *r = &b->base.p->rows;
    for (uint32_t i = 0; i < b->base.count; i++) {
        bool any = false;
        for (uint64_t m = 0; m < b->width; m++) {
            const variable *of = &b->var[(uint64_t)i * b->width + m];
            b->step[m] = of->a - (change ? of->start : 0);
            any |= b->step[m] != 0;
        }
#define CALL(form) rows_add_scores(r, form, b->base.first_row + i, b->step, NULL, b->width, v)
        if (any)
            ROWS_DISPATCH(r->form, CALL);
#undef CALL
    }
}

static void apart_image(const block *base, double *dv)
{
    add_image((const linear *)base, true, dv);
}

static void apart_whole_image(const block *base, double *v)
{
    add_image((const linear *)base, false, v);
}

static void take_norms(linear *b)
{
    const rows *r = &b->base.p->rows;
    for (uint32_t i = 0; i < b->base.count; i++) {
        double norm = 0;
#define CALL(form) norm = rows_norm(r, form, b->base.first_row + i)
        ROWS_DISPATCH(r->form, CALL);
#undef CALL
        for (uint64_t m = 0; m < b->width; m++)
            b->var[(uint64_t)i * b->width + m].norm = norm;
    }
}

static block *apart_open(arena *memory, const block *base, bda_error *err)
{
    const problem *p = base->p;
    linear *b = linear_take(memory, base, p->outputs, err);
    if (!b || !(b->score = ARENA_TAKE(memory, double, b->width, err)) ||
        !(b->bends = ARENA_TAKE(memory, double, b->width, err)) ||
        !(b->step = ARENA_TAKE(memory, double, b->width, err)) ||
        !(b->changed = ARENA_TAKE(memory, uint32_t, b->width, err)))
        return NULL;
    for (uint64_t i = 0; i < b->variables; i++) {
        const uint64_t row = base->first_row + i / b->width;
        b->var[i].y = i % b->width == p->data->target.class[row] ? 1 : -1;
        if (b->rest)
            b->rest[i].now = b->rest[i].start = problem_cost(p, p->data->target.class[row], row);
    }
    take_norms(b);
    return &b->base;
}

/* variable, clear_until, settled for each label; order */
static uint64_t apart_bytes(const task *t, uint64_t outputs)
{
    return outputs * (sizeof(double) * (t->entropic ? 7 : 5) + 1) + sizeof(uint32_t);
}

const block_kind one_vs_rest_blocks = {
    .open = apart_open,
    .epoch = apart_epoch,
    .image = apart_image,
    .whole_image = apart_whole_image,
    .describe = linear_describe,
    .ray = linear_ray,
    .move = linear_move,
    .evaluate = apart_evaluate,
    .largest_norm = linear_largest_norm,
    .alpha = linear_alpha,
    .bytes = apart_bytes,
    .state = linear_state,
    .points = &linear_points,
};
