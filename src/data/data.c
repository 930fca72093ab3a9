/* data.c - from what each rank has to what all agree on: counts, form, labels, blocks. */
#include "data/data.h"

#include "base/clock.h"
#include "data/labels.h"
#include "data/mapping.h"
#include "data/shard.h"

#include <math.h>
#include <string.h>

struct data_memory {
    builder rows;
    void *map; /* where the rows are those of a binary file */
    uint64_t map_bytes, map_used;
    data_schema *schema;
    char format[SHARD_FORMAT];
    arena small;
};

static void free_schema(data_schema *schema)
{
    if (schema)
        schema_free(schema);
    mem_free(schema, sizeof *schema);
}

void shard_free(shard *s)
{
    builder_free(&s->rows);
    names_free(&s->names);
    if (s->map)
        mapping_close(s->map, s->map_bytes);
    free_schema(s->schema);
    *s = (shard){0};
}

/* floor(a b / c) */
static uint64_t share(uint64_t a, uint64_t b, uint64_t c)
{
    return (uint64_t)((unsigned __int128)a * b / c);
}

void data_share(uint64_t units, uint64_t blocks, int rank, int size, uint64_t *first, uint64_t *end)
{
    *first = share(comm_first_block(blocks, rank, size), units, blocks);
    *end = share(comm_first_block(blocks, rank + 1, size), units, blocks);
}

void data_free(data *d)
{
    if (!d)
        return;
    if (d->sentences)
        d->free_sentences(d->sentences);
    struct data_memory *memory = d->memory;
    if (memory) {
        builder_free(&memory->rows);
        if (memory->map)
            mapping_close(memory->map, memory->map_bytes);
        free_schema(memory->schema);
        arena_free(&memory->small);
        mem_free(memory, sizeof *memory);
    }
    mem_free(d, sizeof *d);
}

bool data_lost(const data *d)
{
    return d && d->memory && mapping_lost(d->memory->map);
}

bool data_intact(comm *c, const data *d, bda_error *err)
{
    return comm_agree(c, !d->memory || mapping_intact(d->memory->map, err), err);
}

double *data_take_weights(data *d, bda_error *err)
{
    double *weight = ARENA_TAKE(&d->memory->small, double, d->rows.count, err);
    d->weight = weight;
    return weight;
}

void data_replace_rows(data *d, data *by)
{
    const data was = *d;
    *d = *by;
    *by = was;
    d->memory->schema = by->memory->schema;
    d->schema = by->schema;
    by->memory->schema = NULL;
    memcpy(d->memory->format, by->memory->format, sizeof d->memory->format);
    d->bytes_read = by->bytes_read;
    d->binary = by->binary;
    d->reordered = by->reordered;
    d->files = by->files;
    d->empty_files = by->empty_files;
    d->first_empty = by->first_empty;
    d->seconds += by->seconds;
    data_free(by);
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
    d->format = memory->format;
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
    d->units = s->units ? s->units->units : b->count;
    uint64_t sums[] = {d->units,        b->count,         b->cells,
                       s->bytes_read,   s->reordered,     b->facts.not_ones,
                       b->facts.varied, b->facts.inexact, s->unlabelled ? b->count : 0};
    comm_sum_counts(c, sums, sizeof sums / sizeof *sums);
    double most = (double)s->features;
    comm_max_reals(c, &most, 1);
    d->instances = sums[0];
    d->rows_all = sums[1];
    d->nonzeros = sums[2];
    d->bytes_read = sums[3];
    d->binary = s->binary;
    memcpy(d->memory->format, s->format, sizeof s->format);
    d->reordered = sums[4] > 0;
    d->unlabelled = sums[8] > 0;
    d->features = (uint64_t)most;
    d->first_instance = comm_count_before(c, d->units);
    d->first_row = comm_count_before(c, b->count);
    comm_broadcast(c, 0, d->memory->format, sizeof d->memory->format);
    comm_broadcast(c, 0, &d->binary, sizeof d->binary);
    return (builder_facts){sums[5] > 0, sums[6] > 0, sums[7] > 0};
}

