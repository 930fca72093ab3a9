/* test_generate.c - generated data: its numbers are near the shape's, and it depends on shape, scale and seed alone.
 * The text is read back here by plain code, not by the reader of the library. */
#include "data/data.h"
#include "data/synthetic.h"
#include "unit/cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char home[] = "/tmp/bda-test-generate-XXXXXX";

static int enter(void **state)
{
    (void)state;
    return !mkdtemp(home) || chdir(home) != 0;
}

static int leave(void **state)
{
    (void)state;
    return chdir("/") != 0 || rmdir(home) != 0;
}

static const data_shape *shape_named(const char *name)
{
    const data_shape *shape = data_shapes;
    while (shape->name && strcmp(shape->name, name) != 0)
        shape++;
    assert_non_null(shape->name);
    return shape;
}

static void generate(const char *name, double scale, uint64_t seed, const char *path, bool text)
{
    bda_error err = {0};
    bda_comm *c = bda_comm_single(&err);
    assert_non_null(c);
    if (!data_generate(c, shape_named(name), scale, seed, path, text, &err))
        fail_msg("%s", err.text);
    bda_comm_free(c);
}

/* The whole file with a 0 behind it; the file is gone afterwards. */
static char *take_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *size = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    bytes[*size] = 0;
    fclose(file);
    assert_int_equal(unlink(path), 0);
    return bytes;
}

typedef struct found {
    uint64_t rows, cells, positive, features;
    uint64_t *row_length; /* [rows] */
    uint64_t *frequency;  /* [limit] */
    double largest_norm_error;
    bool ones, constant, floats;
} found;

static void read_cells(char **at, found *f, uint64_t limit)
{
    uint64_t length = 0, previous = 0;
    double first = 0, squares = 0;
    while (**at == ' ') {
        uint64_t column = strtoull(*at + 1, at, 10);
        assert_int_equal(**at, ':');
        double value = strtod(*at + 1, at);
        assert_true(column > previous);
        assert_true(column <= limit);
        assert_true(isfinite(value) && value > 0);
        f->frequency[column - 1]++;
        f->features = column > f->features ? column : f->features;
        first = length == 0 ? value : first;
        f->ones &= value == 1;
        f->constant &= value == first;
        f->floats &= value == (float)value;
        squares += value * value;
        previous = column;
        length++;
    }
    f->largest_norm_error = fmax(f->largest_norm_error, fabs(sqrt(squares) - 1));
    f->row_length = realloc(f->row_length, (f->rows + 1) * sizeof *f->row_length);
    assert_non_null(f->row_length);
    f->row_length[f->rows++] = length;
    f->cells += length;
}

static found read_text(char *text, uint64_t limit)
{
    found f = {.ones = true, .constant = true, .floats = true, .frequency = calloc(limit, sizeof(uint64_t))};
    assert_non_null(f.frequency);
    for (char *at = text; *at; at++) {
        long label = strtol(at, &at, 10);
        assert_true(label == 1 || label == -1);
        f.positive += label == 1;
        read_cells(&at, &f, limit);
        assert_int_equal(*at, '\n');
    }
    return f;
}

static void free_found(found *f)
{
    free(f->row_length);
    free(f->frequency);
}

static void check_shape(const char *name, double scale, double norm_error)
{
    const data_shape *shape = shape_named(name);
    uint64_t limit = (uint64_t)((double)shape->features * scale + 0.5);
    size_t size;
    generate(name, scale, 7, "text", true);
    char *text = take_file("text", &size);
    found f = read_text(text, limit);
    double rows = (double)f.rows;
    assert_int_equal(f.rows, (uint64_t)((double)shape->instances * scale + 0.5));
    /* Lengths of rows have a standard deviation of about 0.8 means. */
    assert_true(fabs((double)f.cells / rows / shape->nonzeros_per_row - 1) < 0.02 + 4 / sqrt(rows));
    assert_true(fabs((double)f.positive / rows - shape->positive) < 0.02 + 2.5 / sqrt(rows));
    assert_true((double)f.features > 0.9 * (double)limit);
    assert_true(f.ones == (shape->values == ROWS_ONES));
    assert_true(f.constant == (shape->values != ROWS_FLOAT));
    assert_true(f.floats == (shape->values != ROWS_CONSTANT));
    if (shape->values != ROWS_ONES)
        assert_true(f.largest_norm_error < norm_error);
    free_found(&f);
    free(text);
}

