/* forecast.c - how much memory a training takes.
 *
 *     a nonzero    4 to 12 bytes, by the form of the values (data/rows.h)
 *     an instance  its start among the cells and its label; the dual variables of problem/block.h, or for primal
 *                  methods margins and the like; what a method keeps beside them
 *     a weight     a double in each vector that the method keeps, some of them once for each block of the rank; where
 *                  the regulariser is not w'w/2, in w and in the Hessian of its conjugate, too
 *     newton       its matrix
 *
 * Left out: what does not grow with the data (the program, MPI, buffers of a few megabytes), which FIXED stands for.
 */
#include "run/forecast.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "methods/table.h"
#include "problem/block.h"
#include "run/settings.h"
#include "run/sized.h"

#define FIXED ((uint64_t)20 << 20)

/* What a method keeps on a rank, the best w included. */
typedef struct keeping {
    const char *method;
    uint64_t vectors, block_vectors; /* of n numbers; of which one for each block */
    uint64_t margins;                /* numbers for each instance, and each class of it where there are many */
    bool primal;                     /* no dual variables */
} keeping;

static const keeping keepings[] = {
    {"hull", 13, 1, 14, false},     {"newton", 6, 1, 20, true},    {"tron", 11, 1, 4, true},
    {"l-commdir", 16, 1, 14, true}, {"lbfgs", 27, 1, 4, true},     {"admm", 9, 3, 0, false},
    {"average", 4, 3, 0, false},    {"perceptron", 4, 2, 0, true}, {"auto", 13, 1, 14, false},
    {NULL, 2, 1, 0, false}, /* the outer loop */
};

/* The sizes of a training on one rank. */
typedef struct extent {
    const method *method;
    const task *task;
    uint64_t n, outputs, rows, blocks;
    bool identity; /* w and v are one vector */
    bool shares;   /* its blocks form a model together, or with those of other ranks (pool.h) */
} extent;

static uint64_t training_bytes(const extent *e)
{
    const keeping *k = keepings;
    while (k->method && strcmp(k->method, e->method->name) != 0)
        k++;
    uint64_t blocks = e->blocks > 1 ? e->blocks : 1;
    /* Of the multiclass SVM few numbers of a row are kept, whatever the number of classes. */
    uint64_t width = e->task->sparse && !k->primal ? e->task->kept : e->outputs;
    uint64_t numbers =
        e->n * (k->vectors + k->block_vectors * blocks + (e->identity ? 0 : 2)) + e->rows * k->margins * width;
    if (e->shares && !k->primal)
        numbers += e->n * (1 + 2 * blocks);
    const method *newton = method_find("newton");
    if (e->method == newton || (e->method == method_find("auto") && e->n <= newton->most_weights))
        numbers += e->n * e->n;
    return numbers * sizeof(double) + (k->primal ? 0 : block_forecast(e->task, e->outputs, e->rows));
}

static uint64_t share(uint64_t count, int size)
{
    return count / (uint64_t)size + (count % (uint64_t)size != 0);
}

/* Bytes of one nonzero, and of one row beside its start and its label, by the form that `values` names. */
static void row_bytes(const char *values, uint64_t *cell, uint64_t *row)
{
    static const struct {
        const char *values;
        uint64_t cell, row;
    } forms[] = {{"ones", 4, 0}, {"one per row", 4, 8}, {"float", 8, 0}, {"double", 12, 0}};
    *cell = 12;
    *row = 2 * sizeof(uint64_t);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (strcmp(forms[i].values, values) == 0) {
            *cell = forms[i].cell;
            *row += forms[i].row;
        }
    }
}

