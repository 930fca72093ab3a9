/* test_data_builder.c - rows that are added, cut and joined in any order are those of a plain list that went through
 * the same, in the smallest form; those that can stay where they are do; and memory that runs out breaks nothing. */
#include "checker/draw.h"
#include "data/builder.h"
#include "unit/cmocka_all.h"
#include "unit/data_support.h"

enum { MOST_ROWS = 4000, MOST_CELLS = 5, STEPS = 400 };

typedef struct row {
    double label;
    uint64_t cells;
    uint32_t column[MOST_CELLS];
    double value[MOST_CELLS];
} row;

typedef struct list {
    uint64_t count;
    row at[MOST_ROWS];
} list;

static uint64_t below(uint64_t limit)
{
    return (uint64_t)uniform(0, (double)limit) % limit;
}

/* A value that needs the form, or a lesser one. */
static double draw_value(rows_form form, double of_row)
{
    return form == ROWS_ONES ? 1 : form == ROWS_CONSTANT ? of_row : form == ROWS_FLOAT ? 0.5 : 0.1;
}

static row draw_row(rows_form form)
{
    row r = {.label = uniform(-1, 1), .cells = below(MOST_CELLS + 1)};
    for (uint64_t k = 0; k < r.cells; k++) {
        r.column[k] = (uint32_t)(10 * k + below(10));
        r.value[k] = k % 2 > 0 ? 1 : draw_value(form, 1);
    }
    for (uint64_t k = 0; form == ROWS_CONSTANT && k < r.cells; k++)
        r.value[k] = r.label;
    return r;
}

/* `count` rows into both. */
static void add(builder *b, list *l, uint64_t count, rows_form form)
{
    bda_error err = {0};
    assert_true(builder_reserve(b, count, count * MOST_CELLS, &err));
    for (uint64_t i = 0; i < count; i++) {
        row r = draw_row(form);
        assert_true(builder_add(b, r.label, r.column, form == ROWS_ONES ? NULL : r.value, r.cells, &err));
        l->at[l->count++] = r;
    }
}

static void cut_list(list *l, uint64_t first, uint64_t end)
{
    memmove(l->at, l->at + first, (end - first) * sizeof *l->at);
    l->count = end - first;
}

static void join_lists(list *l, const list *other, bool front)
{
    if (front)
        memmove(l->at + other->count, l->at, l->count * sizeof *l->at);
    memcpy(l->at + (front ? 0 : l->count), other->at, other->count * sizeof *l->at);
    l->count += other->count;
}

static void compare(const builder *b, const list *l)
{
    assert_int_equal(b->count, l->count);
    assert_true(b->form == builder_form(b->facts));
    rows r = {.form = b->form,
              .count = b->count,
              .start = b->start,
              .column = b->column,
              .pair = b->pair,
              .value = b->value};
    uint64_t before = 0;
    for (uint64_t i = 0; i < l->count; i++) {
        assert_int_equal(b->start[i], before);
        assert_true(b->label[i] == l->at[i].label);
        for (uint64_t k = 0; k < l->at[i].cells; k++) {
            assert_int_equal(support_column(&r, before + k), l->at[i].column[k]);
            assert_true(support_value(&r, i, before + k) == l->at[i].value[k]);
        }
        before += l->at[i].cells;
    }
    assert_int_equal(b->cells, before);
    if (b->start)
        assert_int_equal(b->start[l->count], before);
}

static void step(builder *b, list *l, list *other, rows_form form)
{
    bda_error err = {0};
    uint64_t what = below(4), few = 1 + below(20);
    if (what == 0) {
        add(b, l, few, form);
    } else if (what == 1 && l->count > 0) {
        uint64_t first = below(l->count + 1) / (1 + below(100)), end = l->count - below(l->count - first + 1) / few;
        builder_cut(b, first, end);
        cut_list(l, first, end);
    } else if (what > 1) {
        builder joined = {.gap_rows = below(9), .gap_cells = below(9)};
        other->count = 0;
        if (few > 1)
            add(&joined, other, few * below(10), form);
        assert_true(builder_join(b, &joined, what == 2, &err));
        assert_null(joined.start);
        join_lists(l, other, what == 2);
    }
}

