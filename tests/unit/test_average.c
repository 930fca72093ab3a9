/* test_average.c - averaging against models that the checker trains, each on the rows of one block. */
#include "methods/rivals.h"
#include "unit/rival_support.h"

static recorder seen;

/* The checker's model of block k by itself, and how far the method's may be from it: its gap is at most 1e-4 of the
 * first one, and g is convex by sigma at least. */
static double train_block(const bench *t, uint64_t k, double *w)
{
    uint64_t first = t->data->block_start[k], count = t->data->block_start[k + 1] - first;
    double cost[ROWS], alpha[ROWS * CLASSES], zero[COLUMNS * CLASSES] = {0};
    check_problem p = t->check;
    p.l = count;
    p.start += first;
    p.y += first;
    p.cost = cost;
    for (uint64_t i = 0; i < count; i++)
        cost[i] = t->cost[first + i] * ROWS / (double)count;
    assert_true(check_solve(&p, 1e-8, 20000, alpha, w));
    return (double)sqrtl(2 * 1e-4L * check_primal(&p, zero) / t->problem.penalty.convexity);
}

static void expect_average(const shape *s)
{
    state = 17;
    bench t;
    bench_open(&t, s);
    method_options options = usual_options();
    assert_int_equal(train(&average, &t, &options, 0, 10, &seen), 1);
    assert_true(seen.report[1].finished);
    assert_false(seen.report[0].finished);
    assert_int_equal(seen.report[0].vectors_sent, 0);
    assert_int_equal(seen.report[1].vectors_sent, s->l1_ratio > 0 ? 2 : 1);

    double mean[COLUMNS * CLASSES] = {0}, w[COLUMNS * CLASSES], bound = 0, off = 0;
    for (uint64_t k = 0; k < s->blocks; k++) {
        double weight = (double)(t.data->block_start[k + 1] - t.data->block_start[k]) / ROWS;
        bound += weight * train_block(&t, k, w);
        for (uint64_t j = 0; j < t.problem.n; j++)
            mean[j] += weight * w[j];
    }
    for (uint64_t j = 0; j < t.problem.n; j++)
        off += (seen.w[1][j] - mean[j]) * (seen.w[1][j] - mean[j]);
    if (!(sqrt(off) <= bound))
        fail_msg("%s, %d classes, %d blocks, R = %g: off by %g, allowed %g", s->loss->name, (int)s->classes,
                 (int)s->blocks, s->l1_ratio, sqrt(off), bound);
    if (s->blocks == 1)
        assert_true(seen.report[1].gap <= 1e-4 * seen.report[0].gap * (1 + 1e-9));
    bench_close(&t);
}

static void test_average_of_local_models(void **unused)
{
    (void)unused;
    for_all_shapes(expect_average);
}

/* More blocks than instances: those without any do not count. */
static void test_empty_blocks(void **unused)
{
    (void)unused;
    shape s = {.loss = loss_find("logistic"), .blocks = ROWS + 7};
    state = 3;
    bench t;
    bench_open(&t, &s);
    method_options options = usual_options();
    assert_int_equal(train(&average, &t, &options, 0, 10, &seen), 1);
    assert_true(seen.report[1].primal < seen.report[0].primal);
    bench_close(&t);
}

/* --local-epochs is how many passes a block makes. */
static void test_passes(void **unused)
{
    (void)unused;
    shape s = {.loss = loss_find("logistic"), .blocks = 3};
    for (int64_t passes = 1; passes <= 3; passes++) {
        state = 3;
        bench t;
        bench_open(&t, &s);
        method_options options = usual_options();
        options.local_epochs = passes;
        train(&average, &t, &options, 0, 10, &seen);
        assert_true(seen.report[1].epochs == (double)passes);
        bench_close(&t);
    }
}

static void test_memory_refused(void **unused)
{
    (void)unused;
    expect_memory_refused(&average,
                          &(const shape){.loss = loss_find("squared-hinge"), .classes = CLASSES, .blocks = 3});
    expect_memory_refused(&average, &(const shape){.loss = loss_find("logistic"), .blocks = 2});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_average_of_local_models),
        cmocka_unit_test(test_empty_blocks),
        cmocka_unit_test(test_passes),
        cmocka_unit_test(test_memory_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
