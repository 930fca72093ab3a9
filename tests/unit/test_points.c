/* test_points.c - kept points of dual blocks (points.h) against the checker, for every kind of block: linear blocks
 * with their six losses, softmax, Crammer and Singer.
 *
 * A point cannot be read; but alpha can, and blending with weight 1 makes alpha the point. What a point ought to be
 * is known from alpha before and after a solve and from the slopes that made an image. Conjugates, gaps and
 * derivatives then follow from the checker's definitions. */
#include "unit/points_support.h"

/* ---- keep, image, blend --------------------------------------------------------------------------------------- */

static void expect_alpha(const bench *t, const double *alpha, int count, const int *points, const double *theta)
{
    long double a[MOST_CLASSES];
    for (uint64_t i = 0; i < ROWS; i++) {
        combination(t, i, count, points, theta, a);
        for (uint64_t m = 0; m < t->width; m++) {
            long double off = alpha[i * t->width + m] - a[m];
            if (!(fabsl(off) <= 1e-14L * (t->cost[i] + fabsl(a[m]))))
                fail_msg("%s, %d classes, instance %d: off by %Lg of %Lg", t->problem.loss->name,
                         (int)t->check.classes, (int)i, off, a[m]);
        }
    }
}

static void blends_are_as_the_formula_says(bench *t, const loss *f)
{
    (void)f;
    double theta[POINTS], before[VARIABLES];
    for (int turn = 0; turn < 8; turn++) {
        keep_many(t);
        int count = 1 + turn % POINTS;
        random_theta(count, turn % 2 ? 1 : uniform(0, 1), theta);
        if (turn == 7)
            memset(theta, 0, sizeof theta); /* stays where it is */
        memcpy(before, t->alpha, sizeof before);
        blend(t, count, all_points, theta);
        double after[VARIABLES];
        memcpy(after, t->alpha, sizeof after);
        memcpy(t->alpha, before, sizeof before);
        expect_alpha(t, after, count, all_points, theta);
        expect_feasible(t, after);
        memcpy(t->alpha, after, sizeof after);
        /* the next round begins there: there is no direction yet */
        for (int k = 0; k < K; k++)
            block_move(t->blocks[k], 0.5);
        read_alpha(t, after);
        assert_memory_equal(after, t->alpha, ROWS * t->width * sizeof *after);
    }
}

static void test_blends(void **unused)
{
    (void)unused;
    state = 1;
    for_all_kinds(blends_are_as_the_formula_says);
}

/* Each point survives the moves of alpha, and is feasible itself. */
static void points_stay(bench *t, const loss *f)
{
    (void)f;
    double theta[POINTS], one = 1;
    keep_many(t);
    random_theta(POINTS, 0.7, theta);
    blend(t, POINTS, all_points, theta);
    for (int a = POINTS - 1; a >= 0; a--) {
        blend(t, 1, &all_points[a], &one);
        expect_feasible(t, t->alpha);
        for (uint64_t i = 0; i < ROWS * t->width; i++)
            assert_true(fabs(t->alpha[i] - t->point[a][i]) <= 1e-14 * (t->cost[i / t->width] + fabs(t->alpha[i])));
    }
}

static void test_points_stay(void **unused)
{
    (void)unused;
    state = 2;
    for_all_kinds(points_stay);
}

static void new_points_are_zero(bench *t, const loss *f)
{
    (void)f;
    double one = 1, now[VARIABLES];
    int fresh = POINTS;
    blend(t, 1, &fresh, &one);
    read_alpha(t, now);
    for (uint64_t i = 0; i < ROWS * t->width; i++)
        assert_true(fabs(now[i]) <= 1e-15 * t->cost[i / t->width]);
}

static void test_new_points_are_zero(void **unused)
{
    (void)unused;
    state = 3;
    for_all_kinds(new_points_are_zero);
}

/* ---- conjugates over the hull --------------------------------------------------------------------------------- */

static long double at_weights(const bench *t, const block *b, const double *theta, int a, double by_a, int c,
                              double by_c)
{
    double moved[POINTS];
    memcpy(moved, theta, sizeof moved);
    moved[a] += by_a;
    moved[c] += by_c;
    return conjugates(t, b, POINTS, all_points, moved);
}

