/* smooth_support.h - a tiny problem as the program and as the checker know it, and a watch that remembers every
 * round: what tests of l-commdir and lbfgs share. */
#ifndef UNIT_SMOOTH_SUPPORT_H
#define UNIT_SMOOTH_SUPPORT_H

#include <math.h>
#include <string.h>

#include "checker.h"
#include "checker/draw.h"
#include "problem/problem.h"
#include "unit/cmocka_all.h"

enum { ROWS = 40, COLUMNS = 6, CLASSES = 3, MOST_ROUNDS = 2000 };

typedef struct shape {
    const char *loss;
    uint64_t blocks, classes; /* classes: 0, or CLASSES for multiclass */
    double cost, l1_ratio;
    double spread; /* column j is 10^(-spread j / COLUMNS) long: how ill-conditioned it is */
    bool factors;
    double length; /* of every fourth row beside the others, whose number is 0 in a regression; 0: as the others */
} shape;

typedef struct bench {
    uint64_t start[ROWS + 1], column[ROWS * COLUMNS];
    uint32_t narrow_column[ROWS * COLUMNS];
    double value[ROWS * COLUMNS], label[ROWS], y[ROWS], cost[ROWS], factor[COLUMNS];
    check_problem check;
    comm *comm;
    data *data;
    problem problem;
} bench;

static void bench_open(bench *t, const shape *s)
{
    bda_error err = {0};
    const loss *f = loss_find(s->loss);
    memset(t, 0, sizeof *t);
    for (uint64_t j = 0; j < ROWS * COLUMNS; j++) {
        t->narrow_column[j] = (uint32_t)(t->column[j] = j % COLUMNS);
        t->value[j] = uniform(-1, 1) * pow(10, -s->spread * (double)(j % COLUMNS) / COLUMNS);
    }
    for (uint64_t j = 0; s->length > 0 && j < ROWS * COLUMNS; j++)
        t->value[j] *= j / COLUMNS % 4 == 0 ? s->length : 1;
    for (uint64_t i = 0; i <= ROWS; i++)
        t->start[i] = i * COLUMNS;
    for (uint64_t j = 0; j < COLUMNS; j++)
        t->factor[j] = s->factors ? uniform(0.5, 2) : 1;
    for (uint64_t i = 0; i < ROWS; i++) {
        t->y[i] = s->classes ? (double)(i % s->classes) : f->regression ? uniform(-2, 2) : i % 2 ? 1 : -1;
        if (s->length > 0 && f->regression && i % 4 == 0)
            t->y[i] = 0;
        t->label[i] = t->y[i];
        t->cost[i] = s->cost;
    }
    t->check = (check_problem){.loss = check_loss_named(s->loss), .l = ROWS, .n = COLUMNS, .start = t->start};
    t->check.column = t->column;
    t->check.value = t->value;
    t->check.y = t->y;
    t->check.cost = t->cost;
    t->check.epsilon = 0.1;
    t->check.classes = s->classes;
    t->check.l1_ratio = s->l1_ratio;
    t->check.factor = t->factor;
    problem_request request = {.loss = f, .cost = s->cost, .epsilon = 0.1, .l1_ratio = s->l1_ratio, .bias = -1};
    request.threads = 1;
    request.factor = s->factors ? t->factor : NULL;
    t->comm = bda_comm_single(&err);
    t->data = data_copy(t->comm, s->blocks, ROWS, t->start, t->narrow_column, t->value, t->label, &err);
    assert_non_null(t->data);
    assert_true(problem_open(&t->problem, t->comm, t->data, &request, &err));
}

static void bench_close(bench *t)
{
    problem_close(&t->problem);
    data_free(t->data);
    bda_comm_free(t->comm);
}

/* The least P, by the checker's own method. */
static double bench_optimum(const bench *t, double *w)
{
    double alpha[ROWS * CLASSES];
    assert_true(check_solve(&t->check, 1e-10, 100000, alpha, w));
    return (double)check_primal(&t->check, w);
}

