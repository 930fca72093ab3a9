/* forecast.c - how much memory a training takes.
 *
 *     a nonzero    4 to 12 bytes, by the form of the values (data/rows.h)
 *     an instance  its start among the cells and its label, and the dual variables of problem/block.h
 *     a weight     a double in v, in dv, in the best w, and in dv once more for each further block of the rank; where
 *                  the regulariser is not w'w/2, in w and in the Hessian of its conjugate, too
 *
 * Left out: what does not grow with the data (the program, MPI, buffers of a few megabytes), which FIXED stands for.
 */
#include "run/forecast.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "problem/block.h"
#include "run/settings.h"

#define FIXED ((uint64_t)20 << 20)

/* identity: w and v are one vector */
static uint64_t vector_bytes(uint64_t n, uint64_t local_blocks, bool identity)
{
    uint64_t vectors = 2 + (local_blocks > 1 ? local_blocks : 1) + (identity ? 0 : 2);
    return n * sizeof(double) * vectors;
}

static uint64_t share(uint64_t count, int size)
{
    return count / (uint64_t)size + (count % (uint64_t)size != 0);
}

uint64_t bda_forecast(const bda_data_summary *summary, const bda_settings *s, int size)
{
    static const struct {
        const char *values;
        uint64_t cell, row;
    } forms[] = {{"ones", 4, 0}, {"one per row", 4, 8}, {"float", 8, 0}, {"double", 12, 0}};
    uint64_t cell = 12, row = 2 * sizeof(uint64_t);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (strcmp(forms[i].values, summary->values) == 0) {
            cell = forms[i].cell;
            row += forms[i].row;
        }
    }
    uint64_t blocks = s->blocks > 0 ? (uint64_t)s->blocks : (uint64_t)size * (uint64_t)s->threads;
    uint64_t instances = share(summary->instances, size), cells = share(summary->nonzeros, size);
    const loss *l = loss_find(s->loss[0] ? s->loss : "squared-hinge");
    bool regression = strcmp(s->task, "regress") == 0;
    uint64_t classes = regression ? 1 : summary->labels;
    uint64_t columns = summary->features + (s->bias > 0);
    bool factors = s->feature_penalty[0], identity = !factors && s->l1_ratio == 0;
    return FIXED + cells * cell + instances * row + block_forecast(l, classes, instances) +
           vector_bytes(columns * (classes > 2 ? classes : 1), share(blocks, size), identity) +
           (factors ? columns * sizeof(double) : 0);
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

bool forecast_check(comm *c, const problem *p, bda_error *err)
{
    int size = bda_comm_size(c), rank = bda_comm_rank(c);
    uint64_t *machine = calloc((size_t)size * 2, sizeof *machine);
    if (!comm_agree(c, machine || err_memory(err, (uint64_t)size * 16, "a table of ranks"), err)) {
        free(machine);
        return false;
    }
    uint64_t *needed = machine + size;
    uint64_t mine = block_forecast(p->loss, p->classes, p->rows.count) +
                    vector_bytes(p->n, p->data->local_blocks, p->penalty.kind->identity);
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
            (double)together * 1e-9, rank, (unsigned long long)ranks, (unsigned long long)p->n,
            (unsigned long long)p->data->blocks, (double)available * 1e-9);
    return comm_agree(c, fits, err);
}
