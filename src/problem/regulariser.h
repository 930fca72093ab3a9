/* regulariser.h - g(w), strongly convex; its conjugate links the dual to the weights: w = grad g*(v). */
#ifndef PROBLEM_REGULARISER_H
#define PROBLEM_REGULARISER_H

#include <stdbool.h>
#include <stdint.h>

typedef struct regulariser {
    const char *name;
    bool identity;  /* grad g* is the identity: w and v are one vector, the Hessian of g* is I */
    double (*value)(const double *w, uint64_t n, int threads);                 /* g(w) */
    double (*conjugate)(const double *v, uint64_t n, int threads);             /* g*(v) */
    void (*gradient)(double *w, const double *v, uint64_t n, int threads);     /* w = grad g*(v) */
} regulariser;

extern const regulariser squared_norm; /* w'w / 2 */

#endif
