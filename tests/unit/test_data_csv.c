/* test_data_csv.c - tables: what becomes which feature, what is refused and with which words, and the schema's way into
 * a file and back. Sums of means are exact. */
#include "base/exact_sum.h"
#include "base/random.h"
#include "data/schema.h"
#include "unit/cmocka_all.h"
#include "unit/data_support.h"

#include <math.h>

static data *read_table(const char *text, size_t length, const table_request *table, bool may_lack, bda_error *err)
{
    support_write("t", text, length);
    data_request request = {.path = "t", .table = table, .may_lack_labels = may_lack, .blocks = 1, .threads = 1};
    data *d = data_read(alone, &request, err);
    unlink("t");
    return d;
}

/* As support_show, with names of labels. */
static char *show(const data *d)
{
    char *text;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    for (uint64_t i = 0; i < d->rows.count; i++) {
        if (d->target.class && !d->labels.number)
            fputs(d->labels.name[d->target.class[i]], to);
        else
            fprintf(to, "%.17g", d->target.real[i]);
        for (uint64_t k = d->rows.start[i]; k < d->rows.start[i + 1]; k++)
            fprintf(to, " %u:%.17g", support_column(&d->rows, k), support_value(&d->rows, i, k));
        fputc(';', to);
    }
    fclose(to);
    return text;
}

static void check(const char *text, schema_missing missing, const char *expected, const char *features)
{
    bda_error err = {0};
    const table_request table = {.separator = strchr(text, '\t') ? '\t' : ',', .label = "y", .missing = (int)missing};
    data *d = read_table(text, strlen(text), &table, false, &err);
    if (!d)
        fail_msg("'%s': %s", text, err.text);
    char *seen = show(d), names[1000] = "", name[100];
    for (uint64_t j = 0; j < d->schema->features; j++) {
        schema_feature(d->schema, j, name, sizeof name);
        strcat(strcat(names, name), " ");
    }
    assert_string_equal(seen, expected);
    assert_string_equal(names, features);
    assert_int_equal(d->features, d->schema->features);
    free(seen);
    data_free(d);
}

static void good_tables(void **state)
{
    (void)state;
    check("y,a,b\n1,2,3\n-1,0,1e1\n", SCHEMA_REFUSE, "1 0:2 1:3;-1 1:10;", "a b ");
    check("\xef\xbb\xbfy,a\r\n1,2\r\n\r\n\n2,5", SCHEMA_REFUSE, "1 0:2;2 0:5;", "a ");
    check("a\ty\n-.5\tno\n 2 \tyes\n", SCHEMA_REFUSE, "no 0:-0.5;yes 0:2;", "a ");
    check("a,c,y,b\n1,red,0,4\n2,blue,1,5\n3,red,1,0\n", SCHEMA_REFUSE, "0 0:1 2:1 3:4;1 0:2 1:1 3:5;1 0:3 2:1;",
          "a c=blue c=red b ");
    check("c,y\n\"a,\"\"b\"\"\",1\n\"\",2\n\"3\",3\n", SCHEMA_ZERO, "1 1:1;2;3 0:1;", "c=3 c=a,\"b\" ");
    check("a,y\n1,1\n,2\n6,3\n", SCHEMA_ZERO, "1 0:1;2;3 0:6;", "a ");
    check("a,c,y\n1,u,1\n,,2\n6,v,3\n", SCHEMA_MEAN, "1 0:1 1:1;2 0:3.5;3 0:6 2:1;", "a c=u c=v ");
    check("a,b,y\n,1,1\n,2,2\n", SCHEMA_MEAN, "1 1:1;2 1:2;", "a b ");
    check("\"y\",\"a \"\"x\"\"\"\n\"1\",\"2\"\n", SCHEMA_REFUSE, "1 0:2;", "a \"x\" ");
    check("y\n1\n2\n", SCHEMA_REFUSE, "1;2;", "");
    check("a,y\n1e999,1\n2,2\n", SCHEMA_REFUSE, "1 0:1;2 1:1;", "a=1e999 a=2 ");
}

