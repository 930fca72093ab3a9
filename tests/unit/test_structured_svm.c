/* test_structured_svm.c - blocks of the structured SVM against all outputs of small sentences, one by one. */
#include "structured_support.h"

#include "dual/dual.h"
#include "unit/structured_dual.h"

static const structure *const structures[] = {&chain_structure, &tree_any_structure, &tree_projective_structure};
static const char *const svm_losses[] = {"hinge", "squared-hinge"};
#define FOR_ALL(kind, loss)                                                                                          \
    for (int kind = 0; kind < 3; kind++)                                                                             \
        for (int loss = 0; loss < 2; loss++)

enum { K = 3 };
static const double C = 0.7;

static long double loss_of_unit(const corpus *t, int i, bool squared, const long double *w)
{
    uint16_t y[LONGEST];
    long double most = 0;
    for (bool more = next_output(t, i, y, true); more; more = next_output(t, i, y, false))
        most = fmaxl(most, wrong_parts(t, i, y) - margin(t, i, y, w));
    return squared ? C * most * most : C * most;
}

/* Rounds from alpha = 0: the last leaves alpha and w = X alpha. */
static void walk(corpus *t, bool squared, int rounds, const subproblem *model, double eta, double *w)
{
    for (int round = 0; round <= rounds; round++) {
        long double v[WEIGHTS_MOST];
        svm_dual(t, squared, v);
        for (int j = 0; j < WEIGHTS_MOST; j++)
            w[j] = (double)v[j];
        for (block **b = t->blocks; *b && round < rounds; b++) {
            double dv[WEIGHTS_MOST];
            block_direction d;
            block_value value;
            subproblem s = *model;
            s.w = w;
            s.seed = 3;
            s.round = (uint64_t)round;
            block_evaluate(*b, w, 0, &value);
            block_solve(*b, &s, dv, &d);
            assert_true(d.limit >= 1);
            block_move(*b, eta);
        }
    }
}

static void test_evaluation(void **state)
{
    (void)state;
    FOR_ALL(kind, loss)
    {
        corpus t;
        const bool squared = loss == 1;
        corpus_open(&t, structures[kind], svm_losses[loss], C, K);
        for (int rounds = 0; rounds < 4; rounds++) {
            double w[WEIGHTS_MOST];
            long double v[WEIGHTS_MOST], at[WEIGHTS_MOST], wanted[3] = {0}, norm = 0;
            walk(&t, squared, rounds, &(const subproblem){.a1 = 1, .epochs = 2}, 0.6, w);
            const long double conjugate = svm_dual(&t, squared, v);
            for (int j = 0; j < WEIGHTS_MOST; j++) {
                w[j] += rounds == 3 ? uniform(-1, 1) : 0; /* not X alpha */
                at[j] = w[j];
                norm += at[j] * v[j];
            }
            for (int i = 0; i < UNITS; i++)
                wanted[0] += loss_of_unit(&t, i, squared, at);
            wanted[1] = conjugate;
            wanted[2] = wanted[0] + conjugate + norm; /* sum of xi + xi* + alpha'X'w */
            block_value all = {0};
            for (block **b = t.blocks; *b; b++) {
                block_value value;
                block_evaluate(*b, w, 0, &value);
                all.loss += value.loss;
                all.conjugate += value.conjugate;
                all.gap += value.gap;
            }
            assert_true(fabsl(all.loss - wanted[0]) < 1e-11);
            assert_true(fabsl(all.conjugate - wanted[1]) < 1e-11);
            assert_true(fabsl(all.gap - wanted[2]) < 1e-11);
        }
        corpus_close(&t);
    }
}

