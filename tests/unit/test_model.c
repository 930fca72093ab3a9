/* test_model.c - model files that were damaged: whatever was cut off, added or flipped, the reader refuses the file
 * and names it. (Damage that keeps the checksums right is the business of fuzz_model.c, but for a few kinds that are
 * made here on purpose.) And what is written comes back. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include "bda.h"
#include "run/model.h"
#include "unit/cmocka_all.h"

#define MOST 8192

typedef struct file {
    int memory;    /* descriptor of a file without a disk */
    char path[64]; /* by which it can be opened */
    unsigned char bytes[MOST];
    size_t size;
} file;

static void write_bytes(const file *f, const unsigned char *bytes, size_t size)
{
    assert_int_equal(ftruncate(f->memory, 0), 0);
    assert_int_equal(pwrite(f->memory, bytes, size, 0), size);
}

static void open_file(file *f)
{
    f->memory = memfd_create("model", 0);
    assert_true(f->memory >= 0);
    snprintf(f->path, sizeof f->path, "/proc/self/fd/%d", f->memory);
}

/* classes 0: regression; dense: all weights, or every seventh */
static bda_model *some_model(uint64_t classes, bool dense, bool names)
{
    static const double two[] = {3, -0.5}, five[] = {-2, 0, 1, 2.5, 7};
    static const char *const name_two[] = {"yes", "no"}, *const name_five[] = {"a", "b", "c", "d", "e"};
    static const model_option options[] = {{"gap", "1e-3"}, {"class-weight", "1:2\n2:3"}};
    bda_error err = {0};
    const label_table labels = {.count = classes,
                                .name = !names         ? NULL
                                        : classes == 2 ? name_two
                                                       : name_five,
                                .number = names          ? NULL
                                          : classes == 2 ? two
                                                         : five};
    const model_shape shape = {.features = 40, .outputs = classes > 2 ? classes : 1, .bias = 1};
    bda_model *m = model_new(&shape, &labels, &err);
    assert_non_null(m);
    model_set_task(m, model_task(classes == 0 ? "regress" : "classify"),
                   loss_find(classes == 0 ? "squared-error" : "hinge"));
    m->record.method = "bda";
    m->record.cost = 2;
    m->record.primal = 17.5;
    m->record.data_digest = UINT64_MAX - 3;
    m->record.option = options;
    m->record.options = 2;
    for (uint64_t j = 0; j < m->n; j++)
        m->w[j] = dense || j % 7 == 0 ? 0.1 * (double)(j + 1) : 0;
    return m;
}

static void write_model(file *f, const bda_model *m)
{
    char disk[] = "/tmp/bda-test-model-XXXXXX";
    bda_error err = {0};
    int fd = mkstemp(disk);
    assert_true(fd >= 0);
    assert_true(bda_model_write(m, disk, &err));
    close(fd);
    FILE *written = fopen(disk, "rb");
    f->size = fread(f->bytes, 1, MOST, written);
    fclose(written);
    unlink(disk);
    assert_in_range(f->size, 100, MOST - 1);
    write_bytes(f, f->bytes, f->size);
}

static void make(file *f, uint64_t classes, bool dense)
{
    bda_error err = {0};
    bda_model *m = some_model(classes, dense, false);
    open_file(f);
    write_model(f, m);
    bda_model_free(m);
    m = bda_model_read(f->path, &err);
    assert_non_null(m);
    bda_model_free(m);
}

static void is_refused(const file *f, const unsigned char *bytes, size_t size, const char *what, size_t at)
{
    bda_error err = {0};
    write_bytes(f, bytes, size);
    bda_model *m = bda_model_read(f->path, &err);
    if (m || err.status != BDA_FAILED || !strstr(err.text, f->path))
        fail_msg("%s %zu of %zu: %s", what, at, f->size, m ? "accepted" : err.text);
}

static void every_damage_is_refused(file *f)
{
    unsigned char bytes[MOST + 1] = {0};
    memcpy(bytes, f->bytes, f->size);
    for (size_t size = 0; size < f->size; size++)
        is_refused(f, bytes, size, "cut to", size);
    is_refused(f, bytes, f->size + 1, "one byte more than", f->size);
    for (size_t at = 0; at < 8 * f->size; at++) {
        bytes[at / 8] ^= (unsigned char)(1u << at % 8);
        is_refused(f, bytes, f->size, "flipped bit", at);
        bytes[at / 8] ^= (unsigned char)(1u << at % 8);
    }
    close(f->memory);
}