/* Derivatives by differences, inside the hull where they exist. */
static void combinations_are_told_truly(bench *t, const loss *f)
{
    keep_many(t);
    double theta[POINTS];
    random_theta(POINTS, 0.8, theta);
    for (int k = 0; k < K; k++) {
        const block *b = t->blocks[k];
        double change, alone, gradient[POINTS], hessian[POINTS * POINTS], zero[POINTS] = {0};
        block_combine(b, POINTS, all_points, theta, 0, &change, gradient, hessian);
        block_combine(b, POINTS, all_points, theta, 0, &alone, NULL, NULL);
        assert_true(alone == change);
        long double before = conjugates(t, b, POINTS, all_points, zero);
        long double truth = conjugates(t, b, POINTS, all_points, theta) - before, size = 1 + fabsl(before);
        assert_true(fabsl(change - truth) <= 1e-12L * (size + fabsl(truth)));
        const double h = 1e-5;
        for (int a = 0; a < POINTS; a++) {
            long double slope =
                (at_weights(t, b, theta, a, h, a, 0) - at_weights(t, b, theta, a, -h, a, 0)) / (2 * h);
            if (!(fabsl(gradient[a] - slope) <= 1e-6L * (size + fabsl(slope))))
                fail_msg("%s, %d classes: slope %.12g, by differences %.12Lg", f->name, (int)t->check.classes,
                         gradient[a], slope);
            for (int c = 0; c <= a; c++) {
                long double bend = at_weights(t, b, theta, a, h, c, h) + at_weights(t, b, theta, a, -h, c, -h) -
                                   at_weights(t, b, theta, a, h, c, -h) - at_weights(t, b, theta, a, -h, c, h);
                bend /= 4.0L * h * h;
                if (!(fabsl(hessian[a * POINTS + c] - bend) <= 1e-5L * (size + fabsl(bend))))
                    fail_msg("%s, %d classes: bend %.12g, by differences %.12Lg", f->name, (int)t->check.classes,
                             hessian[a * POINTS + c], bend);
            }
        }
    }
}

static void test_combinations(void **unused)
{
    (void)unused;
    state = 4;
    for_all_kinds(combinations_are_told_truly);
}

/* With a reach the entropy's curvature is that at b + reach times the distance to the farthest point. */
static long double reached_bend(const bench *t, const block *b, const double *theta, double reach, int a, int c)
{
    const check_problem *p = &t->check;
    long double total = 0, combined[MOST_CLASSES];
    for (uint64_t i = b->first; i < b->first + b->count; i++) {
        combination(t, i, POINTS, all_points, theta, combined);
        for (uint64_t m = 0; m < t->width; m++) {
            long double most = 0, cost = p->cost[i], toward[POINTS], beta;
            for (int k = 0; k < POINTS; k++) {
                toward[k] = (long double)t->point[k][i * t->width + m] - t->alpha[i * t->width + m];
                most = fmaxl(most, fabsl(toward[k]));
            }
            beta = p->classes ? (m == (uint64_t)p->y[i] ? cost : 0) - combined[m] : p->y[i] * combined[m];
            beta += reach * most;
            if (most > 0)
                total += toward[a] * toward[c] *
                         (p->classes ? 1 / beta : cost / (beta * (cost + 2 * reach * most - beta)));
        }
    }
    return total;
}

static void reach_is_the_entropys_alone(bench *t, const loss *f)
{
    keep_many(t);
    double theta[POINTS];
    random_theta(POINTS, 0.8, theta);
    for (int k = 0; k < K; k++) {
        double change[2], gradient[2][POINTS], hessian[2][POINTS * POINTS];
        for (int r = 0; r < 2; r++)
            block_combine(t->blocks[k], POINTS, all_points, theta, r * 0.2, &change[r], gradient[r], hessian[r]);
        assert_true(change[0] == change[1]);
        assert_memory_equal(gradient[0], gradient[1], sizeof gradient[0]);
        for (int a = 0; a < POINTS; a++)
            for (int c = 0; c <= a; c++) {
                double told = hessian[1][a * POINTS + c];
                long double truth = f->kind == LOSS_LOGISTIC ? reached_bend(t, t->blocks[k], theta, 0.2, a, c)
                                                             : hessian[0][a * POINTS + c];
                assert_true(fabsl(told - truth) <=
                            1e-12L * (hessian[1][a * POINTS + a] + hessian[1][c * POINTS + c]));
            }
    }
}

static void test_reach(void **unused)
{
    (void)unused;
    state = 5;
    for_all_kinds(reach_is_the_entropys_alone);
}

