/* test_armijo.c - the line search of Algorithm 1 by its definition: the step of every round keeps
 *
 *     f(alpha + eta da) - f(alpha) <= eta tau Delta,   Delta = grad f*'X da + xi*(-alpha - da) - xi*(-alpha),
 *
 * whatever tau is, and a larger tau asks for shorter steps. All by the checker, from alpha before and after. */
#include "dual/dual.h"
#include "dual/presets.h"
#include "unit/rival_support.h"

enum { STEPS = 15 };

typedef struct path {
    watch watch;
    const bench *bench;
    uint64_t rounds;
    double alpha[STEPS + 1][ROWS], eta[STEPS + 1];
} path;

static bool path_round(watch *self, const round_report *report, const double *w)
{
    (void)w;
    path *to = (path *)self;
    uint64_t at = 0;
    for (uint64_t k = 0; k < to->bench->data->local_blocks; at += block_count(report->blocks[k++]))
        block_alpha(report->blocks[k], to->alpha[report->round] + at);
    to->eta[report->round] = report->step;
    to->rounds = report->round;
    return report->round == STEPS || report->gap <= 1e-7 * report->primal;
}

static void follow(path *to, bench *t, double tau)
{
    bda_error err = {0};
    method_options options = usual_options();
    options.search = SEARCH_BACKTRACKING;
    options.tau = tau;
    options.beta = 0.7;
    *to = (path){.bench = t};
    to->watch = (watch){.seconds = recorder_seconds, .interrupted = recorder_interrupted, .round = path_round};
    assert_true(bda_method.train(&bda_method, &t->problem, &options, &to->watch, &err));
    assert_true(to->rounds > 2);
}

static long double square(const bench *t, const double *alpha)
{
    long double v[COLUMNS], sum = 0;
    check_combine(&t->check, alpha, v);
    for (uint64_t j = 0; j < t->problem.n; j++)
        sum += v[j] * v[j];
    return sum;
}

static long double dual_of(const bench *t, const double *alpha)
{
    double w[COLUMNS];
    check_weights(&t->check, alpha, w);
    return check_points(&t->check, w, alpha).dual;
}

/* With g = w'w/2: f(alpha + da) less the half of |X da|^2 is f(alpha) + Delta. */
static void expect_enough(const bench *t, const double *before, const double *after, double eta, double tau)
{
    const uint64_t length = ROWS;
    double direction[ROWS], whole[ROWS];
    for (uint64_t i = 0; i < length; i++) {
        direction[i] = (1 - 1e-10) * (after[i] - before[i]) / eta; /* within the domain in spite of rounding */
        whole[i] = before[i] + direction[i];
    }
    const long double f = dual_of(t, before), rounding = 1e-9L * (fabsl(f) + 1);
    const long double delta = dual_of(t, whole) - square(t, direction) / 2 - f, phi = dual_of(t, after) - f;
    assert_true(delta < rounding);
    if (!(phi <= eta * tau * delta + rounding))
        fail_msg("%s, tau %g, step %g: f changed by %Lg, allowed %Lg", t->shape.loss->name, tau, eta, phi,
                 eta * tau * delta);
}

static int shorter; /* first steps with the larger tau */

static void enough_descent(const shape *s)
{
    static path paths[3];
    static const double tau[] = {0.01, 0.6, 0.95};
    if (s->l1_ratio > 0 || s->factors || s->classes) /* what follows is for g = w'w/2 and one number an instance */
        return;
    bench t;
    bench_open(&t, s);
    for (int k = 0; k < 3; k++) {
        path *p = &paths[k];
        follow(p, &t, tau[k]);
        for (uint64_t i = 1; i <= p->rounds; i++)
            if (p->eta[i] > 0 &&
                p->eta[i] <= 1) /* whole steps of less than 1: what lies beyond may not be feasible */
                expect_enough(&t, p->alpha[i - 1], p->alpha[i], p->eta[i], tau[k]);
        /* the first direction is the same whatever tau is */
        assert_true(k == 0 || p->eta[1] <= paths[k - 1].eta[1]);
        shorter += k > 0 && p->eta[1] < paths[k - 1].eta[1];
    }
    bench_close(&t);
}

static void steps_fall_enough(void **unused)
{
    (void)unused;
    state = 31;
    shorter = 0;
    for_all_shapes(enough_descent);
    assert_true(shorter > 3);
}

int main(void)
{
    (void)expect_gap_by;
    const struct CMUnitTest tests[] = {cmocka_unit_test(steps_fall_enough)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
