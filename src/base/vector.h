/* vector.h - dense vectors of doubles.
 *
 * Sums are taken over chunks of fixed length, and the chunks are added with compensation in order: the result is
 * accurate and has the same bits for any number of threads (a BLAS promises neither). `threads` is how many OpenMP
 * threads may share the work. Pointers of one call do not overlap unless said.
 */
#ifndef BASE_VECTOR_H
#define BASE_VECTOR_H

#include <stdint.h>

double vec_dot(const double *x, const double *y, uint64_t n, int threads);
double vec_largest(const double *x, uint64_t n, int threads);                /* max |x_j|; NaN if any */
void vec_add(double *y, double s, const double *x, uint64_t n, int threads); /* y += s x */
/* x = (x - y) / s, and returns max |x_j| as vec_largest does */
double vec_difference(double *x, const double *y, double s, uint64_t n, int threads);
/* xy = x'y and yy = y'y in one pass; the bits are those of vec_dot */
void vec_dots(const double *x, const double *y, uint64_t n, int threads, double *xy, double *yy);

/* Compensated (Neumaier) summation of scalars in the order given. */
typedef struct sum {
    double total, rest;
} sum;
static inline void sum_add(sum *s, double x)
{
    double t = s->total + x;
    double a = s->total < 0 ? -s->total : s->total, b = x < 0 ? -x : x;
    s->rest += a >= b ? (s->total - t) + x : (x - t) + s->total;
    s->total = t;
}
static inline double sum_value(const sum *s)
{
    return s->total + s->rest;
}

#endif
