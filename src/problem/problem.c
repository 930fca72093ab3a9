/* problem.c - from data and a request to what is minimised. */
#include "problem/problem.h"

#include <math.h>
#include <string.h>

#include "base/vector.h"
#include "data/rows_math.h"

static bool check_labels(const data *d, bda_error *err)
{
    if (d->labels.count == 1)
        return err_set(err, BDA_FAILED, "%s: all instances have the same label %s; classification needs two labels",
                       d->name, d->labels.name[0]);
    if (d->labels.count > DATA_LABELS_COUNTED)
        return err_set(err, BDA_FAILED,
                       "%s: more than %d distinct labels are too many classes; --task=regress takes any numbers",
                       d->name, DATA_LABELS_COUNTED);
    return true;
}

/* Chosen once, here; what it wants of the data is checked. */
static const task *task_for(const data *d, const problem_request *request, bda_error *err)
{
    const char *name = request->task ? request->task : task_of_loss(request->loss, request->structure);
    const task *t = request->apart ? task_find_apart(name, request->loss, d->labels.count)
                                   : task_find(name, request->loss, d->labels.count, request->structure);
    const task *any = t ? t : task_find(name, request->loss, 0, request->structure);
    if (!any)
        err_set(err, BDA_USAGE, "--loss=%s is not for --task=%s", request->loss->name, name);
    else if (any->labelled && !check_labels(d, err))
        return NULL;
    else if (request->loss->regression && labels_are_names(&d->labels))
        err_set(err, BDA_FAILED, "%s: its labels are names; --task=regress needs numbers", d->name);
    else if (!any->structure && d->unit_row)
        err_set(err, BDA_FAILED, "%s: its instances have several rows, and --task=%s wants rows", d->name, name);
    else if (any->structure && !d->unit_row)
        err_set(err, BDA_FAILED, "%s: its instances are single rows, and --task=%s wants sentences", d->name, name);
    else
        return any;
    return NULL;
}

/* Sums over some rows of each block, as integers, which are the same in any order. */
typedef struct row_sums {
    uint64_t rows;
    uint64_t norms; /* C |x|^2, NORM_UNIT for 1 */
    uint64_t pairs; /* of cells of a row, each with itself included */
} row_sums;

#define NORM_UNIT 65536

ROWS_INLINE void sum_rows(const problem *p, double C, uint64_t first, uint64_t end, row_sums *all, rows_form form)
{
    const rows *r = &p->rows;
    const double most = 0x1p22;
    const uint64_t stride = problem_stride(end - first);
    for (uint64_t i = first; i < end; i += stride) {
        const double weight = p->weight ? p->weight[i] : 1;
        const double norm = C * weight * rows_norm(r, form, i), cells = (double)(r->start[i + 1] - r->start[i]);
        all->rows++;
        all->norms += (uint64_t)(NORM_UNIT * (norm < most ? norm : most));
        all->pairs += (uint64_t)(0.5 * fmin(cells, 65536) * (fmin(cells, 65536) + 1));
    }
}

static void look_at_rows(problem *p)
{
    row_sums all = {0};
    double C = 0;
    uint64_t first, end;
    for (uint64_t k = 0; k < p->classes; k++)
        C = fmax(C, p->cost[k]);
    for (uint64_t k = 0; k < p->data->local_blocks; k++) {
        data_block_rows(p->data, k, &first, &end);
#define CALL(form) sum_rows(p, C, first, end, &all, form)
        ROWS_DISPATCH(p->rows.form, CALL);
#undef CALL
    }
    uint64_t sums[] = {all.rows, all.norms, all.pairs};
    comm_sum_counts(p->comm, sums, 3);
    const double looked_at = fmax((double)sums[0], 1);
    p->stiffness = (double)sums[1] / NORM_UNIT / looked_at * p->task->bend;
    p->pairs = (double)sums[2] / looked_at;
}

