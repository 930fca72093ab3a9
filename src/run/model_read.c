/* model_read.c - reads model files. Nothing in them is trusted: memory grows with the bytes that are really there,
 * nothing is looked at before its checksum has been found right, and then every number must be one that can be: a right
 * checksum shows that a program wrote the file, not which. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "run/sentence_model.h"
#include "run/train_sentences.h"

/* Sections without which a model predicts something else, and that this program understands. */
static const char *const known[] = {"model",     "labels",         "weights",   "shared-weights",
                                    "sentences", "dictionary",     "relations", MODEL_TABLE,
                                    MODEL_SCALE, MODEL_MULTICLASS, NULL};
/* These become fields of the model, others are kept as they are. */
static const char *const own[] = {"model",    "labels",   "weights",       "shared-weights",
                                  "training", "settings", "feature-names", NULL};

static bool is_one_of(const char *kind, const char *const *list)
{
    while (*list && strcmp(*list, kind) != 0)
        list++;
    return *list;
}

static bool damaged(const byte_source *from, const char *kind, bda_error *err)
{
    return err_set(err, BDA_FAILED, "'%.400s' is damaged: its section '%s' is missing or has impossible values",
                   from->name, kind);
}

typedef struct described {
    const char *task;
    const loss *loss;
    model_shape shape;
} described;

static bool read_shape(const sections *s, const byte_source *from, uint64_t classes, arena *memory, described *to,
                       bda_error *err)
{
    byte_reader r = section_reader(sections_find(s, "model"));
    const char *task = bytes_get_text(&r, memory, err), *name = bytes_get_text(&r, memory, err);
    to->shape.features = bytes_get_u64(&r);
    to->shape.outputs = bytes_get_u64(&r);
    to->shape.shared = bytes_get_u64(&r);
    to->shape.bias = bytes_get_real(&r);
    to->task = task ? model_task(task) : NULL;
    to->loss = name ? loss_find(name) : NULL;
    return (bytes_ended(&r) && model_is_sound(to->task, to->loss, &to->shape, classes)) ||
           damaged(from, "model", err);
}

/* The table points to the arena. */
static bool read_labels(const sections *s, const byte_source *from, arena *memory, label_table *to, bda_error *err)
{
    byte_reader r = section_reader(sections_find(s, "labels"));
    const uint64_t count = bytes_get_u64(&r), numeric = bytes_get_u64(&r);
    if (r.failed || numeric > 1 || count > r.left / 8)
        return damaged(from, "labels", err);
    const char **name = ARENA_TAKE(memory, const char *, count, err);
    double *number = ARENA_TAKE(memory, double, count, err);
    if (!name || !number)
        return false;
    for (uint64_t k = 0; k < count; k++) {
        name[k] = bytes_get_text(&r, memory, err);
        number[k] = numeric ? bytes_get_real(&r) : 0;
        const bool in_order = k == 0 || numeric || !name[k] || !name[k - 1] ||
                              (count == 2 ? strcmp(name[k], name[k - 1]) < 0 : strcmp(name[k], name[k - 1]) > 0);
        if (!name[k] || !in_order)
            return damaged(from, "labels", err);
    }
    *to = (label_table){count, name, numeric ? number : NULL};
    return (bytes_ended(&r) && (!numeric || model_labels_in_order(number, count))) || damaged(from, "labels", err);
}

static bool read_weights(const sections *s, const byte_source *from, const char *kind, double *w, uint64_t n,
                         bda_error *err)
{
    byte_reader r = section_reader(sections_find(s, kind));
    const uint64_t there = bytes_get_u64(&r), sparse = bytes_get_u64(&r), stored = bytes_get_u64(&r);
    return (there == n && sparse <= 1 && model_take_weights(w, n, sparse, stored, &r)) || damaged(from, kind, err);
}

/* ---- how it came about --------------------------------------------------------------------------------------- */

