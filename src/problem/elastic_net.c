/* elastic_net.c - g_j(w) = f_j ((1-R)/2 w^2 + R |w|), 0 <= R < 1, f_j > 0 the factor of the feature.
 *
 * With S the soft threshold: g_j*(v) = S(v, f R)^2 / (2 f (1-R)), its derivative w = S(v, f R) / (f (1-R)), its
 * second derivative 1 / (f (1-R)) where |v| > f R and 0 elsewhere. */
#include "problem/loss_math.h"
#include "problem/separable.h"

static inline double elastic_net_g(const penalty *p, uint64_t j, double w)
{
    return factor_of(p, j) * (0.5 * (1 - p->l1_ratio) * w * w + p->l1_ratio * fabs(w));
}

static inline double elastic_net_dual(const penalty *p, uint64_t j, double v)
{
    double f = factor_of(p, j), s = soft_threshold(v, f * p->l1_ratio);
    return s * s / (2 * f * (1 - p->l1_ratio));
}

static inline double elastic_net_weight(const penalty *p, uint64_t j, double v)
{
    double f = factor_of(p, j);
    return soft_threshold(v, f * p->l1_ratio) / (f * (1 - p->l1_ratio));
}

static inline double elastic_net_most(const penalty *p, uint64_t j)
{
    return 1 / (factor_of(p, j) * (1 - p->l1_ratio));
}

static inline double elastic_net_bend(const penalty *p, uint64_t j, double v)
{
    return fabs(v) > factor_of(p, j) * p->l1_ratio ? elastic_net_most(p, j) : 0;
}

static inline double elastic_net_slope_at(const penalty *p, uint64_t j, double w)
{
    double sign = w > 0 ? 1 : w < 0 ? -1 : 0;
    return factor_of(p, j) * ((1 - p->l1_ratio) * w + p->l1_ratio * sign);
}

static inline double elastic_net_bend_at(const penalty *p, uint64_t j)
{
    return factor_of(p, j) * (1 - p->l1_ratio);
}

/* With u = S(v, f R) and q = f (1-R): q/2 (w - u/q)^2 + f R |w| - w (v - u), where |v - u| <= f R. */
static inline double elastic_net_apart(const penalty *p, uint64_t j, double w, double v)
{
    double f = factor_of(p, j), q = elastic_net_bend_at(p, j), r = f * p->l1_ratio;
    double u = soft_threshold(v, r), d = w - u / q, sign = w < 0 ? -1 : 1;
    double cut = v > r ? r : v < -r ? -r : v; /* v - u */
    return 0.5 * q * d * d + fabs(w) * positive_part(r - sign * cut);
}

SEPARABLE_REGULARISER(elastic_net, "elastic-net", false);
