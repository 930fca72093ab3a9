/* crammer_singer.c - dual blocks of the multiclass SVM of Crammer and Singer, with its hinge and its squared hinge.
 *
 *     xi_i(W) = C max(0, max_{j != y} 1 + (w_j - w_y)'x)          or C times its square
 *     W = sum_i alpha_i x_i',   sum_m alpha_im = 0,   alpha_ij <= 0 for j != y,   alpha_iy <= C (hinge alone)
 *     xi_i*(-alpha_i) = sum_{j != y} alpha_ij                     and + alpha_iy^2 / 4C for the square
 *
 * The variables of an instance are few, so only those that are not 0 are kept. A visit solves the instance's own
 * sub-problem exactly (Keerthi et al. 2008): with A_m = a1 x'H_m x + a2 and B_m the slope at alpha = 0,
 *
 *     alpha_m = min(0, (theta - B_m) / A_m) for m != y,   theta such that the alphas add up to 0.
 *
 * theta is a mean of B_y and of the B_m above theta; it is found by dropping those that are not, again and again.
 *
 * The first pass of a round looks at every class of every instance that is not settled. Those that move are visited
 * again, with the classes that they hold alone, as often as the work of the epochs asked for allows: few instances
 * are in motion at a time, each between few classes. The evaluation at the start of a round looks at everything
 * again. */
#include <math.h>
#include <string.h>

#include "base/vector.h"
#include "data/rows_math.h"
#include "problem/crammer_singer.h"

static crammer_singer *of(block *b)
{
    return (crammer_singer *)b;
}

/* At the end of the pool where the instance's own place is full. */
bool cs_make_room(crammer_singer *b, uint32_t i)
{
    span *s = &b->span[i];
    if (s->used < s->room)
        return true;
    uint32_t room = s->room ? 2 * s->room : 2;
    if (b->pool_used + room > b->pool_room) {
        uint64_t more = b->pool_room + b->pool_room / 2 + room + 1024;
        bda_error ignored = {0};
        entry *pool =
            mem_resize(b->pool, b->pool_room * sizeof *pool, more * sizeof *pool, "dual variables", &ignored);
        if (!pool)
            return false;
        b->pool = pool;
        b->pool_room = more;
    }
    memcpy(b->pool + b->pool_used, b->pool + s->at, s->used * sizeof *b->pool);
    s->at = b->pool_used;
    s->room = room;
    b->pool_used += room;
    return true;
}

/* ---- the sub-problem of an instance -------------------------------------------------------------------------- */

typedef struct visit {
    uint32_t i, y;
    const uint32_t *class; /* [classes] those looked at, y among them */
    uint32_t classes;
    bool flat; /* a row of zeros, undamped */
    double C;
    uint32_t above; /* number of classes with B_m > theta */
    double alpha_y, theta;
} visit;

/* theta of the classes in b->above, those at or below it dropped. weight and sum: 1/A_y and B_y/A_y of y, or 0 and
 * minus C where alpha_y is held at C. */
static void settle_theta(crammer_singer *b, visit *v, double weight, double weighted)
{
    for (;;) {
        double num = weighted, den = weight;
        for (uint32_t k = 0; k < v->above; k++) {
            num += b->bound[b->above[k]] / b->m.A[b->above[k]];
            den += 1 / b->m.A[b->above[k]];
        }
        v->theta = num / den;
        uint32_t kept = 0;
        for (uint32_t k = 0; k < v->above; k++)
            if (b->bound[b->above[k]] > v->theta)
                b->above[kept++] = b->above[k];
        if (kept == v->above || kept == 0)
            break;
        v->above = kept;
    }
}

/* A row of zeros: nothing but the linear part. All weight goes to the class that is worth most. */
static void solve_flat(crammer_singer *b, visit *v)
{
    uint32_t best = v->y;
    for (uint32_t k = 0; k < v->classes; k++) {
        uint32_t m = v->class[k];
        if (m != v->y && (best == v->y || b->bound[m] > b->bound[best]))
            best = m;
    }
    double gain = b->bound[best] - b->bound[v->y];
    v->alpha_y = gain <= 0 ? 0 : b->squared ? 2 * v->C * gain : v->C;
    v->above = v->alpha_y > 0;
    b->above[0] = best;
}

