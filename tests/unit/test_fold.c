/* test_fold.c - folded rows against the rows that they stand for, by slow code in long double, and what is never
 * folded. */
#include "unit/fold_support.h"

#include <math.h>

#include "data/rows_math.h"
#include "problem/instances.h"

enum { MANY = 130 }; /* classes that are too many for sums in registers */

static bool near(long double is, long double wanted, long double size)
{
    return fabsl(is - wanted) <= 1e-13L * (size + 1);
}

static double *draw_vector(uint64_t n, double lo, double hi)
{
    double *v = malloc(n * sizeof *v);
    assert_non_null(v);
    for (uint64_t j = 0; j < n; j++)
        v[j] = uniform(lo, hi);
    return v;
}

/* ---- the same problem ---------------------------------------------------------------------------------------- */

static long double product_before(uint64_t i, uint64_t k)
{
    long double s = (long double)b.p.rows.bias * b.p.rows.bias;
    for (uint64_t j = b.start[k]; j < b.start[k + 1]; j++)
        s += (long double)b.x[i][b.column[j]] * b.value[j];
    return s;
}

static void check_products(void)
{
    static double spread[FOLDED + 1];
    for (uint64_t i = 0; i < ROWS; i++) {
        const long double size = product_before(i, i);
        double norm = 0;
#define CALL(form)                                                                                                   \
    norm = rows_norm(&b.p.rows, form, i);                                                                            \
    rows_add(&b.p.rows, form, i, 1, spread)
        memset(spread, 0, sizeof spread);
        ROWS_DISPATCH(b.p.rows.form, CALL);
#undef CALL
        assert_memory_equal(spread, b.y[i], b.p.rows.columns * sizeof *spread);
        assert_true(near(norm, size, size));
        for (uint64_t k = 0; k < ROWS; k++) {
            double product = 0;
#define CALL(form) product = rows_dot(&b.p.rows, form, k, spread)
            ROWS_DISPATCH(b.p.rows.form, CALL);
#undef CALL
            assert_true(near(product, product_before(i, k), sqrtl(size * product_before(k, k))));
        }
    }
}

static void products_of_rows_stay(void **unused)
{
    (void)unused;
    for (int form = ROWS_ONES; form <= ROWS_DOUBLE; form++)
        for (int biased = 0; biased < 2; biased++) {
            open_bench((rows_form)form, 2, biased ? 1.5 : -1, 1);
            check_products();
            close_bench();
        }
}

/* Scores and norms of folded weights are those of the weights of the features. */
static void check_weights(uint64_t outputs, bool biased)
{
    const uint64_t n = b.p.n, columns = b.p.rows.columns, length = (FEATURES + biased) * outputs;
    double *w = draw_vector(n, -1, 1), *full = draw_vector(length, -1, 1);
    long double before = 0, after = 0;
    problem_weights(&b.p, w, full);
    for (uint64_t i = 0; i < ROWS; i++) {
        double score[3] = {0};
#define CALL(form)                                                                                                   \
    if (outputs == 1)                                                                                                \
        score[0] = rows_dot(&b.p.rows, form, i, w);                                                                  \
    else                                                                                                             \
        rows_scores(&b.p.rows, form, i, w, outputs, score)
        ROWS_DISPATCH(b.p.rows.form, CALL);
#undef CALL
        for (uint64_t m = 0; m < outputs; m++) {
            long double plain = biased ? (long double)b.p.rows.bias * full[FEATURES * outputs + m] : 0, size = 0;
            for (uint64_t j = b.start[i]; j < b.start[i + 1]; j++) {
                plain += (long double)b.value[j] * full[b.column[j] * outputs + m];
                size += fabs(b.value[j]);
            }
            assert_true(near(score[m], plain, size));
            if (b.p.rows.own[i] == 0) /* a weight that is nobody's */
                before -= powl(w[(b.p.rows.own_first + i) * outputs + m], 2);
        }
        assert_true((b.p.rows.own[i] == 0) == !has_single(i));
    }
    for (uint64_t j = 0; j < columns * outputs; j++)
        before += (long double)w[j] * w[j];
    for (uint64_t j = 0; j < length; j++)
        after += (long double)full[j] * full[j];
    assert_true(near(after, before, before));
    for (uint64_t j = 0; j < FEATURES; j++)
        for (uint64_t m = 0; m < outputs; m++) {
            const double is = full[j * outputs + m];
            if (b.frequency[j] == 0)
                assert_true(is == 0);
            if (b.frequency[j] > 1)
                assert_true(is == w[b.p.fold.place[j] * outputs + m]);
        }
    for (uint64_t i = 0; i < ROWS; i++) /* of a row's single features: all on one ray */
        for (uint64_t k = b.start[i]; k < b.start[i + 1]; k++)
            if (b.frequency[b.column[k]] == 1)
                for (uint64_t m = 0; m < outputs; m++)
                    assert_true(near((long double)full[b.column[k] * outputs + m] * b.p.rows.own[i],
                                     b.value[k] * w[(b.p.rows.own_first + i) * outputs + m], 1));
    free(w);
    free(full);
}

