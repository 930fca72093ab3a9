/* test_data_rows.c - products of a row with the weights of several classes: the same bits as plain loops, for every
 * form of the rows and every way in which the classes are taken together. */
#include "checker/draw.h"
#include "data/rows_math.h"
#include "unit/cmocka_all.h"

#include <string.h>

enum { ROWS = 3, COLUMNS = 9, CELLS = 16, MOST = 300 };

typedef struct sample {
    uint64_t start[ROWS + 1];
    uint32_t column[CELLS];
    rows_pair pair[CELLS];
    double value[CELLS]; /* a form of one value a row looks at the first of them */
    double w[COLUMNS * MOST], h[COLUMNS * MOST];
} sample;

static rows draw_sample(sample *s, rows_form form, double bias, uint64_t classes)
{
    static const uint64_t start[] = {0, 7, 7, 12};
    memcpy(s->start, start, sizeof start);
    for (uint32_t j = 0; j < CELLS; j++) {
        s->column[j] = s->pair[j].column = j < 7 ? j : j - 6;
        s->value[j] = uniform(-1, 1);
        s->pair[j].value = (float)uniform(-1, 1);
    }
    for (uint64_t j = 0; j < COLUMNS * classes; j++) {
        s->w[j] = uniform(-1, 1);
        s->h[j] = uniform(0, 1);
    }
    return (rows){.form = form,
                  .count = ROWS,
                  .columns = COLUMNS,
                  .start = s->start,
                  .column = s->column,
                  .pair = s->pair,
                  .value = s->value,
                  .bias = bias};
}

static double cell_value(const sample *s, rows_form form, uint64_t i, uint64_t j)
{
    return form == ROWS_ONES       ? 1
           : form == ROWS_CONSTANT ? s->value[i]
           : form == ROWS_FLOAT    ? s->pair[j].value
                                   : s->value[j];
}

static double plain_sum(const sample *s, const rows *r, uint64_t i, const double *w, uint64_t classes, uint64_t m,
                        bool squares)
{
    double bias = squares ? r->bias * r->bias : r->bias, sum = bias != 0 ? bias * w[(COLUMNS - 1) * classes + m] : 0;
    for (uint64_t j = s->start[i]; j < s->start[i + 1]; j++) {
        double x = cell_value(s, r->form, i, j);
        sum += (squares ? x * x : x) * w[s->column[j] * classes + m];
    }
    return sum;
}

static void check_sums(const sample *s, const rows *r, uint64_t i, uint64_t classes, uint32_t some,
                       const uint32_t *class)
{
    double score[MOST], bend[MOST], few[MOST], few_bends[MOST];
#define CALL(form)                                                                                                   \
    rows_scores(r, form, i, s->w, classes, score);                                                                   \
    rows_bends(r, form, i, s->h, classes, bend);                                                                     \
    rows_scores_of(r, form, i, s->w, classes, some, class, few);                                                     \
    rows_bends_of(r, form, i, s->h, classes, some, class, few_bends)
    ROWS_DISPATCH(r->form, CALL);
#undef CALL
    for (uint64_t m = 0; m < classes; m++) {
        assert_true(score[m] == plain_sum(s, r, i, s->w, classes, m, false));
        assert_true(bend[m] == plain_sum(s, r, i, s->h, classes, m, true));
    }
    for (uint32_t k = 0; k < some; k++) {
        assert_true(few[class[k]] == score[class[k]]);
        assert_true(few_bends[class[k]] == bend[class[k]]);
    }
}

/* What s[m] x_i, times h where it is not NULL, makes of the weights of class m. */
static void check_added(const sample *s, const rows *r, uint64_t i, uint64_t classes, uint64_t m, double step,
                        const double *h, const double *w)
{
    double expected[COLUMNS];
    for (uint64_t c = 0; c < COLUMNS; c++)
        expected[c] = s->w[c * classes + m];
    if (r->bias != 0)
        expected[COLUMNS - 1] += step * r->bias * (h ? h[(COLUMNS - 1) * classes + m] : 1);
    for (uint64_t j = s->start[i]; j < s->start[i + 1]; j++) {
        uint32_t c = s->column[j];
        expected[c] += step * cell_value(s, r->form, i, j) * (h ? h[c * classes + m] : 1);
    }
    for (uint64_t c = 0; c < COLUMNS; c++)
        assert_true(w[c * classes + m] == expected[c]);
}

static void check_additions(const sample *s, const rows *r, uint64_t i, uint64_t classes, uint32_t some,
                            const uint32_t *class)
{
    static double all[COLUMNS * MOST], few[COLUMNS * MOST];
    double step[MOST], of_class[MOST] = {0};
    for (uint64_t m = 0; m < classes; m++)
        step[m] = uniform(-1, 1);
    for (uint32_t k = 0; k < some; k++)
        of_class[class[k]] = step[k];
    for (int scaled = 0; scaled < 2; scaled++) {
        const double *h = scaled ? s->h : NULL;
        memcpy(all, s->w, sizeof all);
        memcpy(few, s->w, sizeof few);
#define CALL(form)                                                                                                   \
    rows_add_scores(r, form, i, step, h, classes, all);                                                              \
    rows_add_classes(r, form, i, some, class, step, h, classes, few)
        ROWS_DISPATCH(r->form, CALL);
#undef CALL
        for (uint64_t m = 0; m < classes; m++) {
            check_added(s, r, i, classes, m, step[m], h, all);
            check_added(s, r, i, classes, m, of_class[m], h, few);
        }
    }
}

static void classes_are_taken_together(void **unused)
{
    (void)unused;
    static const uint64_t more[] = {50, 127, 128, 129, MOST};
    static sample s;
    for (uint64_t turn = 0; turn < 34 + sizeof more / sizeof *more; turn++) {
        const uint64_t classes = turn < 34 ? turn + 1 : more[turn - 34];
        for (int form = ROWS_ONES; form <= ROWS_DOUBLE; form++) {
            for (int biased = 0; biased < 2; biased++) {
                rows r = draw_sample(&s, (rows_form)form, biased ? 0.3 : 0, classes);
                uint32_t class[MOST], some = 0; /* from the last on, every third, six at most */
                for (uint64_t m = classes; m-- > 0 && some < 6;)
                    if (m % 3 == turn % 3)
                        class[some++] = (uint32_t)m;
                for (uint64_t i = 0; i < ROWS; i++) {
                    check_sums(&s, &r, i, classes, some, class);
                    check_additions(&s, &r, i, classes, some, class);
                }
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_are_taken_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
