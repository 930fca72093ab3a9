/* hull_plain.c - the rounds before those of hull, where it is asked for as many passes as are needed.
 *
 * Where few passes are needed plain coordinate descent is the fastest with one model, and with several the rounds of
 * bda, which cost less than those of hull: they go on until they prove to be many. Their a1 follows what is measured,
 * for in few rounds blocks hardly stop going the same way.
 *
 * Where a loss has kinks, P(w) is far above the least long after f(alpha) is not, and goes up and down. So as soon as
 * the gap of one model falls slowly, the best point is searched for beside the passes as in hull. That looks at all
 * instances, of which a plain look leaves out those that surely have no loss; so what counts is not how far the gap
 * fell in a round, but for the work of a pass. */
#include <math.h>

#include "dual/hull.h"

#define PLAIN_ROUNDS 4      /* at least */
#define PLAIN_PATIENCE 50   /* passes over all that may be left */
#define SLOW_PATIENCE 15    /* with the logistic loss, whose passes take longer beside the rest of a round of hull */
#define CLASS_PATIENCE 2    /* for a class, between these: what a round of hull costs beside a pass grows with them */
#define FAR_GAP_RATIO 20.0  /* times the gap that is asked for, from where on steep first rounds are forgotten */
#define BDA_PATIENCE 20     /* with several models, where rounds of hull gain more */
#define FIRST_A1 2.0        /* of theirs: from alpha = 0 blocks go much the same way */
#define SLOW_GAP_FACTOR 0.5 /* where more of the gap is left than that since it was judged last */
#define JUDGE_EVERY_EPOCHS 1.0 /* passes and looks, against those at all cells, from one time to the next */
#define MIN_EPOCH_COST 0.25    /* what a pass costs that visits next to none, against one that visits all */

static bool falls_slowly(hull_judgement *j, double to_go, double work)
{
    j->work += work;
    if (j->work < JUDGE_EVERY_EPOCHS)
        return false;
    const bool slowly = to_go > SLOW_GAP_FACTOR * j->gap_ratio;
    *j = (hull_judgement){.gap_ratio = to_go};
    return slowly;
}

double hull_plain_patience(const dual_run *d)
{
    const problem *p = d->p;
    if (d->model.count > 1)
        return BDA_PATIENCE;
    if (p->task->entropic)
        return SLOW_PATIENCE;
    if (p->task->single)
        return PLAIN_PATIENCE;
    return fmin(fmax(CLASS_PATIENCE * (double)p->outputs, SLOW_PATIENCE), PLAIN_PATIENCE);
}

static void begin(hull_run *r)
{
    dual_run *d = &r->d;
    const hull_phase next = r->phase;
    r->plain = (hull_plain){.next = next, .a1 = d->model.a1, .judgement = {.gap_ratio = INFINITY}};
    r->phase = HULL_WARM_UP;
    d->model.adaptive_a1 = d->model.count > 1 && d->model.count == d->K;
    d->model.a1 = d->model.adaptive_a1 ? FIRST_A1 : d->model.a1;
}

/* Round t at the point that there is. */
static bool look(hull_run *r, uint64_t t, bool *stop, bda_error *err)
{
    dual_run *d = &r->d;
    const penalty *g = &d->p->penalty;
    r->plain.visited = d->report.epochs;
    r->plain.epochs = (double)d->epochs.count;
    g->kind->gradient(g, d->w, d->v);
    if (!r->primal.best) {
        d->report.choice = hull_choice(r);
        *stop = dual_evaluate(d, t);
    } else {
        if (!hull_evaluate(r, err))
            return false;
        hull_improve_primal(r);
        *stop = hull_report(r, t);
    }
    *stop = hull_keep(r, t, *stop);
    return true;
}

/* After round t: do they prove to be many? */
static bool are_many(const hull_run *r, uint64_t t)
{
    const dual_run *d = &r->d;
    const double cost = MIN_EPOCH_COST + (1 - MIN_EPOCH_COST) * fmin(r->plain.visited / r->plain.epochs, 1);
    const double patience = hull_plain_patience(d) / cost;
    const double so_far = d->model.count > 1 ? (double)t : 0;
    const bool far = d->model.count == 1 && d->watch->to_go > FAR_GAP_RATIO;
    const double left = far ? d->epochs.pace.left_worst : d->epochs.pace.left;
    return t >= PLAIN_ROUNDS && left + so_far > patience;
}

bool hull_plain_rounds(hull_run *r, uint64_t *t, bool resumed, bool *stop, bda_error *err)
{
    dual_run *d = &r->d;
    const problem *p = d->p;
    const bool kinks = p->penalty.kind->smooth && !p->task->smooth;
    if (!resumed)
        begin(r);
    for (;; ++*t, resumed = false) {
        if (!resumed && !look(r, *t, stop, err))
            return false;
        if (*stop || are_many(r, *t))
            break;
        if (!r->primal.best && kinks && d->model.count == 1 &&
            falls_slowly(&r->plain.judgement, d->watch->to_go, r->plain.visited + d->epochs.eval_cell_share) &&
            !hull_begin_primal(r, err))
            return false;
        dual_solve(d, *t);
        if (!dual_sum(d, err))
            return false;
        if (d->model.adaptive_a1 && p->task->entropic) /* whose step is only ever halved */
            d->model.a1 = fmax(d->model.a1, FIRST_A1);
        dual_move(d, dual_step(d));
    }
    r->phase = r->plain.next;
    d->model.a1 = r->plain.a1;
    d->model.adaptive_a1 = false;
    return true;
}