static void weights_come_back(void **unused)
{
    (void)unused;
    for (int form = ROWS_ONES; form <= ROWS_DOUBLE; form++)
        for (int biased = 0; biased < 2; biased++)
            for (uint64_t labels = 2; labels <= 3; labels++) {
                open_bench((rows_form)form, labels, biased ? 0.5 : -1, 1);
                check_weights(labels > 2 ? labels : 1, biased);
                close_bench();
            }
}

/* The columns of several rows have the first places, and the more frequent of two the first of them. */
static void places_are_by_frequency(void **unused)
{
    (void)unused;
    static uint32_t of_place[SHARED];
    open_bench(ROWS_FLOAT, 2, -1, 1);
    const fold *f = &b.p.fold;
    uint64_t kept = 0, singles = 0, cells = 0;
    memset(of_place, 0, sizeof of_place);
    for (uint64_t j = 0; j < FEATURES; j++) {
        singles += b.frequency[j] == 1;
        assert_true((f->place[j] == FOLD_AWAY) == (b.frequency[j] < 2));
        if (f->place[j] == FOLD_AWAY)
            continue;
        assert_true(f->place[j] < SHARED && of_place[f->place[j]] == 0);
        of_place[f->place[j]] = b.frequency[j];
        cells += b.frequency[j];
        kept++;
    }
    assert_int_equal(kept, SHARED);
    assert_int_equal(singles, SINGLE);
    assert_true(of_place[0] > 50 && of_place[SHARED - 1] == 2);
    for (uint64_t k = 1; k < SHARED; k++)
        assert_true(of_place[k] <= of_place[k - 1]);
    assert_int_equal(f->nonzeros, cells);
    assert_int_equal(b.p.nonzeros, cells);
    assert_int_equal(f->rows.own_first, SHARED);
    close_bench();
}

/* ---- loops over cells that are not stored ------------------------------------------------------------------- */

/* sum_c y_ic^power w[c][m], and how large its terms are together */
static long double slow_sum(uint64_t i, const double *w, uint64_t classes, uint64_t m, int power, long double *size)
{
    long double s = 0;
    *size = 0;
    for (uint64_t c = 0; c <= FOLDED; c++) {
        const long double term = (power == 2 ? (long double)b.y[i][c] * b.y[i][c] : b.y[i][c]) * w[c * classes + m];
        s += term;
        *size += fabsl(term);
    }
    return s;
}

static void check_sum(double is, uint64_t i, const double *w, uint64_t classes, uint64_t m, int power)
{
    long double size, wanted = slow_sum(i, w, classes, m, power, &size);
    assert_true(near(is, wanted, size));
}

/* is = w + step[m] y_i h; a NULL h is 1 */
static void check_added(const double *is, const double *w, uint64_t i, const double *step, const double *h,
                        uint64_t classes)
{
    for (uint64_t c = 0; c <= FOLDED; c++)
        for (uint64_t m = 0; m < classes; m++) {
            const uint64_t j = c * classes + m;
            const long double change = (long double)step[m] * b.y[i][c] * (h ? h[j] : 1);
            assert_true(b.y[i][c] == 0 ? is[j] == w[j] : near(is[j], w[j] + change, fabsl(change)));
        }
}

static void check_one_class(uint64_t i, const double *w, const double *h)
{
    const rows *r = &b.p.rows;
    const double step = uniform(-1, 1);
    double to[2][FOLDED + 1], dot = 0, bend = 0;
    for (int k = 0; k < 2; k++)
        memcpy(to[k], w, sizeof to[k]);
#define CALL(form)                                                                                                   \
    dot = rows_dot(r, form, i, w);                                                                                   \
    bend = rows_bend(r, form, i, h);                                                                                 \
    rows_add(r, form, i, step, to[0]);                                                                               \
    rows_add_scaled(r, form, i, step, h, to[1])
    ROWS_DISPATCH(r->form, CALL);
#undef CALL
    check_sum(dot, i, w, 1, 0, 1);
    check_sum(bend, i, h, 1, 0, 2);
    check_added(to[0], w, i, &step, NULL, 1);
    check_added(to[1], w, i, &step, h, 1);
}

