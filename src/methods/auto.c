/* auto.c - which method is the fastest for a problem, by counts that are known before training.
 *
 *   few weights:   newton, where its matrix costs less than the passes over the data that it saves
 *   softmax over few features in several blocks: tron, whose rounds do not depend on the blocks
 *   otherwise:     hull, or bda where there is no memory for what hull keeps. With one block hull begins as plain
 * dual coordinate descent with shrinking, and goes on so where few passes will do
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

/* Newton's rounds, those of its interior point form with the passes in each, and the passes over the data that a dual
 * method needs instead, to the usual and to tight accuracies. */
#define NEWTON_ROUNDS 7.0
#define INTERIOR_ROUNDS 18.0
#define INTERIOR_PASSES 6.0
#define DUAL_PASSES 120.0
#define TIGHT_DUAL_PASSES 400.0
#define TIGHT 1e-4
/* Multiplications a nanosecond: along sparse rows, in pairs of their cells, in LAPACK. */
#define ROW_SPEED 0.4
#define PAIR_SPEED 0.7
#define DENSE_SPEED 4.0

/* By the blocks, not the ranks: the model does not depend on how many ranks share them out. */
static bool newton_pays(const problem *p, double gap)
{
    bda_error ignored = {0};
    if (!method_serves(&newton_method, p, &ignored))
        return false;
    const bool smooth = p->loss->smooth;
    const double cells = (double)p->data->nonzeros, rows = (double)p->data->instances, n = (double)p->n;
    const double blocks = (double)p->data->blocks, T = p->classes > 2 ? (double)p->classes : 1;
    double pass = 2 * T * cells / ROW_SPEED / blocks;
    double pairs = 0.5 * T * T * cells * (cells / fmax(rows, 1)) / PAIR_SPEED / blocks;
    double round = pairs + n * n * n / 3 / DENSE_SPEED + (smooth ? 0 : INTERIOR_PASSES * pass);
    return (smooth ? NEWTON_ROUNDS : INTERIOR_ROUNDS) * round <=
           (gap < TIGHT ? TIGHT_DUAL_PASSES : DUAL_PASSES) * pass;
}

static bool tron_pays(const problem *p)
{
    bda_error ignored = {0};
    return p->classes > 2 && p->data->blocks > 1 && p->data->instances > 10 * p->rows.columns &&
           method_serves(&tron_method, p, &ignored);
}

const method *auto_choose(const problem *p, const method_options *o)
{
    if (o->hull != HULL_DEFAULT)
        return &hull_method;
    if (!isnan(o->a1) || o->a1_is_blocks || !isnan(o->a2) || o->search != SEARCH_DEFAULT)
        return &bda_method;
    if (o->local_epochs == 0 && !o->lock_free && newton_pays(p, o->gap))
        return &newton_method;
    if (o->local_epochs == 0 && !o->lock_free && tron_pays(p))
        return &tron_method;
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
    .summary = "the fastest we know for the problem: newton for few weights, plain coordinate descent for one block "
               "where few passes will do, hull otherwise",
    .needs = "any loss and task",
    .train = auto_train,
};
