/* linear.c - dual blocks of binary classification and regression: one alpha per instance.
 *
 * Coordinate descent as in Hsieh et al. 2008; for the logistic loss as in Yu et al. 2011, with the closed
 * one-dimensional problem of loss_math.h.
 *
 * Shrinking: evaluate knows every margin at w. A variable that rests at a bound or kink, and farther from moving than
 * the worst violation seen in the last epoch, is left out of the next round, and judged anew at the next evaluation.
 * So nothing is ever left out when convergence is claimed.
 *
 * Each loop is written once, for constant `kind` and `form`, and instantiated for every loss and form of the rows. */
#include "problem/linear.h"

#include <string.h>

#include "base/random.h"
#include "base/sizes.h"
#include "base/vector.h"
#include "data/rows_math.h"

typedef struct linear_loops {
    uint64_t (*epoch)(linear *b, const subproblem *s, const double *from, double *to);
    void (*evaluate)(linear *b, const double *w, double travelled, block_value *value);
    void (*norms)(linear *b);
} linear_loops;

/* How many visits ahead a row's variable and start are asked for, its cells once the start is known, and the weights
 * once the cells are there; the last pays only where the weights are larger than any cache. */
#define AHEAD_VARIABLE 12
#define AHEAD_CELLS 6
#define AHEAD_WEIGHTS 2

/* One pass over the active variables in the order given. Slopes are taken from `from`, changes go to `to`: one vector
 * u for the coupled model, w and dv where each instance is on its own. Returns the number of cells visited. */
LOSS_INLINE uint64_t epoch(linear *b, const subproblem *s, const double *from, double *to, loss_kind kind,
                           rows_form form, bool curved)
{
    const problem *p = b->base.p;
    const rows *r = &p->rows;
    const uint64_t first = b->base.first_row;
    const double a1 = s->a1, a2 = s->a2, e = p->epsilon, scale = from == to ? a1 : 1;
    const bool wide = p->n > base_sizes.farther_weights;
    double worst = 0;
    uint64_t cells = 0;
    for (uint32_t k = 0; k < b->active; k++) {
        if (s->seat)
            pool_visit(s->seat, to);
        if (k + AHEAD_VARIABLE < b->active) {
            uint32_t far = b->order[k + AHEAD_VARIABLE], near = b->order[k + AHEAD_CELLS];
            __builtin_prefetch(&b->var[far], 1);
            __builtin_prefetch(&r->start[first + far]);
            rows_prefetch(r, form, first + near);
            rows_prefetch_own(r, first + far, from);
            if (wide)
                rows_prefetch_weights(r, form, first + b->order[k + AHEAD_WEIGHTS], from);
        }
        uint32_t i = b->order[k];
        variable *v = &b->var[i];
        double c = linear_cost(b, kind, i, v->y);
        double slope = rows_dot(r, form, first + i, from) + a2 * (v->a - v->start);
        double slack = loss_slack(kind, v->a, slope, v->y, c, e);
        cells += r->start[first + i + 1] - r->start[first + i];
        if (slack > 0) {
            if (slack > b->base.violation) { /* for the epochs that are left of this round */
                b->order[k] = b->order[--b->active];
                b->order[b->active] = i;
                k--;
            }
            continue;
        }
        if (-slack > worst)
            worst = -slack;
        double none = 0, *rest = kind == LOSS_LOGISTIC ? &b->rest[i].now : &none;
        double norm = curved ? rows_bend(r, form, first + i, s->h) : v->norm; /* x'Hx */
        double a = loss_step(kind, v->a, rest, slope, a1 * norm + a2, v->y, c, e);
        double d = a - v->a;
        if (d != 0) {
            v->a = a;
            if (curved && from == to)
                rows_add_scaled(r, form, first + i, scale * d, s->h, to);
            else
                rows_add(r, form, first + i, scale * d, to);
        }
    }
    b->base.violation = worst;
    return cells;
}

