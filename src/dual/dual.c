/* dual.c - Algorithm 2 of Lee and Chang: distributed block-diagonal approximation for the dual of regularised ERM.
 *
 *     minimise  f(alpha) = g*(X alpha) + sum_i xi_i*(-alpha_i)
 *
 * In each round every block k minimises its own part of the quadratic model with B = a1 blockdiag(X_k' H X_k) + a2 I,
 * one message adds up dv = X da, a step is chosen, and everyone moves. Presets (presets.c) differ in a1, a2 and step.
 */
#include "dual/dual.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/vector.h"
#include "dual/accelerate.h"
#include "problem/start.h"
#include "problem/structured.h"

/* Algorithm 2. */
bool dual_train(const method *self, problem *p, const method_options *options, watch *watch, bda_error *err)
{
    if (options->accelerate)
        return dual_accelerated(self, p, options, watch, err);
    dual_run r;
    bool ok = dual_open(&r, self->preset, p, options, watch, err); /* alpha = 0, v = 0 */
    ok = ok && dual_begin(&r, watch, err);                         /* or those of --start */
    if (ok)
        dual_begin_lengths(&r, options);
    const method_state state = {&r, dual_whole, dual_block};
    for (uint64_t t = 0; ok; t++) {
        if (dual_look(&r, watch, &state,
                      &t)) /* w = grad g*(v); P(w), f(alpha), their gap; the best w is kept; stop? */
            break;
        dual_solve(&r, t);      /* da_k ~ argmin of the model on block k, dv_k = X_k da_k */
        ok = dual_sum(&r, err); /* dv = sum_k dv_k: the one vector of the round */
        if (!ok)
            break;
        double eta = dual_step(&r); /* Algorithm 1, or the exact minimum along the ray */
        dual_move(&r, eta);         /* alpha += eta da, v += eta dv */
    }
    dual_close(&r);
    return ok;
}

/* ---- the lines of the loop ---------------------------------------------------------------------------------- */

double dual_overlap(const dual_run *r, double together, double apart)
{
    return apart > 0 ? fmin(fmax(together / apart, 1), (double)r->K) : 1;
}

#define MOST_EPOCHS 8
#define EVALUATION_COST 0.5
#define EVALUATION_COST_OF_CLASSES 2.5

/* Against a pass over all cells. An evaluation wants the scores of all classes, where a visit of Crammer and Singer's
 * wants those of few, and a round goes through a w for each of them several times. */
static double evaluation_cost(const problem *p)
{
    return p->task->sparse ? EVALUATION_COST_OF_CLASSES : EVALUATION_COST;
}

/* With one model so many passes that the next look is worth it, and a little fewer than all that seem to be needed;
 * all where they cost less than a look. */
void dual_choose_epochs(dual_run *r)
{
    const double cost = r->report.epochs / (double)r->epochs.count; /* of a pass, against one over all */
    pace_observe(&r->epochs.pace, r->watch->to_go, (double)r->epochs.count);
    double worth_a_look = ceil(fmin(r->epochs.pace.left, fmin(evaluation_cost(r->p) / cost, MOST_EPOCHS)));
    double passes = fmax(fmax(1, EPOCHS_BEFORE_NEXT_CHECK * r->epochs.pace.left), worth_a_look);
    r->epochs.count = r->model.count > 1 || r->pool.queues ? 1 : (int64_t)fmin(passes, MOST_EPOCHS);
}

/* The blocks' alpha'X'w is w'v, but for rounding: otherwise v is not X alpha, and the sums below are not P(t w). Then the
 * model is w until dual_certify has put it right. Free intercepts are in one of the two alone. */
#define SURELY_OFF 1e-5

static bool is_image(const dual_run *r, double by_alpha, double by_v)
{
    return r->p->penalty.free > 0 || fabs(by_alpha - by_v) <= SURELY_OFF * by_v;
}