uint64_t bda_forecast(const bda_data_summary *given, const bda_settings *s, int size)
{
    bda_data_summary all = {0};
    const bda_data_summary *summary = &all;
    sized_take(&all, given, sizeof all);
    training t;
    bda_error unfit = {0};
    if (size < 1 || !settings_training(s, &t, &unfit))
        return 0;
    uint64_t cell, row, blocks = s->blocks > 0 ? (uint64_t)s->blocks : (uint64_t)size * (uint64_t)s->threads;
    row_bytes(summary->values, &cell, &row);
    uint64_t instances = share(summary->instances, size), cells = share(summary->nonzeros, size);
    const bool apart = strcmp(s->multiclass, "one-vs-rest") == 0;
    const task *task =
        apart ? task_find_apart(s->task, t.loss, summary->labels) : task_find(s->task, t.loss, summary->labels, NULL);
    if (!task)
        return 0;
    const uint64_t outputs = task_outputs(task, summary->labels);
    uint64_t columns = summary->features + (t.bias > 0 || t.free_intercept);
    const bool factors = s->feature_penalty[0], open = t.left_open && t.options.sharing == SHARE_DEFAULT;
    const extent e = {.method = t.method,
                      .task = task,
                      .n = columns * outputs + task_shared(task, summary->labels),
                      .outputs = outputs,
                      .rows = instances,
                      .blocks = share(blocks, size),
                      .identity = !factors && s->l1_ratio == 0,
                      .shares = blocks > 1 && (method_shares(&t.options) || open)};
    return FIXED + cells * cell + instances * row + training_bytes(&e) + (factors ? columns * sizeof(double) : 0);
}

/* A number that ranks of one machine share. */
static uint64_t machine_number(void)
{
    char name[256] = "";
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    if (gethostname(name, sizeof name - 1) != 0)
        return 0;
    for (const char *p = name; *p; p++)
        hash = (hash ^ (unsigned char)*p) * 1099511628211u;
    return hash;
}

/* Is there room for what all ranks of each machine need together? */
static bool machines_have(comm *c, uint64_t mine, uint64_t weights, uint64_t blocks, bda_error *err)
{
    int size = bda_comm_size(c), rank = bda_comm_rank(c);
    uint64_t *machine = calloc((size_t)size * 2, sizeof *machine);
    if (!comm_agree(c, machine || err_memory(err, (uint64_t)size * 16, "a table of ranks"), err)) {
        free(machine);
        return false;
    }
    uint64_t *needed = machine + size;
    comm_gather_counts(c, machine_number(), machine);
    comm_gather_counts(c, mine, needed);
    uint64_t together = 0, ranks = 0, available = mem_available_bytes();
    for (int r = 0; r < size; r++) {
        if (machine[r] == machine[rank]) {
            together += needed[r];
            ranks++;
        }
    }
    free(machine);
    bool fits = together <= available;
    if (!fits)
        err_set(
            err, BDA_FAILED,
            "training needs %.3g GB more on the machine of rank %d (%llu ranks there, %llu weights, %llu blocks), "
            "where %.3g GB are left; fewer --blocks or --threads, or ranks on more machines would help",
            (double)together * 1e-9, rank, (unsigned long long)ranks, (unsigned long long)weights,
            (unsigned long long)blocks, (double)available * 1e-9);
    return comm_agree(c, fits, err);
}

bool forecast_room(comm *c, uint64_t *room, bda_error *err)
{
    const int size = bda_comm_size(c), rank = bda_comm_rank(c);
    uint64_t *machine = calloc((size_t)size, sizeof *machine), ranks = 1;
    const bool ok = comm_agree(c, machine || err_memory(err, (uint64_t)size * 8, "a table of ranks"), err);
    if (ok) {
        comm_gather_counts(c, machine_number(), machine);
        for (int r = 0; r < size; r++)
            ranks += r != rank && machine[r] == machine[rank];
        *room = mem_available_bytes() / ranks;
    }
    free(machine);
    return ok;
}

bool forecast_columns(comm *c, const data *d, bda_error *err)
{
    return machines_have(c, d->features * (sizeof(uint32_t) + sizeof(double)), d->features, d->blocks, err);
}

bool forecast_check(comm *c, const problem *p, const method *m, bool shares, bda_error *err)
{
    const uint64_t mine = training_bytes(&(const extent){.method = m,
                                                         .task = p->task,
                                                         .n = p->n,
                                                         .outputs = p->outputs,
                                                         .rows = p->rows.count,
                                                         .blocks = p->data->local_blocks,
                                                         .identity = p->penalty.kind->identity,
                                                         .shares = shares && p->data->blocks > 1});
    return machines_have(c, mine, p->n, p->data->blocks, err);
}
