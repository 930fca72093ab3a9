/* average.c - every block trains a model alone, and the models are averaged once (McDonald et al. 2009; Zinkevich et
 * al. 2010): one round, the least that blocks can say to each other.
 *
 * Block k has l_k of l instances and minimises, with r = l / l_k,
 *
 *     g(w) + r sum_{i in k} xi_i(x_i'w),
 *
 * the problem that it would have if all data were like its own; its model counts with the weight 1/r. In terms of
 * alpha, which is feasible for the problem of all, its dual divided by r is
 *
 *     g*(r X_k alpha_k) / r + sum_{i in k} xi_i*(-alpha_i),   w_k = grad g*(r X_k alpha_k),
 *
 * so the block model of the outer loop with a1 = r, taken to its end, trains it, and where grad g* is linear the
 * average of the models is grad g*(X alpha): one vector, and the certificate is free. With an l1 part it is not, and
 * X alpha is a second vector. */
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/vector.h"
#include "methods/blockwise.h"
#include "methods/rivals.h"

#define EPOCHS_MOST 1000 /* of a block, unless the person said how many */
#define ENOUGH 1e-4      /* or once the gap of its own problem is at most this part of the first */

typedef struct average_run {
    blockwise base;
    int64_t epochs;
    uint64_t seed;
    double *w, *v;              /* [n] the average, X alpha */
    double *h;                  /* [n] a bound of the Hessian of g*; NULL where it is the identity */
    double **image;             /* [local][n] X_k alpha_k */
    double **model;             /* [local][n] w_k */
    double **step;              /* [local][n] what a pass adds to X_k alpha_k */
    block_direction *direction; /* [local] of all passes */
} average_run;

static bool average_open(average_run *r, problem *p, const method_options *options, watch *watch, bda_error *err);
static void train_alone(average_run *r);
static bool take_average(average_run *r, bda_error *err);

static bool average_train(const method *self, problem *p, const method_options *options, watch *watch, bda_error *err)
{
    (void)self;
    average_run r;
    bool ok = average_open(&r, p, options, watch, err);
    if (ok && !blockwise_evaluate(&r.base, 0, r.w, r.v, 0)) {
        train_alone(&r);
        ok = take_average(&r, err);
        if (ok)
            blockwise_evaluate(&r.base, 1, r.w, r.v, INFINITY);
    }
    blockwise_close(&r.base);
    return ok;
}

/* w_k = grad g*(r X_k alpha_k); the step is used up. */
static void find_model(average_run *r, uint64_t k, double scale)
{
    const penalty *g = &r->base.p->penalty;
    for (uint64_t j = 0; j < g->n; j++)
        r->step[k][j] = scale * r->image[k][j];
    g->kind->gradient(g, r->model[k], r->step[k]);
}

/* An interrupted rank ends its passes where it is; the report of the round tells the others. */
static void train_block(average_run *r, uint64_t k)
{
    const problem *p = r->base.p;
    block *b = r->base.blocks[k];
    block_direction *d = &r->direction[k];
    const uint64_t n = p->n, count = block_count(b);
    double scale = p->weight_all / problem_weight(p, k), first = 0, travelled = 0, cells = 0;
    for (int64_t pass = 0; count > 0 && pass < r->epochs; pass++) {
        block_value value;
        block_evaluate(b, r->model[k], travelled, &value);
        first = pass == 0 ? value.gap : first;
        if (value.gap <= ENOUGH * first || r->base.watch->interrupted(r->base.watch))
            break;
        subproblem s = {
            .w = r->model[k], .h = r->h, .a1 = scale, .epochs = 1, .seed = r->seed, .round = (uint64_t)pass};
        block_solve(b, &s, r->step[k], d);
        block_move(b, 1);
        cells += d->cells;
        if (d->failed)
            break;
        vec_add(r->image[k], 1, r->step[k], n, 1);
        travelled += scale * sqrt(vec_dot(r->step[k], r->step[k], n, 1)) / p->penalty.convexity;
        find_model(r, k, scale);
    }
    d->cells = cells;
    d->largest = vec_largest(r->image[k], n, 1);
}

