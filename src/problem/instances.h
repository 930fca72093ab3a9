/* instances.h - one block of instances as primal methods see it: margins, and what follows from them.
 *
 * An instance has `width` margins: one, x'w, or with more than two classes x'w_m for each class m; a structure has a
 * table of scores (structured.h). Arrays of margins, slopes and weights of curvature are [size], of rows [count][width]
 * for the block's rows. Nothing here talks to other ranks;
 * different blocks may be worked on by different threads.
 *
 * The dual image s_i = -xi_i'(z_i) of a point is dual-feasible whatever w is, and its gap is the regulariser's alone:
 *     P(w) + f(s(w)) = g(w) + g*(X s) - w'X s */
#ifndef PROBLEM_INSTANCES_H
#define PROBLEM_INSTANCES_H

#include "problem/problem.h"

#define INSTANCES_DIRECTIONS 24 /* the most that instances_along takes */

typedef struct instances {
    const struct primal_kind *kind;
    const problem *p;
    uint64_t first;     /* unit of this rank where it begins */
    uint64_t first_row; /* row of the problem where it begins */
    uint32_t count;     /* units */
    uint64_t width, size;
    struct structured_primal *structured; /* of structures, see instances_open */
    double *work; /* [width] what instances_hessian_times needs where width > 1; the owner sets it */
} instances;

typedef struct point_sums {
    double loss, conjugate;
} point_sums;

/* What the functions below do for a kind of units. */
typedef struct primal_kind {
    bool (*open)(instances *b, arena *memory, bda_error *err); /* may be NULL */
    void (*margins)(const instances *b, const double *w, double *z);
    void (*add_image)(const instances *b, const double *s, double *v);
    void (*slopes)(const instances *b, const double *z, double *s);
    point_sums (*point)(const instances *b, const double *z, double *s);
    double (*conjugate)(const instances *b, const double *s);
    double (*gap)(const instances *b, const double *z, const double *s);  /* NULL: not offered; of one margin alone */
    void (*curvature)(const instances *b, const double *z, double *bend); /* NULL where xi is not smooth */
    void (*along)(const instances *b, const double *z, int m, const double *const *q, const double *t, double *value,
                  double *gradient, double *hessian);
    /* NULL where there are no second derivatives to multiply with. They add to `out`, which is 0. */
    void (*hessian_times)(const instances *b, const double *bend, const double *d, double *out);
    void (*diagonal)(const instances *b, const double *bend, double *out);
    void (*hessian)(const instances *b, const double *bend, uint64_t first, uint64_t end, double *out);
} primal_kind;

/* Of units that are rows, whatever the number of margins. */
void rows_margins(const instances *b, const double *w, double *z);
void rows_add_image(const instances *b, const double *s, double *v);
void rows_hessian_times(const instances *b, const double *bend, const double *d, double *out);
void rows_diagonal(const instances *b, const double *bend, double *out);
void rows_hessian(const instances *b, const double *bend, uint64_t first, uint64_t end, double *out);

/* The same where margins of a row have second derivatives apart. */
void apart_hessian_times(const instances *b, const double *bend, const double *d, double *out);
void apart_diagonal(const instances *b, const double *bend, double *out);

extern const primal_kind linear_primal;      /* one margin */
extern const primal_kind one_vs_rest_primal; /* several: each label against the rest, with the losses of one margin */
extern const primal_kind crammer_singer_primal; /* several: multiclass hinge and squared hinge */
extern const primal_kind softmax_primal;        /* several: logistic */
extern const primal_kind structured_primal;     /* structures: logistic */

/* The k-th block of this rank; of rows it is all there is to do. */
instances instances_of(const problem *p, uint64_t k);

/* The same, with what structures need. False and a sentence on failure: memory, or units that are not structures.
 * Local. */
bool instances_open(instances *b, const problem *p, uint64_t k, arena *memory, bda_error *err);

/* Arrays [size] of margins for this rank's blocks, ended by NULL; NULL without memory. */
double **instances_new_margins(arena *memory, const instances *part, uint64_t parts, bda_error *err);

/* z = X'w */
void instances_margins(const instances *b, const double *w, double *z);

/* s = -xi'(z), of a loss with kinks some subgradient: alpha of the dual image, in the order of block_alpha. */
void instances_slopes(const instances *b, const double *z, double *s);

/* The same with sum of xi_i(z_i) and sum of xi_i*(-s_i): what a gradient needs, from one pass over the margins. */
point_sums instances_point(const instances *b, const double *z, double *s);

/* sum of xi_i*(-s_i); s as instances_slopes gives it */
double instances_conjugate(const instances *b, const double *s);

/* sum of xi_i(z_i) + xi_i*(-s_i) + s_i z_i, each term at least 0; s feasible, one margin */
double instances_gap(const instances *b, const double *z, const double *s);

/* v += X s */
void instances_add_image(const instances *b, const double *s, double *v);

/* v = X s; returns max |v_j| */
double instances_image(const instances *b, const double *s, double *v);

/* F(t) = sum of xi_i(z_i + sum_k t_k q_k,i) for m <= INSTANCES_DIRECTIONS directions q, and its derivatives by t:
 * gradient [m], hessian [m][m] in full (generalised where the loss has kinks in its slope). Those that are NULL are
 * not wanted. With m = 0 the value at z. */
void instances_along(const instances *b, const double *z, int m, const double *const *q, const double *t,
                     double *value, double *gradient, double *hessian);

/* The (generalised) second derivatives at z as [size] numbers: xi''(z), or C times the probabilities p of the
 * classes, from which the T x T matrix C (diag(p) - p p') follows, or of structures z itself. The functions below take them. With more than two
 * classes for the logistic loss alone: the others are not smooth. */
void instances_curvature(const instances *b, const double *z, double *bend);

/* out = X D X'd; returns max |out_j| */
double instances_hessian_times(const instances *b, const double *bend, const double *d, double *out);

/* The diagonal of X D X', of structures roughly; returns its largest element. */
double instances_diagonal(const instances *b, const double *bend, double *out);

/* C of a row with these classes, from what instances_curvature says of it. */
static inline double instances_weight(const double *bend, uint64_t classes)
{
    double C = 0;
    for (uint64_t m = 0; m < classes; m++)
        C += bend[m];
    return C;
}

/* Where row j of a lower triangle begins that is held row after row. */
static inline uint64_t instances_triangle(uint64_t j)
{
    return j % 2 ? (j + 1) / 2 * j : j / 2 * (j + 1);
}

/* The rows first .. end-1 of the lower triangle of X D X', one after the other: row j has its j + 1 numbers. Returns
 * the largest magnitude. For small n. */
double instances_hessian(const instances *b, const double *bend, uint64_t first, uint64_t end, double *out);

#endif
