/* test_watch.c - when a training stops, what it keeps, and whether all was done: made-up reports. */
#include <math.h>
#include <string.h>

#include "run/watch.h"
#include "unit/cmocka_all.h"

static const double weights[][1] = {{0}, {1}, {2}, {3}};

typedef struct script {
    training_watch watch;
    double best[1];
} script;

static script *opened(script *s, training_watch watch)
{
    *s = (script){.watch = watch};
    if (!(watch.limits.max_time > 0))
        s->watch.limits.max_time = NAN;
    watch_start(&s->watch, s->best, 1);
    return s;
}

static bool tell(script *s, round_report r)
{
    return s->watch.watch.round(&s->watch.watch, &r, weights[r.round % 4]);
}

static void gap_of_the_best_model_stops(void **state)
{
    (void)state;
    script s;
    opened(&s, (training_watch){.limits.target = 0.1, .limits.max_rounds = 100});
    assert_false(tell(&s, (round_report){.round = 0, .primal = 10, .dual = 0, .gap = 10}));
    assert_false(tell(&s, (round_report){.round = 1, .primal = 5, .dual = -3, .gap = 2}));
    /* This primal is worse, but with this dual the one before is good enough: 5 - 4.5 <= 0.1 x 5. */
    assert_true(tell(&s, (round_report){.round = 2, .primal = 6, .dual = -4.5, .gap = 1.5}));
    assert_int_equal(s.watch.reason, BDA_REACHED_GAP);
    assert_true(watch_complete(&s.watch));
    assert_true(s.best[0] == 1 && s.watch.now.best_primal == 5);
    assert_true(fabs(s.watch.now.relative_gap - 0.1) < 1e-15);
    assert_true(fabs(s.watch.now.gap_of_start - 0.05) < 1e-15);
}

/* Methods pace themselves by to_go: it is of the gap that decides. */
static void of_the_objective_or_of_the_start(void **state)
{
    (void)state;
    for (int of_start = 0; of_start < 2; of_start++) {
        script s;
        opened(&s, (training_watch){.limits.target = 0.1, .limits.of_start = of_start, .limits.max_rounds = 100});
        assert_false(tell(&s, (round_report){.round = 0, .primal = 10, .dual = 0, .gap = 10}));
        const bool stops = tell(&s, (round_report){.round = 1, .primal = 2, .dual = -1.5, .gap = 0.5});
        assert_true(stops == of_start);
        assert_true(fabs(s.watch.watch.to_go - (of_start ? 0.5 : 2.5)) < 1e-14);
        assert_true(s.watch.now.target_of_start == of_start);
    }
}

/* Of w and a length that is better. */
static void a_longer_model_is_kept(void **state)
{
    (void)state;
    script s;
    opened(&s, (training_watch){.limits.target = 0, .limits.max_rounds = 9});
    assert_false(tell(&s, (round_report){.round = 0, .primal = 10, .gap = 10}));
    assert_false(tell(&s, (round_report){.round = 2, .primal = 5, .dual = -3, .gap = 2, .stretch = 0.25}));
    assert_true(s.best[0] == 2.5);
    assert_false(tell(&s, (round_report){.round = 3, .primal = 6, .dual = -3, .gap = 3, .stretch = 0.5}));
    assert_true(s.best[0] == 2.5);
}

static void what_ends_early(void **state)
{
    (void)state;
    script s;
    const round_report start = {.primal = 10, .gap = 10};
    round_report r = {.round = 1, .primal = 9, .gap = 9};
    opened(&s, (training_watch){.limits.target = 0, .limits.max_rounds = 1});
    assert_false(tell(&s, start));
    assert_true(tell(&s, r));
    assert_true(s.watch.reason == BDA_MAX_ROUNDS && !watch_complete(&s.watch));
    opened(&s, (training_watch){.limits.target = 0, .limits.max_rounds = 9, .limits.max_time = 5});
    r.seconds = 6;
    assert_false(tell(&s, start));
    assert_true(tell(&s, r));
    assert_true(s.watch.reason == BDA_MAX_TIME && !watch_complete(&s.watch));
    opened(&s, (training_watch){.limits.target = 0, .limits.max_rounds = 9});
    r.stalled = true;
    assert_true(tell(&s, start) || tell(&s, r));
    assert_true(s.watch.reason == BDA_STALLED && !watch_complete(&s.watch));
    opened(&s, (training_watch){.limits.target = 0, .limits.max_rounds = 9});
    r.interrupted = true;
    assert_true(tell(&s, start) || tell(&s, r));
    assert_true(s.watch.reason == BDA_INTERRUPTED && !watch_complete(&s.watch));
}

