/* model.c - models in memory, and what the writer and the readers of their files share. */
#include "run/model.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

const char *const model_tasks[] = {"classify", "regress", "tag", "parse", NULL};

const char *model_task(const char *name)
{
    const char *const *task = model_tasks;
    while (*task && strcmp(*task, name) != 0)
        task++;
    return *task;
}

#define FIELD(field) offsetof(model_record, field)

const record_field model_fields[] = {
    {"version", RECORD_TEXT, FIELD(version), 0, 0},
    {"method", RECORD_TEXT, FIELD(method), 0, 0},
    {"cost", RECORD_REAL, FIELD(cost), 0, INFINITY},
    {"epsilon", RECORD_REAL, FIELD(epsilon), 0, INFINITY},
    {"l1_ratio", RECORD_REAL, FIELD(l1_ratio), 0, 1},
    {"primal", RECORD_REAL, FIELD(primal), -INFINITY, INFINITY},
    {"dual", RECORD_REAL, FIELD(dual), -INFINITY, INFINITY},
    {"relative_gap", RECORD_REAL, FIELD(relative_gap), 0, INFINITY},
    {"gap_of_start", RECORD_REAL, FIELD(gap_of_start), 0, INFINITY},
    {"instances", RECORD_COUNT, FIELD(instances), 0, 0},
    {"rounds", RECORD_COUNT, FIELD(rounds), 0, 0},
    {"blocks", RECORD_COUNT, FIELD(blocks), 0, 0},
    {"seed", RECORD_COUNT, FIELD(seed), 0, 0},
    {"data_digest", RECORD_COUNT, FIELD(data_digest), 0, 0},
    {NULL, RECORD_TEXT, 0, 0, 0},
};

static void forget_record(model_record *r)
{
    *r = (model_record){0};
    for (const record_field *f = model_fields; f->name; f++) {
        char *field = (char *)r + f->offset;
        if (f->type == RECORD_TEXT)
            *(const char **)field = "";
        else if (f->type == RECORD_REAL)
            *(double *)field = NAN;
    }
}

bda_model *model_new(const model_shape *shape, const label_table *labels, bda_error *err)
{
    bda_model *m = calloc(1, sizeof *m);
    if (!m) {
        err_memory(err, sizeof *m, "a model");
        return NULL;
    }
    m->bias = shape->bias < 0 ? -1 : shape->bias;
    m->classes = labels->count;
    m->features = shape->features;
    m->outputs = shape->outputs;
    m->shared = shape->shared;
    m->n = (shape->features + (shape->bias >= 0)) * shape->outputs + shape->shared;
    m->w = arena_take(&m->memory, m->n, sizeof *m->w, "the weights of a model", err);
    forget_record(&m->record);
    if (!m->w || !label_table_make(&m->labels, labels->count, labels->name, labels->number, &m->memory, err)) {
        bda_model_free(m);
        return NULL;
    }
    return m;
}

void model_set_task(bda_model *m, const char *task, const loss *l)
{
    m->task = task;
    m->loss = l;
    m->kind = task_find(task, l, m->classes, NULL);
}

const char *model_copy_text(bda_model *m, const char *text, bda_error *err)
{
    const size_t size = strlen(text) + 1;
    char *copy = ARENA_TAKE(&m->memory, char, size, err);
    return copy ? memcpy(copy, text, size) : NULL;
}

bool model_keep_scale(bda_model *m, bda_error *err)
{
    static const char how[] = "unit-rows";
    return !m->unit_rows || sections_keep(&m->extra, MODEL_SCALE, true, how, sizeof how - 1, err);
}

bool model_keep_apart(bda_model *m, bda_error *err)
{
    static const char how[] = "one-vs-rest";
    return !m->apart || sections_keep(&m->extra, MODEL_MULTICLASS, true, how, sizeof how - 1, err);
}

void bda_model_free(bda_model *m)
{
    if (!m)
        return;
    sections_free(&m->extra);
    arena_free(&m->memory);
    free(m);
}

bool model_take_weights(double *w, uint64_t n, bool sparse, uint64_t stored, byte_reader *from)
{
    const uint64_t width = model_place_bytes(n);
    if (stored > n || (!sparse && stored != n) || stored > from->left / sizeof *w)
        return false;
    const unsigned char *places = bytes_get(from, sparse ? model_places_bytes(n, stored) : 0);
    const unsigned char *values = bytes_get(from, stored * sizeof *w);
    if (!bytes_ended(from))
        return false;
    uint64_t next = 0;
    for (uint64_t k = 0; k < stored; k++) {
        const uint64_t j = !sparse      ? k
                           : width == 4 ? bytes_decode_u32(places + 4 * k)
                                        : bytes_decode_u64(places + 8 * k);
        const double x = bytes_decode_real(values + 8 * k);
        if (j < next || j >= n || !isfinite(x))
            return false;
        w[j] = x;
        next = j + 1;
    }
    return true;
}

bool model_is_name(const char *text)
{
    const char *end = text;
    while (*end > ' ' && *end < 127)
        end++;
    return end > text && *end == 0;
}

bool model_labels_in_order(const double *label, uint64_t classes)
{
    for (uint64_t k = 0; k < classes; k++) {
        const bool in_order = k == 0 || (classes == 2 ? label[1] < label[0] : label[k] > label[k - 1]);
        if (!isfinite(label[k]) || !in_order)
            return false;
    }
    return true;
}

bool model_is_sound(const char *task, const loss *l, const model_shape *shape, uint64_t classes)
{
    if (!task || !l || !isfinite(shape->bias) || shape->features >= MODEL_MOST_FEATURES ||
        shape->outputs > MODEL_MOST_OUTPUTS || shape->shared > MODEL_MOST_SHARED || classes > MODEL_MOST_OUTPUTS)
        return false;
    const struct task *kind = task_find(task, l, classes, NULL);
    return kind && (l->regression ? classes == 0 : classes >= 2) && shape->outputs == task_outputs(kind, classes) &&
           shape->shared == task_shared(kind, classes);
}
