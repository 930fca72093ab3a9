/* checker.h - a second opinion on the mathematics: slow, plain, and sharing no code with the program.
 *
 * Everything is computed from the definitions, in long double, with plain sums over raw rows:
 *
 *   primal   P(w)     = g(w) + sum_i xi_i(x_i'w)
 *   dual     f(alpha) = g*(v) + sum_i xi_i*(-alpha_i),  v = X alpha    (minimised; P + f >= 0, 0 at the optimum)
 *   KKT      w = grad g*(v), and -alpha_i lies in the subdifferential of xi_i at x_i'w
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

/* A multiclass instance: z, a: [classes] scores and dual variables, y its class. Hinge and squared hinge are those of
 * Crammer and Singer, logistic is the softmax. */
long double check_multi_value(check_loss loss, const long double *z, uint64_t classes, uint64_t y, double c);
/* xi*(-a); infinite outside its domain, which asks among other things for a sum of 0. Dual variables that are doubles
 * miss that, and the bounds that follow from it, by CHECK_ROUNDING of their size. */
long double check_multi_conjugate(check_loss loss, const long double *a, uint64_t classes, uint64_t y, double c);
#define CHECK_ROUNDING 1e-12L
/* The domain of one dual variable but for the sum; own: that of class y. */
void check_multi_domain(check_loss loss, bool own, double c, long double *lo, long double *hi);
/* The derivative of xi*(-a) by the variable of one class, up to a constant that is the same for all classes. */
long double check_multi_slope(check_loss loss, long double a, bool own, double c);
/* a = argmin of  slope'(a - from) + sum_m curve_m (a_m - from_m)^2 / 2 + xi*(-a),  all [classes], curve_m >= 0. By
 * bisection of the multiplier of the sum. */
void check_multi_minimise(check_loss loss, uint64_t classes, uint64_t y, double c, const long double *slope,
                          const long double *curve, const long double *from, long double *a);

/* The regulariser of one weight: g_j(w) = f ((1-R)/2 w^2 + R |w|), its conjugate, and the derivative of that. */
long double check_penalty_value(double l1_ratio, double factor, long double w);
long double check_penalty_conjugate(double l1_ratio, double factor, long double v);
long double check_penalty_weight(double l1_ratio, double factor, long double v);
/* sup over w of  v w - g_j(w), by brute force. */
long double check_penalty_supremum(double l1_ratio, double factor, long double v);

typedef struct check_problem {
    check_loss loss;
    uint64_t l, n;
    uint64_t *start;  /* [l + 1] row i has the cells start[i] .. start[i+1]-1 */
    uint64_t *column; /* [start[l]] below n */
    double *value;    /* [start[l]] */
    double *y;        /* [l] +1, -1 or the target; multiclass: 0, 1, ... */
    double *cost;     /* [l] */
    double epsilon;
    uint64_t classes; /* 0: one score an instance; otherwise w, v are [n][classes] and alpha, z are [l][classes] */
    double l1_ratio;  /* R */
    double *factor;   /* [n] of the regulariser; NULL: 1 */
} check_problem;

/* How long w and v are. */
uint64_t check_length(const check_problem *p);
/* z = X'w */
void check_margins(const check_problem *p, const double *w, long double *z);
/* v = X alpha */
void check_combine(const check_problem *p, const double *alpha, long double *v);
/* w = grad g*(X alpha), rounded to double */
void check_weights(const check_problem *p, const double *alpha, double *w);

/* sum_i xi_i, sum_i xi_i*, and sum_i xi_i + xi_i* + alpha_i'z_i */
typedef struct check_value_sums {
    long double loss, conjugate, gap;
} check_value_sums;

check_value_sums check_sums(const check_problem *p, const double *w, const double *alpha);

/* All that can be said about a pair of points. */
typedef struct check_verdict {
    long double primal, dual;
    long double gap;      /* primal + dual */
    long double residual; /* largest KKT residual of an instance, over its cost; multiclass: 0 */
    long double drift;    /* largest |w_j - grad g*(X alpha)_j| */
    bool feasible;        /* every alpha_i is in its domain */
} check_verdict;

check_verdict check_points(const check_problem *p, const double *w, const double *alpha);
long double check_primal(const check_problem *p, const double *w);

/* Solves the dual by cyclic coordinate descent. One score: a coordinate is bisected on -a in the subdifferential at
 * x_i'grad g*(v + (a - alpha_i) x_i). Multiclass: every two classes of an instance trade to the zero of the dual's
 * slope. Stops once gap <= tolerance * primal; false after `sweeps` without that. Writes alpha and w = grad g*(X
 * alpha), rounded to double. For tiny problems only. */
bool check_solve(const check_problem *p, double tolerance, uint64_t sweeps, double *alpha, double *w);

#endif
