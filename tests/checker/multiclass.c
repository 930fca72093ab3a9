/* multiclass.c - the losses of more than one score, one instance at a time, written down once more. See checker.h.
 *
 * With M = max(0, max over m != y of 1 + z_m - z_y):
 *
 *   hinge          C M                         xi*(-a) = sum of a_m, m != y
 *   squared hinge  C M^2                       the same + (sum of a_m, m != y)^2 / 4C
 *   logistic       C (log sum_m e^z_m - z_y)   sum_m b_m log(b_m / C),  b = C e_y - a
 *
 * on the domain  sum_m a_m = 0,  a_m <= 0 for m != y,  and a_y <= C for hinge and logistic. Left out: speed. */
#include <math.h>
#include <stdlib.h>

#include "checker.h"

long double check_multi_value(check_loss loss, const long double *z, uint64_t classes, uint64_t y, double c)
{
    long double most = z[0], sum = 0, worst = 0;
    for (uint64_t m = 0; m < classes; m++) {
        most = fmaxl(most, z[m]);
        worst = m == y ? worst : fmaxl(worst, 1 + z[m] - z[y]);
    }
    for (uint64_t m = 0; m < classes; m++)
        sum += expl(z[m] - most);
    if (loss == CHECK_LOGISTIC)
        return c * (most - z[y] + logl(sum));
    return loss == CHECK_HINGE ? c * worst : c * worst * worst;
}

void check_multi_domain(check_loss loss, bool own, double c, long double *lo, long double *hi)
{
    *lo = own ? 0 : loss == CHECK_SQUARED_HINGE ? -(long double)INFINITY : -(long double)c;
    *hi = own ? loss == CHECK_SQUARED_HINGE ? (long double)INFINITY : c : 0;
}

long double check_multi_conjugate(check_loss loss, const long double *a, uint64_t classes, uint64_t y, double c)
{
    long double sum = 0, size = c, others = 0, entropy = 0;
    for (uint64_t m = 0; m < classes; m++) {
        long double lo, hi, b = (m == y ? c : 0) - a[m];
        check_multi_domain(loss, m == y, c, &lo, &hi);
        if (!(a[m] >= lo - CHECK_ROUNDING * c && a[m] <= hi))
            return INFINITY;
        sum += a[m];
        size += fabsl(a[m]);
        others += m == y ? 0 : a[m];
        entropy += b > 0 ? b * logl(b / c) : 0;
    }
    if (!(fabsl(sum) <= CHECK_ROUNDING * size))
        return INFINITY;
    if (loss == CHECK_LOGISTIC)
        return entropy;
    return loss == CHECK_HINGE ? others : others + others * others / (4 * (long double)c);
}

long double check_multi_slope(check_loss loss, long double a, bool own, double c)
{
    if (loss == CHECK_LOGISTIC)
        return -logl((own ? c : 0) - a);
    return !own ? 1 : loss == CHECK_SQUARED_HINGE ? a / (2 * (long double)c) : 0;
}

/* The b > 0 with  curve b + log b = q. */
static long double entropy_root(long double curve, long double q, double c)
{
    long double lo = q - curve * c, hi = q; /* of log b, b <= c */
    for (int k = 0; k < 90; k++) {
        long double middle = (lo + hi) / 2;
        if (curve * expl(middle) + middle > q)
            hi = middle;
        else
            lo = middle;
    }
    return expl((lo + hi) / 2);
}

typedef struct model {
    check_loss loss;
    uint64_t classes, y;
    double c;
    const long double *slope, *curve, *from;
    long double reach; /* no |a_m| at the minimum is larger */
} model;

/* The class's own minimum given the multiplier theta of the sum. */
static long double class_minimum(const model *s, uint64_t m, long double theta)
{
    bool own = m == s->y;
    long double lo, hi, curve = s->curve[m], slope = s->slope[m] - curve * s->from[m] - theta;
    check_multi_domain(s->loss, own, s->c, &lo, &hi);
    lo = fmaxl(lo, -s->reach);
    hi = fminl(hi, s->reach);
    if (s->loss == CHECK_LOGISTIC) {
        long double peak = own ? s->c : 0; /* a = peak - b:  slope + curve (peak - b) - log b = 0 */
        return fmaxl(lo, peak - entropy_root(curve, slope + curve * peak, s->c));
    }
    if (own && s->loss == CHECK_SQUARED_HINGE)
        curve += 1 / (2 * (long double)s->c);
    slope += !own;
    if (curve == 0)
        return slope > 0 ? lo : hi;
    return fminl(fmaxl(-slope / curve, lo), hi);
}

static long double all_minima(const model *s, long double theta, long double *a)
{
    long double sum = 0;
    for (uint64_t m = 0; m < s->classes; m++)
        sum += a[m] = class_minimum(s, m, theta);
    return sum;
}

void check_multi_minimise(check_loss loss, uint64_t classes, uint64_t y, double c, const long double *slope,
                          const long double *curve, const long double *from, long double *a)
{
    model s = {loss, classes, y, c, slope, curve, from, 0};
    long double *above = calloc(classes, sizeof *above), most = 1, steepest = 0;
    if (!above)
        abort();
    for (uint64_t m = 0; m < classes; m++) {
        most = fmaxl(most, 1 + fabsl(slope[m]) + curve[m] * fabsl(from[m]));
        steepest = fmaxl(steepest, curve[m]);
    }
    s.reach = loss == CHECK_SQUARED_HINGE ? 4 * c * most : c;
    /* theta where all alphas are at their lower ends, and where all are at their upper ends */
    long double lo = -2 * most - 2 * steepest * s.reach - 12000, hi = -lo;
    for (int k = 0; k < 200; k++) {
        long double middle = (lo + hi) / 2;
        if (all_minima(&s, middle, a) > 0)
            hi = middle;
        else
            lo = middle;
    }
    /* Both are minima for (almost) the same multiplier, and so are the points between them. */
    long double below_sum = all_minima(&s, lo, a), above_sum = all_minima(&s, hi, above);
    long double part = above_sum > below_sum ? -below_sum / (above_sum - below_sum) : 0;
    for (uint64_t m = 0; m < classes; m++)
        a[m] += part * (above[m] - a[m]);
    free(above);
}
