/* trials.c - several settings scored by cross-validation.
 *
 * A fold is a chain of trainings on the same data, each from where the one before ended (path.h). Folds do not know of each
 * other. So they go side by side, on threads and on ranks that then hold all of the data, as long as there is memory and
 * each rank and thread finds a fold of its own; otherwise all ranks train one fold after the other together. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "run/folds.h"
#include "run/forecast.h"
#include "run/path.h"
#include "run/settings.h"
#include "run/sized.h"

typedef struct trials {
    comm *comm;
    const data *data;     /* what is cut, or a copy of all of it on every rank */
    const uint32_t *fold; /* [rows] of each row of the data */
    bda_trials asked;
    uint64_t folds;
    int workers; /* of this rank at a time, each on a fold of its own; 0: all ranks are at the same fold */
    double *score;
    uint64_t early; /* trainings that stopped before the gap was reached */
} trials;

/* ---- one fold ---------------------------------------------------------------------------------------------------- */

/* Who is at it, and with what settings, which change from trial to trial. */
typedef struct worker {
    comm *comm;
    bda_settings train, predict;
    bda_data *rest, *held;
    path path;
    uint8_t *keep; /* [rows] */
    arena memory;
} worker;

static worker *worker_open(const trials *t, comm *c, int threads, bda_error *err)
{
    arena memory = {0};
    worker *w = ARENA_TAKE(&memory, worker, 1, err);
    uint8_t *keep = w ? ARENA_TAKE(&memory, uint8_t, t->data->rows.count + 1, err) : NULL;
    if (!keep) {
        arena_free(&memory);
        return NULL;
    }
    *w = (worker){.comm = c, .train = *t->asked.train, .predict = *t->asked.predict, .keep = keep};
    w->memory = memory;
    if (t->workers > 0)
        w->train.threads = w->predict.threads = threads;
    return w;
}

static void worker_close(worker *w)
{
    if (!w)
        return;
    path_close(&w->path);
    bda_data_free(w->held);
    bda_data_free(w->rest);
    arena memory = w->memory;
    arena_free(&memory);
}

static bda_data *part_of(const trials *t, worker *w, uint64_t fold, bool held, bda_error *err)
{
    for (uint64_t i = 0; i < t->data->rows.count; i++)
        w->keep[i] = (t->fold[i] == fold) == held;
    return data_subset(w->comm, t->data, w->keep, settings_blocks(&w->train, bda_comm_size(w->comm)), err);
}

static bool refuse_metric(const char *metric, bda_error *err)
{
    err_set(err, BDA_USAGE, "the score %s is not known of this loss and these labels", metric);
    for (char *c = err->text; (c = strchr(c, '_'));) /* as options have it */
        *c = '-';
    return false;
}

static bool score_trial(trials *t, worker *w, uint64_t k, uint64_t fold, bda_error *err)
{
    const bda_trials *asked = &t->asked;
    bda_observer observer = {.size = sizeof observer, .interrupt = asked->interrupt};
    bda_outcome outcome = {.size = sizeof outcome};
    bda_metrics *found = NULL;
    w->train.cost = asked->cost[k];
    w->train.l1_ratio = asked->l1_ratio[k];
    bda_model *model = path_train(&w->path, w->comm, w->rest, &w->train, &observer, &outcome, err);
    bool ok = model && bda_predict(w->comm, model, w->held, &w->predict, NULL, &found, err);
    bda_model_free(model);
    if (!ok)
        return false;
    const double score = bda_metric(found, asked->metric);
    bda_metrics_free(found);
    if (!outcome.complete) {
#pragma omp atomic
        t->early++;
    }
    t->score[k * t->folds + fold] = score;
    if (outcome.reason == BDA_INTERRUPTED)
        return err_set(err, BDA_FAILED, "a signal ended the search");
    return isfinite(score) || refuse_metric(asked->metric, err);
}

static bool run_fold(trials *t, worker *w, uint64_t fold, bda_error *err)
{
    w->rest = part_of(t, w, fold, false, err);
    w->held = w->rest ? part_of(t, w, fold, true, err) : NULL;
    bool ok = w->held != NULL;
    for (uint64_t k = 0; ok && k < t->asked.count; k++)
        ok = score_trial(t, w, k, fold, err);
    if (ok && t->asked.done && bda_comm_rank(w->comm) == 0) {
#pragma omp critical(trials_done)
        t->asked.done(t->asked.self, fold);
    }
    return ok;
}

/* All ranks of `c` at one fold. */
static bool work_at(trials *t, comm *c, uint64_t fold, int threads, bda_error *err)
{
    worker *w = worker_open(t, c, threads, err);
    const bool ok = comm_agree(c, w != NULL, err) && run_fold(t, w, fold, err);
    worker_close(w);
    return ok;
}

/* ---- folds side by side ------------------------------------------------------------------------------------------ */

static bool work_alone_at(trials *t, uint64_t fold, int threads, bda_error *err)
{
    comm *alone = bda_comm_single(err);
    const bool ok = alone && work_at(t, alone, fold, threads, err);
    bda_comm_free(alone);
    return ok;
}

/* The folds of this rank. The error is that of the first fold that failed. */
static bool run_own_folds(trials *t, bda_error *err)
{
    const int size = bda_comm_size(t->comm), rank = bda_comm_rank(t->comm);
    const uint64_t first = comm_first_block(t->folds, rank, size), end = comm_first_block(t->folds, rank + 1, size);
    const int threads = (int)t->asked.train->threads / (t->workers > 0 ? t->workers : 1);
    bool failed = false;
    uint64_t failed_fold = end;
    omp_set_max_active_levels(2); /* a worker may have threads, too */
#pragma omp parallel for schedule(dynamic, 1) num_threads(t->workers) if (t->workers > 1)
    for (uint64_t f = first; f < end; f++) {
        bool skip;
        bda_error own = {0};
#pragma omp atomic read
        skip = failed;
        if (skip || work_alone_at(t, f, threads > 0 ? threads : 1, &own))
            continue;
#pragma omp critical(trials_failed)
        if (f < failed_fold) {
            failed_fold = f;
            *err = own;
        }
#pragma omp atomic write
        failed = true;
    }
    return !failed;
}

