/* separable.h - the loops of a separable regulariser, from scalar functions of (penalty, j, x):
 *
 *     NAME_g(p, j, w)           g_j(w)
 *     NAME_dual(p, j, v)        g_j*(v)
 *     NAME_weight(p, j, v)      the derivative of g_j* at v
 *     NAME_bend(p, j, v)        its (generalised) second derivative
 *     NAME_most(p, j)           an upper bound of that for all v
 *     NAME_slope_at(p, j, w)    the derivative of g_j at w, at a kink a subgradient
 *     NAME_bend_at(p, j)        the second derivative of g_j, kinks left out: g_j is quadratic but for them
 *     NAME_apart(p, j, w, v)    g_j(w) + g_j*(v) - w v as a sum of terms that are at least 0
 *
 * Sums are compensated from chunk to chunk, as in base/vector.h. */
#ifndef PROBLEM_SEPARABLE_H
#define PROBLEM_SEPARABLE_H

#include <math.h>

#include "base/vector.h"
#include "problem/regulariser.h"

#define SEPARABLE_CHUNK 4096
#define SEPARABLE_ALMOST_0 0x1p-40 /* of NAME_most, where the second derivative is 0 */

static inline uint64_t bound_of(const penalty *p)
{
    return p->n - p->free;
}

static inline double factor_of(const penalty *p, uint64_t j)
{
    return p->factor && j / p->outputs < p->columns ? p->factor[j / p->outputs] : 1;
}

/* Over all weights that are in g. */
#define SEPARABLE_SUM(TERM)                                                                                          \
    sum all = {0, 0};                                                                                                \
    const uint64_t bound = bound_of(p);                                                                              \
    for (uint64_t first = 0; first < bound; first += SEPARABLE_CHUNK) {                                              \
        uint64_t end = bound - first < SEPARABLE_CHUNK ? bound : first + SEPARABLE_CHUNK;                            \
        double part = 0;                                                                                             \
        for (uint64_t j = first; j < end; j++)                                                                       \
            part += TERM;                                                                                            \
        sum_add(&all, part);                                                                                         \
    }

#define SEPARABLE_REGULARISER(NAME, TEXT, SMOOTH)                                                                    \
    static double NAME##_value(const penalty *p, const double *w)                                                    \
    {                                                                                                                \
        SEPARABLE_SUM(NAME##_g(p, j, w[j]))                                                                          \
        return sum_value(&all);                                                                                      \
    }                                                                                                                \
    static double NAME##_conjugate(const penalty *p, const double *v)                                                \
    {                                                                                                                \
        SEPARABLE_SUM(NAME##_dual(p, j, v[j]))                                                                       \
        return sum_value(&all);                                                                                      \
    }                                                                                                                \
    static void NAME##_gradient(const penalty *p, double *w, const double *v)                                        \
    {                                                                                                                \
        for (uint64_t j = 0; j < bound_of(p); j++)                                                                   \
            w[j] = NAME##_weight(p, j, v[j]);                                                                        \
        for (uint64_t j = bound_of(p); j < p->n; j++)                                                                \
            w[j] = v[j];                                                                                             \
    }                                                                                                                \
    static void NAME##_curvature(const penalty *p, double *h, const double *v, bool safe)                            \
    {                                                                                                                \
        for (uint64_t j = 0; j < bound_of(p); j++) {                                                                 \
            double most = NAME##_most(p, j), bend = safe ? most : NAME##_bend(p, j, v[j]);                           \
            h[j] = bend > 0 ? bend : most * SEPARABLE_ALMOST_0;                                                      \
        }                                                                                                            \
        for (uint64_t j = bound_of(p); j < p->n; j++)                                                                \
            h[j] = 1;                                                                                                \
    }                                                                                                                \
    static double NAME##_ray_slope(const penalty *p, const double *v, const double *dv, double eta)                  \
    {                                                                                                                \
        SEPARABLE_SUM(NAME##_weight(p, j, v[j] + eta * dv[j]) * dv[j])                                               \
        for (uint64_t j = bound; j < p->n; j++)                                                                      \
            sum_add(&all, (v[j] + eta * dv[j]) * dv[j]);                                                             \
        return sum_value(&all);                                                                                      \
    }                                                                                                                \
    static double NAME##_ray_change(const penalty *p, const double *v, const double *dv, double eta)                 \
    {                                                                                                                \
        SEPARABLE_SUM(dv[j] != 0 ? NAME##_dual(p, j, v[j] + eta * dv[j]) - NAME##_dual(p, j, v[j]) : 0)              \
        for (uint64_t j = bound; j < p->n; j++)                                                                      \
            sum_add(&all, eta *dv[j] * (v[j] + 0.5 * eta * dv[j]));                                                  \
        return sum_value(&all);                                                                                      \
    }                                                                                                                \
    static void NAME##_slope(const penalty *p, double *out, const double *w)                                         \
    {                                                                                                                \
        for (uint64_t j = 0; j < p->n; j++)                                                                          \
            out[j] = j < bound_of(p) ? NAME##_slope_at(p, j, w[j]) : 0;                                              \
    }                                                                                                                \
    static void NAME##_bend_all(const penalty *p, double *out)                                                       \
    {                                                                                                                \
        for (uint64_t j = 0; j < p->n; j++)                                                                          \
            out[j] = j < bound_of(p) ? NAME##_bend_at(p, j) : 0;                                                     \
    }                                                                                                                \
    static double NAME##_distance(const penalty *p, const double *w, const double *v)                                \
    {                                                                                                                \
        SEPARABLE_SUM(NAME##_apart(p, j, w[j], v[j]))                                                                \
        return sum_value(&all);                                                                                      \
    }                                                                                                                \
    const regulariser NAME = {                                                                                       \
        .name = TEXT,                                                                                                \
        .smooth = SMOOTH,                                                                                            \
        .value = NAME##_value,                                                                                       \
        .conjugate = NAME##_conjugate,                                                                               \
        .gradient = NAME##_gradient,                                                                                 \
        .curvature = NAME##_curvature,                                                                               \
        .ray_change = NAME##_ray_change,                                                                             \
        .ray_slope = NAME##_ray_slope,                                                                               \
        .slope = NAME##_slope,                                                                                       \
        .bend = NAME##_bend_all,                                                                                     \
        .distance = NAME##_distance,                                                                                 \
    }

#endif
