/* test_auto.c - what auto chooses and when it changes its mind: a loss with kinks begins as hull and becomes newton
 * where the gap falls too slowly; the rounds go on as if one method had made them all. */
#include <math.h>
#include <string.h>

#include "base/sizes.h"
#include "dual/hull.h"
#include "methods/auto.h"
#include "methods/cost.h"
#include "methods/newton.h"
#include "methods/rivals.h"
#include "unit/smooth_support.h"

/* The gap is of the start, as auto counts it. */
static method_options options_for(double gap)
{
    return (method_options){
        .a1 = NAN, .a2 = NAN, .step = NAN, .tau = 0.01, .beta = 0.5, .gap = gap, .gap_of_start = true, .seed = 1};
}

static const char *chosen(const shape *s, const method_options *o)
{
    static bench t;
    state = 5;
    bench_open(&t, s);
    const char *name = auto_plan(&t.problem, o).method[0]->name;
    bench_close(&t);
    return name;
}

/* A weak C leaves little to do for a dual method, a strong one a lot; options that belong to a method choose it. */
static void test_choice(void **unused)
{
    (void)unused;
    const char *smooth[] = {"squared-hinge", "squared-epsilon-insensitive"};
    method_options o = options_for(1e-6);
    const method_options usual = options_for(1e-3), rough = options_for(0.1);
    for (int k = 0; k < 2; k++) {
        assert_string_equal(chosen(&(shape){.loss = smooth[k], .blocks = 1, .cost = 1e-3}, &usual), "hull");
        assert_string_equal(chosen(&(shape){.loss = smooth[k], .blocks = 1, .cost = 10}, &o), "newton");
    }
    /* fewer rounds of newton the nearer P is to a quadratic */
    assert_string_equal(chosen(&(shape){.loss = smooth[0], .blocks = 1, .cost = 1e-3}, &o), "hull");
    assert_string_equal(chosen(&(shape){.loss = smooth[1], .blocks = 1, .cost = 1e-3}, &o), "newton");
    assert_string_equal(chosen(&(shape){.loss = "squared-error", .blocks = 1, .cost = 1e-3}, &usual), "newton");
    assert_string_equal(chosen(&(shape){.loss = "squared-error", .blocks = 1, .cost = 1e-3}, &o), "newton");
    assert_string_equal(chosen(&(shape){.loss = "logistic", .blocks = 1, .cost = 1e-4}, &rough), "l-commdir");
    assert_string_equal(chosen(&(shape){.loss = "logistic", .blocks = 1, .cost = 10}, &o), "newton");
    const shape strong = {.loss = "squared-hinge", .blocks = 1, .cost = 10};
    o.local_epochs = 2;
    assert_string_equal(chosen(&strong, &o), "hull");
    o = options_for(1e-6);
    o.a1 = 1;
    assert_string_equal(chosen(&strong, &o), "bda");
    o = options_for(1e-6);
    o.hull = HULL_FUSED;
    assert_string_equal(chosen(&strong, &o), "hull");
}

/* The mean of |x|^2 of the rows that the next bench of this shape will have. */
static double mean_square(const shape *s)
{
    static bench t;
    double squares = 0;
    state = 5;
    bench_open(&t, s);
    for (uint64_t j = 0; j < ROWS * COLUMNS; j++)
        squares += t.value[j] * t.value[j];
    bench_close(&t);
    state = 5;
    return squares / ROWS;
}

/* What the problem says of its rows, on which the choice rests. */
static void test_rows(void **unused)
{
    (void)unused;
    static bench t;
    const char *loss[] = {"squared-hinge", "hinge", "logistic", "squared-error"};
    const double bend[] = {2, 2, 0.25, 2};
    for (int k = 0; k < 4; k++) {
        const shape s = {.loss = loss[k], .blocks = 1 + (uint64_t)k, .cost = 3};
        const double expected = s.cost * mean_square(&s) * bend[k];
        bench_open(&t, &s);
        assert_true(fabs(t.problem.stiffness - expected) < 1e-4 * expected);
        assert_true(t.problem.pairs == 0.5 * COLUMNS * (COLUMNS + 1));
        bench_close(&t);
    }
}

/* What is chosen for the softmax over so many rows and cells, where C/4 times the mean of |x|^2 is `stiffness`;
 * newton is out of the question. */
