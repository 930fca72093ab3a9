/* accelerate.c - the accelerated proximal point method (Catalyst: Lin, Mairal and Harchaoui 2015, 2018) around any
 * preset of the outer loop.
 *
 * Stage s minimises, by rounds of the preset on its dual, the problem with a pull towards a centre,
 *
 *     x_s ~ argmin  P(w) + kappa/2 |w - y_{s-1}|^2,      y_s = x_s + beta (x_s - x_{s-1}),
 *
 * beta = (1 - sqrt q) / (1 + sqrt q), q = sigma / (sigma + kappa), sigma the convexity of g. The pull only changes
 * the regulariser (problem/shifted_norm.c): a round of the outer loop is what it was, on a problem that is
 * conditioned better by (sigma + kappa) / sigma, and about sqrt((sigma + kappa) / sigma) stages gain a digit.
 *
 *   warm start   alpha stays; with the centre w = grad g*(X alpha) moves by kappa / (sigma + kappa) of what y moved
 *   accuracy     stage s ends once its duality gap is at most  2/9 (1 - 0.9 sqrt q)^s  of the gap at the start
 *                (criterion C1 of the 2018 paper), and not before STAGE_ROUNDS rounds: a line search between blocks
 *                that disagree often swings to and fro
 *   restart      where P(x_s) > P(x_{s-1}) the next centre is x_s itself
 *   kappa        2 sqrt(K) L R^2, R^2 the mean of |x_i|^2 and L a bound of the second derivative of the losses (C for
 *                those with kinks), at least sigma. Passes over one block make the problem of a stage easy from L R^2
 *                on, K blocks that do not see each other from up to K times that; the root of K and the 2 were
 *                found by trial
 *
 * alpha is feasible for the problem without the pull, and w is a point of it: what is reported is its own primal and
 * dual, and  P(w) + f(alpha) = [g(w) + g*(v) - w'v] + sum_i [xi_i + xi_i* + alpha_i x_i'w],  of which the sum is the
 * gap of the stage. */
#include "dual/accelerate.h"

#include <math.h>
#include <string.h>

#include "base/vector.h"
#include "data/rows_math.h"

#define STAGE_ROUNDS 2

typedef struct accelerated {
    watch watch; /* what the rounds of a stage report to, in terms of the shifted problem */
    const problem *p;
    struct watch *outer;
    problem shifted;
    dual_run run;
    double kappa, beta;
    double enough, tighten; /* the gap at which this stage ends, and by what it shrinks from stage to stage */
    uint64_t began;         /* round before the first of this stage */
    double *y;              /* [n] centre */
    double *last;           /* [n] x_{s-1} */
    double *before;         /* [n] work space: the w or y before */

    /* Of the round just reported */
    double primal, stage_gap; /* P(w), the gap with the pull */
    double last_primal;       /* P(x_{s-1}) */
} accelerated;

static bool accelerated_open(accelerated *r, const method *self, problem *p, const method_options *options,
                             watch *watch, bda_error *err);
static void next_stage(accelerated *r, uint64_t t);

/* The centre comes first: w follows from v and from it. */
static void name_whole(archive *a, void *run)
{
    accelerated *r = run;
    ARCHIVE(a, r->enough);
    ARCHIVE(a, r->began);
    ARCHIVE(a, r->primal);
    ARCHIVE(a, r->stage_gap);
    ARCHIVE(a, r->last_primal);
    ARCHIVE_ARRAY(a, r->y, r->p->n);
    ARCHIVE_ARRAY(a, r->last, r->p->n);
    dual_whole(a, &r->run);
}

static void name_block(archive *a, void *run, uint64_t k)
{
    dual_block(a, &((accelerated *)run)->run, k);
}

bool dual_accelerated(const method *self, problem *p, const method_options *options, watch *watch, bda_error *err)
{
    accelerated r;
    bool ok = accelerated_open(&r, self, p, options, watch, err);
    dual_run *inner = &r.run;
    const method_state state = {&r, name_whole, name_block};
    for (uint64_t t = 0; ok; t++) {
        if (dual_look(inner, watch, &state, &t)) /* through report_round */
            break;
        if (t >= r.began + STAGE_ROUNDS && r.stage_gap <= r.enough)
            next_stage(&r, t);
        dual_solve(inner, t);
        ok = dual_sum(inner, err);
        if (ok)
            dual_move(inner, dual_step(inner));
    }
    dual_close(inner);
    return ok;
}

/* |a - b|^2; work: [n] */
static double distance(const accelerated *r, const double *a, const double *b, double *work)
{
    const uint64_t n = r->p->n;
    memcpy(work, a, n * sizeof *work);
    vec_difference(work, b, 1, n, r->p->threads);
    return vec_dot(work, work, n, r->p->threads);
}

/* x_s = w. The jump of w is part of its way, which block_evaluate must know. */
static void next_stage(accelerated *r, uint64_t t)
{
    const uint64_t n = r->p->n;
    const penalty *g = &r->shifted.penalty;
    double *w = r->run.w, beta = r->primal > r->last_primal ? 0 : r->beta;
    for (uint64_t j = 0; j < n; j++) {
        r->y[j] = w[j] + beta * (w[j] - r->last[j]);
        r->last[j] = w[j];
    }
    r->last_primal = r->primal;
    r->enough *= r->tighten;
    r->began = t;
    r->run.search.idle_rounds = 0; /* alpha may rest while the centre moves */
    g->kind->gradient(g, w, r->run.v);
    r->run.travelled += sqrt(distance(r, w, r->last, r->before));
}

