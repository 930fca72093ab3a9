/* blockwise.c - see blockwise.h. */
#include "methods/blockwise.h"

#include <math.h>

#include "base/clock.h"
#include "base/parallel.h"
#include "base/vector.h"
#include "problem/stage.h"

bool blockwise_open(blockwise *r, problem *p, watch *watch, bda_error *err)
{
    *r = (blockwise){.p = p, .watch = watch, .K = p->data->blocks, .local = p->data->local_blocks};
    arena *m = &r->memory;
    return (r->blocks = blocks_open(m, p, err)) && (r->value = ARENA_TAKE(m, block_value, r->local + 1, err)) &&
           (r->mine = ARENA_TAKE(m, double, (r->local + 1) * BLOCKWISE_COLUMNS, err)) &&
           (r->all = ARENA_TAKE(m, double, r->K *BLOCKWISE_COLUMNS, err));
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

void blockwise_gather(blockwise *r, int m)
{
    comm_gather_blocks(r->p->comm, r->K, r->mine, m, r->all);
}

double blockwise_sum(const blockwise *r, int column, int m)
{
    return comm_column_sum(r->all, r->K, column, m);
}

double blockwise_max(const blockwise *r, int column, int m)
{
    return comm_column_max(r->all, r->K, column, m);
}

bool blockwise_evaluate(blockwise *r, uint64_t t, const double *w, const double *v, double travelled)
{
    enum { LOSS, CONJUGATE, GAP, SECONDS, INTERRUPTED, COLUMNS };
    problem *p = r->p;
    double begin = clock_now(), comm_before = comm_said(p->comm)->seconds;
    FOR_BLOCKS (k, r->local, p->threads)
        block_evaluate(r->blocks[k], w, travelled, &r->value[k]);
    double seconds = r->watch->seconds(r->watch);
    bool interrupted = r->watch->interrupted(r->watch);
    for (uint64_t k = 0; k < r->local; k++) {
        double *to = r->mine + k * COLUMNS;
        to[LOSS] = r->value[k].loss;
        to[CONJUGATE] = r->value[k].conjugate;
        to[GAP] = r->value[k].gap;
        to[SECONDS] = seconds;
        to[INTERRUPTED] = interrupted;
    }
    blockwise_gather(r, COLUMNS);

    round_report *report = &r->report;
    const regulariser *g = p->penalty.kind;
    report->round = t;
    report->primal = g->value(&p->penalty, w) + blockwise_sum(r, LOSS, COLUMNS);
    report->dual = g->conjugate(&p->penalty, v) + blockwise_sum(r, CONJUGATE, COLUMNS);
    report->gap = g->distance(&p->penalty, w, v) + blockwise_sum(r, GAP, COLUMNS);
    report->seconds = blockwise_max(r, SECONDS, COLUMNS);
    report->interrupted = blockwise_max(r, INTERRUPTED, COLUMNS) > 0;
    report->vectors_sent = comm_said(p->comm)->vectors;
    report->bytes_sent = comm_said(p->comm)->bytes;
    double comm_seconds = comm_said(p->comm)->seconds - comm_before;
    report->comm_seconds += comm_seconds;
    report->eval_seconds = clock_now() - begin - comm_seconds;
    report->blocks = r->blocks;
    bool stop = stage_report(r->watch, report, w);
    *report = (round_report){0};
    return stop;
}
