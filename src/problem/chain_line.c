/* chain_line.c - see chain_line.h. The slope rises in g: its zero is found by Newton's method in a bracket. */
#include "problem/chain_line.h"

#include <math.h>

#include "structure/lanes.h"

#define STEP_EXACT 0.1 /* relative change of g at which a search ends */
#define STEPS_MOST 8

/* Is no |d| of the lanes above `least`? */
LANES_INLINE bool is_still(const double *d, double least)
{
    double most = 0;
    for (int k = 0; k < LANES; k++) {
        const double size = fabs(d[k]);
        most = size > most ? size : most;
    }
    return most <= least;
}

/* sum of d log(mu + g d) and of d^2 / (mu + g d) over n numbers, whole lanes, but for those where |d| <= least: most
 * pairs of tags are next to impossible, and stay so */
LANES_INLINE void entropy_along(const double *mu, const double *d, uint64_t n, double g, double least, double *slope,
                                double *bend)
{
    double a[LANES] = {0}, b[LANES] = {0};
    for (uint64_t j = 0; j < n; j += LANES) {
        if (is_still(d + j, least))
            continue;
        for (int k = 0; k < LANES; k++) {
            const double x = mu[j + k] + g * d[j + k], at = x < DBL_MIN ? DBL_MIN : x;
            a[k] += d[j + k] * lanes_log(at);
            b[k] += d[j + k] * d[j + k] / at;
        }
    }
    *slope += lanes_add(a);
    *bend += lanes_add(b);
}

WIDE_VECTORS
void chain_line_entropy(const chain_held *h, const double *mu, const double *d, double g, double least, double *slope,
                        double *bend)
{
    const uint64_t last = (uint64_t)chain_stride(h->lattice.size[h->lattice.length - 1]);
    double inner_slope = 0, inner_bend = 0;
    *slope = *bend = 0;
    entropy_along(mu, d, (uint64_t)chain_stride(h->lattice.size[0]), g, least, slope, bend);
    entropy_along(mu, d, h->nodes - last, g, least, &inner_slope, &inner_bend);
    entropy_along(mu + h->nodes, d + h->nodes, h->edges, g, least, slope, bend);
    *slope -= inner_slope;
    *bend -= inner_bend;
}

static double slope_at(const chain_line *l, double g, double *bend)
{
    double slope;
    chain_line_entropy(l->mu, l->mu->node, l->d, g, l->least, &slope, bend);
    *bend += l->curve;
    return slope + l->slope + g * l->curve;
}

double chain_line_search(const chain_line *l, double g)
{
    double low = 0, high = 1;
    for (int k = 0; k < STEPS_MOST; k++) {
        double bend, slope = slope_at(l, g, &bend);
        if (slope <= 0)
            low = g;
        else
            high = g;
        double next = bend > 0 ? g - slope / bend : slope < 0 ? 1 : 0;
        next = fmin(next, 1);
        if (!(next > low && next <= high))
            next = slope <= 0 && high == 1 ? 1 : 0.5 * (low + high);
        const double change = fabs(next - g);
        g = next;
        if (change <= STEP_EXACT * g)
            break;
    }
    return g;
}
