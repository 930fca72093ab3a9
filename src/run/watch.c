/* watch.c - see watch.h. */
#include "run/watch.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "run/path.h"
#include "run/validation.h"

static training_watch *of(watch *self)
{
    return (training_watch *)self;
}

static double watch_seconds(watch *self)
{
    return clock_now() - of(self)->started;
}

static bool watch_interrupted(watch *self)
{
    const bda_observer *o = of(self)->observer;
    return (o && o->interrupt && *o->interrupt) || data_lost(of(self)->data);
}

/* Have data gone in the round, on any rank? Then its numbers are worth nothing, and the best model so far is kept. */
static bool round_is_void(training_watch *w, const round_report *r)
{
    double lost = data_lost(w->data);
    if (!r->interrupted || !w->ranks)
        return false;
    comm_max_reals(w->ranks, &lost, 1);
    if (lost == 0)
        return false;
    w->reason = BDA_INTERRUPTED;
    w->lost = true;
    if (r->round == 0) /* there is no model */
        data_intact(w->ranks, w->data, &w->error);
    return true;
}

static bool watch_late(watch *self)
{
    return watch_interrupted(self) || watch_seconds(self) >= of(self)->limits.max_time; /* false for NAN */
}

/* A method without a dual reports none from the first round on; one that had a dual must keep it. */
static bool check_numbers(training_watch *w, const round_report *r)
{
    if (!isfinite(r->primal))
        return err_set(&w->error, BDA_FAILED,
                       "the objective is not a number in round %llu (primal %g); a smaller --cost or scaled features "
                       "would help",
                       (unsigned long long)r->round, r->primal);
    if (w->now.has_dual && (!isfinite(r->dual) || !isfinite(r->gap)))
        return err_set(
            &w->error, BDA_FAILED,
            "the dual objective is not a number in round %llu (dual %g, gap %g); a smaller --cost or scaled "
            "features would help",
            (unsigned long long)r->round, r->dual, r->gap);
    return true;
}

/* That of the best model. */
static double best_gap(const training_watch *w, const round_report *r)
{
    const double gap = r->gap - (r->primal - w->now.best_primal);
    return gap > 0 || isnan(gap) ? gap : 0;
}

/* A gap of 0 is none of anything. */
static double part(double gap, double whole)
{
    return gap == 0 ? 0 : gap / whole;
}

/* The gap in the units of the target. */
static double gap_to_judge(const training_watch *w)
{
    return w->limits.of_start ? w->now.gap_of_start : w->now.relative_gap;
}

static bool decide(training_watch *w, const round_report *r)
{
    if (w->now.has_dual && gap_to_judge(w) <= w->limits.target)
        w->reason = BDA_REACHED_GAP;
    else if (r->interrupted)
        w->reason = BDA_INTERRUPTED;
    else if (r->finished)
        w->reason = BDA_FINISHED;
    else if (r->stalled)
        w->reason = BDA_STALLED;
    else if (r->round >= w->limits.max_rounds)
        w->reason = BDA_MAX_ROUNDS;
    else if (r->seconds - w->resumed_seconds >= w->limits.max_time)
        w->reason = BDA_MAX_TIME;
    else
        return false;
    return true;
}

/* What is no training of the method's: neither its time nor its messages count. */
typedef struct aside {
    double begin;
    comm_stats said;
} aside;

static aside aside_begin(const training_watch *w)
{
    return (aside){.begin = clock_now(), .said = *comm_said(w->comm)};
}

static void aside_end(training_watch *w, const aside *a)
{
    w->vectors_before += comm_said(w->comm)->vectors - a->said.vectors;
    w->bytes_before += comm_said(w->comm)->bytes - a->said.bytes;
    w->started += clock_now() - a->begin;
}

static bool begin_log(training_watch *w)
{
    const aside a = aside_begin(w);
    const bool ok = comm_agree(w->comm, log_write_start(w->log, &w->start, &w->watch.facts, &w->error), &w->error);
    aside_end(w, &a);
    return ok;
}