/* What a fold takes beside the data: a copy of the rows, and some vectors of weights. */
#define VECTORS 16

/* Folds that this rank may have under way at a time, if all ranks have all of the data; the same on all ranks. 0: there is
 * no room for that, or more ranks than folds, which then are of more use together. */
static int choose_workers(comm *c, const data *d, uint64_t folds, int threads, bda_error *err)
{
    const int size = bda_comm_size(c);
    if ((uint64_t)size > folds)
        return 0;
    uint64_t held = d->bytes_held, room;
    comm_sum_counts(c, &held, 1);
    if (!forecast_room(c, &room, err))
        return -1;
    const uint64_t copy = size > 1 ? held : 0;
    const uint64_t outputs = d->labels.count > 2 && d->labels.count <= DATA_LABELS_COUNTED ? d->labels.count : 1;
    const uint64_t fold = held + held / 4 + VECTORS * d->features * outputs * sizeof(double);
    const uint64_t own = (folds + (uint64_t)size - 1) / (uint64_t)size;
    const uint64_t fit = room > 2 * copy ? (room - 2 * copy) / fold : 0;
    double fewest = -fmin(fmin((double)threads, (double)own), (double)fit);
    comm_max_reals(c, &fewest, 1);
    return (int)-fewest;
}

/* The fold of each row of all ranks. */
static uint32_t *gather_folds(comm *c, const bda_folds *f, arena *memory, bda_error *err)
{
    const data *d = folds_whole(f);
    arena temporary = {0};
    uint64_t *wide = ARENA_TAKE(&temporary, uint64_t, d->rows_all, err);
    uint32_t *all = ARENA_TAKE(memory, uint32_t, d->rows_all, err);
    const bool ok = comm_agree(c, wide && all, err);
    if (ok) {
        for (uint64_t i = 0; i < d->rows.count; i++)
            wide[d->first_row + i] = folds_of_rows(f)[i];
        comm_sum_long(c, wide, d->rows_all);
        for (uint64_t i = 0; i < d->rows_all; i++)
            all[i] = (uint32_t)wide[i];
    }
    arena_free(&temporary);
    return ok ? all : NULL;
}

static bool side_by_side(trials *t, const bda_folds *folds, bda_error *err)
{
    comm *c = t->comm;
    if (bda_comm_size(c) == 1)
        return run_own_folds(t, err);
    arena memory = {0};
    comm *alone = bda_comm_single(err);
    uint32_t *fold = comm_agree(c, alone != NULL, err) ? gather_folds(c, folds, &memory, err) : NULL;
    data *all = fold ? data_gather(c, t->data, alone, 1, err) : NULL;
    bool ok = all != NULL;
    if (ok) {
        t->data = all;
        t->fold = fold;
        ok = comm_agree(c, run_own_folds(t, err), err);
    }
    if (ok) { /* a fold's scores are those of one rank, and 0 on all others */
        comm_sum_long(c, t->score, t->asked.count * t->folds);
        comm_sum_counts(c, &t->early, 1);
    }
    data_free(all);
    bda_comm_free(alone);
    arena_free(&memory);
    return ok;
}

static bool in_turn(trials *t, bda_error *err)
{
    bool ok = true;
    for (uint64_t f = 0; ok && f < t->folds; f++)
        ok = work_at(t, t->comm, f, (int)t->asked.train->threads, err);
    return ok;
}

/* ---- the public function ------------------------------------------------------------------------------------------ */

/* Numbers are checked as options are. */
static bool check_trials(const bda_trials *asked, bda_error *err)
{
    training ignored;
    if (!settings_are_of(asked->train, "train", err) || !settings_are_of(asked->predict, "predict", err) ||
        !settings_training(asked->train, &ignored, err))
        return false;
    bda_settings *copy = malloc(sizeof *copy);
    bool ok = copy || err_memory(err, sizeof *copy, "settings");
    for (uint64_t k = 0; ok && k < 2 * asked->count; k++) {
        char text[40];
        snprintf(text, sizeof text, "%.17g", k % 2 ? asked->l1_ratio[k / 2] : asked->cost[k / 2]);
        ok = option_set(option_find(asked->train->options, k % 2 ? "l1-ratio" : "cost"), copy, text, err);
    }
    free(copy);
    return ok;
}

bool bda_folds_score(bda_comm *c, const bda_folds *folds, const bda_trials *given, double *score, uint64_t *early,
                     bda_error *err)
{
    err_clear(err);
    trials t = {.comm = c,
                .data = folds_whole(folds),
                .fold = folds_of_rows(folds),
                .folds = folds_count(folds),
                .score = score};
    sized_take(&t.asked, given, sizeof t.asked);
    if (!comm_agree(c, check_trials(&t.asked, err), err))
        return false;
    memset(score, 0, t.asked.count * t.folds * sizeof *score);
    t.workers = choose_workers(c, t.data, t.folds, (int)t.asked.train->threads, err);
    if (t.workers < 0)
        return false;
    const bool ok = t.workers > 0 ? side_by_side(&t, folds, err) : in_turn(&t, err);
    if (early)
        *early = t.early;
    return ok;
}