/* A method that ends by itself has done what was asked for, unless a gap was. */
static void finished_is_complete_unless_a_gap_was_asked_for(void **state)
{
    (void)state;
    for (int given = 0; given < 2; given++)
        for (int reached = 0; reached < 2; reached++) {
            script s;
            opened(&s, (training_watch){.limits.target = reached ? 0.5 : 0.1,
                                        .limits.target_given = given,
                                        .limits.max_rounds = 100});
            assert_false(tell(&s, (round_report){.round = 0, .primal = 10, .gap = 10}));
            assert_true(tell(&s, (round_report){.round = 1, .primal = 5, .dual = -3, .gap = 2, .finished = true}));
            assert_int_equal(s.watch.reason, reached ? BDA_REACHED_GAP : BDA_FINISHED);
            assert_true(watch_complete(&s.watch) == (reached || !given));
        }
}

/* No dual, no gap; the objective is not what such a method minimises, so the last model counts. */
static void without_a_dual(void **state)
{
    (void)state;
    script s;
    opened(&s, (training_watch){.limits.target = 1, .limits.max_rounds = 2});
    assert_false(tell(&s, (round_report){.round = 0, .primal = 10, .dual = NAN, .gap = NAN}));
    assert_false(tell(&s, (round_report){.round = 1, .primal = 30, .dual = NAN, .gap = NAN}));
    assert_true(!s.watch.now.has_dual && isnan(s.watch.now.relative_gap) && s.watch.now.target == 0);
    assert_true(tell(&s, (round_report){.round = 2, .primal = 20, .dual = NAN, .gap = NAN}));
    assert_true(s.watch.reason == BDA_MAX_ROUNDS && watch_complete(&s.watch));
    assert_true(s.best[0] == 2 && s.watch.now.best_primal == 20);
    opened(&s, (training_watch){.limits.target = 1, .limits.max_rounds = 2});
    assert_false(tell(&s, (round_report){.round = 0, .primal = 10, .dual = NAN, .gap = NAN}));
    assert_true(tell(&s, (round_report){.round = 1, .primal = 3, .dual = NAN, .gap = NAN, .finished = true}));
    assert_true(s.watch.reason == BDA_FINISHED && watch_complete(&s.watch));
}

/* Where a dual was promised in round 0 it must stay a number. */
static void numbers_are_checked(void **state)
{
    (void)state;
    script s;
    opened(&s, (training_watch){.limits.target = 0, .limits.max_rounds = 9});
    assert_false(tell(&s, (round_report){.round = 0, .primal = 10, .gap = 10}));
    assert_true(tell(&s, (round_report){.round = 1, .primal = 9, .dual = NAN, .gap = NAN}));
    assert_non_null(strstr(s.watch.error.text, "dual objective is not a number in round 1"));
    opened(&s, (training_watch){.limits.target = 0, .limits.max_rounds = 9});
    assert_true(tell(&s, (round_report){.round = 0, .primal = INFINITY, .dual = NAN, .gap = NAN}));
    assert_non_null(strstr(s.watch.error.text, "not a number in round 0"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gap_of_the_best_model_stops),
        cmocka_unit_test(of_the_objective_or_of_the_start),
        cmocka_unit_test(a_longer_model_is_kept),
        cmocka_unit_test(what_ends_early),
        cmocka_unit_test(finished_is_complete_unless_a_gap_was_asked_for),
        cmocka_unit_test(without_a_dual),
        cmocka_unit_test(numbers_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