static void two_labels(void **state)
{
    (void)state;
    file f;
    make(&f, 2, true);
    every_damage_is_refused(&f);
    make(&f, 2, false);
    every_damage_is_refused(&f);
}

static void many_labels(void **state)
{
    (void)state;
    file f;
    make(&f, 5, false);
    every_damage_is_refused(&f);
}

static void no_labels(void **state)
{
    (void)state;
    file f;
    make(&f, 0, true);
    every_damage_is_refused(&f);
}

/* ---- there and back ---- */

static void are_equal(const bda_model *a, const bda_model *b)
{
    assert_string_equal(a->task, b->task);
    assert_ptr_equal(a->loss, b->loss);
    assert_true(a->bias == b->bias && a->features == b->features && a->outputs == b->outputs);
    assert_true(a->classes == b->classes && a->n == b->n && a->shared == b->shared);
    assert_memory_equal(a->w, b->w, a->n * sizeof *a->w);
    assert_int_equal(a->labels.number != NULL, b->labels.number != NULL);
    for (uint64_t k = 0; k < a->classes; k++) {
        assert_string_equal(a->labels.name[k], b->labels.name[k]);
        assert_true(!a->labels.number || a->labels.number[k] == b->labels.number[k]);
    }
    assert_string_equal(a->record.method, b->record.method);
    assert_true(a->record.cost == b->record.cost && a->record.primal == b->record.primal);
    assert_true(isnan(b->record.relative_gap) && isnan(b->record.dual));
    assert_true(a->record.data_digest == b->record.data_digest);
    assert_int_equal(a->record.options, b->record.options);
    for (uint64_t k = 0; k < a->record.options; k++) {
        assert_string_equal(a->record.option[k].name, b->record.option[k].name);
        assert_string_equal(a->record.option[k].value, b->record.option[k].value);
    }
}

static void what_is_written_comes_back(void **state)
{
    (void)state;
    for (int form = 0; form < 8; form++) {
        bda_error err = {0};
        file f;
        bda_model *m = some_model(form & 4 ? 2 : 5, form & 1, form & 2), *back;
        open_file(&f);
        write_model(&f, m);
        back = bda_model_read(f.path, &err);
        assert_non_null(back);
        are_equal(m, back);
        bda_model_free(m);
        bda_model_free(back);
        close(f.memory);
    }
}

static void other_parts_keep_sections(void **state)
{
    (void)state;
    bda_error err = {0};
    file f;
    bda_model *m = some_model(2, true, true);
    open_file(&f);
    assert_true(sections_keep(&m->extra, "notes", false, "first", 5, &err));
    assert_true(sections_keep(&m->extra, "empty", false, NULL, 0, &err));
    assert_true(sections_keep(&m->extra, "notes", false, "the second", 10, &err)); /* instead of the first */
    write_model(&f, m);
    bda_model_free(m);
    m = bda_model_read(f.path, &err);
    assert_non_null(m);
    assert_int_equal(m->extra.count, 2);
    const section *notes = sections_find(&m->extra, "notes"), *empty = sections_find(&m->extra, "empty");
    assert_true(notes && empty && !sections_find(&m->extra, "note"));
    assert_true(notes->count == 10 && memcmp(notes->bytes, "the second", 10) == 0 && empty->count == 0);
    /* One that is needed and unknown would change what is predicted. */
    assert_true(sections_keep(&m->extra, "riddle", true, "?", 1, &err));
    write_model(&f, m);
    bda_model_free(m);
    assert_null(bda_model_read(f.path, &err));
    assert_non_null(strstr(err.text, "riddle"));
    close(f.memory);
}

/* ---- right checksums, wrong values ---- */

/* Changes the 8 bytes behind `name` of the record, which is a real of its own, and mends the checksum. */
static void change_real(file *f, const char *name, double x)
{
    unsigned char *kind = memmem(f->bytes, f->size, "training", 8);
    assert_non_null(kind);
    const uint64_t count = bytes_decode_u64(kind + SECTION_KIND + 8), whole = SECTION_KIND + 16 + (count + 7) / 8 * 8;
    unsigned char *field = memmem(kind, whole, name, strlen(name));
    assert_non_null(field);
    bytes_encode_real(field + strlen(name) + 8, x);
    bytes_encode_u64(kind + whole, XXH3_64bits(kind, whole));
}

