/* test_calibration.c - maps from scores to probabilities: weights are copies, extremes are harmless, damaged bytes are
 * refused. What the maps are is compared with slow definitions in tests/cli/test_select.py. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "run/calibration.h"

#define POINTS 60

static const calibration_kind kinds[] = {CALIBRATION_PLATT, CALIBRATION_ISOTONIC};

/* Scores with ties, labels that mostly follow them. */
static uint64_t make_points(calibration_point *to, bool copies)
{
    uint64_t count = 0;
    for (int i = 0; i < POINTS; i++) {
        const int weight = 1 + i % 3;
        const calibration_point one = {.score = (i * 37 % 23 - 11) / 4.0, .target = i * 37 % 23 + i % 7 > 13};
        for (int k = 0; k < (copies ? weight : 1); k++) {
            to[count] = one;
            to[count++].weight = copies ? 1 : weight;
        }
    }
    return count;
}

static calibration fit(calibration_kind kind, calibration_point *point, uint64_t count, arena *memory)
{
    bda_error err = {0};
    calibration c = {
        .kind = kind, .instances = count, .maps = 1, .map = ARENA_TAKE(memory, calibration_map, 1, &err)};
    assert_true(c.map && calibration_fit(kind, point, count, c.map, memory, &err));
    return c;
}

static double probability(const calibration *c, double score)
{
    double p[2];
    calibration_apply(c, &score, p);
    assert_true(p[0] >= 0 && p[0] <= 1 && p[1] == 1 - p[0]);
    return p[0];
}

static void weights_are_copies(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        arena memory = {0};
        calibration_point point[3 * POINTS];
        const calibration weighted = fit(kinds[k], point, make_points(point, false), &memory);
        const calibration copied = fit(kinds[k], point, make_points(point, true), &memory);
        double before = 0;
        for (double score = -4; score < 4; score += 0.01) {
            const double p = probability(&weighted, score);
            assert_true(fabs(p - probability(&copied, score)) < 1e-7 && p >= before);
            before = p;
        }
        assert_true(before > 0.8);
        arena_free(&memory);
    }
}

static void extremes_are_harmless(void **state)
{
    (void)state;
    static const double scales[] = {0, 1e-300, 1e300};
    for (int k = 0; k < 2; k++)
        for (int labels = 0; labels < 3; labels++) /* none of them, some, all */
            for (int s = 0; s < 3; s++) {
                arena memory = {0};
                calibration_point point[4];
                for (int i = 0; i < 4; i++)
                    point[i] = (calibration_point){
                        .score = (i - 1.5) * scales[s], .weight = 1, .target = labels == 2 || (labels == 1 && i > 1)};
                const calibration c = fit(kinds[k], point, 4, &memory);
                const double low = probability(&c, -1e308), high = probability(&c, 1e308);
                assert_true(low <= high);
                if (labels != 1)
                    assert_true(labels == 2 ? low > 0.7 : high < 0.3);
                const double score = 0;
                assert_true(calibration_loss(&c, &score, 0) >= 0 && isfinite(calibration_loss(&c, &score, 1)));
                arena_free(&memory);
            }
}

static bool unpacks(const bytes *b, uint64_t count, uint64_t outputs, calibration *to, arena *memory)
{
    bda_error err = {0};
    byte_reader from = {.at = b->at, .left = count};
    return calibration_unpack(to, &from, outputs, memory, &err);
}

static void bytes_there_and_back(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        arena memory = {0};
        calibration_point point[POINTS];
        calibration again = {0};
        const calibration c = fit(kinds[k], point, make_points(point, false), &memory);
        bytes packed = {0};
        calibration_pack(&c, &packed);
        assert_true(unpacks(&packed, packed.count, 1, &again, &memory) && again.instances == c.instances);
        for (double score = -4; score < 4; score += 0.1)
            assert_true(probability(&c, score) == probability(&again, score));
        assert_false(unpacks(&packed, packed.count, 2, &again, &memory));
        for (uint64_t count = 0; count < packed.count; count++)
            assert_false(unpacks(&packed, count, 1, &again, &memory));
        for (uint64_t i = 0; i < packed.count;
             i++) { /* whatever a byte is: no harm, and probabilities if it is taken */
            packed.at[i] ^= 0xff;
            if (unpacks(&packed, packed.count, 1, &again, &memory))
                probability(&again, 0.3);
            packed.at[i] ^= 0xff;
        }
        bytes_free(&packed);
        arena_free(&memory);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_copies),
        cmocka_unit_test(extremes_are_harmless),
        cmocka_unit_test(bytes_there_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