/* At the corners of the hull, where logarithms and kinks lie in wait, all is finite. */
static void corners_are_finite(bench *t, const loss *f)
{
    (void)f;
    keep_many(t);
    keep_image(t, 3, 2000);
    for (int corner = -1; corner < POINTS; corner++) {
        double theta[POINTS] = {0}, change, gradient[POINTS], hessian[POINTS * POINTS];
        if (corner >= 0)
            theta[corner] = 1;
        for (int k = 0; k < K; k++) {
            block_combine(t->blocks[k], POINTS, all_points, theta, 0, &change, gradient, hessian);
            long double truth = conjugates(t, t->blocks[k], POINTS, all_points, theta) -
                                conjugates(t, t->blocks[k], 0, all_points, theta);
            assert_true(fabsl(change - truth) <= 1e-12L * (1 + fabsl(truth)) * (1 + t->check.cost[0]));
            for (int a = 0; a < POINTS; a++)
                assert_true(isfinite(gradient[a]) && isfinite(hessian[a * POINTS + a]) &&
                            hessian[a * POINTS + a] >= 0);
        }
    }
}

static void test_corners(void **unused)
{
    (void)unused;
    state = 6;
    for_all_kinds(corners_are_finite);
}

/* ---- products ------------------------------------------------------------------------------------------------- */

/* What the square of xi* is taken of: the variable, or that of the own class. */
static long double squared_part(const bench *t, const double *a, uint64_t i)
{
    return t->check.classes ? a[i * t->width + (uint64_t)t->y[i]] : a[i];
}

static void products_are_plain_sums(bench *t, const loss *f)
{
    if (!f->quadratic_dual)
        return;
    keep_many(t);
    const int others[POINTS + 1] = {2, POINT_ALPHA, 0, 4, 1, 3};
    for (int k = 0; k < K; k++)
        for (int point = POINT_ALPHA; point < POINTS; point++) {
            const block *b = t->blocks[k];
            const double *own = point == POINT_ALPHA ? t->alpha : t->point[point];
            double product[POINTS + 1], linear;
            block_products(b, point, POINTS + 1, others, product, &linear);
            long double value = 0, size = 0;
            for (uint64_t i = b->first; i < b->first + b->count; i++) {
                long double a = squared_part(t, own, i);
                value -= a * (t->check.classes ? 1 : t->y[i]);
                size += fabsl(a) * (1 + fabs(t->y[i]));
            }
            assert_true(fabsl(linear - value) <= 1e-14L * size);
            for (int o = 0; o <= POINTS; o++) {
                const double *other = others[o] == POINT_ALPHA ? t->alpha : t->point[others[o]];
                value = size = 0;
                for (uint64_t i = b->first; i < b->first + b->count && f->kind != LOSS_HINGE; i++) {
                    long double term = squared_part(t, own, i) * squared_part(t, other, i) / (2 * t->cost[i]);
                    value += term;
                    size += fabsl(term);
                }
                assert_true(fabsl(product[o] - value) <= 1e-14L * size);
            }
        }
}

static void test_products(void **unused)
{
    (void)unused;
    state = 7;
    for_all_kinds(products_are_plain_sums);
}

/* ---- the gap at margins of any w ------------------------------------------------------------------------------ */

static void gaps_are_the_checkers(bench *t, const loss *f)
{
    double theta[POINTS], w[LENGTH];
    long double z[VARIABLES];
    keep_many(t);
    random_theta(POINTS, 0.9, theta);
    blend(t, POINTS, all_points, theta);
    for (double size = 0.01; size < 200; size *= 10) {
        random_weights(t, size, w);
        check_margins(&t->check, w, z);
        check_value_sums truth = check_sums(&t->check, w, t->alpha);
        double rounded[VARIABLES], gap = 0;
        for (uint64_t i = 0; i < ROWS * t->width; i++)
            rounded[i] = (double)z[i];
        for (int k = 0; k < K; k++) {
            double part = block_gap(t->blocks[k], rounded + t->blocks[k]->first * t->width);
            assert_true(part >= 0);
            gap += part;
        }
        if (!(fabsl(gap - truth.gap) <= 1e-13L * (truth.loss + fabsl(truth.conjugate) + truth.gap)))
            fail_msg("%s, %d classes: gap %.17g, expected %.17Lg", f->name, (int)t->check.classes, gap, truth.gap);
    }
}

static void test_gaps(void **unused)
{
    (void)unused;
    state = 8;
    for_all_kinds(gaps_are_the_checkers);
}

