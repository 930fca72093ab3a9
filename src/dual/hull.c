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
    if (ok && !stop && r.d.epochs.adaptive) {
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
        if (r.turn.with_solution)
            ok = solve(&r, t, &start, err); /* a local solution joins the hull: one vector */
        if (ok && r.turn.with_image)
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
    const span span = span_begin(p->comm);
    FOR_BLOCKS (k, d->local, p->threads)
        block_evaluate(d->blocks[k], d->w, 0, &d->value[k]);
    for (uint64_t k = 0; k < d->local; k++) {
        double *to = d->scalars.mine + k * COLUMNS;
        to[LOSS] = d->value[k].loss;
        to[CONJUGATE] = d->value[k].conjugate;
        to[GAP] = d->value[k].gap;
        to[FAILED] = d->direction.of_block[k].failed;
    }
    scalars_gather(&d->scalars, COLUMNS);
    if (scalars_max(&d->scalars, FAILED) > 0)
        return err_set(err, BDA_FAILED, "%s", DUAL_NO_MEMORY);
    const regulariser *reg = p->penalty.kind;
    double g = reg->value(&p->penalty, d->w), before = d->f;
    r->primal.now_value = g + scalars_sum(&d->scalars, LOSS);
    d->f = (reg->identity ? g : reg->conjugate(&p->penalty, d->v)) + scalars_sum(&d->scalars, CONJUGATE);
    const double rounding = p->fields > 1 ? 1e-6 : 1e-9;
    assert(p->penalty.free > 0 || !(d->f > before + rounding * (fabs(before) + scalars_sum(&d->scalars, GAP))));
    (void)rounding;
    (void)before;
    span_end(&span, &d->report, SPENT_EVALUATION);
    return true;
}

static void choose_fewer(hull_run *r)
{
    if (r->form == HULL_MOMENTUM)
        r->phase = HULL_FEWER_IMAGES;
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
    if (r->asked_epochs > 0 || r->form != HULL_MOMENTUM || d->model.count > 1 || d->pool.queues || p->task->entropic)
        return;
    pace_observe(&d->epochs.pace, d->watch->to_go, (double)d->epochs.count);
    const double rest = REST_OF_ROUND + REST_VECTORS * (double)p->n / fmax((double)p->nonzeros, 1);
    const double needed =
        d->epochs.pace.left > 0 ? ceil(EPOCHS_BEFORE_NEXT_CHECK * d->epochs.pace.left) : MOST_EPOCHS;
    d->epochs.count = (int64_t)fmax(fmin(fmin(rint(rest / r->epoch_cell_share), needed), MOST_EPOCHS), LEAST_EPOCHS);
}

/* The points and the momentum, whose images may be as wrong as v was. */
static void forget(hull_run *r)
{
    r->points.count = 0;
    r->points.solutions = r->points.images = 0;
    r->primal.newest_image = -1;
    r->momentum.moved = false;
    r->momentum.t = 1;
}

/* The gap of best and alpha, term by term. */
bool hull_report(hull_run *r, uint64_t t)
{
    enum { GAP, SECONDS, INTERRUPTED, MESSAGE, PASS, COLUMNS };
    dual_run *d = &r->d;
    problem *p = d->p;
    const span span = span_begin(p->comm);
    const rank_view view = report_begin(d->watch);
    FOR_BLOCKS (k, d->local, p->threads) {
        double *to = d->scalars.mine + k * COLUMNS;
        to[GAP] = block_gap(d->blocks[k], r->primal.z_best[k]);
        report_put(view, to + SECONDS);
        to[MESSAGE] = -r->times.messages; /* the rank that waits least */
        to[PASS] = r->times.passes;
    }
    scalars_gather(&d->scalars, COLUMNS);
    if (r->phase == HULL_TIMING && t == TIMED_ROUNDS) {
        r->phase = HULL_FULL;
        if (-scalars_max(&d->scalars, MESSAGE) > 0.5 * scalars_max(&d->scalars, PASS))
            choose_fewer(r);
    }
    round_report *to = &d->report;
    to->round = t;
    to->primal = r->primal.best_value;
    to->dual = d->f;
    const double terms = scalars_sum(&d->scalars, GAP);
    to->gap = terms + p->penalty.kind->distance(&p->penalty, r->primal.best, d->v);
    report_end(to, &d->scalars, SECONDS);
    to->stalled = d->search.idle_rounds >= 10;
    to->blocks = d->blocks;
    to->kept_best = true;
    to->shares = pool_is_open(&d->pool);
    to->choice = hull_choice(r);
    span_end(&span, to, SPENT_EVALUATION);
    const double price = dual_price(d, r->primal.z_best, r->primal.best, 1);
    d->f = to->dual;
    dual_certify(d, r->primal.best, terms + price);
    bool stop = stage_report(d->watch, to, r->primal.best);
    if (dual_repair(d, stop)) /* what was built on v goes with it */
        forget(r);
    hull_recentre(r);
    if (r->phase == HULL_WARM_UP)
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
    bool due = r->primal.newest_image < 0;
    r->turn.with_solution = true;
    r->turn.with_image = due;
    if (r->phase == HULL_FEWER_IMAGES)
        r->turn.with_image = due && r->turn.since_image >= SPARING;
    if (r->form != HULL_ONE_VECTOR || !due)
        return;
    bool turn =
        r->turn.since_image > 0 && (r->turn.image_gain >= 0.5 * r->turn.solution_gain || r->turn.since_image >= 4);
    r->turn.with_image = turn;
    r->turn.with_solution = !turn;
}