/* Of the classes from the last on every third, `some` of them. */
static void check_classes(uint64_t i, const double *w, const double *h, uint64_t classes, uint32_t some, double *to)
{
    const rows *r = &b.p.rows;
    const uint64_t bytes = (FOLDED + 1) * classes * sizeof *to;
    double step[MANY], of_class[MANY] = {0}, score[MANY], bend[MANY], few[MANY], few_bends[MANY];
    uint32_t class[MANY];
    for (uint64_t m = 0; m < classes; m++)
        step[m] = uniform(-1, 1);
    for (uint32_t k = 0; k < some; k++) {
        class[k] = (uint32_t)(classes - 1 - k * (classes > 3 ? 3 : 1));
        of_class[class[k]] = step[k];
    }
#define CALL(form)                                                                                                   \
    rows_scores(r, form, i, w, classes, score);                                                                      \
    rows_bends(r, form, i, h, classes, bend);                                                                        \
    rows_scores_of(r, form, i, w, classes, some, class, few);                                                        \
    rows_bends_of(r, form, i, h, classes, some, class, few_bends)
    ROWS_DISPATCH(r->form, CALL);
#undef CALL
    for (uint64_t m = 0; m < classes; m++) {
        check_sum(score[m], i, w, classes, m, 1);
        check_sum(bend[m], i, h, classes, m, 2);
    }
    for (uint32_t k = 0; k < some; k++) {
        assert_true(few[class[k]] == score[class[k]]);
        assert_true(few_bends[class[k]] == bend[class[k]]);
    }
    for (int scaled = 0; scaled < 2; scaled++) {
        const double *by = scaled ? h : NULL;
        memcpy(to, w, bytes);
#define CALL(form) rows_add_scores(r, form, i, step, by, classes, to)
        ROWS_DISPATCH(r->form, CALL);
#undef CALL
        check_added(to, w, i, step, by, classes);
        memcpy(to, w, bytes);
#define CALL(form) rows_add_classes(r, form, i, some, class, step, by, classes, to)
        ROWS_DISPATCH(r->form, CALL);
#undef CALL
        check_added(to, w, i, of_class, by, classes);
    }
}

/* Empty rows, rows without a cell of their own, and with one. */
static const uint64_t chosen[] = {0, 1, 2, 3, 148, 149, 297, 298, 299};
enum { CHOSEN = sizeof chosen / sizeof *chosen };

static void unstored_cells_count(void **unused)
{
    (void)unused;
    double *w = draw_vector((FOLDED + 1) * MANY, -1, 1), *h = draw_vector((FOLDED + 1) * MANY, 0, 1);
    double *to = draw_vector((FOLDED + 1) * MANY, 0, 0);
    for (int form = ROWS_ONES; form <= ROWS_DOUBLE; form++) {
        open_bench((rows_form)form, 2, 1.5, 1); /* the loops ask the rows alone, not how many classes there are */
        for (int k = 0; k < CHOSEN; k++) {
            check_one_class(chosen[k], w, h);
            for (uint32_t some = 0; some <= 3; some++)
                check_classes(chosen[k], w, h, 3, some, to);
            if (k % 4 == 1)
                check_classes(chosen[k], w, h, MANY, 6, to);
        }
        close_bench();
    }
    free(w);
    free(h);
    free(to);
}

/* D of one instance on the diagonal: xi'' itself, or C (p - p^2) from bend = C p */
static long double bend_at(const double *bend, uint64_t width, uint64_t m)
{
    long double C = 0;
    for (uint64_t k = 0; k < width; k++)
        C += bend[k];
    return width == 1 ? *bend : C > 0 ? bend[m] - (long double)bend[m] * bend[m] / C : 0;
}