/* Where a loss has a kink at the margin, P(w) is late: blocks that do not know of each other leave most support
 * vectors a little short of it, and each adds to P. So the model is t w with the t >= 1 of a few at which P is least.
 * That takes no part in the rest, costs no message, and t goes to 1. For all regularisers g(t w) = a t^2 + b t, hence
 *     P(t w) + f(alpha) = sum_i [xi_i(t z_i) + xi_i*(-alpha_i) + alpha_i t z_i] + (t - 1)^2 g*(v),
 * less t b'(sum of alpha) for free intercepts b.  */
static void choose_length(dual_run *r, double g_star, int column)
{
    r->report.stretches = true;
    r->report.plain_primal = r->report.primal;
    static const double many[BLOCK_LENGTHS] = {0.125, 0.25, 0.5, 0.7, 1, 1.4, 2, 4}, few[] = {0.6, 1, 1.6};
    const int count = r->p->task->lengths;
    const double *around = count == BLOCK_LENGTHS ? many : few; /* of the last t - 1 */
    const double turned = dual_turned(r);
    double stretch = 0, least = r->report.gap - turned;
    for (int k = 0; k < count; k++) {
        double more = r->scales.factor[k] - 1, gap = scalars_sum(&r->scalars, column + k) + more * more * g_star;
        const double falls = gap - r->scales.factor[k] * turned;
        if (falls < least) {
            least = falls;
            r->report.gap = gap;
            r->report.primal = falls - r->f;
            stretch = more;
        }
    }
    r->report.stretch = stretch;
    double next = fmax(stretch > 0 ? stretch : 0.1 * (r->scales.factor[0] - 1), 1e-9);
    for (int k = 0; k < count; k++)
        r->scales.factor[k] = 1 + next * around[k];
}

void dual_begin_lengths(dual_run *r, const method_options *options)
{
    const int count = r->p->task->lengths;
    r->scales.tried = !options->no_scaling && r->model.count > 1 && count > 0;
    for (int k = 0; k < count; k++)
        r->scales.factor[k] = 1 + ldexp(1, -2 * k);
    for (uint64_t k = 0; r->scales.tried && k < r->local; k++)
        r->blocks[k]->lengths = r->scales.factor;
}

/* Primal, dual and gap by one pass over the local rows and one message of scalars; then the watch decides. The
 * message also carries what else all ranks must agree on before they may stop. */
bool dual_evaluate(dual_run *r, uint64_t t)
{
    enum { CELLS, LOSS, CONJUGATE, GAP, SECONDS, INTERRUPTED, GAP_AT, COLUMNS = GAP_AT + BLOCK_LENGTHS };
    problem *p = r->p;
    const span span = span_begin(p->comm);
    const double *w = t == 0 && vec_largest(r->w, p->n, p->threads) == 0 ? NULL : r->w;
    FOR_BLOCKS (k, r->local, p->threads)
        block_evaluate(r->blocks[k], w, r->travelled, &r->value[k]);
    const rank_view view = report_begin(r->watch);
    const int columns = r->scales.tried ? COLUMNS : GAP_AT;
    for (uint64_t k = 0; k < r->local; k++) {
        double *to = r->scalars.mine + k * (uint64_t)columns;
        to[CELLS] = r->value[k].cells;
        to[LOSS] = r->value[k].loss;
        to[CONJUGATE] = r->value[k].conjugate;
        to[GAP] = r->value[k].gap;
        report_put(view, to + SECONDS);
        if (r->scales.tried)
            memcpy(to + GAP_AT, r->value[k].gap_at, sizeof r->value[k].gap_at);
    }
    scalars_gather(&r->scalars, columns);
    r->epochs.eval_cell_share = scalars_sum(&r->scalars, CELLS) / fmax((double)p->nonzeros, 1);

    round_report *report = &r->report;
    report->round = t;
    const regulariser *reg = p->penalty.kind;
    double g = reg->value(&p->penalty, r->w);
    double g_star = reg->identity ? g : reg->conjugate(&p->penalty, r->v);
    report->primal = g + scalars_sum(&r->scalars, LOSS);
    report->dual = r->f = g_star + scalars_sum(&r->scalars, CONJUGATE);
    const double terms = scalars_sum(&r->scalars, GAP);
    report->gap = terms; /* g(w) + g*(v) = w'v, so this is all of it */
    const double said = scalars_sum(&r->scalars, LOSS) + scalars_sum(&r->scalars, CONJUGATE);
    if (r->scales.tried && is_image(r, terms - said, g + g_star))
        choose_length(r, g_star, GAP_AT);
    report_end(report, &r->scalars, SECONDS);
    report->stalled = r->search.idle_rounds >= 10;
    span_end(&span, report, SPENT_EVALUATION);
    report->blocks = r->blocks;
    report->shares = pool_is_open(&r->pool);
    const double price = dual_price(r, r->margins, r->w, 1 + report->stretch);
    r->f = report->dual;
    dual_certify(r, r->w, terms + price);
    bool stop = stage_report(r->watch, report, r->w);
    dual_repair(r, stop);
    dual_recentre(r);
    if (r->epochs.adaptive)
        dual_choose_epochs(r);
    *report = (round_report){0};
    return stop;
}