/* The sub-problems are linearised at y = alpha + beta (alpha - alpha before), and solved from z = y, moved into the
 * domain. The gradient of a block's model there is grad g*(v_y) + a1 H X_k (z - y)_k. */
static void look_ahead(hull_run *r, double beta)
{
    dual_run *d = &r->d;
    const problem *p = d->p;
    const double *w_y = r->momentum.v_ahead;
    for (uint64_t j = 0; j < p->n; j++)
        r->momentum.v_ahead[j] = d->v[j] + beta * (d->v[j] - r->momentum.v_before[j]);
    if (d->model.h) {
        p->penalty.kind->curvature(&p->penalty, d->model.h, r->momentum.v_ahead, false);
        p->penalty.kind->gradient(&p->penalty, r->scratch, r->momentum.v_ahead);
        w_y = r->scratch;
    }
    d->ahead.w = w_y;
    FOR_BLOCKS (k, d->local, p->threads) {
        double *to = r->momentum.w_block[k];
        block_advance(d->blocks[k], 2 * r->points.ring, beta, r->slopes[k], r->momentum.advanced[k]);
        if (!d->model.h) {
            for (uint64_t i = 0; i < r->primal.part[k].count * r->primal.part[k].width; i++)
                r->slopes[k][i] *= d->model.a1;
            memcpy(to, w_y, p->n * sizeof *to);
            instances_add_image(&r->primal.part[k], r->slopes[k], to);
            continue;
        }
        instances_image(&r->primal.part[k], r->slopes[k], to);
        for (uint64_t j = 0; j < p->n; j++)
            to[j] = w_y[j] + d->model.a1 * d->model.h[j] * to[j];
    }
}

static void begin_momentum(hull_run *r)
{
    dual_run *d = &r->d;
    double t_next = 0.5 * (1 + sqrt(1 + 4 * r->momentum.t * r->momentum.t)), beta = (r->momentum.t - 1) / t_next;
    d->model.a1 = r->momentum.a1;
    d->ahead.w_block = r->momentum.moved && beta > 0 ? r->momentum.w_block : NULL;
    if (d->ahead.w_block)
        look_ahead(r, beta);
    r->momentum.t = t_next;
    memcpy(r->momentum.v_before, d->v, d->p->n * sizeof *d->v);
}

/* From X_k (z - start of z) to X_k (z - alpha); the first is what the curvature is measured by. */
static void complete_directions(hull_run *r)
{
    dual_run *d = &r->d;
    const uint64_t n = d->p->n;
    FOR_BLOCKS (k, d->local, d->p->threads) {
        double *dv = d->direction.dv_block[k];
        if (d->model.count > 1)
            r->momentum.block_norms2[k] = vec_dot(dv, dv, n, 1);
        if (!d->ahead.w_block || pool_is_viewed(&d->pool, d->epochs.count)) /* its image is complete */
            continue;
        instances_add_image(&r->primal.part[k], r->momentum.advanced[k], dv);
        d->direction.of_block[k].largest = vec_largest(dv, n, 1);
    }
}

