/* loss.c - the table of losses. The mathematics is in loss_math.h; here each loss gets functions of its own, so that
 * a test or a method can hold one without knowing which. */
#include "problem/loss_math.h"

#include <string.h>

#include "problem/loss.h"

static bool in_domain(loss_kind kind, double a, double y, double c)
{
    double b = y * a;
    switch (kind) {
    case LOSS_HINGE:
    case LOSS_LOGISTIC:
        return b >= 0 && b <= c;
    case LOSS_SQUARED_HINGE:
        return b >= 0;
    case LOSS_EPSILON_INSENSITIVE:
        return fabs(a) <= c;
    default:
        return true;
    }
}

#define LOSS_FUNCTIONS(name, kind)                                                                                   \
    static double name##_value(double z, double y, double c, double e)                                               \
    {                                                                                                                \
        return loss_value(kind, z, y, c, e);                                                                         \
    }                                                                                                                \
    static double name##_slope(double z, double y, double c, double e)                                               \
    {                                                                                                                \
        return loss_slope(kind, z, y, c, e);                                                                         \
    }                                                                                                                \
    static double name##_curvature(double z, double y, double c, double e)                                           \
    {                                                                                                                \
        return loss_curvature(kind, z, y, c, e);                                                                     \
    }                                                                                                                \
    static double name##_conjugate(double a, double y, double c, double e)                                           \
    {                                                                                                                \
        return in_domain(kind, a, y, c) ? loss_conjugate(kind, a, c - y * a, y, c, e) : INFINITY;                    \
    }                                                                                                                \
    static double name##_gap(double z, double a, double y, double c, double e)                                       \
    {                                                                                                                \
        return in_domain(kind, a, y, c) ? loss_gap(kind, z, a, c - y * a, y, c, e) : INFINITY;                       \
    }                                                                                                                \
    static double name##_step(double a, double s, double curve, double y, double c, double e)                        \
    {                                                                                                                \
        double rest = c - y * a;                                                                                     \
        return loss_step(kind, a, &rest, s, curve, y, c, e);                                                         \
    }

LOSS_FUNCTIONS(hinge, LOSS_HINGE)
LOSS_FUNCTIONS(squared_hinge, LOSS_SQUARED_HINGE)
LOSS_FUNCTIONS(logistic, LOSS_LOGISTIC)
LOSS_FUNCTIONS(epsilon_insensitive, LOSS_EPSILON_INSENSITIVE)
LOSS_FUNCTIONS(squared_epsilon_insensitive, LOSS_SQUARED_EPSILON_INSENSITIVE)
LOSS_FUNCTIONS(squared_error, LOSS_SQUARED_ERROR)

#define LOSS_ROW(text, f, k, r, s, q)                                                                                \
    {                                                                                                                \
        .name = text, .kind = k, .regression = r, .smooth = s, .quadratic = (k) == LOSS_SQUARED_ERROR,               \
        .quadratic_dual = q, .value = f##_value, .slope = f##_slope, .curvature = f##_curvature,                     \
        .conjugate = f##_conjugate, .gap = f##_gap, .step = f##_step                                                 \
    }

/* name, functions, kind, regression, smooth, quadratic dual */
const loss losses[] = {
    LOSS_ROW("hinge", hinge, LOSS_HINGE, false, false, true),
    LOSS_ROW("squared-hinge", squared_hinge, LOSS_SQUARED_HINGE, false, true, true),
    LOSS_ROW("logistic", logistic, LOSS_LOGISTIC, false, true, false),
    LOSS_ROW("epsilon-insensitive", epsilon_insensitive, LOSS_EPSILON_INSENSITIVE, true, false, false),
    LOSS_ROW("squared-epsilon-insensitive", squared_epsilon_insensitive, LOSS_SQUARED_EPSILON_INSENSITIVE, true, true,
             false),
    LOSS_ROW("squared-error", squared_error, LOSS_SQUARED_ERROR, true, true, true),
    {.name = NULL},
};

const loss *loss_find(const char *name)
{
    for (const loss *l = losses; l->name; l++)
        if (strcmp(l->name, name) == 0)
            return l;
    return NULL;
}
