/* hull.c - the primal-dual hull: Algorithm 2 with a search over the convex hull of past points instead of one step.
 *
 * Two kinds of points are kept, the last few of each, with their images X point:
 *   - local solutions z, from the same sub-problems as in dual.c. They are feasible, and so is their convex hull.
 *   - dual images s(best) = -xi'(X'best) of the best primal point. They are feasible too, whatever the partition, and
 *     supply the coupling between blocks that the block-diagonal model lacks.
 * alpha moves to the least value of f over the hull of itself and all of them (hull_search.c). The ray of Algorithm 1
 * lies in that hull, so f falls at least as far as it would there from the same point: what the paper proves of its
 * step holds for this one. The primal point is improved beside it (hull_primal.c).
 *
 * Forms: `fused` sends both vectors in a round, `one-vector` one of them, in turn as they pay. `momentum` sends both
 * and linearises the sub-problems at y = alpha + beta (alpha - alpha before), with a1 by the measured curvature; the
 * hull keeps f falling whatever the momentum does.
 *
 * auto begins with cheaper rounds (hull_plain.c). */
#include "dual/hull.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/parallel.h"
#include "base/sizes.h"
#include "base/vector.h"

static bool hull_open(hull_run *r, problem *p, const preset *preset, const method_options *options, watch *watch,
                      bda_error *err);
static bool hull_begin(hull_run *r, bda_error *err);
static void hull_close(hull_run *r);
static bool look(hull_run *r, uint64_t t, bool report, bool *stop, bda_error *err);
static void choose_vectors(hull_run *r);
static bool solve(hull_run *r, uint64_t t, double *start, bda_error *err);
static bool image(hull_run *r, bda_error *err);
static void search(hull_run *r, double start);

bool hull_train(const method *self, problem *p, const method_options *options, watch *watch, bda_error *err)
{
    hull_run r;
    uint64_t t = 0, reported = UINT64_MAX;
    bool stop = false, ok = hull_open(&r, p, self->preset, options, watch, err);
    bool resumed = ok && hull_resume(&r, &t, &stop);
    if (ok && !stop && r.d.as_needed) {
        ok = hull_plain_rounds(&r, &t, resumed, &stop, err);
        resumed = false;
        reported = t;
    }
    ok = ok && (stop || resumed || hull_begin(&r, err));
    for (; ok && !stop; t++) {
        double start = 0;
        ok = resumed || look(&r, t, t != reported, &stop, err); /* w, P(w), f(alpha), best; stop? */
        resumed = false;
        if (!ok || stop)
            break;
        choose_vectors(&r);
        if (r.with_solution)
            ok = solve(&r, t, &start, err); /* a local solution joins the hull: one vector */
        if (ok && r.with_image)
            ok = image(&r, err); /* the dual image of best joins it: one vector */
        if (ok)
            search(&r, start); /* alpha, v: the least f over the hull */
    }
    hull_close(&r);
    return ok;
}

/* ---- the lines of the loop ----------------------------------------------------------------------------------- */

/* w = grad g*(v), its margins, P(w) and f(alpha), and a best that is never above P(w) and never rises. */
static bool look(hull_run *r, uint64_t t, bool report, bool *stop, bda_error *err)
{
    const penalty *g = &r->d.p->penalty;
    g->kind->gradient(g, r->d.w, r->d.v);
    if (!hull_evaluate(r, err))
        return false;
    hull_improve_primal(r);
    *stop = report && hull_keep(r, t, hull_report(r, t));
    return true;
}

