/* weighted_norm.c - g_j(w) = f_j w^2 / 2 with a factor f_j > 0 for each feature: g_j*(v) = v^2 / 2 f_j, w = v / f_j.
 */
#include "problem/separable.h"

static inline double weighted_norm_g(const penalty *p, uint64_t j, double w)
{
    return 0.5 * factor_of(p, j) * w * w;
}

static inline double weighted_norm_dual(const penalty *p, uint64_t j, double v)
{
    return 0.5 * v * v / factor_of(p, j);
}

static inline double weighted_norm_weight(const penalty *p, uint64_t j, double v)
{
    return v / factor_of(p, j);
}

static inline double weighted_norm_most(const penalty *p, uint64_t j)
{
    return 1 / factor_of(p, j);
}

static inline double weighted_norm_bend(const penalty *p, uint64_t j, double v)
{
    (void)v;
    return weighted_norm_most(p, j);
}

static inline double weighted_norm_slope_at(const penalty *p, uint64_t j, double w)
{
    return factor_of(p, j) * w;
}

static inline double weighted_norm_bend_at(const penalty *p, uint64_t j)
{
    return factor_of(p, j);
}

/* f/2 (w - v/f)^2 */
static inline double weighted_norm_apart(const penalty *p, uint64_t j, double w, double v)
{
    double f = factor_of(p, j), d = w - v / f;
    return 0.5 * f * d * d;
}

SEPARABLE_REGULARISER(weighted_norm, "weighted-norm", true);