/* What was surely without loss before alpha moved is looked at again, though w has not moved. */
static void evaluations_see_the_blend(bench *t, const loss *f)
{
    double w[LENGTH], theta[POINTS];
    random_weights(t, 3, w);
    for (int turn = 0; turn < 2; turn++) {
        block_value value, sums = {0};
        for (int k = 0; k < K; k++) {
            block_evaluate(t->blocks[k], w, 0, &value);
            sums.loss += value.loss;
            sums.conjugate += value.conjugate;
            sums.gap += value.gap;
        }
        check_value_sums truth = check_sums(&t->check, w, t->alpha);
        long double size = truth.loss + fabsl(truth.conjugate) + truth.gap;
        if (!(fabsl(sums.loss - truth.loss) <= 1e-13L * size && fabsl(sums.gap - truth.gap) <= 1e-12L * size &&
              fabsl(sums.conjugate - truth.conjugate) <= 1e-13L * size))
            fail_msg("%s, %d classes: loss %g, expected %Lg; conjugate %g, expected %Lg", f->name,
                     (int)t->check.classes, sums.loss, truth.loss, sums.conjugate, truth.conjugate);
        for (int a = 0; a < POINTS; a++)
            keep_image(t, a, 1);
        random_theta(POINTS, 0.6, theta);
        blend(t, POINTS, all_points, theta);
    }
}

static void test_evaluations(void **unused)
{
    (void)unused;
    state = 12;
    for_all_kinds(evaluations_see_the_blend);
}

/* The dual image of margins has no gap at them: Fenchel and Young hold with equality. */
static void images_have_no_gap(bench *t, const loss *f)
{
    double z[VARIABLES], s[VARIABLES], one = 1;
    int point = 0;
    for (uint64_t i = 0; i < ROWS * t->width; i++)
        z[i] = 3 * uniform(-1, 1);
    for (int k = 0; k < K; k++) {
        uint64_t at = t->part[k].first_row * t->width;
        instances_slopes(&t->part[k], z + at, s + at);
        assert_true(block_keep_image(t->blocks[k], point, s + at));
    }
    blend(t, 1, &point, &one);
    for (int k = 0; k < K; k++) {
        double gap = block_gap(t->blocks[k], z + t->part[k].first_row * t->width), largest = 0;
        for (int i = 0; i < ROWS; i++)
            largest = fmax(largest, t->cost[i]);
        if (!(gap >= 0 && gap <= 1e-13 * largest))
            fail_msg("%s, %d classes: gap %g", f->name, (int)t->check.classes, gap);
    }
}

static void test_images_have_no_gap(void **unused)
{
    (void)unused;
    state = 9;
    for_all_kinds(images_have_no_gap);
}

/* ---- ahead of alpha ------------------------------------------------------------------------------------------- */

/* alpha is kept in the spare point, moves on by a blend, and is looked at from there. */
static void step_away(bench *t, double *old)
{
    double theta[POINTS];
    for (int k = 0; k < K; k++)
        assert_true(block_keep(t->blocks[k], POINTS, 0));
    memcpy(old, t->alpha, sizeof t->alpha);
    keep_many(t);
    random_theta(POINTS, 0.5, theta);
    blend(t, POINTS, all_points, theta);
}

static void advance(bench *t, double beta, double *beyond, double *moved)
{
    for (int k = 0; k < K; k++) {
        uint64_t at = t->blocks[k]->first * t->width;
        block_advance(t->blocks[k], POINTS, beta, beyond + at, moved + at);
    }
}

static void advances_are_feasible(bench *t, const loss *f)
{
    const check_problem *p = &t->check;
    double old[VARIABLES], z[VARIABLES], beyond[VARIABLES], moved[VARIABLES], beta = power(-1, 1.5);
    step_away(t, old);
    advance(t, beta, beyond, moved);
    read_alpha(t, z);
    expect_feasible(t, z);
    for (uint64_t i = 0; i < ROWS * t->width; i++) {
        long double y = t->alpha[i] + beta * ((long double)t->alpha[i] - old[i]), lo, hi;
        long double small = 1e-14L * (t->cost[i / t->width] + fabsl(y) + fabs(old[i]));
        assert_true(fabsl(beyond[i] - (z[i] - y)) <= small);
        assert_true(fabsl(moved[i] - ((long double)z[i] - t->alpha[i])) <= small);
        if (t->check.classes || f->kind == LOSS_LOGISTIC)
            continue;
        check_domain(p->loss, p->y[i], p->cost[i], &lo, &hi); /* no farther into the domain than its end */
        assert_true(fabsl(z[i] - fminl(fmaxl(y, lo), hi)) <= small);
    }
    /* and back: nothing of it is kept */
    for (int k = 0; k < K; k++)
        block_move(t->blocks[k], 0);
    read_alpha(t, z);
    for (uint64_t i = 0; i < ROWS * t->width; i++)
        assert_true(fabs(z[i] - t->alpha[i]) <= 1e-15 * t->cost[i / t->width]);
}

