/* simplex.h - a small convex quadratic over the simplex, see simplex.c. */
#ifndef DUAL_SIMPLEX_H
#define DUAL_SIMPLEX_H

#define SIMPLEX_MOST 12

/* Minimises  c'(x - at) + (x - at)'G(x - at) / 2  over  x >= 0, sum x <= 1.  G: [m][m], the lower triangle of it
 * counts; x: a feasible start, then the solution, never worse than the start. Returns the decrease, >= 0. */
double simplex_minimise(int m, const double *G, const double *c, const double *at, double *x);

#endif
