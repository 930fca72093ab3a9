/* regulariser.h - g(w), strongly convex; its conjugate links the dual to the weights: w = grad g*(v).
 *
 * All are separable: g(w) = sum_j g_j(w_j). A regulariser is a file with four scalar functions (separable.h makes the
 * loops), a row in the table `regularisers`, and a row in the tests. */
#ifndef PROBLEM_REGULARISER_H
#define PROBLEM_REGULARISER_H

#include <stdbool.h>
#include <stdint.h>

typedef struct regulariser regulariser;

/* A regulariser with its parameters, for a w of length n = columns times classes. */
typedef struct penalty {
    const regulariser *kind;
    uint64_t n, classes;
    double l1_ratio;      /* R of the elastic net */
    const double *factor; /* [columns] of each feature, NULL for 1; a constant feature has 1 */
    int threads;
    double convexity; /* sigma: g - sigma/2 w'w is convex, so grad g* is 1/sigma-Lipschitz */
} penalty;

struct regulariser {
    const char *name;
    bool identity; /* grad g* is the identity: w and v are one vector, and g = g* */
    double (*value)(const penalty *p, const double *w);             /* g(w) */
    double (*conjugate)(const penalty *p, const double *v);         /* g*(v) */
    void (*gradient)(const penalty *p, double *w, const double *v); /* w = grad g*(v) */
    /* The diagonal of the (generalised) Hessian of g* at v; `safe`: an upper bound of it for all v. Where it is 0 a
     * tiny positive number stands for it, so that it can be divided by. */
    void (*curvature)(const penalty *p, double *h, const double *v, bool safe);
    /* Along v + eta dv: g*(v + eta dv) - g*(v), and its derivative grad g*(v + eta dv)'dv. */
    double (*ray_change)(const penalty *p, const double *v, const double *dv, double eta);
    double (*ray_slope)(const penalty *p, const double *v, const double *dv, double eta);
};

extern const regulariser squared_norm, weighted_norm, elastic_net;
extern const regulariser *const regularisers[]; /* NULL-terminated */

/* The plainest regulariser that has these parameters: l1_ratio in [0, 1), factors > 0. */
penalty penalty_for(uint64_t columns, uint64_t classes, double l1_ratio, const double *factor, int threads);

#endif
