/* dense.h - small dense symmetric systems, solved on one thread, with the same bits on every processor.
 *
 * A matrix is [n][n] row by row; of a symmetric one only the lower triangle is read, the rest may hold anything, and
 * does so afterwards. */
#ifndef BASE_DENSE_H
#define BASE_DENSE_H

#include <stdbool.h>
#include <stdint.h>

#define DENSE_SMALL 64 /* the largest n of dense_solve_singular */

/* Cholesky's factors of a positive definite a, in its place: n^3/3 operations. False where a is not positive definite
 * in double precision: then a is undefined. */
bool dense_factor(double *a, uint64_t n);
/* The same with the narrowest vectors, whatever the processor has: for tests. */
bool dense_factor_narrow(double *a, uint64_t n);

/* Solves a x = b with the factors of a: n^2 operations. x holds b before, the solution after. False where it is not
 * finite. */
bool dense_solve(const double *factors, uint64_t n, double *x);

/* The shortest x that minimises |a x - b| where a is symmetric, n <= DENSE_SMALL, and may be singular: through its
 * eigenvalues, of which those below `cut` times the largest in magnitude count as 0. a is overwritten. x holds b
 * before. Returns how many eigenvalues counted (the rank); -1 and x = 0 where a is not finite. */
int dense_solve_singular(double *a, int n, double *x, double cut);

#endif
