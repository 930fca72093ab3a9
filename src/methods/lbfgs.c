/* lbfgs.c - the limited-memory BFGS method (Liu and Nocedal 1989), and with an l1 part in g its orthant-wise form
 * OWL-QN (Andrew and Gao 2007).
 *
 * The last m pairs s = w' - w, y = grad' - grad give the direction d = -H grad by the two-loop recursion. All ranks
 * hold the same vectors, so its dot products are local; a round costs the one vector of the gradient.
 *
 * The step obeys the strong Wolfe conditions, from kept margins: phi(t) = P(w + t d) is convex, so its slopes alone
 * bracket it, and several trial points share one message of scalars.
 *
 * With g_j = f_j ((1-R)/2 w^2 + R |w|), R > 0: pairs are those of the smooth part of P; the pseudo-gradient takes the
 * place of the gradient (of all subgradients the shortest); d keeps the coordinates along which that falls; trial
 * points are projected to the orthant of w, and the margins of each cost one local pass, no vector. The step is
 * Armijo's then: past the boundary of an orthant there is no curvature to check. */
#include <math.h>
#include <string.h>

#include "base/vector.h"
#include "methods/descent.h"
#include "methods/rivals.h"
#include "problem/separable.h"

#define HISTORY 10
#define CURVATURE 0.25        /* of the second Wolfe condition: a close search costs scalars, and saves vectors */
#define MESSAGES 30           /* of a line search, at most */
#define LEAST_CURVATURE 1e-10 /* s'y / (|s| |y|) of a pair worth keeping */
#define ROUNDING 1e-14        /* changes of P below this share of it say nothing */
#define IDLE_ROUNDS 30        /* in a row without a greater change: P is as low as it gets */

typedef struct state {
    descent r;
    int m;         /* history */
    int kept;      /* pairs that count: the last ones before `next` */
    int next;      /* slot of the pair under way: d becomes s, -grad becomes y */
    double **s;    /* [m + 1][n] */
    double **y;    /* [m + 1][n] */
    double *sy;    /* [m + 1] s'y */
    double *yy;    /* [m + 1] y'y */
    double *gain;  /* [m + 1] of the two loops */
    double **q;    /* margins of d */
    double *slope; /* [n] the pseudo-gradient; that of P itself where P is smooth */
    double tau, beta, curvature;
    bool orthants; /* g has an l1 part */
    double least;  /* the least P so far */
    uint64_t idle; /* rounds in a row that hardly lowered it */
} state;

static bool state_open(state *x, const method_options *options, bda_error *err)
{
    descent *r = &x->r;
    uint64_t n = r->p->n;
    x->m = options->history ? (int)options->history : HISTORY;
    x->tau = options->tau;
    x->beta = options->beta;
    x->curvature = x->tau < CURVATURE ? CURVATURE : 0.5 * (1 + x->tau); /* above tau there is such a step */
    x->orthants = r->p->penalty.l1_ratio > 0;
    uint64_t slots = (uint64_t)x->m + 1;
    bool ok = (x->s = ARENA_TAKE(&r->memory, double *, slots, err)) &&
              (x->y = ARENA_TAKE(&r->memory, double *, slots, err)) &&
              (x->sy = ARENA_TAKE(&r->memory, double, slots, err)) &&
              (x->yy = ARENA_TAKE(&r->memory, double, slots, err)) &&
              (x->gain = ARENA_TAKE(&r->memory, double, slots, err)) && (x->q = descent_new_margins(r, err));
    for (uint64_t i = 0; ok && i < slots; i++)
        ok = (x->s[i] = ARENA_TAKE(&r->memory, double, n, err)) && (x->y[i] = ARENA_TAKE(&r->memory, double, n, err));
    if (ok)
        x->slope = x->orthants ? ARENA_TAKE(&r->memory, double, n, err) : r->gradient;
    return comm_agree(r->p->comm, ok && x->slope, err);
}

static void scale(double *x, double by, uint64_t n)
{
    for (uint64_t j = 0; j < n; j++)
        x[j] *= by;
}

/* The gradient of the smooth part of P goes to r->gradient, the pseudo-gradient of P to x->slope. */
static void find_slope(state *x)
{
    descent *r = &x->r;
    const penalty *g = &r->p->penalty;
    for (uint64_t j = 0; x->orthants && j < r->p->n; j++) {
        double f = j < bound_of(g) ? factor_of(g, j) : 0, w = r->w[j], l1 = f * g->l1_ratio;
        double smooth = r->gradient[j] = f * (1 - g->l1_ratio) * w - r->image[j];
        if (w != 0)
            x->slope[j] = smooth + copysign(l1, w);
        else
            x->slope[j] = fabs(smooth) > l1 ? smooth - copysign(l1, smooth) : 0;
    }
}

