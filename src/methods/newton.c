/* newton.c - Newton's method with the whole Hessian, for few features.
 *
 *     H = (Hessian of g) + X D X',   H d = -grad P(w),   w += t d,   t where P is least along d
 *
 * The lower triangle of X D X' is summed over the blocks, n(n+1)/2 numbers, and each rank solves the system by
 * Cholesky's method. H is positive definite because g is strongly convex. The line search works on kept margins and
 * the slopes along d, which tell a minimum apart where differences of P drown in rounding. Squared hinge and squared
 * epsilon-insensitive loss have a generalised Hessian.
 *
 * With an l1 part in g the model of a round is a quadratic with kinks, whose least point coordinate descent finds on every rank.
 *
 * A loss with kinks (hinge, epsilon-insensitive) is a matter of interior.c, on the same matrix. Left out: the
 * multiclass SVM, whose second derivatives are of no use. */
#include "methods/newton.h"

#include <math.h>
#include <string.h>

#include "base/dense.h"
#include "base/parallel.h"
#include "base/vector.h"
#include "methods/rivals.h"
#include "problem/loss_math.h"
#include "problem/separable.h"
#include "problem/stage.h"

#define SLAB ((uint64_t)1 << 20) /* numbers of the triangle in one message: bounds what each block needs */

bool newton_take_memory(newton *x, bda_error *err)
{
    descent *r = &x->r;
    arena *m = &r->memory;
    const uint64_t n = r->p->n, all = instances_triangle(n);
    x->room = all < SLAB ? all : SLAB;
    if (!(x->matrix = arena_take(m, n, n * sizeof(double), "Hessian", err)) ||
        !(x->total = ARENA_TAKE(m, double, x->room, err)) ||
        !(x->slab = ARENA_TAKE(m, double *, r->local + 1, err)) || !(x->d = ARENA_TAKE(m, double, n, err)) ||
        !(x->bend = descent_new_margins(r, err)) || !(x->q = descent_new_margins(r, err)))
        return false;
    for (uint64_t k = 0; k < r->local; k++)
        if (!(x->slab[k] = ARENA_TAKE(m, double, x->room, err)))
            return false;
    return true;
}

/* The triangle slab by slab, then what g adds to its diagonal. */
static void sum_matrix(newton *x)
{
    descent *r = &x->r;
    const uint64_t n = r->p->n;
    const int threads = r->p->threads;
    uint64_t slabs = 0;
    for (uint64_t first = 0, end; first < n; first = end, slabs++) {
        const uint64_t begin = instances_triangle(first);
        for (end = first + 1; end < n && instances_triangle(end + 1) - begin <= x->room; end++)
            ;
        FOR_BLOCKS (k, r->local, threads)
            r->largest[k] = instances_hessian(&r->part[k], x->bend[k], first, end, x->slab[k]);
        descent_sum_long(r, x->slab, instances_triangle(end) - begin, x->total);
        for (uint64_t j = first; j < end; j++)
            memcpy(x->matrix + j * n, x->total + (instances_triangle(j) - begin), (j + 1) * sizeof(double));
    }
    for (uint64_t j = 0; j < n; j++)
        x->matrix[j * n + j] += r->curve ? r->curve[j] : 1;
    r->extra_vectors += (n + 2) / 2 - slabs;
    r->report.epochs += 1;
}

/* Any number may be added to all free intercepts of several labels: the matrix is singular along these. What is added here
 * leaves their sum where it is, and changes no other direction. */
static void hold_intercepts(newton *x)
{
    const uint64_t n = x->r.p->n, free = x->r.p->penalty.free;
    double mean = 0;
    for (uint64_t j = n - free; j < n; j++)
        mean += x->matrix[j * n + j] / (double)free;
    for (uint64_t j = n - free; free > 1 && j < n; j++)
        for (uint64_t i = n - free; i <= j; i++)
            x->matrix[j * n + i] += mean;
}

bool newton_factor(newton *x)
{
    sum_matrix(x);
    hold_intercepts(x);
    return dense_factor(x->matrix, x->r.p->n);
}

/* ---- a regulariser with kinks -------------------------------------------------------------------------------- */