static void bad_tables(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "t: is empty; a table begins with a header"},
        {"y,a\n", "t is empty: there are no instances in it"},
        {"a,b\n1,2\n", "t, line 1: there is no column 'y', which --label names"},
        {"y,a,a\n1,2,3\n", "t, line 1: two columns have the name 'a'"},
        {"y,a,y\n1,2,3\n", "t, line 1: two columns have the name 'y'"},
        {"y,a\n1,2\n\n1\n", "t, line 4: has 1 cells instead of the 2 of the header"},
        {"y,a\n1,2,3\n", "t, line 2: has 3 cells instead of the 2 of the header"},
        {"y,a\n1,2\n1,\n",
         "t, line 3: the cell of column 'a' is empty; --missing=zero or --missing=mean accepts that"},
        {"y,a\n1,2\n,3\n", "t, line 3: the label is missing"},
        {"y,a\n1,\"2\n\"\n",
         "t, line 2: a cell in quotes does not end on its line; line breaks within quotes are not supported"},
        {"y,a\n1,\"2\"3\n", "t, line 2: text behind the closing quote of cell 2"},
        {"y,a\n1,2\"3\n",
         "t, line 2: a quote within cell 2; such a cell begins and ends with a quote, and has it doubled"},
    };
    const table_request table = {.separator = ',', .label = "y"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bda_error err = {0};
        assert_null(read_table(cases[i].text, strlen(cases[i].text), &table, false, &err));
        assert_string_equal(err.text, cases[i].message);
    }
    bda_error err = {0};
    assert_null(read_table("y,a\n1,\0002\n", 9, &table, false, &err));
    assert_string_equal(err.text, "t, line 2: a NUL byte; this is no table");
}

/* The columns of training are found by name; texts that it did not see have no feature; labels may lack. */
static void columns_by_name(void **state)
{
    (void)state;
    bda_error err = {0};
    const char *learned = "a,c,y,b\n1,red,yes,4\n2,blue,no,5\n,red,yes,6\n";
    const table_request table = {.separator = ',', .label = "y", .missing = SCHEMA_MEAN};
    data *d = read_table(learned, strlen(learned), &table, false, &err);
    assert_non_null(d);
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"b,extra,c,a\n7,x,red,3\n8,,green,\n", "0 0:3 2:1 3:7;0 0:1.5 3:8;"},
        {"b,y,c,a\n7,no,blue,3\n0,maybe,red,1\n", "no 0:3 1:1 3:7;maybe 0:1 2:1;"},
        {"b,y,c,a\n7,,blue,3\n", "0 0:3 1:1 3:7;"},
        {"b,y,c,a\n7,,blue,3\n7,yes,blue,3\n",
         "t: 1 of the 2 instances have no label; give all of them one, or none"},
        {"b,y,c\n7,,blue\n", "t, line 1: the header has no column 'a'"},
        {"b,y,c,a\n7,yes,blue,x\n", "t, line 2: 'x' in column 'a' is not a number"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        err = (bda_error){0};
        const table_request known = {.schema = d->schema};
        data *other = read_table(cases[i].text, strlen(cases[i].text), &known, true, &err);
        char *seen = other ? show(other) : strdup(err.text);
        assert_string_equal(seen, cases[i].expected);
        free(seen);
        data_free(other);
    }
    data_free(d);
}

/* The files of a data set have the same columns, in any order. */
static void several_tables(void **state)
{
    (void)state;
    bda_error err = {0};
    const char *const others[] = {"u"};
    const table_request table = {.separator = ',', .label = "y"};
    const data_request request = {
        .path = "t", .others = others, .other_count = 1, .table = &table, .blocks = 1, .threads = 2};
    support_write("t", "a,y,c\n1,1,p\n", 12);
    support_write("u", "c,y,a\nq,2,3\n", 12);
    data *d = data_read(alone, &request, &err);
    assert_non_null(d);
    char *seen = show(d);
    assert_string_equal(seen, "1 0:1 1:1;2 0:3 2:1;");
    free(seen);
    data_free(d);
    support_write("u", "c,y,a,d\nq,2,3,4\n", 16);
    assert_null(data_read(alone, &request, &err));
    assert_string_equal(err.text, "u, line 1: column 'd' is not in the header of the first file");
    unlink("t");
    unlink("u");
}

