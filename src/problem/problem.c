/* problem.c - from data and a request to what is minimised. */
#include "problem/problem.h"

#include <string.h>

static bool check_labels(const data *d, bda_error *err)
{
    if (d->label_count == 1)
        return err_set(err, BDA_FAILED,
                       "%s: all instances have the same label %.17g; classification needs two labels", d->name,
                       d->labels[0]);
    if (d->label_count > DATA_LABELS_COUNTED)
        return err_set(err, BDA_FAILED,
                       "%s: more than %d distinct labels are too many classes; --task=regress takes any numbers",
                       d->name, DATA_LABELS_COUNTED);
    return true;
}

bool problem_open(problem *p, comm *c, const data *d, const problem_request *request, bda_error *err)
{
    const bool bias = request->bias >= 0; /* a feature of value 0 has a weight too, which stays 0 */
    const bool regression = request->loss->regression;
    const uint64_t labels = regression ? 1 : d->label_count, outputs = labels > 2 ? labels : 1;
    *p = (problem){
        .comm = c,
        .data = d,
        .loss = request->loss,
        .labels = d->labels,
        .classes = labels,
        .epsilon = request->epsilon,
        .threads = request->threads,
    };
    if (!regression && !check_labels(d, err))
        return false;
    const bool squared_norm = request->l1_ratio == 0 && !request->factor;
    if (squared_norm && !fold_open(&p->fold, c, d, outputs, err))
        return false;
    p->rows = p->fold.folded ? p->fold.rows : d->rows;
    p->nonzeros = p->fold.folded ? p->fold.nonzeros : d->nonzeros;
    p->rows.bias = bias ? request->bias : 0;
    p->rows.columns += bias;
    p->n = p->rows.columns * outputs;
    double *cost = ARENA_TAKE(&p->memory, double, labels, err), *factor = NULL;
    if (request->factor && (factor = ARENA_TAKE(&p->memory, double, p->rows.columns, err)))
        for (uint64_t j = 0; j < p->rows.columns; j++)
            factor[j] = j < d->features ? request->factor[j] : 1;
    for (uint64_t k = 0; cost && k < labels; k++)
        cost[k] = request->cost * (request->cost_factor ? request->cost_factor[k] : 1);
    p->cost = cost;
    p->penalty = penalty_for(p->rows.columns, outputs, request->l1_ratio, factor, p->threads);
    return comm_agree(c, cost && (factor || !request->factor), err);
}

void problem_weights(const problem *p, const double *w, double *full)
{
    const uint64_t outputs = p->n / p->rows.columns, features = p->data->features;
    fold_weights(&p->fold, p->data, w, outputs, full);
    if (p->rows.columns > p->fold.rows.columns) /* the constant feature */
        memcpy(full + features * outputs, w + p->fold.rows.columns * outputs, outputs * sizeof *full);
}

void problem_close(problem *p)
{
    fold_close(&p->fold);
    arena_free(&p->memory);
}

uint32_t problem_class(const problem *p, double label)
{
    uint64_t low = 0, high = p->classes;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (p->labels[middle] <= label)
            low = middle;
        else
            high = middle;
    }
    return (uint32_t)low;
}
