/* squared_norm.c - g(w) = w'w/2, its own conjugate: w = v. The one whose loops are worth writing by hand. */
#include <string.h>

#include "problem/separable.h"

static double squared_norm_value(const penalty *p, const double *w)
{
    return 0.5 * vec_dot(w, w, bound_of(p), p->threads);
}

static void squared_norm_gradient(const penalty *p, double *w, const double *v)
{
    if (w != v)
        memcpy(w, v, p->n * sizeof *w);
}

static void squared_norm_curvature(const penalty *p, double *h, const double *v, bool safe)
{
    (void)v;
    (void)safe;
    for (uint64_t j = 0; j < p->n; j++)
        h[j] = 1;
}

/* Callers that know v'dv and dv'dv need neither of these. */
static double squared_norm_ray_change(const penalty *p, const double *v, const double *dv, double eta)
{
    double vd, dd;
    vec_dots(v, dv, p->n, p->threads, &vd, &dd);
    return eta * (vd + 0.5 * eta * dd);
}

static double squared_norm_ray_slope(const penalty *p, const double *v, const double *dv, double eta)
{
    double vd, dd;
    vec_dots(v, dv, p->n, p->threads, &vd, &dd);
    return vd + eta * dd;
}

static void squared_norm_slope(const penalty *p, double *out, const double *w)
{
    squared_norm_gradient(p, out, w);
    for (uint64_t j = bound_of(p); j < p->n; j++)
        out[j] = 0;
}

static void squared_norm_bend(const penalty *p, double *out)
{
    for (uint64_t j = 0; j < p->n; j++)
        out[j] = j < bound_of(p);
}

/* |w - v|^2 / 2 */
static double squared_norm_distance(const penalty *p, const double *w, const double *v)
{
    SEPARABLE_SUM((w[j] - v[j]) * (w[j] - v[j]))
    return 0.5 * sum_value(&all);
}

const regulariser squared_norm = {
    .name = "squared-norm",
    .identity = true,
    .smooth = true,
    .value = squared_norm_value,
    .conjugate = squared_norm_value,
    .gradient = squared_norm_gradient,
    .curvature = squared_norm_curvature,
    .ray_change = squared_norm_ray_change,
    .ray_slope = squared_norm_ray_slope,
    .slope = squared_norm_slope,
    .bend = squared_norm_bend,
    .distance = squared_norm_distance,
};
