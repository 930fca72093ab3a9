/* regulariser.h - g(w), strongly convex; its conjugate links the dual to the weights: w = grad g*(v).
 *
 * All are separable: g(w) = sum_j g_j(w_j). A regulariser is a file with a few scalar functions (separable.h makes
 * the loops), a row in the table `regularisers`, and a row in the tests.
 *
 * The last `free` weights are in no g: value, conjugate and distance leave them out, slope and bend are 0 there. The
 * functions of the dual side have g_j* = v^2/2 for them, so w_j = v_j: what a dual method keeps there is X alpha plus
 * the centre of a proximal step, see intercept.h. */
#ifndef PROBLEM_REGULARISER_H
#define PROBLEM_REGULARISER_H

#include <stdbool.h>
#include <stdint.h>

typedef struct regulariser regulariser;

/* A regulariser with its parameters, for a w of [columns][outputs], then [shared]. */
typedef struct penalty {
    const regulariser *kind;
    uint64_t n, columns, outputs;
    uint64_t free;        /* so many weights at the end are in no g: intercepts, see below and intercept.h */
    double l1_ratio;      /* R of the elastic net */
    const double *factor; /* [columns] of each feature, NULL for 1; a constant feature and shared weights have 1 */
    int threads;
    double convexity;     /* sigma: g - sigma/2 w'w is convex, so grad g* is 1/sigma-Lipschitz */
    double pull;          /* shifted_norm alone: pull/2 |w - centre|^2 is added */
    const double *centre; /* [n] */
} penalty;

struct regulariser {
    const char *name;
    bool identity; /* grad g* is the identity: w and v are one vector, and g = g* */
    bool smooth;   /* g is differentiable */
    double (*value)(const penalty *p, const double *w);             /* g(w) */
    double (*conjugate)(const penalty *p, const double *v);         /* g*(v) */
    void (*gradient)(const penalty *p, double *w, const double *v); /* w = grad g*(v) */
    /* The diagonal of the (generalised) Hessian of g* at v; `safe`: an upper bound of it for all v. Where it is 0 a
     * tiny positive number stands for it, so that it can be divided by. */
    void (*curvature)(const penalty *p, double *h, const double *v, bool safe);
    /* Along v + eta dv: g*(v + eta dv) - g*(v), and its derivative grad g*(v + eta dv)'dv. */
    double (*ray_change)(const penalty *p, const double *v, const double *dv, double eta);
    double (*ray_slope)(const penalty *p, const double *v, const double *dv, double eta);
    /* For primal methods: out = grad g(w), at a kink an element of the subdifferential; and the diagonal of the
     * Hessian of g, which does not depend on w, kinks left out. */
    void (*slope)(const penalty *p, double *out, const double *w);
    void (*bend)(const penalty *p, double *out);
    /* g(w) + g*(v) - w'v as a sum of terms that are each at least 0: no cancellation near w = grad g*(v). */
    double (*distance)(const penalty *p, const double *w, const double *v);
};

extern const regulariser squared_norm, weighted_norm, elastic_net, shifted_norm;
extern const regulariser *const regularisers[]; /* NULL-terminated */

/* The plainest regulariser that has these parameters: l1_ratio in [0, 1), factors > 0. */
penalty penalty_for(uint64_t columns, uint64_t outputs, uint64_t shared, double l1_ratio, const double *factor,
                    int threads);

/* g(w) + pull/2 |w - centre|^2 with pull > 0; g is one of the table. The centre stays the caller's. */
penalty penalty_shifted(const penalty *g, double pull, const double *centre);

#endif