/* One value of the record; names that this program does not know are passed over. */
static bool read_field(bda_model *m, byte_reader *r, bda_error *err)
{
    const char *name = bytes_get_text(r, &m->memory, err);
    const uint64_t type = bytes_get_u64(r);
    const char *text = type == RECORD_TEXT ? bytes_get_text(r, &m->memory, err) : NULL;
    const double real = type == RECORD_REAL ? bytes_get_real(r) : 0;
    const uint64_t count = type == RECORD_COUNT ? bytes_get_u64(r) : 0;
    if (r->failed || !name || type > RECORD_COUNT || (type == RECORD_TEXT && !text))
        return false;
    const record_field *f = model_fields;
    while (f->name && strcmp(f->name, name) != 0)
        f++;
    if (!f->name)
        return true;
    char *field = (char *)&m->record + f->offset;
    if (f->type != type)
        return false;
    if (type == RECORD_TEXT)
        *(const char **)field = text;
    else if (type == RECORD_REAL)
        *(double *)field = real;
    else
        *(uint64_t *)field = count;
    return type == RECORD_TEXT   ? model_is_name(text)
           : type == RECORD_REAL ? isfinite(real) && real >= f->least && real <= f->most
                                 : true;
}

static bool read_record(bda_model *m, const sections *s, const byte_source *from, bda_error *err)
{
    byte_reader r = section_reader(sections_find(s, "training"));
    while (r.left > 0)
        if (!read_field(m, &r, err))
            return damaged(from, "training", err);
    return true;
}

static bool read_options(bda_model *m, const sections *s, const byte_source *from, bda_error *err)
{
    byte_reader r = section_reader(sections_find(s, "settings")), counting = r;
    uint64_t texts = 0;
    for (; counting.left > 0 && !counting.failed; texts++)
        bytes_get(&counting, bytes_get_u64(&counting));
    if (counting.failed || texts % 2)
        return damaged(from, "settings", err);
    model_option *option = ARENA_TAKE(&m->memory, model_option, texts / 2, err);
    if (!option)
        return false;
    for (uint64_t k = 0; k < texts / 2; k++) {
        option[k].name = bytes_get_text(&r, &m->memory, err);
        option[k].value = bytes_get_text(&r, &m->memory, err);
        if (!option[k].name || !option[k].value || !model_is_name(option[k].name))
            return damaged(from, "settings", err);
    }
    m->record.option = option;
    m->record.options = texts / 2;
    return true;
}

static bool read_feature_names(bda_model *m, const sections *s, const byte_source *from, bda_error *err)
{
    const section *there = sections_find(s, "feature-names");
    if (!there)
        return true;
    byte_reader r = section_reader(there);
    if (m->features > r.left / 8)
        return damaged(from, "feature-names", err);
    const char **name = ARENA_TAKE(&m->memory, const char *, m->features, err);
    for (uint64_t j = 0; name && j < m->features; j++)
        if (!(name[j] = bytes_get_text(&r, &m->memory, err)))
            return damaged(from, "feature-names", err);
    m->feature_name = name;
    return name && (bytes_ended(&r) || damaged(from, "feature-names", err));
}

bool model_keep_calibration(bda_model *m, const unsigned char *packed, uint64_t count, bda_error *err)
{
    byte_reader r = {.at = packed, .left = count};
    calibration *c = ARENA_TAKE(&m->memory, calibration, 1, err);
    if (!c || !calibration_unpack(c, &r, m->outputs, &m->memory, err) ||
        !sections_keep(&m->extra, MODEL_CALIBRATION, false, packed, count, err))
        return false;
    m->calibration = c;
    return true;
}

/* It is among the others, whose bytes are written again as they are. */
static bool read_calibration(bda_model *m, const sections *s, const byte_source *from, bda_error *err)
{
    const section *one = sections_find(s, MODEL_CALIBRATION);
    if (!one)
        return true;
    err_clear(err);
    return (m->kind->labelled && model_keep_calibration(m, one->bytes, one->count, err)) || err->status != BDA_OK ||
           damaged(from, MODEL_CALIBRATION, err);
}