bool hull_evaluate(hull_run *r, bda_error *err)
{
    enum { LOSS, CONJUGATE, GAP, FAILED, COLUMNS };
    dual_run *d = &r->d;
    problem *p = d->p;
    double begin = clock_now(), comm_before = comm_said(p->comm)->seconds;
    FOR_BLOCKS (k, d->local, p->threads)
        block_evaluate(d->blocks[k], d->w, 0, &d->value[k]);
    for (uint64_t k = 0; k < d->local; k++) {
        double *to = d->mine + k * COLUMNS;
        to[LOSS] = d->value[k].loss;
        to[CONJUGATE] = d->value[k].conjugate;
        to[GAP] = d->value[k].gap;
        to[FAILED] = d->local_direction[k].failed;
    }
    dual_gather(d, COLUMNS);
    if (dual_column_max(d, FAILED, COLUMNS) > 0)
        return err_set(err, BDA_FAILED, "%s", DUAL_NO_MEMORY);
    const regulariser *reg = p->penalty.kind;
    double g = reg->value(&p->penalty, d->w), before = d->f;
    r->now_primal = g + dual_column_sum(d, LOSS, COLUMNS);
    d->f = (reg->identity ? g : reg->conjugate(&p->penalty, d->v)) + dual_column_sum(d, CONJUGATE, COLUMNS);
    const double rounding = p->fields > 1 ? 1e-6 : 1e-9;
    assert(p->penalty.free > 0 || !(d->f > before + rounding * (fabs(before) + dual_column_sum(d, GAP, COLUMNS))));
    (void)rounding;
    (void)before;
    double comm_seconds = comm_said(p->comm)->seconds - comm_before;
    d->report.comm_seconds += comm_seconds;
    d->report.eval_seconds = clock_now() - begin - comm_seconds;
    return true;
}

static void choose_fewer(hull_run *r)
{
    if (r->form == HULL_MOMENTUM)
        r->sparing = true;
    else
        r->form = HULL_ONE_VECTOR;
}

/* After so many rounds the form is chosen by what messages and passes took; not where vectors are short, so that the
 * same seed gives the same bits there without asking for it. */
#define TIMED_ROUNDS 3

#define LEAST_EPOCHS 2
#define MOST_EPOCHS 12
/* What the rest of a round with one model costs, in epochs that visit all: its passes over the rows, and those over
 * vectors, so many. */
#define REST_OF_ROUND 2.0
#define REST_VECTORS 25.0

/* Where most variables are settled, epochs cost little beside the rest of a round: then there are more of them, as
 * long as they seem to be needed. Counts decide and the gap, so that the bits do not depend on the clock. The steps
 * of the logistic loss leave nothing out and cost more; blocks that do not know of each other gain little by more
 * epochs. */
static void choose_epochs(hull_run *r)
{
    dual_run *d = &r->d;
    const problem *p = d->p;
    if (r->asked_epochs > 0 || r->form != HULL_MOMENTUM || d->models > 1 || d->pool.queues || p->task->entropic)
        return;
    pace_observe(&d->pace, d->watch->to_go, (double)d->epochs);
    const double rest = REST_OF_ROUND + REST_VECTORS * (double)p->n / fmax((double)p->nonzeros, 1);
    const double needed = d->pace.left > 0 ? ceil(DUAL_CAUTION * d->pace.left) : MOST_EPOCHS;
    d->epochs = (int64_t)fmax(fmin(fmin(rint(rest / r->an_epoch), needed), MOST_EPOCHS), LEAST_EPOCHS);
}

/* The points and the momentum, whose images may be as wrong as v was. */
static void forget(hull_run *r)
{
    r->points = 0;
    r->kept_solutions = r->kept_images = 0;
    r->newest = -1;
    r->moved = false;
    r->t_now = 1;
}

