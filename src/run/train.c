/* train.c - a training from settings to a model: the problem, its memory, the run log, the method, the best weights.
 */
#include <stdio.h>

#include "base/clock.h"
#include "methods/auto.h"
#include "methods/table.h"
#include "run/factors.h"
#include "run/forecast.h"
#include "run/log.h"
#include "run/model.h"
#include "run/watch.h"

/* --class-weight=balanced: l / (T count), as if all labels were equally many. */
static bool balance(comm *c, const data *d, double *factor, bda_error *err)
{
    arena memory = {0};
    uint64_t T = d->label_count, *count = ARENA_TAKE(&memory, uint64_t, T, err);
    double *label = ARENA_TAKE(&memory, double, T, err);
    bool ok = comm_agree(c, count && label, err);
    if (ok) {
        bda_data_labels(c, d, T, label, count);
        for (uint64_t k = 0; k < T; k++)
            factor[k] = (double)d->instances / ((double)T * (double)count[k]);
    }
    arena_free(&memory);
    return ok;
}

/* --class-weight: factors of C for the labels in increasing order. factor: [label_count] */
static bool choose_factors(comm *c, const data *d, const training *t, double *factor, bda_error *err)
{
    for (uint64_t k = 0; k < d->label_count; k++)
        factor[k] = 1;
    if (t->balanced)
        return balance(c, d, factor, err);
    for (int i = 0; i < t->weights; i++) {
        double label = t->weight[i].label;
        uint64_t k = 0;
        while (k < d->label_count && d->labels[k] != label)
            k++;
        if (k == d->label_count)
            return err_set(err, BDA_FAILED, "--class-weight names the label %.17g, which %s does not have", label,
                           d->name);
        factor[k] = t->weight[i].weight;
    }
    return true;
}

static bool open_problem(problem *p, comm *c, const data *d, const bda_settings *s, const training *t, bda_error *err)
{
    problem_request request = {
        .loss = t->loss,
        .cost = s->cost,
        .epsilon = s->epsilon,
        .l1_ratio = s->l1_ratio,
        .bias = t->bias,
        .threads = (int)s->threads,
    };
    arena memory = {0};
    bool ok = true;
    if ((t->balanced || t->weights) && d->label_count <= DATA_LABELS_COUNTED) {
        double *factor = ARENA_TAKE(&memory, double, d->label_count, err);
        ok = comm_agree(c, factor != NULL, err) && choose_factors(c, d, t, factor, err);
        request.cost_factor = factor;
    }
    if (ok && s->feature_penalty[0]) {
        double *factor = ARENA_TAKE(&memory, double, d->features, err);
        ok = comm_agree(c, factor != NULL, err) &&
             factors_read(c, s->feature_penalty, s->zero_based, d->features, factor, err);
        request.factor = factor;
    }
    ok = ok && problem_open(p, c, d, &request, err);
    arena_free(&memory);
    return ok;
}

/* Rank 0 opens the log and writes its first line; a log that cannot be written is known before training begins. */
static bool start_log(training_watch *w, const bda_settings *s, const training *t, const problem *p, bda_error *err)
{
    double load_seconds = p->data->seconds;
    bool ok = true;
    comm_max_reals(p->comm, &load_seconds, 1);
    if (s->log[0] && bda_comm_rank(p->comm) == 0) {
        log_start start = {.settings = s, .training = t, .problem = p, .load_seconds = load_seconds};
        w->log = log_open(s->log, err);
        ok = w->log && log_write_start(w->log, &start, err);
    }
    return comm_agree(p->comm, ok, err);
}

/* What happened, the same on every rank; the last line of the log. */
static void conclude(training_watch *w, comm *c, bda_outcome *outcome)
{
    const bda_observer *o = w->observer;
    double most[2] = {(double)mem_peak_bytes(), o && o->interrupt ? *o->interrupt : 0};
    comm_max_reals(c, most, 2);
    *outcome = (bda_outcome){.reason = w->reason,
                             .complete = watch_complete(w),
                             .last = w->now,
                             .peak_bytes = (uint64_t)most[0],
                             .interrupt = (int)most[1]};
    log_write_end(w->log, outcome);
    bool logged = log_close(w->log, &outcome->log);
    w->log = NULL;
    comm_agree(c, logged, &outcome->log);
}

static void fill_model(bda_model *m, const problem *p, const bda_settings *s, const training *t,
                       const training_watch *w)
{
    m->loss = t->loss;
    snprintf(m->method, sizeof m->method, "%s", t->method->name);
    m->cost = s->cost;
    m->epsilon = s->epsilon;
    m->l1_ratio = s->l1_ratio;
    for (uint64_t k = 0; k < m->classes; k++)
        m->labels[k] = p->labels[m->classes == 2 ? 1 - k : k];
    m->instances = p->data->instances;
    m->primal = w->now.best_primal;
    m->relative_gap = w->now.relative_gap;
}

/* The best weights are kept where the model wants them, unless they are of folded rows. */
static double *room_for_best(problem *p, bda_model *m, bda_error *err)
{
    return p->fold.folded ? ARENA_TAKE(&p->memory, double, p->n, err) : m->w;
}

bda_model *bda_train(bda_comm *c, const bda_data *d, const bda_settings *s, const bda_observer *observer,
                     bda_outcome *outcome, bda_error *err)
{
    err_clear(err);
    training t;
    problem p = {0};
    training_watch w = {
        .target = s->gap,
        .target_given = settings_given(s, "gap"),
        .max_time = s->max_time,
        .observer = observer,
        .started = clock_now(),
    };
    bda_model *m = NULL;
    bool ok = settings_training(s, &t, err) && open_problem(&p, c, d, s, &t, err);
    if (ok && t.left_open) {
        t.method = auto_choose(&p, &t.options);
        t.options = auto_options(&p, t.method, &t.options);
    }
    ok = ok && method_serves(t.method, &p, err) && forecast_check(c, &p, t.method, method_shares(&t.options), err);
    if (ok) {
        w.max_rounds = t.max_rounds;
        m = model_new(d->features, t.bias, t.loss->regression ? 0 : p.classes, err);
        ok = comm_agree(c, m != NULL, err) && start_log(&w, s, &t, &p, err);
    }
    double *best = ok ? room_for_best(&p, m, err) : NULL;
    ok = ok && comm_agree(c, best != NULL, err);
    if (ok) {
        w.vectors_before = comm_said(c)->vectors;
        w.bytes_before = comm_said(c)->bytes;
        watch_start(&w, best, p.n);
        ok = t.method->train(t.method, &p, &t.options, &w.watch, err);
    }
    if (ok && w.error.status != BDA_OK) {
        *err = w.error;
        ok = false;
    }
    if (ok) {
        if (p.fold.folded)
            problem_weights(&p, best, m->w);
        conclude(&w, c, outcome);
        fill_model(m, &p, s, &t, &w);
    } else {
        bda_error ignored = {0};
        log_close(w.log, &ignored);
        bda_model_free(m);
        m = NULL;
    }
    problem_close(&p);
    return m;
}