/* The gaps of longer w, which change nothing of what is said of w itself. */
static void test_lengths(void **state)
{
    (void)state;
    static const double length[] = {1, 1.3, 4};
    enum { LENGTHS = sizeof length / sizeof *length };
    FOR_ALL(kind, loss)
    for (int rounds = 1; rounds < 4; rounds++) {
        corpus t;
        const bool squared = loss == 1;
        double w[WEIGHTS_MOST], told[LENGTHS] = {0};
        long double v[WEIGHTS_MOST];
        corpus_open(&t, structures[kind], svm_losses[loss], C, K);
        assert_int_equal(t.problem.task->lengths, LENGTHS);
        walk(&t, squared, rounds, &(const subproblem){.a1 = 1, .epochs = 1}, 0.6, w);
        const long double conjugate = svm_dual(&t, squared, v);
        for (block **b = t.blocks; *b; b++) {
            block_value alone, again;
            block_evaluate(*b, w, 0, &alone);
            (*b)->lengths = length;
            block_evaluate(*b, w, 0, &again);
            assert_true(again.gap == alone.gap && again.loss == alone.loss && again.conjugate == alone.conjugate);
            for (int k = 0; k < LENGTHS; k++) {
                assert_true(again.gap_at[k] >= 0 && alone.gap_at[k] == 0);
                told[k] += again.gap_at[k];
            }
        }
        for (int k = 0; k < LENGTHS; k++) {
            long double at[WEIGHTS_MOST], wanted = conjugate;
            for (int j = 0; j < WEIGHTS_MOST; j++) {
                at[j] = length[k] * w[j];
                wanted += at[j] * v[j];
            }
            for (int i = 0; i < UNITS; i++)
                wanted += loss_of_unit(&t, i, squared, at);
            assert_true(fabsl(told[k] - wanted) < 1e-11L * (1 + wanted));
        }
        corpus_close(&t);
    }
}

/* With enough epochs the solver ends at the minimum of its model over all outputs: the slope of each is at least that
 * of those in use, minus a multiplier where sum alpha <= C binds. */
static void check_minimum(const corpus *t, const block *b, bool squared, const subproblem *s, const double *w,
                          const double *dv)
{
    for (uint32_t k = 0; k < b->count; k++) {
        const int i = (int)(b->first + k);
        const working_set *set = structured_svm_set(b, k);
        long double u[WEIGHTS_MOST], A = 0, used = 0;
        uint16_t y[LONGEST];
        for (int j = 0; j < WEIGHTS_MOST; j++)
            u[j] = w[j] + s->a1 * (s->h ? s->h[j] : 1) * (long double)dv[j];
        A = working_set_sum(set);
        for (uint32_t m = 0; m < set->used; m++) {
            const member *of = &set->member[m];
            const long double slope = margin(t, i, working_set_output(set, m), u) - of->wrong +
                                      (squared ? A / (2 * C) : 0) + s->a2 * ((long double)of->now - of->start);
            if (of->now == 0)
                assert_true(slope > -1e-7 || (!squared && A > C - 1e-7));
            else if (squared || A < C - 1e-7)
                assert_true(fabsl(slope) < 1e-7);
            else
                assert_true(slope < 1e-7);
            used = of->now > 0 ? fminl(used, slope) : used;
        }
        /* With damping the most violated output may be one in use that is held back, and no other is sought. */
        for (bool more = s->a2 == 0 && next_output(t, i, y, true); more; more = next_output(t, i, y, false))
            if (working_set_find(set, y) == set->used)
                assert_true(margin(t, i, y, u) - wrong_parts(t, i, y) + (squared ? A / (2 * C) : 0) >= used - 1e-7);
    }
}

static void test_local_minimum(void **state)
{
    (void)state;
    double h[WEIGHTS_MOST]; /* alike for all tags of a column */
    for (int j = 0; j < WEIGHTS_MOST; j++)
        h[j] = j < COLUMNS * TAGS ? 1 + j / TAGS % 3 : 3;
    double of_columns[WEIGHTS_MOST];
    for (int j = 0; j < WEIGHTS_MOST; j++)
        of_columns[j] = 1 + j % 3;
    const subproblem models[] = {{.a1 = 1},
                                 {.a1 = K, .a2 = 0.1},
                                 {.a1 = 1, .learning = 5},
                                 {.a1 = 2, .h = h},
                                 {.a1 = 2, .a2 = 0.5, .h = h, .learning = 2}};
    FOR_ALL(kind, loss)
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        corpus t;
        const bool squared = loss == 1;
        corpus_open(&t, structures[kind], svm_losses[loss], C, K);
        double w[WEIGHTS_MOST], dv[WEIGHTS_MOST] = {0};
        walk(&t, squared, 2, &models[m], 0.8, w);
        subproblem s = models[m];
        s.h = s.h && t.trees ? of_columns : s.h;
        s.w = w;
        s.epochs = 3000;
        for (block **b = t.blocks; *b; b++) {
            block_direction d;
            block_solve(*b, &s, dv, &d);
            check_minimum(&t, *b, squared, &s, w, dv);
        }
        corpus_close(&t);
    }
}