#define SWEEPS 1000
#define SETTLED 1e-4  /* of the first sweep's gain: where a later one gains less than that, it was the last */
#define FLAT 1e-12    /* of the largest diagonal element: least curvature of a coordinate */
#define HALVINGS 40   /* of a step */
#define DECREASE 0.01 /* of what the model promises that a step must keep */

/* The least of  a t^2/2 + b t + c |w + t|. */
static double least_with_kink(double a, double b, double c, double w)
{
    return soft_threshold(a * w - b, c) / a - w;
}

/* d: about the least of  s'd + d'H d/2 + sum_j l_j |w_j + d_j|,  s the gradient of the smooth part of P, by coordinate
 * descent. x->product keeps s + H d. Every rank does the same. */
static void kinked_direction(newton *x)
{
    descent *r = &x->r;
    const penalty *g = &r->p->penalty;
    const uint64_t n = r->p->n;
    double most = 0, first = 0;
    for (uint64_t j = 0; j < n; j++) {
        x->l1[j] = j < bound_of(g) ? factor_of(g, j) * g->l1_ratio : 0;
        x->product[j] = r->curve[j] * r->w[j] - r->image[j];
        x->d[j] = 0;
        most = fmax(most, x->matrix[j * n + j]);
        for (uint64_t i = 0; i < j; i++)
            x->matrix[i * n + j] = x->matrix[j * n + i];
    }
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double gain = 0;
        for (uint64_t j = 0; j < n; j++) {
            const double *row = x->matrix + j * n, w = r->w[j] + x->d[j], a = fmax(row[j], FLAT * most);
            const double t = least_with_kink(a, x->product[j], x->l1[j], w);
            if (t == 0 || !isfinite(t))
                continue;
            gain -= t * (x->product[j] + 0.5 * a * t) + x->l1[j] * (fabs(w + t) - fabs(w));
            x->d[j] += t;
            vec_add(x->product, t, row, n, 1);
        }
        first = fmax(first, gain);
        if (gain <= SETTLED * SETTLED * first)
            break;
    }
}

/* Armijo's step along d, whose margins are known: against the fall of the linear part and of the kinks. */
static double kinked_step(newton *x)
{
    descent *r = &x->r;
    const double *const direction[] = {x->d};
    double *const *const margins[] = {x->q};
    double promised = 0, t = 1, change;
    for (uint64_t j = 0; j < r->p->n; j++)
        promised +=
            (r->curve[j] * r->w[j] - r->image[j]) * x->d[j] + x->l1[j] * (fabs(r->w[j] + x->d[j]) - fabs(r->w[j]));
    x->idle = -promised <= 1e-15 * fabs(r->primal) ? x->idle + 1 : 0;
    for (int k = 0; promised < 0 && k < HALVINGS; k++, t *= 0.5) {
        descent_along(r, 1, direction, margins, 1, &t, &change, NULL, NULL);
        r->report.line_search_steps++;
        if (change <= DECREASE * t * promised || (t == 1 && x->idle > 0 && change <= 1e-14 * fabs(r->primal)))
            return t;
    }
    return 0;
}

static bool kinked_take_memory(newton *x, bda_error *err)
{
    descent *r = &x->r;
    return (x->l1 = ARENA_TAKE(&r->memory, double, r->p->n, err)) &&
           (x->product = ARENA_TAKE(&r->memory, double, r->p->n, err));
}

/* The proximal Newton method (Lee, Sun and Saunders 2014). */
static void kinked_train(newton *x)
{
    descent *r = &x->r;
    const method_state state = {x, newton_whole, descent_block};
    for (uint64_t t = 0; !descent_look(r, &state, &t); t++) {
        for (uint64_t k = 0; k < r->local; k++)
            instances_curvature(&r->part[k], r->z[k], x->bend[k]);
        sum_matrix(x);
        kinked_direction(x);
        descent_margins(r, x->d, x->q);
        r->report.epochs += 2;
        const double eta = kinked_step(x);
        descent_move(r, eta, x->d, x->q);
        for (uint64_t j = 0; j < r->p->n; j++) /* what is 0 is so exactly */
            if (eta == 1 && fabs(r->w[j]) <= 1e-15 * fabs(x->d[j]))
                r->w[j] = 0;
        r->report.step = eta;
        r->report.stalled = eta == 0 || x->idle >= 3;
    }
}

