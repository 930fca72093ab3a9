/* test_data_number.c - every number is read as strtod reads it, and written such that it is read back. */
#include "base/random.h"
#include "data/number.h"
#include "unit/cmocka_all.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { LONGEST = 4096 };
static char room[NUMBER_BEFORE + LONGEST + NUMBER_PADDING], *const text = room + NUMBER_BEFORE;

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* The text of `text`, by both roads. */
static void compare(void)
{
    char *end;
    double expected = strtod(text, &end), fast = 5, slow = 5;
    const char *fast_end = number_read(text, &fast), *slow_end = number_read_any(text, &slow);
    if (isinf(expected)) {
        assert_null(fast_end);
        assert_null(slow_end);
        assert_true(same_bits(fast, expected));
        return;
    }
    if (fast_end != end || slow_end != end || !same_bits(fast, expected) || !same_bits(slow, expected))
        fail_msg("'%s' is %.17g, was read as %.17g and %.17g", text, expected, fast, slow);
}

static void put_digits(rng *r, uint32_t count)
{
    char *to = text + strlen(text);
    for (uint32_t i = 0; i < count; i++)
        *to++ = (char)('0' + rng_below(r, 10));
    *to = 0;
}

static void random_texts(void **state)
{
    (void)state;
    rng r;
    rng_open(&r, 1, 0, 0);
    for (int i = 0; i < 1500000; i++) {
        static const char *const signs[] = {"", "-", "+"};
        uint32_t longest = i % 50 == 0 ? 60 : i % 3 == 0 ? 20 : 9;
        strcpy(text, signs[rng_below(&r, 3)]);
        uint32_t whole = rng_below(&r, i % 2 ? 3 : longest), fraction = rng_below(&r, longest);
        put_digits(&r, whole);
        if (fraction > 0 || whole == 0 || rng_below(&r, 2))
            strcat(text, ".");
        put_digits(&r, fraction + (whole == 0 && fraction == 0));
        if (rng_below(&r, 3) == 0) {
            int range = rng_below(&r, 2) ? 30 : 345;
            char exponent[16];
            snprintf(exponent, sizeof exponent, "%c%s%d", rng_below(&r, 2) ? 'e' : 'E', rng_below(&r, 2) ? "" : "+",
                     (int)rng_below(&r, (uint32_t)range));
            if (rng_below(&r, 2))
                snprintf(exponent, sizeof exponent, "e-%d", (int)rng_below(&r, (uint32_t)range));
            strcat(text, exponent);
        }
        compare();
    }
}

static double random_double(rng *r)
{
    double x;
    do {
        uint64_t bits = (uint64_t)rng_u32(r) << 32 | rng_u32(r);
        memcpy(&x, &bits, sizeof x);
    } while (!isfinite(x));
    return fabs(x);
}

/* Exactly between two doubles, where the even one wins, and a digit beside. */
static void halfway_texts(void **state)
{
    (void)state;
    rng r;
    rng_open(&r, 2, 0, 0);
    for (int i = 0; i < 20000; i++) {
        double x = i % 2 ? random_double(&r) : ldexp((double)(rng_u32(&r) | 1), (int)rng_below(&r, 60) - 30);
        double next = nextafter(x, INFINITY);
        if (isinf(next))
            continue;
        long double middle = ((long double)x + (long double)next) / 2;
        snprintf(text, LONGEST, "%.*Le", 1100, middle);
        char *e = strchr(text, 'e'), exponent[16];
        strcpy(exponent, e);
        while (e[-1] == '0')
            e--;
        strcpy(e, exponent);
        compare();
        snprintf(e, 32, "1%s", exponent);
        compare();
        e[-1]--; /* its last digit is not 0 */
        snprintf(e, 32, "9%s", exponent);
        compare();
        snprintf(text, 64, "%.17g", (double)middle);
        compare();
    }
}

/* Mantissas of 19 digits with small exponents: the road of 64-bit floats and its halfway cases. */
static void wide_texts(void **state)
{
    (void)state;
    rng r;
    rng_open(&r, 3, 0, 0);
    for (int i = 0; i < 500000; i++) {
        uint64_t mantissa = (uint64_t)rng_u32(&r) << 32 | rng_u32(&r);
        if (i % 4 == 0)
            mantissa = (mantissa & ~(uint64_t)0x7ff) | 0x400; /* between two doubles if the exponent is 0 */
        mantissa %= 10000000000000000000u;
        snprintf(text, 64, "%llue%d", (unsigned long long)mantissa, i % 8 == 0 ? 0 : (int)rng_below(&r, 61) - 30);
        compare();
        if (mantissa > 10000000000) {
            snprintf(text, 64, "0.%llu", (unsigned long long)mantissa);
            compare();
        }
    }
}

