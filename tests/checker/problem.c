/* problem.c - sums over raw rows: points of a whole problem judged, and tiny problems solved. See checker.h. */
#include <math.h>
#include <stdlib.h>

#include "checker.h"

static uint64_t width(const check_problem *p)
{
    return p->classes ? p->classes : 1;
}

uint64_t check_length(const check_problem *p)
{
    return p->n * width(p);
}

static double factor(const check_problem *p, uint64_t column)
{
    return p->factor ? p->factor[column] : 1;
}

static long double weight(const check_problem *p, uint64_t column, long double v)
{
    return check_penalty_weight(p->l1_ratio, factor(p, column), v);
}

static long double *take(uint64_t count)
{
    long double *x = calloc(count ? count : 1, sizeof *x);
    if (!x)
        abort();
    return x;
}

/* x_i'grad g*(v + d x_i) for the scores of class m */
static long double score_at(const check_problem *p, uint64_t i, uint64_t m, const long double *v, long double d)
{
    long double z = 0;
    for (uint64_t k = p->start[i]; k < p->start[i + 1]; k++) {
        uint64_t j = p->column[k];
        z += p->value[k] * weight(p, j, v[j * width(p) + m] + d * p->value[k]);
    }
    return z;
}

static void row_add(const check_problem *p, uint64_t i, uint64_t m, long double s, long double *v)
{
    for (uint64_t k = p->start[i]; k < p->start[i + 1]; k++)
        v[p->column[k] * width(p) + m] += s * p->value[k];
}

void check_margins(const check_problem *p, const double *w, long double *z)
{
    const uint64_t T = width(p);
    for (uint64_t i = 0; i < p->l; i++)
        for (uint64_t m = 0; m < T; m++) {
            z[i * T + m] = 0;
            for (uint64_t k = p->start[i]; k < p->start[i + 1]; k++)
                z[i * T + m] += (long double)p->value[k] * w[p->column[k] * T + m];
        }
}

void check_combine(const check_problem *p, const double *alpha, long double *v)
{
    for (uint64_t j = 0; j < check_length(p); j++)
        v[j] = 0;
    for (uint64_t i = 0; i < p->l; i++)
        for (uint64_t m = 0; m < width(p); m++)
            row_add(p, i, m, alpha[i * width(p) + m], v);
}

void check_weights(const check_problem *p, const double *alpha, double *w)
{
    long double *v = take(check_length(p));
    check_combine(p, alpha, v);
    for (uint64_t j = 0; j < check_length(p); j++)
        w[j] = (double)weight(p, j / width(p), v[j]);
    free(v);
}

static long double instance_value(const check_problem *p, uint64_t i, const long double *z)
{
    if (p->classes)
        return check_multi_value(p->loss, z + i * p->classes, p->classes, (uint64_t)p->y[i], p->cost[i]);
    return check_value(p->loss, z[i], p->y[i], p->cost[i], p->epsilon);
}

static long double instance_conjugate(const check_problem *p, uint64_t i, const double *alpha)
{
    if (!p->classes)
        return check_conjugate(p->loss, alpha[i], p->y[i], p->cost[i], p->epsilon);
    long double *a = take(p->classes);
    for (uint64_t m = 0; m < p->classes; m++)
        a[m] = alpha[i * p->classes + m];
    long double conjugate = check_multi_conjugate(p->loss, a, p->classes, (uint64_t)p->y[i], p->cost[i]);
    free(a);
    return conjugate;
}

check_value_sums check_sums(const check_problem *p, const double *w, const double *alpha)
{
    const uint64_t T = width(p);
    check_value_sums sums = {0, 0, 0};
    long double *z = take(p->l * T);
    check_margins(p, w, z);
    for (uint64_t i = 0; i < p->l; i++) {
        long double value = instance_value(p, i, z), conjugate = instance_conjugate(p, i, alpha);
        sums.loss += value;
        sums.conjugate += conjugate;
        sums.gap += value + conjugate;
        for (uint64_t m = 0; m < T; m++)
            sums.gap += alpha[i * T + m] * z[i * T + m];
    }
    free(z);
    return sums;
}

