/* checker.h - a second opinion on the mathematics: slow, plain, and sharing no code with the program.
 *
 * Everything is computed from the definitions, in long double, with plain sums over raw rows:
 *
 *   primal   P(w)     = w'w / 2 + sum_i xi_i(x_i'w)
 *   dual     f(alpha) = v'v / 2 + sum_i xi_i*(-alpha_i),  v = X alpha    (minimised; P + f >= 0, 0 at the optimum)
 *   KKT      -alpha_i lies in the subdifferential of xi_i at x_i'w
 *
 * A constant feature is an ordinary column here, and class weights are ordinary costs of single instances. */
#ifndef CHECKER_H
#define CHECKER_H

#include <stdbool.h>
#include <stdint.h>

typedef enum check_loss {
    CHECK_HINGE,
    CHECK_SQUARED_HINGE,
    CHECK_LOGISTIC,
    CHECK_EPSILON_INSENSITIVE,
    CHECK_SQUARED_EPSILON_INSENSITIVE,
    CHECK_SQUARED_ERROR,
    CHECK_LOSSES /* how many; also "no such loss" */
} check_loss;

check_loss check_loss_named(const char *name);

/* One instance: z = x'w, y label or target, c its cost, e the tube, a its dual variable. */
long double check_value(check_loss loss, long double z, double y, double c, double e);
/* The subdifferential of xi at z is the interval [lo, hi]. */
void check_slopes(check_loss loss, long double z, double y, double c, double e, long double *lo, long double *hi);
/* xi*(-a); infinite outside its domain. */
long double check_conjugate(check_loss loss, long double a, double y, double c, double e);
/* The domain of the dual variable, [lo, hi]; ends may be infinite. */
void check_domain(check_loss loss, double y, double c, long double *lo, long double *hi);
/* Distance from -a to the subdifferential at z. */
long double check_residual(check_loss loss, long double z, long double a, double y, double c, double e);

/* sup over z of  -a z - xi(z), by brute force: what check_conjugate claims to be, for a inside the domain. */
long double check_supremum(check_loss loss, long double a, double y, double c, double e);

/* Golden section: the least value of a convex f within [lo, hi], and where. */
long double check_golden(long double (*f)(long double x, const void *self), const void *self, long double lo,
                         long double hi, long double *at);

typedef struct check_problem {
    check_loss loss;
    uint64_t l, n;
    uint64_t *start;  /* [l + 1] row i has the cells start[i] .. start[i+1]-1 */
    uint64_t *column; /* [start[l]] below n */
    double *value;    /* [start[l]] */
    double *y;        /* [l] +1, -1 or the target */
    double *cost;     /* [l] */
    double epsilon;
} check_problem;

/* z = X'w: [l] */
void check_margins(const check_problem *p, const double *w, long double *z);
/* v = X alpha: [n] */
void check_combine(const check_problem *p, const double *alpha, long double *v);

/* All that can be said about a pair of points. */
typedef struct check_verdict {
    long double primal, dual;
    long double gap;      /* primal + dual */
    long double residual; /* largest KKT residual of an instance, over its cost */
    long double drift;    /* largest |w_j - (X alpha)_j| */
    bool feasible;        /* every alpha_i is in its domain */
} check_verdict;

check_verdict check_points(const check_problem *p, const double *w, const double *alpha);
long double check_primal(const check_problem *p, const double *w);

/* Solves the dual by cyclic coordinate descent; a coordinate is bisected on -a in the subdifferential at
 * z + (a - alpha_i) x_i'x_i. Stops once gap <= tolerance * primal; false after `sweeps` without that. Writes alpha
 * [l] and w = X alpha [n], rounded to double. For tiny problems only. */
bool check_solve(const check_problem *p, double tolerance, uint64_t sweeps, double *alpha, double *w);

#endif
