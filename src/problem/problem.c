/* problem.c - from data and a request to what is minimised. */
#include "problem/problem.h"

#include <math.h>
#include <string.h>

#include "data/rows_math.h"

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

/* Sums over some rows of each block, as integers, which are the same in any order. */
typedef struct row_sums {
    uint64_t rows;
    uint64_t norms; /* C |x|^2, NORM_UNIT for 1 */
    uint64_t pairs; /* of cells of a row, each with itself included */
} row_sums;

#define NORM_UNIT 65536

ROWS_INLINE void sum_rows(const rows *r, double C, uint64_t first, uint64_t end, row_sums *all, rows_form form)
{
    const double most = 0x1p22;
    const uint64_t stride = problem_stride(end - first);
    for (uint64_t i = first; i < end; i += stride) {
        const double norm = C * rows_norm(r, form, i), cells = (double)(r->start[i + 1] - r->start[i]);
        all->rows++;
        all->norms += (uint64_t)(NORM_UNIT * (norm < most ? norm : most));
        all->pairs += (uint64_t)(0.5 * fmin(cells, 65536) * (fmin(cells, 65536) + 1));
    }
}

static void look_at_rows(problem *p)
{
    const uint64_t *start = p->data->block_start;
    row_sums all = {0};
    double C = 0;
    for (uint64_t k = 0; k < p->classes; k++)
        C = fmax(C, p->cost[k]);
    for (uint64_t k = 0; k < p->data->local_blocks; k++) {
#define CALL(form) sum_rows(&p->rows, C, start[k], start[k + 1], &all, form)
        ROWS_DISPATCH(p->rows.form, CALL);
#undef CALL
    }
    uint64_t sums[] = {all.rows, all.norms, all.pairs};
    comm_sum_counts(p->comm, sums, 3);
    const double looked_at = fmax((double)sums[0], 1);
    p->stiffness = (double)sums[1] / NORM_UNIT / looked_at * (p->loss->kind == LOSS_LOGISTIC ? 0.25 : 2);
    p->pairs = (double)sums[2] / looked_at;
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
    if (!comm_agree(c, cost && (factor || !request->factor), err))
        return false;
    look_at_rows(p);
    return true;
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
