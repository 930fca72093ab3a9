/* checker.c - the definitions of the losses of one score, written down once more. See checker.h.
 *
 * With m = y z for labels y = +1, -1, b = y a, and r = z - y for targets:
 *
 *   hinge                        C max(1-m, 0)          xi*(-a) = -b                     0 <= b <= C
 *   squared hinge                C max(1-m, 0)^2        -b + b^2/(4C)                    0 <= b
 *   logistic                     C log(1 + exp(-m))     b log(b/C) + (C-b) log((C-b)/C)  0 <= b <= C
 *   epsilon-insensitive          C max(|r|-e, 0)        e|a| - a y                       |a| <= C
 *   squared epsilon-insensitive  C max(|r|-e, 0)^2      e|a| - a y + a^2/(4C)            any
 *   squared error                the same with e = 0
 *
 * Left out on purpose: speed, and any care that long double makes unnecessary. */
#include "checker.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

check_loss check_loss_named(const char *name)
{
    static const char *const names[CHECK_LOSSES] = {
        "hinge", "squared-hinge", "logistic", "epsilon-insensitive", "squared-epsilon-insensitive", "squared-error",
    };
    int k = 0;
    while (k < CHECK_LOSSES && strcmp(names[k], name) != 0)
        k++;
    return (check_loss)k;
}

static bool is_regression(check_loss loss)
{
    return loss >= CHECK_EPSILON_INSENSITIVE;
}

/* How far z is on the wrong side: 1 - m, or |r| - e; the losses of the hinge family depend on its positive part. */
static long double shortfall(check_loss loss, long double z, double y, double e)
{
    if (!is_regression(loss))
        return 1 - y * z;
    return fabsl(z - y) - (loss == CHECK_SQUARED_ERROR ? 0 : e);
}

long double check_value(check_loss loss, long double z, double y, double c, double e)
{
    if (loss == CHECK_LOGISTIC) {
        long double m = y * z;
        return c * (m > 0 ? log1pl(expl(-m)) : -m + log1pl(expl(m)));
    }
    long double h = fmaxl(shortfall(loss, z, y, e), 0);
    return loss == CHECK_HINGE || loss == CHECK_EPSILON_INSENSITIVE ? c * h : c * h * h;
}

void check_slopes(check_loss loss, long double z, double y, double c, double e, long double *lo, long double *hi)
{
    if (loss == CHECK_LOGISTIC) {
        long double m = y * z;
        *lo = *hi = -y * c * (m > 0 ? expl(-m) / (1 + expl(-m)) : 1 / (1 + expl(m)));
        return;
    }
    long double h = shortfall(loss, z, y, e);
    long double side = is_regression(loss) ? (z > y) - (z < y) : -y; /* the direction in which the loss grows */
    if (loss != CHECK_HINGE && loss != CHECK_EPSILON_INSENSITIVE) {
        *lo = *hi = 2 * c * fmaxl(h, 0) * side;
        return;
    }
    *lo = *hi = h > 0 ? c * side : 0;
    if (h == 0) {
        *lo = side == 0 ? -c : fminl(c * side, 0); /* side is 0 at z = y with e = 0, where both kinks meet */
        *hi = side == 0 ? c : fmaxl(c * side, 0);
    }
}

void check_domain(check_loss loss, double y, double c, long double *lo, long double *hi)
{
    long double most = loss == CHECK_SQUARED_HINGE ? (long double)INFINITY : c;
    if (is_regression(loss)) {
        *hi = loss == CHECK_EPSILON_INSENSITIVE ? c : (long double)INFINITY;
        *lo = -*hi;
    } else {
        *lo = y > 0 ? 0 : -most;
        *hi = y > 0 ? most : 0;
    }
}

/* x log(x/c) where x + rest = c; from the smaller of the two, whose digits are all there. */
static long double entropy(long double x, long double rest, long double c)
{
    return x == 0 ? 0 : x * (x < rest ? logl(x / c) : log1pl(-rest / c));
}

long double check_conjugate(check_loss loss, long double a, double y, double c, double e)
{
    long double lo, hi;
    check_domain(loss, y, c, &lo, &hi);
    if (!(a >= lo && a <= hi))
        return INFINITY;
    long double b = y * a, tube = loss == CHECK_SQUARED_ERROR ? 0 : e;
    switch (loss) {
    case CHECK_HINGE:
        return -b;
    case CHECK_SQUARED_HINGE:
        return -b + b * b / (4 * (long double)c);
    case CHECK_LOGISTIC:
        return entropy(b, c - b, c) + entropy(c - b, b, c);
    case CHECK_EPSILON_INSENSITIVE:
        return tube * fabsl(a) - a * y;
    default:
        return tube * fabsl(a) - a * y + a * a / (4 * (long double)c);
    }
}

long double check_residual(check_loss loss, long double z, long double a, double y, double c, double e)
{
    long double lo, hi;
    check_slopes(loss, z, y, c, e, &lo, &hi);
    return fmaxl(fmaxl(lo + a, -a - hi), 0);
}

long double check_golden(long double (*f)(long double x, const void *self), const void *self, long double lo,
                         long double hi, long double *at)
{
    const long double ratio = (sqrtl(5) - 1) / 2;
    long double x1 = hi - ratio * (hi - lo), x2 = lo + ratio * (hi - lo);
    long double f1 = f(x1, self), f2 = f(x2, self), f_lo = f(lo, self), f_hi = f(hi, self);
    long double best = fminl(f_lo, f_hi);
    *at = f_lo <= f_hi ? lo : hi;
    for (int k = 0; k < 220; k++) {
        if (fminl(f1, f2) < best) {
            best = fminl(f1, f2);
            *at = f1 < f2 ? x1 : x2;
        }
        if (f1 <= f2) {
            hi = x2;
            x2 = x1;
            f2 = f1;
            x1 = hi - ratio * (hi - lo);
            f1 = f(x1, self);
        } else {
            lo = x1;
            x1 = x2;
            f1 = f2;
            x2 = lo + ratio * (hi - lo);
            f2 = f(x2, self);
        }
    }
    return best;
}

typedef struct supremum_case {
    check_loss loss;
    long double a;
    double y, c, e;
} supremum_case;

static long double minus_inside(long double z, const void *self)
{
    const supremum_case *s = self;
    return s->a * z + check_value(s->loss, z, s->y, s->c, s->e);
}

long double check_supremum(check_loss loss, long double a, double y, double c, double e)
{
    supremum_case s = {loss, a, y, c, e};
    long double at, reach = fabs(y) + e + 2 + fabsl(a) / c; /* slopes of the squared losses reach |a| before this */
    if (loss == CHECK_LOGISTIC)
        reach = 80; /* log(C/b) for b down to 1e-34 C; the rest of the supremum is below 80 b */
    return -check_golden(minus_inside, &s, -reach, reach, &at);
}