/* Fills alpha_y, theta and b->above from b->bound. */
static void solve_instance(crammer_singer *b, visit *v)
{
    const double *B = b->bound;
    if (v->flat) {
        solve_flat(b, v);
        return;
    }
    v->above = 0;
    for (uint32_t k = 0; k < v->classes; k++)
        if (B[v->class[k]] > B[v->y])
            b->above[v->above++] = v->class[k];
    if (v->above == 0) {
        v->alpha_y = 0;
        return;
    }
    settle_theta(b, v, 1 / b->m.A[v->y], B[v->y] / b->m.A[v->y]);
    v->alpha_y = (v->theta - B[v->y]) / b->m.A[v->y];
    if (!b->squared && v->alpha_y > v->C) {
        v->alpha_y = v->C;
        settle_theta(b, v, 0, -v->C);
    }
}

static double solved_alpha(const crammer_singer *b, const visit *v, uint32_t m)
{
    return v->flat ? -v->alpha_y : fmin(0, (v->theta - b->bound[m]) / b->m.A[m]);
}

/* Writes the solution into the entries, and the classes that change with their steps to b->above and b->m.step.
 * Returns their number, UINT32_MAX without memory. */
static uint32_t store(crammer_singer *b, const visit *v)
{
    uint32_t i = v->i;
    entry *e = cs_entries(b, i);
    uint32_t old = b->span[i].used;
    for (uint32_t k = 0; k < old; k++) {
        b->place[e[k].class] = k + 1;
        e[k].now = 0;
    }
    /* alpha_y and minus the sum of the others are the same but for the rounding of theta, over A: where it counts
     * less decides, and the others are scaled to add up. */
    double others = 0, loose = 0;
    for (uint32_t k = 0; k < v->above; k++) {
        others += solved_alpha(b, v, b->above[k]);
        loose += 1 / b->m.A[b->above[k]];
    }
    bool held = !b->squared && fmax(v->alpha_y, -others) >= v->C;
    double total = others == 0 ? 0 : held ? v->C : 1 / b->m.A[v->y] < loose ? fmax(v->alpha_y, 0) : -others;
    double scale = others < 0 ? total / -others : 1;
    bool ok = true;
    for (uint32_t k = 0; k <= v->above && ok; k++) {
        uint32_t m = k < v->above ? b->above[k] : v->y;
        double a = k < v->above ? scale * solved_alpha(b, v, m) : total;
        if (a == 0)
            continue;
        if (!b->place[m] && (ok = cs_make_room(b, i))) {
            e = cs_entries(b, i);
            e[b->span[i].used] = (entry){.class = m};
            b->place[m] = ++b->span[i].used;
        }
        if (ok)
            e[b->place[m] - 1].now = a;
    }
    uint32_t changed = 0;
    for (uint32_t k = 0; k < b->span[i].used; k++) {
        uint32_t m = e[k].class;
        double d = e[k].now - b->now[m];
        b->place[m] = 0;
        b->above[changed] = m;
        b->m.step[changed] = d;
        changed += d != 0;
    }
    return ok ? changed : UINT32_MAX;
}

/* How far the instance is from moving: with one class alone free to rise, its slope less the next best; otherwise
 * minus the largest gain per unit moved from one class to another. The slopes are in b->m.score. */
static double slack_of(const crammer_singer *b, const visit *v)
{
    const double *slope = b->m.score;
    const span *s = &b->span[v->i];
    const entry *e = cs_entries(b, v->i);
    uint32_t y = v->y, free = 0;
    double alpha_y = 0, least = INFINITY, most = -INFINITY;
    uint32_t only = y;
    for (uint32_t k = 0; k < s->used; k++) {
        if (e[k].class == y) {
            alpha_y = e[k].now;
        } else if (e[k].now < 0) {
            free++;
            only = e[k].class;
            least = fmin(least, slope[e[k].class]);
        }
    }
    if (b->squared || alpha_y < v->C) {
        free++;
        only = y;
        least = fmin(least, slope[y]);
    }
    for (uint32_t k = 0; k < v->classes; k++)
        if (free != 1 || v->class[k] != only)
            most = fmax(most, slope[v->class[k]]);
    return free == 1 ? least - most : fmin(0, least - most);
}

/* The slopes of the instance's model at its current alpha, in b->m.score, and B in b->bound. */
static void prepare(crammer_singer *b, const visit *v, const subproblem *s)
{
    const span *sp = &b->span[v->i];
    const entry *e = cs_entries(b, v->i);
    for (uint32_t k = 0; k < v->classes; k++) {
        uint32_t m = v->class[k];
        b->m.score[m] += m != v->y;
        b->bound[m] = b->m.score[m];
    }
    for (uint32_t k = 0; k < sp->used; k++) {
        uint32_t m = e[k].class;
        b->now[m] = e[k].now;
        b->bound[m] -= (b->m.A[m] - s->a2) * e[k].now + s->a2 * e[k].start;
        b->m.score[m] += s->a2 * (e[k].now - e[k].start);
        if (b->squared && m == v->y)
            b->m.score[m] += e[k].now / (2 * v->C);
    }
}