static const char *softmax_choice(uint64_t rows, uint64_t cells, double stiffness, double gap)
{
    static bench t;
    const method_options o = options_for(gap);
    shape s = {.loss = "logistic", .blocks = 1, .classes = CLASSES, .cost = 1};
    s.cost = 4 * stiffness / mean_square(&s);
    bench_open(&t, &s);
    t.problem.n = newton_method.most_weights + 1;
    t.problem.nonzeros = cells;
    t.data->instances = t.data->rows_all = rows;
    const char *name = auto_plan(&t.problem, &o).method[0]->name;
    t.data->instances = t.data->rows_all = ROWS;
    bench_close(&t);
    return name;
}

/* Few rows and a large C are for tron; many rows make its passes more, and a dual method's not. */
static void test_softmax(void **unused)
{
    (void)unused;
    for (double gap = 1e-3; gap > 1e-6; gap /= 10) {
        assert_string_equal(softmax_choice(2000, 90000, 11, gap), "tron");
        assert_string_equal(softmax_choice(2000, 90000, 100, gap), "tron");
        assert_string_equal(softmax_choice(2000, 90000, 0.5, gap), "hull");
        assert_string_equal(softmax_choice(60000, 9000000, 22, gap), "hull");
    }
    assert_string_equal(softmax_choice(60000, 9000000, 1e-4, 1e-3), "l-commdir");
}

/* Whether two blocks with so many weights share their model, where 2 C times the mean of |x|^2 is `stiffness`. */
static bool shares_to(const method_options *o, const char *loss, uint64_t classes, uint64_t cells, uint64_t weights,
                      double stiffness)
{
    static bench t;
    shape s = {.loss = loss, .blocks = 2, .classes = classes, .cost = 1};
    s.cost = stiffness / 2 / mean_square(&s);
    bench_open(&t, &s);
    t.problem.n = weights;
    t.problem.nonzeros = cells;
    const method_options run = auto_plan(&t.problem, o).options;
    bench_close(&t);
    assert_true(run.sharing == SHARE_DEFAULT || run.sharing == SHARE_ON_ONE_MACHINE);
    return run.sharing == SHARE_ON_ONE_MACHINE;
}

static bool shares_with(const char *loss, uint64_t classes, uint64_t cells, uint64_t weights, double stiffness)
{
    const method_options o = options_for(1e-3);
    return shares_to(&o, loss, classes, cells, weights, stiffness);
}

/* From which stiffness on blocks share, within a fiftieth; they do not below it. 0: always. INFINITY: never. */
static double sharing_begins(const method_options *o, const char *loss, uint64_t classes, uint64_t cells,
                             uint64_t weights)
{
    double begin = INFINITY;
    for (double s = 20; s > 1e-3; s /= 1.02) {
        const bool share = shares_to(o, loss, classes, cells, weights, s);
        assert_true(!share || !(begin < INFINITY) || begin < 1.03 * s); /* one interval, without end */
        begin = share ? s : begin;
    }
    return begin < 1.03e-3 ? 0 : begin;
}

enum { LONG = 100000, SHORT = 100, CELLS = 200000, MORE_CELLS = 100 * LONG };

/* Blocks share where there is something to do, unless w is long and C so small that they have little to do with each
 * other: by a loss with kinks, by rows with little in common, or to a low accuracy. */