#define CHUNK 4096

/* a1 by the curvature that the sum of the blocks' moves from y showed, against the block-diagonal one. */
static void end_momentum(hull_run *r, bool uphill)
{
    dual_run *d = &r->d;
    sum together = {0, 0};
    if (uphill)
        r->momentum.t = 1;
    if (d->model.count == 1)
        return;
    for (uint64_t first = 0; first < d->p->n; first += CHUNK) {
        uint64_t end = d->p->n - first < CHUNK ? d->p->n : first + CHUNK;
        double part[2] = {0, 0};
        for (uint64_t j = first; j < end; j++) {
            double moved = d->direction.dv[j] - (d->ahead.w_block ? r->momentum.v_ahead[j] - d->v[j] : 0);
            part[j % 2] += moved * moved;
        }
        sum_add(&together, part[0] + part[1]);
    }
    memcpy(d->scalars.mine, r->momentum.block_norms2, d->local * sizeof *d->scalars.mine);
    scalars_gather(&d->scalars, 1);
    r->momentum.a1 = 0.5 * (r->momentum.a1 + dual_overlap(d, sum_value(&together), scalars_sum(&d->scalars, 0)));
}

/* The place of a new point: the oldest of its kind gives way. */
static int place_for(hull_run *r, bool solution)
{
    uint64_t kept = solution ? r->points.solutions++ : r->points.images++;
    int at = (int)(kept % (uint64_t)r->points.ring) + (solution ? 0 : r->points.ring);
    for (int k = 0; k < r->points.count; k++)
        if (r->points.used[k] == at)
            return at;
    r->points.used[r->points.count++] = at;
    return at;
}

static bool solve(hull_run *r, uint64_t t, double *start, bda_error *err)
{
    dual_run *d = &r->d;
    problem *p = d->p;
    span span = span_begin(p->comm);
    if (r->form == HULL_MOMENTUM)
        begin_momentum(r);
    span_end(&span, &d->report, SPENT_LOCAL);
    dual_solve(d, t);
    span = span_begin(p->comm);
    if (r->form == HULL_MOMENTUM)
        complete_directions(r);
    span_end(&span, &d->report, SPENT_LOCAL);
    r->times.passes += d->report.spent[SPENT_LOCAL];
    if (!dual_sum(d, err))
        return false;
    r->times.messages += d->report.spent[SPENT_MESSAGES];
    r->epoch_cell_share = d->report.epochs / (double)d->epochs.count;
    double eta = dual_step(d), length = fmin(fmax(1, eta), fmax(1, d->direction.all.limit));
    span = span_begin(p->comm);
    if (r->form == HULL_MOMENTUM)
        end_momentum(r, eta <= 0);
    int at = place_for(r, true);
    bool ok = true;
    for (uint64_t k = 0; k < d->local; k++)
        ok = block_keep(d->blocks[k], at, length) && ok;
    if (r->form == HULL_MOMENTUM) /* alpha as it is now, for the next round */
        for (uint64_t k = 0; k < d->local; k++)
            ok = block_keep(d->blocks[k], 2 * r->points.ring, 0) && ok;
    r->momentum.moved = true;
    double *point_image = r->points.image[at];
    FOR_NUMBERS (j, p->n, p->threads)
        point_image[j] = d->v[j] + length * d->direction.dv[j];
    d->drift.rounding += length * d->drift.sum_error;
    r->points.newest_solution = at;
    span_end(&span, &d->report, SPENT_LOCAL);
    d->report.step = eta;
    *start = eta / length;
    for (uint64_t k = 0; k < d->local; k++) /* evaluate tells the others */
        d->direction.of_block[k].failed = !ok;
    return true;
}

