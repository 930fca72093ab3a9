/* structured_svm.c - dual blocks of the structured SVM, with its hinge and its squared hinge, for all structures.
 *
 *     xi_i(w) = C max(0, max_y wrong_y - phi_y'w)        or C times its square; wrong_y: parts that differ from gold
 *     v = sum_i sum_y alpha_iy phi_iy,   alpha >= 0,   A_i = sum_y alpha_iy <= C (hinge alone)
 *     xi_i*(-alpha_i) = -sum_y wrong_y alpha_iy          and + A_i^2 / 4C for the square
 *
 * Few of the exponentially many variables of a unit are ever positive: its working set (working_set.h). A visit seeks
 * the most violated output at the current u, which joins the set, and solves the unit's own sub-problem over the set
 * exactly, from scores and the products of images; one pass over the parts that change ends it. Further visits of an
 * epoch solve without seeking. Seeking at u and not at the w of the round's beginning is what makes this fast: the
 * other units have moved since.
 *
 * The evaluation seeks the most violated output of every unit at w, so that its primal value and the gap are those of
 * the full problem, over all outputs. What it finds joins the sets as well. */
#include <math.h>
#include <string.h>

#include "base/vector.h"
#include "problem/kinds.h"
#include "problem/structured.h"
#include "problem/structured_svm.h"

#define SET_MOST 1024 /* outputs of a working set */
#define ROUNDS_IDLE 5 /* after which an output without weight leaves its set */

typedef struct structured_svm {
    block base;
    structured s;
    bool squared;
    bool resumed; /* products are with the first h to come, as they were kept */
    bool starved; /* there was no memory for an output, and whoever comes next may say so */
    double C;
    working_set *set; /* [count] */
    uint32_t *order;  /* [count] of the visits */
    double *longer;   /* [largest] scores of a longer w */
    const uint16_t *output[SET_MOST + 1];
    double product[SET_MOST + 1];
} structured_svm;

static structured_svm *of(block *b)
{
    return (structured_svm *)b;
}

const working_set *structured_svm_set(const block *b, uint32_t i)
{
    return &((const structured_svm *)b)->set[i];
}

/* The output of b->s.output joins the set of unit i, if it is new. False: no memory. */
static bool join(structured_svm *b, uint32_t i, uint32_t wrong)
{
    working_set *set = &b->set[i];
    const uint16_t *y = b->s.output;
    if (wrong == 0 || working_set_find(set, y) < set->used)
        return true;
    if (set->used == SET_MOST)
        working_set_drop_idle(set, 0);
    if (set->used == SET_MOST)
        return true;
    if (!working_set_reserve(set, structured_length(&b->s, i)))
        return false;
    for (uint32_t k = 0; k < set->used; k++)
        b->output[k] = working_set_output(set, k);
    b->output[set->used] = y;
    if (!b->s.kind->products(&b->s, i, y, set->used + 1, b->output, b->product))
        return false;
    working_set_add(set, y, wrong, b->product);
    return true;
}

/* Products are with another h from now on. False: no memory. */
static bool weigh(structured_svm *b, const double *h)
{
    if (h == b->s.h)
        return true;
    structured_weigh(&b->s, h);
    if (b->resumed) {
        b->resumed = false;
        return true;
    }
    for (uint32_t i = 0; i < b->base.count; i++) {
        working_set *set = &b->set[i];
        for (uint32_t y = 0; y < set->used; y++)
            b->output[y] = working_set_output(set, y);
        for (uint32_t y = 0; y < set->used; y++)
            if (!b->s.kind->products(&b->s, i, b->output[y], set->used, b->output,
                                     set->gram + (uint64_t)y * set->room))
                return false;
    }
    return true;
}

/* The most violated output at scores S goes to b->s.output; returns its violation wrong - phi'u. */
static double seek(structured_svm *b, uint32_t i, const double *S, uint32_t *wrong)
{
    structured *s = &b->s;
    const uint16_t *gold = structured_gold(s, i);
    s->kind->best(s, i, S, gold, s->output);
    *wrong = structured_wrong(structured_length(s, i), s->output, gold);
    return *wrong - s->kind->difference(s, i, S, gold, s->output);
}

/* ---- the solver ---------------------------------------------------------------------------------------------- */

/* What a visit has changed goes into `to`. */
static void spread_changes(structured_svm *b, uint32_t i, double scale, const double *h, double *to)
{
    structured *s = &b->s;
    const working_set *set = &b->set[i];
    for (uint32_t y = 0; y < set->used; y++) {
        const member *m = &set->member[y];
        if (m->now != m->was)
            s->kind->count(s, i, scale * (m->now - m->was), structured_gold(s, i), working_set_output(set, y), s->x);
    }
    s->kind->spread(s, i, s->x, h, to);
}

