/* l_commdir.c - the limited-memory common-directions method (Lee, Wang, Chen and Lin 2017; Lee, Wang and Lin 2022).
 *
 * In each round P is modelled on w + span(D), D = the gradients of this and the last m rounds and the last m steps:
 * 2m + 1 directions, fewer in the beginning. They are what L-BFGS remembers too; here they span a space in which the
 * Hessian is exact, for the margins X'd of every direction are kept:
 *
 *     P(w + D t) = g(w + D t) + sum_i xi_i(z_i + sum_k t_k q_k,i),   q_k = X'd_k
 *
 * has derivatives by t that are sums of scalars over the instances. Newton's step t = -(D'H D)^-1 D'grad P gives the
 * direction D t, whose margins are those of D times t, and Armijo's rule its length. A round costs the one vector of
 * the gradient, one pass for its margins, a message of the scalars of D'H D and one or more of the step's; of the
 * products of the directions those with the newest two are computed anew.
 *
 * The directions may depend on each other, as the first steps do on the first gradients: of the small system, scaled
 * to a diagonal of 1, the solution is taken in the space of the larger eigenvalues. On a quadratic the steps are
 * those of conjugate gradients, so n rounds end it.
 *
 * Left out: further Newton steps within the same span, which the authors allow. On the data tried they save one or
 * two rounds in a hundred: the first step leaves little to win. */
#include <math.h>
#include <string.h>

#include "base/dense.h"
#include "base/vector.h"
#include "methods/descent.h"
#include "methods/rivals.h"

#define HISTORY 5
#define MOST DESCENT_DIRECTIONS
#define SINGULAR 1e-10 /* eigenvalues below this share of the largest count as 0 */
#define MESSAGES 12    /* of a line search, at most */
#define ROUNDING 1e-14 /* changes of P below this share of it say nothing */
#define IDLE_ROUNDS 30 /* in a row without a greater change: P is as low as it gets */

typedef struct state {
    descent r;
    int m;       /* history */
    double **d;  /* [2m + 1][n] the slots: gradients in turn, then steps in turn */
    double ***q; /* [2m + 1] their margins in each local block */
    int count;   /* directions of this round, [count]: */
    int slot[MOST];
    const double *direction[MOST];
    double *const *margins[MOST];
    double product[MOST][MOST]; /* of slots: d'G d, G the Hessian of g */
    double tau, beta;
    double least;  /* the least P so far */
    uint64_t idle; /* rounds in a row that hardly lowered it */
} state;

static bool state_open(state *x, const method_options *options, bda_error *err)
{
    descent *r = &x->r;
    x->m = options->history ? (int)options->history : HISTORY;
    x->tau = options->tau;
    x->beta = options->beta;
    uint64_t slots = 2 * (uint64_t)x->m + 1;
    bool ok = (x->d = ARENA_TAKE(&r->memory, double *, slots, err)) &&
              (x->q = ARENA_TAKE(&r->memory, double **, slots, err));
    for (uint64_t i = 0; ok && i < slots; i++)
        ok = (x->d[i] = ARENA_TAKE(&r->memory, double, r->p->n, err)) && (x->q[i] = descent_new_margins(r, err));
    return comm_agree(r->p->comm, ok, err);
}

static int gradient_slot(const state *x, uint64_t t)
{
    return (int)(t % ((uint64_t)x->m + 1));
}

static int step_slot(const state *x, uint64_t t)
{
    return x->m + 1 + (int)(t % (uint64_t)x->m);
}

/* The gradient of round t takes the place of the oldest, and the directions are those slots that hold something:
 * min(t, m) + 1 gradients and min(t, m) steps. */
static void add_gradient(state *x, uint64_t t)
{
    descent *r = &x->r;
    int newest = gradient_slot(x, t), past = t < (uint64_t)x->m ? (int)t : x->m;
    memcpy(x->d[newest], r->gradient, r->p->n * sizeof **x->d);
    descent_margins(r, x->d[newest], x->q[newest]);
    x->count = 2 * past + 1;
    for (int i = 0; i < x->count; i++) {
        int slot = x->slot[i] = i <= past ? i : x->m + i - past;
        x->direction[i] = x->d[slot];
        x->margins[i] = x->q[slot];
    }
}

/* The products of a new direction with all others. */
static void add_products(state *x, int slot)
{
    descent *r = &x->r;
    const double *bent = x->d[slot];
    if (r->curve) {
        for (uint64_t j = 0; j < r->p->n; j++)
            r->moved[j] = r->curve[j] * bent[j];
        bent = r->moved;
    }
    for (int i = 0; i < x->count; i++)
        x->product[slot][x->slot[i]] = x->product[x->slot[i]][slot] =
            vec_dot(bent, x->direction[i], r->p->n, r->p->threads);
}

/* c = -(D'H D)^+ D'grad P, one message; returns the slope of P along D c. */
static double newton_step(state *x, uint64_t t, double *c)
{
    descent *r = &x->r;
    const int count = x->count;
    double gradient[MOST], hessian[MOST * MOST], scale[MOST], unused, slope = 0;
    memset(c, 0, (size_t)count * sizeof *c);
    descent_along(r, count, NULL, x->margins, 1, c, &unused, NULL, hessian);
    add_products(x, gradient_slot(x, t));
    if (t > 0)
        add_products(x, step_slot(x, t - 1));
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < count; j++)
            hessian[i * count + j] += x->product[x->slot[i]][x->slot[j]];
        double bend = hessian[i * count + i];
        scale[i] = bend > 0 ? 1 / sqrt(bend) : 0;
        gradient[i] = r->curve ? vec_dot(r->gradient, x->direction[i], r->p->n, r->p->threads)
                               : x->product[gradient_slot(x, t)][x->slot[i]];
        c[i] = -scale[i] * gradient[i];
    }
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)
            hessian[i * count + j] *= scale[i] * scale[j];
    dense_solve_singular(hessian, count, c, SINGULAR);
    for (int i = 0; i < count; i++)
        slope += gradient[i] * (c[i] *= scale[i]);
    return slope;
}