/* The pair under way is complete once the new gradient is known. Without curvature along it, it is dropped. */
static void keep_pair(state *x)
{
    descent *r = &x->r;
    double *s = x->s[x->next], *y = x->y[x->next];
    uint64_t n = r->p->n;
    vec_add(y, 1, r->gradient, n, r->p->threads);
    double sy, yy, ss = vec_dot(s, s, n, r->p->threads);
    vec_dots(s, y, n, r->p->threads, &sy, &yy);
    if (!(sy > LEAST_CURVATURE * sqrt(ss * yy)))
        return;
    x->sy[x->next] = sy;
    x->yy[x->next] = yy;
    x->next = (x->next + 1) % (x->m + 1);
    x->kept = x->kept < x->m ? x->kept + 1 : x->m;
}

/* d = -H slope into the slot of the next pair; H begins as s'y / y'y of the last pair times the identity. */
static double *two_loops(state *x)
{
    const problem *p = x->r.p;
    int slots = x->m + 1, last = (x->next + x->m) % slots;
    double *d = x->s[x->next];
    memcpy(d, x->slope, p->n * sizeof *d);
    for (int k = 1; k <= x->kept; k++) {
        int i = (x->next - k + slots) % slots;
        x->gain[i] = vec_dot(x->s[i], d, p->n, p->threads) / x->sy[i];
        vec_add(d, -x->gain[i], x->y[i], p->n, p->threads);
    }
    scale(d, x->kept ? -x->sy[last] / x->yy[last] : -1, p->n);
    for (int k = x->kept; k >= 1; k--) {
        int i = (x->next - k + slots) % slots;
        double back = vec_dot(x->y[i], d, p->n, p->threads) / x->sy[i];
        vec_add(d, -x->gain[i] - back, x->s[i], p->n, p->threads);
    }
    return d;
}

/* A direction along which P falls, and its slope there. Should rounding have spoilt it, past pairs are forgotten. */
static double find_direction(state *x)
{
    const problem *p = x->r.p;
    for (;;) {
        double *d = two_loops(x);
        for (uint64_t j = 0; x->orthants && j < bound_of(&p->penalty); j++)
            if (d[j] * x->slope[j] >= 0)
                d[j] = 0;
        double slope = vec_dot(x->slope, d, p->n, p->threads);
        if (slope < 0 || x->kept == 0)
            return slope;
        x->kept = 0;
    }
}

/* What is known of the convex phi(t) = P(w + t d) - P(w). */
typedef struct bracket {
    double low, low_slope;   /* the longest step known to be too short: 0 at first */
    double high, high_slope; /* the shortest known to be too long; infinite at first */
} bracket;

/* The points to try next. The first is where the line through two known slopes is 0; the others, if wanted, divide
 * the bracket by beta again and again, or stretch it by 1/beta while it has no end. `slope` is that of t = 0. */
static void choose_trials(const bracket *b, double slope, double beta, int trials, double *t)
{
    bool open = isinf(b->high);
    double width = open ? 15 * b->low : b->high - b->low;
    double zero = open ? b->low * b->low_slope / (slope - b->low_slope)
                       : -b->low_slope * width / (b->high_slope - b->low_slope);
    double power = beta;
    t[0] = b->low + (zero >= 0.05 * width && zero <= 0.95 * width ? zero : beta * width);
    for (int i = 1; i < trials; i++, power *= beta)
        t[i] = open ? b->low / power : b->low + power * width;
}

/* d of the recursion has the right length. Steepest descent has none: there the curvature says how far to go. */
static double first_step(state *x, double slope)
{
    const double *const direction[] = {x->s[x->next]};
    double *const *const margins[] = {x->q};
    double t = 0, change, along, bend;
    if (x->kept > 0)
        return 1;
    descent_along(&x->r, 1, direction, margins, 1, &t, &change, &along, &bend);
    return bend > 0 ? -slope / bend : 1;
}

/* A step that obeys the strong Wolfe conditions; 0 if there is none in double precision. Where phi's change drowns in
 * rounding its slope has to do (Hager and Zhang 2005). */
static double search_line(state *x, double slope)
{
    descent *r = &x->r;
    const double *const direction[] = {x->s[x->next]};
    double *const *const margins[] = {x->q};
    double t[DESCENT_TRIALS] = {0}, change[DESCENT_TRIALS], along[DESCENT_TRIALS];
    bracket b = {.low_slope = slope, .high = INFINITY};
    descent_margins(r, direction[0], x->q);
    r->report.epochs++;
    t[0] = first_step(x, slope);
    for (int trials = 1, message = 0; message < MESSAGES; message++) {
        descent_along(r, 1, direction, margins, trials, t, change, along, NULL);
        r->report.line_search_steps += (uint64_t)trials;
        int best = -1;
        for (int i = 0; i < trials; i++) {
            bool falls = change[i] <= x->tau * t[i] * slope ||
                         (fabs(change[i]) <= ROUNDING * fabs(r->primal) && along[i] <= -0.5 * slope);
            if (falls && fabs(along[i]) <= -x->curvature * slope && (best < 0 || change[i] < change[best]))
                best = i;
            if ((!falls || along[i] > 0) && t[i] < b.high)
                b.high = t[i], b.high_slope = along[i];
            else if (falls && along[i] <= 0 && t[i] > b.low)
                b.low = t[i], b.low_slope = along[i];
        }
        if (best >= 0)
            return t[best];
        trials = message == 0 ? 1 : DESCENT_TRIALS;
        choose_trials(&b, slope, x->beta, trials, t);
    }
    return b.low;
}

