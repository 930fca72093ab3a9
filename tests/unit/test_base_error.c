/* test_base_error.c - errors and their sentences. */
#include "base/error.h"
#include "unit/cmocka_all.h"

#include <string.h>

static void first_error_is_kept(void **state)
{
    (void)state;
    bda_error err;
    err_clear(&err);
    assert_int_equal(err.status, BDA_OK);
    assert_string_equal(err.text, "");
    assert_false(err_set(&err, BDA_USAGE, "%s has %d", "first", 1));
    assert_false(err_set(&err, BDA_FAILED, "second"));
    assert_int_equal(err.status, BDA_USAGE);
    assert_string_equal(err.text, "first has 1");
}

static void sentences_are_one_line(void **state)
{
    (void)state;
    bda_error err = {0};
    err_set(&err, BDA_FAILED, "saw '%s'", "a\nb\033[31mc\177\xc3\xa9");
    assert_string_equal(err.text, "saw 'a?b?[31mc?\xc3\xa9'");
    char controls[] = "\xc2\x9b"
                      "31m \xc2\xa9 \xc2"; /* the second is a sign of two bytes, the third is cut off */
    bda_plain_text(controls);
    assert_string_equal(controls, "??31m \xc2\xa9 \xc2");
}

static void long_sentences_are_cut(void **state)
{
    (void)state;
    bda_error err = {0};
    char text[3000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    err_set(&err, BDA_FAILED, "%s", text);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
}

static void memory_is_told_in_units(void **state)
{
    (void)state;
    static const struct {
        uint64_t bytes;
        const char *text;
    } cases[] = {{512, "out of memory: needed 512 bytes for weights"},
                 {1000, "out of memory: needed 1.0 kB for weights"},
                 {999999, "out of memory: needed 1.0 MB for weights"},
                 {1200000000, "out of memory: needed 1.2 GB for weights"},
                 {UINT64_MAX, "out of memory: needed 18.4 EB for weights"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bda_error err = {0};
        assert_false(err_memory(&err, cases[i].bytes, "weights"));
        assert_string_equal(err.text, cases[i].text);
        assert_int_equal(err.status, BDA_FAILED);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_error_is_kept), cmocka_unit_test(sentences_are_one_line),
        cmocka_unit_test(long_sentences_are_cut), cmocka_unit_test(memory_is_told_in_units)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