static void test_sharing(void **unused)
{
    (void)unused;
    static const char *const loss[] = {"hinge", "epsilon-insensitive", "squared-hinge", "logistic"};
    const method_options usual = options_for(1e-3), fine = options_for(1e-9);
    for (int k = 0; k < 4; k++) {
        const double few_cells = sharing_begins(&usual, loss[k], 0, CELLS, LONG);
        const double many_cells = sharing_begins(&usual, loss[k], 0, MORE_CELLS, LONG);
        assert_true(few_cells > 0 && few_cells < 100);
        assert_true(many_cells <= few_cells);
        if (k < 2) { /* of kinks nothing is known beforehand: neither cells nor digits matter */
            assert_true(many_cells == few_cells && sharing_begins(&fine, loss[k], 0, CELLS, LONG) == few_cells);
            assert_true(sharing_begins(&usual, loss[k], 0, CELLS, SHORT) == 0);
        } else
            assert_true(many_cells < few_cells);
    }
    assert_true(sharing_begins(&fine, "squared-hinge", 0, MORE_CELLS, LONG) <
                sharing_begins(&usual, "squared-hinge", 0, MORE_CELLS, LONG));
    assert_true(sharing_begins(&usual, "logistic", 0, CELLS, LONG) > sharing_begins(&usual, "hinge", 0, CELLS, LONG));
    assert_true(sharing_begins(&usual, "hinge", CLASSES, CELLS, LONG) == 0); /* many classes want it whatever C is */
    assert_true(sharing_begins(&usual, "logistic", CLASSES, CELLS, LONG) > 0);
    /* a gap of the objective, which falls, is smaller than one of the start */
    method_options of_objective = usual;
    of_objective.gap_of_start = false;
    assert_true(sharing_begins(&of_objective, "squared-hinge", 0, MORE_CELLS, LONG) <=
                sharing_begins(&usual, "squared-hinge", 0, MORE_CELLS, LONG));
}

/* Trainings of no time keep to their blocks; a cell of several classes is as many. */
static void test_sharing_needs_work(void **unused)
{
    (void)unused;
    uint64_t least[2] = {0, 0};
    for (uint64_t cells = 100; cells < 10000000; cells += cells / 50)
        for (int k = 0; k < 2; k++) {
            const bool share = shares_with("hinge", k ? CLASSES : 0, cells, SHORT, 1);
            assert_true(share || least[k] == 0);
            least[k] = share && least[k] == 0 ? cells : least[k];
        }
    assert_true(least[1] > 1000 && least[0] < 10000000);
    assert_true(fabs((double)least[0] / (double)least[1] - CLASSES) < 0.1 * CLASSES);
    sizes_shrink(true);
    assert_true(shares_with("hinge", 0, 1, SHORT, 1));
    sizes_shrink(false);
    assert_false(shares_with("hinge", 0, 1, SHORT, 1));
}

/* A recorder that knows how far it is. */
static bool far_round(watch *self, const round_report *report, const double *w)
{
    recorder *r = (recorder *)self;
    bool stop = recorder_round(self, report, w);
    self->to_go = report->gap / (r->target * r->report[0].gap);
    return stop;
}

/* Rounds of hull, that at w = 0 left out, and of newton. */
typedef struct made {
    uint64_t hull, newton;
} made;

static made reach(const char *loss, double cost, uint64_t blocks, double gap)
{
    static bench t;
    static recorder r;
    bda_error err = {0};
    double best[COLUMNS * CLASSES];
    bench_open(&t, &(shape){.loss = loss, .blocks = blocks, .cost = cost});
    const double optimum = bench_optimum(&t, best);
    method_options o = options_for(gap);
    recorder_open(&r, &t, o.gap, MOST_ROUNDS);
    r.watch.round = far_round;
    r.watch.to_go = INFINITY;
    assert_true(auto_method.train(&auto_method, &t.problem, &o, &r.watch, &err));
    const round_report *last = &r.report[r.rounds - 1];
    const double size = r.report[0].primal;
    uint64_t newton = 0;
    assert_true(last->gap <= gap * r.report[0].gap);
    assert_true(fabs(last->primal - optimum) <= (gap > 1e-9 ? last->gap : 1e-8 * optimum));
    assert_true(fabs((double)check_primal(&t.check, r.w) - last->primal) <= 1e-11 * size);
    for (uint64_t i = 0; i < r.rounds; i++) {
        const round_report *now = &r.report[i];
        const bool is_newton = now->choice && strcmp(now->choice, "newton") == 0;
        assert_true(is_newton || newton == 0);
        newton += is_newton;
        assert_true(fabs(now->primal + now->dual - now->gap) <= 1e-11 * size);
        assert_true(now->dual >= -optimum - 1e-8 * size);
        if (i == 0)
            continue;
        assert_true(now->dual <= now[-1].dual + 1e-13 * size);
        assert_true(now->vectors_sent >= now[-1].vectors_sent);
    }
    bench_close(&t);
    return (made){r.rounds - 1 - newton, newton};
}

