/* crammer_singer_points.c - kept points of Crammer-Singer blocks, as sparse as alpha is, and the state of a block.
 *
 * The conjugate of an instance is sum_{j != y} alpha_j = -alpha_y, and + alpha_y^2 / 4C for the squared hinge: what a
 * search over the hull needs of a point is alpha_y alone. */
#include <math.h>
#include <string.h>

#include "base/vector.h"
#include "problem/crammer_singer.h"

#define ALMOST_0 0x1p-1000 /* counts as 0 */

static const crammer_singer *of(const block *b)
{
    return (const crammer_singer *)b;
}

static bool points_open(block *base, arena *memory, int points, bda_error *err)
{
    crammer_singer *b = (crammer_singer *)base;
    for (int a = 0; a < points; a++) {
        cs_point *p = &b->point[a];
        if (!(p->start = ARENA_TAKE(memory, uint64_t, (uint64_t)base->count + 1, err)) ||
            !(p->own = ARENA_TAKE(memory, double, base->count, err)))
            return false;
    }
    return (b->merged = ARENA_TAKE(memory, double, base->p->classes, err)) &&
           (b->touched = ARENA_TAKE(memory, uint32_t, base->p->classes, err));
}

/* Room for so many cells; what was there is lost. */
static bool point_room(cs_point *p, uint64_t cells)
{
    if (cells <= p->room)
        return true;
    uint64_t room = cells + cells / 4 + 64;
    bda_error ignored = {0};
    cs_cell *cell = mem_resize(p->cell, p->room * sizeof *cell, room * sizeof *cell, "kept points", &ignored);
    if (!cell)
        return false;
    p->cell = cell;
    p->room = room;
    return true;
}

static void state_of_point(crammer_singer *b, int point, archive *a)
{
    cs_point *p = &b->point[point];
    uint64_t cells = p->start[b->m.base.count];
    ARCHIVE(a, cells);
    if (!archive_has(a, "p->cell", cells, sizeof *p->cell))
        return;
    if (!point_room(p, cells)) {
        archive_refuse(a, "kept points, for which there is no memory");
        return;
    }
    ARCHIVE_ARRAY(a, p->start, (uint64_t)b->m.base.count + 1);
    ARCHIVE_ARRAY(a, p->own, b->m.base.count);
    ARCHIVE_ARRAY(a, p->cell, cells);
}

/* The pool as it is, gaps included: entries stay where they are. */
static void state_of_pool(crammer_singer *b, archive *a)
{
    uint64_t used = b->pool_used;
    ARCHIVE(a, used);
    if (!archive_has(a, "b->pool", used, sizeof *b->pool))
        return;
    if (used > b->pool_room) {
        bda_error ignored = {0};
        entry *pool =
            mem_resize(b->pool, b->pool_room * sizeof *pool, used * sizeof *pool, "dual variables", &ignored);
        if (!pool) {
            archive_refuse(a, "dual variables, for which there is no memory");
            return;
        }
        b->pool = pool;
        b->pool_room = used;
    }
    b->pool_used = used;
    ARCHIVE_ARRAY(a, b->pool, used);
    for (uint32_t i = 0; archive_loads(a) && i < b->m.base.count; i++) {
        const span *s = &b->span[i];
        if (s->used > s->room || s->at > used || s->room > used - s->at)
            archive_refuse(a, "b->span");
    }
}

void crammer_singer_state(block *base, archive *a)
{
    crammer_singer *b = (crammer_singer *)base;
    ARCHIVE(a, b->active);
    ARCHIVE(a, b->moving);
    ARCHIVE(a, b->fresh);
    ARCHIVE(a, b->allowed);
    if (b->active > base->count || b->moving > b->active)
        archive_refuse(a, "b->active");
    ARCHIVE_ARRAY(a, b->clear_until, base->count);
    ARCHIVE_ARRAY(a, b->settled, base->count);
    ARCHIVE_PLACES(a, b->m.order, base->count);
    ARCHIVE_ARRAY(a, b->span, base->count);
    state_of_pool(b, a);
    for (int k = 0; k < POINTS_MOST && b->point[k].start; k++)
        state_of_point(b, k, a);
}

/* Entries that are 0 in both are dropped. */
static void drop_zeros(crammer_singer *b, uint32_t i)
{
    entry *e = cs_entries(b, i);
    uint32_t kept = 0;
    for (uint32_t k = 0; k < b->span[i].used; k++) {
        e[kept] = e[k];
        kept += e[k].now != 0 || e[k].start != 0;
    }
    b->span[i].used = kept;
}

