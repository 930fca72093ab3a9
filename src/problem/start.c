/* start.c - see start.h. */
#include "problem/start.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/vector.h"
#include "problem/instances.h"
#include "problem/points.h"

/* ---- the weights ---------------------------------------------------------------------------------------------- */

/* Where a column has been multiplied, its weight has been divided. */
static double feature_weight(const problem *p, const double *full, uint64_t j, uint64_t m)
{
    const double w = full[j * p->outputs + m];
    if (!p->scale)
        return w;
    return p->scale[j] != 0 ? w / p->scale[j] : 0;
}

/* scaled: [features][outputs] */
static void take_features(const problem *p, const double *scaled, double *w)
{
    if (p->fold.folded)
        fold_take_weights(&p->fold, p->data, scaled, p->outputs, w);
    else
        memcpy(w, scaled, p->data->features * p->outputs * sizeof *w);
}

/* The constant feature is the last column. */
static void take_constant(const problem *p, const double *full, double *w)
{
    double *to = w + (p->rows.columns - 1) * p->outputs;
    for (uint64_t m = 0; p->rows.bias != 0 && m < p->outputs; m++)
        to[m] = full[p->data->features * p->outputs + m] / p->rows.bias;
}

/* P at p->start. */
static bool measure(problem *p, bda_error *err)
{
    const data *d = p->data;
    arena memory = {0};
    instances *part = ARENA_TAKE(&memory, instances, d->local_blocks + 1, err);
    double *mine = ARENA_TAKE(&memory, double, 2 * (d->local_blocks + 1), err);
    double *all = ARENA_TAKE(&memory, double, 2 * d->blocks, err), **z = NULL;
    for (uint64_t k = 0; part && k < d->local_blocks; k++)
        part[k] = instances_of(p, k);
    if (part && mine && all)
        z = instances_new_margins(&memory, part, d->local_blocks, err);
    const bool ok = comm_agree(p->comm, z != NULL, err);
    if (ok) {
        FOR_BLOCKS (k, d->local_blocks, p->threads) {
            instances_along(&part[k], z[k], 0, NULL, NULL, &mine[2 * k], NULL, NULL); /* all 0 as yet */
            instances_margins(&part[k], p->start, z[k]);
            instances_along(&part[k], z[k], 0, NULL, NULL, &mine[2 * k + 1], NULL, NULL);
        }
        comm_gather_blocks(p->comm, d->blocks, mine, 2, all);
        p->primal_at_0 = comm_column_sum(all, d->blocks, 0, 2);
        p->start_primal = p->penalty.kind->value(&p->penalty, p->start) + comm_column_sum(all, d->blocks, 1, 2);
    }
    arena_free(&memory);
    return ok;
}

bool problem_start(problem *p, const double *full, bda_error *err)
{
    arena memory = {0};
    double *scaled = ARENA_TAKE(&memory, double, p->data->features * p->outputs, err);
    double *w = ARENA_TAKE(&p->memory, double, p->n, err);
    bool ok = comm_agree(p->comm, scaled && w, err);
    if (ok) {
        for (uint64_t j = 0; j < p->data->features; j++)
            for (uint64_t m = 0; m < p->outputs; m++)
                scaled[j * p->outputs + m] = feature_weight(p, full, j, m);
        take_features(p, scaled, w);
        if (p->rows.bias > 0 || p->penalty.free > 0)
            take_constant(p, full, w);
        p->start = w;
        ok = measure(p, err);
    }
    arena_free(&memory);
    return ok;
}

/* ---- the dual point ------------------------------------------------------------------------------------------- */

#define POINT 0

/* Where xi has a kink the slopes of margins that far on either side of it are looked at, too: instances that rest on the
 * kink have some alpha between. */
#define NEAR 0.1

typedef struct ascent {
    const problem *p;
    block *const *blocks;
    double *v;
    instances *part; /* [local] */
    double **z;      /* [local] margins of the given weights */
    double **s;      /* [local] */
    double **moved;  /* [local] margins that are looked at */
    double **sum;    /* [local][n] the images */
    double *dv;      /* [n] */
    double *mine, *all;
    arena memory;
} ascent;

static bool take_memory(ascent *a, bda_error *err)
{
    const problem *p = a->p;
    const uint64_t local = p->data->local_blocks;
    arena *m = &a->memory;
    if (!(a->part = ARENA_TAKE(m, instances, local + 1, err)) || !(a->dv = ARENA_TAKE(m, double, p->n, err)) ||
        !(a->sum = ARENA_TAKE(m, double *, local + 1, err)) ||
        !(a->mine = ARENA_TAKE(m, double, 2 * (local + 1), err)) ||
        !(a->all = ARENA_TAKE(m, double, 2 * p->data->blocks, err)))
        return false;
    for (uint64_t k = 0; k < local; k++) {
        a->part[k] = instances_of(p, k);
        if (!(a->sum[k] = k == 0 ? a->dv : ARENA_TAKE(m, double, p->n, err)))
            return false;
    }
    return (a->z = instances_new_margins(m, a->part, local, err)) &&
           (a->s = instances_new_margins(m, a->part, local, err)) &&
           (p->task->smooth || (a->moved = instances_new_margins(m, a->part, local, err)));
}

