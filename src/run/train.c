/* train.c - a training from settings to a model: the problem, its memory, the run log, the method, the best weights.
 */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/exact_sum.h"
#include "data/digest.h"
#include "data/scale.h"
#include "data/schema.h"
#include "methods/auto.h"
#include "methods/table.h"
#include "problem/machine.h"
#include "run/checkpoint.h"
#include "run/factors.h"
#include "run/forecast.h"
#include "run/log.h"
#include "run/model.h"
#include "run/path.h"
#include "run/sized.h"
#include "run/start.h"
#include "run/train_sentences.h"
#include "run/validation.h"
#include "run/watch.h"

/* --class-weight=balanced: l / (T l_k), as if all labels were equally many; l is the sum of all weights, l_k that of a
 * label. Rounded once, so that the bits do not depend on the ranks. */
static bool balance(comm *c, const data *d, double *factor, bda_error *err)
{
    arena memory = {0};
    const uint64_t T = d->labels.count;
    exact_sum all = {0}, *of = ARENA_TAKE(&memory, exact_sum, T, err);
    const bool ok = comm_agree(c, of != NULL, err);
    for (uint64_t i = 0; ok && i < d->rows.count; i++)
        exact_add(&of[d->target.class[i]], d->weight ? d->weight[i] : 1);
    for (uint64_t k = 0; ok && k < T; k++) {
        exact_tidy(&of[k]);
        comm_sum_long(c, of[k].digit, EXACT_DIGITS);
        exact_tidy(&of[k]);
        exact_join(&all, &of[k]);
    }
    for (uint64_t k = 0; ok && k < T; k++)
        factor[k] = exact_value(&all) / ((double)T * exact_value(&of[k]));
    arena_free(&memory);
    return ok;
}

/* --class-weight: factors of C for the labels by class number. factor: [labels] */
static bool choose_factors(comm *c, const data *d, const training *t, double *factor, bda_error *err)
{
    for (uint64_t k = 0; k < d->labels.count; k++)
        factor[k] = 1;
    if (t->balanced)
        return balance(c, d, factor, err);
    for (int i = 0; i < t->weights; i++) {
        const double label = t->weight[i].label;
        const uint32_t k = d->labels.number ? label_of_number(&d->labels, label) : LABEL_NONE;
        if (k == LABEL_NONE)
            return err_set(err, BDA_FAILED, "--class-weight names the label %.17g, which %s does not have", label,
                           d->name);
        factor[k] = t->weight[i].weight;
    }
    return true;
}

static bool open_problem(problem *p, comm *c, const scaled *by, const bda_settings *s, const training *t,
                         bda_error *err)
{
    const data *d = &by->data;
    problem_request request = {
        .task = s->task,
        .loss = t->loss,
        .apart = strcmp(s->multiclass, "one-vs-rest") == 0,
        .cost = t->cost,
        .epsilon = s->epsilon,
        .l1_ratio = s->l1_ratio,
        .scale = by->factor,
        .bias = t->bias,
        .free_intercept = t->free_intercept,
        .threads = (int)s->threads,
    };
    arena memory = {0};
    bool ok = true;
    if ((t->balanced || t->weights) && d->labels.count <= DATA_LABELS_COUNTED) {
        double *factor = ARENA_TAKE(&memory, double, d->labels.count, err);
        ok = comm_agree(c, factor != NULL, err) && choose_factors(c, d, t, factor, err);
        request.cost_factor = factor;
    }
    if (ok && s->feature_penalty[0]) {
        double *factor = ARENA_TAKE(&memory, double, d->features, err);
        ok = comm_agree(c, factor != NULL, err) &&
             factors_read(c, s->feature_penalty, s->zero_based, d->features, factor, err);
        request.factor = factor;
    }
    ok = ok && choose_structure(s, d, &request.structure, err) && problem_open(p, c, d, &request, err);
    arena_free(&memory);
    return ok;
}

/* Rank 0 opens the log: one that cannot be written is known before training begins. */
static bool start_log(training_watch *w, const bda_settings *s, const training *t, const problem *p, bda_error *err)
{
    double load_seconds = p->data->seconds;
    bool ok = true;
    comm_max_reals(p->comm, &load_seconds, 1);
    w->comm = s->log[0] || s->validate[0] ? p->comm : NULL;
    w->start = (log_start){.settings = s, .training = t, .problem = p, .load_seconds = load_seconds};
    if (s->log[0])
        ok = bda_comm_rank(p->comm) > 0 || (w->log = log_open(s->log, err));
    return comm_agree(p->comm, ok, err);
}

