/* test_data_binary.c - what is written is read back; a file that was cut or altered is refused or harmless; one that
 * was made up with right checksums but wrong content is refused. */
#include "data/binary.h"
#include "data/digest.h"
#include "unit/cmocka_all.h"
#include "unit/data_support.h"

#include <xxhash.h>

static data *from_text(const char *text)
{
    bda_error err = {0};
    support_write("t", text, strlen(text));
    data *d = support_read(alone, "t", 2, 1, &err);
    assert_non_null(d);
    unlink("t");
    return d;
}

/* One of each form, with empty rows at either end. */
static const char *const forms[] = {
    "1\n-1 1:1 5:1\n1 2:1\n-1\n",
    "1\n-1 1:0.1 5:0.1\n1 2:1\n3 1:2\n-1\n",
    "1\n-1 1:0.5 5:2\n1 2:-1\n-1\n",
    "1\n-1 1:0.1 5:2\n1 2:-1e-300 3:4\n-1\n",
};

static void check_same(const data *a, const data *b)
{
    char *x = support_show(a), *y = support_show(b);
    assert_string_equal(x, y);
    free(x);
    free(y);
    assert_int_equal(a->rows.form, b->rows.form);
    assert_int_equal(a->features, b->features);
    assert_int_equal(a->instances, b->instances);
    assert_int_equal(a->nonzeros, b->nonzeros);
    assert_int_equal(a->labels.count, b->labels.count);
}

static void every_form_and_format_is_read_back(void **state)
{
    (void)state;
    static const struct {
        const char *path, *format;
        bool text;
    } kinds[] = {{"d.bin", "bda binary", false},
                 {"d.txt", "LIBSVM text", true},
                 {"d.gz", "LIBSVM text, gzip", true},
                 {"d.zst", "LIBSVM text, zstd", false}};
    for (int form = 0; form < 4; form++) {
        data *d = from_text(forms[form]);
        assert_int_equal(d->rows.form, form);
        for (int i = 0; i < 4; i++) {
            bda_error err = {0};
            assert_true(data_write(alone, d, kinds[i].path, kinds[i].text, false, &err));
            data *back = support_read(alone, kinds[i].path, 2, 1, &err);
            assert_non_null(back);
            assert_string_equal(back->format, kinds[i].format);
            check_same(d, back);
            assert_int_equal(data_is_binary(kinds[i].path), i == 0);
            data_free(back);
            unlink(kinds[i].path);
        }
        bda_error err = {0};
        assert_true(data_write(alone, d, "zero", true, true, &err));
        data_request request = {.path = "zero", .zero_based = true, .blocks = 2};
        data *back = data_read(alone, &request, &err);
        check_same(d, back);
        data_free(back);
        unlink("zero");
        data_free(d);
    }
}

/* Larger than a block of checksums, in every section. */
static void many_blocks(void **state)
{
    (void)state;
    for (int form = 0; form < 4; form++) {
        char *text;
        size_t length;
        FILE *to = open_memstream(&text, &length);
        for (int i = 0; i < 50000; i++) {
            static const char *const value[] = {"1", "0.1", "0.5", "0.3"};
            fprintf(to, "%d 1:%s %d:%s %d:%s\n", i % 3, value[form], i % 500 + 2, form == 2 ? "0.25" : value[form],
                    i + 1000, form == 3 ? "0.7" : value[form]);
        }
        fclose(to);
        data *d = from_text(text);
        bda_error err = {0};
        assert_int_equal(d->rows.form, form);
        assert_true(data_write(alone, d, "d", false, false, &err));
        data *back = support_read(alone, "d", 3, 1, &err);
        assert_non_null(back);
        check_same(d, back);
        data_free(back);
        data_free(d);
        free(text);
    }
    unlink("d");
}

/* Refused with a sentence that names the file, or the very same content. */
static void refused_or_same(const char *bytes, size_t size, const char *content, const char *kind, size_t at)
{
    support_write("bad", bytes, size);
    bda_error err = {0};
    data *d = support_read(alone, "bad", 2, 1, &err);
    if (!d) {
        if (strncmp(err.text, "bad", 3) != 0)
            fail_msg("%s %zu: %s", kind, at, err.text);
        return;
    }
    char *shown = support_show(d);
    if (strcmp(shown, content) != 0)
        fail_msg("%s %zu: other content was read", kind, at);
    free(shown);
    data_free(d);
}

