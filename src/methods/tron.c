/* tron.c - TRON, the trust region Newton method with conjugate gradients, for smooth losses.
 *
 *     min over s of  m(s) = gradient's + s'Hs/2   with  |s|_M <= radius,   H = (Hessian of g) + X D X'
 *
 * by conjugate gradients that never form H: a product with H is two passes over the rows and one message of n
 * numbers. M = (1 - a) I + a diag(H) with a = 0.01 is the preconditioner and the region's norm; its diagonal is one
 * more message a round.
 *
 * A step of which the model promised too much is not thrown away with the products that it cost: P along s is known
 * from kept margins, and w moves to its minimum there. The region grows where it is in the way of good steps, and
 * shrinks where the line search has to go back most of the way. The classical rule, which shrinks the region whenever
 * the model is off by half, is as good on easy data; it made hardly any progress on a squared hinge with C = 1 on
 * nearly separable text, whose generalised Hessian changes from step to step, and that case decided.
 *
 *     Lin and More, Newton's method for large bound-constrained optimization problems, SIAM J. Optim. 9, 1999
 *     Lin, Weng and Keerthi, Trust region Newton method for logistic regression, JMLR 9, 2008
 *     Hsia, Chiang and Lin, Preconditioned conjugate gradient methods in truncated Newton frameworks for large-scale
 *     linear classification, ACML 2018
 *     Nocedal and Yuan, Combining trust region and line search techniques, 1998
 *     Nash and Sofer, Assessing a search direction within a truncated-Newton method, OR Letters 9, 1990: the
 *     conjugate gradients stop when a step improves m by less than a tenth of what its steps did on average. */
#include "methods/tron.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/vector.h"
#include "methods/descent.h"
#include "methods/rivals.h"

#define DIAGONAL_PART 0.01 /* a */
#define MODEL_GAIN 0.1     /* of the average: below, conjugate gradients stop */
#define MOST_PRODUCTS 1000 /* with H in one round */
#define MOST_TRIALS 5      /* regions in one round */

typedef struct tron {
    descent r;
    double *M, *s, *rest, *towards, *Hd, *scaled; /* [n] */
    double **bend, **q;
    double radius; /* 0: not known yet */
    double Mg;     /* |gradient| in the norm dual to M's, where the region starts */
    double lowest; /* |gradient| so far */
    bool unseen;   /* the last step is too small to be seen in P */
    int idle;      /* such steps in a row that did not lower |gradient| either */
    tron_observer *observer;
} tron;

double tron_radius(const tron_trial *s)
{
    const double good = 0.1, bad = 1e-3, grow = 4, shrink = 0.1;
    if (s->boundary && s->taken >= good)
        return grow * s->radius;
    return s->taken < bad ? shrink * s->length : s->radius;
}

static bool take_memory(tron *x, bda_error *err)
{
    descent *r = &x->r;
    const uint64_t n = r->p->n;
    double **vectors[] = {&x->M, &x->s, &x->rest, &x->towards, &x->Hd, &x->scaled};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
        if (!(*vectors[k] = ARENA_TAKE(&r->memory, double, n, err)))
            return false;
    return (x->bend = descent_new_margins(r, err)) && (x->q = descent_new_margins(r, err));
}

static double dot(const tron *x, const double *a, const double *b)
{
    return vec_dot(a, b, x->r.p->n, x->r.p->threads);
}

/* out += (Hessian of g) d */
static void add_curve(const descent *r, const double *d, double *out)
{
    if (!r->curve)
        vec_add(out, 1, d, r->p->n, r->p->threads);
    else
        for (uint64_t j = 0; j < r->p->n; j++)
            out[j] += r->curve[j] * d[j];
}

/* The second derivatives at w, and M from their diagonal: one message of n numbers. */
static void precondition(tron *x)
{
    descent *r = &x->r;
    const int threads = r->p->threads;
    FOR_BLOCKS (k, r->local, threads) {
        instances_curvature(&r->part[k], r->z[k], x->bend[k]);
        r->largest[k] = instances_diagonal(&r->part[k], x->bend[k], r->part_sum[k]);
    }
    descent_sum(r, x->M);
    for (uint64_t j = 0; j < r->p->n; j++) {
        x->M[j] = (1 - DIAGONAL_PART) + DIAGONAL_PART * (x->M[j] + (r->curve ? r->curve[j] : 1));
        x->scaled[j] = r->gradient[j] / x->M[j];
    }
    x->Mg = sqrt(dot(x, r->gradient, x->scaled));
    r->report.epochs += 1;
}

/* Hd = H towards: one message of n numbers. */
static void hessian_times(tron *x)
{
    descent *r = &x->r;
    const int threads = r->p->threads;
    FOR_BLOCKS (k, r->local, threads)
        r->largest[k] = instances_hessian_times(&r->part[k], x->bend[k], x->towards, r->part_sum[k]);
    descent_sum(r, x->Hd);
    add_curve(r, x->towards, x->Hd);
    r->report.epochs += 2;
}

/* a'M b */
static double M_dot(tron *x, const double *a, const double *b)
{
    for (uint64_t j = 0; j < x->r.p->n; j++)
        x->scaled[j] = x->M[j] * b[j];
    return dot(x, a, x->scaled);
}

