/* state.c - what a run of the outer loop holds between the evaluation of a round and its steps, and the place in the loop
 * where it is kept and taken up again. w is not among it: it is grad g*(v). */
#include "dual/dual.h"

void dual_whole(archive *a, void *run)
{
    dual_run *r = run;
    const problem *p = r->p;
    ARCHIVE(a, r->model.a1);
    ARCHIVE(a, r->model.adaptive_a1);
    ARCHIVE(a, r->epochs.count);
    ARCHIVE(a, r->epochs.adaptive);
    ARCHIVE(a, r->epochs.pace);
    ARCHIVE(a, r->epochs.eval_cell_share);
    ARCHIVE(a, r->drift.largest_added);
    ARCHIVE(a, r->drift.sum_error);
    ARCHIVE(a, r->drift.rounding);
    ARCHIVE(a, r->travelled);
    ARCHIVE(a, r->scales.factor);
    ARCHIVE(a, r->f);
    ARCHIVE(a, r->search.idle_rounds);
    intercept_state(a, &r->intercept);
    ARCHIVE_ARRAY(a, r->v, p->n);
    if (archive_loads(a))
        p->penalty.kind->gradient(&p->penalty, r->w, r->v);
}

void dual_block(archive *a, void *run, uint64_t k)
{
    dual_run *r = run;
    block_state(r->blocks[k], a);
}

bool dual_look(dual_run *r, watch *watch, const method_state *state, uint64_t *t)
{
    bool stop;
    if (stage_resume(watch, state, t, &stop))
        return stop;
    r->p->penalty.kind->gradient(&r->p->penalty, r->w, r->v);
    return stage_keep(watch, state, *t, dual_evaluate(r, *t));
}
