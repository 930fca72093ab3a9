/* data.c - from what each rank has to what all agree on: counts, form, labels, blocks. */
#include "data/data.h"

#include "base/clock.h"
#include "data/labels.h"
#include "data/shard.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>

struct data_memory {
    builder rows;
    void *map; /* where the rows are those of a binary file */
    uint64_t map_bytes, map_used;
    arena small;
};

void shard_free(shard *s)
{
    builder_free(&s->rows);
    if (s->map)
        munmap(s->map, s->map_bytes);
    *s = (shard){0};
}

/* floor(a b / c) */
static uint64_t share(uint64_t a, uint64_t b, uint64_t c)
{
    return (uint64_t)((unsigned __int128)a * b / c);
}

void shard_range(uint64_t instances, uint64_t blocks, int rank, int size, uint64_t *first, uint64_t *end)
{
    *first = share(comm_first_block(blocks, rank, size), instances, blocks);
    *end = share(comm_first_block(blocks, rank + 1, size), instances, blocks);
}

void data_free(data *d)
{
    if (!d)
        return;
    struct data_memory *memory = d->memory;
    if (memory) {
        builder_free(&memory->rows);
        if (memory->map)
            munmap(memory->map, memory->map_bytes);
        arena_free(&memory->small);
        mem_free(memory, sizeof *memory);
    }
    mem_free(d, sizeof *d);
}

static data *data_new(const char *name, uint64_t blocks, int rank, int size, bda_error *err)
{
    data *d = mem_resize(NULL, 0, sizeof *d, "data", err);
    if (!d)
        return NULL;
    memset(d, 0, sizeof *d);
    struct data_memory *memory = mem_resize(NULL, 0, sizeof *memory, "data", err);
    if (!memory)
        goto failed;
    memset(memory, 0, sizeof *memory);
    d->memory = memory;
    d->blocks = blocks;
    d->first_block = comm_first_block(blocks, rank, size);
    d->local_blocks = comm_first_block(blocks, rank + 1, size) - d->first_block;
    d->block_start = ARENA_TAKE(&memory->small, uint64_t, d->local_blocks + 1, err);
    d->name = ARENA_TAKE(&memory->small, char, strlen(name) + 1, err);
    if (!d->block_start || !d->name)
        goto failed;
    strcpy(d->name, name);
    return d;
failed:
    data_free(d);
    return NULL;
}

/* What all ranks agree on before any can settle its form. */
static builder_facts agree(comm *c, data *d, const shard *s)
{
    const builder *b = &s->rows;
    uint64_t sums[] = {b->count,          b->cells,        s->bytes_read,   s->reordered,
                       b->facts.not_ones, b->facts.varied, b->facts.inexact};
    comm_sum_counts(c, sums, sizeof sums / sizeof *sums);
    double most = (double)s->features;
    comm_max_reals(c, &most, 1);
    d->instances = sums[0];
    d->nonzeros = sums[1];
    d->bytes_read = sums[2];
    d->reordered = sums[3] > 0;
    d->features = (uint64_t)most;
    d->first_instance = comm_count_before(c, b->count);
    static const char *const formats[] = {[SHARD_TEXT] = "LIBSVM text",
                                          [SHARD_GZIP] = "LIBSVM text, gzip",
                                          [SHARD_ZSTD] = "LIBSVM text, zstd",
                                          [SHARD_BINARY] = "bda binary",
                                          [SHARD_MEMORY] = "memory"};
    int format = (int)s->format;
    comm_broadcast(c, 0, &format, sizeof format);
    d->format = formats[format];
    return (builder_facts){sums[4] > 0, sums[5] > 0, sums[6] > 0};
}

/* Block k of a shared file begins at floor(k l / K); a rank's own rows are cut the same way among its own blocks. */
static void cut_blocks(data *d, uint64_t count, bool shared)
{
    for (uint64_t j = 0; j <= d->local_blocks; j++) {
        if (shared)
            d->block_start[j] = share(d->first_block + j, d->instances, d->blocks) - d->first_instance;
        else
            d->block_start[j] = d->local_blocks > 0 ? share(j, count, d->local_blocks) : 0;
    }
}

static void show_rows(data *d)
{
    builder *b = &d->memory->rows;
    d->rows = (rows){.form = b->form,
                     .count = b->count,
                     .columns = d->features,
                     .start = b->start,
                     .column = b->column,
                     .pair = b->pair,
                     .value = b->value};
    d->label = b->label;
    d->bytes_held = builder_bytes(b) + d->memory->map_used + d->memory->small.bytes;
}

