/* test_lbfgs.c - L-BFGS against the checker's optimum, with and without an l1 part. */
#include "base/memory.h"
#include "methods/rivals.h"
#include "unit/smooth_support.h"

static bench t;
static recorder r;

static const shape shapes[] = {
    {.loss = "squared-error", .cost = 1},
    {.loss = "logistic", .cost = 3},
    {.loss = "squared-hinge", .cost = 0.7, .factors = true},
    {.loss = "squared-epsilon-insensitive", .cost = 10},
    {.loss = "logistic", .cost = 2, .classes = CLASSES, .factors = true},
    {.loss = "logistic", .cost = 30, .spread = 2},
    {.loss = "squared-hinge", .cost = 1e-3},
    {.loss = "logistic", .cost = 1, .l1_ratio = 0.8},
    {.loss = "squared-error", .cost = 0.2, .l1_ratio = 0.5, .factors = true},
    {.loss = "logistic", .cost = 0.5, .l1_ratio = 0.7, .classes = CLASSES},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void reaches_the_optimum(void **unused)
{
    (void)unused;
    for (int i = 0; i < SHAPES; i++) {
        double w[COLUMNS * CLASSES];
        shape s = shapes[i];
        s.blocks = 3;
        bench_open(&t, &s);
        double optimum = bench_optimum(&t, w);
        train(&lbfgs, &t, &r, 1e-9, 500, 0);
        const round_report *last = &r.report[r.rounds - 1];
        assert_true(last->gap <= 1e-9 * r.report[0].gap);
        assert_true(fabs(last->primal - optimum) <= 2e-9 * r.report[0].gap);
        assert_honest(&t, &r, optimum);
        bench_close(&t);
    }
}

/* Of the elastic net: exact zeros where the checker's weights are 0, and some there are. */
static void zeros_are_zeros(void **unused)
{
    (void)unused;
    int zeros = 0;
    for (int repeat = 0; repeat < 10; repeat++) {
        double w[COLUMNS * CLASSES];
        bench_open(&t, &(const shape){.loss = "logistic", .blocks = 2, .cost = 0.3, .l1_ratio = 0.9});
        bench_optimum(&t, w);
        train(&lbfgs, &t, &r, 1e-12, 500, 0);
        for (int j = 0; j < COLUMNS; j++) {
            assert_true(fabs(r.w[j] - w[j]) <= 1e-4);
            assert_true(w[j] != 0 || r.w[j] == 0);
            zeros += w[j] == 0;
        }
        bench_close(&t);
    }
    assert_true(zeros > 0 && zeros < 10 * COLUMNS);
}

static void remembers_what_helps(void **unused)
{
    (void)unused;
    bench_open(&t, &(const shape){.loss = "logistic", .blocks = 2, .cost = 1000, .spread = 2});
    uint64_t one = train(&lbfgs, &t, &r, 1e-10, 500, 1), five = train(&lbfgs, &t, &r, 1e-10, 500, 5);
    assert_true(five < one && one < 500);
    bench_close(&t);
}

static void rounds_do_not_depend_on_the_blocks(void **unused)
{
    (void)unused;
    for (int i = 0; i < SHAPES; i++)
        expect_same_rounds(&lbfgs, shapes[i], 500);
}

/* A gap that no double can show: it says so instead of going on for ever. */
static void stalls_at_the_precision(void **unused)
{
    (void)unused;
    for (int i = 0; i < 2; i++) {
        bench_open(&t, &(const shape){.loss = "logistic", .blocks = 2, .cost = 5, .l1_ratio = 0.5 * i});
        train(&lbfgs, &t, &r, 0, MOST_ROUNDS, 0);
        const round_report *last = &r.report[r.rounds - 1];
        assert_true(last->stalled || last->gap == 0);
        assert_true(last->gap <= (i ? 1e-13 : 1e-20) * r.report[0].gap);
        bench_close(&t);
    }
}

static void no_memory(void **unused)
{
    (void)unused;
    expect_memory_refused(&lbfgs, &(const shape){.loss = "logistic", .blocks = 3, .cost = 1, .l1_ratio = 0.2});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reaches_the_optimum),     cmocka_unit_test(zeros_are_zeros),
        cmocka_unit_test(remembers_what_helps),    cmocka_unit_test(rounds_do_not_depend_on_the_blocks),
        cmocka_unit_test(stalls_at_the_precision), cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