/* What happened, the same on every rank; the last line of the log. */
static void conclude(training_watch *w, comm *c, const data *d, bda_outcome *outcome)
{
    const bda_observer *o = w->observer;
    double most[2] = {(double)mem_peak_bytes(), o && o->interrupt ? *o->interrupt : 0};
    comm_max_reals(c, most, 2);
    bda_outcome all = {.reason = w->reason,
                       .complete = watch_complete(w),
                       .same_bits = !w->shared,
                       .last = w->now,
                       .peak_bytes = (uint64_t)most[0],
                       .interrupt = (int)most[1],
                       .repaired = w->repaired,
                       .score = NAN};
    if (w->validation && validation_seen(w->validation)->name) {
        const validation_best *best = validation_seen(w->validation);
        all.scored_round = best->round;
        all.score = best->score;
        all.score_name = best->name;
    }
    const bool cut_short = !all.complete && (all.reason == BDA_MAX_ROUNDS || all.reason == BDA_MAX_TIME);
    if (cut_short && !d->unit_row)
        all.spread = scale_spread(c, d);
    (void)data_intact(c, w->data, &all.data);
    log_write_end(w->log, &all);
    bool logged = log_close(w->log, &all.log);
    w->log = NULL;
    comm_agree(c, logged, &all.log);
    sized_fill(outcome, &all, sizeof all);
}

/* Options that cannot change a model: files have the same bytes however they were trained. */
static bool is_recorded(const char *option)
{
    static const char *const without[] = {
        "threads", "log",        "output",           "quiet",  "progress", "progress-every",
        "force",   "checkpoint", "checkpoint-every", "resume", NULL};
    for (const char *const *name = without; *name; name++)
        if (strcmp(*name, option) == 0)
            return false;
    return true;
}

/* All options as bda_get has them, and the name of the data without its folder. */
static bool record_options(bda_model *m, const data *d, const bda_settings *s, bda_error *err)
{
    uint64_t count = 0;
    while (s->options[count].name)
        count++;
    model_option *option = ARENA_TAKE(&m->memory, model_option, count + 1, err);
    if (!option)
        return false;
    const char *slash = strrchr(d->name, '/');
    uint64_t kept = 0;
    option[kept++] = (model_option){"data", model_copy_text(m, slash ? slash + 1 : d->name, err)};
    for (const bda_option *o = s->options; o->name; o++)
        if (is_recorded(o->name))
            option[kept++] = (model_option){o->name, model_copy_text(m, bda_get(s, o->name), err)};
    m->record.option = option;
    m->record.options = kept;
    return err->status == BDA_OK;
}

/* What is known before the first round; takes the memory for it. */
static bool record_beginning(bda_model *m, const problem *p, const bda_settings *s, const training *t, bda_error *err)
{
    model_record *r = &m->record;
    model_set_task(m, model_task(s->task), t->loss);
    r->version = bda_version();
    r->method = t->method->name;
    r->cost = t->cost;
    r->epsilon = s->epsilon;
    r->l1_ratio = s->l1_ratio;
    r->instances = p->data->instances;
    r->blocks = p->data->blocks;
    r->seed = (uint64_t)s->seed;
    return record_options(m, p->data, s, err);
}

/* Collective. */
static void record_end(bda_model *m, const problem *p, const data *d, const training_watch *w)
{
    model_record *r = &m->record;
    r->primal = w->now.best_primal;
    r->dual = w->now.has_dual ? w->now.dual : NAN;
    r->relative_gap = w->now.relative_gap;
    r->gap_of_start = w->now.gap_of_start;
    r->rounds = w->now.round;
    r->data_digest = data_digest(p->comm, d, p->threads);
}

/* Of two labels the positive one, the larger, comes first. */
static bda_model *make_model(const problem *p, const training *t, bda_error *err)
{
    const data *d = p->data;
    const model_shape shape = {.features = d->features,
                               .outputs = p->outputs,
                               .shared = p->shared,
                               .bias = t->free_intercept ? p->rows.bias : t->bias};
    if (t->loss->regression)
        return model_new(&shape, &(label_table){0}, err);
    if (d->labels.count != 2)
        return model_new(&shape, &d->labels, err);
    const char *name[] = {d->labels.name[1], d->labels.name[0]};
    const double number[] = {d->labels.number ? d->labels.number[1] : 0, d->labels.number ? d->labels.number[0] : 0};
    return model_new(&shape, &(label_table){2, name, d->labels.number ? number : NULL}, err);
}

