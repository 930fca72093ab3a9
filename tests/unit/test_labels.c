/* test_labels.c - tables of labels: what is found in them, what two of them have in common, and names that ranks
 * agree on; all of it also where memory runs out. */
#include "unit/cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/names.h"
#include "unit/data_support.h"

static void every_label_is_found(void **state)
{
    (void)state;
    bda_error err = {0};
    for (uint64_t count = 0; count < 40; count++) {
        arena memory = {0};
        double number[40] = {0};
        for (uint64_t k = 0; k < count; k++)
            number[k] = 2.5 * (double)k - 7;
        label_table t, named;
        assert_true(label_table_make(&t, count, NULL, number, &memory, &err));
        assert_true(t.count == count);
        for (uint64_t k = 0; k < count; k++) {
            assert_int_equal(label_of_number(&t, number[k]), k);
            assert_int_equal(label_of_number(&t, number[k] + 1), LABEL_NONE);
            assert_true(strtod(t.name[k], NULL) == number[k]);
        }
        char text[40][4];
        const char *name[40];
        for (uint64_t k = 0; k < count; k++) {
            snprintf(text[k], sizeof text[k], "%c%c", (char)('a' + k / 6), (char)('a' + k % 6));
            name[k] = text[k];
        }
        assert_true(label_table_make(&named, count, name, NULL, &memory, &err) && !named.number);
        for (uint64_t k = 0; k < count; k++)
            assert_int_equal(label_of_name(&named, name[k]), k);
        assert_int_equal(label_of_name(&named, "a"), LABEL_NONE);
        assert_int_equal(label_of_name(&named, "zz"), LABEL_NONE);
        arena_free(&memory);
    }
}

static void two_tables_are_matched(void **state)
{
    (void)state;
    const double small[] = {1, 2, 7}, large[] = {0, 1, 2, 3, 4, 5, 6, 7, 8}, positive_first[] = {7, 1};
    const char *words[] = {"1", "a", "b"}, *others[] = {"b", "c"};
    const label_table a = {3, NULL, small}, b = {9, NULL, large}, two = {2, NULL, positive_first};
    const label_table n = {3, words, NULL}, o = {2, others, NULL};
    const char *names[] = {"1", "2", "7"};
    const label_table numbered = {3, names, small};
    uint32_t class[9];
    label_match(&a, &b, class);
    assert_true(class[0] == 1 && class[1] == 2 && class[2] == 7);
    label_match(&a, &two, class);
    assert_true(class[0] == 1 && class[1] == LABEL_NONE && class[2] == 0);
    label_match(&n, &o, class);
    assert_true(class[0] == LABEL_NONE && class[1] == LABEL_NONE && class[2] == 0);
    label_match(&numbered, &n, class); /* the number 1 has the name "1" */
    assert_true(class[0] == 0 && class[1] == LABEL_NONE);
    label_match(&n, &numbered, class); /* a name is not a number, whatever it looks like */
    assert_true(class[0] == LABEL_NONE && class[1] == LABEL_NONE);
}

static bool agree_on_names(void *what, bda_error *err)
{
    (void)what;
    name_set s = {0};
    arena memory = {0};
    label_table table;
    uint32_t class[300], number = 0;
    char name[8];
    bool ok = true;
    for (int i = 0; ok && i < 600; i++) { /* each twice */
        int length = snprintf(name, sizeof name, "%d", i * 7 % 300);
        ok = names_add(&s, name, (uint64_t)length, &number, err);
        if (ok)
            assert_string_equal(s.name[number], name);
    }
    ok = ok && names_agree(alone, &s, 300, &table, class, &memory, err);
    if (ok) {
        assert_true(table.count == 300 && s.count == 300);
        for (uint32_t k = 0; k < 300; k++)
            assert_string_equal(table.name[class[k]], s.name[k]);
    }
    names_free(&s);
    arena_free(&memory);
    return ok;
}

static void names_become_a_table(void **state)
{
    (void)state;
    assert_true(support_run_short(agree_on_names, NULL) > 5);
    bda_error err = {0};
    name_set s = {0};
    arena memory = {0};
    label_table table;
    uint32_t class[3], number;
    for (int i = 0; i < 3; i++)
        assert_true(names_add(&s, i == 0 ? "x" : i == 1 ? "xy" : "", (uint64_t)(i == 2 ? 0 : i + 1), &number, &err));
    assert_false(names_agree(alone, &s, 2, &table, class, &memory, &err));
    assert_non_null(strstr(err.text, "more than 2 distinct labels"));
    names_free(&s);
    arena_free(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_label_is_found),
        cmocka_unit_test(two_tables_are_matched),
        cmocka_unit_test(names_become_a_table),
    };
    return cmocka_run_group_tests(tests, support_open, support_close);
}