/* The three sums of block_value at w, and the variables that are settled there. */
LOSS_INLINE void evaluate(linear *b, const double *w, double travelled, block_value *value, loss_kind kind,
                          rows_form form)
{
    const problem *p = b->base.p;
    const double e = p->epsilon;
    double *margins = b->base.margins;
    sum loss_sum = {0, 0}, conjugate = {0, 0}, gap = {0, 0};
    const double *lengths = kind == LOSS_HINGE ? b->base.lengths : NULL;
    double gap_at[BLOCK_LENGTHS] = {0};
    const uint64_t *start = p->rows.start + b->base.first_row;
    uint64_t cells = 0;
    uint32_t active = 0;
    for (uint32_t i = 0; i < b->base.count; i++) {
        variable *v = &b->var[i];
        if (margins || b->clear_until[i] <= travelled) {
            double z = w ? rows_dot(&p->rows, form, b->base.first_row + i, w) : 0;
            cells += w ? start[i + 1] - start[i] : 0;
            if (margins)
                margins[i] = z;
            double c = linear_cost(b, kind, i, v->y), rest = kind == LOSS_LOGISTIC ? b->rest[i].now : 0;
            double slack = loss_slack(kind, v->a, z, v->y, c, e);
            b->settled[i] = slack > b->base.violation;
            if (slack > 0 && v->a == 0) { /* no loss, and none as long as |x'(w' - w)| < slack */
                b->clear_until[i] = travelled + slack / (sqrt(v->norm) * (1 + 1e-9));
            } else {
                b->clear_until[i] = 0;
                sum_add(&loss_sum, loss_value(kind, z, v->y, c, e));
                sum_add(&conjugate, loss_conjugate(kind, v->a, rest, v->y, c, e));
                sum_add(&gap, loss_gap(kind, z, v->a, rest, v->y, c, e));
                for (int k = 0; lengths && k < BLOCK_LENGTHS; k++)
                    gap_at[k] += loss_gap(kind, lengths[k] * z, v->a, rest, v->y, c, e);
            }
        } else if (!b->settled[i]) { /* its slack is at least what is left of the way */
            const double left = b->clear_until[i] - travelled;
            b->settled[i] = left * left * v->norm > b->base.violation * b->base.violation;
        }
        b->order[active] = i;
        active += !b->settled[i];
    }
    b->active = active;
    *value = (block_value){.cells = (double)cells,
                           .loss = sum_value(&loss_sum),
                           .conjugate = sum_value(&conjugate),
                           .gap = sum_value(&gap)};
    memcpy(value->gap_at, gap_at, sizeof gap_at);
}

LOSS_INLINE void norms(linear *b, rows_form form)
{
    for (uint32_t i = 0; i < b->base.count; i++)
        b->var[i].norm = rows_norm(&b->base.p->rows, form, b->base.first_row + i);
}

#define LOOPS_OF(name, kind, form)                                                                                   \
    static uint64_t name##_##form##_epoch(linear *b, const subproblem *s, const double *from, double *to)            \
    {                                                                                                                \
        return s->h ? epoch(b, s, from, to, kind, form, true) : epoch(b, s, from, to, kind, form, false);            \
    }                                                                                                                \
    static void name##_##form##_evaluate(linear *b, const double *w, double travelled, block_value *value)           \
    {                                                                                                                \
        evaluate(b, w, travelled, value, kind, form);                                                                \
    }
#define LOOPS_OF_LOSS(name, kind)                                                                                    \
    LOOPS_OF(name, kind, ROWS_ONES)                                                                                  \
    LOOPS_OF(name, kind, ROWS_CONSTANT)                                                                              \
    LOOPS_OF(name, kind, ROWS_FLOAT)                                                                                 \
    LOOPS_OF(name, kind, ROWS_DOUBLE)

LOOPS_OF_LOSS(hinge, LOSS_HINGE)
LOOPS_OF_LOSS(squared_hinge, LOSS_SQUARED_HINGE)
LOOPS_OF_LOSS(logistic, LOSS_LOGISTIC)
LOOPS_OF_LOSS(epsilon, LOSS_EPSILON_INSENSITIVE)
LOOPS_OF_LOSS(squared_epsilon, LOSS_SQUARED_EPSILON_INSENSITIVE)
LOOPS_OF_LOSS(squared_error, LOSS_SQUARED_ERROR)

#define NORMS_OF(form)                                                                                               \
    static void form##_norms(linear *b)                                                                              \
    {                                                                                                                \
        norms(b, form);                                                                                              \
    }
NORMS_OF(ROWS_ONES)
NORMS_OF(ROWS_CONSTANT)
NORMS_OF(ROWS_FLOAT)
NORMS_OF(ROWS_DOUBLE)

#define LOOP_CELL(name, form) [form] = {name##_##form##_epoch, name##_##form##_evaluate, form##_norms}
#define LOOP_ROW(kind, name)                                                                                         \
    [kind] = {LOOP_CELL(name, ROWS_ONES), LOOP_CELL(name, ROWS_CONSTANT), LOOP_CELL(name, ROWS_FLOAT),               \
              LOOP_CELL(name, ROWS_DOUBLE)}