static void clean(crammer_singer *b, uint32_t i)
{
    const entry *e = cs_entries(b, i);
    for (uint32_t k = 0; k < b->span[i].used; k++)
        b->now[e[k].class] = 0;
}

/* The instance's visit, looking at all classes or at those held alone. */
static visit begin_visit(crammer_singer *b, uint32_t i, bool all)
{
    visit v = {.i = i, .y = b->m.y[i], .C = multiclass_cost(&b->m, i), .class = all ? b->all : b->held};
    if (all) {
        v.classes = (uint32_t)b->m.base.p->classes;
        return v;
    }
    const entry *e = cs_entries(b, i);
    bool own = false;
    for (uint32_t k = 0; k < b->span[i].used; k++) {
        own |= e[k].class == v.y;
        b->held[v.classes++] = e[k].class;
    }
    if (!own)
        b->held[v.classes++] = v.y;
    return v;
}

/* Scores and curvatures of the classes that the visit looks at. */
ROWS_INLINE void look(crammer_singer *b, const visit *v, const subproblem *s, const double *from, rows_form form)
{
    const rows *r = &b->m.base.p->rows;
    const uint64_t classes = b->m.base.p->classes, row = b->m.base.first_row + v->i;
    if (v->classes > classes / 2) {
        rows_scores(r, form, row, from, classes, b->m.score);
        if (s->h)
            rows_bends(r, form, row, s->h, classes, b->m.A);
    } else {
        rows_scores_of(r, form, row, from, classes, v->classes, v->class, b->m.score);
        if (s->h)
            rows_bends_of(r, form, row, s->h, classes, v->classes, v->class, b->m.A);
    }
    for (uint32_t k = 0; k < v->classes; k++) {
        uint32_t m = v->class[k];
        b->m.A[m] = s->a1 * (s->h ? b->m.A[m] : b->m.norm[v->i]) + s->a2;
    }
}

/* Returns how far the instance is from moving, or was before it did; NaN without memory. */
ROWS_INLINE double visit_instance(crammer_singer *b, visit *v, const subproblem *s, const double *from, double *to,
                                  rows_form form)
{
    const problem *p = b->m.base.p;
    v->flat = b->m.norm[v->i] < 1e-290 && s->a2 == 0;
    look(b, v, s, from, form);
    prepare(b, v, s);
    if (b->squared)
        b->m.A[v->y] += 1 / (2 * v->C);
    double slack = slack_of(b, v);
    uint32_t changed = 0;
    if (slack <= 0) {
        solve_instance(b, v);
        changed = store(b, v);
    }
    clean(b, v->i);
    if (changed == UINT32_MAX)
        return NAN;
    for (uint32_t c = 0; c < changed && from == to; c++)
        b->m.step[c] *= s->a1;
    if (changed > 0)
        rows_add_classes(&p->rows, form, b->m.base.first_row + v->i, changed, b->above, b->m.step,
                         from == to ? s->h : NULL, p->classes, to);
    return slack;
}

#define AHEAD 4

/* A pass over those that move, from the last to the first of them, so that one that does not can change places with
 * one that has been visited. */
ROWS_INLINE uint64_t pass(crammer_singer *b, const subproblem *s, const double *from, double *to, rows_form form)
{
    const rows *r = &b->m.base.p->rows;
    const uint64_t first = b->m.base.first_row;
    uint32_t *order = b->m.order;
    double worst = 0;
    uint64_t cells = 0;
    for (uint32_t k = b->moving; k-- > 0;) {
        if (s->seat)
            pool_visit(s->seat, to);
        if (k >= 2 * AHEAD) {
            const uint32_t near = order[k - AHEAD], far = order[k - 2 * AHEAD];
            __builtin_prefetch(&b->span[far]);
            __builtin_prefetch(&r->start[first + far]);
            __builtin_prefetch(&b->m.y[far]);
            __builtin_prefetch(&b->m.norm[far]);
            __builtin_prefetch(cs_entries(b, near), 1);
            rows_prefetch(r, form, first + near);
        }
        uint32_t i = order[k];
        visit v = begin_visit(b, i, b->fresh);
        double slack = visit_instance(b, &v, s, from, to, form);
        cells += r->start[first + i + 1] - r->start[first + i];
        if (isnan(slack))
            return BLOCK_FAILED;
        worst = fmax(worst, -slack);
        if (slack > 0) {
            order[k] = order[--b->moving];
            order[b->moving] = i;
        }
    }
    b->fresh = false;
    b->m.base.violation = worst;
    return cells;
}

