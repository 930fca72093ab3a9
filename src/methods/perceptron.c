/* perceptron.c - the distributed perceptron with iterative parameter mixing (McDonald, Hall and Mann 2010).
 *
 * In each round every block starts from the mixed weights and goes over its instances once, in random order:
 *
 *     two labels:  y x'w <= 0                              ->  w += C x y
 *     T labels:    w_m'x >= w_y'x for the best m != y      ->  w_y += C x,  w_m -= C x
 *     structures:  the best output y is not gold           ->  w += C (Phi(gold) - Phi(y))
 *
 * and the weights that the blocks end with are mixed with equal weights (uniform mixing, as in the paper's
 * experiments; blocks without instances do not count). If some w separates the data by a margin gamma and |x| <= R,
 * the blocks together make at most K (R / gamma)^2 mistakes. C is the cost of the class, so that --class-weight
 * counts here too; the same for all, it scales w and changes no mistake.
 *
 * The model of a round is the mean of the mixed weights of all rounds so far, the averaged perceptron, which predicts
 * better where the data cannot be separated. A round without a mistake has found weights that separate them: these
 * are the model then, and training is finished.
 *
 * It minimises no objective and has no dual: the primal is reported for comparison, and the regulariser is in it
 * alone. Left out: weights of mixing in proportion to the mistakes, the other choice of the paper. */
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/random.h"
#include "base/vector.h"
#include "comm/scalars.h"
#include "data/rows_math.h"
#include "methods/rivals.h"
#include "problem/instances.h"
#include "problem/report.h"
#include "problem/stage.h"
#include "problem/structured.h"

#define COLUMNS_MOST 4 /* of a message of scalars */

typedef struct perceptron_run {
    problem *p;
    watch *watch;
    uint64_t K, local, mixed; /* blocks of all, of this rank; of all, those that have instances */
    uint64_t seed;
    arena memory;
    instances *part;     /* [local] */
    structured *units;   /* [local] the same blocks, where units are structures */
    double *w;           /* [n] the mixed weights */
    double *mean;        /* [n] of them over the rounds */
    double *sum;         /* [n] of what the blocks changed */
    double **own;        /* [local][n] a block's weights, then what it changed */
    uint32_t **order;    /* [local][count] */
    double **margins;    /* [local][count][width] */
    double **score;      /* [local][width] of the instance at hand */
    uint64_t *mistakes;  /* [local] */
    double *largest;     /* [local] */
    scalars scalars;     /* messages of at most COLUMNS_MOST a block */
    bool separated;      /* the last round was without a mistake */
    round_report report; /* of the round under way */
} perceptron_run;

static bool perceptron_open(perceptron_run *r, problem *p, const method_options *options, watch *watch,
                            bda_error *err);
static bool look(perceptron_run *r, uint64_t *t);
static void run_blocks(perceptron_run *r, uint64_t t);
static void mix(perceptron_run *r, uint64_t t);

static bool perceptron_train(const method *self, problem *p, const method_options *options, watch *watch,
                             bda_error *err)
{
    (void)self;
    perceptron_run r;
    bool ok = perceptron_open(&r, p, options, watch, err);
    for (uint64_t t = 0; ok && !look(&r, &t); t++) {
        run_blocks(&r, t);
        mix(&r, t); /* the one vector of the round */
    }
    arena_free(&r.memory);
    return ok;
}

/* ---- the lines of the loop ---------------------------------------------------------------------------------- */

/* The sum of xi_i of a block. */
static double loss_of_block(const perceptron_run *r, uint64_t k, const double *model)
{
    sum all = {0, 0};
    if (!r->p->task->structure) {
        double loss;
        instances_margins(&r->part[k], model, r->margins[k]);
        instances_along(&r->part[k], r->margins[k], 0, NULL, NULL, &loss, NULL, NULL);
        return loss;
    }
    for (uint32_t i = 0; i < r->units[k].count; i++)
        sum_add(&all, structured_loss(&r->units[k], i, model));
    return sum_value(&all);
}

