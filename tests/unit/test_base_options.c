/* test_base_options.c - settings from text: what is taken, what is refused, and with which sentence. */
#include "base/options.h"
#include "unit/cmocka_all.h"

#include <math.h>
#include <string.h>

typedef struct fields {
    bool quiet;
    int64_t rounds, blocks;
    double cost, ratio, bias, time;
    char loss[OPTION_TEXT], weights[OPTION_TEXT], log[OPTION_TEXT];
} fields;

static const char *const losses[] = {"hinge", "squared-hinge", "logistic", NULL};

static const bda_option table[] = {
    {"quiet", 'q', BDA_FLAG, NULL, "0", .offset = offsetof(fields, quiet)},
    {"max-rounds", 0, BDA_INTEGER, "N", "1000", 0, 1e15, .offset = offsetof(fields, rounds)},
    {"blocks", 0, BDA_INTEGER, "K", "", 1, INFINITY, .offset = offsetof(fields, blocks)},
    {"cost", 'c', BDA_REAL, "C", "1", 0, INFINITY, .above_least = true, .offset = offsetof(fields, cost)},
    {"l1-ratio", 0, BDA_REAL, "R", "0", 0, 1, .below_most = true, .offset = offsetof(fields, ratio)},
    {"bias", 'b', BDA_REAL, "B", "-1", -INFINITY, INFINITY, .offset = offsetof(fields, bias)},
    {"max-time", 0, BDA_REAL, "S", "", 0, INFINITY, .offset = offsetof(fields, time)},
    {"loss", 'l', BDA_CHOICE, "LOSS", "", .choices = losses, .offset = offsetof(fields, loss)},
    {"class-weight", 0, BDA_TEXT, "L:W", "", .repeats = true, .offset = offsetof(fields, weights)},
    {"log", 0, BDA_TEXT, "FILE", "", .offset = offsetof(fields, log)},
    {NULL}};

static bool set(fields *f, const char *name, const char *value, bda_error *err)
{
    const bda_option *o = option_find(table, name);
    assert_non_null(o);
    return option_set(o, f, value, err);
}

static void defaults_are_those_of_the_table(void **state)
{
    (void)state;
    fields f;
    memset(&f, 255, sizeof f);
    option_defaults(table, &f);
    assert_false(f.quiet);
    assert_int_equal(f.rounds, 1000);
    assert_true(f.blocks == OPTION_UNSET);
    assert_true(f.cost == 1 && f.ratio == 0 && f.bias == -1 && isnan(f.time));
    assert_string_equal(f.loss, "");
    assert_string_equal(f.weights, "");
}

static void names_take_dashes_and_underscores(void **state)
{
    (void)state;
    assert_ptr_equal(option_find(table, "max_rounds"), option_find(table, "max-rounds"));
    assert_null(option_find(table, "max"));
    assert_null(option_find(table, "max-rounds-"));
    assert_null(option_find(table, ""));
}

static void values_are_taken(void **state)
{
    (void)state;
    bda_error err = {0};
    fields f;
    option_defaults(table, &f);
    assert_true(set(&f, "quiet", "1", &err) && f.quiet);
    assert_true(set(&f, "quiet", "0", &err) && !f.quiet);
    assert_true(set(&f, "max-rounds", "0", &err) && f.rounds == 0);
    assert_true(set(&f, "blocks", "9000000000", &err) && f.blocks == 9000000000);
    assert_true(set(&f, "cost", "1e-3", &err) && f.cost == 1e-3);
    assert_true(set(&f, "cost", ".5", &err) && f.cost == .5);
    assert_true(set(&f, "cost", "+0x1p-3", &err) && f.cost == 0.125);
    assert_true(set(&f, "l1-ratio", "0", &err) && f.ratio == 0);
    assert_true(set(&f, "bias", "-7.25", &err) && f.bias == -7.25);
    assert_true(set(&f, "loss", "logistic", &err));
    assert_string_equal(f.loss, "logistic");
    assert_true(set(&f, "log", "a", &err) && set(&f, "log", "b", &err));
    assert_string_equal(f.log, "b");
    assert_true(set(&f, "class-weight", "1:2", &err) && set(&f, "class-weight", "-1:3", &err));
    assert_string_equal(f.weights, "1:2\n-1:3");
    assert_int_equal(err.status, BDA_OK);
}

