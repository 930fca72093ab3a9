/* test_admm.c - ADMM against the textbook's own four lines, with every u_k kept and every local problem solved by a
 * direct method; its optimum and certificate for every loss and regulariser; and what the literature says of its
 * residuals. */
#include "methods/rivals.h"
#include "unit/rival_support.h"

static recorder seen;

static void expect_optimum(const shape *s)
{
    state = 7;
    expect_gap_by(&admm, s, 1e-5, &seen);
}

static void test_reaches_the_optimum(void **unused)
{
    (void)unused;
    for_all_shapes(expect_optimum);
}

/* ---- the textbook ------------------------------------------------------------------------------------------- */

/* A x = b for a small positive definite A; both are used up. */
static void solve(double A[COLUMNS][COLUMNS], double *b)
{
    for (int i = 0; i < COLUMNS; i++)
        for (int k = i + 1; k < COLUMNS; k++) {
            double f = A[k][i] / A[i][i];
            for (int j = i; j < COLUMNS; j++)
                A[k][j] -= f * A[i][j];
            b[k] -= f * b[i];
        }
    for (int i = COLUMNS - 1; i >= 0; i--) {
        for (int j = i + 1; j < COLUMNS; j++)
            b[i] -= A[i][j] * b[j];
        b[i] /= A[i][i];
    }
}

typedef struct textbook {
    double z[COLUMNS], w[5][COLUMNS], u[5][COLUMNS];
    double rho, primal_residual, dual_residual;
} textbook;

/* w = argmin sum_i c (x_i'w - y_i)^2 + rho/2 |w - (z - u_k)|^2 */
static void local_step(const bench *t, textbook *b, uint64_t k)
{
    double A[COLUMNS][COLUMNS] = {{0}}, *w = b->w[k];
    for (int j = 0; j < COLUMNS; j++) {
        A[j][j] = b->rho;
        w[j] = b->rho * (b->z[j] - b->u[k][j]);
    }
    for (uint64_t i = t->data->block_start[k]; i < t->data->block_start[k + 1]; i++) {
        const double *x = t->value + i * COLUMNS;
        for (int j = 0; j < COLUMNS; j++) {
            for (int m = 0; m < COLUMNS; m++)
                A[j][m] += 2 * t->cost[i] * x[j] * x[m];
            w[j] += 2 * t->cost[i] * x[j] * t->y[i];
        }
    }
    solve(A, w);
}

/* argmin over z of g_j(z) + sum_k rho/2 (z - a_k)^2, by golden section on the checker's g_j */
typedef struct consensus {
    const bench *bench;
    int j;
    double rho, mean;
} consensus;

static long double consensus_value(long double z, const void *self)
{
    const consensus *c = self;
    const check_problem *p = &c->bench->check;
    return check_penalty_value(p->l1_ratio, p->factor[c->j], z) +
           0.5L * (double)c->bench->shape.blocks * c->rho * (z - c->mean) * (z - c->mean);
}

static void textbook_round(const bench *t, textbook *b, double relaxation)
{
    const uint64_t K = t->shape.blocks;
    double r[5][COLUMNS], apart = 0, moved = 0;
    for (uint64_t k = 0; k < K; k++)
        local_step(t, b, k);
    for (int j = 0; j < COLUMNS; j++) {
        consensus c = {.bench = t, .j = j, .rho = b->rho};
        for (uint64_t k = 0; k < K; k++) {
            r[k][j] = relaxation * b->w[k][j] + (1 - relaxation) * b->z[j];
            c.mean += (r[k][j] + b->u[k][j]) / (double)K;
        }
        long double z;
        check_golden(consensus_value, &c, -10, 10, &z);
        moved += (double)((z - b->z[j]) * (z - b->z[j]));
        b->z[j] = (double)z;
        for (uint64_t k = 0; k < K; k++) {
            b->u[k][j] += r[k][j] - b->z[j];
            apart += (b->w[k][j] - b->z[j]) * (b->w[k][j] - b->z[j]);
        }
    }
    b->primal_residual = sqrt(apart);
    b->dual_residual = b->rho * sqrt((double)K * moved);
}

static void textbook_balance(const bench *t, textbook *b)
{
    double factor = b->primal_residual > 10 * b->dual_residual   ? 2
                    : b->dual_residual > 10 * b->primal_residual ? 0.5
                                                                 : 1;
    b->rho *= factor;
    for (uint64_t k = 0; k < t->shape.blocks; k++)
        for (int j = 0; j < COLUMNS; j++)
            b->u[k][j] /= factor;
}