/* Cells looked at; BLOCK_FAILED: no memory. */
static uint64_t visit(structured_svm *b, uint32_t i, const subproblem *s, bool search, const double *from, double *to)
{
    structured *units = &b->s;
    working_set *set = &b->set[i];
    uint64_t cells = 0;
    if (search) {
        uint32_t wrong;
        cells = units->kind->score(units, i, from, units->S);
        const double violation = seek(b, i, units->S, &wrong);
        const double enough = b->squared ? working_set_sum(set) / (2 * b->C) : 0;
        if (violation > enough && !join(b, i, wrong))
            return BLOCK_FAILED;
    }
    for (uint32_t y = 0; y < set->used; y++)
        b->output[y] = working_set_output(set, y);
    if (set->used == 0)
        return search ? cells : 0;
    if (!search)
        cells = units->kind->score_of(units, i, from, set->used, b->output, units->S);
    for (uint32_t y = 0; y < set->used; y++)
        set->member[y].slope = units->kind->difference(units, i, units->S, structured_gold(units, i), b->output[y]) -
                               set->member[y].wrong;
    const set_problem own = {.a1 = s->a1, .a2 = s->a2, .C = b->C, .squared = b->squared};
    if (working_set_solve(set, &own))
        spread_changes(b, i, from == to ? s->a1 : 1, from == to ? s->h : NULL, to);
    return cells;
}

static uint64_t structured_svm_epoch(block *base, const subproblem *s, rng *random, const double *from, double *to)
{
    structured_svm *b = of(base);
    const int64_t visits = from == to && s->learning > 1 ? s->learning : 1;
    uint64_t cells = 0;
    if (b->starved || !weigh(b, s->h))
        return BLOCK_FAILED;
    for (int64_t k = 0; k < visits && !(k > 0 && problem_late(base->p)); k++) {
        rng_shuffle(random, b->order, base->count);
        for (uint32_t j = 0; j < base->count; j++) {
            const uint64_t here = visit(b, b->order[j], s, k == 0 && !s->settled_outputs, from, to);
            if (here == BLOCK_FAILED)
                return BLOCK_FAILED;
            cells += here;
        }
    }
    return cells;
}

static void structured_svm_image(const block *base, double *dv)
{
    structured_svm *b = of((block *)base); /* the work space alone changes */
    for (uint32_t i = 0; i < base->count; i++) {
        working_set *set = &b->set[i];
        bool changed = false;
        for (uint32_t y = 0; y < set->used; y++) {
            set->member[y].was = set->member[y].start;
            changed |= set->member[y].now != set->member[y].start;
        }
        if (changed)
            spread_changes(b, i, 1, NULL, dv);
    }
}

static void structured_svm_whole_image(const block *base, double *v)
{
    structured_svm *b = of((block *)base); /* the work space alone changes */
    for (uint32_t i = 0; i < base->count; i++) {
        working_set *set = &b->set[i];
        for (uint32_t y = 0; y < set->used; y++)
            set->member[y].was = 0;
        if (set->used > 0)
            spread_changes(b, i, 1, NULL, v);
    }
}

/* ---- the certificate ------------------------------------------------------------------------------------------- */

/* The same sum of terms for longer w: it takes an output sought anew, but no pass over rows. S: the scores at w; of the
 * members the slopes are phi_y'w. */
static void add_gaps_at(structured_svm *b, uint32_t i, const double *S, double *gap_at)
{
    structured *s = &b->s;
    const working_set *set = &b->set[i];
    const uint64_t table = s->kind->table(s, structured_length(s, i));
    const double A = working_set_sum(set);
    for (int k = 0; k < b->base.p->task->lengths; k++) {
        const double length = b->base.lengths[k];
        for (uint64_t j = 0; j < table; j++)
            b->longer[j] = length * S[j];
        uint32_t wrong;
        double m = fmax(0, seek(b, i, b->longer, &wrong)), all = 0;
        for (uint32_t y = 0; y < set->used; y++)
            m = fmax(m, set->member[y].wrong - length * set->member[y].slope);
        for (uint32_t y = 0; y < set->used; y++)
            all += set->member[y].now * (m - (set->member[y].wrong - length * set->member[y].slope));
        const double t = 2 * b->C * m - A;
        gap_at[k] += all + (b->squared ? t * (t / (4 * b->C)) : fmax(0, b->C - A) * m);
    }
}

