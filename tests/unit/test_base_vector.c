/* test_base_vector.c - dense vectors against long double, and the same bits for any number of threads. */
#include "base/random.h"
#include "base/vector.h"
#include "unit/cmocka_all.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t lengths[] = {0, 1, 2, 7, 8, 9, 4095, 4096, 4097, 65536, 65537, 1100001, 2097152};
#define LENGTHS (sizeof lengths / sizeof lengths[0])
#define MOST 2097152

static double *x, *y, *z;

static int take_vectors(void **state)
{
    (void)state;
    x = malloc(MOST * sizeof *x);
    y = malloc(MOST * sizeof *y);
    z = malloc(MOST * sizeof *z);
    rng r;
    rng_open(&r, 7, 0, 0);
    for (uint64_t j = 0; j < MOST; j++) {
        x[j] = (rng_uniform(&r) - 0.5) * ldexp(1, (int)rng_below(&r, 30));
        y[j] = rng_uniform(&r) - 0.5;
    }
    return !x || !y || !z;
}

static int free_vectors(void **state)
{
    (void)state;
    free(x);
    free(y);
    free(z);
    return 0;
}

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static void dot_is_right_for_any_threads(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTHS; i++) {
        uint64_t n = lengths[i];
        long double exact = 0, size = 0, square = 0;
        for (uint64_t j = 0; j < n; j++) {
            exact += (long double)x[j] * y[j];
            size += fabsl((long double)x[j] * y[j]);
            square += (long double)y[j] * y[j];
        }
        double one = vec_dot(x, y, n, 1), xy, yy;
        assert_true(fabsl(one - exact) <= 1e-14L * size);
        for (int threads = 1; threads <= 5; threads++) {
            assert_true(same_bits(vec_dot(x, y, n, threads), one));
            vec_dots(x, y, n, threads, &xy, &yy);
            assert_true(same_bits(xy, one));
            assert_true(same_bits(yy, vec_dot(y, y, n, 1)));
            assert_true(fabsl(yy - square) <= 1e-14L * square);
        }
    }
}

static void chunks_are_added_with_compensation(void **state)
{
    (void)state;
    /* 2^60 and -2^60 in different chunks, 1 between them: a plain sum of chunks gives 0. */
    const uint64_t n = 3 * 4096;
    memset(z, 0, n * sizeof *z);
    z[0] = 0x1p60, z[5000] = 1, z[n - 1] = -0x1p60;
    double *ones = malloc(n * sizeof *ones);
    for (uint64_t j = 0; j < n; j++)
        ones[j] = 1;
    assert_true(vec_dot(z, ones, n, 1) == 1);
    free(ones);
    sum s = {0};
    sum_add(&s, 1);
    sum_add(&s, 1e100);
    sum_add(&s, 1);
    sum_add(&s, -1e100);
    assert_true(sum_value(&s) == 2);
}

static void largest_sees_every_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTHS; i++) {
        uint64_t n = lengths[i];
        double expected = 0;
        for (uint64_t j = 0; j < n; j++)
            expected = fmax(expected, fabs(x[j]));
        for (int threads = 1; threads <= 3; threads++)
            assert_true(vec_largest(x, n, threads) == expected);
    }
    for (uint64_t n = 1; n < 40; n++)
        for (uint64_t at = 0; at < n; at++) {
            memset(z, 0, n * sizeof *z);
            z[at] = -3;
            assert_true(vec_largest(z, n, 1) == 3);
            z[at] = -INFINITY;
            assert_true(vec_largest(z, n, 1) == INFINITY);
            z[at] = -(double)NAN;
            z[n - 1 - at] = at == n - 1 - at ? z[at] : INFINITY;
            assert_true(isnan(vec_largest(z, n, 1)));
        }
    memset(z, 0, MOST * sizeof *z);
    z[100000] = NAN, z[1500000] = 5;
    for (int threads = 1; threads <= 3; threads++)
        assert_true(isnan(vec_largest(z, MOST, threads)));
}

static void add_and_difference_are_plain(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTHS; i++)
        for (int threads = 1; threads <= 3; threads++) {
            uint64_t n = lengths[i];
            memcpy(z, y, n * sizeof *z);
            vec_add(z, 0.3, x, n, threads);
            for (uint64_t j = 0; j < n; j++)
                if (!same_bits(z[j], y[j] + 0.3 * x[j]))
                    fail_msg("vec_add is wrong at %llu", (unsigned long long)j);
            double largest = vec_difference(z, y, 0.7, n, threads), expected = 0;
            for (uint64_t j = 0; j < n; j++) {
                double d = (y[j] + 0.3 * x[j] - y[j]) / 0.7;
                expected = fmax(expected, fabs(d));
                if (!same_bits(z[j], d))
                    fail_msg("vec_difference is wrong at %llu", (unsigned long long)j);
            }
            assert_true(largest == expected);
        }
    double a[] = {1, NAN, 2}, b[] = {0, 0, 0};
    assert_true(isnan(vec_difference(a, b, 1, 3, 1)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dot_is_right_for_any_threads), cmocka_unit_test(chunks_are_added_with_compensation),
        cmocka_unit_test(largest_sees_every_place), cmocka_unit_test(add_and_difference_are_plain)};
    return cmocka_run_group_tests(tests, take_vectors, free_vectors);
}