/* The model is z; where the loss has kinks t z, and P is not higher there than at z. Returns whether it is lower. */
static bool expect_same_ray(const bench *t, const double *w, const double *z)
{
    double wz = 0, zz = 0;
    const bool smooth = t->problem.task->smooth;
    for (int j = 0; j < COLUMNS; j++) {
        wz += w[j] * z[j];
        zz += z[j] * z[j];
    }
    for (int j = 0; j < COLUMNS; j++)
        assert_true(fabs(w[j] - (smooth ? 1 : wz / zz) * z[j]) <= 1e-6);
    long double at_w = check_primal(&t->check, w), at_z = check_primal(&t->check, z);
    assert_true(at_w <= at_z * (1 + 1e-6L));
    return at_w < at_z * (1 - 1e-3L);
}

static void compare_rounds(const shape *s, double rho, double relaxation, bool balance)
{
    enum { COMPARED = 15 };
    state = 21;
    bench t;
    bench_open(&t, s);
    method_options options = usual_options();
    options.penalty = rho;
    options.relaxation = relaxation;
    options.balance = balance;
    options.local_epochs = 400;
    textbook b = {.rho = rho};
    int lower = 0;
    assert_int_equal(train(&admm, &t, &options, 0, COMPARED, &seen), COMPARED);
    for (int round = 1; round <= COMPARED; round++) {
        textbook_round(&t, &b, relaxation);
        const round_report *report = &seen.report[round];
        lower += expect_same_ray(&t, seen.w[round], b.z);
        assert_true(fabs(report->primal_residual - b.primal_residual) <= 1e-5);
        assert_true(fabs(report->dual_residual - b.dual_residual) <= 1e-5 * fmax(1, b.rho));
        if (balance)
            textbook_balance(&t, &b);
    }
    assert_true(!balance || b.rho != rho); /* it was put to the test */
    assert_true((lower > 0) != t.problem.task->smooth);
    bench_close(&t);
}

static void test_rounds_are_the_textbooks(void **unused)
{
    (void)unused;
    const loss *f = loss_find("squared-error");
    for (uint64_t K = 1; K <= 5; K += 2)
        for (int penalty = 0; penalty < 4; penalty++) {
            shape s = {.loss = f, .blocks = K, .l1_ratio = penalty / 2 ? 0.4 : 0, .factors = penalty % 2};
            compare_rounds(&s, 1, 1, false);
            compare_rounds(&s, 0.7, 1.6, false);
            compare_rounds(&s, 50, 1, true);
            compare_rounds(&s, 50, 1.6, true);
        }
}

/* ---- residuals ---------------------------------------------------------------------------------------------- */

/* With local problems that are solved, rho |r|^2 + |s|^2 / rho never rises (He and Yuan 2015), and both residuals go
 * to 0. */
static void expect_falling(const shape *s)
{
    state = 11;
    bench t;
    bench_open(&t, s);
    method_options options = usual_options();
    options.local_epochs = 300;
    options.penalty = 2;
    uint64_t rounds = train(&admm, &t, &options, 0, 120, &seen);
    double last = INFINITY;
    for (uint64_t i = 1; i <= rounds; i++) {
        const round_report *report = &seen.report[i];
        double r = report->primal_residual, d = report->dual_residual, now = 2 * r * r + d * d / 2;
        assert_true(now <= last * (1 + 1e-6) + 1e-12);
        last = now;
    }
    assert_true(seen.report[1].primal_residual > 0 && seen.report[1].dual_residual > 0);
    assert_true(seen.report[rounds].primal_residual <= 1e-2 * seen.report[1].primal_residual);
    assert_true(seen.report[rounds].dual_residual <= 1e-2 * seen.report[1].dual_residual);
    bench_close(&t);
}

static void test_residuals_fall(void **unused)
{
    (void)unused;
    for (const loss *f = losses; f->name; f++)
        if (f->smooth)
            expect_falling(&(const shape){.loss = f, .blocks = 4});
}

/* From a penalty that is far off, balancing needs fewer rounds. */
static void test_balance_helps(void **unused)
{
    (void)unused;
    const shape s = {.loss = loss_find("squared-hinge"), .blocks = 3};
    for (int far = 0; far < 2; far++) {
        uint64_t rounds[2];
        for (int balance = 0; balance < 2; balance++) {
            state = 5;
            bench t;
            bench_open(&t, &s);
            method_options options = usual_options();
            options.penalty = far ? 300 : 0.01;
            options.balance = balance;
            rounds[balance] = train(&admm, &t, &options, 1e-4, MOST_ROUNDS, &seen);
            bench_close(&t);
        }
        assert_true(2 * rounds[1] < rounds[0]);
    }
}

static void test_memory_refused(void **unused)
{
    (void)unused;
    expect_memory_refused(&admm, &(const shape){.loss = loss_find("squared-hinge"), .classes = CLASSES, .blocks = 3});
    expect_memory_refused(&admm, &(const shape){.loss = loss_find("logistic"), .blocks = 2});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reaches_the_optimum), cmocka_unit_test(test_rounds_are_the_textbooks),
        cmocka_unit_test(test_residuals_fall),      cmocka_unit_test(test_balance_helps),
        cmocka_unit_test(test_memory_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
