/* test_newton_tron.c - newton and tron against the checker's optimum, for all losses they serve, at 1, 2 and 3
 * blocks; the vectors that a round sends; and what each is known for: newton ends a quadratic in one round and
 * anything else in a few, TRON's region grows where it is in the way and
 * shrinks after a bad step. */
#include <math.h>
#include <string.h>

#include "methods/rivals.h"
#include "methods/tron.h"
#include "unit/smooth_support.h"

static const struct served {
    const char *loss;
    uint64_t classes;
    bool newton_alone; /* it has kinks */
} served[] = {
    {"squared-hinge", 0, false},      {"logistic", 0, false},
    {"squared-error", 0, false},      {"squared-epsilon-insensitive", 0, false},
    {"logistic", CLASSES, false},     {"hinge", 0, true},
    {"epsilon-insensitive", 0, true},
};
enum { SERVED = sizeof served / sizeof *served };

/* Every round says the truth; `rises`: P may rise on the way, as it may with an interior point method. */
static void assert_true_rounds(const bench *t, const recorder *r, double optimum, bool rises)
{
    double size = fabs(r->report[0].primal);
    assert_true(r->report[0].dual == 0 && fabs(r->report[0].gap - size) <= 1e-12 * size); /* as of alpha = 0 */
    for (uint64_t i = 0; i < r->rounds; i++) {
        const round_report *now = &r->report[i];
        assert_true(now->gap >= 0 && now->primal >= optimum - 1e-8 * size);
        assert_true(now->dual >= -optimum - 1e-8 * size);
        assert_true(fabs(now->primal + now->dual - now->gap) <= 1e-11 * size);
        if (i > 0)
            assert_true(rises || now->primal <= now[-1].primal + 1e-12 * size);
        if (i > 0)
            assert_true(now->dual <= now[-1].dual);
    }
    double primal = (double)check_primal(&t->check, r->w);
    assert_true(fabs(primal - r->report[r->rounds - 1].primal) <= 1e-11 * size);
}

static void reach_optimum(const method *m, const struct served *f, const shape *s, uint64_t most)
{
    static bench t;
    static recorder r;
    double best[COLUMNS * CLASSES];
    bench_open(&t, s);
    double optimum = bench_optimum(&t, best);
    uint64_t rounds = train(m, &t, &r, 1e-9, most, 0);
    const round_report *last = &r.report[rounds];
    if (last->gap > 1e-9 * r.report[0].gap)
        fail_msg("%s, %s, cost %g, %d blocks: gap %g of %g after %d rounds", m->name, f->loss, s->cost,
                 (int)s->blocks, last->gap, r.report[0].gap, (int)rounds);
    assert_true(fabs(last->primal - optimum) <= 1e-8 * fabs(optimum));
    assert_true_rounds(&t, &r, optimum, f->newton_alone);
    bench_close(&t);
}

static void test_optimum(void **unused)
{
    (void)unused;
    for (int i = 0; i < SERVED; i++)
        for (uint64_t blocks = 1; blocks <= 3; blocks++)
            for (int k = 0; k < 6; k++) {
                shape s = {.loss = served[i].loss,
                           .blocks = blocks,
                           .classes = served[i].classes,
                           .cost = k % 3 == 0   ? 0.1
                                   : k % 3 == 1 ? 1
                                                : 10,
                           .factors = k >= 3,
                           .spread = k >= 3 ? 1 : 0};
                state = 100 * (uint64_t)i + (uint64_t)k;
                reach_optimum(&newton_method, &served[i], &s, served[i].newton_alone ? 40 : 15);
                if (!served[i].newton_alone)
                    reach_optimum(&tron_method, &served[i], &s, 100);
            }
}

/* A round of newton sends its gradient, the triangle, and with kinks a right side for each of the solves that
 * line_search_steps counts. */
static void test_vectors_of_newton(void **unused)
{
    (void)unused;
    for (int i = 0; i < SERVED; i++) {
        static bench t;
        static recorder r;
        state = 7;
        bench_open(&t, &(shape){.loss = served[i].loss, .blocks = 2, .classes = served[i].classes, .cost = 1});
        uint64_t rounds = train(&newton_method, &t, &r, 1e-6, 40, 0), n = t.problem.n;
        assert_int_equal(r.report[0].vectors_sent, 1);
        assert_true(rounds > 0);
        for (uint64_t k = 1; k <= rounds; k++) {
            uint64_t sides = served[i].newton_alone ? r.report[k].line_search_steps : 0;
            assert_int_equal(r.report[k].vectors_sent - r.report[k - 1].vectors_sent, 1 + (n + 2) / 2 + sides);
            assert_true(!served[i].newton_alone || (sides >= 2 && sides <= 5));
        }
        bench_close(&t);
    }
}

static void test_newton_on_a_quadratic(void **unused)
{
    (void)unused;
    static bench t;
    static recorder r;
    state = 3;
    bench_open(&t, &(shape){.loss = "squared-error", .blocks = 3, .cost = 100, .spread = 3});
    assert_int_equal(train(&newton_method, &t, &r, 1e-12, 10, 0), 1);
    assert_true(r.report[1].step == 1);
    bench_close(&t);
}

/* The partition changes rounding alone. */
static void test_rounds_without_partition(void **unused)
{
    (void)unused;
    for (int i = 0; i < SERVED; i++) {
        static bench t;
        static recorder r, one;
        for (uint64_t blocks = 1; blocks <= 4; blocks++) {
            state = 11;
            bench_open(&t,
                       &(shape){.loss = served[i].loss, .blocks = blocks, .classes = served[i].classes, .cost = 1});
            train(&newton_method, &t, &r, 1e-6, 40, 0);
            if (blocks == 1)
                one = r;
            assert_int_equal(r.rounds, one.rounds);
            for (uint64_t k = 0; k < r.rounds; k++)
                assert_true(fabs(r.report[k].primal - one.report[k].primal) <= 1e-8 * one.report[0].primal);
            bench_close(&t);
        }
    }
}

