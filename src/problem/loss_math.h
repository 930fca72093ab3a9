/* loss_math.h - the losses, a line of mathematics each, for the hot loops and for the table in loss.c.
 *
 * y is the label (+1, -1) or the target, c the cost C, e the half-width of the tube, z = x'w, a the dual variable
 * alpha. In classification b = y a, and the margin is y z. `kind` is a constant in hot loops.
 *
 *   loss                          xi(z)                     xi*(-a)                              domain
 *   hinge                         c max(1 - yz, 0)          -b                                   0 <= b <= c
 *   squared hinge                 c max(1 - yz, 0)^2        -b + b^2/4c                          0 <= b
 *   logistic                      c log(1 + exp(-yz))       b log b + (c-b) log(c-b) - c log c   0 <= b <= c
 *   epsilon-insensitive           c max(|z - y| - e, 0)     e|a| - a y                           |a| <= c
 *   squared epsilon-insensitive   c max(|z - y| - e, 0)^2   e|a| - a y + a^2/4c                  all
 *   squared error                 c (z - y)^2               -a y + a^2/4c                        all
 */
#ifndef PROBLEM_LOSS_MATH_H
#define PROBLEM_LOSS_MATH_H

#include <math.h>

#include "problem/loss.h"

#define LOSS_INLINE static inline __attribute__((always_inline))

LOSS_INLINE double positive_part(double x)
{
    return x > 0 ? x : 0;
}