/* Block k of a shared file begins at floor(k l / K); a rank's own units are cut the same way among its own blocks. */
static void cut_blocks(data *d, bool shared)
{
    for (uint64_t j = 0; j <= d->local_blocks; j++) {
        if (shared)
            d->block_start[j] = share(d->first_block + j, d->instances, d->blocks) - d->first_instance;
        else
            d->block_start[j] = d->local_blocks > 0 ? share(j, d->units, d->local_blocks) : 0;
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
    d->bytes_held = builder_bytes(b) + d->memory->map_used + d->memory->small.bytes;
}

/* Units know the table and the class numbers of their rows. */
static bool take_known_labels(comm *c, const shard *s, data *d, bda_error *err)
{
    arena *memory = &d->memory->small;
    const data_units *u = s->units;
    uint32_t *of_row = ARENA_TAKE(memory, uint32_t, s->rows.count, err);
    uint64_t *unit_row = ARENA_TAKE(memory, uint64_t, u->units + 1, err);
    bool ok = of_row && unit_row && label_table_make(&d->labels, u->labels, u->label, NULL, memory, err);
    for (uint64_t i = 0; ok && i < s->rows.count; i++)
        of_row[i] = u->class[i];
    for (uint64_t i = 0; ok && i <= u->units; i++)
        unit_row[i] = u->units > 0 ? u->unit_row[i] : 0;
    d->target.class = of_row;
    d->unit_row = unit_row;
    d->label_least = d->label_most = NAN;
    return comm_agree(c, ok, err);
}

/* The table of labels, and the rows' class numbers in it. `labels` has those of this rank where they are numbers. */
static bool agree_on_labels(comm *c, shard *s, label_set *labels, data *d, bda_error *err)
{
    arena *memory = &d->memory->small, temporary = {0};
    const builder *b = &s->rows;
    uint32_t *class = ARENA_TAKE(&temporary, uint32_t, s->names.count + 1, err);
    bool ok = comm_agree(c, class != NULL, err);
    if (ok && s->named) {
        d->label_least = d->label_most = NAN;
        ok = names_agree(c, &s->names, DATA_LABELS_COUNTED, &d->labels, class, memory, err);
    } else if (ok) {
        ok = labels_agree(c, labels, d, memory, err);
    }
    uint32_t *of_row = NULL;
    if (ok && d->labels.name)
        ok = comm_agree(c, (of_row = ARENA_TAKE(memory, uint32_t, b->count, err)) != NULL, err);
    if (ok && of_row && s->named)
        for (uint64_t i = 0; i < b->count; i++)
            of_row[i] = class[(uint32_t)b->label[i]];
    else if (ok && of_row)
        labels_classify(&d->labels, b->label, b->count, of_row);
    d->target.class = of_row;
    arena_free(&temporary);
    return ok;
}

/* Where rows may lack labels, NAN stands for that: all of them have labels, or none has. Collective. */
static bool settle_lack(comm *c, shard *s, const char *name, bda_error *err)
{
    uint64_t lacking[2] = {0, s->rows.count};
    for (uint64_t i = 0; i < s->rows.count; i++)
        lacking[0] += isnan(s->rows.label[i]);
    comm_sum_counts(c, lacking, 2);
    if (lacking[0] == 0)
        return true;
    if (lacking[0] < lacking[1])
        return err_set(err, BDA_FAILED, "%s: %llu of the %llu instances have no label; give all of them one, or none",
                       name, (unsigned long long)lacking[0], (unsigned long long)lacking[1]);
    for (uint64_t i = 0; i < s->rows.count; i++)
        s->rows.label[i] = 0;
    s->unlabelled = true;
    s->named = false;
    return true;
}

data *shard_finish(comm *c, shard *s, bool ok, bool shared, const char *name, uint64_t blocks, double began,
                   bda_error *err)
{
    label_set labels = {0};
    data *d = ok ? data_new(name, blocks, bda_comm_rank(c), bda_comm_size(c), err) : NULL;
    if (!comm_agree(c, d != NULL, err) || (s->may_lack_labels && !settle_lack(c, s, name, err)))
        goto failed;
    ok = s->named || s->units || labels_take(&labels, s->rows.label, s->rows.count, err);
    if (!comm_agree(c, ok, err))
        goto failed;
    builder_facts facts = agree(c, d, s);
    if (d->instances == 0) {
        err_set(err, BDA_FAILED, "%s is empty: there are no instances in it", name);
        goto failed;
    }
    if (s->units ? !take_known_labels(c, s, d, err) : !agree_on_labels(c, s, &labels, d, err))
        goto failed;
    ok = builder_upgrade(&s->rows, builder_form(facts), err) && builder_fit(&s->rows, err);
    if (!comm_agree(c, ok, err))
        goto failed;
    cut_blocks(d, shared);
    d->memory->rows = s->rows;
    d->memory->map = s->map;
    d->memory->map_bytes = s->map_bytes;
    d->memory->map_used = s->map_used;
    d->memory->schema = s->schema;
    d->schema = s->schema;
    d->target.real = s->named || s->units ? NULL : s->rows.label;
    names_free(&s->names);
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
