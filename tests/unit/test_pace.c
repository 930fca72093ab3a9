/* test_pace.c - how fast the gap falls, and stages that hand a point on. */
#include <math.h>
#include <string.h>

#include "problem/problem.h"
#include "problem/stage.h"
#include "unit/cmocka_all.h"

static void observe(pace *p, double to_go, double work, double left, double worst)
{
    pace_observe(p, to_go, work);
    assert_true(fabs(p->left - left) <= 1e-12 * left);
    assert_true(fabs(p->left_worst - worst) <= 1e-12 * worst);
}

/* The worst case follows from the last fall of the gap alone where that is less than the others were; not where it
 * rose. */
static void test_pace(void **unused)
{
    (void)unused;
    pace p = {0};
    observe(&p, exp(12), 2, 0, 0);
    observe(&p, exp(6), 2, 2, 2);        /* it fell by 3 a unit of work */
    observe(&p, exp(5), 2, 5 / 1.75, 5); /* by 0.5 */
    observe(&p, exp(6), 2, 6 / 0.875, 6 / 0.875);
    assert_true(p.work == 8);
    pace unknown = {0};
    observe(&unknown, INFINITY, 1, 0, 0);
    observe(&unknown, INFINITY, 1, 0, 0);
}

/* ---- stages --------------------------------------------------------------------------------------------------- */

#define N 3

typedef struct record {
    watch watch;
    round_report told[20];
    double w[20][N];
    int rounds, stop_at; /* the round at which it says stop */
} record;

static bool record_round(watch *self, const round_report *report, const double *w)
{
    record *r = (record *)self;
    r->told[r->rounds] = *report;
    memcpy(r->w[r->rounds++], w, sizeof r->w[0]);
    self->to_go = report->gap;
    return (int)report->round >= r->stop_at;
}

static bool record_ends(watch *self, const round_report *report, double *to_go)
{
    *to_go = report->gap;
    return (int)report->round >= ((record *)self)->stop_at;
}

static const handover *seen; /* by the second method at its start */
static double seen_w[N];
static int foretold;

/* Rounds with the primal values that `preset` lists, ended by 0; the dual is -1 in even rounds, else -2. */
static bool made_train(const method *self, problem *p, const method_options *options, watch *watch, bda_error *err)
{
    (void)p, (void)options, (void)err;
    const double *primal = self->preset;
    if ((seen = stage_from(watch)))
        memcpy(seen_w, seen->w, sizeof seen_w);
    for (uint64_t t = 0; primal[t] > 0; t++) {
        const double w[N] = {primal[t], 0, 0}, dual = t % 2 ? -2 : -1;
        const round_report report = {
            .round = t, .primal = primal[t], .dual = dual, .gap = primal[t] + dual, .epochs = 1};
        double to_go;
        const bool ends = stage_ends(watch, &report, &to_go), stop = stage_report(watch, &report, w);
        foretold += ends == stop;
        if (stop)
            break;
    }
    return true;
}

static bool after_two_epochs(const stage *s)
{
    return s->pace.work > 2;
}

/* The rule ends the first stage in its round 2; the second goes on from its best point, which is that of round 1. */
static void test_stages(void **unused)
{
    (void)unused;
    static record r;
    const double first[] = {9, 4, 5, 3, 0}, second[] = {6, 4.5, 2.5, 0};
    const method a = {.name = "a", .preset = first, .train = made_train};
    const method b = {.name = "b", .preset = second, .train = made_train};
    const plan plan = {.method = {&a, &b}, .cost = {0, 1}, .leaves = after_two_epochs};
    bda_error err = {0};
    problem p = {.n = N, .comm = bda_comm_single(&err)};
    r = (record){.watch = {.round = record_round, .ends = record_ends}, .stop_at = 100};
    foretold = 0;
    assert_true(plan_train(&plan, &p, &r.watch, &err));
    assert_int_equal(r.rounds, 5);
    assert_int_equal(foretold, 6);
    for (int t = 0; t < r.rounds; t++)
        assert_int_equal(r.told[t].round, t);
    assert_null(r.told[2].choice);
    assert_string_equal(r.told[3].choice, "b");
    assert_true(seen && seen_w[0] == 4);
    assert_true(r.told[3].primal == 4.5 && r.told[3].dual == -2 && r.told[3].gap == 2.5);
    assert_true(r.told[4].dual == -2); /* the least so far */
    assert_null(r.watch.stage);
    bda_comm_free(p.comm);
}

/* The watch has the last word, and then there is no other stage. */
static void test_stop(void **unused)
{
    (void)unused;
    static record r;
    const double first[] = {9, 4, 5, 3, 0}, second[] = {6, 0};
    const method a = {.name = "a", .preset = first, .train = made_train};
    const method b = {.name = "b", .preset = second, .train = made_train};
    const plan plan = {.method = {&a, &b}, .cost = {0, 1}, .leaves = after_two_epochs};
    bda_error err = {0};
    problem p = {.n = N, .comm = bda_comm_single(&err)};
    r = (record){.watch = {.round = record_round}, .stop_at = 1};
    seen = NULL;
    assert_true(plan_train(&plan, &p, &r.watch, &err));
    assert_int_equal(r.rounds, 2);
    assert_null(seen);
    bda_comm_free(p.comm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pace),
        cmocka_unit_test(test_stages),
        cmocka_unit_test(test_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
