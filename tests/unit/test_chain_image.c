/* test_chain_image.c - images of tags as hash tables, against sums over all columns and tags. */
#include <string.h>

#include "checker/draw.h"
#include "problem/chain_image.h"
#include "unit/cmocka_all.h"

enum { ROWS = 12, COLUMNS = 9, TAGS = 4, MOST = ROWS * COLUMNS };

static void test_products_and_norms(void **unused)
{
    (void)unused;
    state = 3;
    for (int trial = 0; trial < 40; trial++) {
        uint64_t start[ROWS + 1] = {0};
        uint32_t column[MOST];
        double value[MOST], h[COLUMNS * TAGS], dense[COLUMNS][TAGS] = {{0}};
        for (int i = 0; i < ROWS; i++) {
            start[i + 1] = start[i];
            for (uint32_t j = 0; j + 1 < COLUMNS; j++)
                if (uniform(0, 1) < 0.4) {
                    column[start[i + 1]] = j;
                    value[start[i + 1]++] = uniform(-2, 2);
                }
        }
        for (int j = 0; j < COLUMNS * TAGS; j++)
            h[j] = 1 + j / TAGS;
        rows r = {.form = ROWS_DOUBLE,
                  .count = ROWS,
                  .columns = COLUMNS,
                  .start = start,
                  .column = column,
                  .value = value,
                  .bias = trial % 2 ? 0.5 : 0};
        const double *norm = trial % 3 ? h : NULL;
        uint64_t entries = 0;
        for (uint64_t i = 0; i < ROWS; i++)
            entries += 2 * chain_image_entries(&r, i);
        chain_image m;
        assert_true(chain_image_open(&m, &r, TAGS, norm, entries));
        for (uint64_t i = 0; i < ROWS; i++)
            for (int twice = 0; twice < 2; twice++) {
                const uint64_t tag = (uint64_t)uniform(0, TAGS);
                const double step = uniform(-1, 1);
                chain_image_add(&m, i, tag, step);
                for (uint64_t k = start[i]; k < start[i + 1]; k++)
                    dense[column[k]][tag] += step * value[k];
                dense[COLUMNS - 1][tag] += step * r.bias;
            }
        double square = 0;
        for (int j = 0; j < COLUMNS; j++)
            for (int tag = 0; tag < TAGS; tag++)
                square += dense[j][tag] * dense[j][tag] * (norm ? h[j * TAGS] : 1);
        assert_true(fabs(chain_image_norm(&m) - square) < 1e-11 * (1 + square));
        for (uint64_t i = 0; i < ROWS; i++)
            for (uint64_t tag = 0; tag < TAGS; tag++) {
                double right = r.bias * dense[COLUMNS - 1][tag] * (norm ? h[(COLUMNS - 1) * TAGS] : 1);
                for (uint64_t k = start[i]; k < start[i + 1]; k++)
                    right += value[k] * dense[column[k]][tag] * (norm ? h[column[k] * TAGS] : 1);
                assert_true(fabs(chain_image_times(&m, i, tag) - right) < 1e-11 * (1 + fabs(right)));
            }
        chain_image_close(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_products_and_norms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