/* ---- what the watch of the person sees ---------------------------------------------------------------------- */

static accelerated *of(watch *self)
{
    return (accelerated *)self;
}

static double inner_seconds(watch *self)
{
    return of(self)->outer->seconds(of(self)->outer);
}

static bool inner_interrupted(watch *self)
{
    return of(self)->outer->interrupted(of(self)->outer);
}

/* From the shifted problem to the one that is solved. */
static round_report translate(const accelerated *r, const round_report *report, const double *w)
{
    const penalty *g = &r->p->penalty, *shifted = &r->shifted.penalty;
    const double *v = report->certificate.anew ? r->run.direction.dv : r->run.v;
    round_report told = *report;
    told.primal = report->primal - 0.5 * r->kappa * distance(r, w, r->y, r->before);
    told.dual = report->dual - shifted->kind->conjugate(shifted, v) + g->kind->conjugate(g, v);
    told.gap = report->gap + g->kind->distance(g, w, v);
    return told;
}

static bool inner_ends(watch *self, const round_report *report, double *to_go)
{
    accelerated *r = of(self);
    const round_report told = translate(r, report, r->run.w);
    return stage_ends(r->outer, &told, to_go);
}

static bool report_round(watch *self, const round_report *report, const double *w)
{
    accelerated *r = of(self);
    const round_report told = translate(r, report, w);
    r->stage_gap = report->gap;
    r->primal = told.primal;
    if (report->round == 0) {
        r->last_primal = r->primal;
        r->enough = 2.0 / 9 * report->gap;
    }
    bool stop = stage_report(r->outer, &told, w);
    if (stop && report->certificate.for_end)
        r->stage_gap = report->certificate.gap_before;
    self->to_go = r->outer->to_go;
    return stop;
}

/* ---- before ------------------------------------------------------------------------------------------------- */

/* The mean of |x_i|^2 over all rows. Collective. */
static double mean_norm(problem *p, scalars *of_blocks)
{
    const data *d = p->data;
    for (uint64_t k = 0; k < d->local_blocks; k++) {
        sum s = {0, 0};
        uint64_t first, end;
        data_block_rows(d, k, &first, &end);
#define CALL(form)                                                                                                   \
    for (uint64_t i = first; i < end; i++)                                                                           \
    sum_add(&s, rows_norm(&p->rows, form, i))
        ROWS_DISPATCH(p->rows.form, CALL);
#undef CALL
        of_blocks->mine[k] = sum_value(&s);
    }
    scalars_gather(of_blocks, 1);
    return scalars_sum(of_blocks, 0) / (double)d->rows_all;
}

/* A bound of the second derivative of the losses; their slope where they have kinks. */
static double steepness(const problem *p)
{
    return p->most_cost * p->task->steepness;
}

/* With the squared norm the Hessian of the conjugate is 1 / (1 + kappa) everywhere: a number in place of a vector.
 * And an a2 that bounds X'X bounds X'H X with the bound of H as a factor. */
static void use_curvature(accelerated *r, const preset *preset, const method_options *options)
{
    const double most = 1 / r->shifted.penalty.convexity;
    if (r->p->penalty.kind->identity) {
        r->run.model.h = NULL;
        r->run.model.a1 *= most;
    }
    if (preset->a2 == A2_LARGEST_NORM && isnan(options->a2))
        r->run.model.a2 *= most;
}

static bool accelerated_open(accelerated *r, const method *self, problem *p, const method_options *options,
                             watch *watch, bda_error *err)
{
    *r = (accelerated){.p = p, .outer = watch, .shifted = *p};
    r->watch = (struct watch){
        .seconds = inner_seconds, .interrupted = inner_interrupted, .round = report_round, .ends = inner_ends};
    r->shifted.penalty = penalty_shifted(&p->penalty, 1, NULL); /* pull and centre are known below */
    if (!dual_open(&r->run, self->preset, &r->shifted, options, &r->watch, err))
        return false;
    watch->facts = r->watch.facts;
    arena *m = &r->run.memory;
    bool ok = (r->y = ARENA_TAKE(m, double, p->n, err)) && (r->last = ARENA_TAKE(m, double, p->n, err)) &&
              (r->before = ARENA_TAKE(m, double, p->n, err));
    if (!comm_agree(p->comm, ok, err))
        return false;
    const double sigma = p->penalty.convexity, root_K = sqrt((double)p->data->blocks);
    r->kappa = fmax(sigma, 2 * root_K * steepness(p) * mean_norm(p, &r->run.scalars));
    r->shifted.penalty = penalty_shifted(&p->penalty, r->kappa, r->y);
    double root = sqrt(sigma / (sigma + r->kappa));
    r->beta = (1 - root) / (1 + root);
    r->tighten = 1 - 0.9 * root;
    use_curvature(r, self->preset, options);
    if (p->start) {
        memcpy(r->y, p->start, p->n * sizeof *r->y);
        memcpy(r->last, p->start, p->n * sizeof *r->last);
    }
    return dual_begin(&r->run, watch, err);
}
