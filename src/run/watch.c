/* watch.c - see watch.h. */
#include "run/watch.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"

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
    return o && o->interrupt && *o->interrupt;
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

/* The gap of the best model over that of the start. */
static double relative_gap(const training_watch *w, const round_report *r)
{
    double gap = r->gap - (r->primal - w->now.best_primal);
    if (!(gap > 0))
        gap = isnan(gap) ? NAN : 0;
    return gap == 0 ? 0 : gap / w->first_gap;
}

static bool decide(training_watch *w, const round_report *r)
{
    if (w->now.has_dual && w->now.relative_gap <= w->target)
        w->reason = BDA_REACHED_GAP;
    else if (r->interrupted)
        w->reason = BDA_INTERRUPTED;
    else if (r->finished)
        w->reason = BDA_FINISHED;
    else if (r->stalled)
        w->reason = BDA_STALLED;
    else if (r->round >= w->max_rounds)
        w->reason = BDA_MAX_ROUNDS;
    else if (r->seconds >= w->max_time)
        w->reason = BDA_MAX_TIME;
    else
        return false;
    return true;
}

static bool watch_round(watch *self, const round_report *told, const double *weights)
{
    training_watch *w = of(self);
    round_report report = *told, *r = &report;
    r->vectors_sent -= w->vectors_before;
    r->bytes_sent -= w->bytes_before;
    bda_progress *now = &w->now;
    bool first = r->round == 0;
    if (first) {
        now->has_dual = !isnan(r->dual);
        w->first_gap = r->gap;
    }
    if (!check_numbers(w, r))
        return true;
    bool better = first || !now->has_dual || r->primal < now->best_primal;
    if (better)
        now->best_primal = r->primal;
    now->round = r->round;
    now->seconds = r->seconds;
    now->primal = r->primal;
    now->dual = r->dual;
    now->step = r->step;
    now->target = now->has_dual ? w->target : 0;
    now->relative_gap = now->has_dual ? relative_gap(w, r) : NAN;
    self->to_go = now->has_dual && w->target > 0 ? now->relative_gap / w->target : INFINITY;
    log_write_round(w->log, r, now);
    if (w->observer && w->observer->round)
        w->observer->round(w->observer->self, now);
    bool stop = decide(w, r);
    if (r->kept_best ? stop && r->primal <= now->best_primal : better)
        for (uint64_t j = 0; j < w->n; j++)
            w->best_w[j] = (1 + r->stretch) * weights[j];
    return stop;
}

void watch_start(training_watch *w, double *best_w, uint64_t n)
{
    w->watch =
        (watch){.to_go = INFINITY, .seconds = watch_seconds, .interrupted = watch_interrupted, .round = watch_round};
    w->best_w = best_w;
    w->n = n;
}

bool watch_complete(const training_watch *w)
{
    if (w->reason == BDA_REACHED_GAP)
        return true;
    bool own_end = w->reason == BDA_FINISHED || (w->reason == BDA_MAX_ROUNDS && !w->now.has_dual);
    return own_end && !w->target_given;
}
