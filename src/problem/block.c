/* block.c - dual blocks of binary classification and regression: one alpha per instance.
 *
 * The local solver is coordinate descent in random order (Hsieh et al. 2008; for the logistic loss Yu et al. 2011 with
 * the closed one-dimensional problem of loss_math.h). It keeps u = w + a1 X (alpha - alpha at the start), so that
 * x_i'u is the slope of the model; the damping a2 is centred at the start of the round, for any number of epochs.
 *
 * Shrinking: block_evaluate knows every margin at w. A variable that rests at a bound or kink, and farther from moving
 * than the worst violation seen in the last epoch, is left out of the next round, and judged anew at the next
 * evaluation. So nothing is ever left out when convergence is claimed.
 *
 * Each loop is written once, for constant `kind` and `form`, and instantiated for every loss and form of the rows. */
#include "problem/block.h"

#include <string.h>

#include "base/random.h"
#include "base/vector.h"
#include "data/rows_math.h"
#include "problem/loss_math.h"

typedef struct variable {
    double a;     /* alpha, moving while the sub-problem is solved */
    double start; /* alpha when the round began */
    double norm;  /* x'x */
    double y;     /* label or target */
} variable;

/* c - b of a logistic variable, which b alone could not tell when it is near c */
typedef struct logistic_rest {
    double now, start;
} logistic_rest;

struct block {
    const problem *p;
    uint64_t number;     /* among all K */
    uint64_t first;      /* row of the problem where it begins */
    uint32_t count;      /* rows */
    variable *var;       /* [count] */
    logistic_rest *rest;     /* [count] logistic only */
    double *clear_until; /* [count] `travelled` up to which the instance surely adds nothing */
    uint32_t *order;     /* [count] the first `active` are visited */
    uint8_t *settled;    /* [count] left out of this round */
    uint32_t active;
    double violation;    /* the worst projected gradient of the last epoch */
};

typedef struct block_loops {
    uint64_t (*epoch)(block *b, const subproblem *s, const double *from, double *to);
    void (*evaluate)(block *b, const double *w, double travelled, block_value *value);
    void (*norms)(block *b);
} block_loops;

static const block_loops *loops_of(const block *b);

LOSS_INLINE double cost_of(const problem *p, loss_kind kind, double y)
{
    bool regression = kind >= LOSS_EPSILON_INSENSITIVE;
    return p->cost[regression || y > 0];
}

/* How many visits ahead a row's variable and start are asked for, its cells once the start is known, and the weights
 * once the cells are there; the last pays only where the weights are larger than any cache. */
#define AHEAD_VARIABLE 12
#define AHEAD_CELLS 6
#define AHEAD_WEIGHTS 2
#define WEIGHTS_BEYOND_CACHE (4u << 20)

/* One pass over the active variables in the order given. Slopes are taken from `from`, changes go to `to`: one vector u
 * for the coupled model, w and dv where each instance is on its own. Returns the number of cells visited. */
LOSS_INLINE uint64_t epoch(block *b, const subproblem *s, const double *from, double *to, loss_kind kind,
                           rows_form form)
{
    const problem *p = b->p;
    const rows *r = &p->rows;
    const double a1 = s->a1, a2 = s->a2, e = p->epsilon, scale = from == to ? a1 : 1;
    const bool wide = p->n > WEIGHTS_BEYOND_CACHE;
    double worst = 0;
    uint64_t cells = 0;
    for (uint32_t k = 0; k < b->active; k++) {
        if (k + AHEAD_VARIABLE < b->active) {
            uint32_t far = b->order[k + AHEAD_VARIABLE], near = b->order[k + AHEAD_CELLS];
            __builtin_prefetch(&b->var[far], 1);
            __builtin_prefetch(&r->start[b->first + far]);
            rows_prefetch(r, form, b->first + near);
            if (wide)
                rows_prefetch_weights(r, form, b->first + b->order[k + AHEAD_WEIGHTS], from);
        }
        uint32_t i = b->order[k];
        variable *v = &b->var[i];
        double c = cost_of(p, kind, v->y);
        double slope = rows_dot(r, form, b->first + i, from) + a2 * (v->a - v->start);
        double slack = loss_slack(kind, v->a, slope, v->y, c, e);
        cells += r->start[b->first + i + 1] - r->start[b->first + i];
        if (slack > 0) {
            if (slack > b->violation) { /* for the epochs that are left of this round */
                b->order[k] = b->order[--b->active];
                b->order[b->active] = i;
                k--;
            }
            continue;
        }
        if (-slack > worst)
            worst = -slack;
        double none = 0, *rest = kind == LOSS_LOGISTIC ? &b->rest[i].now : &none;
        double a = loss_step(kind, v->a, rest, slope, a1 * v->norm + a2, v->y, c, e);
        double d = a - v->a;
        if (d != 0) {
            v->a = a;
            rows_add(r, form, b->first + i, scale * d, to);
        }
    }
    b->violation = worst;
    return cells;
}

