/* points.h - feasible points of a block that are kept beside alpha, and what a search over their convex hull needs.
 *
 * Points are numbered from 0; POINT_ALPHA stands for alpha itself. Along
 *     alpha(theta) = alpha + sum_a theta_a (point_a - alpha),   theta >= 0, sum theta <= 1
 * every point is feasible, since the domain of xi* is convex. The images X point are the outer loop's business. */
#ifndef PROBLEM_POINTS_H
#define PROBLEM_POINTS_H

#include "problem/block.h"

#define POINTS_MOST 10
#define POINT_ALPHA (-1)
#define POINT_KEPT_OF_ENDS 0.3 /* block_advance keeps away from the ends of an entropy: slopes are infinite there */

typedef struct point_kind {
    bool (*open)(block *b, arena *memory, int points, bda_error *err);
    bool (*keep)(block *b, int point, double eta);
    bool (*keep_image)(block *b, int point, const double *s);
    void (*products)(const block *b, int point, int count, const int *others, double *product, double *linear);
    void (*combine)(const block *b, int count, const int *points, const double *theta, double reach, double *change,
                    double *gradient, double *hessian);
    bool (*blend)(block *b, int count, const int *points, const double *theta);
    void (*advance)(block *b, int point, double beta, double *beyond, double *moved);
    double (*gap)(const block *b, const double *z);
} point_kind;

/* Room for so many points, all at alpha = 0. Local. */
bool block_points(block *b, arena *memory, int points, bda_error *err);

/* The point becomes alpha + eta (z - alpha), z what block_solve found and eta at most the limit; z is forgotten,
 * alpha stays. False: no memory. */
bool block_keep(block *b, int point, double eta);

/* The point becomes s, as instances_slopes gives it. False: no memory. */
bool block_keep_image(block *b, int point, const double *s);

/* Where xi* is quadratic on its domain, sum_i xi*(-a_i) = linear(a) + |a|^2_D / 2: the scalar products in the norm D
 * of a point with `count` others, and its linear part. */
void block_products(const block *b, int point, int count, const int *others, double *product, double *linear);

/* The change of sum_i xi*(-a_i) from alpha to alpha(theta), its gradient [count] by theta there, and its
 * (generalised) Hessian [count][count], the lower triangle of it; NULL: not wanted. The entropy's curvature 1/b grows
 * without bound near b = 0, so that Newton's steps from there are short: it is taken at b + reach times the distance
 * to the points. 0: as it is. */
void block_combine(const block *b, int count, const int *points, const double *theta, double reach, double *change,
                   double *gradient, double *hessian);

/* alpha becomes alpha(theta). False: no memory. */
bool block_blend(block *b, int count, const int *points, const double *theta);

/* The next block_solve starts from z = y = alpha + beta (alpha - point), moved into the domain where it is outside.
 * beyond = z - y, moved = z - alpha: [count][width] as block_alpha has it. */
void block_advance(block *b, int point, double beta, double *beyond, double *moved);

/* sum of xi_i(z_i) + xi_i*(-alpha_i) + alpha_i z_i for margins z of any w: with g(w) + g*(v) - w'v the duality gap */
double block_gap(const block *b, const double *z);

#endif