static bool evaluate(perceptron_run *r, uint64_t t)
{
    enum { LOSS, SECONDS, INTERRUPTED, COLUMNS };
    problem *p = r->p;
    const double *model = r->separated ? r->w : r->mean;
    const span span = span_begin(p->comm);
    const rank_view view = report_begin(r->watch);
    FOR_BLOCKS (k, r->local, p->threads) {
        double *to = r->scalars.mine + k * COLUMNS;
        to[LOSS] = loss_of_block(r, k, model);
        report_put(view, to + SECONDS);
    }
    scalars_gather(&r->scalars, COLUMNS);

    round_report *report = &r->report;
    report->round = t;
    report->primal = p->penalty.kind->value(&p->penalty, model) + scalars_sum(&r->scalars, LOSS);
    report->dual = report->gap = NAN;
    report_end(report, &r->scalars, SECONDS);
    report->finished = r->separated;
    span_end(&span, report, SPENT_EVALUATION);
    bool stop = stage_report(r->watch, report, model);
    *report = (round_report){0};
    return stop;
}

static void name_whole(archive *a, void *run)
{
    perceptron_run *r = run;
    ARCHIVE(a, r->separated);
    ARCHIVE_ARRAY(a, r->w, r->p->n);
    ARCHIVE_ARRAY(a, r->mean, r->p->n);
}

static bool look(perceptron_run *r, uint64_t *t)
{
    const method_state state = {r, name_whole, NULL};
    bool stop;
    if (stage_resume(r->watch, &state, t, &stop))
        return stop;
    return stage_keep(r->watch, &state, *t, evaluate(r, *t));
}

/* Instance i of the block: is it a mistake of w? Then w learns from it. */
ROWS_INLINE bool learn_label(const problem *p, uint64_t row, double *w, rows_form form)
{
    bool positive = p->data->target.class[row];
    double y = positive ? 1 : -1;
    if (y * rows_dot(&p->rows, form, row, w) > 0)
        return false;
    rows_add(&p->rows, form, row, y * problem_cost(p, positive, row), w);
    return true;
}

ROWS_INLINE bool learn_class(const problem *p, uint64_t row, double *w, double *score, rows_form form)
{
    const uint32_t y = p->data->target.class[row];
    uint32_t best = y == 0;
    rows_scores(&p->rows, form, row, w, p->classes, score);
    for (uint32_t m = 0; m < p->classes; m++)
        if (m != y && score[m] > score[best])
            best = m;
    if (score[y] > score[best])
        return false;
    const double C = problem_cost(p, y, row);
    rows_add_classes(&p->rows, form, row, 2, (const uint32_t[]){y, best}, (const double[]){C, -C}, NULL, p->classes,
                     w);
    return true;
}

ROWS_INLINE uint64_t epoch(const instances *b, const uint32_t *order, double *w, double *score, rows_form form)
{
    uint64_t mistakes = 0;
    for (uint32_t i = 0; i < b->count; i++)
        mistakes += b->width == 1 ? learn_label(b->p, b->first_row + order[i], w, form)
                                  : learn_class(b->p, b->first_row + order[i], w, score, form);
    return mistakes;
}

static bool learn_structure(structured *s, uint32_t i, double *w)
{
    const uint16_t *gold = structured_gold(s, i);
    s->kind->score(s, i, w, s->S);
    s->kind->best(s, i, s->S, NULL, s->output);
    if (structured_wrong(structured_length(s, i), s->output, gold) == 0)
        return false;
    s->kind->count(s, i, s->p->cost[0], gold, s->output, s->x);
    s->kind->spread(s, i, s->x, NULL, w);
    return true;
}

static uint64_t epoch_of_structures(structured *s, const uint32_t *order, double *w)
{
    uint64_t mistakes = 0;
    for (uint32_t i = 0; i < s->count; i++)
        mistakes += learn_structure(s, order[i], w);
    return mistakes;
}

static void run_block(perceptron_run *r, uint64_t k, uint64_t t)
{
    const problem *p = r->p;
    const instances *b = &r->part[k];
    rng random;
    rng_open(&random, r->seed, t, p->data->first_block + k);
    for (uint32_t i = 0; i < b->count; i++)
        r->order[k][i] = i;
    rng_shuffle(&random, r->order[k], b->count);
    memcpy(r->own[k], r->w, p->n * sizeof *r->w);
#define CALL(form) r->mistakes[k] = epoch(b, r->order[k], r->own[k], r->score[k], form)
    if (p->task->structure)
        r->mistakes[k] = epoch_of_structures(&r->units[k], r->order[k], r->own[k]);
    else
        ROWS_DISPATCH(p->rows.form, CALL);
#undef CALL
    r->largest[k] = vec_difference(r->own[k], r->w, 1, p->n, 1);
}

static void run_blocks(perceptron_run *r, uint64_t t)
{
    const int threads = r->p->threads;
    const span span = span_begin(r->p->comm);
    FOR_BLOCKS (k, r->local, threads)
        run_block(r, k, t);
    span_end(&span, &r->report, SPENT_LOCAL);
}

