/* number.c - the numbers that number.h does not settle in line, and numbers as text.
 *
 * Reading goes by three roads, each exact or else passing on to the next:
 *   mantissa <= 2^53, |exponent| <= 22   one operation on two exact doubles is rounded once (Clinger 1990)
 *   mantissa < 2^64, |exponent| <= 27    one operation on two exact 64-bit floats; rounding that again to 53 bits is
 *                                        wrong only if the first landed exactly between two doubles
 *   anything                             strtod in the C locale
 */
#include "data/number.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const unsigned char number_tail[32] = {0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,
                                       0,   0,   0,   0,   0,   255, 255, 255, 255, 255, 255,
                                       255, 255, 255, 255, 255, 255, 255, 255, 255, 255};

const double number_ten[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                               1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

const uint64_t number_ten_whole[20] = {1,
                                       10,
                                       100,
                                       1000,
                                       10000,
                                       100000,
                                       1000000,
                                       10000000,
                                       100000000,
                                       1000000000,
                                       10000000000,
                                       100000000000,
                                       1000000000000,
                                       10000000000000,
                                       100000000000000,
                                       1000000000000000,
                                       10000000000000000,
                                       100000000000000000,
                                       1000000000000000000,
                                       10000000000000000000u};

typedef struct decimal {
    uint64_t mantissa;
    int64_t exponent; /* of ten */
    bool negative;
    bool exact; /* the mantissa holds all digits */
} decimal;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits go into the mantissa while they fit; those behind are counted by the caller. Returns the end of the run. */
static const char *take_digits(const char *p, decimal *d)
{
    for (; is_digit(*p); p++) {
        if (d->mantissa >= 1000000000000000000u)
            d->exact = d->exact && *p == '0', d->exponent++;
        else
            d->mantissa = d->mantissa * 10 + (uint64_t)(*p - '0');
    }
    return p;
}

static const char *take_exponent(const char *p, decimal *d)
{
    bool negative = *p == '-';
    p += *p == '-' || *p == '+';
    if (!is_digit(*p))
        return NULL;
    int64_t e = 0;
    for (; is_digit(*p); p++)
        e = e < 100000000000000000 ? e * 10 + (*p - '0') : e; /* no line has as many digits in front */
    d->exponent += negative ? -e : e;
    return p;
}

static const char *take_decimal(const char *p, decimal *d)
{
    *d = (decimal){.negative = *p == '-', .exact = true};
    p += *p == '-' || *p == '+';
    const char *whole = p;
    p = take_digits(p, d);
    int64_t digits = p - whole;
    if (*p == '.') {
        const char *fraction = p + 1;
        p = take_digits(fraction, d);
        d->exponent -= p - fraction;
        digits += p - fraction;
    }
    if (digits == 0)
        return NULL;
    if ((*p | 0x20) == 'e')
        p = take_exponent(p + 1, d);
    return p;
}

#if LDBL_MANT_DIG == 64
/* False where the result would need to be rounded twice. */
static bool convert_wide(const decimal *d, double *magnitude)
{
    static const long double ten[28] = {1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,  1e7L,  1e8L,  1e9L,
                                        1e10L, 1e11L, 1e12L, 1e13L, 1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L,
                                        1e20L, 1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L};
    if (!d->exact || d->exponent < -27 || d->exponent > 27)
        return false;
    long double wide = (long double)d->mantissa;
    wide = d->exponent < 0 ? wide / ten[-d->exponent] : wide * ten[d->exponent];
    uint64_t bits;
    memcpy(&bits, &wide, 8);
    *magnitude = (double)wide;
    return (bits & 0x7ff) != 0x400;
}
#else
static bool convert_wide(const decimal *d, double *magnitude)
{
    (void)d, (void)magnitude;
    return false;
}
#endif

static double convert_any(const char *text)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    double value = plain ? strtod_l(text, NULL, plain) : strtod(text, NULL);
    if (plain)
        freelocale(plain);
    return value;
}

const char *number_read_any(const char *text, double *value)
{
    decimal d;
    const char *end = take_decimal(text, &d);
    if (!end)
        return NULL;
    double magnitude;
    if (d.exact && d.mantissa == 0)
        magnitude = 0;
    else if (d.exact && d.mantissa <= (uint64_t)1 << 53 && d.exponent >= -22 && d.exponent <= 22)
        magnitude = d.exponent < 0 ? (double)d.mantissa / number_ten[-d.exponent]
                                   : (double)d.mantissa * number_ten[d.exponent];
    else if (!convert_wide(&d, &magnitude))
        magnitude = fabs(convert_any(text));
    *value = d.negative ? -magnitude : magnitude;
    return isfinite(magnitude) ? end : NULL;
}

char *number_write_whole(char *to, uint64_t n)
{
    char digits[20];
    int count = 0;
    do
        digits[count++] = (char)('0' + n % 10);
    while ((n /= 10) > 0);
    while (count > 0)
        *to++ = digits[--count];
    return to;
}

/* n / 10^places, n < 2^53, without trailing zeros */
static char *write_fixed(char *to, uint64_t n, int places)
{
    to = number_write_whole(to, n / number_ten_whole[places]);
    uint64_t rest = n % number_ten_whole[places];
    if (rest == 0)
        return to;
    *to++ = '.';
    for (int i = places - 1; rest > 0; i--) {
        *to++ = (char)('0' + rest / number_ten_whole[i]);
        rest %= number_ten_whole[i];
    }
    return to;
}

char *number_write(char *to, double value)
{
    double magnitude = fabs(value);
    if (signbit(value))
        *to++ = '-';
    /* Whole numbers and short decimals, the most of what files hold: n / 10^p in one rounding is how it is read. */
    if (magnitude >= 1e-5 && magnitude < 1e9) {
        for (int places = 0; places <= 6; places += 2) {
            uint64_t n = (uint64_t)(magnitude * number_ten[places] + 0.5);
            if ((double)n / number_ten[places] == magnitude)
                return write_fixed(to, n, places);
        }
    }
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = plain ? uselocale(plain) : (locale_t)0;
    char text[NUMBER_TEXT + NUMBER_PADDING] = "";
    double back = NAN;
    int length = 0;
    for (int digits = 15; digits <= 17 && back != magnitude; digits++) {
        length = snprintf(text, NUMBER_TEXT, "%.*g", digits, magnitude);
        number_read_any(text, &back);
    }
    memcpy(to, text, (size_t)length);
    if (plain) {
        uselocale(before);
        freelocale(plain);
    }
    return to + length;
}