/* The three sums of block_value at w, and the variables that are settled there. */
LOSS_INLINE void evaluate(block *b, const double *w, double travelled, block_value *value, loss_kind kind,
                          rows_form form)
{
    const problem *p = b->p;
    const double e = p->epsilon;
    sum loss_sum = {0, 0}, conjugate = {0, 0}, gap = {0, 0};
    uint32_t active = 0;
    for (uint32_t i = 0; i < b->count; i++) {
        variable *v = &b->var[i];
        if (b->clear_until[i] <= travelled) {
            double z = rows_dot(&p->rows, form, b->first + i, w);
            double c = cost_of(p, kind, v->y), rest = kind == LOSS_LOGISTIC ? b->rest[i].now : 0;
            double slack = loss_slack(kind, v->a, z, v->y, c, e);
            b->settled[i] = slack > b->violation;
            if (slack > 0 && v->a == 0) { /* no loss, and none as long as |x'(w' - w)| < slack */
                b->clear_until[i] = travelled + slack / (sqrt(v->norm) * (1 + 1e-9));
            } else {
                b->clear_until[i] = 0;
                sum_add(&loss_sum, loss_value(kind, z, v->y, c, e));
                sum_add(&conjugate, loss_conjugate(kind, v->a, rest, v->y, c, e));
                sum_add(&gap, loss_gap(kind, z, v->a, rest, v->y, c, e));
            }
        }
        b->order[active] = i;
        active += !b->settled[i];
    }
    b->active = active;
    *value = (block_value){sum_value(&loss_sum), sum_value(&conjugate), sum_value(&gap)};
}

LOSS_INLINE void norms(block *b, rows_form form)
{
    for (uint32_t i = 0; i < b->count; i++)
        b->var[i].norm = rows_norm(&b->p->rows, form, b->first + i);
}

#define LOOPS_OF(name, kind, form)                                                                                    \
    static uint64_t name##_##form##_epoch(block *b, const subproblem *s, const double *from, double *to)              \
    {                                                                                                                 \
        return epoch(b, s, from, to, kind, form);                                                                     \
    }                                                                                                                 \
    static void name##_##form##_evaluate(block *b, const double *w, double travelled, block_value *value)             \
    {                                                                                                                 \
        evaluate(b, w, travelled, value, kind, form);                                                                 \
    }
#define LOOPS_OF_LOSS(name, kind)                                                                                     \
    LOOPS_OF(name, kind, ROWS_ONES)                                                                                   \
    LOOPS_OF(name, kind, ROWS_CONSTANT)                                                                               \
    LOOPS_OF(name, kind, ROWS_FLOAT)                                                                                  \
    LOOPS_OF(name, kind, ROWS_DOUBLE)

LOOPS_OF_LOSS(hinge, LOSS_HINGE)
LOOPS_OF_LOSS(squared_hinge, LOSS_SQUARED_HINGE)
LOOPS_OF_LOSS(logistic, LOSS_LOGISTIC)
LOOPS_OF_LOSS(epsilon, LOSS_EPSILON_INSENSITIVE)
LOOPS_OF_LOSS(squared_epsilon, LOSS_SQUARED_EPSILON_INSENSITIVE)
LOOPS_OF_LOSS(squared_error, LOSS_SQUARED_ERROR)

