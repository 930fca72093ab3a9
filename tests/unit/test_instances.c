/* test_instances.c - a block of instances as primal methods see it, for every form of rows, loss and number of
 * classes, against dense arithmetic in long double, the checker's losses, and finite differences of these. */
#include <math.h>
#include <string.h>

#include "checker.h"
#include "problem/instances.h"
#include "unit/cmocka_all.h"
#include "unit/draw_value.h"

enum { L = 300, FEATURES = 9, N = FEATURES + 1, BLOCKS = 3, T = 4, DIRECTIONS = 3 };

static const struct kind {
    const char *loss;
    uint64_t classes;
} kinds[] = {
    {"hinge", 2},
    {"squared-hinge", 2},
    {"logistic", 2},
    {"epsilon-insensitive", 1},
    {"squared-epsilon-insensitive", 1},
    {"squared-error", 1},
    {"hinge", T},
    {"squared-hinge", T},
    {"logistic", T},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* The same problem twice: for the program, and dense for the test. */
typedef struct setting {
    const struct kind *kind;
    check_loss loss;
    uint64_t width;
    double x[L][N]; /* the constant feature is the last column */
    double label[L], factor[T];
    comm *comm;
    data *data;
    problem p;
} setting;

static setting s;

static void open_setting(const struct kind *kind, rows_form form, double bias)
{
    static uint64_t start[L + 1];
    static uint32_t column[L * FEATURES];
    static double value[L * FEATURES];
    bda_error err = {0};
    memset(&s, 0, sizeof s);
    s.kind = kind;
    s.loss = check_loss_named(kind->loss);
    s.width = kind->classes > 2 ? kind->classes : 1;
    for (uint64_t i = 0, cells = 0; i < L; i++) {
        for (uint32_t j = 0; j < FEATURES; j++)
            if (i % 40 < 25 || uniform(0, 1) < 0.5 || (i == 0 && j == FEATURES - 1)) { /* runs of full rows, too */
                column[cells] = j;
                s.x[i][j] = value[cells++] = draw_value(form, i);
            }
        s.x[i][FEATURES] = bias;
        start[i + 1] = cells;
        s.label[i] = kind->classes == 1  ? uniform(-2, 2)
                     : i < kind->classes ? (double)i
                                         : floor(uniform(0, (double)kind->classes));
    }
    for (uint64_t m = 0; m < T; m++)
        s.factor[m] = power(-1, 1);
    s.comm = bda_comm_single(&err);
    s.data = data_copy(s.comm, BLOCKS, L, start, column, value, s.label, &err);
    assert_non_null(s.data);
    assert_int_equal(s.data->rows.form, form);
    problem_request request = {
        .loss = loss_find(kind->loss), .cost = 0.7, .epsilon = 0.2, .bias = bias, .threads = 1};
    request.cost_factor = kind->classes > 1 ? s.factor : NULL;
    assert_true(problem_open(&s.p, s.comm, s.data, &request, &err));
    assert_int_equal(s.p.n, N * s.width);
}

static void close_setting(void)
{
    problem_close(&s.p);
    data_free(s.data);
    bda_comm_free(s.comm);
}

static double cost_at(uint64_t i)
{
    return 0.7 * (s.kind->classes > 1 ? s.factor[(int)s.label[i]] : 1);
}

static double sign_at(uint64_t i)
{
    return s.kind->classes == 1 ? s.label[i] : s.label[i] == 1 ? 1 : -1;
}

/* The loss of instance i at its scores. */
static long double value_at(uint64_t i, const long double *z)
{
    return s.width > 1 ? check_multi_value(s.loss, z, T, (uint64_t)s.label[i], cost_at(i))
                       : check_value(s.loss, *z, sign_at(i), cost_at(i), 0.2);
}

static long double conjugate_at(uint64_t i, const double *a)
{
    long double wide[T];
    for (uint64_t m = 0; m < s.width; m++)
        wide[m] = a[m];
    return s.width > 1 ? check_multi_conjugate(s.loss, wide, T, (uint64_t)s.label[i], cost_at(i))
                       : check_conjugate(s.loss, *wide, sign_at(i), cost_at(i), 0.2);
}

static void draw_vector(double *v, uint64_t n, double size)
{
    for (uint64_t j = 0; j < n; j++)
        v[j] = uniform(-size, size);
}

/* The margins of instance i, plainly. */
static void scores_at(uint64_t i, const double *w, long double *z)
{
    for (uint64_t m = 0; m < s.width; m++) {
        z[m] = 0;
        for (uint64_t j = 0; j < s.p.n / s.width; j++)
            z[m] += (long double)s.x[i][j] * w[j * s.width + m];
    }
}

static bool near(long double is, long double wanted, long double size)
{
    return fabsl(is - wanted) <= 1e-12L * size + 1e-300L;
}

typedef void (*check)(const instances *b);

static void for_all(check run, bool smooth_alone)
{
    static const rows_form forms[] = {ROWS_ONES, ROWS_CONSTANT, ROWS_FLOAT, ROWS_DOUBLE};
    state = 5;
    for (int k = 0; k < KINDS; k++)
        for (int f = 0; f < 4; f++) {
            if (smooth_alone && kinds[k].classes > 2 && strcmp(kinds[k].loss, "logistic") != 0)
                continue;
            open_setting(&kinds[k], forms[f], 1.5);
            uint64_t rows = 0;
            double work[T];
            for (uint64_t block = 0; block < BLOCKS; block++) {
                instances b = instances_of(&s.p, block);
                assert_true(b.width == s.width && b.first_row == rows);
                b.work = work;
                rows += b.count;
                run(&b);
            }
            assert_int_equal(rows, L);
            close_setting();
        }
}

static double w[N * T], z[L * T], a[L * T], q[DIRECTIONS][L * T];

static void check_margins_and_image(const instances *b)
{
    long double exact[T], image[N * T] = {0}, size[N * T] = {0}, most = 0;
    double v[N * T];
    draw_vector(w, s.p.n, 1);
    instances_margins(b, w, z);
    draw_vector(a, b->count * b->width, 1);
    a[0] = 0;
    for (uint64_t i = 0; i < b->count; i++) {
        scores_at(b->first_row + i, w, exact);
        for (uint64_t m = 0; m < b->width; m++) {
            assert_true(near(z[i * b->width + m], exact[m], 20));
            for (uint64_t j = 0; j < N; j++) {
                image[j * b->width + m] += (long double)s.x[b->first_row + i][j] * a[i * b->width + m];
                size[j * b->width + m] += fabsl((long double)s.x[b->first_row + i][j] * a[i * b->width + m]);
            }
        }
    }
    double largest = instances_image(b, a, v);
    for (uint64_t j = 0; j < s.p.n; j++) {
        assert_true(near(v[j], image[j], size[j]));
        most = fmaxl(most, fabs(v[j]));
    }
    assert_true(largest == (double)most);
}

/* -s is a subgradient: no point lies below the tangent, and Fenchel's equality holds, with the conjugate of the whole
 * block. One margin: so does the gap, at this s and at others. */
static void check_slopes_and_conjugate(const instances *b)
{
    long double values = 0, conjugates = 0, gaps = 0, all_gaps = 0, size = 0;
    draw_vector(z, b->count * b->width, 3);
    point_sums sums = instances_point(b, z, q[0]);
    instances_slopes(b, z, a);
    assert_memory_equal(q[0], a, b->count * b->width * sizeof *a);
    for (uint64_t i = 0; i < b->count; i++) {
        const double *at = z + i * b->width, *slope = a + i * b->width;
        long double here[T], there[T], product = 0;
        for (uint64_t m = 0; m < b->width; m++) {
            here[m] = at[m];
            product += (long double)slope[m] * at[m];
        }
        long double value = value_at(b->first_row + i, here), conjugate = conjugate_at(b->first_row + i, slope);
        assert_true(isfinite((double)conjugate));
        assert_true(near(value + conjugate, -product, fabsl(value) + fabsl(conjugate) + 1));
        values += value;
        conjugates += conjugate;
        size += fabsl(value) + fabsl(conjugate) + fabsl(product) + 1;
        for (int trial = 0; trial < 5; trial++) {
            long double tangent = value;
            for (uint64_t m = 0; m < b->width; m++) {
                there[m] = at[m] + uniform(-1, 1) * pow(10, -trial);
                tangent -= slope[m] * (there[m] - here[m]);
            }
            assert_true(value_at(b->first_row + i, there) >= tangent - 1e-12L * (1 + fabsl(value)));
        }
    }
    assert_true(near(instances_conjugate(b, a), conjugates, size));
    assert_true(near(sums.conjugate, conjugates, size) && near(sums.loss, values, size));
    if (b->width > 1)
        return;
    for (uint64_t i = 0; i < b->count; i++)
        a[i] *= uniform(0, 1); /* still feasible */
    for (uint64_t i = 0; i < b->count; i++) {
        long double here = z[i];
        gaps = value_at(b->first_row + i, &here) + conjugate_at(b->first_row + i, a + i) + a[i] * here;
        assert_true(gaps >= -1e-15L);
        all_gaps += gaps;
    }
    assert_true(near(instances_gap(b, z, a), all_gaps, size));
}

/* F(t) by the checker. */
static long double along_at(const instances *b, const long double *t)
{
    long double all = 0;
    for (uint64_t i = 0; i < b->count; i++) {
        long double at[T];
        for (uint64_t m = 0; m < b->width; m++) {
            at[m] = z[i * b->width + m];
            for (int k = 0; k < DIRECTIONS; k++)
                at[m] += t[k] * q[k][i * b->width + m];
        }
        all += value_at(b->first_row + i, at);
    }
    return all;
}

/* Derivatives by differences short enough that none of the few kinks lies between: the draws are fixed. */
static void check_along(const instances *b)
{
    const double *const directions[DIRECTIONS] = {q[0], q[1], q[2]};
    const long double h = 1e-5L;
    double t[DIRECTIONS], value, alone, gradient[DIRECTIONS], hessian[DIRECTIONS * DIRECTIONS];
    long double wide[DIRECTIONS];
    draw_vector(z, b->count * b->width, 3);
    for (int k = 0; k < DIRECTIONS; k++) {
        draw_vector(q[k], b->count * b->width, 1);
        wide[k] = t[k] = uniform(-1, 1);
    }
    instances_along(b, z, DIRECTIONS, directions, t, &value, gradient, hessian);
    instances_along(b, z, DIRECTIONS, directions, t, &alone, NULL, NULL);
    assert_true(value == alone);
    long double base = along_at(b, wide);
    assert_true(near(value, base, base));
    for (int k = 0; k < DIRECTIONS; k++) {
        double up[DIRECTIONS], down[DIRECTIONS], moved[DIRECTIONS];
        long double more[DIRECTIONS], less[DIRECTIONS];
        memcpy(more, wide, sizeof more);
        memcpy(less, wide, sizeof less);
        memcpy(moved, t, sizeof moved);
        more[k] += h, less[k] -= h;
        long double slope = (along_at(b, more) - along_at(b, less)) / (2 * h);
        assert_true(fabsl(gradient[k] - slope) <= 2e-3L);
        moved[k] = t[k] + (double)h;
        instances_along(b, z, DIRECTIONS, directions, moved, NULL, up, NULL);
        moved[k] = t[k] - (double)h;
        instances_along(b, z, DIRECTIONS, directions, moved, NULL, down, NULL);
        for (int j = 0; j < DIRECTIONS; j++) {
            double bend = (up[j] - down[j]) / (2 * (double)h);
            bool steps = s.loss == CHECK_HINGE || s.loss == CHECK_EPSILON_INSENSITIVE; /* its slope jumps */
            if (!steps && !(s.width > 1 && s.loss == CHECK_SQUARED_HINGE))
                assert_true(fabs(hessian[j * DIRECTIONS + k] - bend) <= 1e-2 * (1 + fabs(bend)));
            else if (steps)
                assert_true(hessian[j * DIRECTIONS + k] == 0);
            assert_true(hessian[j * DIRECTIONS + k] == hessian[k * DIRECTIONS + j]);
        }
    }
    instances_along(b, z, 0, NULL, NULL, &value, NULL, NULL);
    memset(wide, 0, sizeof wide);
    base = along_at(b, wide);
    assert_true(near(value, base, base));
}

/* D of an instance, [width][width]. */
static void second_derivatives(uint64_t i, const double *at, long double D[T][T])
{
    double c = cost_at(i), y = sign_at(i);
    long double lo, hi, lo2, hi2, total = 0, p[T];
    if (s.width == 1) {
        const long double h = 1e-7L;
        check_slopes(s.loss, at[0] - h, y, c, 0.2, &lo, &hi);
        check_slopes(s.loss, at[0] + h, y, c, 0.2, &lo2, &hi2);
        D[0][0] = (lo2 - lo) / (2 * h);
        return;
    }
    for (uint64_t m = 0; m < T; m++)
        total += p[m] = expl(at[m]);
    for (uint64_t m = 0; m < T; m++)
        for (uint64_t k = 0; k < T; k++)
            D[m][k] = c * ((m == k) * p[m] / total - p[m] * p[k] / (total * total));
}

static long double H[N * T][N * T];

static void dense_hessian(const instances *b)
{
    const uint64_t width = b->width;
    memset(H, 0, sizeof H);
    for (uint64_t i = 0; i < b->count; i++) {
        long double D[T][T];
        const double *x = s.x[b->first_row + i];
        second_derivatives(b->first_row + i, z + i * width, D);
        for (uint64_t r = 0; r < N * width; r++)
            for (uint64_t c = 0; c < N * width; c++)
                H[r][c] += (long double)x[r / width] * x[c / width] * D[r % width][c % width];
    }
}

static bool close_to(double is, long double wanted)
{
    return fabsl(is - wanted) <= 1e-6L * (1 + fabsl(wanted)); /* the differences have no more digits */
}

static void check_hessians(const instances *b)
{
    static double triangle[N * T * (N * T + 1) / 2], whole[N * T * (N * T + 1) / 2];
    const uint64_t n = s.p.n;
    double bend[L * T], d[N * T], out[N * T], most = 0;
    draw_vector(z, b->count * b->width, 3);
    draw_vector(d, n, 1);
    instances_curvature(b, z, bend);
    dense_hessian(b);
    double largest = instances_hessian_times(b, bend, d, out);
    for (uint64_t r = 0; r < n; r++) {
        long double product = 0;
        for (uint64_t c = 0; c < n; c++)
            product += H[r][c] * d[c];
        assert_true(close_to(out[r], product));
        most = fmax(most, fabs(out[r]));
    }
    assert_true(largest == most);
    instances_diagonal(b, bend, out);
    for (uint64_t r = 0; r < n; r++)
        assert_true(close_to(out[r], H[r][r]));
    for (uint64_t first = 0, end; first < n; first = end) { /* in slabs */
        end = first + 1 + (uint64_t)uniform(0, (double)(n - first));
        double *at = triangle + instances_triangle(first);
        most = 0;
        largest = instances_hessian(b, bend, first, end, at);
        for (uint64_t j = 0; j < instances_triangle(end) - instances_triangle(first); j++)
            most = fmax(most, fabs(at[j]));
        assert_true(largest == most);
    }
    for (uint64_t r = 0; r < n; r++)
        for (uint64_t c = 0; c <= r; c++)
            assert_true(close_to(triangle[instances_triangle(r) + c], H[r][c]));
    instances_hessian(b, bend, 0, n, whole); /* at once: other loops, the same bits */
    assert_memory_equal(whole, triangle, instances_triangle(n) * sizeof *whole);
}

static void test_margins_and_image(void **unused)
{
    (void)unused;
    for_all(check_margins_and_image, false);
}

static void test_slopes_and_conjugate(void **unused)
{
    (void)unused;
    for_all(check_slopes_and_conjugate, false);
}

static void test_along(void **unused)
{
    (void)unused;
    for_all(check_along, false);
}

static void test_hessians(void **unused)
{
    (void)unused;
    for_all(check_hessians, true);
}

/* Far out no number may be lost: the losses are finite, and the certificate holds. */
static void test_far_margins(void **unused)
{
    (void)unused;
    for (int k = 0; k < KINDS; k++) {
        open_setting(&kinds[k], ROWS_DOUBLE, 1);
        instances b = instances_of(&s.p, 0);
        for (uint64_t i = 0; i < b.count * b.width; i++)
            z[i] = i % 3 == 0 ? 1e4 : i % 3 == 1 ? -1e4 : 0;
        double value, bend[L * T];
        instances_along(&b, z, 0, NULL, NULL, &value, NULL, NULL);
        instances_slopes(&b, z, a);
        double conjugate = instances_conjugate(&b, a);
        assert_true(isfinite(value) && isfinite(conjugate));
        point_sums sums = instances_point(&b, z, a);
        assert_true(near(sums.loss, value, fabs(value)) && near(sums.conjugate, conjugate, fabs(conjugate) + 1));
        if (b.kind->curvature)
            instances_curvature(&b, z, bend);
        for (uint64_t i = 0; i < b.count * b.width; i++)
            assert_true(isfinite(a[i]) && (!b.kind->curvature || bend[i] >= 0));
        close_setting();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_margins_and_image),
        cmocka_unit_test(test_slopes_and_conjugate),
        cmocka_unit_test(test_along),
        cmocka_unit_test(test_hessians),
        cmocka_unit_test(test_far_margins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
