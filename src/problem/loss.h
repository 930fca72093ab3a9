/* loss.h - the losses of the paper's Table 1, with their conjugates (part by part in loss.c). */
#ifndef PROBLEM_LOSS_H
#define PROBLEM_LOSS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum loss_kind {
    LOSS_HINGE,
    LOSS_SQUARED_HINGE,
    LOSS_LOGISTIC,
    LOSS_EPSILON_INSENSITIVE,
    LOSS_SQUARED_EPSILON_INSENSITIVE,
    LOSS_SQUARED_ERROR
} loss_kind;

typedef struct loss {
    const char *name; /* as on the command line; NULL ends the table */
    loss_kind kind;
    bool regression;
    bool smooth;         /* differentiable */
    bool quadratic;      /* one quadratic function everywhere */
    bool quadratic_dual; /* xi* is quadratic on its domain: the exact step has a closed form */
    /* y: label (+1, -1) or target; c: cost; e: tube; z = x'w; a: the dual variable alpha */
    double (*value)(double z, double y, double c, double e);     /* xi(z) */
    double (*slope)(double z, double y, double c, double e);     /* an element of the subdifferential of xi at z */
    double (*curvature)(double z, double y, double c, double e); /* (generalised) second derivative; 0 if none */
    double (*conjugate)(double a, double y, double c, double e); /* xi*(-a); infinite outside its domain */
    double (*gap)(double z, double a, double y, double c, double e); /* xi(z) + xi*(-a) + a z >= 0 */
    /* argmin over the domain of  slope d + curve d^2/2 + xi*(-(a+d)),  returned as a + d */
    double (*step)(double a, double slope, double curve, double y, double c, double e);
} loss;

extern const loss losses[];
const loss *loss_find(const char *name);

#endif
