/* fold_support.h - rows of which many features are in one row only, as they were made and folded, for the tests of
 * src/data/fold.c and src/problem/pool.c. */
#ifndef FOLD_SUPPORT_H
#define FOLD_SUPPORT_H

#include "data/fold.h"
#include "problem/problem.h"
#include "unit/cmocka_all.h"
#include "unit/data_support.h"
#include "unit/draw_value.h"

enum {
    ROWS = 300,
    FEATURES = 12400,
    SHARED = 9000, /* features of several rows */
    SINGLE = 3200, /* of one row; the others are in none */
    MOST_CELLS = 40000,
    FOLDED = SHARED + ROWS /* columns, without the constant feature */
};

/* The rows as they were made, and the problem with its folded rows, spread out. */
typedef struct bench {
    uint64_t start[ROWS + 1];
    uint32_t column[MOST_CELLS];
    double value[MOST_CELLS], label[ROWS];
    uint32_t frequency[FEATURES];
    double x[ROWS][FEATURES];
    double y[ROWS][FOLDED + 1];
    data *d;
    problem p;
} bench;

static bench b;

/* ---- data ---------------------------------------------------------------------------------------------------- */

static inline bool is_empty(uint64_t i)
{
    return i == 0 || i % 50 == 49; /* the first and the last among them */
}

static inline bool has_single(uint64_t i)
{
    return !is_empty(i) && i % 5 != 3;
}

/* Of the features, in a shuffled order, the first `shared` are in two rows or more, the next `single` in one. */
static inline void draw_rows(rows_form form, uint64_t features, uint64_t shared, uint64_t single)
{
    memset(&b, 0, sizeof b);
    state = 11 + (uint64_t)form;
    for (uint64_t j = 0; j < features; j++) {
        const uint64_t order = j * 7919 % features; /* a prime that divides none of the numbers of features */
        uint64_t times = order < shared ? 2 + 200 / (order + 2) : order < shared + single;
        while (times > 0) {
            const uint64_t i = (uint64_t)uniform(0, ROWS);
            if (b.x[i][j] != 0 || is_empty(i) || (order >= shared && !has_single(i)))
                continue;
            b.x[i][j] = draw_value(form, i);
            b.frequency[j]++;
            times--;
        }
    }
    uint64_t cells = 0;
    for (uint64_t i = 0; i < ROWS; i++) {
        for (uint32_t j = 0; j < features; j++)
            if (b.x[i][j] != 0) {
                assert_true(cells < MOST_CELLS);
                b.column[cells] = j;
                b.value[cells++] = b.x[i][j];
            }
        b.start[i + 1] = cells;
    }
}

static inline void copy_data(uint64_t labels, uint64_t blocks)
{
    bda_error err = {0};
    for (uint64_t i = 0; i < ROWS; i++)
        b.label[i] = (double)(i * 31 % labels);
    b.d = data_copy(alone, blocks, ROWS, b.start, b.column, b.value, b.label, &err);
    assert_non_null(b.d);
}

static inline problem_request request_for(const char *loss, double bias)
{
    return (problem_request){.loss = loss_find(loss), .cost = 0.7, .epsilon = 0.1, .bias = bias, .threads = 2};
}

/* The folded rows, one dense row after the other. */
static inline void spread_out(void)
{
    const rows *r = &b.p.rows;
    for (uint64_t i = 0; i < ROWS; i++) {
        for (uint64_t k = r->start[i]; k < r->start[i + 1]; k++) {
            assert_true(support_column(r, k) < SHARED && b.y[i][support_column(r, k)] == 0);
            b.y[i][support_column(r, k)] = support_value(r, i, k);
        }
        b.y[i][r->own_first + i] = r->own[i];
        b.y[i][FOLDED] = r->bias;
    }
}

static inline void open_with(const char *loss, rows_form form, uint64_t labels, double bias, uint64_t blocks)
{
    bda_error err = {0};
    draw_rows(form, FEATURES, SHARED, SINGLE);
    copy_data(labels, blocks);
    assert_int_equal(b.d->rows.form, form);
    assert_int_equal(b.d->features, FEATURES);
    const problem_request request = request_for(loss, bias);
    assert_true(problem_open(&b.p, alone, b.d, &request, &err));
    assert_true(b.p.fold.folded);
    assert_int_equal(b.p.rows.columns, FOLDED + (bias >= 0));
    assert_int_equal(b.p.n, b.p.rows.columns * (labels > 2 ? labels : 1));
    spread_out();
}

static inline void open_bench(rows_form form, uint64_t labels, double bias, uint64_t blocks)
{
    open_with("logistic", form, labels, bias, blocks);
}

static inline void close_bench(void)
{
    problem_close(&b.p);
    data_free(b.d);
}

#endif