static bool image(hull_run *r, bda_error *err)
{
    dual_run *d = &r->d;
    problem *p = d->p;
    double largest = 0;
    span span = span_begin(p->comm);
    int at = place_for(r, false);
    bool ok = true;
#pragma omp parallel for schedule(dynamic, 1) num_threads(p->threads) if (p->threads > 1) reduction(max : largest)   \
    reduction(&& : ok)
    for (uint64_t k = 0; k < d->local; k++) {
        instances_slopes(&r->primal.part[k], r->primal.z_best[k], r->slopes[k]);
        ok = block_keep_image(d->blocks[k], at, r->slopes[k]) && ok;
        largest = fmax(largest, instances_image(&r->primal.part[k], r->slopes[k], d->direction.dv_block[k]));
    }
    span_end(&span, &d->report, SPENT_LOCAL);
    double agreed[2] = {largest, ok ? 0 : 1};
    span = span_begin(p->comm);
    comm_max_reals(p->comm, agreed, 2);
    if (agreed[1] > 0)
        return err_set(err, BDA_FAILED, "%s", DUAL_NO_MEMORY);
    d->drift.rounding +=
        comm_sum_packed(p->comm, p->fields, d->K, agreed[0], (const double *const *)d->direction.dv_block,
                        (int)d->local, p->n, r->points.image[at], p->threads);
    dual_add_centre(d, r->points.image[at]);
    span_end(&span, &d->report, SPENT_MESSAGES);
    r->primal.newest_image = at;
    if (!r->primal.smooth)
        return true;
    span = span_begin(p->comm); /* the margins of the way from best to the image */
    const double *aim = r->points.image[at];
    if (r->primal.aim) {
        p->penalty.kind->gradient(&p->penalty, r->primal.aim, aim);
        aim = r->primal.aim;
    }
    FOR_BLOCKS (k, d->local, p->threads) {
        instances_margins(&r->primal.part[k], aim, r->primal.z_aim[k]);
        for (uint64_t i = 0; i < r->primal.part[k].count * r->primal.part[k].width; i++)
            r->primal.z_aim[k][i] -= r->primal.z_best[k][i];
    }
    span_end(&span, &d->report, SPENT_EVALUATION);
    return true;
}

static void search(hull_run *r, double start)
{
    dual_run *d = &r->d;
    const span span = span_begin(d->p->comm);
    int changed[3] = {HULL_POINTS}, count = 1;
    if (r->turn.with_solution)
        changed[count++] = r->points.newest_solution;
    if (r->turn.with_image)
        changed[count++] = r->primal.newest_image;
    if (d->p->penalty.kind->identity)
        hull_products(r, count, changed);
    double decrease = hull_minimise(r, r->turn.with_solution ? r->points.newest_solution : -1, start);
    double gain = decrease / (fabs(d->f) + decrease + 1e-300);
    if (r->turn.with_image && !r->turn.with_solution)
        r->turn.image_gain = gain;
    else
        r->turn.solution_gain = gain;
    r->turn.since_image = r->turn.with_image ? 0 : r->turn.since_image + 1;
    d->search.idle_rounds = decrease <= 1e-16 * fabs(d->f) && !r->turn.with_image ? d->search.idle_rounds + 1 : 0;
    span_end(&span, &d->report, SPENT_LINE_SEARCH);
}

/* ---- before and after ---------------------------------------------------------------------------------------- */

static double **take_margins(hull_run *r, bda_error *err)
{
    return instances_new_margins(&r->d.memory, r->primal.part, r->d.local, err);
}

static bool take_momentum(hull_run *r, bda_error *err)
{
    arena *m = &r->d.memory;
    const uint64_t n = r->d.p->n;
    if (!(r->momentum.v_before = ARENA_TAKE(m, double, n, err)) ||
        !(r->momentum.v_ahead = ARENA_TAKE(m, double, n, err)) ||
        !(r->momentum.w_block = ARENA_TAKE(m, double *, r->d.local + 1, err)) ||
        !(r->momentum.advanced = take_margins(r, err)) ||
        !(r->momentum.block_norms2 = ARENA_TAKE(m, double, r->d.local + 1, err)))
        return false;
    for (uint64_t k = 0; k < r->d.local; k++)
        if (!(r->momentum.w_block[k] = ARENA_TAKE(m, double, n, err)))
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
    const int columns = 3 * (2 * (HULL_POINTS + 1) + 1) + (1 + HULL_POINTS) * (1 + HULL_POINTS);
    if (!(r->primal.part = ARENA_TAKE(m, instances, d->local + 1, err)) ||
        !(r->primal.best = ARENA_TAKE(m, double, p->n, err)) ||
        (r->primal.smooth && !(r->primal.last_step = ARENA_TAKE(m, double, p->n, err))) ||
        !scalars_take(&d->scalars, m, columns, err))
        return false;
    if (!identity &&
        (!(r->primal.aim = ARENA_TAKE(m, double, p->n, err)) ||
         !(r->primal.factor = ARENA_TAKE(m, double, p->n, err)) || !(r->scratch = ARENA_TAKE(m, double, p->n, err))))
        return false;
    for (uint64_t k = 0; k < d->local; k++)
        r->primal.part[k] = instances_of(p, k);
    if (!(r->primal.z_best = take_margins(r, err)) || !(r->primal.z_now = take_margins(r, err)) ||
        (r->primal.smooth &&
         (!(r->primal.z_step = take_margins(r, err)) || !(r->primal.z_aim = take_margins(r, err)))))
        return false;
    for (uint64_t k = 0; k < d->local; k++)
        d->blocks[k]->margins = r->primal.z_now[k];
    return true;
}