/* A small message first, with the largest element, which sets the grid of the vector; then the vector. */
static void mix(perceptron_run *r, uint64_t t)
{
    enum { LARGEST, MISTAKES, COLUMNS };
    problem *p = r->p;
    const span messages = span_begin(p->comm);
    for (uint64_t k = 0; k < r->local; k++) {
        r->scalars.mine[k * COLUMNS + LARGEST] = r->largest[k];
        r->scalars.mine[k * COLUMNS + MISTAKES] = (double)r->mistakes[k];
    }
    scalars_gather(&r->scalars, COLUMNS);
    r->separated = scalars_sum(&r->scalars, MISTAKES) == 0;
    comm_sum_vectors(p->comm, r->K, scalars_max(&r->scalars, LARGEST), (const double *const *)r->own, (int)r->local,
                     p->n, r->sum, p->threads);
    span_end(&messages, &r->report, SPENT_MESSAGES);
    r->report.epochs = 1;
    r->report.step = 1 / (double)r->mixed;
    vec_add(r->w, r->report.step, r->sum, p->n, p->threads);
    for (uint64_t j = 0; j < p->n; j++)
        r->mean[j] += (r->w[j] - r->mean[j]) / (double)(t + 1);
}

/* ---- before ---------------------------------------------------------------------------------------------------- */

static bool take_memory(perceptron_run *r, bda_error *err)
{
    const problem *p = r->p;
    arena *m = &r->memory;
    if (!(r->part = ARENA_TAKE(m, instances, r->local + 1, err)) ||
        !(r->units = ARENA_TAKE(m, structured, r->local + 1, err)) || !(r->w = ARENA_TAKE(m, double, p->n, err)) ||
        !(r->mean = ARENA_TAKE(m, double, p->n, err)) || !(r->sum = ARENA_TAKE(m, double, p->n, err)) ||
        !(r->own = ARENA_TAKE(m, double *, r->local + 1, err)) ||
        !(r->order = ARENA_TAKE(m, uint32_t *, r->local + 1, err)) ||
        !(r->margins = ARENA_TAKE(m, double *, r->local + 1, err)) ||
        !(r->score = ARENA_TAKE(m, double *, r->local + 1, err)) ||
        !(r->mistakes = ARENA_TAKE(m, uint64_t, r->local + 1, err)) ||
        !(r->largest = ARENA_TAKE(m, double, r->local + 1, err)) || !scalars_take(&r->scalars, m, COLUMNS_MOST, err))
        return false;
    for (uint64_t k = 0; k < r->local; k++) {
        const instances *b = &r->part[k];
        r->part[k] = instances_of(p, k);
        if (!(r->own[k] = ARENA_TAKE(m, double, p->n, err)) ||
            !(r->order[k] = ARENA_TAKE(m, uint32_t, b->count, err)) ||
            !(r->margins[k] = ARENA_TAKE(m, double, b->count * b->width, err)) ||
            !(r->score[k] = ARENA_TAKE(m, double, b->width, err)))
            return false;
        const uint64_t first = p->data->block_start[k];
        if (p->task->structure && !structured_open(&r->units[k], m, p, first, b->count, err))
            return false;
    }
    return true;
}

static bool perceptron_open(perceptron_run *r, problem *p, const method_options *options, watch *watch,
                            bda_error *err)
{
    *r = (perceptron_run){
        .p = p, .watch = watch, .K = p->data->blocks, .local = p->data->local_blocks, .seed = options->seed};
    r->scalars = (scalars){.comm = p->comm, .blocks = r->K, .local = r->local};
    if (!comm_agree(p->comm, take_memory(r, err), err))
        return false;
    for (uint64_t k = 0; k < r->local; k++)
        r->mixed += r->part[k].count > 0;
    comm_sum_counts(p->comm, &r->mixed, 1);
    if (p->start) {
        memcpy(r->w, p->start, p->n * sizeof *r->w);
        memcpy(r->mean, p->start, p->n * sizeof *r->mean);
    }
    return true;
}

const method perceptron = {
    .name = "perceptron",
    .summary = "averaged perceptron with iterative parameter mixing (McDonald, Hall and Mann 2010)",
    .needs = "labels; minimises no objective, so there is no gap to stop at",
    .classification = true,
    .smooth_regulariser = true, /* none has any effect */
    .uncertified = true,
    .together = true,
    .whole_regulariser = true,
    .train = perceptron_train,
};
