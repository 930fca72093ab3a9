/* step.c - how far to go along (da, dv).
 *
 *     phi(eta) = f(alpha + eta da) - f(alpha) = g*(v + eta dv) - g*(v) + [change of the separable part]
 *
 * With g* = v'v/2 the first part is eta v'dv + eta^2 dv'dv/2, from two dot products; with other regularisers it is a
 * pass over v and dv. Every rank has both vectors and computes it for itself. Everything works on phi, a difference:
 * near the optimum f would hide it in rounding. */
#include <math.h>
#include <string.h>

#include "base/vector.h"
#include "dual/dual.h"

typedef struct ray {
    double slope; /* w'dv: the derivative of g* along the ray, at 0 */
    double curve; /* dv'dv: its second derivative, where g* is v'v/2 */
} ray;

static double smooth_change(const dual_run *r, const ray *ray, double eta)
{
    const penalty *g = &r->p->penalty;
    return g->kind->identity ? eta * (ray->slope + 0.5 * eta * ray->curve)
                             : g->kind->ray_change(g, r->v, r->direction.dv, eta);
}

static double smooth_slope(const dual_run *r, const ray *ray, double eta)
{
    const penalty *g = &r->p->penalty;
    return g->kind->identity ? ray->slope + eta * ray->curve : g->kind->ray_slope(g, r->v, r->direction.dv, eta);
}

/* Delta of Algorithm 1: grad g*(v)'dv + xi*(-alpha - da) - xi*(-alpha) */
static double full_decrease(const dual_run *r, const ray *ray)
{
    const block_direction *d = &r->direction.all;
    return ray->slope + (r->p->loss->quadratic_dual ? d->slope + 0.5 * d->curve : d->change[0]);
}

/* Closed form: the whole of phi is quadratic up to the limit. */
static double exact_quadratic(const dual_run *r, const ray *ray)
{
    double slope = ray->slope + r->direction.all.slope, curve = ray->curve + r->direction.all.curve;
    if (slope >= 0)
        return 0;
    return curve > 0 ? fmin(-slope / curve, r->direction.all.limit) : r->direction.all.limit;
}

/* The separable part is quadratic, g* is not: the zero of the rising phi' by the Illinois form of false position,
 * from scalars that every rank has. Ends where the slope is a small part of the first one. */
static double exact_false_position(dual_run *r, const ray *ray)
{
    const block_direction *d = &r->direction.all;
    double low = 0, high = fmin(d->limit, 1), at_low = ray->slope + d->slope, at_high, small = -0.02 * at_low;
    if (at_low >= 0)
        return 0;
    for (;;) { /* a bracket */
        at_high = smooth_slope(r, ray, high) + d->slope + high * d->curve;
        r->report.line_search_steps++;
        if (at_high >= 0 || high >= d->limit || high > 1e6)
            break;
        low = high;
        at_low = at_high;
        high = fmin(2 * high, d->limit);
    }
    if (at_high <= 0)
        return high;
    for (int k = 0, side = 0; k < 50 && -at_low > small; k++) {
        double eta = low + (high - low) * (at_low / (at_low - at_high));
        double at = smooth_slope(r, ray, eta) + d->slope + eta * d->curve;
        r->report.line_search_steps++;
        if (at < 0) {
            at_high = side < 0 ? 0.5 * at_high : at_high;
            low = eta, at_low = at, side = -1;
        } else {
            at_low = side > 0 ? 0.5 * at_low : at_low;
            high = eta, at_high = at, side = 1;
            if (at <= small && smooth_change(r, ray, eta) + eta * (d->slope + 0.5 * eta * d->curve) < 0)
                return eta;
        }
    }
    return low;
}

/* One message: change of the separable part and its slope at BLOCK_TRIALS step sizes. */
static void separable_at(dual_run *r, const double *eta, double *change, double *slope)
{
    enum { COLUMNS = 2 * BLOCK_TRIALS };
    for (uint64_t k = 0; k < r->local; k++)
        block_ray(r->blocks[k], BLOCK_TRIALS, eta, r->scalars.mine + k * COLUMNS,
                  r->scalars.mine + k * COLUMNS + BLOCK_TRIALS);
    scalars_gather(&r->scalars, COLUMNS);
    for (int j = 0; j < BLOCK_TRIALS; j++) {
        change[j] = scalars_sum(&r->scalars, j);
        slope[j] = scalars_sum(&r->scalars, BLOCK_TRIALS + j);
    }
}

