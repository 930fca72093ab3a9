/* api.c - the functions of bda.h that only pass on: data in and out. */
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "run/settings.h"

static uint64_t blocks_of(const bda_comm *c, const bda_settings *s)
{
    return s->blocks > 0 ? (uint64_t)s->blocks : (uint64_t)bda_comm_size(c) * (uint64_t)s->threads;
}

bda_data *bda_data_read(bda_comm *c, const bda_settings *s, const char *path, bda_error *err)
{
    err_clear(err);
    data_request request = {
        .path = path, .zero_based = s->zero_based, .blocks = blocks_of(c, s), .threads = (int)s->threads};
    return data_read(c, &request, err);
}

bda_data *bda_data_rows(bda_comm *c, const bda_settings *s, uint64_t count, const uint64_t *start,
                        const uint32_t *column, const double *value, const double *label, bda_error *err)
{
    err_clear(err);
    return data_copy(c, blocks_of(c, s), count, start, column, value, label, err);
}

void bda_data_summarise(const bda_data *d, bda_data_summary *summary)
{
    static const char *const forms[] = {
        [ROWS_ONES] = "ones", [ROWS_CONSTANT] = "one per row", [ROWS_FLOAT] = "float", [ROWS_DOUBLE] = "double"};
    *summary = (bda_data_summary){
        .instances = d->instances,
        .features = d->features,
        .nonzeros = d->nonzeros,
        .bytes_read = d->bytes_read,
        .seconds = d->seconds,
        .bytes_held = d->bytes_held,
        .values = forms[d->rows.form],
        .format = d->format,
        .reordered = d->reordered,
        .labels = d->label_count,
    };
}

static int compare_reals(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

uint64_t bda_data_labels(bda_comm *c, const bda_data *d, uint64_t capacity, double *label, uint64_t *count)
{
    uint64_t known = d->label_count <= DATA_LABELS_COUNTED ? d->label_count : 0;
    uint64_t listed = known < capacity ? known : capacity;
    if (listed == 0)
        return 0;
    memset(count, 0, listed * sizeof *count);
    memcpy(label, d->labels, listed * sizeof *label);
    for (uint64_t i = 0; i < d->rows.count; i++) {
        const double *found = bsearch(&d->label[i], label, listed, sizeof *label, compare_reals);
        if (found)
            count[found - label]++;
    }
    comm_sum_counts(c, count, (int)listed);
    return listed;
}

bool bda_data_write(bda_comm *c, const bda_data *d, const bda_settings *s, const char *path, bda_error *err)
{
    err_clear(err);
    bool was_binary = strcmp(d->format, "bda binary") == 0;
    return data_write(c, d, path, settings_text(s, path, was_binary), s->zero_based, err);
}

void bda_data_free(bda_data *d)
{
    data_free(d);
}

bool bda_generate(bda_comm *c, const bda_settings *s, const char *path, bda_error *err)
{
    err_clear(err);
    if (!settings_are_of(s, "generate", err) || !bda_check(s, err))
        return false;
    const data_shape *shape = data_shapes;
    while (strcmp(shape->name, s->like) != 0)
        shape++;
    return data_generate(c, shape, s->scale, (uint64_t)s->seed, path, settings_text(s, path, true), err);
}
