/* shifted_norm.c - any of our regularisers plus a pull towards a centre:
 *
 *     g_j(w) = f_j ((1-R)/2 w^2 + R |w|) + c/2 (w - y_j)^2
 *
 * with f_j the factor of the feature (1 without factors), R the l1_ratio (0 without), c > 0 the pull and y the
 * centre. With x = v + c y and q = f (1-R) + c: g_j*(v) = S(x, f R)^2 / 2q - c y^2 / 2, and w = S(x, f R) / q, which
 * is also the proximal step  argmin g(w) - v'w + c/2 |w - y|^2  of the regulariser without the pull. */
#include "problem/loss_math.h"
#include "problem/separable.h"

static inline double sharpness(const penalty *p, uint64_t j)
{
    return factor_of(p, j) * (1 - p->l1_ratio) + p->pull;
}

static inline double kink(const penalty *p, uint64_t j)
{
    return factor_of(p, j) * p->l1_ratio;
}

static inline double pulled(const penalty *p, uint64_t j, double v)
{
    return v + p->pull * p->centre[j];
}

static inline double shifted_norm_g(const penalty *p, uint64_t j, double w)
{
    double d = w - p->centre[j];
    return 0.5 * factor_of(p, j) * (1 - p->l1_ratio) * w * w + kink(p, j) * fabs(w) + 0.5 * p->pull * d * d;
}

static inline double shifted_norm_dual(const penalty *p, uint64_t j, double v)
{
    double s = soft_threshold(pulled(p, j, v), kink(p, j));
    return 0.5 * (s * s / sharpness(p, j) - p->pull * p->centre[j] * p->centre[j]);
}

static inline double shifted_norm_weight(const penalty *p, uint64_t j, double v)
{
    return soft_threshold(pulled(p, j, v), kink(p, j)) / sharpness(p, j);
}

static inline double shifted_norm_most(const penalty *p, uint64_t j)
{
    return 1 / sharpness(p, j);
}

static inline double shifted_norm_bend(const penalty *p, uint64_t j, double v)
{
    return p->l1_ratio == 0 || fabs(pulled(p, j, v)) > kink(p, j) ? shifted_norm_most(p, j) : 0;
}

static inline double shifted_norm_slope_at(const penalty *p, uint64_t j, double w)
{
    double sign = w > 0 ? 1 : w < 0 ? -1 : 0;
    return sharpness(p, j) * w - p->pull * p->centre[j] + kink(p, j) * sign;
}

static inline double shifted_norm_bend_at(const penalty *p, uint64_t j)
{
    return sharpness(p, j);
}

/* With u = S(x, f R): q/2 (w - u/q)^2 + f R |w| - w (x - u), where |x - u| <= f R. */
static inline double shifted_norm_apart(const penalty *p, uint64_t j, double w, double v)
{
    double x = pulled(p, j, v), r = kink(p, j), d = w - soft_threshold(x, r) / sharpness(p, j);
    return 0.5 * sharpness(p, j) * d * d + fabs(w) * positive_part(r - (w < 0 ? -1 : 1) * clip(x, -r, r));
}

SEPARABLE_REGULARISER(shifted_norm, "shifted-norm", false);

penalty penalty_shifted(const penalty *g, double pull, const double *centre)
{
    penalty p = *g;
    p.kind = &shifted_norm;
    p.pull = pull;
    p.centre = centre;
    p.convexity = g->convexity + pull;
    return p;
}
