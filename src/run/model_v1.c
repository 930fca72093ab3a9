/* model_v1.c - reads version 1 of the model file: a fixed header, labels that are numbers, weights, and one checksum
 * over all of it (docs/model-format.md). */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <xxhash.h>

#include "methods/table.h"
#include "run/model.h"

#define NAME 32 /* bytes of a name, its final zero included */

enum { CLASSIFY = 0, REGRESS = 1, DENSE = 0, SPARSE = 1, CHECKSUM = 8 };

/* Offsets in the header. */
enum {
    AT_TASK = 12, /* 32 bits */
    AT_LOSS = 16,
    AT_METHOD = AT_LOSS + NAME,
    AT_COST = AT_METHOD + NAME,
    AT_EPSILON = AT_COST + 8,
    AT_BIAS = AT_EPSILON + 8,
    AT_L1_RATIO = AT_BIAS + 8,
    AT_PRIMAL = AT_L1_RATIO + 8,
    AT_GAP = AT_PRIMAL + 8,
    AT_FEATURES = AT_GAP + 8,
    AT_INSTANCES = AT_FEATURES + 8,
    AT_CLASSES = AT_INSTANCES + 8,
    AT_FORM = AT_CLASSES + 8,
    AT_STORED = AT_FORM + 8,
    HEADER = AT_STORED + 8
};

typedef struct header {
    const unsigned char *at;
    char loss[NAME], method[NAME];
    model_shape shape;
    double cost, epsilon, l1_ratio, primal, gap_of_start;
    uint64_t task, instances, classes, form, stored, n;
    bool possible; /* n did not overflow */
} header;

static bool damaged(const byte_source *from, const char *how, bda_error *err)
{
    return err_set(err, BDA_FAILED, "'%.400s' is damaged: %s", from->name, how);
}

static header decode_header(const unsigned char *at)
{
    header h = {
        .at = at,
        .shape = {.features = bytes_decode_u64(at + AT_FEATURES), .bias = bytes_decode_real(at + AT_BIAS)},
        .cost = bytes_decode_real(at + AT_COST),
        .epsilon = bytes_decode_real(at + AT_EPSILON),
        .l1_ratio = bytes_decode_real(at + AT_L1_RATIO),
        .primal = bytes_decode_real(at + AT_PRIMAL),
        .gap_of_start = bytes_decode_real(at + AT_GAP),
        .task = bytes_decode_u32(at + AT_TASK),
        .instances = bytes_decode_u64(at + AT_INSTANCES),
        .classes = bytes_decode_u64(at + AT_CLASSES),
        .form = bytes_decode_u64(at + AT_FORM),
        .stored = bytes_decode_u64(at + AT_STORED),
    };
    memcpy(h.loss, at + AT_LOSS, NAME);
    memcpy(h.method, at + AT_METHOD, NAME);
    h.shape.outputs = h.classes > 2 ? h.classes : 1;
    h.possible = h.shape.features < MODEL_MOST_FEATURES && h.classes <= MODEL_MOST_OUTPUTS;
    h.n = h.possible ? (h.shape.features + (h.shape.bias >= 0)) * h.shape.outputs : 0;
    return h;
}

/* Of the whole file; 0 where it cannot be. */
static uint64_t promised_size(const header *h)
{
    if (!h->possible || h->stored > h->n || h->form > SPARSE)
        return 0;
    return HEADER + h->classes * 8 + (h->form == SPARSE ? model_places_bytes(h->n, h->stored) : 0) + h->stored * 8 +
           CHECKSUM;
}

static bool check_bytes(byte_source *from, uint64_t size, bda_error *err)
{
    if (!byte_source_want(from, size + 1, err))
        return false;
    if (from->count != size)
        return err_set(err, BDA_FAILED, "'%.400s' is %s: it should have %" PRIu64 " bytes", from->name,
                       from->count < size ? "cut off" : "too long", size);
    return XXH3_64bits(from->at, size - CHECKSUM) == bytes_decode_u64(from->at + size - CHECKSUM) ||
           damaged(from, "its checksum is wrong", err);
}

/* Methods without a dual know no gap. */
static bool gap_is_sound(const header *h)
{
    const method *m = method_find(h->method);
    return isnan(h->gap_of_start) ? m && m->uncertified : isfinite(h->gap_of_start) && h->gap_of_start >= 0;
}

static const char *task_of(const header *h)
{
    return model_task(h->task == REGRESS ? "regress" : "classify");
}

static bool header_is_sound(const header *h)
{
    if (h->loss[NAME - 1] || h->method[NAME - 1] || h->task > REGRESS)
        return false;
    return model_is_name(h->method) && model_is_sound(task_of(h), loss_find(h->loss), &h->shape, h->classes) &&
           isfinite(h->cost) && isfinite(h->epsilon) && h->l1_ratio >= 0 && h->l1_ratio < 1 && isfinite(h->primal) &&
           gap_is_sound(h);
}

static void fill_record(const header *h, model_record *r)
{
    r->cost = h->cost;
    r->epsilon = h->epsilon;
    r->l1_ratio = h->l1_ratio;
    r->primal = h->primal;
    r->gap_of_start = h->gap_of_start;
    r->instances = h->instances;
}

static bda_model *take_model(const header *h, const byte_source *from, bda_error *err)
{
    arena memory = {0};
    double *label = ARENA_TAKE(&memory, double, h->classes, err);
    for (uint64_t k = 0; label && k < h->classes; k++)
        label[k] = bytes_decode_real(h->at + HEADER + 8 * k);
    bda_model *m = NULL;
    if (label && !model_labels_in_order(label, h->classes))
        damaged(from, "its labels are not numbers in order", err);
    else if (label)
        m = model_new(&h->shape, &(label_table){.count = h->classes, .number = label}, err);
    arena_free(&memory);
    if (!m)
        return NULL;
    model_set_task(m, task_of(h), loss_find(h->loss));
    fill_record(h, &m->record);
    const uint64_t before = HEADER + 8 * h->classes;
    byte_reader r = {.at = h->at + before, .left = from->count - CHECKSUM - before};
    const bool ok = (m->record.method = model_copy_text(m, h->method, err)) &&
                    (model_take_weights(m->w, m->n, h->form == SPARSE, h->stored, &r) ||
                     damaged(from, "its weights are not numbers in order", err));
    if (ok)
        return m;
    bda_model_free(m);
    return NULL;
}

bda_model *model_read_first_version(byte_source *from, bda_error *err)
{
    if (!byte_source_want(from, HEADER, err))
        return NULL;
    if (from->count < HEADER) {
        err_set(err, BDA_FAILED, "'%.400s' is cut off: it ends after %" PRIu64 " bytes, within the header",
                from->name, from->count);
        return NULL;
    }
    header h = decode_header(from->at);
    const uint64_t size = promised_size(&h);
    if (size == 0) {
        damaged(from, "its header has impossible numbers", err);
        return NULL;
    }
    if (!check_bytes(from, size, err))
        return NULL;
    h = decode_header(from->at); /* reading may have moved it */
    if (!header_is_sound(&h)) {
        damaged(from, "its header has impossible values", err);
        return NULL;
    }
    return take_model(&h, from, err);
}