static void edges(void **state)
{
    (void)state;
    static const char *const texts[] = {"0",
                                        "-0",
                                        "+0",
                                        "0.0",
                                        "-0.0e5",
                                        "1",
                                        "-1",
                                        "+1",
                                        "1.",
                                        ".5",
                                        "-.5",
                                        "5.e3",
                                        "1e0",
                                        "1E+2",
                                        "1e-0",
                                        "00001",
                                        "00000000000000000000000000001.50000000000000000000000000000",
                                        "12345678",
                                        "123456789012345678901234567890",
                                        "9007199254740993",
                                        "9007199254740992",
                                        "9007199254740993.0000000000000000000000000000001",
                                        "1e22",
                                        "1e23",
                                        "4.9e-324",
                                        "2.4703282292062327e-324",
                                        "2.4703282292062328e-324",
                                        "1e-400",
                                        "3.7e-208",
                                        "2.2250738585072014e-308",
                                        "2.2250738585072011e-308",
                                        "1.7976931348623157e308",
                                        "1.7976931348623158e308",
                                        "1.7976931348623159e308",
                                        "179769313486231580793728971405301e276",
                                        "1e308",
                                        "1e309",
                                        "1e400",
                                        "-1e400",
                                        "1e99999999999999999999",
                                        "1e-99999999999999999999",
                                        "0e99999999999999999999",
                                        "0.00000000000000000000000000000000000000001",
                                        "1000000000000000000000000000000000000000000e-42",
                                        "0.1234567",
                                        "0.12345678",
                                        "0.123456789",
                                        "0.1234567890123456",
                                        "0.12345678901234567",
                                        "0.123456789012345678",
                                        "0.1234567890123456789",
                                        "0.123456789012345678901234",
                                        "9999999.9",
                                        "99999999.9"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        strcpy(text, texts[i]);
        compare();
        strcat(text, " 7:8");
        compare();
    }
}

static void what_is_not_a_number(void **state)
{
    (void)state;
    static const char *const texts[] = {"",   " 1",  "+",     "-",   ".",   "-.",   "+-1", "--1", "e5", ".e5",
                                        "1e", "1e+", "1.5e-", "nan", "inf", "-inf", "x",   ":1",  "\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        memset(text, 0, LONGEST);
        strcpy(text, texts[i]);
        double value = 5;
        assert_null(number_read(text, &value));
        assert_null(number_read_any(text, &value));
        assert_true(value == 5);
    }
    double value;
    strcpy(text, "0x10");
    assert_ptr_equal(number_read(text, &value), text + 1);
    strcpy(text, "1.5.2");
    assert_ptr_equal(number_read(text, &value), text + 3);
}

static void check_written(double x, const char *expected)
{
    char written[NUMBER_TEXT + 1];
    char *end = number_write(written, x);
    assert_true(end - written <= NUMBER_TEXT);
    *end = 0;
    if (expected)
        assert_string_equal(written, expected);
    double back = strtod(written, &end);
    assert_int_equal(*end, 0);
    if (!same_bits(back, x))
        fail_msg("%.17g was written as '%s'", x, written);
}

static void numbers_are_written_short_and_read_back(void **state)
{
    (void)state;
    check_written(0, "0");
    check_written(-0.0, "-0");
    check_written(1, "1");
    check_written(-1, "-1");
    check_written(0.1, "0.1");
    check_written(0.15285, "0.15285");
    check_written(-0.060639, "-0.060639");
    check_written(1e-5, "0.00001");
    check_written(123456789, "123456789");
    check_written(999999999.5, "999999999.5");
    check_written(24.25, "24.25");
    check_written(1.0 / 3, "0.3333333333333333");
    check_written(2.0 / 3, "0.6666666666666666");
    check_written(1.7976931348623157e308, NULL);
    check_written(4.9406564584124654e-324, NULL);
    rng r;
    rng_open(&r, 4, 0, 0);
    for (int i = 0; i < 300000; i++) {
        check_written(random_double(&r), NULL);
        check_written((double)rng_u32(&r) / number_ten[rng_below(&r, 12)], NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_texts),         cmocka_unit_test(halfway_texts),
        cmocka_unit_test(wide_texts),           cmocka_unit_test(edges),
        cmocka_unit_test(what_is_not_a_number), cmocka_unit_test(numbers_are_written_short_and_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