static void keep_weights(training_watch *w, const round_report *r, const double *weights)
{
    for (uint64_t j = 0; j < w->n; j++)
        w->best_w[j] = (1 + r->stretch) * weights[j];
}

/* The model of the round is (1 + stretch) weights. With --patience the one that scores best is kept. */
static bool validate(training_watch *w, const round_report *r, bool last, const double *weights)
{
    bda_metrics *scores = NULL;
    const aside a = aside_begin(w);
    bool ok = true;
    if (last || validation_is_due(w->validation, r->round)) {
        ok = validation_score(w->validation, w->comm, weights, 1 + r->stretch, &scores, &w->error);
        if (ok)
            log_write_scores(w->log, r->round, r->seconds, scores);
        if (ok && validation_judge(w->validation, scores, r->round, r->primal))
            keep_weights(w, r, weights);
        bda_metrics_free(scores);
    }
    aside_end(w, &a);
    return ok;
}

/* The model is that of another round than the one with the least objective, and its gap is its own. */
static void settle_on_scored(training_watch *w)
{
    const validation_best *best = validation_seen(w->validation);
    bda_progress *now = &w->now;
    const double gap = now->has_dual ? best->primal + now->dual : NAN;
    now->best_primal = best->primal;
    now->relative_gap = part(fmax(gap, 0), best->primal);
    now->gap_of_start = part(fmax(gap, 0), w->first_gap);
}

/* The rest of the time so far. Parts are this rank's, and some of a round's come after its moment: what they have
 * beyond it is taken from later rounds, so that the sums agree. */
static double other_seconds(training_watch *w, const round_report *r)
{
    for (int k = 0; k < SPENT_KINDS; k++)
        w->told_seconds += r->spent[k];
    const double other = fmax(r->seconds - w->told_seconds, 0);
    w->told_seconds += other;
    return other;
}

static void take_gap(training_watch *w, double gap)
{
    w->now.relative_gap = part(gap, w->now.best_primal);
    w->now.gap_of_start = part(gap, w->first_gap);
    w->watch.to_go = w->now.has_dual && w->limits.target > 0 ? gap_to_judge(w) / w->limits.target : INFINITY;
}

/* Has it the best objective in double precision, and a smaller gap? The gap, a sum of what cannot be negative, still tells
 * models apart whose objectives are the same but for rounding. */
static bool is_nearer(const bda_progress *now, const round_report *r)
{
    const double rounding = 4 * DBL_EPSILON * fabs(now->best_primal);
    return r->primal - now->best_primal <= rounding && r->gap < now->relative_gap * fabs(now->best_primal);
}

/* What round r changes in what was seen; `better`: its model is the best so far. False: no numbers. */
static bool take_round(training_watch *w, const round_report *r, bool *better)
{
    bda_progress *now = &w->now;
    bool first = r->round == 0;
    if (first) {
        now->has_dual = !isnan(r->dual);
        w->first_gap = r->gap;
    }
    if (!check_numbers(w, r))
        return false;
    const bool least = (first && !w->begun) || !now->has_dual || r->primal < now->best_primal;
    *better = least || is_nearer(now, r);
    if (least)
        now->best_primal = r->primal;
    if (first && now->has_dual)
        w->first_gap = best_gap(w, r);
    now->size = sizeof *now;
    w->shared |= r->shares;
    w->finished = r->finished;
    w->stalled = r->stalled;
    now->round = r->round;
    now->seconds = r->seconds;
    now->primal = r->primal;
    now->dual = r->dual;
    now->step = r->step;
    now->target = now->has_dual ? w->limits.target : 0;
    now->target_of_start = w->limits.of_start;
    take_gap(w, now->has_dual ? best_gap(w, r) : NAN);
    return true;
}

/* What methods go by, for a run that goes on from here one day, as if it had not ended. */
static void forget_end(training_watch *w, const round_report *r)
{
    const bda_progress now = w->now;
    round_report before = *r;
    before.gap = r->certificate.gap_before;
    take_gap(w, best_gap(w, &before));
    w->now = now;
}