/* The derivative of f along alpha + t (point - alpha), and how f changes up to t. One message of scalars. */
static double slope_at(ascent *a, double t, double *change)
{
    const problem *p = a->p;
    const penalty *g = &p->penalty;
    const int point = POINT;
    FOR_BLOCKS (k, p->data->local_blocks, p->threads)
        block_combine(a->blocks[k], 1, &point, &t, 0, &a->mine[2 * k], &a->mine[2 * k + 1], NULL);
    comm_gather_blocks(p->comm, p->data->blocks, a->mine, 2, a->all);
    *change = g->kind->ray_change(g, a->v, a->dv, t) + comm_column_sum(a->all, p->data->blocks, 0, 2);
    return g->kind->ray_slope(g, a->v, a->dv, t) + comm_column_sum(a->all, p->data->blocks, 1, 2);
}

#define TRIALS 12
#define ENOUGH 1e-3 /* of the fall of f may be left */

/* The least f on the way to the point, by false position on its slope, halved where one end stays. */
static double search(ascent *a)
{
    double low = 0, high = 1, change, at_low, at_high = slope_at(a, 1, &change), best = 0, least = 0;
    if (change < least)
        least = change, best = 1;
    if (at_high <= 0)
        return best;
    at_low = slope_at(a, 0, &change);
    if (at_low >= 0)
        return best;
    for (int k = 0, side = 0; k < TRIALS; k++) {
        const double part = at_low / (at_low - at_high);
        const double t = low + (high - low) * fmin(fmax(part, 0.1), 0.9), at = slope_at(a, t, &change);
        if (change < least)
            least = change, best = t;
        if (fabs(at) * (high - low) <= -ENOUGH * least)
            break;
        if (at < 0) {
            at_high = side < 0 ? 0.5 * at_high : at_high;
            low = t, at_low = at, side = -1;
        } else {
            at_low = side > 0 ? 0.5 * at_low : at_low;
            high = t, at_high = at, side = 1;
        }
    }
    return best;
}

/* dv = X (point - alpha) for the point s. *failed: no memory for it. One vector. */
static double send_image(ascent *a, const double *v_now, double *largest, bool *failed)
{
    const problem *p = a->p;
    double agreed[2] = {0, 0};
    for (uint64_t k = 0; k < p->data->local_blocks; k++) {
        agreed[1] = block_keep_image(a->blocks[k], POINT, a->s[k]) ? agreed[1] : 1;
        agreed[0] = fmax(agreed[0], instances_image(&a->part[k], a->s[k], a->sum[k]));
    }
    comm_max_reals(p->comm, agreed, 2);
    *largest = fmax(*largest, agreed[0]);
    *failed = agreed[1] > 0;
    const double error =
        comm_sum_packed(p->comm, p->fields, p->data->blocks, agreed[0], (const double *const *)a->sum,
                        (int)p->data->local_blocks, p->n, a->dv, p->threads);
    vec_add(a->dv, -1, v_now, p->n, p->threads);
    return error;
}

/* The margins at `part` times their distance from the kink's place: scores of labels become longer or shorter, and those of
 * numbers move away from the number, or towards it. */
static void move_margins(const ascent *a, uint64_t k, double part)
{
    const problem *p = a->p;
    const instances *b = &a->part[k];
    for (uint64_t i = 0; i < b->size; i++) {
        const double at = p->loss->regression ? p->data->target.real[b->first_row + i] : 0;
        a->moved[k][i] = at + part * (a->z[k][i] - at);
    }
}

/* One way: towards the slopes of margins at `part`. image: [n] X alpha without a centre. */
static bool go(ascent *a, double part, double *image, double *error, double *largest, bda_error *err)
{
    const problem *p = a->p;
    bool failed;
    FOR_BLOCKS (k, p->data->local_blocks, p->threads) {
        if (part != 1)
            move_margins(a, k, part);
        instances_slopes(&a->part[k], part != 1 ? a->moved[k] : a->z[k], a->s[k]);
    }
    *error += send_image(a, image, largest, &failed);
    const double t = failed ? 0 : search(a);
    const int point = POINT;
    double lacks = failed;
    for (uint64_t k = 0; t > 0 && k < p->data->local_blocks; k++)
        lacks = block_blend(a->blocks[k], 1, &point, &t) ? lacks : 1;
    comm_max_reals(p->comm, &lacks, 1);
    if (lacks > 0)
        return err_set(err, BDA_FAILED, "out of memory for dual variables; more ranks on more machines would help");
    vec_add(a->v, t, a->dv, p->n, p->threads);
    vec_add(image, t, a->dv, p->n, p->threads);
    return true;
}

bool start_prepare(const problem *p, block *const *blocks, arena *memory, bda_error *err)
{
    for (uint64_t k = 0; k < p->data->local_blocks; k++)
        if (!block_points(blocks[k], memory, 1, err))
            return false;
    return true;
}

bool start_dual(const problem *p, block *const *blocks, double *v, double *error, double *largest, bda_error *err)
{
    static const double parts[] = {1, 1 - NEAR, 1 + NEAR};
    ascent a = {.p = p, .blocks = blocks, .v = v};
    double *image = ARENA_TAKE(&a.memory, double, p->n, err);
    bool ok = comm_agree(p->comm, image && take_memory(&a, err), err);
    if (ok) {
        FOR_BLOCKS (k, p->data->local_blocks, p->threads)
            instances_margins(&a.part[k], p->start, a.z[k]);
    }
    for (int j = 0; ok && j < (p->task->smooth ? 1 : 3); j++)
        ok = go(&a, parts[j], image, error, largest, err);
    arena_free(&a.memory);
    return ok;
}