/* The gap of best and alpha, term by term. */
bool hull_report(hull_run *r, uint64_t t)
{
    enum { GAP, SECONDS, INTERRUPTED, MESSAGE, PASS, COLUMNS };
    dual_run *d = &r->d;
    problem *p = d->p;
    double begin = clock_now(), comm_before = comm_said(p->comm)->seconds;
    double seconds = d->watch->seconds(d->watch);
    bool interrupted = d->watch->interrupted(d->watch);
    FOR_BLOCKS (k, d->local, p->threads) {
        double *to = d->mine + k * COLUMNS;
        to[GAP] = block_gap(d->blocks[k], r->z_best[k]);
        to[SECONDS] = seconds;
        to[INTERRUPTED] = interrupted;
        to[MESSAGE] = -r->message_seconds; /* the rank that waits least */
        to[PASS] = r->pass_seconds;
    }
    dual_gather(d, COLUMNS);
    if (r->choosing && !r->plain.on && t == TIMED_ROUNDS) {
        r->choosing = false;
        if (-dual_column_max(d, MESSAGE, COLUMNS) > 0.5 * dual_column_max(d, PASS, COLUMNS))
            choose_fewer(r);
    }
    round_report *to = &d->report;
    to->round = t;
    to->primal = r->best_primal;
    to->dual = d->f;
    const double terms = dual_column_sum(d, GAP, COLUMNS);
    to->gap = terms + p->penalty.kind->distance(&p->penalty, r->best, d->v);
    to->seconds = dual_column_max(d, SECONDS, COLUMNS);
    to->interrupted = dual_column_max(d, INTERRUPTED, COLUMNS) > 0;
    to->stalled = d->idle_rounds >= 10;
    to->vectors_sent = comm_said(p->comm)->vectors;
    to->bytes_sent = comm_said(p->comm)->bytes;
    to->blocks = d->blocks;
    to->kept_best = true;
    to->shares = pool_is_open(&d->pool);
    to->choice = hull_choice(r);
    double comm_seconds = comm_said(p->comm)->seconds - comm_before;
    to->comm_seconds += comm_seconds;
    to->eval_seconds += clock_now() - begin - comm_seconds;
    const double price = dual_price(d, r->z_best, r->best, 1);
    d->f = to->dual;
    dual_certify(d, r->best, terms + price);
    bool stop = stage_report(d->watch, to, r->best);
    if (dual_repair(d, stop)) /* what was built on v goes with it */
        forget(r);
    hull_recentre(r);
    if (r->plain.on)
        dual_choose_epochs(d);
    else
        choose_epochs(r);
    *to = (round_report){0};
    return stop;
}

#define SPARING 3 /* rounds from one image to the next where messages are slow */

/* An image is due where best has moved since the last one. One vector: after a solution an image if it gains at least
 * half as much, or if there was none for four rounds. */
static void choose_vectors(hull_run *r)
{
    bool due = r->newest < 0;
    r->with_solution = true;
    r->with_image = due;
    if (r->sparing)
        r->with_image = due && r->since_image >= SPARING;
    if (r->form != HULL_ONE_VECTOR || !due)
        return;
    bool turn = r->since_image > 0 && (r->image_gain >= 0.5 * r->solution_gain || r->since_image >= 4);
    r->with_image = turn;
    r->with_solution = !turn;
}

/* The sub-problems are linearised at y = alpha + beta (alpha - alpha before), and solved from z = y, moved into the
 * domain. The gradient of a block's model there is grad g*(v_y) + a1 H X_k (z - y)_k. */
static void look_ahead(hull_run *r, double beta)
{
    dual_run *d = &r->d;
    const problem *p = d->p;
    const double *w_y = r->v_ahead;
    for (uint64_t j = 0; j < p->n; j++)
        r->v_ahead[j] = d->v[j] + beta * (d->v[j] - r->v_before[j]);
    if (d->h) {
        p->penalty.kind->curvature(&p->penalty, d->h, r->v_ahead, false);
        p->penalty.kind->gradient(&p->penalty, r->scratch, r->v_ahead);
        w_y = r->scratch;
    }
    d->ahead = w_y;
    FOR_BLOCKS (k, d->local, p->threads) {
        double *to = r->start[k];
        block_advance(d->blocks[k], 2 * r->ring, beta, r->slopes[k], r->advanced[k]);
        if (!d->h) {
            for (uint64_t i = 0; i < r->part[k].count * r->part[k].width; i++)
                r->slopes[k][i] *= d->a1;
            memcpy(to, w_y, p->n * sizeof *to);
            instances_add_image(&r->part[k], r->slopes[k], to);
            continue;
        }
        instances_image(&r->part[k], r->slopes[k], to);
        for (uint64_t j = 0; j < p->n; j++)
            to[j] = w_y[j] + d->a1 * d->h[j] * to[j];
    }
}