ROWS_INLINE void sum_lengths(const problem *p, uint64_t first, uint64_t end, uint64_t sums[2], rows_form form)
{
    const double most = 0x1p22;
    const uint64_t stride = problem_stride(end - first);
    for (uint64_t i = first; i < end; i += stride) {
        const double norm = rows_norm(&p->rows, form, i);
        sums[0]++;
        sums[1] += (uint64_t)(NORM_UNIT * (norm < most ? norm : most));
    }
}

/* The value of the constant feature of free intercepts, against the length of a row. It decides how long the proximal
 * steps of a dual method are, not where they lead: with a tenth of that they are short, and with all of it passes
 * over the rows take the longer to agree on it; between a fifth and a half it made little difference on any data. */
#define CONSTANT_PART 0.3

/* Collective. */
static double constant_value(const problem *p)
{
    uint64_t sums[2] = {0, 0}, first, end;
    for (uint64_t k = 0; k < p->data->local_blocks; k++) {
        data_block_rows(p->data, k, &first, &end);
#define CALL(form) sum_lengths(p, first, end, sums, form)
        ROWS_DISPATCH(p->rows.form, CALL);
#undef CALL
    }
    comm_sum_counts(p->comm, sums, 2);
    const double norm = (double)sums[1] / NORM_UNIT / fmax((double)sums[0], 1);
    return norm > 0 ? CONSTANT_PART * sqrt(norm) : 1;
}

double problem_weight(const problem *p, uint64_t k)
{
    const data *d = p->data;
    if (!p->weight)
        return (double)(d->block_start[k + 1] - d->block_start[k]);
    sum all = {0, 0};
    for (uint64_t i = d->block_start[k]; i < d->block_start[k + 1]; i++)
        sum_add(&all, p->weight[i]);
    return sum_value(&all);
}

/* weight_all and most_cost. */
static bool weigh(problem *p, bda_error *err)
{
    const data *d = p->data;
    arena memory = {0};
    double *mine = ARENA_TAKE(&memory, double, 2 * (d->local_blocks + 1), err);
    double *all = ARENA_TAKE(&memory, double, 2 * d->blocks, err);
    const bool ok = comm_agree(p->comm, mine && all, err);
    for (uint64_t k = 0; ok && k < d->local_blocks; k++) {
        mine[2 * k] = problem_weight(p, k);
        mine[2 * k + 1] = p->weight ? 0 : 1;
        for (uint64_t i = d->block_start[k]; p->weight && i < d->block_start[k + 1]; i++)
            mine[2 * k + 1] = fmax(mine[2 * k + 1], p->weight[i]);
    }
    if (ok) {
        comm_gather_blocks(p->comm, d->blocks, mine, 2, all);
        p->weight_all = comm_column_sum(all, d->blocks, 0, 2);
        for (uint64_t k = 0; k < p->classes; k++)
            p->most_cost = fmax(p->most_cost, p->cost[k] * comm_column_max(all, d->blocks, 1, 2));
    }
    arena_free(&memory);
    return ok;
}

