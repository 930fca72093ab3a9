/* test_plain.c - the plain rounds with which hull begins where auto asks for it, each held against the checker, and
 * how many local epochs its own rounds have, and which vectors they send. */
#include "base/memory.h"
#include "base/sizes.h"
#include "dual/hull.h"
#include "unit/rival_support.h"

static recorder record;
static double primal_of_w[MOST_ROUNDS + 1]; /* P(grad g*(X alpha)) of each round, by the checker */

/* recorder_round, for a method that wants to know how far it has come. */
static bool far_round(watch *self, const round_report *report, const double *w)
{
    recorder *r = (recorder *)self;
    double alpha[ROWS * CLASSES], of_alpha[COLUMNS * CLASSES];
    bool stop = recorder_round(self, report, w);
    self->to_go = report->gap / (r->target * r->report[0].gap);
    block_alpha(report->blocks[0], alpha);
    check_weights(&r->bench->check, alpha, of_alpha);
    primal_of_w[report->round] = (double)check_primal(&r->bench->check, of_alpha);
    return stop;
}

static bool train_far(bench *t, const method_options *options, double target, bda_error *err)
{
    record = (recorder){.bench = t, .target = target, .most = MOST_ROUNDS};
    record.watch = (watch){.to_go = INFINITY, .seconds = recorder_seconds, .interrupted = recorder_interrupted};
    record.watch.round = far_round;
    return hull_method.train(&hull_method, &t->problem, options, &record.watch, err);
}

static bool is_plain(const round_report *report)
{
    return strcmp(report->choice, "plain") == 0;
}

/* Plain rounds whose model is better than w. Before the first of them the model is w; from then on it never gets
 * worse. */
static int searched_rounds(const shape *s)
{
    bench t;
    bda_error err = {0};
    method_options options = usual_options();
    options.local_epochs = EPOCHS_AS_NEEDED;
    bench_open(&t, s);
    assert_true(train_far(&t, &options, 1e-7, &err));
    const round_report *last = &record.report[record.rounds - 1];
    assert_true(last->gap <= 1e-7 * record.report[0].gap);
    const double rounding = 1e-12 * record.report[0].primal;
    int searched = 0;
    for (uint64_t i = 0; i < record.rounds; i++) {
        const round_report *now = &record.report[i];
        assert_true(now->primal <= primal_of_w[i] + rounding);
        assert_true(i == 0 || now->dual <= now[-1].dual + rounding);
        if (searched > 0)
            assert_true(now->primal <= now[-1].primal);
        searched += is_plain(now) && now->primal < primal_of_w[i] - rounding;
    }
    bench_close(&t);
    return searched;
}

/* The best point is searched for beside the passes where the loss has kinks, and only there. */
static void test_search(void **unused)
{
    (void)unused;
    for (const loss *f = losses; f->name; f++)
        for (uint64_t classes = 0; classes <= (f->regression ? 0 : CLASSES); classes += CLASSES) {
            int searched = 0;
            state = 21;
            for (int k = 0; k < 12; k++)
                searched += searched_rounds(&(const shape){.loss = f,
                                                           .classes = classes,
                                                           .blocks = 1,
                                                           .factors = k % 3 == 2,
                                                           .l1_ratio = k == 5 ? 0.3 : 0,
                                                           .cost = k % 2 ? 20 : 0});
            if ((searched > 0) == task_find(task_of_loss(f, NULL), f, classes, NULL)->smooth)
                fail_msg("%s, %d classes: %d rounds", f->name, (int)classes, searched);
        }
}

/* Memory that runs out when the search begins, or hull itself, is a sentence. */
static void test_no_memory(void **unused)
{
    (void)unused;
    for (uint64_t classes = 0; classes <= CLASSES; classes += CLASSES) {
        bench t;
        state = 22;
        bench_open(&t, &(const shape){.loss = loss_find("hinge"), .classes = classes, .blocks = 1, .cost = 100});
        method_options options = usual_options();
        options.local_epochs = EPOCHS_AS_NEEDED;
        uint64_t late = 0, request = 1;
        for (bool ok = false; !ok; request++) {
            bda_error err = {0};
            mem_fail_at(request);
            ok = train_far(&t, &options, 1e-7, &err);
            mem_fail_at(0);
            assert_true(ok || strstr(err.text, "memory"));
            late += !ok && record.rounds > 0;
            assert_true(request < 500);
        }
        assert_true(late > 2);
        bench_close(&t);
    }
}

/* The most passes over all cells that a round has had. */
static double most_epochs(const char *loss, uint64_t blocks, int64_t asked, sharing how)
{
    bench t;
    bda_error err = {0};
    double most = 0;
    method_options options = usual_options();
    options.hull = HULL_MOMENTUM;
    options.local_epochs = asked;
    options.sharing = how;
    state = 23;
    bench_open(&t, &(const shape){.loss = loss_find(loss), .blocks = blocks, .cost = 10});
    assert_true(train_far(&t, &options, 1e-7, &err));
    for (uint64_t i = 0; i < record.rounds; i++)
        most = fmax(most, record.report[i].epochs);
    bench_close(&t);
    return most;
}

