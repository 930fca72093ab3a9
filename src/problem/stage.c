/* stage.c - see stage.h. */
#include "problem/stage.h"

#include <math.h>
#include <string.h>

#include "problem/problem.h"

/* The round as the run has it. A later stage may know less of the dual than those before. */
static round_report as_told(const stage *s, const round_report *report)
{
    round_report told = *report;
    told.round += s->first;
    told.kept_best = false; /* the method may have to leave before the end */
    if (s->choice && !told.choice)
        told.choice = s->choice;
    if (s->number > 0 && s->point.dual < told.dual) {
        told.gap = fmax(0, told.primal + s->point.dual);
        told.dual = s->point.dual;
    }
    return told;
}

static bool is_told(const stage *s, const round_report *report)
{
    return s->number == 0 || report->round > 0;
}

/* What a round changes; `better`: its model is the best so far. */
static void take(stage *s, const round_report *told, double to_go, bool *better)
{
    handover *at = &s->point;
    *better = told->primal < at->primal;
    at->round = told->round;
    at->primal = fmin(at->primal, told->primal);
    at->dual = fmin(at->dual, told->dual);
    at->gap = fmax(0, at->primal + at->dual);
    at->first_gap = told->round == 0 ? at->gap : at->first_gap;
    pace_observe(&s->pace, to_go, told->epochs);
}

bool stage_report(watch *watch, const round_report *report, const double *w)
{
    stage *s = watch->stage;
    if (!s)
        return watch->round(watch, report, w);
    if (!is_told(s, report))
        return false;
    round_report told = as_told(s, report);
    bool better;
    s->stopped = watch->round(watch, &told, w);
    if (s->stopped && told.certificate.for_end) /* a run that goes on from here shall not know that it had ended */
        told.dual = fmin(told.certificate.dual_before, s->point.dual);
    take(s, &told, watch->to_go, &better);
    if (better)
        memcpy(s->point.w, w, s->point.n * sizeof *w);
    return s->stopped || (s->leaves && s->leaves(s));
}

bool stage_ends(watch *watch, const round_report *report, double *to_go)
{
    if (!watch->ends)
        return false;
    if (!watch->stage)
        return watch->ends(watch, report, to_go);
    stage after = *watch->stage;
    if (!is_told(&after, report))
        return false;
    const round_report told = as_told(&after, report);
    bool better;
    const bool ends = watch->ends(watch, &told, to_go);
    take(&after, &told, *to_go, &better);
    return ends || (after.leaves && after.leaves(&after));
}

bool stage_resume(watch *watch, const method_state *state, uint64_t *t, bool *stop)
{
    keeper *k = watch->keeper;
    if (!k || !k->resuming)
        return false;
    stage *s = watch->stage;
    *stop = k->resume(k, state, t);
    if (s) { /* it may have been kept because the run ended in the round in which the stage did */
        s->stopped = *stop;
        *stop = *stop || (s->leaves && s->leaves(s));
    }
    return true;
}

/* Where a stage ends, the next one will soon have a state that is worth more. */
bool stage_keep(watch *watch, const method_state *state, uint64_t t, bool stop)
{
    const bool leaves = stop && watch->stage && !watch->stage->stopped;
    if (watch->keeper && !leaves)
        watch->keeper->keep(watch->keeper, state, t, stop);
    return stop;
}

void stage_archive(archive *a, stage *s)
{
    ARCHIVE(a, s->number);
    ARCHIVE(a, s->first);
    ARCHIVE(a, s->pace);
    ARCHIVE(a, s->point.primal);
    ARCHIVE(a, s->point.dual);
    ARCHIVE(a, s->point.gap);
    ARCHIVE(a, s->point.first_gap);
    ARCHIVE(a, s->point.round);
    ARCHIVE_ARRAY(a, s->point.w, s->point.n);
}

const handover *stage_from(const watch *watch)
{
    return watch->stage && watch->stage->number > 0 ? &watch->stage->point : NULL;
}

static bool stage_resumes(const watch *watch)
{
    return watch->keeper && watch->keeper->resuming;
}

bool plan_train(const plan *plan, problem *p, watch *watch, bda_error *err)
{
    const method *const *m = plan->method;
    if (!m[1])
        return m[0]->train(m[0], p, &plan->options, watch, err);
    arena memory = {0};
    stage s = {
        .point = {.w = ARENA_TAKE(&memory, double, p->n, err), .n = p->n, .primal = INFINITY, .dual = INFINITY}};
    bool ok = comm_agree(p->comm, s.point.w != NULL, err);
    watch->stage = &s;
    if (ok && p->start) {
        memcpy(s.point.w, p->start, p->n * sizeof *s.point.w);
        s.point.primal = p->start_primal;
    }
    if (ok && stage_resumes(watch))
        stage_archive(&watch->keeper->whole, &s);
    const int begin = s.number >= 0 && s.number < PLAN_STAGES && m[s.number] ? s.number : 0;
    for (int k = begin; ok && m[k] && !s.stopped; k++) {
        s.number = k;
        s.first = k > begin || !stage_resumes(watch) ? s.point.round : s.first;
        s.choice = k > 0 ? m[k]->name : NULL;
        s.next_cost = m[k + 1] ? plan->cost[k + 1] : INFINITY;
        s.leaves = m[k + 1] ? plan->leaves : NULL;
        ok = m[k]->train(m[k], p, &plan->options, watch, err);
    }
    watch->stage = NULL;
    arena_free(&memory);
    return ok;
}