/* Loss, conjugate and gap of one instance at its scores z. With v_j = 1 + z_j - z_y, M the largest of them and 0, and
 * a_j = -alpha_j >= 0, the gap is a sum of terms that cannot be negative:
 *     hinge    (C - sum a) M + sum a_j (M - v_j)          squared    (2 C M - sum a)^2 / 4C + sum a_j (M - v_j)   */
void cs_evaluate_instance(const crammer_singer *b, uint32_t i, const double *z, sum *loss, sum *conjugate, sum *gap)
{
    const entry *e = cs_entries(b, i);
    uint32_t y = b->m.y[i];
    double C = multiclass_cost(&b->m, i), M = 0, all = 0, tied = 0;
    for (uint32_t m = 0; m < b->m.base.p->classes; m++)
        if (m != y)
            M = fmax(M, 1 + z[m] - z[y]);
    for (uint32_t k = 0; k < b->span[i].used; k++) {
        if (e[k].class == y)
            continue;
        all -= e[k].now;
        tied -= e[k].now * (M - (1 + z[e[k].class] - z[y]));
    }
    double t = 2 * C * M - all;
    sum_add(loss, b->squared ? C * M * M : C * M);
    sum_add(conjugate, (b->squared ? all * (all / (4 * C)) : 0) - all);
    sum_add(gap, b->squared ? t * (t / (4 * C)) : fmax(0, C - all) * M);
    sum_add(gap, tied);
}

void cs_begin_round(crammer_singer *b)
{
    b->moving = b->active;
    b->fresh = true;
    b->allowed = 0;
}

ROWS_INLINE void evaluate(crammer_singer *b, const double *w, double travelled, block_value *value, rows_form form)
{
    const problem *p = b->m.base.p;
    sum loss_sum = {0, 0}, conjugate = {0, 0}, gap = {0, 0};
    const uint64_t *start = p->rows.start + b->m.base.first_row;
    uint64_t cells = 0;
    uint32_t active = 0;
    for (uint32_t i = 0; i < b->m.base.count; i++) {
        if (b->m.base.margins || b->clear_until[i] <= travelled) {
            double *z = b->m.score;
            multiclass_scores(&b->m, i, w, z, form);
            cells += w ? start[i + 1] - start[i] : 0;
            if (b->m.base.margins)
                memcpy(b->m.base.margins + i * p->classes, z, p->classes * sizeof *z);
            cs_evaluate_instance(b, i, z, &loss_sum, &conjugate, &gap);
            visit v = begin_visit(b, i, true);
            prepare(b, &v, &(subproblem){0});
            clean(b, i);
            double slack = slack_of(b, &v);
            b->settled[i] = slack > b->m.base.violation;
            /* |x'(w_j - w_y) moved| <= sqrt(2) |x| |w moved| */
            bool clear = slack > 0 && b->span[i].used == 0;
            b->clear_until[i] = clear ? travelled + slack / (sqrt(2 * b->m.norm[i]) * (1 + 1e-9)) : 0;
        } else if (!b->settled[i]) { /* its slack is at least what is left of the way */
            const double left = b->clear_until[i] - travelled;
            b->settled[i] = 2 * left * left * b->m.norm[i] > b->m.base.violation * b->m.base.violation;
        }
        b->m.order[active] = i;
        active += !b->settled[i];
    }
    b->active = active;
    cs_begin_round(b);
    *value = (block_value){.cells = (double)cells,
                           .loss = sum_value(&loss_sum),
                           .conjugate = sum_value(&conjugate),
                           .gap = sum_value(&gap)};
}

/* An epoch is the work of one pass over all rows: what settled instances save is spent on those that move. */
static uint64_t crammer_singer_epoch(block *base, const subproblem *s, rng *random, const double *from, double *to)
{
    crammer_singer *b = of(base);
    const uint64_t *start = base->p->rows.start + base->first_row;
    uint64_t cells = 0, last = 0;
    b->allowed += (double)(start[base->count] - start[0]);
    do {
        rng_shuffle(random, b->m.order, b->moving);
#define CALL(form) last = pass(b, s, from, to, form)
        ROWS_DISPATCH(base->p->rows.form, CALL);
#undef CALL
        if (last == BLOCK_FAILED)
            return last;
        cells += last;
        b->allowed -= (double)last;
    } while (from == to && b->moving > 0 && last > 0 && b->allowed >= (double)last);
    return cells;
}