static void cut_and_altered_files(void **state)
{
    (void)state;
    for (int form = 0; form < 4; form++) {
        data *d = from_text(forms[form]);
        bda_error err = {0};
        assert_true(data_write(alone, d, "d", false, false, &err));
        char *content = support_show(d);
        size_t size;
        char *bytes = support_load("d", &size);
        for (size_t i = 0; i < size; i++) {
            refused_or_same(bytes, i, content, "cut at", i);
            for (int bit = 0; bit < 8; bit++) {
                bytes[i] ^= (char)(1 << bit);
                refused_or_same(bytes, size, content, "flipped", i);
                bytes[i] ^= (char)(1 << bit);
            }
        }
        char *longer = realloc(bytes, size + 2);
        longer[size] = 0;
        support_write("bad", longer, size + 1);
        assert_null(support_read(alone, "bad", 2, 1, &err));
        assert_non_null(strstr(err.text, "bad: is damaged: it has"));
        free(longer);
        free(content);
        data_free(d);
    }
    unlink("d"), unlink("bad");
}

/* Puts right checksums into a file of one block. */
static void forge(char *bytes)
{
    binary_header h;
    memcpy(&h, bytes, sizeof h);
    binary_layout layout;
    if (binary_lay_out((rows_form)(h.form & 3), h.instances, h.nonzeros, &layout) && layout.blocks == 1) {
        uint64_t sum = XXH3_64bits(bytes + BINARY_HEADER, layout.checksum - BINARY_HEADER);
        memcpy(bytes + layout.checksum, &sum, 8);
        sum = XXH3_64bits(bytes + layout.checksum, 8);
        memcpy(bytes + layout.checksum + 8, &sum, 8);
    }
    h.checksum = XXH3_64bits(&h, offsetof(binary_header, checksum));
    memcpy(bytes, &h, sizeof h);
}

static void check_forged(const char *text, const char *message, uint64_t offset, const void *change, size_t length)
{
    data *d = from_text(text);
    bda_error err = {0};
    assert_true(data_write(alone, d, "d", false, false, &err));
    size_t size;
    char *bytes = support_load("d", &size);
    memcpy(bytes + offset, change, length);
    forge(bytes);
    support_write("d", bytes, size);
    assert_null(support_read(alone, "d", 2, 1, &err));
    assert_string_equal(err.text, message);
    free(bytes);
    data_free(d);
    unlink("d");
}

static void made_up_files(void **state)
{
    (void)state;
    const char *rows_wrong = "d: is damaged: its rows make no sense",
               *header_wrong = "d: is damaged: its header makes no sense";
    const char *columns_wrong = "d: is damaged: its columns make no sense";
    const char *text = "1 1:0.1 5:0.2\n2 1:1 2:2\n", *pairs = "1 1:0.5 5:2\n2 1:1 2:2\n", *same = "1 1:0.1\n2 2:5\n";
    binary_layout l, p, s;
    assert_true(binary_lay_out(ROWS_DOUBLE, 2, 4, &l) && binary_lay_out(ROWS_FLOAT, 2, 4, &p) &&
                binary_lay_out(ROWS_CONSTANT, 2, 2, &s));
    const uint64_t huge = UINT64_MAX / 16, three = 3, one = 1;
    const uint32_t form = 4, five = 5, zero = 0, most = UINT32_MAX, two = 2, version = 2;
    const double nan = 0.0 / 0.0, inf = 1e308 * 10;
    const float float_inf = (float)1e39;
    check_forged(text, rows_wrong, l.start, &one, 8);        /* begins with 1 */
    check_forged(text, rows_wrong, l.start + 8, &huge, 8);   /* goes back */
    check_forged(text, rows_wrong, l.start + 16, &three, 8); /* ends early */
    check_forged(text, rows_wrong, l.label, &nan, 8);
    check_forged(text, columns_wrong, l.cell + 4, &five, 4); /* n is 5 */
    check_forged(text, columns_wrong, l.cell + 4, &most, 4);
    check_forged(text, columns_wrong, l.cell + 4, &zero, 4); /* twice in a row */
    check_forged(text, columns_wrong, l.cell + 8, &two, 4);  /* goes back */
    check_forged(text, rows_wrong, l.value + 8, &inf, 8);
    check_forged(pairs, columns_wrong, p.cell + 8, &most, 4);
    check_forged(pairs, columns_wrong, p.cell + 8, &zero, 4);
    check_forged(pairs, rows_wrong, p.cell + 4, &float_inf, 4);
    check_forged(same, rows_wrong, s.value, &nan, 8);
    check_forged(text, header_wrong, offsetof(binary_header, form), &form, 4);
    check_forged(text, header_wrong, offsetof(binary_header, instances), &huge, 8);
    check_forged(text, header_wrong, offsetof(binary_header, nonzeros), &huge, 8);
    check_forged(text, header_wrong, offsetof(binary_header, features), &huge, 8);
    check_forged(text, header_wrong, offsetof(binary_header, block), &one, 8);
    check_forged(text, header_wrong, offsetof(binary_header, size), &huge, 8);
    check_forged(text, "d: is of version 2 of the binary format; this program reads version 1",
                 offsetof(binary_header, version), &version, 4);
}

