/* auto.c - which method is the fastest for a problem, by counts that are known before training.
 *
 * Few weights and a differentiable loss, or the logistic loss: the least of the estimates for newton, tron, l-commdir
 * and a dual method.
 *
 * Few weights and a loss with kinks: hull; newton instead, as soon as the fall of the gap says that it will be
 * faster.
 *
 * Otherwise: hull, or bda where there is no memory for what hull keeps. hull begins as plain dual coordinate descent
 * with shrinking, or with several blocks as bda, and goes on so where few passes will do.
 *
 * Options are kept: --local-epochs leaves bda and hull to choose from, --hull is hull's, --a1, --a2 and those of the
 * line search are bda's. The estimates are those of cost.c, in the time of the machine that --machine describes. No clock
 * is asked, so that the choice is the same for the same command. */
#include "methods/auto.h"

#include <math.h>

#include "dual/hull.h"
#include "dual/presets.h"
#include "methods/cost.h"
#include "methods/rivals.h"
#include "methods/table.h"

static bool serves(const method *m, const problem *p)
{
    bda_error ignored = {0};
    return method_serves(m, p, &ignored);
}

static double time_of(const method_options *o, work w)
{
    return machine_time(o->machine ? o->machine : &machine_usual, &w);
}

/* The least of the estimates; NULL: a dual method. tron is for the softmax over few features. */
static const method *primal_method(const problem *p, const method_options *o)
{
    const bool newton = p->penalty.l1_ratio == 0 && serves(&newton_method, p), logistic = p->task->entropic;
    const bool tron = !p->task->single && p->data->instances > 10 * p->rows.columns && serves(&tron_method, p);
    const bool few_vectors = logistic && (p->task->single || !newton) && serves(&l_commdir, p);
    if ((newton && !p->loss->smooth) || (!newton && !tron && !few_vectors))
        return NULL;
    const extent e = cost_extent(p, o);
    const struct {
        const method *method;
        double time;
    } candidates[] = {
        {NULL, time_of(o, cost_dual(&e))},
        {&newton_method, newton ? time_of(o, cost_newton(&e)) : INFINITY},
        {&tron_method, tron ? time_of(o, cost_tron(&e)) : INFINITY},
        {&l_commdir, few_vectors ? time_of(o, cost_l_commdir(&e, newton)) : INFINITY},
    };
    size_t least = 0;
    for (size_t k = 1; k < sizeof candidates / sizeof *candidates; k++)
        least = candidates[k].time < candidates[least].time ? k : least;
    return candidates[least].method;
}

static bool asks_for_bda(const method_options *o)
{
    return !isnan(o->a1) || o->a1_is_blocks || !isnan(o->a2) || o->search != SEARCH_DEFAULT;
}

static const method *choose_for_structures(const problem *p, const method_options *o)
{
    const bool ahead = p->task->dual->advance && p->penalty.kind->identity;
    return p->data->blocks > 1 && ahead && !asks_for_bda(o) && !method_shares(o) ? &momentum_method : &online_method;
}

/* Where g is not strongly convex. */
static const method *choose_without_convexity(const problem *p, const method_options *o)
{
    const extent e = cost_extent(p, o);
    const bool newton = serves(&newton_method, p) && time_of(o, cost_newton(&e)) < time_of(o, cost_lbfgs(&e));
    return newton ? &newton_method : &lbfgs;
}

#define HARDLY_REACHED 1e-11 /* a gap that a dual method stalls before */

/* With an l1 part in g dual methods are the faster ones, but the last digits are newton's alone. */
static bool wants_all_digits(const problem *p, const method_options *o)
{
    return o->gap < HARDLY_REACHED && p->penalty.l1_ratio > 0 && p->loss->smooth && serves(&newton_method, p);
}

/* The first stage. `open`: nobody asked for what is a dual method's. */
static const method *choose_first(const problem *p, const method_options *o, bool open)
{
    if (p->penalty.l1_ratio == 1)
        return choose_without_convexity(p, o);
    if (p->task->structure)
        return choose_for_structures(p, o);
    if (o->hull != HULL_DEFAULT)
        return &hull_method;
    if (asks_for_bda(o))
        return &bda_method;
    const method *primal = !open ? NULL : wants_all_digits(p, o) ? &newton_method : primal_method(p, o);
    if (primal)
        return primal;
    return hull_fits(p) ? &hull_method : &bda_method;
}

plan auto_plan(const problem *p, const method_options *asked)
{
    const bool open = asked->local_epochs == 0 && asked->sharing != SHARE_MEMORY;
    const method *first = choose_first(p, asked, open);
    plan plan = {.method = {first}, .options = *asked};
    method_options *o = &plan.options;
    if (first != &hull_method && first != &bda_method)
        return plan;
    const extent e = cost_extent(p, asked);
    if (o->local_epochs == 0 && o->hull == HULL_DEFAULT)
        o->local_epochs = EPOCHS_AS_NEEDED;
    if (o->sharing == SHARE_DEFAULT && p->data->blocks > 1)
        o->sharing = cost_sharing_pays(&e) ? SHARE_ON_ONE_MACHINE : SHARE_DEFAULT;
    if (first == &hull_method && open && asked->hull == HULL_DEFAULT && !p->loss->smooth &&
        p->penalty.l1_ratio == 0 && serves(&newton_method, p)) {
        plan.method[1] = &newton_method;
        plan.cost[1] = time_of(o, cost_newton(&e)) / time_of(o, cost_dual_pass(&e));
        plan.leaves = cost_newton_is_faster;
    }
    return plan;
}

static bool auto_train(const method *self, problem *p, const method_options *options, watch *watch, bda_error *err)
{
    (void)self;
    const plan plan = auto_plan(p, options);
    return plan_train(&plan, p, watch, err);
}

const method auto_method = {
    .name = "auto",
    .summary = "the fastest we know for the problem: newton for few weights, plain coordinate descent for one block "
               "where few passes will do, hull otherwise",
    .needs = "any loss and task; with --l1-ratio=1 a differentiable loss",
    .any_regulariser = true,
    .train = auto_train,
};