static bool keep_others(bda_model *m, const sections *s, bda_error *err)
{
    for (uint64_t k = 0; k < s->count; k++) {
        const section *one = &s->list[k];
        if (!is_one_of(one->kind, own) &&
            !sections_keep(&m->extra, one->kind, one->needed, one->bytes, one->count, err))
            return false;
    }
    return true;
}

/* ---- the file ------------------------------------------------------------------------------------------------ */

static bool check_kinds(const sections *s, const byte_source *from, bda_error *err)
{
    for (uint64_t k = 0; k < s->count; k++)
        if (s->list[k].needed && !is_one_of(s->list[k].kind, known))
            return err_set(err, BDA_FAILED,
                           "'%.400s' has a section '%s', which this version of the program does not know and without "
                           "which it would predict something else",
                           from->name, s->list[k].kind);
    return true;
}

static bda_model *take_model(const sections *s, const byte_source *from, bda_error *err)
{
    arena memory = {0};
    described d = {0};
    label_table labels = {0};
    bda_model *m = NULL;
    if (check_kinds(s, from, err) && read_labels(s, from, &memory, &labels, err) &&
        read_shape(s, from, labels.count, &memory, &d, err))
        m = model_new(&d.shape, &labels, err);
    arena_free(&memory);
    if (!m)
        return NULL;
    model_set_task(m, d.task, d.loss);
    const uint64_t n = m->n - m->shared;
    const bool ok = read_weights(s, from, "weights", m->w, n, err) &&
                    (m->shared == 0 || read_weights(s, from, "shared-weights", m->w + n, m->shared, err)) &&
                    read_record(m, s, from, err) && read_options(m, s, from, err) &&
                    read_feature_names(m, s, from, err) && keep_others(m, s, err) &&
                    read_calibration(m, s, from, err) &&
                    (!is_sentence_task(m->task) || sentence_model_glance(m, err));
    m->unit_rows = sections_find(s, MODEL_SCALE) != NULL;
    m->apart = sections_find(s, MODEL_MULTICLASS) != NULL;
    if (ok)
        return m;
    bda_model_free(m);
    return NULL;
}

static bda_model *read_source(byte_source *from, bda_error *err)
{
    const uint32_t version = sections_version(from, MODEL_MAGIC, "a model of this program", err);
    if (version == 1)
        return model_read_first_version(from, err);
    if (version == 0)
        return NULL;
    if (version != MODEL_VERSION) {
        err_set(err, BDA_FAILED,
                "'%.400s' has version %" PRIu32 " of the model format, and this program reads up to %d", from->name,
                version, MODEL_VERSION);
        return NULL;
    }
    sections s;
    if (!sections_read(&s, from, err))
        return NULL;
    bda_model *m = take_model(&s, from, err);
    sections_free(&s);
    return m;
}

bda_model *bda_model_read(const char *path, bda_error *err)
{
    err_clear(err);
    byte_source from;
    bda_model *m = byte_source_open(&from, path, err) ? read_source(&from, err) : NULL;
    byte_source_close(&from);
    return m;
}

bda_model *bda_model_unpack(const void *bytes, size_t count, bda_error *err)
{
    err_clear(err);
    byte_source from = {.name = "the model in memory", .at = bytes, .count = count};
    return read_source(&from, err);
}

bool bda_is_model(const char *path)
{
    char first[SECTIONS_MAGIC] = {0};
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode)) /* what is taken out of a pipe would be lost */
        return false;
    FILE *file = fopen(path, "rbe");
    if (!file)
        return false;
    const bool ours =
        fread(first, 1, sizeof first, file) == sizeof first && memcmp(first, MODEL_MAGIC, sizeof first) == 0;
    fclose(file);
    return ours;
}