static void what_is_wrong_is_refused_in_words(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"cost", "abc", "--cost must be a number above 0, not 'abc'"},
        {"cost", "0", "--cost must be a number above 0, not '0'"},
        {"cost", "", "--cost must be a number above 0, not ''"},
        {"cost", "1x", "--cost must be a number above 0, not '1x'"},
        {"cost", " 1", "--cost must be a number above 0, not ' 1'"},
        {"cost", "1 ", "--cost must be a number above 0, not '1 '"},
        {"cost", "nan", "--cost must be a number above 0, not 'nan'"},
        {"cost", "inf", "--cost must be a number above 0, not 'inf'"},
        {"cost", "+inf", "--cost must be a number above 0, not '+inf'"},
        {"cost", "1e999", "--cost must be a number above 0, not '1e999'"},
        {"cost", "1,5", "--cost must be a number above 0, not '1,5'"},
        {"cost", "1\n2", "--cost must be a number above 0, not '1?2'"},
        {"l1-ratio", "1", "--l1-ratio must be a number of at least 0 and below 1, not '1'"},
        {"l1-ratio", "-0.1", "--l1-ratio must be a number of at least 0 and below 1, not '-0.1'"},
        {"bias", "x", "--bias must be a number, not 'x'"},
        {"max-time", "-1", "--max-time must be a number of at least 0, not '-1'"},
        {"max-rounds", "1.5", "--max-rounds must be a whole number from 0 to 1000000000000000, not '1.5'"},
        {"max-rounds", "-1", "--max-rounds must be a whole number from 0 to 1000000000000000, not '-1'"},
        {"max-rounds", "2000000000000000",
         "--max-rounds must be a whole number from 0 to 1000000000000000, not '2000000000000000'"},
        {"blocks", "0", "--blocks must be a whole number of at least 1, not '0'"},
        {"blocks", "99999999999999999999",
         "--blocks must be a whole number of at least 1, not '99999999999999999999'"},
        {"loss", "hing", "--loss must be hinge, squared-hinge or logistic, not 'hing'"},
        {"loss", "", "--loss must be hinge, squared-hinge or logistic, not ''"},
        {"quiet", "yes", "--quiet must be 0 or 1, not 'yes'"},
        {"class-weight", "a\nb", "--class-weight must be text without a newline, not 'a?b'"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bda_error err = {0};
        fields f, before;
        memset(&f, 0, sizeof f);
        option_defaults(table, &f);
        before = f;
        assert_false(set(&f, cases[i][0], cases[i][1], &err));
        assert_string_equal(err.text, cases[i][2]);
        assert_int_equal(err.status, BDA_USAGE);
        assert_memory_equal(&f, &before, sizeof f);
    }
}

static void long_values_are_refused(void **state)
{
    (void)state;
    char value[5000];
    memset(value, 'v', sizeof value);
    value[sizeof value - 1] = 0;
    fields f;
    option_defaults(table, &f);
    bda_error err = {0};
    assert_false(set(&f, "log", value, &err));
    assert_string_equal(err.text, "--log takes at most 1023 characters, not 4999");
    err_clear(&err);
    assert_false(set(&f, "cost", value, &err));
    assert_true(strlen(err.text) < 200);
    err_clear(&err);
    value[OPTION_TEXT - 1] = 0;
    assert_true(set(&f, "log", value, &err));
    value[600] = 0;
    assert_true(set(&f, "class-weight", value, &err));
    assert_false(set(&f, "class-weight", value, &err));
    assert_string_equal(err.text, "--class-weight takes at most 1023 characters in all, not 1201");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_those_of_the_table), cmocka_unit_test(names_take_dashes_and_underscores),
        cmocka_unit_test(values_are_taken), cmocka_unit_test(what_is_wrong_is_refused_in_words),
        cmocka_unit_test(long_values_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