static bool watch_ends(watch *self, const round_report *report, double *to_go)
{
    training_watch trial = *of(self);
    bool better;
    const bool ends = !take_round(&trial, report, &better) || decide(&trial, report);
    *to_go = trial.watch.to_go;
    return ends;
}

static bool watch_round(watch *self, const round_report *told, const double *weights)
{
    training_watch *w = of(self);
    round_report report = *told, *r = &report;
    if (r->round == 0 && w->comm && !begin_log(w))
        return true;
    if (round_is_void(w, r))
        return true;
    r->vectors_sent -= w->vectors_before;
    r->bytes_sent -= w->bytes_before;
    bda_progress *now = &w->now;
    bool better;
    if (!take_round(w, r, &better))
        return true;
    w->repaired = fmax(w->repaired, r->certificate.repaired);
    log_write_round(w->log, r, now, other_seconds(w, r));
    if (w->observer && w->observer->round)
        w->observer->round(w->observer->self, now);
    bool stop = decide(w, r);
    if (stop && w->path)
        path_keep(w->path, w->start.problem, r->blocks);
    if (stop && r->certificate.for_end)
        forget_end(w, r);
    if (w->validation && !validate(w, r, stop, weights))
        return true;
    if (w->validation && !stop && validation_is_over(w->validation)) {
        w->reason = BDA_VALIDATED;
        stop = true;
    }
    if (w->validation && validation_seen(w->validation)->name) {
        if (stop)
            settle_on_scored(w);
        return stop;
    }
    if (r->kept_best ? stop && r->primal <= now->best_primal : better)
        keep_weights(w, r, weights);
    return stop;
}

void watch_archive(archive *a, training_watch *w)
{
    comm *c = w->start.problem->comm;
    uint64_t vectors = comm_said(c)->vectors - w->vectors_before, bytes = comm_said(c)->bytes - w->bytes_before;
    ARCHIVE(a, w->first_gap);
    ARCHIVE(a, w->told_seconds);
    ARCHIVE(a, w->now);
    ARCHIVE(a, w->watch.to_go);
    ARCHIVE(a, w->repaired);
    ARCHIVE(a, w->finished);
    ARCHIVE(a, w->stalled);
    ARCHIVE(a, w->shared);
    ARCHIVE(a, vectors);
    ARCHIVE(a, bytes);
    ARCHIVE_ARRAY(a, w->best_w, w->n);
    if (!archive_loads(a))
        return;
    w->vectors_before = comm_said(c)->vectors - vectors;
    w->bytes_before = comm_said(c)->bytes - bytes;
    w->resumed_seconds = w->now.seconds;
    w->started = clock_now() - w->now.seconds;
}

bool watch_resume(training_watch *w, bool last)
{
    w->start.resumed = true;
    w->start.resumed_round = w->now.round;
    if (w->comm && !begin_log(w))
        return true;
    const round_report r = {
        .round = w->now.round, .seconds = w->now.seconds, .finished = w->finished, .stalled = w->stalled};
    return last && decide(w, &r);
}

void watch_start(training_watch *w, double *best_w, uint64_t n)
{
    w->watch = (watch){.facts = NO_FACTS,
                       .to_go = INFINITY,
                       .seconds = watch_seconds,
                       .interrupted = watch_interrupted,
                       .late = watch_late,
                       .round = watch_round,
                       .ends = watch_ends};
    w->best_w = best_w;
    w->n = n;
}

void watch_start_at(training_watch *w, const double *weights, double primal)
{
    memcpy(w->best_w, weights, w->n * sizeof *w->best_w);
    w->now.best_primal = primal;
    w->begun = true;
}

bool watch_complete(const training_watch *w)
{
    if (w->reason == BDA_REACHED_GAP || w->reason == BDA_VALIDATED)
        return true;
    bool own_end = w->reason == BDA_FINISHED || (w->reason == BDA_MAX_ROUNDS && !w->now.has_dual);
    return own_end && !w->limits.target_given;
}