static void begin_momentum(hull_run *r)
{
    dual_run *d = &r->d;
    double t_next = 0.5 * (1 + sqrt(1 + 4 * r->t_now * r->t_now)), beta = (r->t_now - 1) / t_next;
    d->a1 = r->a1;
    d->start = r->moved && beta > 0 ? r->start : NULL;
    if (d->start)
        look_ahead(r, beta);
    r->t_now = t_next;
    memcpy(r->v_before, d->v, d->p->n * sizeof *d->v);
}

/* From X_k (z - start of z) to X_k (z - alpha); the first is what the curvature is measured by. */
static void complete_directions(hull_run *r)
{
    dual_run *d = &r->d;
    const uint64_t n = d->p->n;
    FOR_BLOCKS (k, d->local, d->p->threads) {
        double *dv = d->dv_block[k];
        if (d->models > 1)
            r->apart[k] = vec_dot(dv, dv, n, 1);
        if (!d->start || pool_is_viewed(&d->pool, d->epochs)) /* its image is complete */
            continue;
        instances_add_image(&r->part[k], r->advanced[k], dv);
        d->local_direction[k].largest = vec_largest(dv, n, 1);
    }
}

#define CHUNK 4096

/* a1 by the curvature that the sum of the blocks' moves from y showed, against the block-diagonal one. */
static void end_momentum(hull_run *r, bool uphill)
{
    dual_run *d = &r->d;
    sum together = {0, 0};
    if (uphill)
        r->t_now = 1;
    if (d->models == 1)
        return;
    for (uint64_t first = 0; first < d->p->n; first += CHUNK) {
        uint64_t end = d->p->n - first < CHUNK ? d->p->n : first + CHUNK;
        double part[2] = {0, 0};
        for (uint64_t j = first; j < end; j++) {
            double moved = d->dv[j] - (d->start ? r->v_ahead[j] - d->v[j] : 0);
            part[j % 2] += moved * moved;
        }
        sum_add(&together, part[0] + part[1]);
    }
    memcpy(d->mine, r->apart, d->local * sizeof *d->mine);
    dual_gather(d, 1);
    r->a1 = 0.5 * (r->a1 + dual_overlap(d, sum_value(&together), dual_column_sum(d, 0, 1)));
}

/* The place of a new point: the oldest of its kind gives way. */
static int place_for(hull_run *r, bool solution)
{
    uint64_t kept = solution ? r->kept_solutions++ : r->kept_images++;
    int at = (int)(kept % (uint64_t)r->ring) + (solution ? 0 : r->ring);
    for (int k = 0; k < r->points; k++)
        if (r->point[k] == at)
            return at;
    r->point[r->points++] = at;
    return at;
}