/* dv is X da however the block got there, and slope, curve and limit describe xi* along the ray. */
static void test_direction(void **state)
{
    (void)state;
    const subproblem models[] = {{.a1 = 1, .epochs = 2},
                                 {.a1 = 0, .a2 = 20, .epochs = 1},
                                 {.a1 = 5, .epochs = 1, .separate = true},
                                 {.a1 = 1.0 / 64, .epochs = 2}};
    FOR_ALL(kind, loss)
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        corpus t;
        const bool squared = loss == 1;
        corpus_open(&t, structures[kind], svm_losses[loss], C, K);
        double w[WEIGHTS_MOST], dv[WEIGHTS_MOST];
        walk(&t, squared, 2, &models[m], 0.5, w);
        block *one = t.blocks[1], *alone[] = {one, NULL};
        corpus part = t; /* read_dual sees this block alone */
        part.blocks = alone;
        long double before[WEIGHTS_MOST], after[WEIGHTS_MOST];
        const long double start = svm_dual(&part, squared, before);
        subproblem s = models[m];
        block_direction d;
        s.w = w;
        block_solve(one, &s, dv, &d);
        const double eta = d.limit < 2 ? 1 : 0.5;
        block_move(one, eta);
        const long double change = svm_dual(&part, squared, after) - start;
        double largest = 0;
        for (int j = 0; j < WEIGHTS_MOST; j++) {
            if (j < (int)t.problem.n)
                assert_true(fabsl(after[j] - before[j] - eta * (long double)dv[j]) < 1e-11);
            largest = fmax(largest, j < (int)t.problem.n ? fabs(dv[j]) : 0);
        }
        assert_true(d.largest == largest);
        assert_true(fabsl(change - eta * (d.slope + 0.5 * eta * d.curve)) < 1e-11);
        assert_true(d.limit >= 1);
        corpus_close(&t);
    }
}

/* xi*(-t alpha) of the squared hinge, and t alpha. */
static void test_stretch(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        corpus t;
        double w[WEIGHTS_MOST], slope = 0, curve = 0;
        long double v[WEIGHTS_MOST], longer[WEIGHTS_MOST];
        corpus_open(&t, structures[kind], "squared-hinge", C, K);
        walk(&t, true, 2, &(const subproblem){.a1 = 1, .epochs = 1}, 0.7, w);
        const long double before = svm_dual(&t, true, v);
        for (block **b = t.blocks; *b; b++) {
            double linear, quadratic;
            (*b)->kind->along_itself(*b, &linear, &quadratic);
            (*b)->kind->stretch(*b, 1.75);
            slope += linear;
            curve += quadratic;
        }
        const long double after = svm_dual(&t, true, longer);
        assert_true(fabsl(before - (slope + 0.5 * curve)) < 1e-12);
        assert_true(fabsl(after - (1.75 * slope + 0.5 * 1.75 * 1.75 * curve)) < 1e-12);
        for (int j = 0; j < WEIGHTS_MOST; j++)
            assert_true(fabsl(longer[j] - 1.75 * v[j]) < 1e-12);
        corpus_close(&t);
    }
}

/* However full a set is, what makes room are outputs without weight, now and at the start of the round. */
static void test_room(void **state)
{
    (void)state;
    enum { FULL = 4 };
    for (uint32_t rounds = 0; rounds <= 1; rounds++) {
        working_set set = {0};
        const double alpha[FULL] = {0.5, 0, 0, 0.25}, before[FULL] = {0.5, 0, 0.125, 0};
        for (uint16_t y = 0; y < FULL; y++) {
            const double product[FULL] = {y, y, y, y};
            assert_true(working_set_reserve(&set, 1));
            working_set_add(&set, &y, 1, product);
            set.member[y].now = alpha[y];
            set.member[y].start = before[y];
        }
        working_set_drop_idle(&set, rounds);
        assert_int_equal(set.used, FULL - 1);
        for (uint32_t k = 0; k < set.used; k++) {
            const uint16_t y = *working_set_output(&set, k);
            assert_true(y != 1);
            assert_true(set.member[k].now == alpha[y] && set.member[k].start == before[y]);
            assert_true(set.gram[(uint64_t)k * set.room + k] == y);
        }
        working_set_free(&set);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_room),          cmocka_unit_test(test_evaluation), cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_local_minimum), cmocka_unit_test(test_direction),  cmocka_unit_test(test_stretch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