/* The form of what is drawn rises on the way. */
static void any_order(void **state)
{
    (void)state;
    list *l = calloc(1, sizeof *l), *other = calloc(1, sizeof *other);
    assert_true(l && other);
    for (int trial = 0; trial < 40; trial++) {
        bda_error err = {0};
        builder b = {.gap_rows = below(2) * below(100), .gap_cells = below(2) * below(500)};
        rows_form last = (rows_form)below(4);
        l->count = 0;
        for (int i = 0; i < STEPS; i++) {
            rows_form form = i < STEPS / 2 ? (rows_form)below((uint64_t)last + 1) : last;
            if (l->count > MOST_ROWS / 2) {
                builder_cut(&b, l->count / 2, l->count);
                cut_list(l, l->count / 2, l->count);
            }
            step(&b, l, other, form);
            compare(&b, l);
        }
        assert_true(builder_fit(&b, &err) && b.start);
        compare(&b, l);
        builder_free(&b);
    }
    free(l);
    free(other);
}

static const void *cells_of(const builder *b, uint64_t k)
{
    return b->form == ROWS_FLOAT ? (const void *)(b->pair + k) : (const void *)(b->column + k);
}

/* A few rows dropped at the front, or put where they were, move no others; nor do rows that find a gap. */
static void rows_stay(void **state)
{
    (void)state;
    list *l = calloc(1, sizeof *l), *other = calloc(1, sizeof *other);
    assert_true(l && other);
    for (int f = ROWS_ONES; f <= ROWS_DOUBLE; f++) {
        rows_form form = (rows_form)f;
        bda_error err = {0};
        builder b = {.gap_rows = 30, .gap_cells = 30 * MOST_CELLS}, front = {0};
        l->count = other->count = 0;
        add(&b, l, 2000, form);
        add(&front, other, 20, form);
        const void *first = cells_of(&b, 0), *later = cells_of(&b, b.start[5]);
        assert_true(builder_join(&b, &front, true, &err));
        join_lists(l, other, true);
        assert_ptr_equal(cells_of(&b, b.start[20]), first);
        compare(&b, l);
        uint64_t bytes = builder_bytes(&b);
        builder_cut(&b, 25, 2000);
        cut_list(l, 25, 2000);
        assert_ptr_equal(cells_of(&b, 0), later);
        assert_true(builder_bytes(&b) < bytes);
        compare(&b, l);
        builder_cut(&b, 1000, 1970); /* many: their memory is used again */
        cut_list(l, 1000, 1970);
        assert_ptr_equal(cells_of(&b, 0), later);
        compare(&b, l);
        builder_free(&b);
    }
    free(l);
    free(other);
}

/* Rows of one form before rows of another; what is there when memory runs out is still there. */
static bool join_short(void *what, bda_error *err)
{
    rows_form *form = what;
    const uint32_t column[] = {1, 2};
    const double value[][2] = {{1, 1}, {3, 3}, {1, 0.5}, {0.1, 3}};
    builder b = {.gap_rows = 1}, front = {0};
    bool ok = builder_reserve(&b, 1, 2, err) && builder_add(&b, 1, column, value[form[0]], 2, err) &&
              builder_reserve(&front, 2, 4, err) && builder_add(&front, 2, column, value[form[1]], 2, err) &&
              builder_add(&front, 3, column, value[form[1]], 2, err) && builder_join(&b, &front, true, err) &&
              builder_fit(&b, err);
    if (ok) {
        assert_true(b.count == 3 && b.cells == 6 && b.label[0] == 2 && b.label[1] == 3 && b.label[2] == 1);
        assert_int_equal(b.form, form[0] > form[1] ? form[0] : form[1]);
    } else if (b.count > 0) {
        assert_true(b.count == 1 && b.cells == 2 && b.start[1] == 2 && b.label[0] == 1);
    }
    builder_free(&b);
    builder_free(&front);
    return ok;
}

static void memory_runs_out(void **state)
{
    (void)state;
    for (int first = ROWS_ONES; first <= ROWS_DOUBLE; first++)
        for (int second = ROWS_ONES; second <= ROWS_DOUBLE; second++)
            assert_true(support_run_short(join_short, (rows_form[]){(rows_form)first, (rows_form)second}) > 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_order), cmocka_unit_test(rows_stay),
                                       cmocka_unit_test(memory_runs_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
