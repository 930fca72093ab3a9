/* test_accelerate.c - presets of the outer loop inside the accelerated proximal point method: every round tells the
 * truth about the problem without the pull, the optimum is that of the problem, and where it is conditioned badly
 * fewer rounds lead there. */
#include "dual/accelerate.h"
#include "unit/rival_support.h"

static recorder seen;

/* The preset, as a method of its own. */
static method accelerated_form(const method *m)
{
    method form = *m;
    form.train = dual_accelerated;
    return form;
}

static void expect_optimum(const shape *s)
{
    state = 13;
    method form = accelerated_form(&bda_method);
    expect_gap_by(&form, s, 1e-6, &seen);
}

static void test_reaches_the_optimum(void **unused)
{
    (void)unused;
    for_all_shapes(expect_optimum);
}

static uint64_t rounds_of(const method *m, const shape *s)
{
    state = 19;
    bench t;
    bench_open(&t, s);
    method_options options = usual_options();
    uint64_t rounds = train(m, &t, &options, 1e-4, MOST_ROUNDS, &seen);
    bench_close(&t);
    return rounds;
}

static void test_beats_plain_where_conditioned_badly(void **unused)
{
    (void)unused;
    const method *const presets[] = {&bda_method, &disdca, &disdca_basic, &cocoa_plus, &dsvm_ave, &prox_grad};
    const char *const names[] = {"squared-hinge", "logistic", "squared-error"};
    for (int m = 0; m < 6; m++)
        for (int f = 0; f < 3; f++) {
            shape s = {.loss = loss_find(names[f]), .blocks = 4, .cost = 300};
            method form = accelerated_form(presets[m]);
            uint64_t plain = rounds_of(presets[m], &s), accelerated = rounds_of(&form, &s);
            if (!(2 * accelerated <= plain))
                fail_msg("%s, %s: %d rounds accelerated, %d plain", presets[m]->name, names[f], (int)accelerated,
                         (int)plain);
        }
}

/* Instances that can be separated and a large C: for many rounds the best alpha of a stage is the one there is, and
 * the centre alone moves. */
static void test_goes_on_while_the_centre_moves(void **unused)
{
    (void)unused;
    expect_optimum(&(const shape){.loss = loss_find("squared-hinge"), .blocks = 1, .margin = 0.5, .cost = 1000});
    expect_optimum(&(const shape){.loss = loss_find("hinge"), .blocks = 2, .margin = 0.5, .cost = 1000});
}

static void test_memory_refused(void **unused)
{
    (void)unused;
    method form = accelerated_form(&bda_method);
    expect_memory_refused(&form, &(const shape){.loss = loss_find("squared-hinge"), .classes = CLASSES, .blocks = 3});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reaches_the_optimum),
        cmocka_unit_test(test_beats_plain_where_conditioned_badly),
        cmocka_unit_test(test_goes_on_while_the_centre_moves),
        cmocka_unit_test(test_memory_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
