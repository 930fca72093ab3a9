/* checker.c - the definitions of the losses, written down once more, and sums over raw rows. See checker.h.
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

static long double row_dot(const check_problem *p, uint64_t i, const long double *w)
{
    long double z = 0;
    for (uint64_t k = p->start[i]; k < p->start[i + 1]; k++)
        z += p->value[k] * w[p->column[k]];
    return z;
}

static void row_add(const check_problem *p, uint64_t i, long double s, long double *v)
{
    for (uint64_t k = p->start[i]; k < p->start[i + 1]; k++)
        v[p->column[k]] += s * p->value[k];
}

static long double *take(uint64_t count)
{
    long double *x = calloc(count ? count : 1, sizeof *x);
    if (!x)
        abort();
    return x;
}

void check_margins(const check_problem *p, const double *w, long double *z)
{
    long double *wide = take(p->n);
    for (uint64_t j = 0; j < p->n; j++)
        wide[j] = w[j];
    for (uint64_t i = 0; i < p->l; i++)
        z[i] = row_dot(p, i, wide);
    free(wide);
}

void check_combine(const check_problem *p, const double *alpha, long double *v)
{
    for (uint64_t j = 0; j < p->n; j++)
        v[j] = 0;
    for (uint64_t i = 0; i < p->l; i++)
        row_add(p, i, alpha[i], v);
}

check_verdict check_points(const check_problem *p, const double *w, const double *alpha)
{
    check_verdict got = {.feasible = true};
    long double *z = take(p->l), *v = take(p->n);
    check_margins(p, w, z);
    check_combine(p, alpha, v);
    for (uint64_t j = 0; j < p->n; j++) {
        got.primal += (long double)w[j] * w[j] / 2;
        got.dual += v[j] * v[j] / 2;
        got.drift = fmaxl(got.drift, fabsl(w[j] - v[j]));
    }
    for (uint64_t i = 0; i < p->l; i++) {
        long double conjugate = check_conjugate(p->loss, alpha[i], p->y[i], p->cost[i], p->epsilon);
        long double residual = check_residual(p->loss, z[i], alpha[i], p->y[i], p->cost[i], p->epsilon);
        got.primal += check_value(p->loss, z[i], p->y[i], p->cost[i], p->epsilon);
        got.dual += conjugate;
        got.feasible = got.feasible && isfinite(conjugate);
        got.residual = fmaxl(got.residual, residual / p->cost[i]);
    }
    got.gap = got.primal + got.dual;
    free(z);
    free(v);
    return got;
}

long double check_primal(const check_problem *p, const double *w)
{
    long double *z = take(p->l), sum = 0;
    check_margins(p, w, z);
    for (uint64_t j = 0; j < p->n; j++)
        sum += (long double)w[j] * w[j] / 2;
    for (uint64_t i = 0; i < p->l; i++)
        sum += check_value(p->loss, z[i], p->y[i], p->cost[i], p->epsilon);
    free(z);
    return sum;
}

/* The a with -a in the subdifferential at z + (a - old) xx. The residual is monotone in a, so bisection finds it. */
static long double solve_coordinate(const check_problem *p, uint64_t i, long double z, long double old,
                                    long double xx)
{
    long double lo, hi, slope_lo, slope_hi;
    check_domain(p->loss, p->y[i], p->cost[i], &lo, &hi);
    long double reach = 2 * p->cost[i] * (fabsl(z) + fabsl(old) * xx + fabs(p->y[i]) + p->epsilon + 1);
    lo = fmaxl(lo, -reach);
    hi = fminl(hi, reach);
    for (int k = 0; k < 130; k++) {
        long double a = (lo + hi) / 2;
        check_slopes(p->loss, z + (a - old) * xx, p->y[i], p->cost[i], p->epsilon, &slope_lo, &slope_hi);
        if (-a >= slope_lo && -a <= slope_hi)
            return a;
        if (-a < slope_lo)
            hi = a;
        else
            lo = a;
    }
    return (lo + hi) / 2;
}

static long double row_square(const check_problem *p, uint64_t i)
{
    long double xx = 0;
    for (uint64_t k = p->start[i]; k < p->start[i + 1]; k++)
        xx += (long double)p->value[k] * p->value[k];
    return xx;
}

/* A double inside the domain: rounding may step over its end. */
static double round_inside(const check_problem *p, uint64_t i, long double a)
{
    long double lo, hi;
    check_domain(p->loss, p->y[i], p->cost[i], &lo, &hi);
    return (double)fminl(fmaxl((double)a, lo), hi);
}

bool check_solve(const check_problem *p, double tolerance, uint64_t sweeps, double *alpha, double *w)
{
    long double *a = take(p->l), *v = take(p->n);
    bool done = false;
    for (uint64_t sweep = 0; sweep < sweeps && !done; sweep++) {
        for (uint64_t i = 0; i < p->l; i++) {
            long double next = solve_coordinate(p, i, row_dot(p, i, v), a[i], row_square(p, i));
            row_add(p, i, next - a[i], v);
            a[i] = next;
        }
        if (sweep % 10 != 9)
            continue;
        for (uint64_t i = 0; i < p->l; i++)
            alpha[i] = round_inside(p, i, a[i]);
        check_combine(p, alpha, v);
        for (uint64_t i = 0; i < p->l; i++)
            a[i] = alpha[i];
        for (uint64_t j = 0; j < p->n; j++)
            w[j] = (double)v[j];
        check_verdict now = check_points(p, w, alpha);
        done = now.gap <= tolerance * now.primal;
    }
    free(a);
    free(v);
    return done;
}