static const linear_loops loops[][4] = {
    LOOP_ROW(LOSS_HINGE, hinge),
    LOOP_ROW(LOSS_SQUARED_HINGE, squared_hinge),
    LOOP_ROW(LOSS_LOGISTIC, logistic),
    LOOP_ROW(LOSS_EPSILON_INSENSITIVE, epsilon),
    LOOP_ROW(LOSS_SQUARED_EPSILON_INSENSITIVE, squared_epsilon),
    LOOP_ROW(LOSS_SQUARED_ERROR, squared_error),
};

static const linear_loops *loops_of(const linear *b)
{
    return &loops[b->base.p->loss->kind][b->base.p->rows.form];
}

linear *linear_take(arena *memory, const block *base, uint64_t width, bda_error *err)
{
    const uint64_t count = base->count, variables = count * width;
    const bool logistic = base->p->loss->kind == LOSS_LOGISTIC;
    linear *b = ARENA_TAKE(memory, linear, 1, err);
    if (!b || !(b->var = ARENA_TAKE(memory, variable, variables, err)) ||
        !(b->clear_until = ARENA_TAKE(memory, double, variables, err)) ||
        !(b->order = ARENA_TAKE(memory, uint32_t, count, err)) ||
        !(b->settled = ARENA_TAKE(memory, uint8_t, variables, err)) ||
        (logistic && !(b->rest = ARENA_TAKE(memory, logistic_rest, variables, err))))
        return NULL;
    b->base = *base;
    b->width = width;
    b->variables = variables;
    return b;
}

static block *linear_open(arena *memory, const block *base, bda_error *err)
{
    const problem *p = base->p;
    linear *b = linear_take(memory, base, 1, err);
    if (!b)
        return NULL;
    for (uint64_t i = 0; i < base->count; i++) {
        const uint64_t row = base->first_row + i;
        variable *v = &b->var[i];
        v->y = p->loss->regression ? p->data->target.real[row] : p->data->target.class[row] ? 1 : -1;
        if (b->rest)
            b->rest[i].now = b->rest[i].start = problem_cost(p, v->y > 0, row);
    }
    loops_of(b)->norms(b);
    return &b->base;
}

static void linear_begin(block *base, const double *alpha)
{
    linear *b = (linear *)base;
    const loss_kind kind = base->p->loss->kind;
    for (uint32_t i = 0; i < base->count; i++) {
        variable *v = &b->var[i];
        const double c = linear_cost(b, kind, i, v->y);
        v->a = linear_clip(kind, alpha[i], v->y, c);
        if (kind == LOSS_LOGISTIC)
            b->rest[i].now = c - v->y * v->a;
    }
}

static uint64_t linear_epoch(block *base, const subproblem *s, rng *random, const double *from, double *to)
{
    linear *b = (linear *)base;
    rng_shuffle(random, b->order, b->active);
    return loops_of(b)->epoch(b, s, from, to);
}

static void linear_image(const block *base, double *dv)
{
    const linear *b = (const linear *)base;
#define CALL(form)                                                                                                   \
    for (uint32_t i = 0; i < base->count; i++)                                                                       \
        if (b->var[i].a != b->var[i].start)                                                                          \
    rows_add(&base->p->rows, form, base->first_row + i, b->var[i].a - b->var[i].start, dv)
    ROWS_DISPATCH(base->p->rows.form, CALL);
#undef CALL
}

static void linear_whole_image(const block *base, double *v)
{
    const linear *b = (const linear *)base;
#define CALL(form)                                                                                                   \
    for (uint32_t i = 0; i < base->count; i++)                                                                       \
        if (b->var[i].a != 0)                                                                                        \
    rows_add(&base->p->rows, form, base->first_row + i, b->var[i].a, v)
    ROWS_DISPATCH(base->p->rows.form, CALL);
#undef CALL
}

static void linear_evaluate(block *base, const double *w, double travelled, block_value *value)
{
    linear *b = (linear *)base;
    loops_of(b)->evaluate(b, w, travelled, value);
}

/* What the step size needs to know of the ray alpha + eta da. */
void linear_describe(const block *base, block_direction *d)
{
    const linear *b = (const linear *)base;
    const problem *p = base->p;
    loss_kind kind = p->loss->kind;
    sum slope = {0, 0}, curve = {0, 0};
    double limit = INFINITY;
    for (uint64_t i = 0; i < b->variables; i++) {
        const variable *v = &b->var[i];
        double da = v->a - v->start;
        if (da == 0)
            continue;
        double c = linear_cost(b, kind, i, v->y);
        limit = fmin(limit, loss_limit(kind, v->start, da, v->y, c));
        if (p->loss->quadratic_dual) {
            sum_add(&slope, da * loss_conjugate_slope(kind, v->start, 0, v->y, c, p->epsilon));
            if (p->loss->smooth) /* then xi* bends by 1/2c */
                sum_add(&curve, da * (da / (2 * c)));
        }
    }
    d->slope = sum_value(&slope);
    d->curve = sum_value(&curve);
    d->limit = limit;
}