static void test_advances(void **unused)
{
    (void)unused;
    state = 10;
    for_all_kinds(advances_are_feasible);
}

#define A1 2.0

/* start = w + a1 X_k s_k, which is the gradient of the model where the variables are off its centre by s. */
static void model_start(const bench *t, int k, const double *w, const double *s, double *start)
{
    instances_image(&t->part[k], s + t->part[k].first_row * t->width, start);
    for (uint64_t j = 0; j < t->problem.n; j++)
        start[j] = w[j] + A1 * start[j];
}

/* The minimum of the model of block k, from where the variables are; w is the model's gradient there. Blocks of many
 * classes look at all of them when a round begins, so there are many beginnings. dv: all of the way. */
static void solve_to_the_end(bench *t, int k, double *w, double *dv)
{
    const subproblem model = {.w = w, .a1 = A1, .a2 = 0.3, .epochs = 60, .seed = 9};
    block *b = t->blocks[k];
    double part[LENGTH];
    memset(dv, 0, t->problem.n * sizeof *dv);
    for (int pass = 0; pass < 60; pass++) {
        block_value value;
        block_direction d;
        b->violation = INFINITY;
        block_evaluate(b, w, INFINITY, &value);
        block_solve(b, &model, part, &d);
        assert_false(d.failed);
        for (uint64_t j = 0; j < t->problem.n; j++) {
            dv[j] += part[j];
            w[j] += A1 * part[j];
        }
    }
}

static void expect_same_minimum(bench *t, const loss *f, const double *w, double beta, const double *old)
{
    double from_alpha[VARIABLES], from_ahead[VARIABLES], beyond[VARIABLES] = {0}, moved[VARIABLES] = {0};
    double way[VARIABLES], start[LENGTH], dv[LENGTH], image[LENGTH];
    for (uint64_t i = 0; i < ROWS * t->width; i++)
        way[i] = -beta * (t->alpha[i] - old[i]); /* alpha - y */
    for (int k = 0; k < K; k++) {
        model_start(t, k, w, way, start);
        solve_to_the_end(t, k, start, dv);
    }
    read_alpha(t, from_alpha);
    for (int k = 0; k < K; k++)
        block_move(t->blocks[k], 0);
    wake(t, w);
    advance(t, beta, beyond, moved);
    for (int k = 0; k < K; k++) {
        model_start(t, k, w, beyond, start);
        solve_to_the_end(t, k, start, dv);
        read_alpha(t, from_ahead);
        for (uint64_t i = 0; i < ROWS * t->width; i++)
            way[i] = from_ahead[i] - t->alpha[i] - moved[i];
        instances_image(&t->part[k], way + t->part[k].first_row * t->width,
                        image); /* dv counts from the start ahead */
        for (uint64_t j = 0; j < t->problem.n; j++)
            assert_true(fabs(dv[j] - image[j]) <= 1e-12 * (1 + t->check.cost[0]));
    }
    for (uint64_t i = 0; i < ROWS * t->width; i++)
        if (!(fabs(from_ahead[i] - from_alpha[i]) <= 1e-7 * t->cost[i / t->width]))
            fail_msg("%s, %d classes, variable %d: %.12g from ahead, %.12g from alpha", f->name,
                     (int)t->check.classes, (int)i, from_ahead[i], from_alpha[i]);
}

static void solves_from_ahead_end_alike(bench *t, const loss *f)
{
    double old[VARIABLES], w[LENGTH];
    step_away(t, old);
    random_weights(t, 1, w);
    expect_same_minimum(t, f, w, uniform(0.2, 1), old);
}

static void test_solves_from_ahead(void **unused)
{
    (void)unused;
    state = 11;
    for_all_kinds(solves_from_ahead_end_alike);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blends),
        cmocka_unit_test(test_points_stay),
        cmocka_unit_test(test_new_points_are_zero),
        cmocka_unit_test(test_combinations),
        cmocka_unit_test(test_reach),
        cmocka_unit_test(test_corners),
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_gaps),
        cmocka_unit_test(test_evaluations),
        cmocka_unit_test(test_images_have_no_gap),
        cmocka_unit_test(test_advances),
        cmocka_unit_test(test_solves_from_ahead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