/* Blocks that share a u and wait for each other are taken in random order, as rows are in a block. */
static void shuffle_turns(dual_run *r, uint64_t t)
{
    rng random;
    rng_open(&random, r->seed, t, r->K + r->p->data->first_block); /* below K: the blocks' own */
    rng_shuffle(&random, r->turn, (uint32_t)r->local);
}

void dual_solve(dual_run *r, uint64_t t)
{
    problem *p = r->p;
    subproblem s = {.h = r->model.h,
                    .a1 = r->model.a1,
                    .a2 = r->model.a2,
                    .separate = r->model.separate,
                    .epochs = r->epochs.count,
                    .learning = r->epochs.learning,
                    .settled_outputs = r->epochs.settled_outputs,
                    .pool = r->ahead.w_block ? r->ahead.w : r->w,
                    .seed = r->seed,
                    .round = t,
                    .trial = r->search.trial,
                    .trials = r->search.trials};
    const span span = span_begin(p->comm);
    if (pool_is_open(&r->pool)) {
        pool_fill(&r->pool, s.pool);
        shuffle_turns(r, t);
    }
    if (r->model.h && !r->ahead.w_block) /* a step without a search must be safe whatever way v goes */
        p->penalty.kind->curvature(&p->penalty, r->model.h, r->v, r->search.kind == SEARCH_NONE);
    FOR_BLOCKS (j, r->local, p->threads) {
        const uint64_t k = r->turn[j];
        subproblem own = s;
        own.w = r->ahead.w_block ? r->ahead.w_block[k] : r->w;
        own.seat = pool_is_open(&r->pool) ? &r->pool.seat[k] : NULL;
        block_solve(r->blocks[k], &own, r->direction.dv_block[k], &r->direction.of_block[k]);
    }
    span_end(&span, &r->report, SPENT_LOCAL);
}

/* A small message first: the scalars of the ray, and the largest |dv_j|, which sets the grid on which the vector can
 * be added up without rounding. Then the vector. */
