/* model_write.c - the model file: sections for what prediction needs, for how the model came about, and for what other
 * parts keep in it (docs/model-format.md).
 *
 * The bytes are a function of data and options alone: no time, host, rank or thread gets into them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/output.h"
#include "run/model.h"

static bool write_bytes(section_writer *w, const char *kind, bool needed, bytes *b, bda_error *err)
{
    const bool ok = bytes_done(b, "a model file", err);
    if (ok)
        section_write(w, kind, needed, b->at, b->count);
    bytes_free(b);
    return ok;
}

static bool write_shape(const bda_model *m, section_writer *w, bda_error *err)
{
    bytes b = {0};
    bytes_put_text(&b, m->task);
    bytes_put_text(&b, m->loss->name);
    bytes_put_u64(&b, m->features);
    bytes_put_u64(&b, m->outputs);
    bytes_put_u64(&b, m->shared);
    bytes_put_real(&b, m->bias);
    return write_bytes(w, "model", true, &b, err);
}

static bool write_labels(const bda_model *m, section_writer *w, bda_error *err)
{
    bytes b = {0};
    bytes_put_u64(&b, m->classes);
    bytes_put_u64(&b, m->labels.number != NULL);
    for (uint64_t k = 0; k < m->classes; k++) {
        bytes_put_text(&b, m->labels.name[k]);
        if (m->labels.number)
            bytes_put_real(&b, m->labels.number[k]);
    }
    return write_bytes(w, "labels", true, &b, err);
}

static bool write_record(const bda_model *m, section_writer *w, bda_error *err)
{
    bytes b = {0};
    for (const record_field *f = model_fields; f->name; f++) {
        const char *field = (const char *)&m->record + f->offset;
        if ((f->type == RECORD_REAL && !isfinite(*(const double *)field)) ||
            (f->type == RECORD_TEXT && !**(const char *const *)field))
            continue;
        bytes_put_text(&b, f->name);
        bytes_put_u64(&b, f->type);
        if (f->type == RECORD_TEXT)
            bytes_put_text(&b, *(const char *const *)field);
        else if (f->type == RECORD_REAL)
            bytes_put_real(&b, *(const double *)field);
        else
            bytes_put_u64(&b, *(const uint64_t *)field);
    }
    return write_bytes(w, "training", false, &b, err);
}

static bool write_options(const bda_model *m, section_writer *w, bda_error *err)
{
    if (m->record.options == 0)
        return true;
    bytes b = {0};
    for (uint64_t k = 0; k < m->record.options; k++) {
        bytes_put_text(&b, m->record.option[k].name);
        bytes_put_text(&b, m->record.option[k].value);
    }
    return write_bytes(w, "settings", false, &b, err);
}

static bool write_feature_names(const bda_model *m, section_writer *w, bda_error *err)
{
    if (!m->feature_name)
        return true;
    bytes b = {0};
    for (uint64_t j = 0; j < m->features; j++)
        bytes_put_text(&b, m->feature_name[j]);
    return write_bytes(w, "feature-names", false, &b, err);
}

/* ---- weights ------------------------------------------------------------------------------------------------- */

#define PIECE 1024 /* numbers encoded at a time */

typedef struct encoder {
    section_writer *to;
    size_t used;
    unsigned char code[PIECE * 8];
} encoder;

static void encoder_empty(encoder *e)
{
    section_add(e->to, e->code, e->used);
    e->used = 0;
}

static unsigned char *encoder_take(encoder *e, size_t bytes)
{
    if (e->used + bytes > sizeof e->code)
        encoder_empty(e);
    e->used += bytes;
    return e->code + e->used - bytes;
}

static void encode_places(const double *w, uint64_t n, uint64_t stored, encoder *e)
{
    const uint64_t width = model_place_bytes(n);
    for (uint64_t j = 0; j < n; j++) {
        if (w[j] == 0)
            continue;
        if (width == 4)
            bytes_encode_u32(encoder_take(e, 4), (uint32_t)j);
        else
            bytes_encode_u64(encoder_take(e, 8), j);
    }
    if (stored * width % 8)
        bytes_encode_u32(encoder_take(e, 4), 0);
}

/* The smaller of the two forms. */
static void write_weights(const double *w, uint64_t n, const char *kind, section_writer *to)
{
    uint64_t nonzero = 0;
    for (uint64_t j = 0; j < n; j++)
        nonzero += w[j] != 0;
    const uint64_t places = model_places_bytes(n, nonzero);
    const bool sparse = places + nonzero * 8 < n * 8;
    const uint64_t stored = sparse ? nonzero : n;
    encoder e = {.to = to};
    section_begin(to, kind, true, 3 * 8 + (sparse ? places : 0) + stored * 8);
    bytes_encode_u64(encoder_take(&e, 8), n);
    bytes_encode_u64(encoder_take(&e, 8), sparse);
    bytes_encode_u64(encoder_take(&e, 8), stored);
    if (sparse)
        encode_places(w, n, stored, &e);
    for (uint64_t j = 0; j < n; j++)
        if (!sparse || w[j] != 0)
            bytes_encode_real(encoder_take(&e, 8), w[j]);
    encoder_empty(&e);
    section_end(to);
}

/* ---- the file ------------------------------------------------------------------------------------------------ */

static bool write_model(const bda_model *m, section_put put, void *self, bda_error *err)
{
    section_writer w;
    bool ok = sections_begin(&w, put, self, MODEL_MAGIC, MODEL_VERSION, err) && write_shape(m, &w, err) &&
              write_labels(m, &w, err);
    if (ok) {
        write_weights(m->w, m->n - m->shared, "weights", &w);
        if (m->shared > 0)
            write_weights(m->w + (m->n - m->shared), m->shared, "shared-weights", &w);
    }
    ok = ok && write_record(m, &w, err) && write_options(m, &w, err) && write_feature_names(m, &w, err);
    for (uint64_t k = 0; ok && k < m->extra.count; k++) {
        const section *s = &m->extra.list[k];
        section_write(&w, s->kind, s->needed, s->bytes, s->count);
    }
    sections_end(&w);
    return ok;
}

static void put_to_file(void *out, const void *bytes, uint64_t count)
{
    out_write(out, bytes, count);
}

/* Memory that free() gives back. */
typedef struct packed {
    unsigned char *at;
    size_t count, room;
    bool failed;
} packed;

static void put_to_memory(void *self, const void *bytes, uint64_t count)
{
    packed *p = self;
    if (count > p->room - p->count && !p->failed) {
        size_t room = p->room ? p->room : 1 << 12;
        while (room - p->count < count)
            room *= 2;
        void *at = realloc(p->at, room);
        p->failed = !at;
        p->at = at ? at : p->at;
        p->room = at ? room : p->room;
    }
    if (p->failed)
        return;
    memcpy(p->at + p->count, bytes, count);
    p->count += count;
}

bool bda_model_pack(const bda_model *m, void **bytes, size_t *count, bda_error *err)
{
    err_clear(err);
    packed p = {0};
    bool ok = write_model(m, put_to_memory, &p, err);
    if (ok && p.failed)
        ok = err_memory(err, p.room * 2, "a model");
    if (!ok)
        free(p.at);
    *bytes = ok ? p.at : NULL;
    *count = ok ? p.count : 0;
    return ok;
}

bool bda_model_write(const bda_model *m, const char *path, bda_error *err)
{
    err_clear(err);
    output *out = out_open(path, err);
    if (!out)
        return false;
    if (!write_model(m, put_to_file, out, err)) {
        out_abandon(out);
        return false;
    }
    return out_commit(out, err);
}
