/* test_base_random.c - Philox against its published known answers, and what is made of its numbers. */
#include "base/random.h"
#include "unit/cmocka_all.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

static void philox_gives_the_known_answers(void **state)
{
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], answer[4];
    } known[] = {{{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
                 {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
                  {0xffffffff, 0xffffffff},
                  {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
                 {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                  {0xa4093822, 0x299f31d0},
                  {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        rng r = {.left = 0};
        for (int k = 0; k < 4; k++)
            r.counter[k] = known[i].counter[k];
        for (int k = 0; k < 2; k++)
            r.key[k] = known[i].key[k];
        for (int k = 0; k < 4; k++)
            assert_int_equal(rng_u32(&r), known[i].answer[k]);
    }
    rng r;
    rng_open(&r, 0, 0, 0);
    assert_int_equal(rng_u32(&r), 0x6627e8d5);
}

static void streams_differ_in_each_part_of_their_name(void **state)
{
    (void)state;
    static const uint64_t names[][3] = {{1, 0, 0},
                                        {0, 1, 0},
                                        {0, 0, 1},
                                        {(uint64_t)1 << 32, 0, 0},
                                        {0, (uint64_t)1 << 32, 0},
                                        {0, 0, (uint64_t)1 << 32},
                                        {0, (uint64_t)1 << 47, 0},
                                        {0, 0, (uint64_t)1 << 47},
                                        {0, 0, 0}};
    enum { COUNT = sizeof names / sizeof names[0] };
    uint32_t first[COUNT][2];
    for (int i = 0; i < COUNT; i++) {
        rng r, again;
        rng_open(&r, names[i][0], names[i][1], names[i][2]);
        rng_open(&again, names[i][0], names[i][1], names[i][2]);
        for (int k = 0; k < 2; k++) {
            first[i][k] = rng_u32(&r);
            assert_int_equal(first[i][k], rng_u32(&again));
        }
        for (int j = 0; j < i; j++)
            assert_true(first[i][0] != first[j][0] || first[i][1] != first[j][1]);
    }
}

static void below_is_in_range_and_unbiased(void **state)
{
    (void)state;
    rng r;
    rng_open(&r, 3, 1, 4);
    for (uint32_t n = 1; n < 40; n++) {
        uint32_t seen[40] = {0};
        for (int i = 0; i < 4000; i++) {
            uint32_t k = rng_below(&r, n);
            assert_true(k < n);
            seen[k]++;
        }
        for (uint32_t k = 0; k < n; k++)
            assert_true(fabs(seen[k] - 4000.0 / n) < 6 * sqrt(4000.0 / n));
    }
    /* Without refusals, a third of these results would be hit twice as often as the others. */
    const uint32_t n = 3u << 30;
    int residue[3] = {0};
    for (int i = 0; i < 30000; i++)
        residue[rng_below(&r, n) % 3]++;
    for (int k = 0; k < 3; k++)
        assert_true(abs(residue[k] - 10000) < 500);
    assert_true(rng_below(&r, UINT32_MAX) < UINT32_MAX);
}

static void uniform_stays_inside_its_ends(void **state)
{
    (void)state;
    rng top = {.out = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX}, .left = 4}, bottom = {.left = 4};
    assert_true(rng_uniform(&top) < 1);
    assert_true(rng_uniform(&bottom) > 0);
    rng r;
    rng_open(&r, 5, 0, 0);
    double mean = 0, square = 0;
    const int count = 100000;
    for (int i = 0; i < count; i++) {
        double u = rng_uniform(&r);
        assert_true(u > 0 && u < 1);
        mean += u / count;
        square += u * u / count;
    }
    assert_true(fabs(mean - 0.5) < 0.005);
    assert_true(fabs(square - 1.0 / 3) < 0.005);
}

static void normal_has_its_moments(void **state)
{
    (void)state;
    rng r;
    rng_open(&r, 6, 0, 0);
    double moment[4] = {0};
    const int count = 200000;
    for (int i = 0; i < count; i++) {
        double z = rng_normal(&r);
        assert_true(isfinite(z));
        moment[0] += z / count;
        moment[1] += z * z / count;
        moment[2] += z * z * z / count;
        moment[3] += z * z * z * z / count;
    }
    assert_true(fabs(moment[0]) < 0.01);
    assert_true(fabs(moment[1] - 1) < 0.02);
    assert_true(fabs(moment[2]) < 0.04);
    assert_true(fabs(moment[3] - 3) < 0.1);
}

static void shuffle_gives_every_order_alike(void **state)
{
    (void)state;
    rng r;
    rng_open(&r, 8, 0, 0);
    int seen[27] = {0};
    for (int i = 0; i < 6000; i++) {
        uint32_t x[3] = {0, 1, 2};
        rng_shuffle(&r, x, 3);
        seen[x[0] * 9 + x[1] * 3 + x[2]]++;
    }
    int orders = 0;
    for (int k = 0; k < 27; k++)
        if (seen[k] > 0) {
            orders++;
            assert_true(abs(seen[k] - 1000) < 180);
        }
    assert_int_equal(orders, 6);
    uint32_t big[1000];
    bool there[1000] = {false};
    for (uint32_t i = 0; i < 1000; i++)
        big[i] = i;
    rng_shuffle(&r, big, 1000);
    for (int i = 0; i < 1000; i++) {
        assert_true(big[i] < 1000 && !there[big[i]]);
        there[big[i]] = true;
    }
    rng_shuffle(&r, big, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_gives_the_known_answers), cmocka_unit_test(streams_differ_in_each_part_of_their_name),
        cmocka_unit_test(below_is_in_range_and_unbiased), cmocka_unit_test(uniform_stays_inside_its_ends),
        cmocka_unit_test(normal_has_its_moments),         cmocka_unit_test(shuffle_gives_every_order_alike)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
