/* squared_norm.c - g(w) = w'w/2, its own conjugate: w = v. The one whose loops are worth writing by hand. */
#include <string.h>

#include "base/vector.h"
#include "problem/regulariser.h"

static double squared_norm_value(const penalty *p, const double *w)
{
    return 0.5 * vec_dot(w, w, p->n, p->threads);
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

const regulariser squared_norm = {
    .name = "squared-norm",
    .identity = true,
    .value = squared_norm_value,
    .conjugate = squared_norm_value,
    .gradient = squared_norm_gradient,
    .curvature = squared_norm_curvature,
    .ray_change = squared_norm_ray_change,
    .ray_slope = squared_norm_ray_slope,
};
