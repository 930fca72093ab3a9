/* begin.c - a run that begins at a dual point instead of alpha = 0. The way there is a direction as in any round: one
 * vector, and the run's own search for the step, which may go beyond the point. */
#include "dual/dual.h"

#include "base/parallel.h"

bool dual_begin_at(dual_run *r, const dual_point *from, bda_error *err)
{
    const problem *p = r->p;
    const uint64_t free = p->penalty.free, first = p->n - free;
    if (!p->task->dual->begin)
        return true;
    for (uint64_t m = 0; m < free; m++)
        r->intercept.centre[m] = r->v[first + m] = from->intercept[m];
    p->penalty.kind->gradient(&p->penalty, r->w, r->v);
    FOR_BLOCKS (k, r->local, p->threads) {
        block *b = r->blocks[k];
        block_begin(b, from->alpha + b->first_row, r->search.trials, r->search.trial, r->direction.dv_block[k],
                    &r->direction.of_block[k]);
    }
    if (!dual_sum(r, err))
        return false;
    dual_move(r, dual_step(r));
    r->report = (round_report){0};
    return true;
}