/* For the points with their images. */
static bool take_points(hull_run *r, bda_error *err)
{
    dual_run *d = &r->d;
    arena *m = &d->memory;
    if (!(r->slopes = take_margins(r, err)))
        return false;
    for (int a = 0; a < 2 * r->points.ring; a++)
        if (!(r->points.image[a] = ARENA_TAKE(m, double, d->p->n, err)))
            return false;
    for (uint64_t k = 0; k < d->local; k++)
        if (!block_points(d->blocks[k], m, 2 * r->points.ring + (r->form == HULL_MOMENTUM), err))
            return false;
    return r->form != HULL_MOMENTUM || take_momentum(r, err);
}

bool hull_take_points(hull_run *r, int ring, bda_error *err)
{
    r->points.ring = ring;
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
    return pool_is_open(&d->pool) && d->model.count > 1 ? HULL_FUSED : HULL_MOMENTUM;
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
    r->phase = options->hull == HULL_DEFAULT && p->n >= base_sizes.timed_weights ? HULL_TIMING : HULL_FULL;
    r->asked_epochs = options->local_epochs;
    watch->facts.form = form_names[r->form];
    if (!r->d.epochs.adaptive)
        watch->facts.local_epochs = first_epochs(r);
    if (r->form == HULL_MOMENTUM && pool_is_open(&r->d.pool) && r->d.model.count > 1)
        return err_set(
            err, BDA_USAGE,
            "--hull=momentum with --threads-mode=lock-free needs all ranks on one machine; --hull=fused or "
            "one-vector do not");
    return dual_begin(&r->d, watch, err);
}

bool hull_begin_primal(hull_run *r, bda_error *err)
{
    problem *p = r->d.p;
    r->primal.smooth = p->penalty.kind->smooth && p->task->smooth;
    r->primal.newest_image = -1;
    r->primal.stretch = 0.25;
    r->primal.length_patience = 1;
    r->primal.best_value = INFINITY;
    r->d.f = INFINITY;
    if (!comm_agree(p->comm, take_primal(r, err), err))
        return false;
    if (r->primal.factor)
        p->penalty.kind->bend(&p->penalty, r->primal.factor);
    if (p->start) {
        memcpy(r->primal.best, p->start, p->n * sizeof *r->primal.best);
        FOR_BLOCKS (k, r->d.local, p->threads)
            instances_margins(&r->primal.part[k], r->primal.best, r->primal.z_best[k]);
        r->primal.best_value = p->start_primal;
    }
    return true;
}

#define MOMENTUM_WARM_T 5.0 /* t of the sequence of momentum after warm-up rounds of one model */

/* From the alpha that there is. */
static bool hull_begin(hull_run *r, bda_error *err)
{
    problem *p = r->d.p;
    r->d.epochs.count = first_epochs(r);
    r->points.ring = worst_share(p, HULL_RING) < 0.5 ? HULL_RING : HULL_RING / 2;
    r->momentum.t = r->d.epochs.adaptive && r->d.model.count == 1 ? MOMENTUM_WARM_T : 1;
    r->momentum.a1 = 1;
    r->epoch_cell_share = 1;
    r->d.epochs.adaptive = false;
    return (r->primal.best || hull_begin_primal(r, err)) && hull_take_points(r, r->points.ring, err);
}

static void hull_close(hull_run *r)
{
    dual_close(&r->d);
}