/* The largest t with |s + t d|_M <= radius, from the quadratic equation in the form without cancellation. */
static double to_boundary(tron *x, double length_squared)
{
    double sd = M_dot(x, x->s, x->towards), dd = M_dot(x, x->towards, x->towards);
    double room = x->radius * x->radius - length_squared, root = sqrt(sd * sd + dd * fmax(room, 0));
    return sd > 0 ? room / (sd + root) : (root - sd) / dd;
}

/* s: about the least of the model. rest = -gradient - H s throughout. */
static tron_trial conjugate_gradients(tron *x)
{
    descent *r = &x->r;
    const uint64_t n = r->p->n;
    const int threads = r->p->threads;
    bool boundary = false;
    double model = 0, rz = x->Mg * x->Mg, first = rz;
    memset(x->s, 0, n * sizeof *x->s);
    for (uint64_t j = 0; j < n; j++) {
        x->rest[j] = -r->gradient[j];
        x->towards[j] = x->rest[j] / x->M[j];
    }
    for (int k = 1; rz > 0 && k <= MOST_PRODUCTS && !boundary && !(k > 1 && problem_late_anywhere(r->p)); k++) {
        hessian_times(x);
        double length_squared = M_dot(x, x->s, x->s), t = rz / dot(x, x->towards, x->Hd);
        double room = to_boundary(x, length_squared);
        boundary = !(t < room);
        t = boundary ? room : t;
        vec_add(x->s, t, x->towards, n, threads);
        vec_add(x->rest, -t, x->Hd, n, threads);
        double now = 0.5 * (dot(x, x->s, r->gradient) - dot(x, x->s, x->rest)); /* m(s) */
        if (k * (now - model) >= MODEL_GAIN * now && k > 1) {
            model = now;
            break;
        }
        model = now;
        for (uint64_t j = 0; j < n; j++)
            x->scaled[j] = x->rest[j] / x->M[j];
        double next = dot(x, x->rest, x->scaled), beta = next / rz;
        for (uint64_t j = 0; j < n; j++)
            x->towards[j] = x->scaled[j] + beta * x->towards[j];
        rz = next > 1e-30 * first ? next : 0;
    }
    x->unseen = -model < 1e-14 * fabs(r->primal);
    return (tron_trial){.radius = x->radius, .length = sqrt(M_dot(x, x->s, x->s)), .boundary = boundary};
}

/* Finds s, in smaller regions where P does not fall along it, and how far to go. 0: nowhere. */
static double step(tron *x, bool first_round)
{
    descent *r = &x->r;
    uint64_t points = 0;
    precondition(x);
    if (first_round)
        x->radius = x->Mg;
    for (int k = 0; k < MOST_TRIALS && x->Mg > 0; k++) {
        tron_trial s = conjugate_gradients(x);
        descent_margins(r, x->s, x->q);
        s.taken = descent_search(r, x->s, x->q, dot(x, r->gradient, x->s), &points);
        r->report.line_search_steps++;
        r->report.epochs += 1;
        x->radius = tron_radius(&s);
        if (x->observer)
            x->observer->trial(x->observer, &s, x->radius);
        if (s.taken > 0)
            return s.taken;
    }
    return 0;
}

static void name_whole(archive *a, void *run)
{
    tron *x = run;
    ARCHIVE(a, x->radius);
    ARCHIVE(a, x->lowest);
    ARCHIVE(a, x->unseen);
    ARCHIVE(a, x->idle);
    descent_whole(a, &x->r);
}

bool tron_minimise(problem *p, watch *watch, tron_observer *observer, bda_error *err)
{
    tron x = {.lowest = INFINITY, .observer = observer};
    descent *r = &x.r;
    watch->facts.step_rule = "trust region";
    if (!descent_open(r, p, watch, err))
        return false;
    bool ok = comm_agree(p->comm, take_memory(&x, err), err);
    const method_state state = {&x, name_whole, descent_block};
    for (uint64_t t = 0; ok && !descent_look(r, &state, &t); t++) {
        x.idle = r->norm < 0.9 * x.lowest || !x.unseen ? 0 : x.idle + 1;
        x.lowest = fmin(x.lowest, r->norm);
        double eta = step(&x, t == 0); /* s: about argmin of the model within the region */
        descent_move(r, eta, x.s, x.q);
        r->report.step = eta;
        r->report.epochs += 1; /* the image at the new point */
        r->report.stalled = eta == 0 || x.idle >= 5;
    }
    descent_close(r);
    return ok;
}

static bool tron_train(const method *self, problem *p, const method_options *options, watch *watch, bda_error *err)
{
    (void)self;
    (void)options;
    return tron_minimise(p, watch, NULL, err);
}

const method tron_method = {
    .name = "tron",
    .summary = "trust region Newton method with preconditioned conjugate gradients (Lin, Weng and Keerthi 2008)",
    .needs = "a differentiable loss, no --l1-ratio",
    .primal = true,
    .curvature = true,
    .smooth_loss = true,
    .smooth_regulariser = true,
    .train = tron_train,
};