static bool solve(hull_run *r, uint64_t t, double *start, bda_error *err)
{
    dual_run *d = &r->d;
    problem *p = d->p;
    double begin = clock_now();
    if (r->form == HULL_MOMENTUM)
        begin_momentum(r);
    d->report.local_seconds += clock_now() - begin;
    dual_solve(d, t);
    begin = clock_now();
    if (r->form == HULL_MOMENTUM)
        complete_directions(r);
    d->report.local_seconds += clock_now() - begin;
    r->pass_seconds += d->report.local_seconds;
    if (!dual_sum(d, err))
        return false;
    r->message_seconds += d->report.comm_seconds;
    r->an_epoch = d->report.epochs / (double)d->epochs;
    begin = clock_now();
    double eta = dual_step(d), length = fmin(fmax(1, eta), fmax(1, d->direction.limit));
    if (r->form == HULL_MOMENTUM)
        end_momentum(r, eta <= 0);
    int at = place_for(r, true);
    bool ok = true;
    for (uint64_t k = 0; k < d->local; k++)
        ok = block_keep(d->blocks[k], at, length) && ok;
    if (r->form == HULL_MOMENTUM) /* alpha as it is now, for the next round */
        for (uint64_t k = 0; k < d->local; k++)
            ok = block_keep(d->blocks[k], 2 * r->ring, 0) && ok;
    r->moved = true;
    double *point_image = r->image[at];
    FOR_NUMBERS (j, p->n, p->threads)
        point_image[j] = d->v[j] + length * d->dv[j];
    d->rounding += length * d->sum_error;
    r->newest_solution = at;
    d->report.local_seconds += clock_now() - begin - d->report.line_search_seconds;
    d->report.step = eta;
    *start = eta / length;
    for (uint64_t k = 0; k < d->local; k++) /* evaluate tells the others */
        d->local_direction[k].failed = !ok;
    return true;
}

static bool image(hull_run *r, bda_error *err)
{
    dual_run *d = &r->d;
    problem *p = d->p;
    double begin = clock_now(), largest = 0;
    int at = place_for(r, false);
    bool ok = true;
#pragma omp parallel for schedule(dynamic, 1) num_threads(p->threads) if (p->threads > 1) reduction(max : largest)   \
    reduction(&& : ok)
    for (uint64_t k = 0; k < d->local; k++) {
        instances_slopes(&r->part[k], r->z_best[k], r->slopes[k]);
        ok = block_keep_image(d->blocks[k], at, r->slopes[k]) && ok;
        largest = fmax(largest, instances_image(&r->part[k], r->slopes[k], d->dv_block[k]));
    }
    d->report.local_seconds += clock_now() - begin;
    double before = comm_said(p->comm)->seconds, agreed[2] = {largest, ok ? 0 : 1};
    comm_max_reals(p->comm, agreed, 2);
    if (agreed[1] > 0)
        return err_set(err, BDA_FAILED, "%s", DUAL_NO_MEMORY);
    d->rounding += comm_sum_packed(p->comm, p->fields, d->K, agreed[0], (const double *const *)d->dv_block,
                                   (int)d->local, p->n, r->image[at], p->threads);
    dual_add_centre(d, r->image[at]);
    d->report.comm_seconds += comm_said(p->comm)->seconds - before;
    r->newest = at;
    if (!r->smooth)
        return true;
    begin = clock_now(); /* the margins of the way from best to the image */
    const double *aim = r->image[at];
    if (r->aim) {
        p->penalty.kind->gradient(&p->penalty, r->aim, aim);
        aim = r->aim;
    }
    FOR_BLOCKS (k, d->local, p->threads) {
        instances_margins(&r->part[k], aim, r->z_aim[k]);
        for (uint64_t i = 0; i < r->part[k].count * r->part[k].width; i++)
            r->z_aim[k][i] -= r->z_best[k][i];
    }
    d->report.eval_seconds += clock_now() - begin;
    return true;
}

static void search(hull_run *r, double start)
{
    dual_run *d = &r->d;
    double begin = clock_now(), comm_before = comm_said(d->p->comm)->seconds;
    int changed[3] = {HULL_POINTS}, count = 1;
    if (r->with_solution)
        changed[count++] = r->newest_solution;
    if (r->with_image)
        changed[count++] = r->newest;
    if (d->p->penalty.kind->identity)
        hull_products(r, count, changed);
    double decrease = hull_minimise(r, r->with_solution ? r->newest_solution : -1, start);
    double gain = decrease / (fabs(d->f) + decrease + 1e-300);
    if (r->with_image && !r->with_solution)
        r->image_gain = gain;
    else
        r->solution_gain = gain;
    r->since_image = r->with_image ? 0 : r->since_image + 1;
    d->idle_rounds = decrease <= 1e-16 * fabs(d->f) && !r->with_image ? d->idle_rounds + 1 : 0;
    double comm_seconds = comm_said(d->p->comm)->seconds - comm_before;
    d->report.comm_seconds += comm_seconds;
    d->report.line_search_seconds += clock_now() - begin - comm_seconds;
}

