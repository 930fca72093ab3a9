/* rival_support.h - a small problem as the program and as the checker know it, and a watch under which every round of
 * a method is held against the checker: what the tests of admm, average and perceptron share. */
#ifndef UNIT_RIVAL_SUPPORT_H
#define UNIT_RIVAL_SUPPORT_H

#include <math.h>
#include <string.h>

#include "checker.h"
#include "checker/draw.h"
#include "problem/block.h"
#include "unit/cmocka_all.h"

enum { ROWS = 36, COLUMNS = 5, CLASSES = 3, MOST_ROUNDS = 3000 };

typedef struct shape {
    const loss *loss;
    uint64_t classes; /* 0, or CLASSES */
    uint64_t blocks;
    double l1_ratio;
    bool factors;
    double margin; /* of instances that can be separated; 0: labels at random */
    double cost;   /* 0: 0.6 */
} shape;

typedef struct bench {
    shape shape;
    uint64_t start[ROWS + 1], check_column[ROWS * COLUMNS];
    uint32_t column[ROWS * COLUMNS];
    double value[ROWS * COLUMNS], label[ROWS], y[ROWS], cost[ROWS], factor[COLUMNS];
    check_problem check;
    comm *comm;
    data *data;
    problem problem;
} bench;

/* A row that a fixed w gives to the class y by a margin; rows are drawn until one has it. */
static inline void draw_separable(double *row, uint64_t classes, uint64_t y, double margin)
{
    for (;;) {
        double score[CLASSES] = {0}, next = -INFINITY;
        for (int j = 0; j < COLUMNS; j++) {
            row[j] = uniform(-1, 1);
            for (uint64_t m = 0; m < classes; m++)
                score[m] += row[j] * cos(1 + 2.0 * (double)m + 3.0 * j);
        }
        for (uint64_t m = 0; m < classes; m++)
            next = m == y ? next : fmax(next, score[m]);
        if (score[y] - next >= margin)
            return;
    }
}

static inline void bench_open(bench *t, const shape *s)
{
    bda_error err = {0};
    memset(t, 0, sizeof *t);
    t->shape = *s;
    const uint64_t labels = s->loss->regression ? 1 : s->classes ? s->classes : 2;
    const double C = s->cost > 0 ? s->cost : 0.6;
    const double factors[CLASSES] = {s->loss->regression ? 1 : 1.5, 1, 0.7};
    for (int j = 0; j < COLUMNS; j++)
        t->factor[j] = s->factors ? uniform(0.5, 2) : 1;
    for (int i = 0; i < ROWS; i++) {
        double *row = t->value + i * COLUMNS;
        t->start[i + 1] = (uint64_t)(i + 1) * COLUMNS;
        for (int j = 0; j < COLUMNS; j++) {
            t->check_column[i * COLUMNS + j] = t->column[i * COLUMNS + j] = (uint32_t)j;
            row[j] = uniform(-1, 1);
        }
        t->y[i] = s->classes ? i % CLASSES : s->loss->regression ? uniform(-2, 2) : i % 2 ? 1 : -1;
        if (s->margin > 0)
            draw_separable(row, labels, (uint64_t)i % labels, s->margin);
        t->label[i] = t->y[i];
        t->cost[i] = C * factors[s->loss->regression ? 0 : s->classes ? (int)t->y[i] : t->y[i] > 0];
    }
    t->check = (check_problem){.loss = check_loss_named(s->loss->name), .l = ROWS, .n = COLUMNS, .start = t->start};
    t->check.column = t->check_column;
    t->check.value = t->value;
    t->check.y = t->y;
    t->check.cost = t->cost;
    t->check.epsilon = 0.1;
    t->check.classes = s->classes;
    t->check.l1_ratio = s->l1_ratio;
    t->check.factor = t->factor;
    problem_request request = {.loss = s->loss, .cost = C, .epsilon = 0.1, .l1_ratio = s->l1_ratio, .bias = -1};
    request.cost_factor = factors;
    request.factor = s->factors ? t->factor : NULL;
    request.threads = 1;
    t->comm = bda_comm_single(&err);
    t->data = data_copy(t->comm, s->blocks, ROWS, t->start, t->column, t->value, t->label, &err);
    assert_non_null(t->data);
    assert_true(problem_open(&t->problem, t->comm, t->data, &request, &err));
}

static inline void bench_close(bench *t)
{
    problem_close(&t->problem);
    data_free(t->data);
    bda_comm_free(t->comm);
}

typedef struct recorder {
    watch watch;
    const bench *bench;
    double target; /* stops once the gap is at most this share of the first */
    uint64_t rounds, most;
    round_report report[MOST_ROUNDS + 1];
    double w[MOST_ROUNDS + 1][COLUMNS * CLASSES];
} recorder;

static inline double recorder_seconds(watch *self)
{
    (void)self;
    return 0;
}

static inline bool recorder_interrupted(watch *self)
{
    (void)self;
    return false;
}

