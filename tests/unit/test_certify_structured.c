/* test_certify_structured.c - v = X alpha of tags and trees is not taken on trust: somebody spoils it in the middle of a
 * training, and yet what the training ends with is the truth. */
#include "methods/table.h"
#include "unit/structured_dual.h"

static const structure *const structures[] = {&chain_structure, &tree_any_structure, &tree_projective_structure};
static const char *const names[] = {"hinge", "squared-hinge", "logistic"};
static const double C = 0.7;
#define SPOILT 4 /* rounds: one in which the dual has risen is taken back, and with it what was spoilt */

typedef struct spoiler {
    watch watch;
    corpus *corpus;
    int loss;
    const char *method;
    double target, first_gap;
    uint64_t spoils, most, rounds;
    uint64_t repaired_at; /* 0: never */
    uint64_t last_anew;
} spoiler;

static double no_seconds(watch *self)
{
    (void)self;
    return 0;
}

static bool nobody(watch *self)
{
    (void)self;
    return false;
}

static bool spoiler_ends(watch *self, const round_report *r, double *to_go)
{
    const spoiler *s = (spoiler *)self;
    *to_go = INFINITY;
    return r->round >= s->most || (r->round > 0 && r->gap <= s->target * s->first_gap);
}

/* f(alpha) from nothing but the variables and the rows as they were drawn. */
static long double true_dual(const corpus *t, int loss, const round_report *r)
{
    corpus now = *t;
    long double v[WEIGHTS_MOST], all = 0;
    now.blocks = (block **)(uintptr_t)r->blocks;
    const long double conjugate = loss == 2 ? crf_dual(&now, v) : svm_dual(&now, loss == 1, v);
    for (int j = 0; j < WEIGHTS_MOST; j++)
        all += 0.5L * v[j] * v[j];
    return all + conjugate;
}

/* With w'w/2 the model that is shown is v itself. */
static bool spoiler_round(watch *self, const round_report *r, const double *w)
{
    spoiler *s = (spoiler *)self;
    s->rounds = r->round;
    s->first_gap = r->round == 0 ? r->gap : s->first_gap;
    if (r->certificate.repaired > 0 && s->repaired_at == 0)
        s->repaired_at = r->round;
    if (r->certificate.anew) {
        s->last_anew = r->round;
        const long double truth = true_dual(s->corpus, s->loss, r);
        if (!(fabsl(r->dual - truth) < 1e-10L * (1 + fabsl(truth))))
            fail_msg("%s, %s, %s, round %d: dual %.17g, in truth %.17Lg", s->corpus->kind->name, names[s->loss],
                     s->method, (int)r->round, r->dual, truth);
        if (!(fabs(r->gap - (r->primal + r->dual)) < 1e-9 * (1 + r->primal)))
            fail_msg("%s, %s, %s, round %d: gap %g, primal %g, dual %g", s->corpus->kind->name, names[s->loss],
                     s->method, (int)r->round, r->gap, r->primal, r->dual);
    }
    const bool stop = spoiler_ends(self, r, &(double){0});
    if (r->round >= s->spoils && r->round - s->spoils < SPOILT)
        ((double *)(uintptr_t)w)[0] += 0.5;
    return stop;
}

static spoiler run(const structure *kind, int loss, const char *method, uint64_t spoils, double target, uint64_t most)
{
    corpus t;
    bda_error err = {0};
    state = 5;
    corpus_open(&t, kind, names[loss], C, 3);
    const method_options options = {
        .a1 = NAN, .a2 = NAN, .step = NAN, .tau = 0.01, .beta = 0.5, .seed = 1, .penalty = 1, .relaxation = 1};
    spoiler s = {
        .watch = {.seconds = no_seconds, .interrupted = nobody, .round = spoiler_round, .ends = spoiler_ends},
        .corpus = &t,
        .loss = loss,
        .method = method,
        .target = target,
        .spoils = spoils,
        .most = most};
    const struct method *m = method_find(method);
    if (!m->train(m, &t.problem, &options, &s.watch, &err))
        fail_msg("%s, %s, %s: %s", kind->name, names[loss], method, err.text);
    corpus_close(&t);
    return s;
}

#define FOR_ALL(test)                                                                                                \
    for (int kind = 0; kind < 3; kind++)                                                                             \
        for (int loss = 0; loss < 3; loss++)                                                                         \
            for (int m = 0; m < 3; m++)                                                                              \
                if (m != 1 || kind == 0 || loss != 2) /* momentum has no CRF over trees */                           \
    test(structures[kind], loss, m == 0 ? "bda" : m == 1 ? "momentum" : "disdca")

/* Builds with assertions would end here. */
static void expect_truth_in_the_end(const structure *kind, int loss, const char *method)
{
    const spoiler s = run(kind, loss, method, UINT64_MAX, 1e-3, 400);
    assert_true(s.last_anew == s.rounds && s.repaired_at == 0);
}

static void every_end_is_of_an_x_alpha_made_anew(void **state_of_test)
{
    (void)state_of_test;
    FOR_ALL(expect_truth_in_the_end);
}

/* Found in the end, and gone on from as long as there are rounds. */
static void expect_repair(const structure *kind, int loss, const char *method)
{
    const spoiler s = run(kind, loss, method, 3, 1e-3, 400);
    if (s.repaired_at == 0)
        fail_msg("%s, %s, %s: nothing was repaired in %d rounds", kind->name, names[loss], method, (int)s.rounds);
    assert_true(s.last_anew == s.rounds);
}

/* ... and in passing. */
static void expect_regular_repair(const structure *kind, int loss, const char *method)
{
    const spoiler s = run(kind, loss, method, 60, -1, 70);
    if (s.repaired_at != 64 || s.last_anew != 70)
        fail_msg("%s, %s, %s: repaired in round %d, of %d, anew in %d", kind->name, names[loss], method,
                 (int)s.repaired_at, (int)s.rounds, (int)s.last_anew);
}

static void a_v_that_is_wrong_is_found_and_repaired(void **state_of_test)
{
    (void)state_of_test;
#ifdef NDEBUG /* others abort */
    FOR_ALL(expect_repair);
    FOR_ALL(expect_regular_repair);
#else
    (void)expect_repair;
    (void)expect_regular_repair;
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_end_is_of_an_x_alpha_made_anew),
                                       cmocka_unit_test(a_v_that_is_wrong_is_found_and_repaired)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