/* Features of a table have names. */
static bool name_features(bda_model *m, const data_schema *schema, bda_error *err)
{
    arena memory = {0};
    const char **name = ARENA_TAKE(&memory, const char *, m->features, err);
    bool ok = name != NULL;
    for (uint64_t j = 0; ok && j < m->features; j++) {
        char text[300];
        schema_feature(schema, j, text, sizeof text);
        char *copy = ARENA_TAKE(&memory, char, strlen(text) + 1, err);
        ok = copy != NULL;
        if (ok)
            name[j] = strcpy(copy, text);
    }
    ok = ok && model_name_features(m, name, err);
    arena_free(&memory);
    return ok;
}

/* Prediction needs the columns of the table. */
static bool keep_table(bda_model *m, const data *d, bda_error *err)
{
    if (!d->schema)
        return true;
    if (!name_features(m, d->schema, err))
        return false;
    bytes packed = {0};
    schema_pack(d->schema, &packed);
    const bool ok = bytes_done(&packed, "the columns of a table", err) &&
                    sections_keep(&m->extra, MODEL_TABLE, true, packed.at, packed.count, err);
    bytes_free(&packed);
    return ok;
}

static bda_model *new_model(const problem *p, const bda_settings *s, const training *t, bda_error *err)
{
    bda_model *m = make_model(p, t, err);
    if (m)
        m->unit_rows = t->scale == SCALE_UNIT_ROWS;
    if (m)
        m->apart = p->task->apart;
    if (m && record_beginning(m, p, s, t, err) && keep_table(m, p->data, err) && model_keep_scale(m, err) &&
        model_keep_apart(m, err))
        return m;
    bda_model_free(m);
    return NULL;
}

/* The value of the constant feature was only the training's: what it gives is the weight of one of value 1. */
static void tell_intercept(bda_model *m)
{
    for (uint64_t k = 0; k < m->outputs; k++)
        m->w[m->features * m->outputs + k] *= m->bias;
    m->bias = 1;
}

/* ---- a training ------------------------------------------------------------------------------------------------- */

typedef struct session {
    comm *c;
    const data *data;
    const bda_settings *settings;
    const bda_model *start; /* the model that it begins at, or NULL */
    training training;
    scaled scaled; /* the data as the method sees them */
    problem problem;
    plan plan;
    training_watch watch;
    bda_model *model;
    double *
        best; /* the best weights so far: where the model wants them, unless they are of folded rows or scaled columns */
} session;

/* The problem, and the method that is to solve it. */
static bool open_plan(session *x, bda_error *err)
{
    const bda_settings *s = x->settings;
    training *t = &x->training;
    const training_watch *w = &x->watch;
    if (!forecast_columns(x->c, x->data, err) || !scale_open(&x->scaled, x->c, x->data, t->scale, err) ||
        !open_problem(&x->problem, x->c, &x->scaled, s, t, err) ||
        (x->start && !start_at_model(&x->problem, x->start, err)))
        return false;
    if (s->machine[0]) {
        if (!machine_read(x->c, s->machine, &t->machine, err))
            return false;
        t->options.machine = &t->machine;
    }
    t->options.from = path_point(w->path, &x->problem, t);
    x->plan = (plan){.method = {t->method}, .options = t->options};
    if (t->left_open) {
        x->plan = auto_plan(&x->problem, &t->options);
        t->method = x->plan.method[0];
        t->options = x->plan.options;
    }
    problem_pack(&x->problem, t->options.gap, t->options.gap_of_start);
    return method_serves(t->method, &x->problem, err) &&
           forecast_check(x->c, &x->problem, t->method, method_shares(&t->options), err);
}

/* --validate: reading other data is no training. */
static bool open_validation(session *x, bda_error *err)
{
    const bda_settings *s = x->settings;
    const double before = clock_now();
    bda_model *scored = new_model(&x->problem, s, &x->training, err);
    if (!comm_agree(x->c, scored != NULL, err) ||
        !keep_sentences(x->c, x->data, s, x->problem.task->structure, scored, err)) {
        bda_model_free(scored);
        return false;
    }
    x->watch.validation = validation_open(&x->problem, s, scored, err);
    x->watch.started += clock_now() - before;
    return x->watch.validation != NULL;
}

/* All that is needed before the first round. */
static bool open_session(session *x, bda_error *err)
{
    const bda_settings *s = x->settings;
    training_watch *w = &x->watch;
    if (!open_plan(x, err))
        return false;
    w->limits.max_rounds = x->training.max_rounds;
    x->model = new_model(&x->problem, s, &x->training, err);
    if (!comm_agree(x->c, x->model != NULL, err) || !start_log(w, s, &x->training, &x->problem, err) ||
        (s->validate[0] && !open_validation(x, err)))
        return false;
    problem *p = &x->problem;
    x->best = problem_weights_differ(p) ? ARENA_TAKE(&p->memory, double, p->n, err) : x->model->w;
    return comm_agree(x->c, x->best != NULL, err);
}