/* v += X alpha, or X da where it is the way from the start that counts. */
static void add_image(const block *base, bool whole, double *v)
{
    const crammer_singer *b = (const crammer_singer *)base;
    const rows *r = &base->p->rows;
    for (uint32_t i = 0; i < base->count; i++) {
        const entry *e = cs_entries(b, i);
        uint32_t changed = 0;
        for (uint32_t k = 0; k < b->span[i].used; k++) {
            b->above[changed] = e[k].class;
            b->m.step[changed] = e[k].now - (whole ? 0 : e[k].start);
            changed += b->m.step[changed] != 0;
        }
#define CALL(form)                                                                                                   \
    rows_add_classes(r, form, base->first_row + i, changed, b->above, b->m.step, NULL, base->p->classes, v)
        if (changed > 0)
            ROWS_DISPATCH(r->form, CALL);
#undef CALL
    }
}

static void crammer_singer_image(const block *base, double *dv)
{
    add_image(base, false, dv);
}

static void crammer_singer_whole_image(const block *base, double *v)
{
    add_image(base, true, v);
}

static void crammer_singer_evaluate(block *base, const double *w, double travelled, block_value *value)
{
    crammer_singer *b = of(base);
#define CALL(form) evaluate(b, w, travelled, value, form)
    ROWS_DISPATCH(base->p->rows.form, CALL);
#undef CALL
}

/* ---- opening ------------------------------------------------------------------------------------------------ */

static block *crammer_singer_open(arena *memory, const block *base, bda_error *err)
{
    const uint64_t count = base->count, classes = base->p->classes;
    crammer_singer *b = ARENA_TAKE(memory, crammer_singer, 1, err);
    if (!b || !multiclass_open(&b->m, memory, base, err) ||
        !(b->clear_until = ARENA_TAKE(memory, double, count, err)) ||
        !(b->settled = ARENA_TAKE(memory, uint8_t, count, err)) ||
        !(b->span = ARENA_TAKE(memory, span, count, err)) || !(b->now = ARENA_TAKE(memory, double, classes, err)) ||
        !(b->bound = ARENA_TAKE(memory, double, classes, err)) ||
        !(b->place = ARENA_TAKE(memory, uint32_t, classes, err)) ||
        !(b->above = ARENA_TAKE(memory, uint32_t, classes, err)) ||
        !(b->all = ARENA_TAKE(memory, uint32_t, classes, err)) ||
        !(b->held = ARENA_TAKE(memory, uint32_t, classes, err)))
        return NULL;
    for (uint32_t m = 0; m < classes; m++)
        b->all[m] = m;
    b->squared = base->p->loss->kind == LOSS_SQUARED_HINGE;
    return &b->m.base;
}

static void crammer_singer_close(block *base)
{
    crammer_singer *b = of(base);
    mem_free(b->pool, b->pool_room * sizeof *b->pool);
    for (int a = 0; a < POINTS_MOST; a++)
        mem_free(b->point[a].cell, b->point[a].room * sizeof *b->point[a].cell);
}

static void crammer_singer_alpha(const block *base, double *alpha)
{
    const crammer_singer *b = (const crammer_singer *)base;
    memset(alpha, 0, base->count * base->p->classes * sizeof *alpha);
    for (uint32_t i = 0; i < base->count; i++)
        for (uint32_t k = 0; k < b->span[i].used; k++)
            alpha[i * base->p->classes + cs_entries(b, i)[k].class] = cs_entries(b, i)[k].now;
}

/* A span and about four entries, more where classes are hard to tell apart. */
static uint64_t crammer_singer_bytes(const task *t, uint64_t outputs)
{
    (void)t;
    (void)outputs;
    return MULTICLASS_BYTES + sizeof(span) + 4 * sizeof(entry);
}

const block_kind crammer_singer_blocks = {
    .open = crammer_singer_open,
    .close = crammer_singer_close,
    .epoch = crammer_singer_epoch,
    .image = crammer_singer_image,
    .whole_image = crammer_singer_whole_image,
    .describe = cs_describe,
    .ray = NULL, /* both duals are quadratic */
    .move = cs_move,
    .evaluate = crammer_singer_evaluate,
    .largest_norm = multiclass_largest_norm,
    .alpha = crammer_singer_alpha,
    .bytes = crammer_singer_bytes,
    .state = crammer_singer_state,
    .points = &crammer_singer_points,
};
