/* hull_primal.c - the primal side of the hull: a better point from what the dual side knows.
 *
 *     minimise P over  best + t_0 (w - best) + t_1 (aim - best) + t_2 (last step)
 *
 * w = grad g*(v) belongs to alpha; aim = grad g*(X s(best)), which with the squared norm makes aim - best the
 * negative gradient of P at best. The margins of all are known, so the search costs scalars only: a few damped Newton
 * steps in three dimensions where P is differentiable, the exact minimum along the first direction otherwise, and
 * then along best itself: blocks that do not know of each other leave most margins short by a common part, which a
 * loss with a kink there charges in full (lengths, in dual.c). best never gets worse, and is never worse than w. */
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/vector.h"
#include "dual/hull.h"

#define MOST HULL_DIRECTIONS
#define CHUNK 512
/* Of the gap that may be left to gain where a search along a line ends; rounds of several models, which send more,
 * are to be fewer. */
#define SEGMENT_ENOUGH 1e-3
#define SEGMENT_ENOUGH_APART 1e-4
#define LENGTH_WORTH 0.02   /* of the gap that a length must gain to be tried again at once */
#define LENGTH_PATIENCE 16u /* rounds after which it is tried at the latest */

enum { TO_W, TO_AIM, LAST_STEP, LENGTH }; /* the directions */

/* P along the directions in use: F(t) = g_0 + slope't + t'bend t/2 + [losses at z_best + sum t_k q_k] */
typedef struct subspace {
    hull_run *r;
    int m;
    const double *aim;
    int direction[MOST];
    double g_0, slope[MOST], bend[MOST * MOST];
} subspace;

static inline double along_column(const hull_run *r, const double *aim, int direction, uint64_t j)
{
    switch (direction) {
    case TO_W:
        return r->d.w[j] - r->primal.best[j];
    case TO_AIM:
        return aim[j] - r->primal.best[j];
    case LENGTH:
        return r->primal.best[j];
    default:
        return r->primal.last_step[j];
    }
}

static double *const *margins_along(const hull_run *r, int direction)
{
    double **const of[] = {[TO_W] = r->primal.z_now,
                           [TO_AIM] = r->primal.z_aim,
                           [LAST_STEP] = r->primal.z_step,
                           [LENGTH] = r->primal.z_best};
    return of[direction];
}

/* g along the directions, a share of the columns: its value, slopes and products at best. to: [1 + m + m m] */
static void regulariser_part(const subspace *s, uint64_t k, double *to)
{
    const hull_run *r = s->r;
    const int m = s->m;
    uint64_t first, end;
    hull_columns(r, k, &first, &end);
    sum sums[1 + MOST + MOST * MOST] = {{0, 0}};
    for (uint64_t at = first; at < end; at += CHUNK) {
        double part[1 + MOST + MOST * MOST] = {0}, d[MOST];
        for (uint64_t j = at; j < end && j < at + CHUNK; j++) {
            double f = r->primal.factor ? r->primal.factor[j] : 1;
            part[0] += 0.5 * f * r->primal.best[j] * r->primal.best[j];
            for (int a = 0; a < m; a++) {
                d[a] = along_column(r, s->aim, s->direction[a], j);
                part[1 + a] += f * r->primal.best[j] * d[a];
                for (int b = 0; b <= a; b++)
                    part[1 + m + a * m + b] += f * d[a] * d[b];
            }
        }
        for (int e = 0; e < 1 + m + m * m; e++)
            sum_add(&sums[e], part[e]);
    }
    for (int e = 0; e < 1 + m + m * m; e++)
        to[e] = sum_value(&sums[e]);
}

/* The losses at t with their derivatives, block by block. to: [1 + m + m m] */
static void loss_part(const subspace *s, uint64_t k, const double *t, double *to)
{
    const hull_run *r = s->r;
    const double *q[MOST];
    for (int a = 0; a < s->m; a++)
        q[a] = margins_along(r, s->direction[a])[k];
    instances_along(&r->primal.part[k], r->primal.z_best[k], s->m, q, t, to, to + 1,
                    r->primal.smooth ? to + 1 + s->m : NULL);
    if (!r->primal.smooth)
        memset(to + 1 + s->m, 0, (size_t)(s->m * s->m) * sizeof *to);
}

