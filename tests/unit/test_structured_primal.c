/* test_structured_primal.c - conditional random fields as primal methods see them, against all outputs of small
 * sentences, one by one. */
#include "structured_support.h"

#include "problem/instances.h"

static const structure *const structures[] = {&chain_structure, &tree_any_structure, &tree_projective_structure};
enum { K = 2, DIRECTIONS = 3 };
static const double C = 0.7;

/* What all outputs say at w, sums over units. */
typedef struct truth {
    long double loss, conjugate;
    long double image[WEIGHTS_MOST];              /* C (Phi(gold) - E Phi) */
    long double bend[WEIGHTS_MOST][WEIGHTS_MOST]; /* C times the covariances of Phi */
} truth;

/* Phi(gold) - Phi(y) */
static void features_of(const corpus *t, int i, const uint16_t *y, long double *phi)
{
    memset(phi, 0, WEIGHTS_MOST * sizeof *phi);
    add_features(t, i, t->gold[i], 1, phi);
    add_features(t, i, y, -1, phi);
}

static void add_truth(const corpus *t, int i, const long double *w, truth *to)
{
    const int n = (int)t->problem.n;
    uint16_t y[LONGEST];
    long double all = 0, entropy = 0, mean[WEIGHTS_MOST] = {0}, phi[WEIGHTS_MOST];
    for (bool more = next_output(t, i, y, true); more; more = next_output(t, i, y, false))
        all += expl(-margin(t, i, y, w));
    for (bool more = next_output(t, i, y, true); more; more = next_output(t, i, y, false)) {
        const long double p = expl(-margin(t, i, y, w)) / all;
        entropy -= p * logl(p);
        features_of(t, i, y, phi);
        for (int j = 0; j < n; j++) {
            mean[j] += p * phi[j];
            for (int k = 0; k < n; k++)
                to->bend[j][k] += C * p * phi[j] * phi[k];
        }
    }
    for (int j = 0; j < n; j++) {
        to->image[j] += C * mean[j];
        for (int k = 0; k < n; k++)
            to->bend[j][k] -= C * mean[j] * mean[k];
    }
    to->loss += C * logl(all);
    to->conjugate -= C * entropy;
}

static void find_truth(const corpus *t, const double *w, truth *to)
{
    long double at[WEIGHTS_MOST] = {0};
    for (uint64_t j = 0; j < t->problem.n; j++)
        at[j] = w[j];
    memset(to, 0, sizeof *to);
    for (int i = 0; i < UNITS; i++)
        add_truth(t, i, at, to);
}

static double bent(const corpus *t, const truth *at, const double *a, const double *b)
{
    long double all = 0;
    for (uint64_t j = 0; j < t->problem.n; j++)
        for (uint64_t k = 0; k < t->problem.n; k++)
            all += a[j] * at->bend[j][k] * b[k];
    return (double)all;
}

static void draw_weights(const corpus *t, double *w)
{
    for (uint64_t j = 0; j < WEIGHTS_MOST; j++)
        w[j] = j < t->problem.n ? uniform(-1, 1) : 0;
}

/* Blocks with the margins of w and of directions. */
typedef struct parts {
    arena memory;
    instances part[K];
    double w[WEIGHTS_MOST], d[DIRECTIONS][WEIGHTS_MOST];
    double **z, **s, **q[DIRECTIONS];
} parts;

static void parts_open(const corpus *t, parts *p)
{
    bda_error err = {0};
    *p = (parts){0};
    for (uint64_t k = 0; k < K; k++)
        assert_true(instances_open(&p->part[k], &t->problem, k, &p->memory, &err));
    assert_non_null(p->z = instances_new_margins(&p->memory, p->part, K, &err));
    assert_non_null(p->s = instances_new_margins(&p->memory, p->part, K, &err));
    draw_weights(t, p->w);
    for (int m = 0; m < DIRECTIONS; m++) {
        assert_non_null(p->q[m] = instances_new_margins(&p->memory, p->part, K, &err));
        draw_weights(t, p->d[m]);
        for (uint64_t k = 0; k < K; k++)
            instances_margins(&p->part[k], p->d[m], p->q[m][k]);
    }
    for (uint64_t k = 0; k < K; k++)
        instances_margins(&p->part[k], p->w, p->z[k]);
}

static void assert_near(double x, long double right, double most)
{
    if (!(fabsl(x - right) <= most * (1 + fabsl(right))))
        fail_msg("%.17g, not %.17Lg", x, right);
}

