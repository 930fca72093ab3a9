/* penalty.c - the regularisers, one weight at a time, written down once more. See checker.h.
 *
 *     g_j(w) = f ((1-R)/2 w^2 + R |w|)     the squared norm has R = 0 and f = 1
 *
 * g_j*(v) = max over w of v w - g_j(w). Where |v| <= f R the best w is 0; beyond that it has the sign of v, and
 * v - f (1-R) w - f R sign(v) = 0. */
#include <math.h>

#include "checker.h"

long double check_penalty_value(double l1_ratio, double factor, long double w)
{
    long double R = l1_ratio;
    return factor * ((1 - R) / 2 * w * w + R * fabsl(w));
}

long double check_penalty_weight(double l1_ratio, double factor, long double v)
{
    long double R = l1_ratio, beyond = fabsl(v) - factor * R;
    return beyond <= 0 ? 0 : copysignl(beyond / (factor * (1 - R)), v);
}

long double check_penalty_conjugate(double l1_ratio, double factor, long double v)
{
    long double w = check_penalty_weight(l1_ratio, factor, v);
    return v * w - check_penalty_value(l1_ratio, factor, w);
}

typedef struct penalty_case {
    double l1_ratio, factor;
    long double v;
} penalty_case;

static long double minus_inside(long double w, const void *self)
{
    const penalty_case *s = self;
    return check_penalty_value(s->l1_ratio, s->factor, w) - s->v * w;
}

long double check_penalty_supremum(double l1_ratio, double factor, long double v)
{
    penalty_case s = {l1_ratio, factor, v};
    long double at, reach = 2 * fabsl(v) / (factor * (1 - (long double)l1_ratio)); /* v w < g_j(w) beyond this */
    return -check_golden(minus_inside, &s, -reach, reach, &at);
}