bool problem_open(problem *p, comm *c, const data *d, const problem_request *request, bda_error *err)
{
    const bool free = request->free_intercept;
    const bool bias = free || request->bias >= 0; /* a feature of value 0 has a weight too, which stays 0 */
    const uint64_t known = d->labels.count;
    *p = (problem){0};
    const task *task = task_for(d, request, err);
    if (!task)
        return false;
    const uint64_t labels = task->labelled ? known : 1;
    *p = (problem){
        .comm = c,
        .data = d,
        .task = task,
        .loss = request->loss,
        .classes = labels,
        .outputs = task_outputs(task, known),
        .shared = task_shared(task, known),
        .scale = request->scale,
        .epsilon = request->epsilon,
        .threads = request->threads,
    };
    const bool squared_norm = request->l1_ratio == 0 && !request->factor;
    if (squared_norm && !task->structure && !fold_open(&p->fold, c, d, p->outputs, err))
        return false;
    p->weight = d->weight;
    p->rows = p->fold.folded ? p->fold.rows : d->rows;
    p->nonzeros = p->fold.folded ? p->fold.nonzeros : d->nonzeros;
    p->rows.bias = free ? constant_value(p) : bias ? request->bias : 0;
    p->rows.columns += bias;
    p->n = p->rows.columns * p->outputs + p->shared;
    double *cost = ARENA_TAKE(&p->memory, double, labels, err), *factor = NULL;
    if (request->factor && (factor = ARENA_TAKE(&p->memory, double, p->rows.columns, err)))
        for (uint64_t j = 0; j < p->rows.columns; j++)
            factor[j] = j < d->features ? request->factor[j] : 1;
    for (uint64_t k = 0; cost && k < labels; k++)
        cost[k] = request->cost * (request->cost_factor ? request->cost_factor[k] : 1);
    p->cost = cost;
    p->penalty = penalty_for(p->rows.columns, p->outputs, p->shared, request->l1_ratio, factor, p->threads);
    p->penalty.free = free ? p->outputs : 0;
    if (!comm_agree(c, cost && (factor || !request->factor), err) || !weigh(p, err))
        return false;
    look_at_rows(p);
    return true;
}

bool problem_weights_differ(const problem *p)
{
    return p->fold.folded || p->scale;
}

static void unfold(const problem *p, const double *w, double *full)
{
    const uint64_t outputs = p->outputs, bias = p->rows.columns - p->fold.rows.columns;
    fold_weights(&p->fold, p->data, w, outputs, full);
    /* the constant feature and the shared weights are last, here and there */
    memcpy(full + p->data->features * outputs, w + p->fold.rows.columns * outputs,
           (bias * outputs + p->shared) * sizeof *full);
}

void problem_weights(const problem *p, const double *w, double *full)
{
    if (p->fold.folded)
        unfold(p, w, full);
    else
        memcpy(full, w, p->n * sizeof *full);
    for (uint64_t j = 0; p->scale && j < p->data->features; j++)
        for (uint64_t k = 0; k < p->outputs; k++)
            full[j * p->outputs + k] *= p->scale[j];
}

/* Packed messages leave v off by about 1e-6 (three numbers a word) or 1e-9 (two) of what neighbouring columns have,
 * which changes f by far less than 1e-3 of the gaps below. A penalty with factors or a kink could make more of it: w
 * need not be as large as v. Short vectors are not worth the message of units. */
#define PACKED_LENGTH 32768
#define PACKED_BLOCKS (1 << 18)
#define THREE_FIELDS 1e-4 /* least relative gap to end at */
#define TWO_FIELDS 1e-8
#define OBJECTIVE_OF_START 1e-3 /* of a gap of the start, in doubt */

static uint64_t packed_length = PACKED_LENGTH;

void problem_test_packed(uint64_t length)
{
    packed_length = length > 0 ? length : PACKED_LENGTH;
}

void problem_pack(problem *p, double gap, bool gap_of_start)
{
    const double relative = gap_of_start ? gap * OBJECTIVE_OF_START : gap;
    p->fields = 1;
    if (p->penalty.free > 0) /* the sum of all alpha is to be exact */
        return;
    if (p->n >= packed_length && p->penalty.kind->identity && p->data->blocks <= PACKED_BLOCKS)
        p->fields = relative >= THREE_FIELDS ? 3 : relative >= TWO_FIELDS ? 2 : 1;
}

void problem_close(problem *p)
{
    fold_close(&p->fold);
    arena_free(&p->memory);
}

bool problem_late(const problem *p)
{
    watch *w = p->watch;
    return w && w->late && w->late(w);
}

bool problem_late_anywhere(const problem *p)
{
    double late = p->timed && problem_late(p);
    if (p->timed)
        comm_max_reals(p->comm, &late, 1);
    return late > 0;
}