/* With v_y = wrong_y - phi_y'w, m the largest of all and 0, and A the sum of alpha, the gap is a sum of terms that
 * cannot be negative:
 *     hinge    (C - A) m + sum alpha_y (m - v_y)          squared    (2 C m - A)^2 / 4C + sum alpha_y (m - v_y)   */
static void add_value(structured_svm *b, uint32_t i, const double *S, sum *loss, sum *conjugate, sum *gap,
                      double *gap_at)
{
    structured *s = &b->s;
    working_set *set = &b->set[i];
    uint32_t wrong;
    for (uint32_t y = 0; y < set->used; y++)
        set->member[y].slope = s->kind->difference(s, i, S, structured_gold(s, i), working_set_output(set, y));
    if (b->base.lengths)
        add_gaps_at(b, i, S, gap_at);
    double m = fmax(0, seek(b, i, S, &wrong)), A = 0, tied = 0, worth = 0;
    for (uint32_t y = 0; y < set->used; y++) {
        member *of = &set->member[y];
        of->slope -= (double)of->wrong;
        m = fmax(m, -of->slope);
        A += of->now;
        worth += of->now * of->wrong;
    }
    for (uint32_t y = 0; y < set->used; y++)
        tied += set->member[y].now * (m + set->member[y].slope);
    const double t = 2 * b->C * m - A;
    sum_add(loss, b->squared ? b->C * m * m : b->C * m);
    sum_add(conjugate, (b->squared ? A * (A / (4 * b->C)) : 0) - worth);
    sum_add(gap, b->squared ? t * (t / (4 * b->C)) : fmax(0, b->C - A) * m);
    sum_add(gap, tied);
    if (m > 0)
        b->starved = !join(b, i, wrong) || b->starved;
}

static void structured_svm_evaluate(block *base, const double *w, double travelled, block_value *value)
{
    (void)travelled; /* that gold was best says nothing about its margin */
    structured_svm *b = of(base);
    structured *s = &b->s;
    sum loss = {0, 0}, conjugate = {0, 0}, gap = {0, 0};
    uint64_t cells = 0;
    *value = (block_value){0};
    for (uint32_t i = 0; i < base->count; i++) {
        working_set_drop_idle(&b->set[i], ROUNDS_IDLE);
        if (w)
            cells += s->kind->score(s, i, w, s->S);
        else
            memset(s->S, 0, s->kind->table(s, structured_length(s, i)) * sizeof *s->S);
        add_value(b, i, s->S, &loss, &conjugate, &gap, value->gap_at);
    }
    value->cells = (double)cells;
    value->loss = sum_value(&loss);
    value->conjugate = sum_value(&conjugate);
    value->gap = sum_value(&gap);
}

/* ---- along the ray --------------------------------------------------------------------------------------------- */

static void structured_svm_describe(const block *base, block_direction *d)
{
    const structured_svm *b = (const structured_svm *)base;
    sum slope = {0, 0}, curve = {0, 0};
    double limit = INFINITY;
    for (uint32_t i = 0; i < base->count; i++) {
        double A = 0, dA = 0;
        for (uint32_t y = 0; y < b->set[i].used; y++) {
            const member *m = &b->set[i].member[y];
            const double da = m->now - m->start;
            A += m->start;
            dA += da;
            if (da < 0)
                limit = fmin(limit, -m->start / da);
            sum_add(&slope, -(double)m->wrong * da);
        }
        if (b->squared) {
            sum_add(&slope, A * (dA / (2 * b->C)));
            sum_add(&curve, dA * (dA / (2 * b->C)));
        } else if (dA > 0) {
            limit = fmin(limit, fmax(1, (b->C - A) / dA)); /* below 1 by rounding alone */
        }
    }
    d->slope = sum_value(&slope);
    d->curve = sum_value(&curve);
    d->limit = limit;
}

static void structured_svm_move(block *base, double eta)
{
    structured_svm *b = of(base);
    for (uint32_t i = 0; i < base->count; i++)
        for (uint32_t y = 0; y < b->set[i].used; y++) {
            member *m = &b->set[i].member[y];
            if (eta != 1 && m->now != m->start)
                m->now = fmax(m->start + eta * (m->now - m->start), 0);
            m->start = m->now;
        }
}

