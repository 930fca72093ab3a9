/* blockwise.c - see blockwise.h. */
#include "methods/blockwise.h"

#include <math.h>

#include "base/parallel.h"
#include "base/vector.h"
#include "problem/stage.h"

bool blockwise_open(blockwise *r, problem *p, watch *watch, bda_error *err)
{
    *r = (blockwise){.p = p, .watch = watch, .K = p->data->blocks, .local = p->data->local_blocks};
    r->scalars = (scalars){.comm = p->comm, .blocks = r->K, .local = r->local};
    arena *m = &r->memory;
    return (r->blocks = blocks_open(m, p, err)) && (r->value = ARENA_TAKE(m, block_value, r->local + 1, err)) &&
           scalars_take(&r->scalars, m, BLOCKWISE_COLUMNS, err);
}

void blockwise_close(blockwise *r)
{
    blocks_close(r->blocks);
    arena_free(&r->memory);
}

double **blockwise_vectors(blockwise *r, bda_error *err)
{
    double **vector = ARENA_TAKE(&r->memory, double *, r->local + 1, err);
    for (uint64_t k = 0; vector && k < r->local; k++)
        if (!(vector[k] = ARENA_TAKE(&r->memory, double, r->p->n, err)))
            return NULL;
    return vector;
}

bool blockwise_evaluate(blockwise *r, uint64_t t, const double *w, const double *v, double travelled)
{
    enum { LOSS, CONJUGATE, GAP, SECONDS, INTERRUPTED, COLUMNS };
    problem *p = r->p;
    const span span = span_begin(p->comm);
    FOR_BLOCKS (k, r->local, p->threads)
        block_evaluate(r->blocks[k], w, travelled, &r->value[k]);
    const rank_view view = report_begin(r->watch);
    for (uint64_t k = 0; k < r->local; k++) {
        double *to = r->scalars.mine + k * COLUMNS;
        to[LOSS] = r->value[k].loss;
        to[CONJUGATE] = r->value[k].conjugate;
        to[GAP] = r->value[k].gap;
        report_put(view, to + SECONDS);
    }
    scalars_gather(&r->scalars, COLUMNS);

    round_report *report = &r->report;
    const regulariser *g = p->penalty.kind;
    report->round = t;
    report->primal = g->value(&p->penalty, w) + scalars_sum(&r->scalars, LOSS);
    report->dual = g->conjugate(&p->penalty, v) + scalars_sum(&r->scalars, CONJUGATE);
    report->gap = g->distance(&p->penalty, w, v) + scalars_sum(&r->scalars, GAP);
    report_end(report, &r->scalars, SECONDS);
    span_end(&span, report, SPENT_EVALUATION);
    report->blocks = r->blocks;
    bool stop = stage_report(r->watch, report, w);
    *report = (round_report){0};
    return stop;
}