/* What a round says of w and alpha must be what the checker says of them. */
static inline void expect_truth(const bench *t, const round_report *report, const double *w)
{
    double alpha[ROWS * CLASSES];
    uint64_t at = 0, width = t->shape.classes ? t->shape.classes : 1;
    for (uint64_t k = 0; k < t->data->local_blocks; k++) {
        block_alpha(report->blocks[k], alpha + at * width);
        at += block_count(report->blocks[k]);
    }
    assert_int_equal(at, ROWS);
    check_verdict truth = check_points(&t->check, w, alpha);
    long double near = 1e-11L * (1 + truth.primal);
    assert_true(truth.feasible);
    assert_true(fabsl(report->primal - truth.primal) <= near);
    assert_true(fabsl(report->dual - truth.dual) <= near + 1e-11L * fabsl(truth.dual));
    assert_true(report->gap >= 0);
    assert_true(fabsl(report->gap - truth.gap) <= near + 1e-11L * truth.gap);
}

static inline bool recorder_round(watch *self, const round_report *report, const double *w)
{
    recorder *r = (recorder *)self;
    assert_int_equal(report->round, r->rounds++);
    r->report[report->round] = *report;
    memcpy(r->w[report->round], w, r->bench->problem.n * sizeof *w);
    if (!isnan(report->dual))
        expect_truth(r->bench, report, w);
    return report->gap <= r->target * r->report[0].gap || report->stalled || report->finished ||
           report->round >= r->most;
}

/* Trains until the target is met or the rounds are over; returns their number, round 0 not counted. */
static inline uint64_t train(const method *m, bench *t, const method_options *options, double target, uint64_t most,
                             recorder *r)
{
    bda_error err = {0};
    *r = (recorder){.bench = t, .target = target, .most = most};
    r->watch = (watch){.seconds = recorder_seconds, .interrupted = recorder_interrupted, .round = recorder_round};
    assert_true(m->train(m, &t->problem, options, &r->watch, &err));
    return r->rounds - 1;
}

static inline method_options usual_options(void)
{
    return (method_options){.a1 = NAN, .a2 = NAN, .step = NAN, .tau = 0.01, .beta = 0.5, .seed = 1, .penalty = 1};
}

/* Each request for memory in turn is refused: training must end with a sentence, and (under the sanitizer) without a
 * leak; the last time there is one refusal less than it takes, and it goes well. */
static inline void expect_memory_refused(const method *m, const shape *s)
{
    bench t;
    state = 2;
    bench_open(&t, s);
    method_options options = usual_options();
    options.relaxation = 1.5;
    static recorder r;
    bool ok = false;
    for (uint64_t k = 1; !ok; k++) {
        bda_error err = {0};
        r = (recorder){.bench = &t, .most = 3};
        r.watch = (watch){.seconds = recorder_seconds, .interrupted = recorder_interrupted, .round = recorder_round};
        mem_fail_at(k);
        ok = m->train(m, &t.problem, &options, &r.watch, &err);
        mem_fail_at(0);
        assert_true(ok || (err.status == BDA_FAILED && strstr(err.text, "out of memory")));
        assert_true(k < 1000);
        if (k == 1)
            assert_false(ok);
    }
    bench_close(&t);
}

/* Every loss, with two labels or numbers and with classes, and every regulariser in turn. */
static inline void for_all_shapes(void (*test)(const shape *))
{
    static const uint64_t blocks[] = {1, 2, 3, 5};
    unsigned turn = 0;
    for (const loss *f = losses; f->name; f++)
        for (uint64_t classes = 0; classes <= (f->regression ? 0 : CLASSES); classes += CLASSES)
            for (int k = 0; k < 4; k++, turn++)
                test(&(const shape){.loss = f,
                                    .classes = classes,
                                    .blocks = blocks[k],
                                    .l1_ratio = (turn + (unsigned)k / 2) % 2 ? 0.3 : 0,
                                    .factors = turn / 2 % 2});
}

/* Trains to the gap, in rounds of one vector each, and one more where X alpha is computed anew. */
static inline void expect_gap_by(const method *m, const shape *s, double gap, recorder *seen)
{
    bench t;
    bench_open(&t, s);
    method_options options = usual_options();
    uint64_t rounds = train(m, &t, &options, gap, MOST_ROUNDS, seen);
    if (!(seen->report[rounds].gap <= gap * seen->report[0].gap))
        fail_msg("%s, %d classes, %d blocks, R = %g: gap %g of %g after %d rounds", s->loss->name, (int)s->classes,
                 (int)s->blocks, s->l1_ratio, seen->report[rounds].gap, seen->report[0].gap, (int)rounds);
    for (uint64_t i = 0, anew = 0; i <= rounds; i++) {
        anew += seen->report[i].certificate.anew;
        assert_int_equal(seen->report[i].vectors_sent, i + anew);
    }
    bench_close(&t);
}

#endif