/* y = the sum of c_k d_k; y may be one of d. */
static void combine(double *y, int count, const double *c, const double *const *d, uint64_t n, int threads)
{
    enum { CHUNK = 512 };
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (uint64_t first = 0; first < n; first += CHUNK) {
        double total[CHUNK] = {0};
        uint64_t length = n - first < CHUNK ? n - first : CHUNK;
        for (int k = 0; k < count; k++)
            for (uint64_t j = 0; j < length; j++)
                total[j] += c[k] * d[k][first + j];
        memcpy(y + first, total, length * sizeof *y);
    }
}

/* D c and its margins take the place of the oldest step; returns the slot. */
static int add_step(state *x, uint64_t t, const double *c)
{
    descent *r = &x->r;
    int slot = step_slot(x, t), threads = r->p->threads;
    combine(x->d[slot], x->count, c, x->direction, r->p->n, threads);
    for (uint64_t k = 0; k < r->local; k++) {
        const double *margins[MOST];
        for (int i = 0; i < x->count; i++)
            margins[i] = x->margins[i][k];
        combine(x->q[slot][k], x->count, c, margins, r->part[k].size, threads);
    }
    return slot;
}

/* The longest of 1, beta, beta^2 ... that Armijo's rule allows, 0 for none: 1 alone in the first message, then
 * several in each. Where P's change drowns in rounding, its slope has to do. */
static double search_line(state *x, int slot, double slope)
{
    descent *r = &x->r;
    const double *const direction[] = {x->d[slot]};
    double *const *const margins[] = {x->q[slot]};
    double power = 1;
    for (int message = 0, trials = 1; message < MESSAGES; message++, trials = DESCENT_TRIALS) {
        double step[DESCENT_TRIALS], change[DESCENT_TRIALS], along[DESCENT_TRIALS];
        for (int i = 0; i < trials; i++, power *= x->beta)
            step[i] = power;
        descent_along(r, 1, direction, margins, trials, step, change, along, NULL);
        r->report.line_search_steps += (uint64_t)trials;
        for (int i = 0; i < trials; i++)
            if (change[i] <= x->tau * step[i] * slope ||
                (fabs(change[i]) <= ROUNDING * fabs(r->primal) && fabs(along[i]) <= -0.5 * slope))
                return step[i];
    }
    return 0;
}

/* w and its margins move along the direction in the slot, which becomes the step. */
static void move(state *x, int slot, double step)
{
    descent *r = &x->r;
    const double *d[] = {x->d[slot]};
    descent_move(r, step, x->d[slot], x->q[slot]);
    if (step == 1)
        return;
    combine(x->d[slot], 1, &step, d, r->p->n, r->p->threads);
    for (uint64_t k = 0; k < r->local; k++) {
        const double *margins[] = {x->q[slot][k]};
        combine(x->q[slot][k], 1, &step, margins, r->part[k].size, r->p->threads);
    }
}

static void name_whole(archive *a, void *run)
{
    state *x = run;
    ARCHIVE(a, x->product);
    ARCHIVE(a, x->least);
    ARCHIVE(a, x->idle);
    for (int i = 0; i < 2 * x->m + 1; i++)
        ARCHIVE_ARRAY(a, x->d[i], x->r.p->n);
    descent_whole(a, &x->r);
}

static void name_block(archive *a, void *run, uint64_t k)
{
    state *x = run;
    for (int i = 0; i < 2 * x->m + 1; i++)
        descent_margins_state(a, &x->r, "q", x->q[i], k);
    descent_block(a, &x->r, k);
}

static bool l_commdir_train(const method *self, problem *p, const method_options *options, watch *watch,
                            bda_error *err)
{
    (void)self;
    state x = {.least = INFINITY};
    descent *r = &x.r;
    if (!descent_open(r, p, watch, err))
        return false;
    watch->facts.line_search = "backtracking";
    watch->facts.step_rule = "Armijo";
    bool ok = state_open(&x, options, err);
    const method_state kept = {&x, name_whole, name_block};
    for (uint64_t t = 0; ok && !descent_look(r, &kept, &t); t++) {
        double c[MOST];
        x.idle = r->primal < x.least - ROUNDING * fabs(r->primal) ? 0 : x.idle + 1;
        x.least = fmin(x.least, r->primal);
        add_gradient(&x, t);
        double slope = newton_step(&x, t, c);
        int slot = add_step(&x, t, c);
        r->report.step = slope < 0 ? search_line(&x, slot, slope) : 0;
        move(&x, slot, r->report.step);
        r->report.epochs = 2; /* the margins of the gradient, and the image of the next */
        r->report.stalled = r->report.step == 0 || x.idle >= IDLE_ROUNDS;
    }
    descent_close(r);
    return ok;
}

const method l_commdir = {
    .name = "l-commdir",
    .summary = "limited-memory common directions (Lee, Wang and Lin): Newton in the span of past gradients and steps",
    .needs = "a differentiable loss, --l1-ratio=0",
    .primal = true,
    .smooth_loss = true,
    .smooth_regulariser = true,
    .train = l_commdir_train,
};