static void test_point(void **state)
{
    (void)state;
    static truth right;
    for (int kind = 0; kind < 3; kind++) {
        corpus t;
        parts p;
        corpus_open(&t, structures[kind], "logistic", C, K);
        parts_open(&t, &p);
        find_truth(&t, p.w, &right);
        point_sums all = {0, 0};
        double image[WEIGHTS_MOST] = {0};
        for (uint64_t k = 0; k < K; k++) {
            const point_sums here = instances_point(&p.part[k], p.z[k], p.s[k]);
            all.loss += here.loss;
            all.conjugate += here.conjugate;
            instances_add_image(&p.part[k], p.s[k], image);
        }
        assert_near(all.loss, right.loss, 1e-12);
        assert_near(all.conjugate, right.conjugate, 1e-12);
        for (uint64_t j = 0; j < t.problem.n; j++)
            assert_near(image[j], right.image[j], 1e-12);
        arena_free(&p.memory);
        corpus_close(&t);
    }
}

/* Trees' second derivatives are differences of first ones. */
static double exactness(const corpus *t)
{
    return t->trees ? 1e-8 : 1e-12;
}

static void test_along(void **state)
{
    (void)state;
    static truth right;
    const double at[DIRECTIONS] = {0.3, -1.1, 0.7};
    for (int kind = 0; kind < 3; kind++) {
        corpus t;
        parts p;
        corpus_open(&t, structures[kind], "logistic", C, K);
        parts_open(&t, &p);
        double w[WEIGHTS_MOST], value = 0, gradient[DIRECTIONS] = {0}, hessian[DIRECTIONS * DIRECTIONS] = {0};
        memcpy(w, p.w, sizeof w);
        for (int m = 0; m < DIRECTIONS; m++)
            for (uint64_t j = 0; j < t.problem.n; j++)
                w[j] += at[m] * p.d[m][j];
        find_truth(&t, w, &right);
        for (uint64_t k = 0; k < K; k++) {
            const double *q[DIRECTIONS] = {p.q[0][k], p.q[1][k], p.q[2][k]};
            double here, first[DIRECTIONS], second[DIRECTIONS * DIRECTIONS];
            instances_along(&p.part[k], p.z[k], DIRECTIONS, q, at, &here, first, second);
            value += here;
            for (int m = 0; m < DIRECTIONS; m++)
                gradient[m] += first[m];
            for (int m = 0; m < DIRECTIONS * DIRECTIONS; m++)
                hessian[m] += second[m];
        }
        assert_near(value, right.loss, 1e-12);
        for (int m = 0; m < DIRECTIONS; m++) {
            long double slope = 0;
            for (uint64_t j = 0; j < t.problem.n; j++)
                slope -= right.image[j] * p.d[m][j];
            assert_near(gradient[m], slope, 1e-11);
            for (int k = 0; k < DIRECTIONS; k++)
                assert_near(hessian[m * DIRECTIONS + k], bent(&t, &right, p.d[m], p.d[k]), exactness(&t));
        }
        arena_free(&p.memory);
        corpus_close(&t);
    }
}

static void test_second_derivatives(void **state)
{
    (void)state;
    static truth right;
    for (int kind = 0; kind < 3; kind++) {
        corpus t;
        parts p;
        corpus_open(&t, structures[kind], "logistic", C, K);
        parts_open(&t, &p);
        find_truth(&t, p.w, &right);
        double all[WEIGHTS_MOST] = {0}, diagonal[WEIGHTS_MOST] = {0}, out[WEIGHTS_MOST];
        for (uint64_t k = 0; k < K; k++) {
            instances_curvature(&p.part[k], p.z[k], p.s[k]);
            instances_hessian_times(&p.part[k], p.s[k], p.d[0], out);
            for (uint64_t j = 0; j < t.problem.n; j++)
                all[j] += out[j];
            instances_diagonal(&p.part[k], p.s[k], out);
            for (uint64_t j = 0; j < t.problem.n; j++)
                diagonal[j] += out[j];
        }
        for (uint64_t j = 0; j < t.problem.n; j++) {
            long double product = 0;
            for (uint64_t k = 0; k < t.problem.n; k++)
                product += right.bend[j][k] * p.d[0][k];
            assert_near(all[j], product, exactness(&t));
            if (right.bend[j][j] > 1e-9) /* a scale, not the derivative: parts are not independent */
                assert_true(diagonal[j] > 0.1 * right.bend[j][j] && diagonal[j] < 10 * right.bend[j][j]);
        }
        arena_free(&p.memory);
        corpus_close(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_point),
        cmocka_unit_test(test_along),
        cmocka_unit_test(test_second_derivatives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