#define NORMS_OF(form)                                                                                                \
    static void form##_norms(block *b)                                                                                \
    {                                                                                                                 \
        norms(b, form);                                                                                               \
    }
NORMS_OF(ROWS_ONES)
NORMS_OF(ROWS_CONSTANT)
NORMS_OF(ROWS_FLOAT)
NORMS_OF(ROWS_DOUBLE)

#define LOOP_CELL(name, form) [form] = {name##_##form##_epoch, name##_##form##_evaluate, form##_norms}
#define LOOP_ROW(kind, name)                                                                                          \
    [kind] = {LOOP_CELL(name, ROWS_ONES), LOOP_CELL(name, ROWS_CONSTANT), LOOP_CELL(name, ROWS_FLOAT),                \
              LOOP_CELL(name, ROWS_DOUBLE)}

static const block_loops loops[][4] = {
    LOOP_ROW(LOSS_HINGE, hinge),
    LOOP_ROW(LOSS_SQUARED_HINGE, squared_hinge),
    LOOP_ROW(LOSS_LOGISTIC, logistic),
    LOOP_ROW(LOSS_EPSILON_INSENSITIVE, epsilon),
    LOOP_ROW(LOSS_SQUARED_EPSILON_INSENSITIVE, squared_epsilon),
    LOOP_ROW(LOSS_SQUARED_ERROR, squared_error),
};

static const block_loops *loops_of(const block *b)
{
    return &loops[b->p->loss->kind][b->p->rows.form];
}

static bool block_open(block *b, arena *memory, const problem *p, uint64_t k, bda_error *err)
{
    const data *d = p->data;
    uint64_t count = d->block_start[k + 1] - d->block_start[k];
    if (count >= UINT32_MAX)
        return err_set(err, BDA_FAILED, "a block of %llu instances is too large; use more blocks (--blocks) or ranks",
                       (unsigned long long)count);
    b->p = p;
    b->number = d->first_block + k;
    b->first = d->block_start[k];
    b->count = (uint32_t)count;
    b->violation = INFINITY;
    bool logistic = p->loss->kind == LOSS_LOGISTIC;
    if (!(b->var = ARENA_TAKE(memory, variable, count, err)) ||
        !(b->clear_until = ARENA_TAKE(memory, double, count, err)) ||
        !(b->order = ARENA_TAKE(memory, uint32_t, count, err)) ||
        !(b->settled = ARENA_TAKE(memory, uint8_t, count, err)) ||
        (logistic && !(b->rest = ARENA_TAKE(memory, logistic_rest, count, err))))
        return false;
    for (uint32_t i = 0; i < b->count; i++) {
        double label = d->label[b->first + i];
        variable *v = &b->var[i];
        v->y = p->loss->regression ? label : label == p->positive ? 1 : -1;
        if (logistic)
            b->rest[i].now = b->rest[i].start = p->cost[v->y > 0];
    }
    loops_of(b)->norms(b);
    return true;
}

block **blocks_open(arena *memory, const problem *p, bda_error *err)
{
    uint64_t count = p->data->local_blocks;
    block **blocks = ARENA_TAKE(memory, block *, count + 1, err);
    for (uint64_t k = 0; blocks && k < count; k++)
        if (!(blocks[k] = ARENA_TAKE(memory, block, 1, err)) || !block_open(blocks[k], memory, p, k, err))
            return NULL;
    return blocks;
}

