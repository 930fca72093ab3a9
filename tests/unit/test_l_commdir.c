/* test_l_commdir.c - the common-directions method against the checker's optimum, and what its authors would
 * recognise: on a quadratic it ends in as many rounds as there are dimensions. */
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
        train(&l_commdir, &t, &r, 1e-9, 300, 0);
        const round_report *last = &r.report[r.rounds - 1];
        assert_true(last->gap <= 1e-9 * r.report[0].gap);
        assert_true(fabs(last->primal - optimum) <= 2e-9 * r.report[0].gap);
        assert_honest(&t, &r, optimum);
        bench_close(&t);
    }
}

/* In n dimensions n rounds end it, with all of the past as with the last step alone (conjugate gradients), and not
 * before: the gap still stands after n - 2. */
static void ends_a_quadratic_in_n_rounds(void **unused)
{
    (void)unused;
    for (int64_t history = 1; history <= 11; history += 5) {
        bench_open(&t, &(const shape){.loss = "squared-error", .blocks = 2, .cost = 2, .spread = 1});
        train(&l_commdir, &t, &r, 1e-20, COLUMNS, history);
        double first = r.report[0].gap;
        assert_int_equal(r.rounds, COLUMNS + 1);
        assert_true(r.report[COLUMNS].gap <= 1e-18 * first);
        assert_true(r.report[COLUMNS - 2].gap >= 1e-9 * first);
        bench_close(&t);
    }
}

static void remembers_what_helps(void **unused)
{
    (void)unused;
    bench_open(&t, &(const shape){.loss = "logistic", .blocks = 2, .cost = 1000, .spread = 2});
    uint64_t one = train(&l_commdir, &t, &r, 1e-10, 500, 1), three = train(&l_commdir, &t, &r, 1e-10, 500, 3);
    assert_true(three < one && one < 500);
    bench_close(&t);
}

static void rounds_do_not_depend_on_the_blocks(void **unused)
{
    (void)unused;
    for (int i = 0; i < SHAPES; i++)
        expect_same_rounds(&l_commdir, shapes[i], 300);
}

/* A gap that no double can show: it says so instead of going on for ever. */
static void stalls_at_the_precision(void **unused)
{
    (void)unused;
    bench_open(&t, &(const shape){.loss = "logistic", .blocks = 2, .cost = 5});
    train(&l_commdir, &t, &r, 0, MOST_ROUNDS, 0);
    const round_report *last = &r.report[r.rounds - 1];
    assert_true(last->stalled || last->gap == 0);
    assert_true(last->gap <= 1e-20 * r.report[0].gap);
    bench_close(&t);
}

static void no_memory(void **unused)
{
    (void)unused;
    expect_memory_refused(&l_commdir, &(const shape){.loss = "logistic", .blocks = 3, .cost = 1});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reaches_the_optimum),     cmocka_unit_test(ends_a_quadratic_in_n_rounds),
        cmocka_unit_test(remembers_what_helps),    cmocka_unit_test(rounds_do_not_depend_on_the_blocks),
        cmocka_unit_test(stalls_at_the_precision), cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
