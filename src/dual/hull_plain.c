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

#define PLAIN_ROUNDS 4    /* at least */
#define PLAIN_PATIENCE 50 /* passes over all that may be left */
#define SLOW_PATIENCE 15  /* with the logistic loss, whose passes take longer beside the rest of a round of hull */
#define CLASS_PATIENCE 2  /* for a class, between these: what a round of hull costs beside a pass grows with them */
#define FAR 20.0          /* times the gap that is asked for, from where on steep first rounds are forgotten */
#define BDA_PATIENCE 20   /* with several models, where rounds of hull gain more */
#define FIRST_A1 2.0      /* of theirs: from alpha = 0 blocks go much the same way */
#define SLOW 0.5          /* where more of the gap is left than that since it was judged last */
#define JUDGED 1.0        /* passes and looks, against those at all cells, from one time to the next */
#define CHEAPEST 0.25     /* what a pass costs that visits next to none, against one that visits all */

/* Has the gap fallen slowly? Judged after enough work, from `then` on. */
typedef struct judgement {
    double then; /* to_go */
    double work;
} judgement;

static bool falls_slowly(judgement *j, double to_go, double work)
{
    j->work += work;
    if (j->work < JUDGED)
        return false;
    const bool slowly = to_go > SLOW * j->then;
    *j = (judgement){.then = to_go};
    return slowly;
}

double hull_plain_patience(const dual_run *d)
{
    const problem *p = d->p;
    if (d->models > 1)
        return BDA_PATIENCE;
    if (p->task->entropic)
        return SLOW_PATIENCE;
    if (p->task->single)
        return PLAIN_PATIENCE;
    return fmin(fmax(CLASS_PATIENCE * (double)p->outputs, SLOW_PATIENCE), PLAIN_PATIENCE);
}

bool hull_plain_rounds(hull_run *r, uint64_t *t, bool *stop, bda_error *err)
{
    dual_run *d = &r->d;
    const problem *p = d->p;
    const bool kinks = p->penalty.kind->smooth && !p->task->smooth;
    const double most = hull_plain_patience(d);
    const double a1 = d->a1;
    d->adapts = d->models > 1 && d->models == d->K;
    d->a1 = d->adapts ? FIRST_A1 : a1;
    r->plain = true;
    judgement judgement = {.then = INFINITY};
    for (;; ++*t) {
        const double visited = d->report.epochs;
        const double cost = CHEAPEST + (1 - CHEAPEST) * fmin(visited / (double)d->epochs, 1);
        const double patience = most / cost;
        const double so_far = d->models > 1 ? (double)*t : 0;
        p->penalty.kind->gradient(&p->penalty, d->w, d->v);
        if (!r->best) {
            d->report.choice = hull_choice(r);
            *stop = dual_evaluate(d, *t);
        } else {
            if (!hull_evaluate(r, err))
                return false;
            hull_improve_primal(r);
            *stop = hull_report(r, *t);
        }
        const bool far = d->models == 1 && d->watch->to_go > FAR;
        const double left = far ? d->pace.left_worst : d->pace.left;
        if (*stop || (*t >= PLAIN_ROUNDS && left + so_far > patience))
            break;
        if (!r->best && kinks && d->models == 1 &&
            falls_slowly(&judgement, d->watch->to_go, visited + d->looked_at) && !hull_begin_primal(r, err))
            return false;
        dual_solve(d, *t);
        if (!dual_sum(d, err))
            return false;
        if (d->adapts && p->task->entropic) /* whose step is only ever halved */
            d->a1 = fmax(d->a1, FIRST_A1);
        dual_move(d, dual_step(d));
    }
    r->plain = false;
    d->a1 = a1;
    d->adapts = false;
    return true;
}
