/* state.c - what a run of the outer loop holds between the evaluation of a round and its steps, and the place in the loop
 * where it is kept and taken up again. w is not among it: it is grad g*(v). */
#include "dual/dual.h"

void dual_whole(archive *a, void *run)
{
    dual_run *r = run;
    const problem *p = r->p;
    ARCHIVE(a, r->a1);
    ARCHIVE(a, r->adapts);
    ARCHIVE(a, r->epochs);
    ARCHIVE(a, r->as_needed);
    ARCHIVE(a, r->pace);
    ARCHIVE(a, r->looked_at);
    ARCHIVE(a, r->largest_added);
    ARCHIVE(a, r->sum_error);
    ARCHIVE(a, r->rounding);
    ARCHIVE(a, r->travelled);
    ARCHIVE(a, r->length);
    ARCHIVE(a, r->f);
    ARCHIVE(a, r->idle_rounds);
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