static void train_alone(average_run *r)
{
    const int threads = r->base.p->threads;
    const span span = span_begin(r->base.p->comm);
    FOR_BLOCKS (k, r->base.local, threads)
        train_block(r, k);
    span_end(&span, &r->base.report, SPENT_LOCAL);
}

/* r->model holds what each block adds to the average; returns the largest element. */
static double weigh_models(average_run *r)
{
    const problem *p = r->base.p;
    double largest = 0;
    for (uint64_t k = 0; k < r->base.local; k++) {
        double weight = problem_weight(p, k) / p->weight_all;
        for (uint64_t j = 0; j < p->n; j++)
            r->model[k][j] *= weight;
        largest = fmax(largest, vec_largest(r->model[k], p->n, p->threads));
    }
    return largest;
}

static bool take_average(average_run *r, bda_error *err)
{
    enum { LARGEST, CELLS, FAILED, LARGEST_MODEL, COLUMNS };
    blockwise *b = &r->base;
    problem *p = b->p;
    const bool linear = p->penalty.kind->smooth; /* grad g* */
    const span messages = span_begin(p->comm);
    double largest_model = linear ? 0 : weigh_models(r);
    for (uint64_t k = 0; k < b->local; k++) {
        double *to = b->scalars.mine + k * COLUMNS;
        to[LARGEST] = r->direction[k].largest;
        to[CELLS] = r->direction[k].cells;
        to[FAILED] = r->direction[k].failed;
        to[LARGEST_MODEL] = largest_model;
    }
    scalars_gather(&b->scalars, COLUMNS);
    if (scalars_max(&b->scalars, FAILED) > 0)
        return err_set(err, BDA_FAILED, "out of memory for dual variables; more ranks on more machines would help");
    double cells = scalars_sum(&b->scalars, CELLS);
    comm_sum_vectors(p->comm, b->K, scalars_max(&b->scalars, LARGEST), (const double *const *)r->image, (int)b->local,
                     p->n, r->v, p->threads);
    if (linear)
        p->penalty.kind->gradient(&p->penalty, r->w, r->v);
    else
        comm_sum_vectors(p->comm, b->K, scalars_max(&b->scalars, LARGEST_MODEL), (const double *const *)r->model,
                         (int)b->local, p->n, r->w, p->threads);
    span_end(&messages, &b->report, SPENT_MESSAGES);
    b->report.epochs = p->nonzeros ? cells / (double)p->nonzeros : 1;
    b->report.step = 1;
    b->report.finished = true;
    return true;
}

static bool take_memory(average_run *r, problem *p, watch *watch, bda_error *err)
{
    blockwise *b = &r->base;
    const bool identity = p->penalty.kind->identity;
    return blockwise_open(b, p, watch, err) && (r->w = ARENA_TAKE(&b->memory, double, p->n, err)) &&
           (r->v = ARENA_TAKE(&b->memory, double, p->n, err)) &&
           (identity || (r->h = ARENA_TAKE(&b->memory, double, p->n, err))) &&
           (r->image = blockwise_vectors(b, err)) && (r->model = blockwise_vectors(b, err)) &&
           (r->step = blockwise_vectors(b, err)) &&
           (r->direction = ARENA_TAKE(&b->memory, block_direction, b->local + 1, err));
}

static bool average_open(average_run *r, problem *p, const method_options *options, watch *watch, bda_error *err)
{
    *r = (average_run){.epochs = options->local_epochs > 0 ? options->local_epochs : EPOCHS_MOST,
                       .seed = options->seed};
    watch->facts.local_epochs = options->local_epochs;
    if (!comm_agree(p->comm, take_memory(r, p, watch, err), err))
        return false;
    if (r->h)
        p->penalty.kind->curvature(&p->penalty, r->h, r->v, true);
    return true;
}

const method average = {
    .name = "average",
    .summary = "each block trains alone, and the models are averaged once (Zinkevich et al. 2010)",
    .needs = "any loss, any regulariser",
    .whole_regulariser = true,
    .begins_at_0 = true,
    .train = average_train,
};