/* F(t), its gradient and Hessian (lower triangle): one message. The first call also fetches what g needs. */
static double value_at(subspace *s, const double *t, double *gradient, double *hessian, bool first)
{
    dual_run *d = &s->r->d;
    const int m = s->m, width = 1 + m + m * m, columns = first ? 2 * width : width;
    FOR_BLOCKS (k, d->local, d->p->threads) {
        double *to = d->scalars.mine + k * (uint64_t)columns;
        loss_part(s, k, t, to);
        if (first)
            regulariser_part(s, k, to + width);
    }
    scalars_gather(&d->scalars, columns);
    if (first) {
        s->g_0 = scalars_sum(&d->scalars, width);
        for (int a = 0; a < m; a++) {
            s->slope[a] = scalars_sum(&d->scalars, width + 1 + a);
            for (int b = 0; b <= a; b++)
                s->bend[a * m + b] = s->bend[b * m + a] = scalars_sum(&d->scalars, width + 1 + m + a * m + b);
        }
    }
    double value = s->g_0 + scalars_sum(&d->scalars, 0);
    for (int a = 0; a < m; a++) {
        double g_slope = s->slope[a];
        for (int b = 0; b < m; b++)
            g_slope += s->bend[a * m + b] * t[b];
        value += 0.5 * t[a] * (s->slope[a] + g_slope);
        gradient[a] = g_slope + scalars_sum(&d->scalars, 1 + a);
        for (int b = 0; b <= a; b++)
            hessian[a * m + b] = s->bend[a * m + b] + scalars_sum(&d->scalars, 1 + m + a * m + b);
    }
    d->report.line_search_steps++;
    return value;
}

/* Newton's step for a small positive semi-definite H, by Cholesky; a direction that adds nothing is left out. */
static void small_newton(int m, const double *H, const double *slope, double *step)
{
    double L[MOST][MOST] = {{0}}, y[MOST];
    bool idle[MOST];
    for (int a = 0; a < m; a++) {
        double x = H[a * m + a];
        for (int b = 0; b < a; b++) {
            double y_ab = H[a * m + b];
            for (int k = 0; k < b; k++)
                y_ab -= L[a][k] * L[b][k];
            L[a][b] = idle[b] ? 0 : y_ab / L[b][b];
            x -= L[a][b] * L[a][b];
        }
        idle[a] = !(x > 1e-12 * H[a * m + a]);
        L[a][a] = idle[a] ? 1 : sqrt(x);
    }
    for (int a = 0; a < m; a++) {
        y[a] = -slope[a];
        for (int k = 0; k < a; k++)
            y[a] -= L[a][k] * y[k];
        y[a] = idle[a] ? 0 : y[a] / L[a][a];
    }
    for (int a = m - 1; a >= 0; a--) {
        step[a] = y[a];
        for (int k = a + 1; k < m; k++)
            step[a] -= L[k][a] * step[k];
        step[a] = idle[a] ? 0 : step[a] / L[a][a];
    }
}

/* Damped Newton from t = 0; t ends where F is least. */
static double newton(subspace *s, double *t)
{
    const int m = s->m;
    double gradient[MOST], H[MOST * MOST], step[MOST], trial[MOST], trial_gradient[MOST], trial_H[MOST * MOST];
    double value = value_at(s, t, gradient, H, true), start = value;
    for (int k = 0; k < 8; k++) {
        small_newton(m, H, gradient, step);
        double along = 0, scale = 1, next = INFINITY;
        for (int a = 0; a < m; a++)
            along += gradient[a] * step[a];
        /* what is left is not worth a message */
        if (!(along < 0) || (k > 0 && -along <= 1e-3 * (start - value)) || -along <= 1e-14 * fabs(value))
            break;
        for (int tries = 0; tries < 6; tries++, scale *= 0.4) {
            for (int a = 0; a < m; a++)
                trial[a] = t[a] + scale * step[a];
            next = value_at(s, trial, trial_gradient, trial_H, false);
            if (next <= value + 1e-4 * scale * along)
                break;
        }
        if (!(next < value))
            break;
        value = next;
        memcpy(t, trial, sizeof trial);
        memcpy(gradient, trial_gradient, sizeof trial_gradient);
        memcpy(H, trial_H, sizeof trial_H);
    }
    return value;
}

/* g where it is not quadratic, and its slope, at best + t times the direction. */
static double segment_g(const subspace *s, double t, double *slope)
{
    hull_run *r = s->r;
    const problem *p = r->d.p;
    double *at = r->scratch, *of = r->d.direction.dv;
    for (uint64_t j = 0; j < p->n; j++)
        at[j] = r->primal.best[j] + t * along_column(r, NULL, s->direction[0], j);
    p->penalty.kind->slope(&p->penalty, of, at);
    double along_best = vec_dot(of, r->primal.best, p->n, p->threads);
    *slope = s->direction[0] == LENGTH ? along_best : vec_dot(of, r->d.w, p->n, p->threads) - along_best;
    return p->penalty.kind->value(&p->penalty, at);
}

static double segment_value(subspace *s, double t, double *slope, bool first)
{
    double hessian;
    if (s->r->d.p->penalty.kind->smooth)
        return value_at(s, &t, slope, &hessian, first);
    double g_slope, g = segment_g(s, t, &g_slope);
    s->g_0 = s->slope[0] = s->bend[0] = 0; /* value_at then gives the losses alone */
    double value = value_at(s, &t, slope, &hessian, false);
    *slope += g_slope;
    return g + value;
}