static void structured_svm_advance(block *base, double beta, const double *h, double *u)
{
    structured_svm *b = of(base);
    for (uint32_t i = 0; i < base->count; i++) {
        working_set *set = &b->set[i];
        double all = 0;
        for (uint32_t y = 0; y < set->used; y++) {
            member *m = &set->member[y];
            m->was = m->now + beta * (m->now - m->start); /* y */
            m->start = m->now;
            m->now = fmax(m->was, 0); /* z */
            all += m->now;
        }
        for (uint32_t y = 0; y < set->used && !b->squared && all > b->C; y++)
            set->member[y].now *= b->C / all;
        if (set->used > 0)
            spread_changes(b, i, 1, h, u);
    }
}

/* Of the squared hinge: alpha >= 0 is all that is asked. */
static void structured_svm_along_itself(const block *base, double *slope, double *curve)
{
    const structured_svm *b = (const structured_svm *)base;
    sum linear = {0, 0}, quadratic = {0, 0};
    for (uint32_t i = 0; i < base->count; i++) {
        const double A = working_set_sum(&b->set[i]);
        sum_add(&quadratic, A * (A / (2 * b->C)));
        for (uint32_t y = 0; y < b->set[i].used; y++)
            sum_add(&linear, -(double)b->set[i].member[y].wrong * b->set[i].member[y].now);
    }
    *slope = b->squared ? sum_value(&linear) : NAN;
    *curve = sum_value(&quadratic);
}

static void structured_svm_stretch(block *base, double t)
{
    structured_svm *b = of(base);
    for (uint32_t i = 0; i < base->count; i++)
        for (uint32_t y = 0; y < b->set[i].used; y++)
            b->set[i].member[y].now *= t;
}

static void structured_svm_take_back(block *base)
{
    structured_svm *b = of(base);
    for (uint32_t i = 0; i < base->count; i++)
        for (uint32_t y = 0; y < b->set[i].used; y++)
            b->set[i].member[y].now = b->set[i].member[y].start;
}

static double structured_svm_largest_norm(const block *base)
{
    const structured_svm *b = (const structured_svm *)base;
    double largest = 0;
    for (uint32_t i = 0; i < base->count; i++)
        largest = fmax(largest, b->s.kind->largest_norm(&b->s, i));
    return largest;
}

static block *structured_svm_open(arena *memory, const block *base, bda_error *err)
{
    structured_svm *b = ARENA_TAKE(memory, structured_svm, 1, err);
    if (!b || !structured_open(&b->s, memory, base->p, base->first, base->count, err) ||
        !(b->set = ARENA_TAKE(memory, working_set, base->count + 1, err)) ||
        !(b->order = ARENA_TAKE(memory, uint32_t, base->count + 1, err)) ||
        !(b->longer = ARENA_TAKE(memory, double, b->s.largest + 1, err)))
        return NULL;
    b->base = *base;
    b->squared = base->p->loss->kind == LOSS_SQUARED_HINGE;
    b->C = base->p->cost[0];
    for (uint32_t i = 0; i < base->count; i++)
        b->order[i] = i;
    return &b->base;
}

static void structured_svm_close(block *base)
{
    structured_svm *b = of(base);
    for (uint32_t i = 0; i < base->count; i++)
        working_set_free(&b->set[i]);
    structured_close(&b->s);
}

static void structured_svm_state(block *base, archive *a)
{
    structured_svm *b = of(base);
    bool weighed = b->s.h != NULL || b->resumed;
    ARCHIVE(a, weighed);
    if (archive_loads(a))
        b->resumed = weighed;
    ARCHIVE_PLACES(a, b->order, base->count);
    for (uint32_t i = 0; i < base->count; i++)
        working_set_state(&b->set[i], structured_length(&b->s, i), a);
}

/* Few outputs, and for tags products of the tokens of short sentences. */
static uint64_t structured_svm_bytes(const task *t, uint64_t outputs)
{
    (void)t;
    (void)outputs;
    return 128;
}

const block_kind structured_svm_blocks = {
    .bytes = structured_svm_bytes,
    .open = structured_svm_open,
    .close = structured_svm_close,
    .state = structured_svm_state,
    .epoch = structured_svm_epoch,
    .image = structured_svm_image,
    .whole_image = structured_svm_whole_image,
    .describe = structured_svm_describe,
    .ray = NULL, /* both duals are quadratic */
    .move = structured_svm_move,
    .evaluate = structured_svm_evaluate,
    .largest_norm = structured_svm_largest_norm,
    .advance = structured_svm_advance,
    .take_back = structured_svm_take_back,
    .along_itself = structured_svm_along_itself,
    .stretch = structured_svm_stretch,
};
