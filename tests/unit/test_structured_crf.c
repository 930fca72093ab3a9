/* test_structured_crf.c - blocks of conditional random fields against all outputs of small sentences, one by one. */
#include "structured_support.h"

#include "structure/chain.h"
#include "unit/structured_dual.h"

static const structure *const structures[] = {&chain_structure, &tree_any_structure, &tree_projective_structure};
enum { K = 3 };
static const double C = 0.7;

/* log sum of exp(score - score of gold); marginals by w where they are wanted. */
static long double model_of_unit(const corpus *t, int i, const long double *w, long double *marginal)
{
    const int base = t->trees ? t->length[i] + 1 : TAGS;
    uint16_t y[LONGEST];
    long double all = 0;
    for (bool more = next_output(t, i, y, true); more; more = next_output(t, i, y, false)) {
        const long double e = expl(-margin(t, i, y, w));
        all += e;
        for (int j = 0; marginal && j < t->length[i]; j++)
            marginal[j * base + y[j]] += e;
    }
    for (int j = 0; marginal && j < EDGES; j++)
        marginal[j] /= all;
    return logl(all);
}

static void walk(corpus *t, int rounds, const subproblem *model, double eta, double *w)
{
    for (int round = 0; round <= rounds; round++) {
        long double v[WEIGHTS_MOST] = {0};
        if (round > 0)
            crf_dual(t, v);
        for (int j = 0; j < WEIGHTS_MOST; j++)
            w[j] = (double)v[j];
        for (block **b = t->blocks; *b && round < rounds; b++) {
            double dv[WEIGHTS_MOST];
            block_direction d;
            subproblem s = *model;
            s.w = w;
            s.seed = 3;
            s.round = (uint64_t)round;
            block_solve(*b, &s, dv, &d);
            assert_true(d.limit == 1);
            block_move(*b, t->trees ? 1 : eta);
        }
    }
}

static void test_evaluation(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        corpus t;
        corpus_open(&t, structures[kind], "logistic", C, K);
        for (int rounds = 0; rounds < 4; rounds++) {
            double w[WEIGHTS_MOST];
            long double v[WEIGHTS_MOST] = {0}, at[WEIGHTS_MOST], loss = 0, conjugate = 0, norm = 0;
            walk(&t, rounds, &(const subproblem){.a1 = 1, .epochs = 2}, 0.6, w);
            if (rounds > 0)
                conjugate = crf_dual(&t, v);
            for (int j = 0; j < WEIGHTS_MOST; j++) {
                w[j] += rounds == 3 ? uniform(-1, 1) : 0; /* not X alpha */
                at[j] = w[j];
                norm += at[j] * v[j];
            }
            for (int i = 0; i < UNITS; i++)
                loss += C * model_of_unit(&t, i, at, NULL);
            block_value all = {0};
            for (block **b = t.blocks; *b; b++) {
                block_value value;
                block_evaluate(*b, rounds ? w : NULL, 0, &value);
                all.loss += value.loss;
                all.conjugate += value.conjugate;
                all.gap += value.gap;
            }
            assert_true(fabsl(all.loss - loss) < 1e-11);
            assert_true(fabsl(all.conjugate - conjugate) < 1e-11);
            assert_true(fabsl(all.gap - (loss + conjugate + norm)) < 1e-11);
        }
        corpus_close(&t);
    }
}

/* With enough epochs a block's marginals are those of the model at u = w + a1 H X da. */
static void test_local_minimum(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++)
        for (int model = 0; model < 3; model++) {
            corpus t;
            corpus_open(&t, structures[kind], "logistic", C, K);
            double w[WEIGHTS_MOST], dv[WEIGHTS_MOST] = {0}, h[WEIGHTS_MOST];
            for (int j = 0; j < WEIGHTS_MOST; j++)
                h[j] = t.trees ? 1 + j % 3 : j < COLUMNS * TAGS ? 1 + j / TAGS % 3 : 3;
            subproblem s = {.a1 = model == 1 ? K : 1, .h = model == 2 ? h : NULL, .epochs = 2};
            walk(&t, 2, &s, 0.8, w);
            s.w = w;
            s.epochs = 2000;
            for (block **b = t.blocks; *b; b++) {
                block_direction d;
                block_solve(*b, &s, dv, &d);
                long double u[WEIGHTS_MOST];
                for (int j = 0; j < WEIGHTS_MOST; j++)
                    u[j] = w[j] + s.a1 * (s.h ? h[j] : 1) * (long double)dv[j];
                for (uint32_t k = 0; k < (*b)->count; k++) {
                    const int i = (int)((*b)->first + k), base = t.trees ? t.length[i] + 1 : TAGS;
                    long double marginal[EDGES] = {0};
                    model_of_unit(&t, i, u, marginal);
                    for (int j = 0; j < t.length[i] * base; j++)
                        assert_true(fabsl(marginal[j] - marginal_of(&t, *b, k, j / base, j % base)) < 2e-6);
                }
            }
            corpus_close(&t);
        }
}

/* dv is X da, and the changes that come with a direction are those of xi* along it. */
static void test_direction(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++)
        for (int trial = 0; trial < 2; trial++) {
            corpus t;
            corpus_open(&t, structures[kind], "logistic", C, K);
            const double eta[BLOCK_TRIALS] = {1, 0.5, 0.25, 0.125};
            const double a1 = trial ? 1.0 / 64 : 1, step = trial && !t.trees ? 0.5 : 1, h = 1e-5;
            double w[WEIGHTS_MOST], dv[WEIGHTS_MOST], near[2], unused[2], slope[2];
            walk(&t, 2, &(const subproblem){.a1 = 1, .epochs = 1}, 0.5, w);
            block *one = t.blocks[1], *alone[] = {one, NULL};
            corpus part = t; /* read_dual sees this block alone */
            part.blocks = alone;
            long double before[WEIGHTS_MOST], after[WEIGHTS_MOST];
            const long double start = crf_dual(&part, before);
            subproblem s = {.w = w, .a1 = a1, .epochs = 2, .trial = eta, .trials = BLOCK_TRIALS};
            block_direction d;
            block_solve(one, &s, dv, &d);
            if (!t.trees) {
                block_ray(one, 2, (const double[]){0.3 - h, 0.3 + h}, near, unused);
                block_ray(one, 1, (const double[]){0.3}, unused, slope);
                assert_true(fabs((near[1] - near[0]) / (2 * h) - slope[0]) < 1e-6);
            }
            block_move(one, step);
            const long double change = crf_dual(&part, after) - start;
            for (uint64_t j = 0; j < t.problem.n; j++)
                assert_true(fabsl(after[j] - before[j] - step * (long double)dv[j]) < 1e-11);
            /* Between two chains the held one has at least the entropy of their mixture, and read_dual sees it. */
            assert_true(fabsl(change - d.change[step == 1 ? 0 : 1]) < 1e-11);
            corpus_close(&t);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_evaluation),
        cmocka_unit_test(test_local_minimum),
        cmocka_unit_test(test_direction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