void linear_ray(const block *base, int trials, const double *eta, double *change, double *slope)
{
    const linear *b = (const linear *)base;
    const problem *p = base->p;
    const loss_kind kind = p->loss->kind;
    const double e = p->epsilon;
    sum changes[BLOCK_TRIALS] = {{0, 0}}, slopes[BLOCK_TRIALS] = {{0, 0}};
    for (uint64_t i = 0; i < b->variables; i++) {
        const variable *v = &b->var[i];
        double da = v->a - v->start;
        if (da == 0)
            continue;
        double c = linear_cost(b, kind, i, v->y);
        logistic_rest rest = kind == LOSS_LOGISTIC ? b->rest[i] : (logistic_rest){0, 0};
        double before = loss_conjugate(kind, v->start, rest.start, v->y, c, e);
        for (int k = 0; k < trials; k++) {
            double a = v->start + eta[k] * da, r = rest.start + eta[k] * (rest.now - rest.start);
            sum_add(&changes[k], loss_conjugate(kind, a, r, v->y, c, e) - before);
            if (slope)
                sum_add(&slopes[k], da * loss_conjugate_slope(kind, a, r, v->y, c, e));
        }
    }
    for (int k = 0; k < trials; k++) {
        change[k] = sum_value(&changes[k]);
        if (slope)
            slope[k] = sum_value(&slopes[k]);
    }
}

void linear_move(block *base, double eta)
{
    linear *b = (linear *)base;
    const problem *p = base->p;
    const loss_kind kind = p->loss->kind;
    for (uint64_t i = 0; i < b->variables; i++) {
        variable *v = &b->var[i];
        if (v->a == v->start)
            continue;
        double c = linear_cost(b, kind, i, v->y);
        if (eta != 1) { /* at 1 the solver's own values stand, which meet bounds exactly */
            v->a = linear_clip(kind, v->start + eta * (v->a - v->start), v->y, c);
            if (kind == LOSS_LOGISTIC)
                b->rest[i].now = clip(b->rest[i].start + eta * (b->rest[i].now - b->rest[i].start), 0, c);
        }
        v->start = v->a;
        if (kind == LOSS_LOGISTIC)
            b->rest[i].start = b->rest[i].now;
        b->clear_until[i] = 0;
    }
}

double linear_largest_norm(const block *base)
{
    const linear *b = (const linear *)base;
    double largest = 0;
    for (uint64_t i = 0; i < b->variables; i++)
        largest = fmax(largest, b->var[i].norm);
    return largest;
}

void linear_alpha(const block *base, double *alpha)
{
    const linear *b = (const linear *)base;
    for (uint64_t i = 0; i < b->variables; i++)
        alpha[i] = b->var[i].a;
}

void linear_state(block *base, archive *a)
{
    linear *b = (linear *)base;
    ARCHIVE(a, b->active);
    if (b->active > base->count)
        archive_refuse(a, "b->active");
    ARCHIVE_ARRAY(a, b->var, b->variables);
    ARCHIVE_ARRAY(a, b->clear_until, b->variables);
    ARCHIVE_PLACES(a, b->order, base->count);
    ARCHIVE_ARRAY(a, b->settled, b->variables);
    if (b->rest)
        ARCHIVE_ARRAY(a, b->rest, b->variables);
    for (int k = 0; k < b->points; k++) {
        ARCHIVE_ARRAY(a, b->point[k], b->variables);
        if (b->rest)
            ARCHIVE_ARRAY(a, b->point_rest[k], b->variables);
    }
}

/* variable, clear_until, order, settled */
static uint64_t linear_bytes(const task *t, uint64_t outputs)
{
    (void)outputs;
    return sizeof(double) * (t->entropic ? 7 : 5) + sizeof(uint32_t) + 1;
}

const block_kind linear_blocks = {
    .open = linear_open,
    .begin = linear_begin,
    .epoch = linear_epoch,
    .image = linear_image,
    .whole_image = linear_whole_image,
    .describe = linear_describe,
    .ray = linear_ray,
    .move = linear_move,
    .evaluate = linear_evaluate,
    .largest_norm = linear_largest_norm,
    .alpha = linear_alpha,
    .bytes = linear_bytes,
    .state = linear_state,
    .points = &linear_points,
};
