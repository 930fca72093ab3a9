/* test_certify.c - v = X alpha is not taken on trust: somebody spoils it in the middle of a training, and yet what the
 * training ends with is the truth. */
#include "methods/table.h"
#include "unit/rival_support.h"

typedef struct spoiler {
    recorder seen; /* first */
    uint64_t spoils;
    double repaired;
} spoiler;

static bool spoiler_ends(watch *self, const round_report *r, double *to_go)
{
    const recorder *seen = &((spoiler *)self)->seen;
    *to_go = INFINITY;
    return r->round >= seen->most || (r->round > 0 && r->gap <= seen->target * seen->report[0].gap);
}

/* With w'w/2 the model that is shown is v itself. */
static bool spoiler_round(watch *self, const round_report *r, const double *w)
{
    spoiler *s = (spoiler *)self;
    s->repaired = fmax(s->repaired, r->certificate.repaired);
    s->seen.report[r->round] = *r;
    if (r->certificate.anew)
        expect_truth(s->seen.bench, r, w);
    const bool stop = spoiler_ends(self, r, &(double){0});
    if (r->round == s->spoils)
        ((double *)(uintptr_t)w)[0] += 0.5;
    return stop;
}

static spoiler run;

static void a_v_that_is_wrong_is_found_and_repaired(void **state_of_test)
{
    (void)state_of_test;
#ifdef NDEBUG /* others abort */
    const char *const names[] = {"squared-hinge", "logistic", "squared-error", "hinge"};
    for (int k = 0; k < 4; k++)
        for (uint64_t classes = 0; classes <= (k == 2 ? 0 : CLASSES); classes += CLASSES) {
            state = 5;
            shape s = {.loss = loss_find(names[k]), .blocks = 2, .classes = classes};
            bench t;
            bench_open(&t, &s);
            method_options options = usual_options();
            bda_error err = {0};
            run = (spoiler){.seen = {.bench = &t, .target = 1e-4, .most = 400}, .spoils = 3};
            run.seen.watch = (watch){.seconds = recorder_seconds,
                                     .interrupted = recorder_interrupted,
                                     .round = spoiler_round,
                                     .ends = spoiler_ends};
            assert_true(method_find("bda")->train(method_find("bda"), &t.problem, &options, &run.seen.watch, &err));
            if (!(run.repaired > 1e-3))
                fail_msg("%s, %d classes: nothing was repaired", names[k], (int)classes);
            bench_close(&t);
        }
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_v_that_is_wrong_is_found_and_repaired)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