check_verdict check_points(const check_problem *p, const double *w, const double *alpha)
{
    const uint64_t T = width(p);
    check_value_sums sums = check_sums(p, w, alpha);
    check_verdict got = {.primal = sums.loss, .dual = sums.conjugate, .feasible = isfinite(sums.conjugate)};
    long double *z = take(p->l * T), *v = take(check_length(p));
    check_margins(p, w, z);
    check_combine(p, alpha, v);
    for (uint64_t j = 0; j < check_length(p); j++) {
        got.primal += check_penalty_value(p->l1_ratio, factor(p, j / T), w[j]);
        got.dual += check_penalty_conjugate(p->l1_ratio, factor(p, j / T), v[j]);
        got.drift = fmaxl(got.drift, fabsl(w[j] - weight(p, j / T, v[j])));
    }
    for (uint64_t i = 0; i < p->l && !p->classes; i++) {
        long double residual = check_residual(p->loss, z[i], alpha[i], p->y[i], p->cost[i], p->epsilon);
        got.residual = fmaxl(got.residual, residual / p->cost[i]);
    }
    got.gap = got.primal + got.dual;
    free(z);
    free(v);
    return got;
}

long double check_primal(const check_problem *p, const double *w)
{
    long double *z = take(p->l * width(p)), sum = 0;
    check_margins(p, w, z);
    for (uint64_t j = 0; j < check_length(p); j++)
        sum += check_penalty_value(p->l1_ratio, factor(p, j / width(p)), w[j]);
    for (uint64_t i = 0; i < p->l; i++)
        sum += instance_value(p, i, z);
    free(z);
    return sum;
}

/* ---- the solver ---------------------------------------------------------------------------------------------- */

/* x_i'H x_i, where g* has the same Hessian H everywhere */
static long double row_square(const check_problem *p, uint64_t i)
{
    long double xx = 0;
    for (uint64_t k = p->start[i]; k < p->start[i + 1]; k++)
        xx += (long double)p->value[k] * p->value[k] / factor(p, p->column[k]);
    return xx;
}

/* The a with -a in the subdifferential at x_i'grad g*(v + (a - old) x_i). Bisection: that score rises with a. */
static long double solve_coordinate(const check_problem *p, uint64_t i, const long double *v, long double old)
{
    long double lo, hi, slope_lo, slope_hi, xx = row_square(p, i), z = score_at(p, i, 0, v, 0);
    check_domain(p->loss, p->y[i], p->cost[i], &lo, &hi);
    long double most = fabsl(z) + fabsl(old) * xx / (1 - (long double)p->l1_ratio); /* of the score at a = 0 */
    long double reach = 2 * p->cost[i] * (most + fabs(p->y[i]) + p->epsilon + 1);
    lo = fmaxl(lo, -reach);
    hi = fminl(hi, reach);
    for (int k = 0; k < 130; k++) {
        long double a = (lo + hi) / 2;
        long double at = p->l1_ratio > 0 ? score_at(p, i, 0, v, a - old) : z + (a - old) * xx;
        check_slopes(p->loss, at, p->y[i], p->cost[i], p->epsilon, &slope_lo, &slope_hi);
        if (-a >= slope_lo && -a <= slope_hi)
            return a;
        if (-a < slope_lo)
            hi = a;
        else
            lo = a;
    }
    return (lo + hi) / 2;
}

/* Two classes of one instance: a[up] + d and a[down] - d. */
typedef struct pair {
    const check_problem *p;
    const long double *v, *a;
    uint64_t i, up, down;
    long double apart, square; /* z_up - z_down at d = 0, and x_i'H x_i */
} pair;

/* The derivative of the dual by d; it rises. */
static long double pair_slope(const pair *s, long double d)
{
    const check_problem *p = s->p;
    uint64_t y = (uint64_t)p->y[s->i];
    long double apart = s->apart + 2 * d * s->square;
    if (p->l1_ratio > 0)
        apart = score_at(p, s->i, s->up, s->v, d) - score_at(p, s->i, s->down, s->v, -d);
    return apart + check_multi_slope(p->loss, s->a[s->up] + d, s->up == y, p->cost[s->i]) -
           check_multi_slope(p->loss, s->a[s->down] - d, s->down == y, p->cost[s->i]);
}