LOSS_INLINE double clip(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

/* S(t, r): towards 0 by r */
LOSS_INLINE double soft_threshold(double t, double r)
{
    return t > r ? t - r : t < -r ? t + r : 0;
}

LOSS_INLINE double sigmoid(double t)
{
    return 1 / (1 + exp(-t));
}

/* log(1 + e^t) */
LOSS_INLINE double softplus(double t)
{
    return t > 0 ? t + log1p(exp(-t)) : log1p(exp(t));
}

/* log(x/y) for positive x and y, also where the quotient would leave the range of a double */
LOSS_INLINE double log_ratio(double x, double y)
{
    double quotient = x / y;
    return quotient > 1e-300 && quotient < 1e300 ? log(quotient) : log(x) - log(y);
}

/* b log(b/c) with 0 log 0 = 0 */
LOSS_INLINE double entropy_term(double b, double c)
{
    return b > 0 ? b * log_ratio(b, c) : 0;
}

/* b log(b/c) + rest log(rest/c) with b + rest = c: the larger of the two through the smaller, which says more */
LOSS_INLINE double binary_entropy(double b, double rest, double c)
{
    double less = b < rest ? b : rest, more = b < rest ? rest : b;
    return entropy_term(less, c) + more * log1p(-less / c);
}

LOSS_INLINE double loss_value(loss_kind kind, double z, double y, double c, double e)
{
    double m = positive_part(1 - y * z), r = z - y, h = positive_part(fabs(r) - e);
    switch (kind) {
    case LOSS_HINGE:
        return c * m;
    case LOSS_SQUARED_HINGE:
        return c * m * m;
    case LOSS_LOGISTIC:
        return c * softplus(-y * z);
    case LOSS_EPSILON_INSENSITIVE:
        return c * h;
    case LOSS_SQUARED_EPSILON_INSENSITIVE:
        return c * h * h;
    case LOSS_SQUARED_ERROR:
        return c * r * r;
    }
    return NAN;
}

/* An element of the subdifferential of xi at z. */
LOSS_INLINE double loss_slope(loss_kind kind, double z, double y, double c, double e)
{
    double m = positive_part(1 - y * z), r = z - y, h = positive_part(fabs(r) - e);
    switch (kind) {
    case LOSS_HINGE:
        return y * z < 1 ? -c * y : 0;
    case LOSS_SQUARED_HINGE:
        return -2 * c * y * m;
    case LOSS_LOGISTIC:
        return -c * y * sigmoid(-y * z);
    case LOSS_EPSILON_INSENSITIVE:
        return r > e ? c : r < -e ? -c : 0;
    case LOSS_SQUARED_EPSILON_INSENSITIVE:
        return r < 0 ? -2 * c * h : 2 * c * h;
    case LOSS_SQUARED_ERROR:
        return 2 * c * r;
    }
    return NAN;
}

/* The (generalised) second derivative of xi; 0 if there is none. */
LOSS_INLINE double loss_curvature(loss_kind kind, double z, double y, double c, double e)
{
    switch (kind) {
    case LOSS_HINGE:
    case LOSS_EPSILON_INSENSITIVE:
        return 0;
    case LOSS_SQUARED_HINGE:
        return y * z < 1 ? 2 * c : 0;
    case LOSS_LOGISTIC:
        return c * sigmoid(z) * sigmoid(-z);
    case LOSS_SQUARED_EPSILON_INSENSITIVE:
        return fabs(z - y) > e ? 2 * c : 0;
    case LOSS_SQUARED_ERROR:
        return 2 * c;
    }
    return NAN;
}

/* xi*(-a) for a in its domain. rest = c - b of the logistic loss, known apart from b to keep its precision. */
LOSS_INLINE double loss_conjugate(loss_kind kind, double a, double rest, double y, double c, double e)
{
    double b = y * a;
    switch (kind) {
    case LOSS_HINGE:
        return -b;
    case LOSS_SQUARED_HINGE:
        return b * (b / (4 * c)) - b;
    case LOSS_LOGISTIC:
        return binary_entropy(b, rest, c);
    case LOSS_EPSILON_INSENSITIVE:
        return e * fabs(a) - b;
    case LOSS_SQUARED_EPSILON_INSENSITIVE:
        return e * fabs(a) - b + a * (a / (4 * c));
    case LOSS_SQUARED_ERROR:
        return a * (a / (4 * c)) - b;
    }
    return NAN;
}

/* The derivative of xi*(-a) by a, right of a (left and right differ at the kink a = 0 alone). */
LOSS_INLINE double loss_conjugate_slope(loss_kind kind, double a, double rest, double y, double c, double e)
{
    double b = y * a, tube = a < 0 ? -e : e;
    switch (kind) {
    case LOSS_HINGE:
        return -y;
    case LOSS_SQUARED_HINGE:
        return y * (b / (2 * c) - 1);
    case LOSS_LOGISTIC:
        return y * log(b / rest);
    case LOSS_EPSILON_INSENSITIVE:
        return tube - y;
    case LOSS_SQUARED_EPSILON_INSENSITIVE:
        return tube - y + a / (2 * c);
    case LOSS_SQUARED_ERROR:
        return a / (2 * c) - y;
    }
    return NAN;
}

/* Its second derivative, 0 for the kink; finite at the ends of the entropy. */
LOSS_INLINE double loss_conjugate_bend(loss_kind kind, double a, double rest, double y, double c)
{
    switch (kind) {
    case LOSS_HINGE:
    case LOSS_EPSILON_INSENSITIVE:
        return 0;
    case LOSS_LOGISTIC:
        return c / fmax(y * a * rest, 1e-290);
    default:
        return 1 / (2 * c);
    }
}

/* c KL(p | sigmoid(s)) with p = b/c and s = -yz. With t = log(b/rest) and d = s - t it is c times the Bregman
 * distance softplus(s) - softplus(t) - p d, in three forms, none of which takes a small difference of large numbers:
 *     small d     a power series
 *     middling    log1p(p (e^d - 1)) - p d
 *     large       p log(p / sigmoid(s)) + q log(q / sigmoid(-s)),   q = 1 - p   */
LOSS_INLINE double logistic_distance(double z, double b, double rest, double y, double c)
{
    double s = -y * z;
    if (b <= 0)
        return c * softplus(s);
    if (rest <= 0)
        return c * softplus(-s);
    double p = b / c, q = rest / c, d = s - log_ratio(b, rest);
    if (fabs(d) < 1e-2) {
        double pq = p * q;
        double series = 0.5 + d * ((q - p) / 6 + d * ((1 - 6 * pq) / 24 + d * (q - p) * (1 - 12 * pq) / 120));
        return c * pq * d * d * series;
    }
    if (fabs(d) < 1) /* the smaller of p and q keeps its digits */
        return c * positive_part(p < q ? log1p(p * expm1(d)) - p * d : log1p(q * expm1(-d)) + q * d);
    double log_p = b < rest ? log_ratio(b, c) : log1p(-q), log_q = b < rest ? log1p(-p) : log_ratio(rest, c);
    return positive_part(b * (log_p + softplus(-s)) + rest * (log_q + softplus(s)));
}

/* xi(z) + xi*(-a) + a z, each form a sum of terms that cannot be negative */
LOSS_INLINE double loss_gap(loss_kind kind, double z, double a, double rest, double y, double c, double e)
{
    double b = y * a, m = 1 - y * z, r = z - y, h = positive_part(fabs(r) - e), t;
    /* |a| (max(|r|, e) + sign(a) r) */
    double tube = fabs(a) * ((fabs(r) > e ? fabs(r) : e) + (a < 0 ? -r : r));
    switch (kind) {
    case LOSS_HINGE:
        return m > 0 ? positive_part(c - b) * m : -b * m;
    case LOSS_SQUARED_HINGE:
        t = 2 * c * positive_part(m) - b;
        return t * (t / (4 * c)) + b * positive_part(-m);
    case LOSS_LOGISTIC:
        return logistic_distance(z, b, rest, y, c);
    case LOSS_EPSILON_INSENSITIVE:
        return positive_part(c - fabs(a)) * h + tube;
    case LOSS_SQUARED_EPSILON_INSENSITIVE:
        t = 2 * c * h - fabs(a);
        return t * (t / (4 * c)) + tube;
    case LOSS_SQUARED_ERROR:
        t = 2 * c * r + a;
        return t * (t / (4 * c));
    }
    return NAN;
}

/* A rough natural logarithm (error below 0.01), where Newton's method starts. */
LOSS_INLINE double rough_log(double x)
{
    int exponent;
    double m = frexp(x, &exponent); /* in [1/2, 1) */
    return 0.6931471805599453 * exponent + ((0.43 * m - 1.62) * m + 2.72) * m - 1.53;
}

/* The zero t of  t + A c sigmoid(t) + g : the left side rises by at least t, and the zero is in [-g - A c, -g].
 * Newton's method within that bracket; the distance to the zero is squared in each step, so one of 1e-8 is the last.
 */
LOSS_INLINE double logistic_root(double t, double A, double c, double g)
{
    double low = -g - A * c, high = -g, last = INFINITY;
    t = clip(t, low, high);
    for (int k = 0; k < 200; k++) {
        double p = sigmoid(t), f = t + A * c * p + g;
        if (f > 0)
            high = t;
        else
            low = t;
        double next = t - f / (1 + A * c * p * (1 - p));
        if (!(next >= low && next <= high) || fabs(f) > 0.5 * last)
            next = 0.5 * (low + high);
        last = fabs(f);
        double moved = fabs(next - t);
        t = next;
        if (moved <= 1e-8 * (1 + fabs(t)))
            break;
    }
    return t;
}

/* argmin over the domain of  slope d + curve d^2/2 + xi*(-(a + d)) , returned as a + d; curve >= 0. */
LOSS_INLINE double loss_step(loss_kind kind, double a, double *rest, double slope, double curve, double y, double c,
                             double e)
{
    double b = y * a, G, H;
    switch (kind) {
    case LOSS_HINGE:
        G = y * slope - 1;
        if (curve > 0)
            return y * clip(b - G / curve, 0, c);
        return G < 0 ? y * c : G > 0 ? 0 : a;
    case LOSS_SQUARED_HINGE:
        G = y * slope - 1 + b / (2 * c), H = curve + 1 / (2 * c);
        return y * positive_part(b - G / H);
    case LOSS_LOGISTIC: {
        double start = b > 0 && *rest > 0 ? rough_log(b / *rest) : -y * slope;
        double t = logistic_root(start, curve, c, y * slope - curve * b);
        *rest = c * sigmoid(-t);
        return y * (c * sigmoid(t));
    }
    case LOSS_EPSILON_INSENSITIVE:
        G = slope - y;
        if (curve > 0)
            return clip(soft_threshold(a - G / curve, e / curve), -c, c);
        return G < -e ? c : G > e ? -c : 0;
    case LOSS_SQUARED_EPSILON_INSENSITIVE:
        G = slope - y + a / (2 * c), H = curve + 1 / (2 * c);
        return soft_threshold(a - G / H, e / H);
    case LOSS_SQUARED_ERROR:
        G = slope - y + a / (2 * c), H = curve + 1 / (2 * c);
        return a - G / H;
    }
    return NAN;
}

/* How far a variable is from moving, given the slope of the smooth part: positive where it sits at a bound or kink
 * and the slope would have to change by more than that; otherwise minus the size of its projected gradient. */
LOSS_INLINE double loss_slack(loss_kind kind, double a, double slope, double y, double c, double e)
{
    double b = y * a, G;
    switch (kind) {
    case LOSS_HINGE:
        G = y * slope - 1;
        return b <= 0 ? G : b >= c ? -G : -fabs(G);
    case LOSS_SQUARED_HINGE:
        G = y * slope - 1 + b / (2 * c);
        return b <= 0 ? G : -fabs(G);
    case LOSS_LOGISTIC:
        return -INFINITY; /* never at a bound */
    case LOSS_EPSILON_INSENSITIVE:
        G = slope - y;
        if (a > 0)
            return a >= c ? -(G + e) : -fabs(G + e);
        if (a < 0)
            return a <= -c ? G - e : -fabs(G - e);
        return e - fabs(G);
    case LOSS_SQUARED_EPSILON_INSENSITIVE:
        G = slope - y + a / (2 * c);
        return a > 0 ? -fabs(G + e) : a < 0 ? -fabs(G - e) : e - fabs(G);
    case LOSS_SQUARED_ERROR:
        return -fabs(slope - y + a / (2 * c));
    }
    return NAN;
}

/* The largest eta for which a + eta d stays in the domain; a itself is in it. */
LOSS_INLINE double loss_limit(loss_kind kind, double a, double d, double y, double c)
{
    double b = y * a, db = y * d;
    switch (kind) {
    case LOSS_HINGE:
    case LOSS_LOGISTIC:
        return db < 0 ? b / -db : db > 0 ? (c - b) / db : INFINITY;
    case LOSS_SQUARED_HINGE:
        return db < 0 ? b / -db : INFINITY;
    case LOSS_EPSILON_INSENSITIVE:
        return d < 0 ? (a + c) / -d : d > 0 ? (c - a) / d : INFINITY;
    default:
        return INFINITY;
    }
}

#endif