/* What the step size needs to know of the ray alpha + eta da. */
static void describe_ray(const block *b, const double trial[BLOCK_TRIALS], block_direction *d)
{
    const problem *p = b->p;
    loss_kind kind = p->loss->kind;
    sum slope = {0, 0}, curve = {0, 0}, norm = {0, 0};
    double limit = INFINITY;
    for (uint32_t i = 0; i < b->count; i++) {
        const variable *v = &b->var[i];
        double da = v->a - v->start;
        if (da == 0)
            continue;
        double c = cost_of(p, kind, v->y);
        sum_add(&norm, da * da);
        limit = fmin(limit, loss_limit(kind, v->start, da, v->y, c));
        if (p->loss->quadratic_dual) {
            sum_add(&slope, da * loss_conjugate_slope(kind, v->start, 0, v->y, c, p->epsilon));
            if (kind != LOSS_HINGE)
                sum_add(&curve, da * (da / (2 * c)));
        }
    }
    d->slope = sum_value(&slope);
    d->curve = sum_value(&curve);
    d->norm = sum_value(&norm);
    d->limit = limit;
    if (!p->loss->quadratic_dual)
        block_ray(b, BLOCK_TRIALS, trial, d->change, NULL);
}

void block_solve(block *b, const subproblem *s, const double trial[BLOCK_TRIALS], double *dv, block_direction *d)
{
    const uint64_t n = b->p->n;
    bool coupled = s->a1 > 0 && !s->separate;
    if (coupled)
        memcpy(dv, s->w, n * sizeof *dv); /* u */
    else
        memset(dv, 0, n * sizeof *dv);

    rng random;
    rng_open(&random, s->seed, s->round, b->number);
    uint64_t cells = 0;
    for (int64_t k = 0; k < s->epochs; k++) {
        rng_shuffle(&random, b->order, b->active);
        cells += loops_of(b)->epoch(b, s, coupled ? dv : s->w, dv);
        if (!coupled)
            break; /* every variable has found its minimum */
    }

    *d = (block_direction){.cells = (double)cells};
    d->largest = coupled ? vec_difference(dv, s->w, s->a1, n, 1) : vec_largest(dv, n, 1);
    describe_ray(b, trial, d);
}

void block_ray(const block *b, int trials, const double *eta, double *change, double *slope)
{
    const problem *p = b->p;
    const loss_kind kind = p->loss->kind;
    const double e = p->epsilon;
    sum changes[BLOCK_TRIALS] = {{0, 0}}, slopes[BLOCK_TRIALS] = {{0, 0}};
    for (uint32_t i = 0; i < b->count; i++) {
        const variable *v = &b->var[i];
        double da = v->a - v->start;
        if (da == 0)
            continue;
        double c = cost_of(p, kind, v->y);
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

void block_move(block *b, double eta)
{
    const problem *p = b->p;
    const loss_kind kind = p->loss->kind;
    for (uint32_t i = 0; i < b->count; i++) {
        variable *v = &b->var[i];
        if (v->a == v->start)
            continue;
        double c = cost_of(p, kind, v->y);
        if (eta != 1) { /* at 1 the solver's own values stand, which meet bounds exactly */
            double a = v->start + eta * (v->a - v->start);
            if (!p->loss->regression) /* against rounding at a step up to the limit */
                a = v->y * clip(v->y * a, 0, kind == LOSS_SQUARED_HINGE ? INFINITY : c);
            else if (kind == LOSS_EPSILON_INSENSITIVE)
                a = clip(a, -c, c);
            v->a = a;
            if (kind == LOSS_LOGISTIC)
                b->rest[i].now = clip(b->rest[i].start + eta * (b->rest[i].now - b->rest[i].start), 0, c);
        }
        v->start = v->a;
        if (kind == LOSS_LOGISTIC)
            b->rest[i].start = b->rest[i].now;
        b->clear_until[i] = 0;
    }
}

void block_evaluate(block *b, const double *w, double travelled, block_value *value)
{
    loops_of(b)->evaluate(b, w, travelled, value);
}

double block_largest_norm(const block *b)
{
    double largest = 0;
    for (uint32_t i = 0; i < b->count; i++)
        largest = fmax(largest, b->var[i].norm);
    return largest;
}

void block_alpha(const block *b, double *alpha)
{
    for (uint32_t i = 0; i < b->count; i++)
        alpha[i] = b->var[i].a;
}

uint64_t block_count(const block *b)
{
    return b->count;
}