static void test_change(void **unused)
{
    (void)unused;
    const char *kinked[] = {"hinge", "epsilon-insensitive"};
    state = 11;
    for (int k = 0; k < 2; k++)
        for (uint64_t blocks = 1; blocks <= 3; blocks++) {
            assert_true(reach(kinked[k], 1, blocks, 1e-9).hull > 1);
            assert_true(reach(kinked[k], 100, blocks, 1e-9).newton > 0);
            assert_int_equal(reach(kinked[k], 100, blocks, 1e-3).hull, 1); /* one look is enough */
            assert_int_equal(reach(kinked[k], 1e-4, blocks, 1e-9).newton, 0);
        }
}

/* Logarithm of the epochs that auto foresees at a point of a run of hull: as many as newton would have to be worth. */
static double foreseen(double epochs, double to_go)
{
    double low = log(1e-6), high = log(1e9);
    while (high - low > 1e-3) {
        const double middle = 0.5 * (low + high);
        const stage s = {
            .point = {.round = 5, .primal = 1}, .pace = {.work = epochs, .to_go = to_go}, .next_cost = exp(middle)};
        *(cost_newton_is_faster(&s) ? &low : &high) = middle;
    }
    return low;
}

/* What is foreseen while hull is under way is about what it then takes: on the average of many points of many runs,
 * within a factor of three. */
static void test_foresight(void **unused)
{
    (void)unused;
    static bench t;
    static recorder r;
    double sum = 0;
    int runs = 0;
    state = 17;
    for (double cost = 0.3; cost < 200; cost *= 3) {
        bench_open(&t, &(shape){.loss = "hinge", .blocks = 1, .cost = cost});
        const uint64_t rounds = train(&hull_method, &t, &r, 1e-3, MOST_ROUNDS, 0);
        double all = 0, epochs = 0, of_run = 0, points = 0;
        for (uint64_t k = 1; k <= rounds; k++)
            all += r.report[k].epochs;
        for (uint64_t k = 1; k < rounds; k++) {
            epochs += r.report[k].epochs;
            const double to_go = r.report[k].gap / (1e-3 * r.report[0].gap);
            if (to_go < 3) /* next to nothing is left */
                continue;
            of_run += foreseen(epochs, to_go) - log(all - epochs);
            points++;
        }
        sum += points > 0 ? of_run / points : 0;
        runs += points > 0;
        bench_close(&t);
    }
    assert_true(runs >= 4);
    if (!(fabs(sum / runs) < log(3)))
        fail_msg("%g times as many epochs as are needed are foreseen", exp(sum / runs));
}

/* From a point close to the optimum fewer rounds are left than from 0. */
static void test_going_on(void **unused)
{
    (void)unused;
    static bench t;
    static recorder cold, warm;
    bda_error err = {0};
    double best[COLUMNS * CLASSES];
    state = 3;
    bench_open(&t, &(shape){.loss = "hinge", .blocks = 2, .cost = 1});
    const double optimum = bench_optimum(&t, best);
    for (int j = 0; j < COLUMNS; j++)
        best[j] *= 1.001;
    recorder_open(&cold, &t, 1e-9, 100);
    recorder_open(&warm, &t, 1e-9, 100);
    stage second = {.number = 1, .point = {.w = best, .n = COLUMNS, .gap = 1e-4, .first_gap = 1}};
    const method_options o = options_for(1e-9);
    assert_true(newton_method.train(&newton_method, &t.problem, &o, &cold.watch, &err));
    warm.watch.stage = &second;
    warm.rounds = 1; /* round 0 is the one that the stage before has told last */
    warm.report[0].gap = cold.report[0].gap;
    second.point.primal = (double)check_primal(&t.check, best);
    second.point.dual = INFINITY;
    assert_true(newton_method.train(&newton_method, &t.problem, &o, &warm.watch, &err));
    assert_true(warm.rounds < cold.rounds);
    assert_true(fabs(warm.report[warm.rounds - 1].primal - optimum) <= 1e-8 * optimum);
    assert_true(fabs(cold.report[cold.rounds - 1].primal - optimum) <= 1e-8 * optimum);
    bench_close(&t);
}

int main(void)
{
    (void)assert_honest; /* is of methods that send one vector a round */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_choice),
        cmocka_unit_test(test_softmax),
        cmocka_unit_test(test_sharing),
        cmocka_unit_test(test_sharing_needs_work),
        cmocka_unit_test(test_change),
        cmocka_unit_test(test_foresight),
        cmocka_unit_test(test_going_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