static void shapes_are_kept(void **state)
{
    (void)state;
    check_shape("webspam", 0.001, 0.05);
    check_shape("url", 0.002, 0);
    check_shape("kddb", 0.0005, 0.001);
    check_shape("rcv1", 0.01, 0.05);
    check_shape("news20", 0.05, 0.05);
}

static int downwards(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

/* Few features are in many rows, most are in few; rows are of many lengths. */
static void frequencies_follow_a_power_law(void **state)
{
    (void)state;
    size_t size;
    generate("kddb", 0.001, 1, "text", true);
    char *text = take_file("text", &size);
    uint64_t limit = 29890;
    found f = read_text(text, limit);
    qsort(f.frequency, limit, sizeof *f.frequency, downwards);
    assert_true(f.frequency[0] > f.rows / 2);
    /* Between the 100th and the 1000th the frequency falls by 10^1.1. */
    double slope = log10((double)f.frequency[99] / (double)f.frequency[999]);
    assert_true(fabs(slope - 1.1) < 0.15);
    qsort(f.row_length, f.rows, sizeof *f.row_length, downwards);
    assert_true(f.row_length[f.rows / 10] > 2 * f.row_length[f.rows - f.rows / 10]);
    assert_true(f.row_length[f.rows - 1] > 0);
    free_found(&f);
    free(text);
}

static void same_seed_same_bytes(void **state)
{
    (void)state;
    for (int text = 0; text <= 1; text++) {
        size_t size[3];
        char *bytes[3];
        for (int i = 0; i < 3; i++) {
            generate("rcv1", 0.002, i == 2 ? 6 : 5, "data", text);
            bytes[i] = take_file("data", &size[i]);
        }
        assert_int_equal(size[0], size[1]);
        assert_memory_equal(bytes[0], bytes[1], size[0]);
        assert_true(size[0] != size[2] || memcmp(bytes[0], bytes[2], size[0]) != 0);
        for (int i = 0; i < 3; i++)
            free(bytes[i]);
    }
}

/* What the library reads from text and from binary is one data set. */
static void text_and_binary_agree(void **state)
{
    (void)state;
    static const char *const names[] = {"rcv1", "url", "kddb"};
    static const double scales[] = {0.002, 0.0005, 0.0001};
    for (int k = 0; k < 3; k++) {
        bda_error err = {0};
        bda_comm *c = bda_comm_single(&err);
        generate(names[k], scales[k], 3, "a.svm", true);
        generate(names[k], scales[k], 3, "a.bda", false);
        data *text = data_read(c, &(data_request){.path = "a.svm", .blocks = 1, .threads = 1}, &err);
        data *binary = data_read(c, &(data_request){.path = "a.bda", .blocks = 1, .threads = 1}, &err);
        if (!text || !binary)
            fail_msg("%s", err.text);
        const rows *a = &text->rows, *b = &binary->rows;
        assert_int_equal(a->form, shape_named(names[k])->values);
        assert_int_equal(a->form, b->form);
        assert_int_equal(a->count, b->count);
        assert_int_equal(a->columns, b->columns);
        assert_memory_equal(text->target.real, binary->target.real, a->count * sizeof(double));
        for (uint64_t i = 0; i <= a->count; i++)
            assert_int_equal(a->start[i] - a->start[0], b->start[i] - b->start[0]);
        uint64_t cells = a->start[a->count] - a->start[0];
        if (a->form == ROWS_FLOAT)
            assert_memory_equal(a->pair + a->start[0], b->pair + b->start[0], cells * sizeof(rows_pair));
        else
            assert_memory_equal(a->column + a->start[0], b->column + b->start[0], cells * sizeof(uint32_t));
        if (a->form == ROWS_CONSTANT)
            assert_memory_equal(a->value, b->value, a->count * sizeof(double));
        data_free(text);
        data_free(binary);
        assert_int_equal(unlink("a.svm"), 0);
        assert_int_equal(unlink("a.bda"), 0);
        bda_comm_free(c);
    }
}

/* Any scale works: at least 2 of each, rows never longer than there are features. */
static void tiny_scales_work(void **state)
{
    (void)state;
    for (const data_shape *shape = data_shapes; shape->name; shape++)
        for (double scale = 1e-12; scale < 1e-4; scale *= 7) {
            size_t size;
            generate(shape->name, scale, 1, "text", true);
            char *text = take_file("text", &size);
            double features = (double)shape->features * scale;
            found f = read_text(text, features < 2 ? 2 : (uint64_t)(features + 0.5));
            assert_true(f.rows >= 2);
            assert_true(f.cells >= f.rows);
            free_found(&f);
            free(text);
        }
}

static void impossible_scales_are_refused(void **state)
{
    (void)state;
    bda_error err = {0};
    bda_comm *c = bda_comm_single(&err);
    assert_false(data_generate(c, shape_named("kddb"), 1000, 1, "text", true, &err));
    assert_int_equal(err.status, BDA_USAGE);
    assert_non_null(strstr(err.text, "--scale=1000"));
    assert_int_equal(access("text", F_OK), -1);
    bda_comm_free(c);
}

/* Each request for memory in turn fails: a sentence, and no file. */
static void failing_memory_leaves_nothing(void **state)
{
    (void)state;
    bda_error err = {0};
    bda_comm *c = bda_comm_single(&err);
    for (int text = 0; text <= 1; text++) {
        uint64_t k = 0;
        for (bool ok = false; !ok; k++) {
            err = (bda_error){0};
            mem_fail_at(k + 1);
            ok = data_generate(c, shape_named("rcv1"), 0.0005, 1, "data", text, &err);
            mem_fail_at(0);
            assert_true(ok || (err.status == BDA_FAILED && err.text[0]));
            assert_int_equal(access("data", F_OK), ok ? 0 : -1);
        }
        assert_true(k > 4);
        assert_int_equal(unlink("data"), 0);
    }
    bda_comm_free(c);
}

/* A quarter of the rows teaches the planted model's answers for others: averages of the rows of each class already
 * tell them apart far better than a constant answer does. */
static void labels_can_be_learned(void **state)
{
    (void)state;
    bda_error err = {0};
    synthetic s;
    synthetic_row row;
    arena memory = {0};
    assert_true(synthetic_open(&s, shape_named("rcv1"), 0.02, 1, &err));
    assert_true(synthetic_row_open(&row, &s, &memory, &err));
    double *weight = ARENA_TAKE(&memory, double, s.features, &err), positive = 0;
    double *centre = ARENA_TAKE(&memory, double, s.features, &err);
    const uint64_t part = 5000, test = 5000;
    for (uint64_t i = 0; i < part; i++) {
        synthetic_make(&s, i, &row);
        positive += row.label > 0;
    }
    for (uint64_t i = 0; i < part; i++) {
        synthetic_make(&s, i, &row);
        double share = row.label > 0 ? 1 / positive : -1 / ((double)part - positive);
        for (uint64_t j = 0; j < row.count; j++) {
            weight[synthetic_column(row.cell[j])] += share * synthetic_value(&s, (uint32_t)row.cell[j]);
            centre[synthetic_column(row.cell[j])] += fabs(share) / 2 * synthetic_value(&s, (uint32_t)row.cell[j]);
        }
    }
    double threshold = 0, right = 0;
    for (uint64_t j = 0; j < s.features; j++)
        threshold += weight[j] * centre[j];
    for (uint64_t i = part; i < part + test; i++) {
        double score = -threshold;
        synthetic_make(&s, i, &row);
        for (uint64_t j = 0; j < row.count; j++)
            score += weight[synthetic_column(row.cell[j])] * synthetic_value(&s, (uint32_t)row.cell[j]);
        right += (score > 0) == (row.label > 0);
    }
    assert_true(right / (double)test > 0.7);
    arena_free(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_are_kept),
        cmocka_unit_test(frequencies_follow_a_power_law),
        cmocka_unit_test(same_seed_same_bytes),
        cmocka_unit_test(text_and_binary_agree),
        cmocka_unit_test(tiny_scales_work),
        cmocka_unit_test(impossible_scales_are_refused),
        cmocka_unit_test(failing_memory_leaves_nothing),
        cmocka_unit_test(labels_can_be_learned),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
