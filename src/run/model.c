/* model.c - the model file: a fixed header, labels, weights, and a checksum over all of it (docs/model-format.md).
 *
 * The bytes are a function of data and options alone: no time, host, rank or thread gets into them. Reading trusts
 * nothing: memory grows with the bytes that are really there, and nothing is looked at before the checksum has been
 * found right. */
#include "run/model.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/output.h"

static const char magic[8] = "BDAMODEL";

enum { VERSION = 1, CLASSIFY = 0, REGRESS = 1, DENSE = 0, SPARSE = 1, CHECKSUM = 8 };
#define MOST_FEATURES UINT32_MAX
#define MOST_CLASSES ((uint64_t)1 << 24)

/* Offsets in the header. Numbers are little-endian; names end in zeros. */
enum {
    AT_MAGIC = 0,
    AT_VERSION = 8, /* 32 bits */
    AT_TASK = 12,   /* 32 bits */
    AT_LOSS = 16,
    AT_METHOD = AT_LOSS + MODEL_NAME,
    AT_COST = AT_METHOD + MODEL_NAME,
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

static void put32(unsigned char *to, uint32_t x)
{
    x = htole32(x);
    memcpy(to, &x, sizeof x);
}

static void put64(unsigned char *to, uint64_t x)
{
    x = htole64(x);
    memcpy(to, &x, sizeof x);
}

static void put_real(unsigned char *to, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    put64(to, bits);
}

static uint32_t get32(const unsigned char *from)
{
    uint32_t x;
    memcpy(&x, from, sizeof x);
    return le32toh(x);
}

static uint64_t get64(const unsigned char *from)
{
    uint64_t x;
    memcpy(&x, from, sizeof x);
    return le64toh(x);
}

static double get_real(const unsigned char *from)
{
    uint64_t bits = get64(from);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Of a place among n weights. */
static uint64_t place_bytes(uint64_t n)
{
    return n <= (uint64_t)1 << 32 ? 4 : 8;
}

/* Bytes of the places in front of the values of a sparse model: a multiple of 8. */
static uint64_t places_bytes(uint64_t n, uint64_t stored)
{
    return (stored * place_bytes(n) + 7) / 8 * 8;
}

static uint64_t weight_count(uint64_t features, double bias, uint64_t classes)
{
    return (features + (bias >= 0)) * (classes > 2 ? classes : 1);
}

bda_model *model_new(uint64_t features, double bias, uint64_t classes, bda_error *err)
{
    bda_model *m = calloc(1, sizeof *m);
    if (!m) {
        err_memory(err, sizeof *m, "a model");
        return NULL;
    }
    m->features = features;
    m->bias = bias < 0 ? -1 : bias;
    m->classes = classes;
    m->outputs = classes > 2 ? classes : 1;
    m->n = weight_count(features, bias, classes);
    m->labels = arena_take(&m->memory, classes, sizeof *m->labels, "the labels of a model", err);
    m->w = arena_take(&m->memory, m->n, sizeof *m->w, "the weights of a model", err);
    if (!m->labels || !m->w) {
        bda_model_free(m);
        return NULL;
    }
    return m;
}

void bda_model_free(bda_model *m)
{
    if (!m)
        return;
    arena_free(&m->memory);
    free(m);
}

uint64_t model_class(const bda_model *m, double label)
{
    uint64_t low = 0, high = m->classes;
    while (low < high) {
        uint64_t middle = (low + high) / 2;
        if (m->labels[middle] < label)
            low = middle + 1;
        else
            high = middle;
    }
    return low < m->classes && m->labels[low] == label ? low : m->classes;
}

static uint64_t count_nonzero(const bda_model *m)
{
    uint64_t count = 0;
    for (uint64_t j = 0; j < m->n; j++)
        count += m->w[j] != 0;
    return count;
}

void bda_model_summarise(const bda_model *m, bda_model_summary *summary)
{
    *summary = (bda_model_summary){
        .task = m->loss->regression ? "regress" : "classify",
        .loss = m->loss->name,
        .method = m->method,
        .cost = m->cost,
        .epsilon = m->epsilon,
        .bias = m->bias,
        .l1_ratio = m->l1_ratio,
        .features = m->features,
        .nonzero_weights = count_nonzero(m),
        .classes = m->classes,
        .labels = m->labels,
        .primal = m->primal,
        .relative_gap = m->relative_gap,
        .instances = m->instances,
        .weights = m->w,
        .outputs = m->outputs,
    };
}

/* ---- writing ------------------------------------------------------------------------------------------------- */

/* Bytes go to the file and into the checksum. */
typedef struct sink {
    output *out;
    XXH3_state_t *hash;
    unsigned char buffer[1 << 13];
    size_t used;
} sink;

static void sink_empty(sink *s)
{
    XXH3_64bits_update(s->hash, s->buffer, s->used);
    out_write(s->out, s->buffer, s->used);
    s->used = 0;
}

/* Room for `bytes`, at most 8, in front of what comes next. */
static unsigned char *sink_take(sink *s, size_t bytes)
{
    if (s->used + bytes > sizeof s->buffer)
        sink_empty(s);
    s->used += bytes;
    return s->buffer + s->used - bytes;
}

static void fill_header(const bda_model *m, uint64_t form, uint64_t stored, unsigned char header[HEADER])
{
    memset(header, 0, HEADER);
    memcpy(header + AT_MAGIC, magic, sizeof magic);
    put32(header + AT_VERSION, VERSION);
    put32(header + AT_TASK, m->loss->regression ? REGRESS : CLASSIFY);
    snprintf((char *)header + AT_LOSS, MODEL_NAME, "%s", m->loss->name);
    snprintf((char *)header + AT_METHOD, MODEL_NAME, "%s", m->method);
    put_real(header + AT_COST, m->cost);
    put_real(header + AT_EPSILON, m->epsilon);
    put_real(header + AT_BIAS, m->bias);
    put_real(header + AT_L1_RATIO, m->l1_ratio);
    put_real(header + AT_PRIMAL, m->primal);
    put_real(header + AT_GAP, m->relative_gap);
    put64(header + AT_FEATURES, m->features);
    put64(header + AT_INSTANCES, m->instances);
    put64(header + AT_CLASSES, m->classes);
    put64(header + AT_FORM, form);
    put64(header + AT_STORED, stored);
}

static void write_weights(const bda_model *m, bool sparse, uint64_t stored, sink *s)
{
    uint64_t width = place_bytes(m->n);
    for (uint64_t j = 0; sparse && j < m->n; j++) {
        if (m->w[j] == 0)
            continue;
        if (width == 4)
            put32(sink_take(s, 4), (uint32_t)j);
        else
            put64(sink_take(s, 8), j);
    }
    if (sparse && stored * width % 8)
        put32(sink_take(s, 4), 0);
    for (uint64_t j = 0; j < m->n; j++)
        if (!sparse || m->w[j] != 0)
            put_real(sink_take(s, 8), m->w[j]);
}

bool bda_model_write(const bda_model *m, const char *path, bda_error *err)
{
    err_clear(err);
    XXH3_state_t *hash = XXH3_createState();
    if (!hash || XXH3_64bits_reset(hash) != XXH_OK) {
        XXH3_freeState(hash);
        return err_memory(err, 1 << 10, "a checksum");
    }
    output *out = out_open(path, err);
    if (!out) {
        XXH3_freeState(hash);
        return false;
    }
    uint64_t nonzero = count_nonzero(m);
    bool sparse = places_bytes(m->n, nonzero) + nonzero * 8 < m->n * 8;
    uint64_t stored = sparse ? nonzero : m->n;
    sink s = {.out = out, .hash = hash};
    fill_header(m, sparse ? SPARSE : DENSE, stored, s.buffer);
    s.used = HEADER;
    for (uint64_t k = 0; k < m->classes; k++)
        put_real(sink_take(&s, 8), m->labels[k]);
    write_weights(m, sparse, stored, &s);
    sink_empty(&s);
    unsigned char checksum[CHECKSUM];
    put64(checksum, XXH3_64bits_digest(hash));
    out_write(out, checksum, sizeof checksum);
    XXH3_freeState(hash);
    return out_commit(out, err);
}

/* ---- reading ------------------------------------------------------------------------------------------------- */

typedef struct bytes {
    unsigned char *at;
    uint64_t count, capacity;
} bytes;

/* Reads until there are `count` bytes or the file ends. The buffer doubles as bytes arrive, whatever was promised. */
static bool read_up_to(FILE *file, bytes *b, uint64_t count, const char *path, bda_error *err)
{
    while (b->count < count) {
        if (b->count == b->capacity) {
            uint64_t capacity = b->capacity ? b->capacity * 2 : 1 << 16;
            void *at = mem_resize(b->at, b->capacity, capacity, "a model file", err);
            if (!at)
                return false;
            b->at = at;
            b->capacity = capacity;
        }
        uint64_t room = b->capacity - b->count, wanted = count - b->count < room ? count - b->count : room;
        uint64_t got = fread(b->at + b->count, 1, wanted, file);
        b->count += got;
        if (got < wanted && ferror(file))
            return err_set(err, BDA_FAILED, "cannot read '%.400s': %s", path, strerror(errno));
        if (got < wanted)
            return true;
    }
    return true;
}

/* How many weights a header speaks of; 0 where it cannot be. */
static uint64_t promised_weights(const unsigned char *h)
{
    uint64_t features = get64(h + AT_FEATURES), classes = get64(h + AT_CLASSES);
    if (features >= MOST_FEATURES || classes > MOST_CLASSES)
        return 0;
    return weight_count(features, get_real(h + AT_BIAS), classes);
}

/* Size of the whole file as the header has it; 0 where it cannot be. */
static uint64_t promised_size(const unsigned char *h)
{
    uint64_t stored = get64(h + AT_STORED), form = get64(h + AT_FORM), n = promised_weights(h);
    if (stored > n || form > SPARSE)
        return 0;
    return HEADER + get64(h + AT_CLASSES) * 8 + (form == SPARSE ? places_bytes(n, stored) : 0) + stored * 8 +
           CHECKSUM;
}

static bool check_bytes(FILE *file, bytes *b, const char *path, bda_error *err)
{
    if (!read_up_to(file, b, HEADER, path, err))
        return false;
    if (b->count < sizeof magic || memcmp(b->at, magic, sizeof magic) != 0)
        return err_set(err, BDA_FAILED, "'%.400s' is not a model of this program: it does not begin with '%.8s'",
                       path, magic);
    if (b->count >= AT_TASK && get32(b->at + AT_VERSION) != VERSION)
        return err_set(err, BDA_FAILED,
                       "'%.400s' has version %" PRIu32 " of the model format, and this program reads %d", path,
                       get32(b->at + AT_VERSION), VERSION);
    if (b->count < HEADER)
        return err_set(err, BDA_FAILED, "'%.400s' is cut off: it ends after %" PRIu64 " bytes, within the header",
                       path, b->count);
    uint64_t size = promised_size(b->at);
    if (size == 0)
        return err_set(err, BDA_FAILED, "'%.400s' is damaged: its header has impossible numbers", path);
    if (!read_up_to(file, b, size + 1, path, err))
        return false;
    if (b->count != size)
        return err_set(err, BDA_FAILED, "'%.400s' is %s: it should have %" PRIu64 " bytes", path,
                       b->count < size ? "cut off" : "too long", size);
    if (XXH3_64bits(b->at, size - CHECKSUM) != get64(b->at + size - CHECKSUM))
        return err_set(err, BDA_FAILED, "'%.400s' is damaged: its checksum is wrong", path);
    return true;
}

/* A file with a right checksum was written by a program, but not necessarily by this one. */
static bool header_is_sound(const unsigned char *h)
{
    uint64_t stored = get64(h + AT_STORED), classes = get64(h + AT_CLASSES);
    double bias = get_real(h + AT_BIAS), l1_ratio = get_real(h + AT_L1_RATIO);
    if (h[AT_LOSS + MODEL_NAME - 1] || h[AT_METHOD + MODEL_NAME - 1])
        return false;
    const loss *l = loss_find((const char *)h + AT_LOSS);
    if (!l || get32(h + AT_TASK) != (l->regression ? REGRESS : CLASSIFY))
        return false;
    if (!isfinite(bias) || !(l1_ratio >= 0 && l1_ratio < 1) || (l->regression ? classes != 0 : classes < 2))
        return false;
    return get64(h + AT_FORM) == SPARSE || stored == promised_weights(h);
}

static bool take_labels(bda_model *m, const unsigned char *from)
{
    for (uint64_t k = 0; k < m->classes; k++) {
        double label = get_real(from + 8 * k);
        m->labels[k] = label;
        bool in_order = k == 0 || (m->classes == 2 ? label < m->labels[0] : label > m->labels[k - 1]);
        if (!isfinite(label) || !in_order)
            return false;
    }
    return true;
}

static bool take_weights(bda_model *m, const unsigned char *from, uint64_t stored, bool sparse)
{
    const unsigned char *values = from + (sparse ? places_bytes(m->n, stored) : 0);
    uint64_t next = 0, width = place_bytes(m->n);
    for (uint64_t k = 0; k < stored; k++) {
        uint64_t j = !sparse ? k : width == 4 ? get32(from + 4 * k) : get64(from + 8 * k);
        double w = get_real(values + 8 * k);
        if (j < next || j >= m->n || !isfinite(w))
            return false;
        m->w[j] = w;
        next = j + 1;
    }
    return true;
}

static bda_model *take_model(const unsigned char *h, const char *path, bda_error *err)
{
    if (!header_is_sound(h)) {
        err_set(err, BDA_FAILED, "'%.400s' is damaged: its header has impossible values", path);
        return NULL;
    }
    bda_model *m = model_new(get64(h + AT_FEATURES), get_real(h + AT_BIAS), get64(h + AT_CLASSES), err);
    if (!m)
        return NULL;
    m->loss = loss_find((const char *)h + AT_LOSS);
    memcpy(m->method, h + AT_METHOD, MODEL_NAME);
    m->cost = get_real(h + AT_COST);
    m->epsilon = get_real(h + AT_EPSILON);
    m->l1_ratio = get_real(h + AT_L1_RATIO);
    m->primal = get_real(h + AT_PRIMAL);
    m->relative_gap = get_real(h + AT_GAP);
    m->instances = get64(h + AT_INSTANCES);
    bool sparse = get64(h + AT_FORM) == SPARSE;
    if (!take_labels(m, h + HEADER) || !take_weights(m, h + HEADER + 8 * m->classes, get64(h + AT_STORED), sparse)) {
        err_set(err, BDA_FAILED, "'%.400s' is damaged: its labels or weights are not numbers in order", path);
        bda_model_free(m);
        return NULL;
    }
    return m;
}

bda_model *bda_model_read(const char *path, bda_error *err)
{
    err_clear(err);
    FILE *file = fopen(path, "rbe");
    if (!file) {
        err_set(err, BDA_FAILED, "cannot read '%.400s': %s", path, strerror(errno));
        return NULL;
    }
    bytes b = {0};
    bda_model *m = check_bytes(file, &b, path, err) ? take_model(b.at, path, err) : NULL;
    if (b.at)
        mem_free(b.at, b.capacity);
    fclose(file);
    return m;
}

bool bda_is_model(const char *path)
{
    char first[sizeof magic] = {0};
    FILE *file = fopen(path, "rbe");
    if (!file)
        return false;
    bool ours = fread(first, 1, sizeof first, file) == sizeof first && memcmp(first, magic, sizeof magic) == 0;
    fclose(file);
    return ours;
}
