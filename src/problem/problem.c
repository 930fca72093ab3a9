/* problem.c - from data and a request to what is minimised. */
#include "problem/problem.h"

static bool two_labels(problem *p, const data *d, bda_error *err)
{
    if (d->label_count == 1)
        return err_set(err, BDA_FAILED, "%s: all instances have the same label %.17g; classification needs two labels",
                       d->name, d->labels[0]);
    if (d->label_count > 2) {
        const char *more = d->label_count > 3 ? ", ..." : "";
        return err_set(err, BDA_FAILED,
                       "%s: more than two labels (%.17g, %.17g, %.17g%s); classification needs exactly two, and "
                       "--task=regress takes any numbers",
                       d->name, d->labels[0], d->labels[1], d->labels[2], more);
    }
    p->positive = d->labels[1];
    return true;
}

bool problem_open(problem *p, comm *c, const data *d, const problem_request *request, bda_error *err)
{
    bool bias = request->bias >= 0; /* a feature of value 0 has a weight too, which stays 0 */
    *p = (problem){
        .comm = c,
        .data = d,
        .loss = request->loss,
        .regulariser = &squared_norm,
        .rows = d->rows,
        .n = d->features + bias,
        .cost = {request->cost * request->cost_factor[0], request->cost * request->cost_factor[1]},
        .epsilon = request->epsilon,
        .threads = request->threads,
    };
    p->rows.bias = bias ? request->bias : 0;
    p->rows.columns = p->n;
    return request->loss->regression || two_labels(p, d, err);
}