data *shard_finish(comm *c, shard *s, bool ok, bool shared, const char *name, uint64_t blocks, double began,
                   bda_error *err)
{
    label_set labels = {0};
    data *d = ok ? data_new(name, blocks, bda_comm_rank(c), bda_comm_size(c), err) : NULL;
    ok = d && labels_take(&labels, s->rows.label, s->rows.count, err);
    if (!comm_agree(c, ok, err))
        goto failed;
    builder_facts facts = agree(c, d, s);
    if (d->instances == 0) {
        err_set(err, BDA_FAILED, "%s is empty: there are no instances in it", name);
        goto failed;
    }
    if (!labels_agree(c, &labels, d, &d->memory->small, err))
        goto failed;
    ok = builder_upgrade(&s->rows, builder_form(facts), err) && builder_fit(&s->rows, err);
    if (!comm_agree(c, ok, err))
        goto failed;
    cut_blocks(d, s->rows.count, shared);
    d->memory->rows = s->rows;
    d->memory->map = s->map;
    d->memory->map_bytes = s->map_bytes;
    d->memory->map_used = s->map_used;
    *s = (shard){0};
    show_rows(d);
    labels_free(&labels);
    d->seconds = clock_now() - began;
    return d;
failed:
    labels_free(&labels);
    shard_free(s);
    data_free(d);
    return NULL;
}

/* ---- rows from memory ------------------------------------------------------------------------------------- */

static bool copy_row(builder *b, double label, const uint32_t *column, const double *value, uint64_t cells,
                     uint32_t *kept_column, double *kept_value, bda_error *err)
{
    unsigned long long row = b->count;
    if (!isfinite(label))
        return err_set(err, BDA_FAILED, "row %llu: label %g is not a finite number", row, label);
    uint64_t kept = 0;
    for (uint64_t k = 0; k < cells; k++) {
        double x = value ? value[k] : 1;
        if (!isfinite(x))
            return err_set(err, BDA_FAILED, "row %llu: value %g is not a finite number", row, x);
        if (k > 0 && column[k] <= column[k - 1])
            return err_set(err, BDA_FAILED, "row %llu: columns do not increase: %u behind %u", row, column[k],
                           column[k - 1]);
        kept_column[kept] = column[k];
        kept_value[kept] = x;
        kept += x != 0;
    }
    if (cells > 0 && column[cells - 1] == UINT32_MAX)
        return err_set(err, BDA_FAILED, "row %llu: column %u is beyond %u", row, UINT32_MAX, UINT32_MAX - 1);
    return builder_add(b, label + 0.0, kept_column, kept_value, kept, err);
}

static bool copy_rows(shard *s, uint64_t count, const uint64_t *start, const uint32_t *column, const double *value,
                      const double *label, bda_error *err)
{
    uint64_t most = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (start[i + 1] < start[i])
            return err_set(err, BDA_FAILED, "row %llu: ends before it begins", (unsigned long long)i);
        most = start[i + 1] - start[i] > most ? start[i + 1] - start[i] : most;
    }
    arena memory = {0};
    uint32_t *kept_column = ARENA_TAKE(&memory, uint32_t, most + 1, err);
    double *kept_value = ARENA_TAKE(&memory, double, most + 1, err);
    bool ok = kept_column && kept_value && builder_reserve(&s->rows, count, count ? start[count] - start[0] : 0, err);
    for (uint64_t i = 0; i < count && ok; i++) {
        uint64_t k = start[i], cells = start[i + 1] - k;
        ok = copy_row(&s->rows, label[i], column + k, value ? value + k : NULL, cells, kept_column, kept_value, err);
        if (ok && cells > 0 && (uint64_t)column[k + cells - 1] + 1 > s->features)
            s->features = (uint64_t)column[k + cells - 1] + 1;
    }
    arena_free(&memory);
    return ok;
}

data *data_copy(comm *c, uint64_t blocks, uint64_t count, const uint64_t *start, const uint32_t *column,
                const double *value, const double *label, bda_error *err)
{
    double began = clock_now();
    shard s = {.format = SHARD_MEMORY};
    bool ok = blocks >= (uint64_t)bda_comm_size(c) ||
              err_set(err, BDA_USAGE, "%llu blocks are too few for %d ranks that each bring rows",
                      (unsigned long long)blocks, bda_comm_size(c));
    ok = ok && copy_rows(&s, count, start, column, value, label, err);
    return shard_finish(c, &s, ok, false, "the data in memory", blocks, began, err);
}