/* The interior point form corrects what the predictor leaves out, for both products of a hinge: without either half
 * rounds are a tenth more. */
static void test_rounds_of_the_interior_form(void **unused)
{
    (void)unused;
    static const char *const kinked[] = {"hinge", "epsilon-insensitive"};
    static bench t;
    static recorder r;
    double rounds[2] = {0, 0}, runs = 0;
    for (uint64_t seed = 1; seed <= 12; seed++)
        for (double cost = 0.1; cost < 2000; cost *= 10, runs++)
            for (int k = 0; k < 2; k++) {
                state = seed;
                bench_open(&t, &(shape){.loss = kinked[k], .blocks = 1, .cost = cost});
                rounds[k] += (double)train(&newton_method, &t, &r, 1e-9, 60, 0);
                assert_true(r.report[r.rounds - 1].gap <= 1e-9 * r.report[0].gap);
                bench_close(&t);
            }
    assert_true(rounds[0] <= 7.6 * runs && rounds[1] <= 8.4 * runs);
}

static double region_after(double taken, bool boundary)
{
    return tron_radius(
        &(tron_trial){.radius = 1, .length = boundary ? 1 : 0.5, .taken = taken, .boundary = boundary});
}

static void test_region(void **unused)
{
    (void)unused;
    assert_true(region_after(1, true) > 1); /* it was in the way of a good step */
    assert_true(region_after(2, true) > 1);
    assert_true(region_after(1, false) == 1); /* it was not */
    assert_true(region_after(0.01, true) == 1 && region_after(0.01, false) == 1);
    assert_true(region_after(1e-4, true) < 1 && region_after(0, true) < 1);
    assert_true(region_after(1e-4, false) < 0.5 && region_after(0, false) < 0.5 && region_after(0, false) > 0);
}

/* Most instances start inside a wide tube, where the model does not see them: it promises too much, and TRON must
 * stop short. A round's vectors: image, diagonal, and one a product with the Hessian. */
static void test_tron_stops_short(void **unused)
{
    (void)unused;
    static bench t;
    static recorder r;
    uint64_t shortened = 0, whole = 0;
    for (uint64_t seed = 1; seed < 10; seed++) {
        state = seed;
        bench_open(&t, &(shape){.loss = "squared-epsilon-insensitive", .blocks = 2, .cost = 100});
        t.problem.epsilon = 1.6;
        uint64_t rounds = train(&tron_method, &t, &r, 1e-6, 200, 0);
        assert_true(r.report[rounds].gap <= 1e-6 * r.report[0].gap);
        for (uint64_t k = 1; k <= rounds; k++) {
            const round_report *now = &r.report[k];
            uint64_t trials = now->line_search_steps, vectors = now->vectors_sent - now[-1].vectors_sent;
            shortened += now->step < 0.9;
            whole += now->step == 1;
            assert_true(now->primal <= now[-1].primal);
            assert_true(now->dual <= now[-1].dual); /* the best so far, though s(w) may be worse */
            assert_true(trials >= 1 && now->step > 0);
            /* epochs: 2 a product, 1 a trial, 1 for the diagonal and 1 for the image */
            assert_true(now->epochs == (double)(2 * (vectors - 2) + trials + 2));
        }
        bench_close(&t);
    }
    assert_true(shortened > 5 && whole > 5);
}

/* Every region of a run, and how they follow each other. */
typedef struct regions {
    tron_observer observer;
    uint64_t count, grown, shrunk;
    double next;
} regions;

static void see_region(tron_observer *self, const tron_trial *s, double next_radius)
{
    regions *seen = (regions *)self;
    assert_true(s->radius > 0 && s->length > 0 && s->length <= s->radius * (1 + 1e-12));
    assert_true(!s->boundary || s->length >= s->radius * (1 - 1e-12));
    assert_true(seen->count == 0 || s->radius == seen->next); /* it lasts from round to round */
    seen->grown += next_radius > s->radius;
    seen->shrunk += next_radius < s->radius;
    seen->next = next_radius;
    seen->count++;
}

/* Long rows start inside the tube, where the model does not see them, and leave it after less than a thousandth of
 * the first steps: the region shrinks. Later it is in the way of good steps, and grows. */
static void test_region_of_a_run(void **unused)
{
    (void)unused;
    static bench t;
    static recorder r;
    for (uint64_t seed = 1; seed < 10; seed++) {
        bda_error err = {0};
        regions seen = {.observer = {.trial = see_region}};
        state = seed;
        bench_open(&t, &(shape){.loss = "squared-epsilon-insensitive", .blocks = 2, .cost = 1, .length = 1e4});
        t.problem.epsilon = 1.6;
        recorder_open(&r, &t, 1e-6, 200);
        assert_true(tron_minimise(&t.problem, &r.watch, &seen.observer, &err));
        assert_true(r.report[r.rounds - 1].gap <= 1e-6 * r.report[0].gap);
        assert_true(seen.count + 1 >= r.rounds && seen.grown > 0 && seen.shrunk > 0);
        bench_close(&t);
    }
}

int main(void)
{
    (void)assert_honest; /* is of methods that send one vector a round */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_optimum),
        cmocka_unit_test(test_vectors_of_newton),
        cmocka_unit_test(test_newton_on_a_quadratic),
        cmocka_unit_test(test_rounds_without_partition),
        cmocka_unit_test(test_rounds_of_the_interior_form),
        cmocka_unit_test(test_region),
        cmocka_unit_test(test_tron_stops_short),
        cmocka_unit_test(test_region_of_a_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