bool dual_sum(dual_run *r, bda_error *err)
{
    enum { LARGEST, CELLS, SLOPE, CURVE, LIMIT, FAILED, APART, CHANGE, COLUMNS = CHANGE + BLOCK_TRIALS };
    problem *p = r->p;
    const span messages = span_begin(p->comm);
    for (uint64_t k = 0; k < r->local; k++) {
        const block_direction *d = &r->direction.of_block[k];
        double *to = r->scalars.mine + k * COLUMNS;
        to[LARGEST] = d->largest;
        to[CELLS] = d->cells;
        to[SLOPE] = d->slope;
        to[CURVE] = d->curve;
        to[LIMIT] = -d->limit;
        to[FAILED] = d->failed;
        to[APART] =
            r->model.adaptive_a1 ? vec_dot(r->direction.dv_block[k], r->direction.dv_block[k], p->n, p->threads) : 0;
        for (int j = 0; j < BLOCK_TRIALS; j++)
            to[CHANGE + j] = d->change[j];
    }
    scalars_gather(&r->scalars, COLUMNS);
    block_direction *all = &r->direction.all;
    all->largest = scalars_max(&r->scalars, LARGEST);
    r->drift.largest_added = fmax(r->drift.largest_added, all->largest);
    all->cells = scalars_sum(&r->scalars, CELLS);
    all->slope = scalars_sum(&r->scalars, SLOPE);
    all->curve = scalars_sum(&r->scalars, CURVE);
    all->limit = fmax(1, -scalars_max(&r->scalars, LIMIT)); /* alpha + d is feasible; below 1 by rounding alone */
    if (scalars_max(&r->scalars, FAILED) > 0)
        return err_set(err, BDA_FAILED, "%s", DUAL_NO_MEMORY);
    for (int j = 0; j < BLOCK_TRIALS; j++)
        all->change[j] = scalars_sum(&r->scalars, CHANGE + j);
    r->drift.sum_error =
        comm_sum_packed(p->comm, p->fields, r->K, all->largest, (const double *const *)r->direction.dv_block,
                        (int)r->local, p->n, r->direction.dv, p->threads);
    if (r->model.adaptive_a1)
        r->model.a1 = dual_overlap(r, vec_dot(r->direction.dv, r->direction.dv, p->n, p->threads),
                                   scalars_sum(&r->scalars, APART));
    span_end(&messages, &r->report, SPENT_MESSAGES);
    r->report.epochs = p->nonzeros ? all->cells / (double)p->nonzeros : (double)r->epochs.count;
    return true;
}

void dual_move(dual_run *r, double eta)
{
    problem *p = r->p;
    const span span = span_begin(p->comm);
    FOR_BLOCKS (k, r->local, p->threads)
        block_move(r->blocks[k], eta);
    vec_add(r->v, eta, r->direction.dv, p->n, p->threads);
    r->drift.rounding += fabs(eta) * r->drift.sum_error;
    r->drift.largest_added = fmax(r->drift.largest_added, fabs(eta) * r->direction.all.largest);
    r->report.step = eta;
    span_end(&span, &r->report, SPENT_LOCAL);
}

/* ---- before and after ---------------------------------------------------------------------------------------- */

#define PAPER_LEARNING_EPOCHS 10 /* of structures, after each inference (section 7.2) */

static double choose_a1(const preset *preset, const problem *p, const method_options *o)
{
    if (o->a1_is_blocks)
        return (double)p->data->blocks;
    if (!isnan(o->a1))
        return o->a1;
    switch (preset->a1) {
    case A1_ZERO:
        return 0;
    case A1_ONE:
        return 1;
    case A1_BLOCKS:
        return (double)p->data->blocks;
    case A1_INSTANCES:
        return (double)p->data->instances;
    }
    return NAN;
}

/* Collective where the preset wants the largest norm. */
static double choose_a2(dual_run *r, const preset *preset, const method_options *o)
{
    if (!isnan(o->a2))
        return o->a2;
    bool strongly_convex =
        r->p->loss->smooth &&
        (!r->p->task->structure || r->p->task->smooth); /* of the conjugate: the loss has a Lipschitz gradient */
    if (preset->a2 == A2_DAMPED)                        /* with one block the model is the dual itself */
        return strongly_convex || r->model.count == 1 ? 0 : 1e-3;
    if (preset->a2 == A2_ZERO)
        return 0;
    double largest = 0;
    for (uint64_t k = 0; k < r->local; k++)
        largest = fmax(largest, block_largest_norm(r->blocks[k]));
    comm_max_reals(r->p->comm, &largest, 1);
    return largest > 0 ? largest : 1;
}

static double choose_fixed_step(const dual_run *r, const preset *preset, const method_options *o)
{
    if (!isnan(o->step))
        return o->step;
    switch (preset->step) {
    case STEP_ONE:
        return 1;
    case STEP_AVERAGE:
        return 1 / (double)r->K;
    case STEP_A1_AVERAGE:
        return r->model.a1 / (double)r->K;
    }
    return NAN;
}