/* The zero of pair_slope between lo < 0 and hi > 0: false position (Illinois), and a bisection every third time. */
static long double pair_root(const pair *s, long double lo, long double hi)
{
    long double at_lo = pair_slope(s, lo), at_hi = pair_slope(s, hi), narrow = 1e-19L * (hi - lo);
    if (!(at_lo < 0 && at_hi > 0))
        return at_lo >= 0 ? lo : hi;
    for (int k = 1, side = 0; k < 200 && hi - lo > narrow; k++) {
        long double d = lo + (hi - lo) * (at_lo / (at_lo - at_hi));
        if (k % 3 == 0 || !(d > lo && d < hi))
            d = (lo + hi) / 2;
        long double at = pair_slope(s, d);
        if (at == 0 || d == lo || d == hi)
            return d;
        if (at < 0) {
            lo = d;
            at_lo = at;
            at_hi /= side < 0 ? 2 : 1;
            side = -1;
        } else {
            hi = d;
            at_hi = at;
            at_lo /= side > 0 ? 2 : 1;
            side = 1;
        }
    }
    return (lo + hi) / 2;
}

static long double solve_pair(const pair *s)
{
    const check_problem *p = s->p;
    uint64_t y = (uint64_t)p->y[s->i];
    long double up_lo, up_hi, down_lo, down_hi;
    check_multi_domain(p->loss, s->up == y, p->cost[s->i], &up_lo, &up_hi);
    check_multi_domain(p->loss, s->down == y, p->cost[s->i], &down_lo, &down_hi);
    long double lo = fmaxl(up_lo - s->a[s->up], s->a[s->down] - down_hi);
    long double hi = fminl(up_hi - s->a[s->up], s->a[s->down] - down_lo), at = pair_slope(s, 0), far = 1;
    if (at == 0)
        return 0;
    while (at > 0 && isinf(lo) && pair_slope(s, -far) > 0)
        far *= 2;
    while (at < 0 && isinf(hi) && pair_slope(s, far) < 0)
        far *= 2;
    return at > 0 ? pair_root(s, fmaxl(lo, -far), 0) : pair_root(s, 0, isinf(hi) ? far : hi);
}

/* Every pair of classes of the instance in turn: no direction of descent is left when none of them is one. */
static void solve_pairs(const check_problem *p, uint64_t i, long double *a, long double *v)
{
    const long double square = row_square(p, i);
    for (uint64_t up = 0; up < p->classes; up++)
        for (uint64_t down = 0; down < up; down++) {
            pair s = {p, v, a, i, up, down, 0, square};
            s.apart = score_at(p, i, up, v, 0) - score_at(p, i, down, v, 0);
            long double d = solve_pair(&s);
            row_add(p, i, up, d, v);
            row_add(p, i, down, -d, v);
            a[up] += d;
            a[down] -= d;
        }
}

/* Doubles inside the domain: rounding may step over its end. */
static void round_inside(const check_problem *p, uint64_t i, const long double *a, double *alpha)
{
    long double lo, hi, others = 0;
    for (uint64_t m = 0; m < p->classes; m++) {
        if (m == (uint64_t)p->y[i])
            continue;
        alpha[m] = (double)fminl(a[m], 0);
        others += alpha[m];
    }
    if (p->classes) {
        check_multi_domain(p->loss, true, p->cost[i], &lo, &hi);
        alpha[(uint64_t)p->y[i]] = (double)fminl((double)-others, hi);
    } else {
        check_domain(p->loss, p->y[i], p->cost[i], &lo, &hi);
        alpha[0] = (double)fminl(fmaxl((double)a[0], lo), hi);
    }
}

bool check_solve(const check_problem *p, double tolerance, uint64_t sweeps, double *alpha, double *w)
{
    const uint64_t T = width(p);
    long double *a = take(p->l * T), *v = take(check_length(p));
    bool done = false;
    for (uint64_t sweep = 0; sweep < sweeps && !done; sweep++) {
        for (uint64_t i = 0; i < p->l; i++) {
            if (p->classes) {
                solve_pairs(p, i, a + i * T, v);
                continue;
            }
            long double next = solve_coordinate(p, i, v, a[i]);
            row_add(p, i, 0, next - a[i], v);
            a[i] = next;
        }
        if (sweep % 10 != 9)
            continue;
        for (uint64_t i = 0; i < p->l; i++)
            round_inside(p, i, a + i * T, alpha + i * T);
        check_combine(p, alpha, v);
        for (uint64_t i = 0; i < p->l * T; i++)
            a[i] = alpha[i];
        check_weights(p, alpha, w);
        check_verdict now = check_points(p, w, alpha);
        done = now.gap <= tolerance * now.primal;
    }
    free(a);
    free(v);
    return done;
}