/* to = the projection of w + t d to the orthant of w (where w_j = 0: the one that P falls into), less w. */
static void project_step(const state *x, double t, const double *d, double *to)
{
    const double *w = x->r.w;
    const uint64_t n = x->r.p->n, bound = bound_of(&x->r.p->penalty);
    for (uint64_t j = 0; j < bound; j++) {
        double side = w[j] != 0 ? w[j] : -x->slope[j], moved = w[j] + t * d[j];
        to[j] = moved * side > 0 ? moved - w[j] : -w[j];
    }
    for (uint64_t j = bound; j < n; j++)
        to[j] = t * d[j];
}

/* Armijo's step along the projected ray; leaves s and its margins. 0 if there is none in double precision. */
static double search_orthant(state *x, double slope)
{
    descent *r = &x->r;
    const problem *p = r->p;
    double *d = x->s[x->next], *moved = x->y[x->next];
    const double *const direction[] = {moved};
    double *const *const margins[] = {x->q};
    if (x->kept == 0) {
        descent_margins(r, d, x->q);
        r->report.epochs++;
    }
    double t = first_step(x, slope), change;
    const double whole = 1;
    for (int message = 0; message < MESSAGES; message++, t *= x->beta) {
        project_step(x, t, d, moved);
        descent_margins(r, moved, x->q);
        descent_along(r, 1, direction, margins, 1, &whole, &change, NULL, NULL);
        r->report.line_search_steps++;
        r->report.epochs++;
        double expected = vec_dot(x->slope, moved, p->n, p->threads);
        if (expected < 0 && change <= x->tau * expected) {
            x->s[x->next] = moved;
            x->y[x->next] = d;
            return t;
        }
    }
    return 0;
}

/* w moves on, and the pair under way gets its step s and minus its gradient; false where no step lowers P. */
static bool move(state *x)
{
    descent *r = &x->r;
    uint64_t n = r->p->n;
    double slope = find_direction(x), step = x->orthants ? search_orthant(x, slope) : search_line(x, slope);
    if (step == 0 && x->kept > 0) {
        x->kept = 0;
        slope = find_direction(x);
        step = x->orthants ? search_orthant(x, slope) : search_line(x, slope);
    }
    double *s = x->s[x->next], *y = x->y[x->next];
    if (!x->orthants) {
        descent_move(r, step, s, x->q);
        scale(s, step, n);
    } else if (step > 0) {
        descent_move(r, 1, s, x->q);
    }
    for (uint64_t j = 0; j < n; j++)
        y[j] = -r->gradient[j];
    r->report.step = step;
    r->report.epochs++; /* for the next gradient */
    return step > 0;
}

static void name_whole(archive *a, void *run)
{
    state *x = run;
    const uint64_t n = x->r.p->n, slots = (uint64_t)x->m + 1;
    ARCHIVE(a, x->kept);
    ARCHIVE(a, x->next);
    ARCHIVE(a, x->least);
    ARCHIVE(a, x->idle);
    ARCHIVE_ARRAY(a, x->sy, slots);
    ARCHIVE_ARRAY(a, x->yy, slots);
    for (uint64_t i = 0; i < slots; i++) {
        ARCHIVE_ARRAY(a, x->s[i], n);
        ARCHIVE_ARRAY(a, x->y[i], n);
    }
    descent_whole(a, &x->r);
}

static bool lbfgs_train(const method *self, problem *p, const method_options *options, watch *watch, bda_error *err)
{
    (void)self;
    state x = {.least = INFINITY};
    descent *r = &x.r;
    if (!descent_open(r, p, watch, err))
        return false;
    watch->facts.line_search = "backtracking";
    watch->facts.step_rule = "Armijo and slope";
    bool ok = state_open(&x, options, err);
    const method_state kept = {&x, name_whole, descent_block};
    for (uint64_t t = 0; ok && !descent_look(r, &kept, &t); t++) {
        x.idle = r->primal < x.least - ROUNDING * fabs(r->primal) ? 0 : x.idle + 1;
        x.least = fmin(x.least, r->primal);
        find_slope(&x);
        if (t > 0)
            keep_pair(&x);
        r->report.stalled = !move(&x) || x.idle >= IDLE_ROUNDS;
    }
    descent_close(r);
    return ok;
}

const method lbfgs = {
    .name = "lbfgs",
    .summary = "limited-memory BFGS (Liu and Nocedal); with --l1-ratio its orthant-wise form (Andrew and Gao)",
    .needs = "a differentiable loss; any --l1-ratio, 1 as well",
    .any_regulariser = true,
    .primal = true,
    .smooth_loss = true,
    .train = lbfgs_train,
};