/* ---- before and after ---------------------------------------------------------------------------------------- */

static double **take_margins(hull_run *r, bda_error *err)
{
    return instances_new_margins(&r->d.memory, r->part, r->d.local, err);
}

static bool take_momentum(hull_run *r, bda_error *err)
{
    arena *m = &r->d.memory;
    const uint64_t n = r->d.p->n;
    if (!(r->v_before = ARENA_TAKE(m, double, n, err)) || !(r->v_ahead = ARENA_TAKE(m, double, n, err)) ||
        !(r->start = ARENA_TAKE(m, double *, r->d.local + 1, err)) || !(r->advanced = take_margins(r, err)) ||
        !(r->apart = ARENA_TAKE(m, double, r->d.local + 1, err)))
        return false;
    for (uint64_t k = 0; k < r->d.local; k++)
        if (!(r->start[k] = ARENA_TAKE(m, double, n, err)))
            return false;
    return true;
}

/* For the best point and the search for it. */
static bool take_primal(hull_run *r, bda_error *err)
{
    dual_run *d = &r->d;
    const problem *p = d->p;
    arena *m = &d->memory;
    const bool identity = p->penalty.kind->identity && p->penalty.free == 0;
    const uint64_t columns = 3 * (2 * (HULL_POINTS + 1) + 1) + (1 + HULL_POINTS) * (1 + HULL_POINTS);
    if (!(r->part = ARENA_TAKE(m, instances, d->local + 1, err)) || !(r->best = ARENA_TAKE(m, double, p->n, err)) ||
        (r->smooth && !(r->last_step = ARENA_TAKE(m, double, p->n, err))) ||
        !(d->mine = ARENA_TAKE(m, double, (d->local + 1) * columns, err)) ||
        !(d->all = ARENA_TAKE(m, double, d->K *columns, err)))
        return false;
    if (!identity &&
        (!(r->aim = ARENA_TAKE(m, double, p->n, err)) || !(r->factor = ARENA_TAKE(m, double, p->n, err)) ||
         !(r->scratch = ARENA_TAKE(m, double, p->n, err))))
        return false;
    for (uint64_t k = 0; k < d->local; k++)
        r->part[k] = instances_of(p, k);
    if (!(r->z_best = take_margins(r, err)) || !(r->z_now = take_margins(r, err)) ||
        (r->smooth && (!(r->z_step = take_margins(r, err)) || !(r->z_aim = take_margins(r, err)))))
        return false;
    for (uint64_t k = 0; k < d->local; k++)
        d->blocks[k]->margins = r->z_now[k];
    return true;
}

/* For the points with their images. */
static bool take_points(hull_run *r, bda_error *err)
{
    dual_run *d = &r->d;
    arena *m = &d->memory;
    if (!(r->slopes = take_margins(r, err)))
        return false;
    for (int a = 0; a < 2 * r->ring; a++)
        if (!(r->image[a] = ARENA_TAKE(m, double, d->p->n, err)))
            return false;
    for (uint64_t k = 0; k < d->local; k++)
        if (!block_points(d->blocks[k], m, 2 * r->ring + (r->form == HULL_MOMENTUM), err))
            return false;
    return r->form != HULL_MOMENTUM || take_momentum(r, err);
}

bool hull_take_points(hull_run *r, int ring, bda_error *err)
{
    r->ring = ring;
    return comm_agree(r->d.p->comm, take_points(r, err), err);
}

