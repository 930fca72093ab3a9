/* export_json.c - a model as one JSON object: what it is, how it came about, and its weights by feature; and what
 * `bda info --json` says, which has the largest weights only. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "run/export.h"

static void write_labels(json *j, const bda_model *m)
{
    if (m->classes == 0 || strcmp(m->task, "parse") == 0) /* whose labels say whether an edge is there */
        return;
    if (m->labels.number)
        json_reals(j, "labels", m->labels.number, m->classes);
    else
        json_texts(j, "labels", m->labels.name, m->classes);
}

static void write_record(json *j, const bda_model *m)
{
    json_enter(j, "training", '{');
    for (const record_field *f = model_fields; f->name; f++) {
        const char *field = (const char *)&m->record + f->offset;
        if (f->type == RECORD_REAL && !isnan(*(const double *)field))
            json_real(j, f->name, *(const double *)field);
        else if (f->type == RECORD_TEXT && **(const char *const *)field)
            json_text(j, f->name, *(const char *const *)field);
        else if (f->type == RECORD_COUNT)
            json_count(j, f->name, *(const uint64_t *)field);
    }
    json_leave(j, '{');
    json_enter(j, "settings", '{');
    for (uint64_t k = 0; k < m->record.options; k++)
        json_text(j, m->record.option[k].name, m->record.option[k].value);
    json_leave(j, '{');
}

/* By output, in their order. */
static void write_calibration(json *j, const bda_model *m)
{
    const calibration *c = m->calibration;
    if (!c)
        return;
    json_enter(j, "calibration", '{');
    json_text(j, "method", calibration_name(c->kind));
    json_count(j, "instances", c->instances);
    json_enter(j, "maps", '[');
    for (uint64_t k = 0; k < c->maps; k++) {
        json_enter(j, NULL, '{');
        if (c->kind == CALIBRATION_PLATT) {
            json_real(j, "slope", c->map[k].slope);
            json_real(j, "offset", c->map[k].offset);
        } else {
            json_reals(j, "scores", c->map[k].score, c->map[k].knots);
            json_reals(j, "probabilities", c->map[k].probability, c->map[k].knots);
        }
        json_leave(j, '{');
    }
    json_leave(j, '[');
    json_leave(j, '{');
}

static void write_head(json *j, const bda_model *m)
{
    json_text(j, "file", "model");
    json_text(j, "task", m->task);
    json_text(j, "loss", m->loss->name);
    write_labels(j, m);
    for (uint64_t k = 0; k < m->traits; k++)
        json_text(j, m->trait[k].name, m->trait[k].value);
    json_count(j, "features", m->features);
    json_count(j, "outputs", m->outputs);
    if (m->bias >= 0)
        json_real(j, "constant_feature", m->bias);
    if (m->unit_rows)
        json_text(j, "scale", "unit-rows");
    write_calibration(j, m);
    write_record(j, m);
}

/* Features count from 1, as in data; the constant one has no number. */
static void write_feature(json *j, const bda_model *m, uint64_t feature)
{
    if (feature < m->features)
        json_count(j, "feature", feature + 1);
    if (bda_model_feature(m, feature))
        json_text(j, "name", bda_model_feature(m, feature));
}

void export_json(const bda_model *m, output *out)
{
    json j;
    json_open(&j, out);
    write_head(&j, m);
    if (m->bias >= 0)
        json_reals(&j, "constant_weights", m->w + m->features * m->outputs, m->outputs);
    json_enter(&j, "weights", '[');
    for (uint64_t i = 0; i < m->features; i++) {
        if (!export_is_used(m, i))
            continue;
        json_enter(&j, NULL, '{');
        write_feature(&j, m, i);
        json_reals(&j, "weights", m->w + i * m->outputs, m->outputs);
        json_leave(&j, '{');
    }
    json_leave(&j, '[');
    json_close(&j);
}

/* ---- the largest weights ------------------------------------------------------------------------------------- */

uint64_t bda_model_top(const bda_model *m, uint64_t capacity, uint64_t *place)
{
    const uint64_t n = m->n - m->shared;
    uint64_t listed = 0;
    for (uint64_t j = 0; j < n && capacity > 0; j++) {
        const double size = fabs(m->w[j]);
        if (size == 0 || (listed == capacity && size <= fabs(m->w[place[capacity - 1]])))
            continue;
        uint64_t k = listed < capacity ? listed++ : capacity - 1;
        for (; k > 0 && size > fabs(m->w[place[k - 1]]); k--)
            place[k] = place[k - 1];
        place[k] = j;
    }
    return listed;
}

bool bda_model_describe(const bda_model *m, uint64_t top, const char *path, bda_error *err)
{
    err_clear(err);
    const uint64_t n = m->n - m->shared, capacity = top < n ? top : n;
    arena memory = {0};
    uint64_t *place = ARENA_TAKE(&memory, uint64_t, capacity + 1, err);
    output *out = place ? out_open(path, err) : NULL;
    if (!out) {
        arena_free(&memory);
        return false;
    }
    const uint64_t listed = bda_model_top(m, capacity, place);
    bda_model_summary s = {.size = sizeof s};
    bda_model_summarise(m, &s);
    json j;
    json_open(&j, out);
    write_head(&j, m);
    json_count(&j, "nonzero_weights", s.nonzero_weights);
    json_enter(&j, "largest_weights", '[');
    for (uint64_t k = 0; k < listed; k++) {
        json_enter(&j, NULL, '{');
        write_feature(&j, m, place[k] / m->outputs);
        if (m->outputs > 1)
            json_text(&j, "label", m->labels.name[place[k] % m->outputs]);
        json_real(&j, "weight", m->w[place[k]]);
        json_leave(&j, '{');
    }
    json_leave(&j, '[');
    json_close(&j);
    arena_free(&memory);
    return out_commit(out, err);
}
