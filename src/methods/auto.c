/* auto.c - which method is the fastest for a problem, by counts that are known before training.
 *
 *   few weights:              newton, where its matrix costs less than the passes it saves
 *   otherwise:                hull, or bda where there is no memory for what hull keeps. With one block hull begins
 *                             as plain dual coordinate descent with shrinking, and stays it where few passes do
 *
 * Options are kept: --local-epochs leaves bda and hull to choose from, --hull is hull's, --a1, --a2 and those of the
 * line search are bda's. The constants come from `./dev bench auto`; they are far from critical, for where the
 * methods are close it does not matter, and where they are not the estimates differ by orders of magnitude. */
#include "methods/auto.h"

#include <math.h>

#include "dual/hull.h"
#include "dual/presets.h"
#include "methods/rivals.h"
#include "methods/table.h"

/* Newton's rounds, and the passes over the data that a dual method needs instead, to the usual accuracies. */
#define NEWTON_ROUNDS 7.0
#define INTERIOR_ROUNDS 18.0
#define DUAL_PASSES 120.0
/* Multiplications a nanosecond: along sparse rows, in pairs of their cells, in LAPACK. */
#define ROW_SPEED 0.4
#define PAIR_SPEED 0.7
#define DENSE_SPEED 4.0

static bool newton_pays(const problem *p)
{
    bda_error ignored = {0};
    if (!method_serves(&newton_method, p, &ignored))
        return false;
    const double cells = (double)p->data->nonzeros, rows = (double)p->data->instances, n = (double)p->n;
    const double ranks = (double)bda_comm_size(p->comm), T = p->classes > 2 ? (double)p->classes : 1;
    double pairs = 0.5 * T * T * cells * (cells / fmax(rows, 1));
    double rounds = p->loss->smooth ? NEWTON_ROUNDS : INTERIOR_ROUNDS;
    double newton = rounds * (pairs / PAIR_SPEED / ranks + n * n * n / 3 / DENSE_SPEED);
    double passes = DUAL_PASSES * 2 * T * cells / ROW_SPEED / ranks;
    return newton <= passes;
}

const method *auto_choose(const problem *p, const method_options *o)
{
    if (o->hull != HULL_DEFAULT)
        return &hull_method;
    if (!isnan(o->a1) || o->a1_is_blocks || !isnan(o->a2) || o->search != SEARCH_DEFAULT)
        return &bda_method;
    if (o->local_epochs == 0 && !o->lock_free && newton_pays(p))
        return &newton_method;
    return hull_fits(p) ? &hull_method : &bda_method;
}

method_options auto_options(const problem *p, const method *chosen, const method_options *asked)
{
    method_options o = *asked;
    const bool one_model = p->data->blocks == 1 || (o.lock_free && bda_comm_size(p->comm) == 1);
    if (o.local_epochs == 0 && o.hull == HULL_DEFAULT && one_model &&
        (chosen == &hull_method || chosen == &bda_method))
        o.local_epochs = EPOCHS_AS_NEEDED;
    return o;
}

static bool auto_train(const method *self, problem *p, const method_options *options, watch *watch, bda_error *err)
{
    (void)self;
    const method *m = auto_choose(p, options);
    method_options o = auto_options(p, m, options);
    return m->train(m, p, &o, watch, err);
}

const method auto_method = {
    .name = "auto",
    .summary = "the fastest we know for the problem: newton for few weights, plain coordinate descent for one block, "
               "hull otherwise",
    .needs = "any loss and task",
    .train = auto_train,
};