typedef struct writing {
    const data *d;
    bool text;
} writing;

static bool try_writing(void *what, bda_error *err)
{
    const writing *w = what;
    bool written = data_write(alone, w->d, "d", w->text, false, err);
    assert_int_equal(access("d", F_OK), written ? 0 : -1);
    return written;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    data *d = from_text(forms[3]);
    for (int text = 0; text < 2; text++) {
        assert_true(support_run_short(try_writing, &(writing){d, text}) > 1);
        unlink("d");
    }
    bda_error err = {0};
    assert_true(data_write(alone, d, "d", false, false, &err));
    support_reading back = {"d", 2, 1, NULL};
    assert_true(support_run_short(support_try_reading, &back) > 1);
    check_same(d, back.read);
    data_free(back.read);
    data_free(d);
    unlink("d");
}

static void nothing_is_left_of_a_failed_write(void **state)
{
    (void)state;
    data *d = from_text(forms[0]);
    bda_error err = {0};
    assert_false(data_write(alone, d, "/dev/full", false, false, &err));
    assert_non_null(strstr(err.text, "/dev/full"));
    err = (bda_error){0};
    assert_false(data_write(alone, d, "no/such/place", true, false, &err));
    assert_non_null(strstr(err.text, "no/such/place"));
    data_free(d);
}

static void rows_from_memory(void **state)
{
    (void)state;
    const uint64_t start[] = {2, 4, 4, 5};
    const uint32_t column[] = {9, 9, 0, 3, 1};
    const double value[] = {7, 7, 0.5, 0, 2}, label[] = {1, -0.0, 2};
    bda_error err = {0};
    data *d = data_copy(alone, 2, 3, start, column, value, label, &err);
    char *shown = support_show(d);
    assert_string_equal(shown, "1 0:0.5;0;2 1:2;");
    assert_int_equal(d->features, 4);
    assert_int_equal(d->rows.form, ROWS_CONSTANT);
    free(shown);
    data_free(d);
    d = data_copy(alone, 2, 3, start, column, NULL, label, &err);
    shown = support_show(d);
    assert_string_equal(shown, "1 0:1 3:1;0;2 1:1;");
    free(shown);
    data_free(d);
    const uint32_t unsorted[] = {9, 9, 3, 3, 1}, beyond[] = {9, 9, 3, UINT32_MAX, 1};
    assert_null(data_copy(alone, 2, 3, start, unsorted, value, label, &err));
    assert_string_equal(err.text, "row 0: columns do not increase: 3 behind 3");
    err = (bda_error){0};
    assert_null(data_copy(alone, 2, 3, start, beyond, value, label, &err));
    assert_string_equal(err.text, "row 0: column 4294967295 is beyond 4294967294");
    err = (bda_error){0};
    const double wrong[] = {7, 7, 0.5, 0, 0.0 / 0.0};
    assert_null(data_copy(alone, 2, 3, start, column, wrong, label, &err));
    assert_memory_equal(err.text, "row 2: value ", 13);
    err = (bda_error){0};
    assert_null(data_copy(alone, 2, 0, start, column, value, label, &err));
    assert_string_equal(err.text, "the data in memory is empty: there are no instances in it");
}

/* Every fact of the rows counts: a value, a column, a label, their order. */
static void digests_tell_data_apart(void **state)
{
    (void)state;
    static const uint64_t start[] = {0, 2, 3};
    static const uint32_t columns[][3] = {{0, 2, 1}, {0, 2, 1}, {0, 2, 1}, {0, 3, 1}, {1, 2, 0}};
    static const double values[][3] = {{1, 2, 3}, {1, 2, 3.5}, {1, 2, 3}, {1, 2, 3}, {1, 2, 3}};
    static const double labels[][2] = {{1, -1}, {1, -1}, {-1, 1}, {1, -1}, {1, -1}};
    uint64_t digest[5];
    bda_error err = {0};
    for (int k = 0; k < 5; k++) {
        data *d = data_copy(alone, 2, 2, start, columns[k], values[k], labels[k], &err);
        assert_non_null(d);
        digest[k] = data_digest(alone, d, 1);
        assert_true(digest[k] == data_digest(alone, d, 3));
        for (int before = 0; before < k; before++)
            assert_true(digest[k] != digest[before]);
        data_free(d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_and_format_is_read_back),
        cmocka_unit_test(many_blocks),
        cmocka_unit_test(cut_and_altered_files),
        cmocka_unit_test(made_up_files),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(nothing_is_left_of_a_failed_write),
        cmocka_unit_test(rows_from_memory),
        cmocka_unit_test(digests_tell_data_apart),
    };
    return cmocka_run_group_tests(tests, support_open, support_close);
}