static bool run_rounds(session *x, bda_error *err)
{
    const bda_settings *s = x->settings;
    training_watch *w = &x->watch;
    problem *p = &x->problem;
    checkpoint *kept = NULL;
    w->vectors_before = comm_said(x->c)->vectors;
    w->bytes_before = comm_said(x->c)->bytes;
    watch_start(w, x->best, p->n);
    if (p->start)
        watch_start_at(w, p->start, p->start_primal);
    p->watch = s->checkpoint[0] ? NULL : &w->watch; /* whoever goes on later wants whole rounds */
    p->timed = !isnan(s->max_time);
    const bool ok = checkpoint_open(&kept, w, &x->plan, err) && plan_train(&x->plan, p, &w->watch, err);
    checkpoint_close(kept);
    if (ok && w->error.status != BDA_OK)
        *err = w->error;
    return ok && w->error.status == BDA_OK;
}

static bool complete_model(session *x, bda_outcome *outcome, bda_error *err)
{
    problem *p = &x->problem;
    if (x->watch.path)
        path_keep_intercept(x->watch.path, p, x->best);
    if (problem_weights_differ(p))
        problem_weights(p, x->best, x->model->w);
    if (x->training.free_intercept)
        tell_intercept(x->model);
    conclude(&x->watch, x->c, p->data, outcome);
    record_end(x->model, p, x->data, &x->watch);
    return keep_sentences(x->c, x->data, x->settings, p->task->structure, x->model, err);
}

/* The model of --start; NULL where there is none. */
static bool read_start(comm *c, const bda_settings *s, bda_model **start, bda_error *err)
{
    *start = NULL;
    return !s->start[0] || comm_agree(c, (*start = bda_model_read(s->start, err)) != NULL, err);
}

static void close_session(session *x)
{
    validation_close(x->watch.validation);
    problem_close(&x->problem);
    scale_close(&x->scaled);
}

static bda_model *train(path *p, comm *c, const data *d, const bda_settings *s, const bda_model *start,
                        const bda_observer *given, bda_outcome *outcome, bda_error *err)
{
    err_clear(err);
    session x = {.c = c, .data = d, .settings = s, .start = start};
    if (!settings_training(s, &x.training, err))
        return NULL;
    if (d->unlabelled) {
        err_set(err, BDA_FAILED, "%s has rows without a label, and training needs one for each", d->name);
        return NULL;
    }
    if (!settings_suit_labels(s, d, err))
        return NULL;
    bda_observer observer = {0};
    if (given)
        sized_take(&observer, given, sizeof observer);
    x.watch = (training_watch){
        .limits.target = x.training.gap,
        .limits.target_given = settings_given(s, "gap"),
        .limits.of_start = x.training.options.gap_of_start,
        .limits.max_time = s->max_time,
        .observer = given ? &observer : NULL,
        .started = clock_now(),
        .path = p,
        .ranks = c,
        .data = d,
    };
    const bool open = open_session(&x, err);
    if (open)
        note_trees(c, s, d, x.watch.observer);
    if (!open || !run_rounds(&x, err) || !complete_model(&x, outcome, err)) {
        bda_error ignored = {0};
        log_close(x.watch.log, &ignored);
        bda_model_free(x.model);
        x.model = NULL;
    }
    close_session(&x);
    return x.model;
}

bda_model *bda_train(bda_comm *c, const bda_data *d, const bda_settings *s, const bda_observer *given,
                     bda_outcome *outcome, bda_error *err)
{
    err_clear(err);
    bda_model *start, *trained = NULL;
    if (settings_are_of(s, "train", err) && read_start(c, s, &start, err)) {
        trained = bda_train_from(c, d, s, start, given, outcome, err);
        bda_model_free(start);
    }
    return trained;
}

bda_model *bda_train_from(bda_comm *c, const bda_data *d, const bda_settings *s, const bda_model *start,
                          const bda_observer *given, bda_outcome *outcome, bda_error *err)
{
    return train(NULL, c, d, s, start, given, outcome, err);
}

bda_model *path_train(path *p, bda_comm *c, const bda_data *d, const bda_settings *s, const bda_observer *given,
                      bda_outcome *outcome, bda_error *err)
{
    return train(p, c, d, s, NULL, given, outcome, err);
}