static line_search choose_search(const preset *preset, const problem *p, const method_options *o)
{
    line_search search = o->search != SEARCH_DEFAULT ? o->search : preset->search;
    if (search == SEARCH_DEFAULT)
        search = p->loss->quadratic_dual ? SEARCH_EXACT : SEARCH_BACKTRACKING;
    return search;
}

static method_facts tell_facts(const dual_run *r)
{
    static const char *const searches[] = {NULL, "exact", "backtracking", "none"};
    static const char *const rules[] = {NULL, "least dual along the direction", "Armijo", "fixed"};
    return (method_facts){.a1 = r->model.a1,
                          .a2 = r->model.a2,
                          .step = r->search.kind == SEARCH_NONE ? r->search.fixed_step : NAN,
                          .local_epochs = r->epochs.adaptive ? 0 : r->epochs.count,
                          .line_search = searches[r->search.kind],
                          .step_rule = rules[r->search.kind]};
}

/* Of all instances, whose means bound the intercepts. */
static bool take_margins(dual_run *r, bda_error *err)
{
    if (!(r->margins = ARENA_TAKE(&r->memory, double *, r->local + 1, err)))
        return false;
    for (uint64_t k = 0; k < r->local; k++) {
        r->margins[k] = r->blocks[k]->margins =
            ARENA_TAKE(&r->memory, double, r->blocks[k]->rows * r->p->outputs, err);
        if (!r->margins[k])
            return false;
    }
    return true;
}

static bool take_memory(dual_run *r, bda_error *err)
{
    const problem *p = r->p;
    arena *m = &r->memory;
    const int columns = 8 + BLOCK_LENGTHS + BLOCK_TRIALS * 2; /* the widest message of scalars */
    if (!(r->blocks = blocks_open(m, p, err)) || !(r->v = ARENA_TAKE(m, double, p->n, err)) ||
        !(r->direction.dv = ARENA_TAKE(m, double, p->n, err)) ||
        !(r->direction.dv_block = ARENA_TAKE(m, double *, r->local + 1, err)) ||
        !(r->value = ARENA_TAKE(m, block_value, r->local + 1, err)) ||
        !(r->turn = ARENA_TAKE(m, uint32_t, r->local + 1, err)) ||
        !(r->direction.of_block = ARENA_TAKE(m, block_direction, r->local + 1, err)) ||
        !scalars_take(&r->scalars, m, columns, err))
        return false;
    if (p->penalty.free > 0 && !take_margins(r, err))
        return false;
    bool identity = p->penalty.kind->identity;
    r->w = identity ? r->v : ARENA_TAKE(m, double, p->n, err);
    r->model.h = identity ? NULL : ARENA_TAKE(m, double, p->n, err);
    for (uint64_t k = 0; k < r->local; k++) {
        r->turn[k] = (uint32_t)k;
        if (!(r->direction.dv_block[k] = k == 0 ? r->direction.dv : ARENA_TAKE(m, double, p->n, err)))
            return false;
    }
    return r->w && (identity || r->model.h);
}

/* Local. */
static bool steps_are_fine(const dual_run *r, const preset *preset, bda_error *err)
{
    const bool coupled = r->model.a1 > 0 && r->model.a2 == 0 && !preset->separate;
    const bool whole =
        r->search.kind == SEARCH_BACKTRACKING || (r->search.kind == SEARCH_NONE && r->search.fixed_step == 1);
    for (uint64_t k = 0; k < r->local; k++)
        if (r->blocks[k]->kind->whole_steps && !(coupled && whole))
            return err_set(
                err, BDA_USAGE,
                "trees with --loss=logistic move by whole steps, without damping: --a2, --step and "
                "--line-search=exact are not for them, and of methods --method=auto, bda or disdca would do");
    return true;
}