static void numbers_that_cannot_be_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"cost", "primal"};
    static const double values[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 6; i++) {
        file f;
        make(&f, 2, true);
        change_real(&f, names[i / 3], values[i % 3]);
        is_refused(&f, f.bytes, f.size, names[i / 3], (size_t)i);
        close(f.memory);
    }
    file f;
    make(&f, 2, true);
    change_real(&f, "primal", 3);
    write_bytes(&f, f.bytes, f.size);
    bda_error err = {0};
    bda_model *m = bda_model_read(f.path, &err);
    assert_true(m && m->record.primal == 3);
    bda_model_free(m);
    close(f.memory);
}

/* With a right checksum, as somebody might make it who wants to steer the terminal of whoever looks at it. */
static void names_with_control_characters_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"\033[31m", "b\nc", "two words", "\xc2\x9b"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        file f;
        bda_model *m = some_model(0, true, false);
        m->record.method = names[i];
        open_file(&f);
        write_model(&f, m);
        bda_model_free(m);
        is_refused(&f, f.bytes, f.size, "method name", i);
        close(f.memory);
    }
}

/* ---- version 1 ---- */

#define OLD_HEADER 168

/* A file as the first version of the program wrote it: two labels, three features and a constant one. */
static size_t old_file(unsigned char *b, const char *method, double cost, double gap)
{
    static const double labels[] = {1, -1}, weights[] = {0.5, 0, -2, 3};
    memset(b, 0, OLD_HEADER);
    memcpy(b, "BDAMODEL", 8);
    bytes_encode_u32(b + 8, 1);
    strcpy((char *)b + 16, "hinge");
    strcpy((char *)b + 48, method);
    const double reals[] = {cost, 0.1, 1, 0, 12.5, gap};
    for (int k = 0; k < 6; k++)
        bytes_encode_real(b + 80 + 8 * k, reals[k]);
    const uint64_t counts[] = {3, 100, 2, 0, 4};
    for (int k = 0; k < 5; k++)
        bytes_encode_u64(b + 128 + 8 * k, counts[k]);
    for (int k = 0; k < 2; k++)
        bytes_encode_real(b + OLD_HEADER + 8 * k, labels[k]);
    for (int k = 0; k < 4; k++)
        bytes_encode_real(b + OLD_HEADER + 16 + 8 * k, weights[k]);
    const size_t size = OLD_HEADER + 48;
    bytes_encode_u64(b + size, XXH3_64bits(b, size));
    return size + 8;
}

static void the_first_version_is_read(void **state)
{
    (void)state;
    file f;
    bda_error err = {0};
    open_file(&f);
    f.size = old_file(f.bytes, "tron", 2, 1e-3);
    write_bytes(&f, f.bytes, f.size);
    bda_model *m = bda_model_read(f.path, &err);
    assert_non_null(m);
    assert_string_equal(m->task, "classify");
    assert_string_equal(m->record.method, "tron");
    assert_true(m->features == 3 && m->n == 4 && m->bias == 1 && m->w[2] == -2 && m->w[3] == 3);
    assert_true(m->labels.number[0] == 1 && m->record.cost == 2 && m->record.gap_of_start == 1e-3);
    assert_string_equal(m->labels.name[1], "-1");
    bda_model_free(m);
    f.size = old_file(f.bytes, "perceptron", 2, NAN); /* which knows no gap */
    write_bytes(&f, f.bytes, f.size);
    m = bda_model_read(f.path, &err);
    assert_true(m && isnan(m->record.gap_of_start));
    bda_model_free(m);
    f.size = old_file(f.bytes, "tron", 2, NAN);
    is_refused(&f, f.bytes, f.size, "no gap", 0);
    f.size = old_file(f.bytes, "tron", INFINITY, 1e-3);
    is_refused(&f, f.bytes, f.size, "infinite cost", 0);
    f.size = old_file(f.bytes, "\033[2J", 2, 1e-3);
    is_refused(&f, f.bytes, f.size, "escape sequence", 0);
    f.size = old_file(f.bytes, "tron", 2, 1e-3);
    every_damage_is_refused(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_labels),
        cmocka_unit_test(many_labels),
        cmocka_unit_test(no_labels),
        cmocka_unit_test(what_is_written_comes_back),
        cmocka_unit_test(other_parts_keep_sections),
        cmocka_unit_test(numbers_that_cannot_be_are_refused),
        cmocka_unit_test(names_with_control_characters_are_refused),
        cmocka_unit_test(the_first_version_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