static bool points_keep(block *base, int point, double eta)
{
    crammer_singer *b = (crammer_singer *)base;
    cs_point *p = &b->point[point];
    uint64_t cells = 0;
    for (uint32_t i = 0; i < base->count; i++)
        cells += b->span[i].used;
    bool ok = point_room(p, cells);
    cells = 0;
    for (uint32_t i = 0; i < base->count; i++) {
        entry *e = cs_entries(b, i);
        uint32_t y = b->m.y[i];
        double others = 0;
        for (uint32_t k = 0; k < b->span[i].used; k++) {
            double a = eta == 1 ? e[k].now : e[k].start + eta * (e[k].now - e[k].start);
            e[k].now = e[k].start;
            if (!ok || e[k].class == y || a >= 0)
                continue;
            p->cell[cells++] = (cs_cell){a, e[k].class};
            others += a;
        }
        p->own[i] = -others;
        p->start[i + 1] = cells;
        drop_zeros(b, i);
    }
    cs_begin_round(b);
    return ok;
}

static bool points_keep_image(block *base, int point, const double *s)
{
    crammer_singer *b = (crammer_singer *)base;
    const uint64_t classes = base->p->classes;
    cs_point *p = &b->point[point];
    uint64_t cells = 0;
    for (uint64_t k = 0; k < base->count * classes; k++)
        cells += s[k] < 0;
    if (!point_room(p, cells))
        return false;
    cells = 0;
    for (uint32_t i = 0; i < base->count; i++, s += classes) {
        double others = 0;
        for (uint32_t m = 0; m < classes; m++)
            if (m != b->m.y[i] && s[m] < 0) {
                p->cell[cells++] = (cs_cell){s[m], m};
                others += s[m];
            }
        p->own[i] = -others;
        p->start[i + 1] = cells;
    }
    return true;
}

/* alpha_y of alpha itself */
static double own_alpha(const crammer_singer *b, uint32_t i)
{
    const entry *e = cs_entries(b, i);
    for (uint32_t k = 0; k < b->span[i].used; k++)
        if (e[k].class == b->m.y[i])
            return e[k].now;
    return 0;
}

static void points_products(const block *base, int point, int count, const int *others, double *product,
                            double *linear)
{
    const crammer_singer *b = of(base);
    sum products[POINTS_MOST + 1] = {{0, 0}}, linear_sum = {0, 0};
    for (uint32_t i = 0; i < base->count; i++) {
        double alpha = own_alpha(b, i), a = point == POINT_ALPHA ? alpha : b->point[point].own[i];
        if (a == 0)
            continue;
        sum_add(&linear_sum, -a);
        if (!b->squared)
            continue;
        double scaled = a / (2 * multiclass_cost(&b->m, i));
        for (int k = 0; k < count; k++)
            sum_add(&products[k], scaled * (others[k] == POINT_ALPHA ? alpha : b->point[others[k]].own[i]));
    }
    *linear = sum_value(&linear_sum);
    for (int k = 0; k < count; k++)
        product[k] = sum_value(&products[k]);
}

static void points_combine(const block *base, int count, const int *points, const double *theta, double reach,
                           double *change, double *gradient, double *hessian)
{
    (void)reach; /* no entropy here */
    const crammer_singer *b = of(base);
    sum changes = {0, 0}, slopes[POINTS_MOST] = {{0, 0}};
    double toward[POINTS_MOST], bends[POINTS_MOST * POINTS_MOST] = {0};
    for (uint32_t i = 0; i < base->count; i++) {
        double alpha = own_alpha(b, i), moved = 0, bend = b->squared ? 1 / (2 * multiclass_cost(&b->m, i)) : 0;
        for (int k = 0; k < count; k++) {
            toward[k] = b->point[points[k]].own[i] - alpha;
            moved += theta[k] * toward[k];
        }
        double slope = bend * (alpha + moved) - 1;
        sum_add(&changes, moved * (bend * (alpha + 0.5 * moved) - 1));
        for (int k = 0; gradient && k < count; k++) {
            sum_add(&slopes[k], slope * toward[k]);
            for (int m = 0; hessian && m <= k; m++)
                bends[k * count + m] += bend * toward[k] * toward[m];
        }
    }
    *change = sum_value(&changes);
    for (int k = 0; gradient && k < count; k++)
        gradient[k] = sum_value(&slopes[k]);
    if (hessian)
        memcpy(hessian, bends, (size_t)(count * count) * sizeof *bends);
}

/* The alphas of instance i become b->merged at the classes in b->touched, none of them the instance's own, scaled so
 * that they stay in the domain; alpha_y is minus their sum. merged is clean afterwards. */
