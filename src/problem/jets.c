/* jets.c - see jets.h. */
#include "problem/jets.h"

#include <math.h>

#include "problem/loss_math.h"
#include "structure/lanes.h"

LOSS_INLINE void plain(jets *x, loss_kind kind, int count, double e)
{
    for (int i = 0; i < count; i++) {
        const double z = x->z[i], y = x->y[i], c = x->c[i], slope = loss_slope(kind, z, y, c, e);
        x->value[i] = loss_value(kind, z, y, c, e);
        x->slope[i] = slope;
        x->curve[i] = loss_curvature(kind, z, y, c, e);
        x->conjugate[i] = loss_conjugate(kind, -slope, NAN, y, c, e);
    }
}

/* The logistic loss from a single exponential and a single logarithm, which are our own: the C library chooses by the
 * processor. With u = -yz and t = exp(-|u|) the loss is max(u, 0) + log(1 + t); what 1 + t rounds off is added to its
 * logarithm. */
#define FAR 1000 /* there t is 0, and so is what it is multiplied with */
LOSS_INLINE void logistic(jets *x, int count)
{
    for (int i = 0; i < count; i++) {
        const double y = x->y[i], c = x->c[i], u = -y * x->z[i], size = fabs(u), t = lanes_exp(-size);
        const double all = 1 + t, most = 1 / all, least = t * most; /* sigmoid(|u|), sigmoid(-|u|) */
        const double rise = lanes_log(all) + (t - (all - 1)) * most;
        x->value[i] = c * (positive_part(u) + rise);
        x->slope[i] = -c * y * (u > 0 ? most : least);
        x->curve[i] = c * least * most;
        x->conjugate[i] = -c * (least * (size < FAR ? size : FAR) + rise);
    }
}

LOSS_INLINE void take(jets *x, loss_kind kind, int count, double epsilon)
{
    if (kind == LOSS_LOGISTIC)
        logistic(x, count);
    else
        plain(x, kind, count, epsilon);
}

WIDE_VECTORS
void jets_take(jets *x, loss_kind kind, int count, double epsilon)
{
#define CALL(kind) take(x, kind, count, epsilon)
    KIND_DISPATCH(kind, CALL);
#undef CALL
}