typedef struct recorder {
    watch watch;
    double target; /* stops once the gap is at most this share of the first */
    uint64_t rounds, most;
    round_report report[MOST_ROUNDS + 1];
    double w[COLUMNS * CLASSES];
    uint64_t n;
} recorder;

static double recorder_seconds(watch *self)
{
    (void)self;
    return 0;
}

static bool recorder_interrupted(watch *self)
{
    (void)self;
    return false;
}

static bool recorder_round(watch *self, const round_report *report, const double *w)
{
    recorder *r = (recorder *)self;
    assert_int_equal(report->round, r->rounds++);
    r->report[report->round] = *report;
    memcpy(r->w, w, r->n * sizeof *w);
    return report->gap <= r->target * r->report[0].gap || report->stalled || report->round >= r->most;
}

static void recorder_open(recorder *r, const bench *t, double target, uint64_t most)
{
    *r = (recorder){.target = target, .most = most, .n = t->problem.n};
    r->watch = (watch){.seconds = recorder_seconds, .interrupted = recorder_interrupted, .round = recorder_round};
}

/* Trains; the rounds it took, round 0 not counted. */
static uint64_t train(const method *m, bench *t, recorder *r, double target, uint64_t most, int64_t history)
{
    bda_error err = {0};
    method_options options = {.a1 = NAN, .a2 = NAN, .step = NAN, .tau = 0.01, .beta = 0.5, .seed = 1};
    options.history = history;
    recorder_open(r, t, target, most);
    assert_true(m->train(m, &t->problem, &options, &r->watch, &err));
    return r->rounds - 1;
}

/* Every round says the truth: P never rises, the dual bounds the optimum, the last P is that of its w, and a round
 * sends one vector. */
static void assert_honest(const bench *t, const recorder *r, double optimum)
{
    double size = fabs(r->report[0].primal);
    for (uint64_t i = 0; i < r->rounds; i++) {
        const round_report *now = &r->report[i];
        assert_true(now->primal + now->dual >= -1e-12 * size);
        assert_true(now->dual >= -optimum - 1e-9 * size);
        assert_true(fabs(now->primal + now->dual - now->gap) <= 1e-11 * size);
        assert_int_equal(now->vectors_sent, i + 1);
        if (i > 0)
            assert_true(now->primal <= now[-1].primal + 1e-12 * size);
    }
    double primal = (double)check_primal(&t->check, r->w);
    assert_true(fabs(primal - r->report[r->rounds - 1].primal) <= 1e-11 * size);
}

/* With 1, 2 and 4 blocks the same rounds, but for rounding. */
static inline void expect_same_rounds(const method *m, shape s, uint64_t most)
{
    static bench t;
    static recorder one, other;
    for (s.blocks = 1; s.blocks <= 4; s.blocks *= 2) {
        recorder *r = s.blocks == 1 ? &one : &other;
        state = 7;
        bench_open(&t, &s);
        train(m, &t, r, 1e-7, most, 0);
        bench_close(&t);
        assert_int_equal(one.rounds, r->rounds);
        for (uint64_t k = 0; k < one.rounds; k++)
            assert_true(fabs(one.report[k].primal - r->report[k].primal) <= 1e-9 * one.report[0].primal);
    }
}

/* Each request for memory is refused in turn: no round is reported, and the sentence says why. */
static inline void expect_memory_refused(const method *m, const shape *s)
{
    static bench t;
    static recorder r;
    bool ok = false;
    bench_open(&t, s);
    for (uint64_t k = 1; !ok; k++) {
        bda_error err = {0};
        method_options options = {.tau = 0.01, .beta = 0.5};
        recorder_open(&r, &t, 1e-3, 50);
        mem_fail_at(k);
        ok = m->train(m, &t.problem, &options, &r.watch, &err);
        assert_true(ok || (r.rounds == 0 && strstr(err.text, "memory")));
        assert_true(k < 200);
    }
    mem_fail_at(0);
    bench_close(&t);
}

#endif