static bool write_back(crammer_singer *b, uint32_t i, uint32_t touched, bool start_too)
{
    double others = 0, C = multiclass_cost(&b->m, i);
    for (uint32_t k = 0; k < touched; k++) {
        double *a = &b->merged[b->touched[k]];
        *a = *a < -ALMOST_0 ? *a : 0;
        others += *a;
    }
    double scale = !b->squared && -others > C ? C / -others : 1, own = !b->squared && -others > C ? C : -others;
    entry *e = cs_entries(b, i);
    bool own_seen = false, ok = true;
    for (uint32_t k = 0; k < b->span[i].used; k++) {
        bool is_own = e[k].class == b->m.y[i];
        own_seen = own_seen || is_own;
        e[k].now = is_own ? own : scale * b->merged[e[k].class];
        e[k].start = start_too ? e[k].now : e[k].start;
        b->merged[e[k].class] = 0;
    }
    for (uint32_t k = 0; k <= touched && ok; k++) { /* classes that are new to the instance */
        uint32_t m = k < touched ? b->touched[k] : b->m.y[i];
        double a = k < touched ? scale * b->merged[m] : own_seen ? 0 : own;
        b->merged[m] = 0;
        if (a == 0 || !(ok = cs_make_room(b, i)))
            continue;
        e = cs_entries(b, i);
        e[b->span[i].used++] = (entry){.now = a, .start = start_too ? a : 0, .class = m};
    }
    return ok;
}

static void merge(crammer_singer *b, uint32_t *touched, uint32_t class, double a)
{
    if (b->merged[class] == 0)
        b->touched[(*touched)++] = class;
    b->merged[class] += a;
    if (b->merged[class] == 0) /* it must not be touched twice */
        b->merged[class] = -0.5 * ALMOST_0;
}

static bool points_blend(block *base, int count, const int *points, const double *theta)
{
    crammer_singer *b = (crammer_singer *)base;
    bool ok = true;
    double rest = 1;
    for (int k = 0; k < count; k++)
        rest -= theta[k];
    rest = fmax(rest, 0);
    for (uint32_t i = 0; i < base->count; i++) {
        uint32_t touched = 0;
        const entry *e = cs_entries(b, i);
        for (uint32_t k = 0; k < b->span[i].used; k++)
            if (e[k].class != b->m.y[i] && e[k].start != 0)
                merge(b, &touched, e[k].class, rest * e[k].start);
        for (int a = 0; a < count; a++) {
            const cs_point *p = &b->point[points[a]];
            for (uint64_t k = p->start[i]; k < p->start[i + 1]; k++)
                merge(b, &touched, p->cell[k].class, theta[a] * p->cell[k].value);
        }
        b->clear_until[i] = 0;
        if (touched > 0 || b->span[i].used > 0)
            ok = write_back(b, i, touched, true) && ok;
        drop_zeros(b, i);
    }
    cs_begin_round(b);
    return ok;
}

/* Where a class has no alpha, y is not negative there: no class is new to an instance. */
static void points_advance(block *base, int point, double ahead, double *beyond, double *moved)
{
    crammer_singer *b = (crammer_singer *)base;
    const uint64_t classes = base->p->classes;
    const cs_point *p = &b->point[point];
    memset(beyond, 0, base->count * classes * sizeof *beyond);
    memset(moved, 0, base->count * classes * sizeof *moved);
    for (uint32_t i = 0; i < base->count; i++, beyond += classes, moved += classes) {
        uint32_t touched = 0, y = b->m.y[i];
        const entry *e = cs_entries(b, i);
        double own = 0; /* of y, which has no bounds */
        for (uint64_t k = p->start[i]; k < p->start[i + 1]; k++) {
            beyond[p->cell[k].class] += ahead * p->cell[k].value;
            own -= ahead * p->cell[k].value;
        }
        for (uint32_t k = 0; k < b->span[i].used; k++)
            if (e[k].class != y) {
                double at = (1 + ahead) * e[k].start;
                beyond[e[k].class] -= at;
                own += at;
                merge(b, &touched, e[k].class, fmin(0, -beyond[e[k].class]));
            }
        beyond[y] = own;
        write_back(b, i, touched, false);
        e = cs_entries(b, i);
        for (uint32_t k = 0; k < b->span[i].used; k++) {
            beyond[e[k].class] += e[k].now;
            moved[e[k].class] = e[k].now - e[k].start;
        }
    }
}

static double points_gap(const block *base, const double *z)
{
    const crammer_singer *b = of(base);
    sum loss_sum = {0, 0}, conjugate = {0, 0}, gap = {0, 0};
    for (uint32_t i = 0; i < base->count; i++)
        cs_evaluate_instance(b, i, z + i * base->p->classes, &loss_sum, &conjugate, &gap);
    return sum_value(&gap);
}

const point_kind crammer_singer_points = {
    .open = points_open,
    .keep = points_keep,
    .keep_image = points_keep_image,
    .products = points_products,
    .combine = points_combine,
    .blend = points_blend,
    .advance = points_advance,
    .gap = points_gap,
};