/* The minimum of the convex F in [0, 16] by false position on its slope, from the bracket [0, high]; t ends at the
 * least value seen. */
static double search_segment(subspace *s, double high, double *t)
{
    double low = 0, at_low, at_high, best = segment_value(s, 0, &at_low, true), value;
    const dual_run *d = &s->r->d;
    const double enough = (d->model.count > 1 ? SEGMENT_ENOUGH_APART : SEGMENT_ENOUGH) * (best + d->f);
    *t = 0;
    if (at_low >= 0)
        at_low = -1e-300; /* a subgradient: the slope to the right is not known */
    for (;;) {
        value = segment_value(s, high, &at_high, false);
        if (value < best) {
            best = value;
            *t = high;
        }
        if (at_high >= 0 || high >= 16)
            break;
        low = high, at_low = at_high;
        high *= 4;
    }
    for (int k = 0, side = 0; at_high > 0 && k < 8; k++) {
        double part = at_low / (at_low - at_high), at;
        double middle = low + (high - low) * fmin(fmax(part, 0.1), 0.9);
        value = segment_value(s, middle, &at, false);
        if (value < best) {
            best = value;
            *t = middle;
        }
        if (at < 0) {
            at_high = side < 0 ? 0.5 * at_high : at_high;
            low = middle, at_low = at, side = -1;
        } else {
            at_low = side > 0 ? 0.5 * at_low : at_low;
            high = middle, at_high = at, side = 1;
        }
        if (fabs(at) * (high - low) < enough) /* F is convex: no more than that can be left */
            break;
    }
    return best;
}

static void take_step(const subspace *s, const double *t)
{
    hull_run *r = s->r;
    const problem *p = r->d.p;
    FOR_NUMBERS (j, p->n, p->threads) {
        double moved = 0;
        for (int a = 0; a < s->m; a++)
            moved += t[a] * along_column(r, s->aim, s->direction[a], j);
        if (r->primal.last_step)
            r->primal.last_step[j] = moved;
        r->primal.best[j] += moved;
    }
    FOR_BLOCKS (k, r->d.local, p->threads) {
        uint64_t length = r->primal.part[k].count * r->primal.part[k].width;
        double *z = r->primal.z_best[k], *step = r->primal.z_step ? r->primal.z_step[k] : NULL;
        for (uint64_t i = 0; i < length; i++) {
            double moved = 0;
            for (int a = 0; a < s->m; a++)
                moved += t[a] * margins_along(r, s->direction[a])[k][i];
            if (step)
                step[i] = moved;
            z[i] += moved;
        }
    }
}

/* It is searched for rarely where it gained little: some data have such margins, most have not. */
static void improve_length(subspace *s)
{
    hull_run *r = s->r;
    if (++r->primal.rounds_since_length < r->primal.length_patience)
        return;
    double t[MOST] = {0}, gap = r->primal.best_value + r->d.f;
    s->direction[0] = LENGTH;
    double value = search_segment(s, 4 * r->primal.stretch, t), gained = r->primal.best_value - value;
    if (gained > 0) {
        take_step(s, t);
        r->primal.best_value = value;
        r->primal.newest_image = -1;
    }
    r->primal.stretch = fmax(t[0] > 0 ? t[0] : r->primal.stretch / 4, 1e-9);
    r->primal.rounds_since_length = 0;
    r->primal.length_patience = gained > LENGTH_WORTH * gap ? 1 : r->primal.length_patience * 2;
    if (r->primal.length_patience > LENGTH_PATIENCE)
        r->primal.length_patience = LENGTH_PATIENCE;
}

void hull_improve_primal(hull_run *r)
{
    const span span = span_begin(r->d.p->comm);
    subspace s = {.r = r, .m = 1};
    double t[MOST] = {0}, to_w[MOST] = {1}, value;
    for (uint64_t k = 0; k < r->d.local; k++) /* from margins to directions */
        for (uint64_t i = 0; i < r->primal.part[k].count * r->primal.part[k].width; i++)
            r->primal.z_now[k][i] -= r->primal.z_best[k][i];
    if (r->primal.smooth) {
        if (r->primal.newest_image >= 0) {
            s.aim = r->primal.aim ? r->primal.aim : r->points.image[r->primal.newest_image];
            s.direction[s.m++] = TO_AIM;
        }
        if (r->primal.stepped)
            s.direction[s.m++] = LAST_STEP;
        value = newton(&s, t);
    } else {
        value = search_segment(&s, 1, t);
    }
    const double *step = r->primal.now_value < value ? to_w : t;
    value = fmin(value, r->primal.now_value);
    if (value < r->primal.best_value) {
        take_step(&s, step);
        r->primal.best_value = value;
        r->primal.stepped = true;
        r->primal.newest_image = -1;
    }
    if (!r->primal.smooth && r->d.model.count > 1)
        improve_length(&s);
    span_end(&span, &r->d.report, SPENT_EVALUATION);
}