static void check_diagonal(uint64_t block, uint64_t width)
{
    const instances part = instances_of(&b.p, block);
    assert_int_equal(part.width, width);
    double *bend = draw_vector(part.count * width, 0, 1), *out = draw_vector(b.p.n, -1, 1), most = 0;
    for (uint64_t i = 0; i < part.count; i += 7)
        memset(bend + i * width, 0, width * sizeof *bend);
    const double largest = instances_diagonal(&part, bend, out);
    for (uint64_t c = 0; c <= FOLDED; c++)
        for (uint64_t m = 0; m < width; m++) {
            long double wanted = 0;
            for (uint64_t i = 0; i < part.count; i++)
                if (b.y[part.first_row + i][c] != 0)
                    wanted += powl(b.y[part.first_row + i][c], 2) * bend_at(bend + i * width, width, m);
            assert_true(near(out[c * width + m], wanted, wanted));
            most = fmax(most, out[c * width + m]);
        }
    assert_true(largest == most);
    free(bend);
    free(out);
}

static void diagonals_have_own_cells(void **unused)
{
    (void)unused;
    for (int form = ROWS_ONES; form <= ROWS_DOUBLE; form++)
        for (uint64_t labels = 2; labels <= 3; labels++) {
            open_bench((rows_form)form, labels, 1.5, 2);
            check_diagonal(0, labels > 2 ? labels : 1);
            check_diagonal(1, labels > 2 ? labels : 1);
            close_bench();
        }
}

/* ---- what is not folded ------------------------------------------------------------------------------------- */

static void check_unfolded(const problem_request *request)
{
    bda_error err = {0};
    assert_true(problem_open(&b.p, alone, b.d, request, &err));
    assert_false(b.p.fold.folded);
    assert_null(b.p.rows.own);
    assert_ptr_equal(b.p.rows.start, b.d->rows.start);
    assert_int_equal(b.p.rows.columns, b.d->features + 1);
    assert_int_equal(b.p.nonzeros, b.d->nonzeros);
    problem_close(&b.p);
}

static void some_are_not_folded(void **unused)
{
    (void)unused;
    static const struct {
        uint64_t features, shared, single;
        bool folded;
    } cases[] = {
        {8191, 4000, 4000, false},                            /* few columns before */
        {12000, 7891, 3000, false},                           /* one too few after */
        {12000, 7892, 3000, true},  {9400, 9000, 400, false}, /* the copy is larger than what is saved, by far */
        {10300, 9000, 1200, false},                           /* by half */
        {12400, 9000, 3200, true},
    };
    const problem_request request = request_for("logistic", 1);
    for (uint64_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        bda_error err = {0};
        fold f;
        draw_rows(ROWS_DOUBLE, cases[k].features, cases[k].shared, cases[k].single);
        copy_data(2, 1);
        assert_true(fold_open(&f, alone, b.d, 1, &err));
        assert_true(f.folded == cases[k].folded);
        fold_close(&f);
        if (!cases[k].folded)
            check_unfolded(&request);
        data_free(b.d);
    }
}

static void other_regularisers_are_not_folded(void **unused)
{
    (void)unused;
    bda_error err = {0};
    double *factor = draw_vector(FEATURES, 1, 1);
    draw_rows(ROWS_ONES, FEATURES, SHARED, SINGLE);
    copy_data(2, 1);
    problem_request request = request_for("logistic", 1);
    assert_true(problem_open(&b.p, alone, b.d, &request, &err));
    assert_true(b.p.fold.folded);
    problem_close(&b.p);
    request.l1_ratio = 0.1;
    check_unfolded(&request);
    request.l1_ratio = 0;
    request.factor = factor;
    check_unfolded(&request);
    data_free(b.d);
    free(factor);
}

/* ---- memory ------------------------------------------------------------------------------------------------- */

static bool try_folding(void *what, bda_error *err)
{
    (void)what;
    fold f;
    if (!fold_open(&f, alone, b.d, 1, err)) {
        assert_true(!f.folded && !f.place && !f.memory.last);
        return false;
    }
    fold_close(&f);
    return true;
}

static void memory_runs_out(void **unused)
{
    (void)unused;
    for (int form = ROWS_ONES; form <= ROWS_DOUBLE; form++) {
        draw_rows((rows_form)form, FEATURES, SHARED, SINGLE);
        copy_data(2, 2);
        assert_true(support_run_short(try_folding, NULL) > 3);
        data_free(b.d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_of_rows_stay),
        cmocka_unit_test(weights_come_back),
        cmocka_unit_test(places_are_by_frequency),
        cmocka_unit_test(unstored_cells_count),
        cmocka_unit_test(diagonals_have_own_cells),
        cmocka_unit_test(some_are_not_folded),
        cmocka_unit_test(other_regularisers_are_not_folded),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, support_open, support_close);
}
