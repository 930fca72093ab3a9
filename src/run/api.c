/* api.c - the functions of bda.h that only pass on: data in and out. */
#include <math.h>
#include <string.h>

#include "data/data.h"
#include "data/schema.h"
#include "run/checkpoint.h"
#include "run/model.h"
#include "run/predict_sentences.h"
#include "run/settings.h"
#include "run/sized.h"
#include "run/train_sentences.h"
#include "run/weights.h"

const char *bda_version(void)
{
    return BDA_VERSION;
}

/* K. A training that goes on keeps its blocks, on however many ranks. Collective. */
static uint64_t choose_blocks(bda_comm *c, const bda_settings *s)
{
    const uint64_t before = checkpoint_blocks(c, s);
    return before > 0 ? before : settings_blocks(s, bda_comm_size(c));
}

static data_request request_of(bda_comm *c, const bda_settings *s, uint64_t count, const char *const *path)
{
    return (data_request){.path = path[0],
                          .others = path + 1,
                          .other_count = count - 1,
                          .zero_based = s->zero_based,
                          .blocks = choose_blocks(c, s),
                          .threads = (int)s->threads};
}

bda_data *bda_data_read_files(bda_comm *c, const bda_settings *s, uint64_t count, const char *const *path,
                              bda_error *err)
{
    err_clear(err);
    if (is_sentence_task(s->task))
        return read_for_training(c, s, count, path, choose_blocks(c, s), err);
    data_request request = request_of(c, s, count, path);
    table_request table;
    if (settings_table(s, &table))
        request.table = &table;
    data *d = data_read(c, &request, err);
    if (d && s->weights[0] && !weights_read(c, s->weights, d, err)) {
        data_free(d);
        return NULL;
    }
    return d;
}

bool bda_data_weigh(bda_comm *c, bda_data *d, const double *weight, bda_error *err)
{
    err_clear(err);
    return data_weigh(c, d, weight, err);
}

data *data_read_known(bda_comm *c, const data_schema *schema, bool may_lack_labels, const bda_settings *s,
                      uint64_t count, const char *const *path, bda_error *err)
{
    data_request request = request_of(c, s, count, path);
    const table_request table = {.schema = schema};
    request.may_lack_labels = may_lack_labels;
    request.table = schema ? &table : NULL;
    return data_read(c, &request, err);
}

bda_data *bda_data_read(bda_comm *c, const bda_settings *s, const char *path, bda_error *err)
{
    return bda_data_read_files(c, s, 1, &path, err);
}

static bda_data *read_rows_for(bda_comm *c, const bda_model *m, const bda_settings *s, const char *path,
                               bda_error *err)
{
    data_schema schema = {0};
    const section *kept = sections_find(&m->extra, MODEL_TABLE);
    byte_reader r = section_reader(kept);
    bool ok = !kept || schema_unpack(&schema, &r, err);
    if (!ok && err->status == BDA_OK)
        err_set(err, BDA_FAILED, "the model is damaged: its section '%s' makes no sense", MODEL_TABLE);
    ok = comm_agree(c, ok, err);
    data *d = ok ? data_read_known(c, kept ? &schema : NULL, true, s, 1, &path, err) : NULL;
    schema_free(&schema);
    return d;
}

bda_data *bda_data_read_for(bda_comm *c, const bda_model *m, const bda_settings *s, const char *path, bda_error *err)
{
    err_clear(err);
    if (!is_sentence_task(m->task))
        return read_rows_for(c, m, s, path, err);
    const sentences_request request = {.path = path, .blocks = choose_blocks(c, s), .threads = (int)s->threads};
    return sentences_for_model(c, m, &request, err);
}

bda_data *bda_data_rows(bda_comm *c, const bda_settings *s, uint64_t count, const uint64_t *start,
                        const uint32_t *column, const double *value, const double *label, bda_error *err)
{
    err_clear(err);
    return data_copy(c, choose_blocks(c, s), count, start, column, value, label, err);
}

bda_data *bda_data_rows_named(bda_comm *c, const bda_settings *s, uint64_t count, const uint64_t *start,
                              const uint32_t *column, const double *value, const char *const *label, bda_error *err)
{
    err_clear(err);
    return data_copy_named(c, choose_blocks(c, s), count, start, column, value, label, err);
}

bda_data *bda_data_matrix(bda_comm *c, const bda_settings *s, const bda_matrix *matrix, bda_error *err)
{
    err_clear(err);
    bda_matrix m = {0};
    sized_take(&m, matrix, sizeof m);
    return data_copy_matrix(c, choose_blocks(c, s), &m, err);
}

void bda_data_label(const bda_data *d, double *label)
{
    for (uint64_t i = 0; i < d->rows.count; i++)
        label[i] = d->target.real && !d->unlabelled ? d->target.real[i] : NAN;
}

void bda_data_summarise(const bda_data *d, bda_data_summary *summary)
{
    static const char *const forms[] = {
        [ROWS_ONES] = "ones", [ROWS_CONSTANT] = "one per row", [ROWS_FLOAT] = "float", [ROWS_DOUBLE] = "double"};
    const bda_data_summary all = {
        .instances = d->instances,
        .tokens = d->sentences ? d->sentences->tokens_all : 0,
        .features = d->features,
        .nonzeros = d->nonzeros,
        .bytes_read = d->bytes_read,
        .seconds = d->seconds,
        .bytes_held = d->bytes_held,
        .values = forms[d->rows.form],
        .format = d->format,
        .reordered = d->reordered,
        .labels = d->labels.count,
        .own_rows = d->rows.count,
        .unlabelled = d->unlabelled,
        .files = d->files,
        .empty_files = d->empty_files,
        .first_empty = d->first_empty,
    };
    sized_fill(summary, &all, sizeof all);
}

uint64_t bda_data_labels(bda_comm *c, const bda_data *d, uint64_t capacity, double *label, uint64_t *count)
{
    uint64_t known = d->target.class ? d->labels.count : 0, listed = known < capacity ? known : capacity;
    if (listed == 0)
        return 0;
    memset(count, 0, listed * sizeof *count);
    for (uint64_t k = 0; label && k < listed; k++)
        label[k] = d->labels.number ? d->labels.number[k] : NAN;
    for (uint64_t i = 0; i < d->rows.count; i++)
        if (d->target.class[i] < listed)
            count[d->target.class[i]]++;
    comm_sum_counts(c, count, (int)listed);
    return listed;
}

const char *bda_data_label_name(const bda_data *d, uint64_t k)
{
    return d->labels.name && k < d->labels.count ? d->labels.name[k] : NULL;
}

bool bda_data_write(bda_comm *c, const bda_data *d, const bda_settings *s, const char *path, bda_error *err)
{
    err_clear(err);
    return data_write(c, d, path, settings_text(s, path, d->binary), s->zero_based, err);
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