/* Where variables are left out there are more epochs; not where each costs much, blocks are several or wait for a
 * thread, or a number was asked for. */
static void test_epochs(void **unused)
{
    (void)unused;
    assert_true(most_epochs("hinge", 1, 0, SHARE_NOTHING) > 2.01);
    assert_true(most_epochs("hinge", 1, 0, SHARE_NOTHING) < 4);
    assert_true(most_epochs("squared-hinge", 1, 0, SHARE_NOTHING) > 2.01);
    assert_true(most_epochs("hinge", 1, 1, SHARE_NOTHING) <= 1);
    assert_true(most_epochs("hinge", 3, 0, SHARE_NOTHING) <= 2);
    assert_true(most_epochs("hinge", 3, 0, SHARE_MEMORY) <= 2);
    assert_true(most_epochs("logistic", 1, 0, SHARE_NOTHING) <= 2);
}

/* A watch that says how long messages and passes took, until the form is chosen. */
typedef struct timekeeper {
    recorder record;
    double messages, passes; /* negative: as measured */
} timekeeper;

static bool timed_round(watch *self, const round_report *report, const double *w)
{
    timekeeper *t = (timekeeper *)self;
    hull_run *r = (hull_run *)((char *)report - offsetof(hull_run, d.report)); /* of which the report is a part */
    if (t->messages >= 0) {
        r->times.messages = t->messages;
        r->times.passes = t->passes;
    }
    return recorder_round(self, report, w);
}

/* Does hull leave out vectors after a few rounds? */
static bool sends_fewer(uint64_t blocks, double messages, double passes)
{
    static timekeeper keeper;
    bench t;
    bda_error err = {0};
    method_options options = usual_options();
    state = 24;
    bench_open(&t, &(const shape){.loss = loss_find("squared-hinge"), .blocks = blocks, .cost = 10});
    keeper = (timekeeper){.messages = messages, .passes = passes};
    keeper.record = (recorder){.bench = &t, .most = 12};
    keeper.record.watch =
        (watch){.seconds = recorder_seconds, .interrupted = recorder_interrupted, .round = timed_round};
    assert_true(hull_method.train(&hull_method, &t.problem, &options, &keeper.record.watch, &err));
    const recorder *r = &keeper.record;
    assert_int_equal(r->rounds, 13);
    const char *first = r->report[0].choice, *last = r->report[12].choice;
    const bool fewer = strcmp(first, last) != 0;
    assert_string_equal(first, "momentum");
    assert_string_equal(last, fewer ? "momentum-sparing" : first);
    assert_true(!fewer || r->report[12].vectors_sent - r->report[4].vectors_sent <= 8 + 8 / 3 + 1);
    bench_close(&t);
    return fewer;
}

/* Vectors are left out where messages are what takes long, and where vectors are long: nobody waits for messages to
 * oneself. */
static void test_timed_choice(void **unused)
{
    (void)unused;
    for (int small = 0; small < 2; small++) {
        sizes_shrink(small);
        for (uint64_t blocks = 1; blocks <= 4; blocks += 3) {
            assert_false(sends_fewer(blocks, 1, 60));
            assert_false(sends_fewer(blocks, 0, 1e-3));
            assert_true(sends_fewer(blocks, 60, 1) == small);
        }
    }
    sizes_shrink(false);
}

static double patience(const char *loss, uint64_t classes, uint64_t models)
{
    const struct loss *l = loss_find(loss);
    const task *t = task_find(task_of_loss(l, NULL), l, classes, NULL);
    problem p = {.task = t, .loss = l, .classes = classes, .outputs = task_outputs(t, classes)};
    return hull_plain_patience(&(dual_run){.p = &p, .model.count = models});
}

/* It grows with the classes, for hull has to look at all of them; where rounds of hull gain more, or its own steps take
 * long, it is less; several models wait alike. */
static void test_patience(void **unused)
{
    (void)unused;
    const char *dual[] = {"hinge", "squared-hinge"};
    const double several = patience("logistic", 2, 3);
    for (int k = 0; k < 2; k++) {
        for (uint64_t classes = 3; classes < 200; classes++) {
            assert_true(patience(dual[k], classes, 1) >= patience(dual[k], classes - (classes > 3), 1));
            assert_true(patience(dual[k], classes, 1) <= patience(dual[k], 2, 1));
            assert_true(patience(dual[k], classes, 3) == several);
        }
        assert_true(patience(dual[k], 3, 1) < patience(dual[k], 199, 1));
        assert_true(patience("logistic", 2, 1) < patience(dual[k], 2, 1));
        assert_true(several < patience(dual[k], 2, 1) && several > 0);
    }
    assert_true(patience("squared-error", 1, 1) == patience("squared-hinge", 2, 1));
    assert_true(patience("logistic", 100, 1) == patience("logistic", 2, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_search),       cmocka_unit_test(test_no_memory), cmocka_unit_test(test_epochs),
        cmocka_unit_test(test_timed_choice), cmocka_unit_test(test_patience),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