/* The minimum of the convex phi in [0, high] by the sign of its derivative, BLOCK_TRIALS points a message. */
static double exact_search(dual_run *r, const ray *ray)
{
    double low = 0, high = fmin(r->direction.all.limit, 2.0), eta[BLOCK_TRIALS], change[BLOCK_TRIALS],
           slope[BLOCK_TRIALS];
    for (int message = 0; message < 6; message++) {
        for (int j = 0; j < BLOCK_TRIALS; j++)
            eta[j] = low + (high - low) * (j + 1) / (BLOCK_TRIALS + 1);
        separable_at(r, eta, change, slope);
        for (int j = 0; j < BLOCK_TRIALS; j++) {
            if (smooth_slope(r, ray, eta[j]) + slope[j] < 0)
                low = eta[j];
            else {
                high = eta[j];
                break;
            }
        }
        r->report.line_search_steps += BLOCK_TRIALS;
    }
    return low;
}

/* Algorithm 1: trial steps 1, beta, beta^2, ... until phi(eta) <= eta tau Delta. They come several to a message (the
 * first with the direction), so from the first that passes on they are tried as long as phi, which is convex, falls:
 * the step is at least as good as the paper's. */
static double backtrack(dual_run *r, const ray *ray)
{
    const block_direction *d = &r->direction.all;
    const bool quadratic = r->p->loss->quadratic_dual;
    const double delta = full_decrease(r, ray);
    double eta[BLOCK_TRIALS], change[BLOCK_TRIALS], slope[BLOCK_TRIALS], best = INFINITY, found = 0;
    int trials = r->search.trials;
    memcpy(eta, r->search.trial, sizeof eta);
    memcpy(change, d->change, sizeof change);
    for (int message = 0; delta < 0 && message < 15; message++, trials = BLOCK_TRIALS) {
        for (int j = 0; j < trials; j++) {
            double separable = quadratic ? eta[j] * (d->slope + 0.5 * eta[j] * d->curve) : change[j];
            double phi = smooth_change(r, ray, eta[j]) + separable;
            r->report.line_search_steps++;
            if (found > 0 && phi >= best)
                return found;
            if (phi <= eta[j] * r->search.tau * delta) {
                best = phi;
                found = eta[j];
            }
        }
        if (found > 0 && trials == 1)
            return found;
        double last = eta[trials - 1];
        for (int j = 0; j < BLOCK_TRIALS; j++)
            eta[j] = last *= r->search.beta;
        if (!quadratic)
            separable_at(r, eta, change, slope);
    }
    return found;
}

double dual_step(dual_run *r)
{
    const problem *p = r->p;
    const span span = span_begin(p->comm);
    double eta;
    ray ray;
    vec_dots(r->w, r->direction.dv, p->n, p->threads, &ray.slope, &ray.curve);
    if (r->search.kind == SEARCH_NONE)
        eta = fmin(r->search.fixed_step, r->direction.all.limit);
    else if (r->search.kind == SEARCH_BACKTRACKING)
        eta = backtrack(r, &ray);
    else if (p->loss->quadratic_dual)
        eta = p->penalty.kind->identity ? exact_quadratic(r, &ray) : exact_false_position(r, &ray);
    else
        eta = exact_search(r, &ray);
    /* A direction that promises less than that is made of rounding, which a long step would blow up. */
    const double promised = -full_decrease(r, &ray);
    if (promised <= 1e-12 * fabs(r->f))
        eta = fmin(eta, 1);
    r->travelled += eta * sqrt(ray.curve) / p->penalty.convexity;
    r->search.idle_rounds = eta * promised <= 1e-17 * fabs(r->f) ? r->search.idle_rounds + 1 : 0;
    span_end(&span, &r->report, SPENT_LINE_SEARCH);
    return eta;
}