/* Free intercepts have those of the weights that the training begins at as their centre. A state that is loaded later
 * has alpha and v of its own. */
bool dual_begin(dual_run *r, const watch *watch, bda_error *err)
{
    const problem *p = r->p;
    const penalty *g = &p->penalty;
    const uint64_t first = p->n - g->free;
    if (!p->start)
        return true;
    if (!comm_agree(p->comm, start_prepare(p, r->blocks, &r->memory, err), err))
        return false;
    if (watch->keeper && watch->keeper->resuming)
        return true;
    for (uint64_t m = 0; m < g->free; m++)
        r->intercept.centre[m] = r->v[first + m] = p->start[first + m];
    return start_dual(p, r->blocks, r->v, &r->drift.rounding, &r->drift.largest_added, err);
}

bool dual_open(dual_run *r, const preset *preset, problem *p, const method_options *options, watch *watch,
               bda_error *err)
{
    *r = (dual_run){.p = p, .watch = watch, .K = p->data->blocks, .local = p->data->local_blocks};
    r->scalars = (scalars){.comm = p->comm, .blocks = r->K, .local = r->local};
    r->model.a1 = choose_a1(preset, p, options);
    if (preset->a1_between_1_and_blocks && !(r->model.a1 >= 1 && r->model.a1 <= (double)r->K))
        return err_set(err, BDA_USAGE, "--a1=%g is outside [1, K] with K = %llu blocks, which this method needs",
                       r->model.a1, (unsigned long long)r->K);
    const bool coupled = r->model.a1 > 0 && !preset->separate;
    if (coupled && method_shares(options) &&
        !pool_open(&r->pool, p, options->sharing == SHARE_MEMORY, &r->memory, err))
        return false;
    r->model.count = r->pool.one_machine ? 1 : pool_is_open(&r->pool) ? (uint64_t)bda_comm_size(p->comm) : r->K;
    /* Blocks of structures want the same weights: with less than that the primal goes up and down from round to round. */
    if (p->task->structure && preset->a1 == A1_ONE && isnan(options->a1) && !options->a1_is_blocks && !preset->safe)
        r->model.a1 = (double)r->model.count;
    if (!comm_agree(p->comm, take_memory(r, err), err) || !intercept_open(&r->intercept, p, err))
        return false;
    r->model.a2 = choose_a2(r, preset, options);
    if (r->model.a1 == 0 && r->model.a2 == 0)
        return err_set(err, BDA_USAGE, "--a1 and --a2 are both 0: one of them must be positive");
    r->model.separate = preset->separate;
    r->search.kind = choose_search(preset, p, options);
    r->search.fixed_step = choose_fixed_step(r, preset, options);
    if (!comm_agree(p->comm, steps_are_fine(r, preset, err), err))
        return false;
    r->search.tau = options->tau;
    r->search.beta = options->beta;
    r->epochs.count = options->local_epochs > 0 ? options->local_epochs : 1;
    r->epochs.adaptive = options->local_epochs == EPOCHS_AS_NEEDED;
    r->epochs.learning = options->learning_epochs > 0 ? options->learning_epochs
                         : preset->paper_inference    ? PAPER_LEARNING_EPOCHS
                         : p->task->structure         ? p->task->structure->visits
                                                      : 1;
    r->epochs.settled_outputs =
        options->inference == INFERENCE_DEFAULT ? preset->paper_inference : options->inference == INFERENCE_ROUND;
    r->seed = options->seed;
    r->search.trials = r->model.count == 1 && !r->model.separate ? 1 : BLOCK_TRIALS;
    for (int j = 0; j < BLOCK_TRIALS; j++)
        r->search.trial[j] = j ? r->search.trial[j - 1] * r->search.beta : 1;
    watch->facts = tell_facts(r);
    return !options->from || dual_begin_at(r, options->from, err);
}

void dual_close(dual_run *r)
{
    intercept_close(&r->intercept);
    blocks_close(r->blocks);
    pool_close(&r->pool);
    arena_free(&r->memory);
}
