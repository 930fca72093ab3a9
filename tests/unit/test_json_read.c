/* test_json_read.c - JSON as a log has it, as it may be broken, and what is written comes back. */
#include "base/json_read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "unit/cmocka_all.h"

/* What is wrong with the text; NULL: nothing. */
static const char *judge(const char *text)
{
    char copy[4096];
    json_reader r;
    json_member m;
    snprintf(copy, sizeof copy, "%s", text);
    json_begin(&r, copy);
    while (json_next(&r, &m))
        continue;
    return r.wrong;
}

static void members_come_in_order(void **state)
{
    (void)state;
    char text[] = " { \"a\" : -1.5e2 , "
                  "\"b\\u0041\":\"x\\n\\\"\\u00e9\\ud83d\\ude00\",\"c\":null,\"d\":true,\"e\":[1,{\"f\":[]}],"
                  "\"g\":false}\n";
    json_reader r;
    json_member m;
    json_begin(&r, text);
    assert_true(json_next(&r, &m));
    assert_string_equal(m.name, "a");
    assert_int_equal(m.type, JSON_NUMBER);
    assert_true(m.number == -150);
    assert_int_equal(m.length, 6);
    assert_true(json_next(&r, &m));
    assert_string_equal(m.name, "bA");
    assert_int_equal(m.type, JSON_STRING);
    assert_string_equal(m.text, "x\n\"\xc3\xa9\xf0\x9f\x98\x80");
    static const json_type rest[] = {JSON_NULL, JSON_TRUE, JSON_NESTED, JSON_FALSE};
    for (int i = 0; i < 4; i++) {
        assert_true(json_next(&r, &m));
        assert_int_equal(m.type, rest[i]);
    }
    assert_false(json_next(&r, &m));
    assert_null(r.wrong);
}

static void what_is_no_json_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "[]",
        "{",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{\"a\":1 \"b\":2}",
        "{\"a\":01}",
        "{\"a\":1.}",
        "{\"a\":.5}",
        "{\"a\":1e}",
        "{\"a\":+1}",
        "{\"a\":-}",
        "{\"a\":nul}",
        "{\"a\":NaN}",
        "{\"a\":\"x}",
        "{\"a\":\"\\x\"}",
        "{\"a\":\"\\u12\"}",
        "{\"a\":\"\\u0000\"}",
        "{\"a\":\"\\ud800\"}",
        "{\"a\":\"\\udc00\\ud800\"}",
        "{\"a\":\"tab\there\"}",
        "{\"a\":[1,]}",
        "{\"a\":[1 2]}",
        "{\"a\":{\"b\":1,}}",
        "{\"a\":1}}",
        "{\"a\":1}{",
        "{a:1}",
        "{'a':1}",
        "{\"a\":[}",
        "{\"a\":0x10}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (!judge(bad[i]))
            fail_msg("was taken: %s", bad[i]);
    static const char *const good[] = {"{}",
                                       " {} ",
                                       "{\"a\":0}",
                                       "{\"a\":-0.0e-5}",
                                       "{\"a\":[]}",
                                       "{\"\":{}}",
                                       "{\"a\":[[1,\"x\"],{\"b\":null}]}\r\n"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (judge(good[i]))
            fail_msg("was refused: %s", good[i]);
}

static void deep_nesting_is_refused(void **state)
{
    (void)state;
    char text[400] = "{\"a\":";
    for (int i = 0; i < 100; i++)
        strcat(text, "[");
    assert_non_null(judge(text));
}

static void what_was_written_comes_back(void **state)
{
    (void)state;
    char path[] = "/tmp/bda-json-XXXXXX", text[1000] = "";
    bda_error err = {0};
    close(mkstemp(path));
    output *out = out_open(path, &err);
    assert_non_null(out);
    json j;
    json_open(&j, out);
    json_real(&j, "x", 0.1);
    json_enter(&j, "list", '[');
    json_text(&j, NULL, "a </script>");
    json_enter(&j, NULL, '{');
    json_real(&j, "nan", NAN);
    json_leave(&j, '{');
    json_leave(&j, '[');
    j.digits = 3;
    json_real(&j, "short", 2.0 / 3);
    json_close(&j);
    assert_true(out_commit(out, &err));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    unlink(path);
    assert_string_equal(
        text, "{\"x\":0.10000000000000001,\"list\":[\"a \\u003c/script>\",{\"nan\":null}],\"short\":0.667}\n");
    assert_null(judge(text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_come_in_order),
        cmocka_unit_test(what_is_no_json_is_refused),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(what_was_written_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