/* ---- a smooth one -------------------------------------------------------------------------------------------- */

/* d = -H^-1 gradient and its margins. Where H is singular to double precision, the gradient alone. */
static void direction(newton *x)
{
    descent *r = &x->r;
    const uint64_t n = r->p->n;
    for (uint64_t k = 0; k < r->local; k++)
        instances_curvature(&r->part[k], r->z[k], x->bend[k]);
    bool solved = newton_factor(x);
    for (uint64_t j = 0; j < n; j++)
        x->d[j] = -r->gradient[j];
    if (!solved || !dense_solve(x->matrix, n, x->d))
        for (uint64_t j = 0; j < n; j++)
            x->d[j] = -r->gradient[j] / (r->curve && r->curve[j] > 0 ? r->curve[j] : 1);
    descent_margins(r, x->d, x->q);
    r->report.epochs += 2; /* the margins, and the image at the new point */
}

/* 0: there is nothing to gain. */
static double step(newton *x)
{
    descent *r = &x->r;
    const double slope = vec_dot(r->gradient, x->d, r->p->n, r->p->threads);
    uint64_t trials = 0;
    double eta = descent_search(r, x->d, x->q, slope, &trials);
    r->report.line_search_steps += trials;
    x->idle = -slope <= 1e-17 * fabs(r->primal) ? x->idle + 1 : 0;
    return eta;
}

void newton_whole(archive *a, void *run)
{
    newton *x = run;
    ARCHIVE(a, x->idle);
    descent_whole(a, &x->r);
}

static void smooth_train(newton *x)
{
    descent *r = &x->r;
    const method_state state = {x, newton_whole, descent_block};
    for (uint64_t t = 0; !descent_look(r, &state, &t); t++) {
        direction(x); /* d = -H^-1 grad P(w) */
        double eta = step(x);
        descent_move(r, eta, x->d, x->q);
        r->report.step = eta;
        r->report.stalled = eta == 0 || x->idle >= 3;
    }
}

#define GAP_OF_START 1e-3 /* what models that a training begins at are taken to be trained to */
#define CLOSE 0.1 /* a gap, against that of w = 0, at which an interior point method is better off to go on from w */

static bool newton_train(const method *self, problem *p, const method_options *options, watch *watch, bda_error *err)
{
    (void)self;
    (void)options;
    newton x = {0};
    descent *r = &x.r;
    const handover *from = stage_from(watch);
    const double whole = p->start ? p->primal_at_0 : from ? from->first_gap : 1;
    const double gap = from ? from->gap / whole : p->start ? GAP_OF_START : 1;
    const double *w = from ? from->w : p->start;
    watch->facts.step_rule = "slope a tenth of the first";
    if (!descent_open(r, p, watch, err))
        return false;
    const bool kinked = !p->penalty.kind->smooth;
    bool ok = comm_agree(p->comm, newton_take_memory(&x, err) && (!kinked || kinked_take_memory(&x, err)), err);
    if (ok && kinked)
        kinked_train(&x);
    else if (ok && !p->loss->smooth)
        ok = interior_train(&x, gap < CLOSE ? w : NULL, gap, err);
    else if (ok)
        smooth_train(&x);
    descent_close(r);
    return ok;
}

/* 4096 weights: H takes 128 MB on each rank and 7 seconds of a core at 3 GFlop/s to factorise; 64 MB are sent. */
const method newton_method = {
    .name = "newton",
    .summary = "Newton's method with the whole Hessian; for losses with kinks as an interior point method",
    .needs = "at most 4096 weights; with --l1-ratio a differentiable loss, with more than two labels --loss=logistic",
    .smooth_classes = true,
    .rows = true,
    .primal = true,
    .hessian = true,
    .smooth_regulariser = true,
    .kinks_with_slope = true,
    .any_regulariser = true,
    .most_weights = 4096,
    .train = newton_train,
};
