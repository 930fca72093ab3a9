/* test_perceptron.c - the distributed perceptron against a plain one that visits the same instances in the same
 * order, and its bound on mistakes where the data can be separated. */
#include "methods/rivals.h"
#include "unit/rival_support.h"

static recorder seen;

static double score(const bench *t, uint64_t i, const double *w, uint64_t width, uint64_t m)
{
    double s = 0;
    for (int j = 0; j < COLUMNS; j++)
        s += t->value[i * COLUMNS + (uint64_t)j] * w[(uint64_t)j * width + m];
    return s;
}

/* One instance; 1 for a mistake. */
static int visit(const bench *t, uint64_t i, double *w)
{
    const uint64_t classes = t->shape.classes, width = classes ? classes : 1;
    const double *x = t->value + i * COLUMNS;
    uint64_t y = (uint64_t)t->y[i], best = y == 0;
    if (!classes) {
        if (t->y[i] * score(t, i, w, 1, 0) > 0)
            return 0;
        for (int j = 0; j < COLUMNS; j++)
            w[j] += t->cost[i] * t->y[i] * x[j];
        return 1;
    }
    for (uint64_t m = 0; m < classes; m++)
        if (m != y && score(t, i, w, width, m) > score(t, i, w, width, best))
            best = m;
    if (score(t, i, w, width, y) > score(t, i, w, width, best))
        return 0;
    for (uint64_t j = 0; j < COLUMNS; j++) {
        w[j * width + y] += t->cost[i] * x[j];
        w[j * width + best] -= t->cost[i] * x[j];
    }
    return 1;
}

/* A round of all blocks from w, mixed into w; the number of mistakes. */
static int plain_round(const bench *t, uint64_t round, double *w)
{
    const uint64_t n = t->problem.n;
    double start[COLUMNS * CLASSES], own[COLUMNS * CLASSES];
    int mistakes = 0;
    memcpy(start, w, sizeof start);
    for (uint64_t k = 0; k < t->shape.blocks; k++) {
        uint64_t first = t->data->block_start[k];
        uint32_t order[ROWS], count = (uint32_t)(t->data->block_start[k + 1] - first);
        rng random;
        rng_open(&random, 1, round, k);
        for (uint32_t i = 0; i < count; i++)
            order[i] = i;
        rng_shuffle(&random, order, count);
        memcpy(own, start, sizeof own);
        for (uint32_t i = 0; i < count; i++)
            mistakes += visit(t, first + order[i], own);
        for (uint64_t j = 0; j < n; j++)
            w[j] += (own[j] - start[j]) / (double)t->shape.blocks;
    }
    return mistakes;
}

static void expect_plain(const shape *s)
{
    enum { COMPARED = 12 };
    state = 29;
    bench t;
    bench_open(&t, s);
    method_options options = usual_options();
    train(&perceptron, &t, &options, 0, COMPARED, &seen);
    double w[COLUMNS * CLASSES] = {0}, mean[COLUMNS * CLASSES] = {0};
    for (uint64_t round = 1; round < seen.rounds; round++) {
        int mistakes = plain_round(&t, round - 1, w);
        const round_report *report = &seen.report[round];
        assert_true(report->finished == (mistakes == 0));
        assert_true(isnan(report->dual) && isnan(report->gap));
        assert_int_equal(report->vectors_sent, round);
        for (uint64_t j = 0; j < t.problem.n; j++) {
            mean[j] += (w[j] - mean[j]) / (double)round;
            assert_true(fabs(seen.w[round][j] - (mistakes ? mean : w)[j]) <= 1e-12);
        }
        long double primal = check_primal(&t.check, seen.w[round]);
        assert_true(fabsl(report->primal - primal) <= 1e-12L * primal);
    }
    bench_close(&t);
}

static void test_same_as_a_plain_one(void **unused)
{
    (void)unused;
    for (uint64_t classes = 0; classes <= CLASSES; classes += CLASSES)
        for (uint64_t K = 1; K <= 5; K++) {
            const char *const names[] = {"hinge", "squared-hinge", "logistic"};
            expect_plain(&(const shape){.loss = loss_find(names[K % 3]), .classes = classes, .blocks = K});
        }
}

/* The mistakes of all rounds, sum over t and k of k_{k,t} / K, are at most (R / gamma)^2; so it ends, with every
 * instance on its side. */
static void test_ends_where_data_can_be_separated(void **unused)
{
    (void)unused;
    for (uint64_t classes = 0; classes <= CLASSES; classes += CLASSES)
        for (uint64_t K = 1; K <= 5; K += 2) {
            const shape s = {.loss = loss_find("hinge"), .classes = classes, .blocks = K, .margin = 0.4};
            state = 31;
            bench t;
            bench_open(&t, &s);
            method_options options = usual_options();
            uint64_t rounds = train(&perceptron, &t, &options, 0, MOST_ROUNDS, &seen);
            assert_true(rounds > 1 && rounds < 400);
            assert_true(seen.report[rounds].finished);
            double *w = seen.w[rounds];
            for (uint64_t i = 0; i < ROWS; i++)
                assert_int_equal(visit(&t, i, w), 0);
            bench_close(&t);
        }
}

static void test_memory_refused(void **unused)
{
    (void)unused;
    expect_memory_refused(&perceptron,
                          &(const shape){.loss = loss_find("squared-hinge"), .classes = CLASSES, .blocks = 3});
    expect_memory_refused(&perceptron, &(const shape){.loss = loss_find("logistic"), .blocks = 2});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_a_plain_one),
        cmocka_unit_test(test_ends_where_data_can_be_separated),
        cmocka_unit_test(test_memory_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