static void memory_may_run_out(void **state)
{
    (void)state;
    const char *text = "a,c,y,b\n1,red,yes,4\n2,blue,no,5\n,red,yes,6\n";
    const table_request table = {.separator = ',', .label = "y", .missing = SCHEMA_MEAN};
    bool done = false;
    for (uint64_t k = 1; !done; k++) {
        bda_error err = {0};
        mem_fail_at(k);
        data *d = read_table(text, strlen(text), &table, false, &err);
        mem_fail_at(0);
        done = d != NULL;
        assert_true(d || strstr(err.text, "out of memory"));
        data_free(d);
        assert_true(k < 1000);
    }
}

/* Bytes that were cut off or changed are refused, or make another sound schema. */
static void damaged_schemas(void **state)
{
    (void)state;
    bda_error err = {0};
    const char *text = "a,c,y\n1,red,1\n2,blue,2\n";
    const table_request table = {.separator = ',', .label = "y"};
    data *d = read_table(text, strlen(text), &table, false, &err);
    bytes packed = {0}, again = {0};
    schema_pack(d->schema, &packed);
    data_schema s;
    byte_reader r = {packed.at, packed.count, false};
    assert_true(schema_unpack(&s, &r, &err));
    schema_pack(&s, &again);
    assert_int_equal(again.count, packed.count);
    assert_memory_equal(again.at, packed.at, packed.count);
    schema_free(&s);
    for (uint64_t length = 0; length < packed.count; length++) {
        r = (byte_reader){packed.at, length, false};
        assert_false(schema_unpack(&s, &r, &err));
    }
    for (uint64_t k = 0; k < packed.count; k++) {
        packed.at[k] ^= 0xFF;
        r = (byte_reader){packed.at, packed.count, false};
        if (schema_unpack(&s, &r, &err))
            schema_free(&s);
        packed.at[k] ^= 0xFF;
    }
    bytes_free(&packed);
    bytes_free(&again);
    data_free(d);
}

/* In any order and grouping, and against numbers whose sum is known. */
static void sums_are_exact(void **state)
{
    (void)state;
    rng r;
    rng_open(&r, 5, 0, 0);
    for (int i = 0; i < 300; i++) {
        double x[40];
        exact_sum forth = {0}, back = {0}, half = {0};
        for (int k = 0; k < 40; k++)
            x[k] = ldexp(rng_normal(&r), (int)rng_below(&r, 2000) - 1050);
        for (int k = 0; k < 40; k++) {
            exact_add(&forth, x[k]);
            exact_add(k < 20 ? &back : &half, x[39 - k]);
        }
        exact_join(&back, &half);
        const double sum = exact_value(&forth);
        assert_true(sum == exact_value(&back));
        for (int k = 0; k < 39; k++)
            exact_add(&forth, -x[k]);
        assert_true(exact_value(&forth) == x[39]);
    }
    exact_sum s = {0};
    const double huge = 1e308, tiny = 4.9e-324;
    exact_add(&s, huge);
    exact_add(&s, tiny);
    exact_add(&s, -huge);
    assert_true(exact_value(&s) == tiny);
    exact_add(&s, huge);
    exact_add(&s, huge);
    assert_true(isinf(exact_value(&s)));
    exact_add(&s, -huge);
    assert_true(exact_value(&s) == huge);
    exact_sum tie = {0}; /* 1 + 2^-53 is a tie, and a bit more is not */
    exact_add(&tie, 1);
    exact_add(&tie, ldexp(1, -53));
    assert_true(exact_value(&tie) == 1);
    exact_add(&tie, ldexp(1, -300));
    assert_true(exact_value(&tie) == 1 + ldexp(1, -52));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_tables),    cmocka_unit_test(bad_tables),      cmocka_unit_test(columns_by_name),
        cmocka_unit_test(several_tables), cmocka_unit_test(damaged_schemas), cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(sums_are_exact),
    };
    return cmocka_run_group_tests(tests, support_open, support_close);
}
