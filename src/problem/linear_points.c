/* linear_points.c - kept points of linear blocks: an array of alphas each, for the logistic loss with c - b beside
 * it, which keeps its precision where b is near c. */
#include "problem/linear.h"

#include <string.h>

#include "base/vector.h"

static const linear *of(const block *b)
{
    return (const linear *)b;
}

static bool points_open(block *base, arena *memory, int points, bda_error *err)
{
    linear *b = (linear *)base;
    b->points = points;
    for (int a = 0; a < points; a++) {
        if (!(b->point[a] = ARENA_TAKE(memory, double, b->variables, err)))
            return false;
        if (!b->rest)
            continue;
        if (!(b->point_rest[a] = ARENA_TAKE(memory, double, b->variables, err)))
            return false;
        for (uint64_t i = 0; i < b->variables; i++)
            b->point_rest[a][i] = linear_cost(b, LOSS_LOGISTIC, i, b->var[i].y);
    }
    return true;
}

static bool points_keep(block *base, int point, double eta)
{
    linear *b = (linear *)base;
    const loss_kind kind = base->p->loss->kind;
    double *to = b->point[point];
    for (uint64_t i = 0; i < b->variables; i++) {
        variable *v = &b->var[i];
        double c = linear_cost(b, kind, i, v->y);
        to[i] = eta == 1 ? v->a : linear_clip(kind, v->start + eta * (v->a - v->start), v->y, c);
        v->a = v->start;
        if (b->rest) {
            logistic_rest *r = &b->rest[i];
            b->point_rest[point][i] = eta == 1 ? r->now : clip(r->start + eta * (r->now - r->start), 0, c);
            r->now = r->start;
        }
    }
    return true;
}

static bool points_keep_image(block *base, int point, const double *s)
{
    linear *b = (linear *)base;
    memcpy(b->point[point], s, b->variables * sizeof *s);
    for (uint64_t i = 0; b->rest && i < b->variables; i++) {
        double y = b->var[i].y;
        b->point_rest[point][i] = positive_part(linear_cost(b, LOSS_LOGISTIC, i, y) - y * s[i]);
    }
    return true;
}

/* xi*(-a) = -a y + a^2 / 4c, without the square for the hinge */
static void points_products(const block *base, int point, int count, const int *others, double *product,
                            double *linear_part)
{
    const linear *b = of(base);
    const loss_kind kind = base->p->loss->kind;
    sum products[POINTS_MOST + 1] = {{0, 0}}, linear_sum = {0, 0};
    for (uint64_t i = 0; i < b->variables; i++) {
        const variable *v = &b->var[i];
        double a = point == POINT_ALPHA ? v->a : b->point[point][i];
        if (a == 0)
            continue;
        sum_add(&linear_sum, -a * v->y);
        if (kind == LOSS_HINGE)
            continue;
        double scaled = a / (2 * linear_cost(b, kind, i, v->y));
        for (int k = 0; k < count; k++)
            sum_add(&products[k], scaled * (others[k] == POINT_ALPHA ? v->a : b->point[others[k]][i]));
    }
    *linear_part = sum_value(&linear_sum);
    for (int k = 0; k < count; k++)
        product[k] = sum_value(&products[k]);
}

static void points_combine(const block *base, int count, const int *points, const double *theta, double reach,
                           double *change, double *gradient, double *hessian)
{
    const linear *b = of(base);
    const loss_kind kind = base->p->loss->kind;
    const double e = base->p->epsilon;
    sum changes = {0, 0}, slopes[POINTS_MOST] = {{0, 0}};
    double toward[POINTS_MOST], bends[POINTS_MOST * POINTS_MOST] = {0};
    for (uint64_t i = 0; i < b->variables; i++) {
        const variable *v = &b->var[i];
        double c = linear_cost(b, kind, i, v->y), a = v->a, before = b->rest ? b->rest[i].now : 0, rest = before,
               most = 0;
        for (int k = 0; k < count; k++) {
            toward[k] = b->point[points[k]][i] - v->a;
            a += theta[k] * toward[k];
            most = fmax(most, fabs(toward[k]));
            if (b->rest)
                rest += theta[k] * (b->point_rest[points[k]][i] - before);
        }
        a = linear_clip(kind, a, v->y, c);
        rest = positive_part(rest);
        if (a != v->a)
            sum_add(&changes,
                    loss_conjugate(kind, a, rest, v->y, c, e) - loss_conjugate(kind, v->a, before, v->y, c, e));
        if (!gradient)
            continue;
        if (kind == LOSS_LOGISTIC) { /* the slope is infinite at the ends */
            double b_now = fmax(v->y * a, 1e-290);
            a = v->y * b_now;
            rest = fmax(rest, 1e-290);
        }
        double slope = loss_conjugate_slope(kind, a, rest, v->y, c, e),
               bend = loss_conjugate_bend(kind, a + v->y * reach * most, rest + reach * most, v->y, c);
        for (int k = 0; k < count; k++) {
            if (toward[k] == 0)
                continue;
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

static bool points_blend(block *base, int count, const int *points, const double *theta)
{
    linear *b = (linear *)base;
    const loss_kind kind = base->p->loss->kind;
    for (uint64_t i = 0; i < b->variables; i++) {
        variable *v = &b->var[i];
        double c = linear_cost(b, kind, i, v->y), a = v->start;
        for (int k = 0; k < count; k++)
            a += theta[k] * (b->point[points[k]][i] - v->start);
        v->a = v->start = linear_clip(kind, a, v->y, c);
        b->clear_until[i] = 0;
        if (!b->rest)
            continue;
        double before = b->rest[i].start, rest = before;
        for (int k = 0; k < count; k++)
            rest += theta[k] * (b->point_rest[points[k]][i] - before);
        b->rest[i].now = b->rest[i].start = clip(rest, 0, c);
    }
    return true;
}

static void points_advance(block *base, int point, double beta, double *beyond, double *moved)
{
    linear *b = (linear *)base;
    const loss_kind kind = base->p->loss->kind;
    for (uint64_t i = 0; i < b->variables; i++) {
        variable *v = &b->var[i];
        double c = linear_cost(b, kind, i, v->y), y = v->start + beta * (v->start - b->point[point][i]);
        v->a = linear_clip(kind, y, v->y, c);
        if (b->rest) { /* not onto the ends, where the slope is infinite */
            double before = b->rest[i].start, rest = before + beta * (before - b->point_rest[point][i]);
            double now = fmax(v->y * y, POINT_KEPT_OF_ENDS * v->y * v->start);
            rest = fmax(rest, POINT_KEPT_OF_ENDS * before);
            v->a = v->y * (now * (c / (now + rest)));
            b->rest[i].now = rest * (c / (now + rest));
        }
        beyond[i] = v->a - y;
        moved[i] = v->a - v->start;
    }
}

static double points_gap(const block *base, const double *z)
{
    const linear *b = of(base);
    const loss_kind kind = base->p->loss->kind;
    sum gap = {0, 0};
    for (uint64_t i = 0; i < b->variables; i++) {
        const variable *v = &b->var[i];
        sum_add(&gap, loss_gap(kind, z[i], v->a, b->rest ? b->rest[i].now : 0, v->y, linear_cost(b, kind, i, v->y),
                               base->p->epsilon));
    }
    return sum_value(&gap);
}

const point_kind linear_points = {
    .open = points_open,
    .keep = points_keep,
    .keep_image = points_keep_image,
    .products = points_products,
    .combine = points_combine,
    .blend = points_blend,
    .advance = points_advance,
    .gap = points_gap,
};