/* What a ring of so many points of each kind takes on this rank. */
static double bytes_kept(const problem *p, int ring)
{
    const double width = (double)p->outputs, rows = (double)p->rows.count;
    const double margins = 6, points = 2 * ring, kept = p->task->kept ? (double)p->task->kept : width;
    const double shared = p->data->blocks > 1 ? 2 * (double)p->data->local_blocks : 0;
    return sizeof(double) * ((double)p->n * (2 * ring + 3 + shared) + rows * (margins * width + points * kept));
}

/* On the rank that has least to spare; the same on all. */
static double worst_share(const problem *p, int ring)
{
    double share = bytes_kept(p, ring) / fmax((double)mem_available_bytes(), 1);
    comm_max_reals(p->comm, &share, 1);
    return share;
}

bool hull_fits(const problem *p)
{
    return worst_share(p, HULL_RING / 2) < 0.3;
}

/* Momentum never needs many more rounds than the others, and often far fewer. */
static hull_form choose_form(const dual_run *d, const method_options *options)
{
    if (options->hull != HULL_DEFAULT)
        return options->hull;
    return pool_is_open(&d->pool) && d->models > 1 ? HULL_FUSED : HULL_MOMENTUM;
}

static const char *const form_names[] = {NULL, "fused", "one-vector", "momentum"};

static int64_t first_epochs(const hull_run *r)
{
    return r->asked_epochs > 0 ? r->asked_epochs : r->form == HULL_MOMENTUM ? LEAST_EPOCHS : 1;
}

static bool hull_open(hull_run *r, problem *p, const preset *preset, const method_options *options, watch *watch,
                      bda_error *err)
{
    memset(r, 0, sizeof *r);
    if (!dual_open(&r->d, preset, p, options, watch, err))
        return false;
    r->form = choose_form(&r->d, options);
    r->choosing = options->hull == HULL_DEFAULT && p->n >= base_sizes.timed_weights;
    r->asked_epochs = options->local_epochs;
    watch->facts.form = form_names[r->form];
    if (!r->d.as_needed)
        watch->facts.local_epochs = first_epochs(r);
    if (r->form == HULL_MOMENTUM && pool_is_open(&r->d.pool) && r->d.models > 1)
        return err_set(
            err, BDA_USAGE,
            "--hull=momentum with --threads-mode=lock-free needs all ranks on one machine; --hull=fused or "
            "one-vector do not");
    return dual_begin(&r->d, watch, err);
}

bool hull_begin_primal(hull_run *r, bda_error *err)
{
    problem *p = r->d.p;
    r->smooth = p->penalty.kind->smooth && p->task->smooth;
    r->newest = -1;
    r->stretch = 0.25;
    r->length_patience = 1;
    r->best_primal = INFINITY;
    r->d.f = INFINITY;
    if (!comm_agree(p->comm, take_primal(r, err), err))
        return false;
    if (r->factor)
        p->penalty.kind->bend(&p->penalty, r->factor);
    if (p->start) {
        memcpy(r->best, p->start, p->n * sizeof *r->best);
        FOR_BLOCKS (k, r->d.local, p->threads)
            instances_margins(&r->part[k], r->best, r->z_best[k]);
        r->best_primal = p->start_primal;
    }
    return true;
}

#define UNDER_WAY 5.0 /* of the sequence of momentum, where plain rounds of one model have found the way */

/* From the alpha that there is. */
static bool hull_begin(hull_run *r, bda_error *err)
{
    problem *p = r->d.p;
    r->d.epochs = first_epochs(r);
    r->ring = worst_share(p, HULL_RING) < 0.5 ? HULL_RING : HULL_RING / 2;
    r->t_now = r->d.as_needed && r->d.models == 1 ? UNDER_WAY : 1;
    r->a1 = 1;
    r->an_epoch = 1;
    r->d.as_needed = false;
    return (r->best || hull_begin_primal(r, err)) && hull_take_points(r, r->ring, err);
}

static void hull_close(hull_run *r)
{
    dual_close(&r->d);
}
