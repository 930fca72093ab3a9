/* exact_sum.c - see exact_sum.h. */
#include "base/exact_sum.h"

#include <math.h>

#define BIAS                                                                                                         \
    1152 /* digit 0 counts multiples of 2^-1152; the last bit of a double that frexp makes of 2^-1074 is 2^-1126 */
#define SEVERAL (1u << 30) /* additions that no digit overflows in */
#define LOW 0xffffffffu

void exact_tidy(exact_sum *s)
{
    for (int k = 0; k + 1 < EXACT_DIGITS; k++) {
        const int64_t carry = s->digit[k] >> 32;
        s->digit[k] -= carry * ((int64_t)1 << 32);
        s->digit[k + 1] += carry;
    }
    s->added = 0;
}

void exact_add(exact_sum *s, double x)
{
    int exponent;
    const double fraction = frexp(fabs(x), &exponent); /* in [0.5, 1) */
    if (fraction == 0)
        return;
    const int place = exponent - 53 + BIAS; /* of the last of 53 bits */
    const unsigned __int128 bits = (unsigned __int128)(uint64_t)ldexp(fraction, 53) << place % 32;
    const int64_t sign = x < 0 ? -1 : 1;
    int64_t *to = s->digit + place / 32;
    to[0] += sign * (int64_t)((uint64_t)bits & LOW);
    to[1] += sign * (int64_t)((uint64_t)(bits >> 32) & LOW);
    to[2] += sign * (int64_t)((uint64_t)(bits >> 64) & LOW);
    if (++s->added == SEVERAL)
        exact_tidy(s);
}

void exact_join(exact_sum *s, const exact_sum *other)
{
    exact_sum tidy = *other;
    exact_tidy(&tidy);
    exact_tidy(s);
    for (int k = 0; k < EXACT_DIGITS; k++)
        s->digit[k] += tidy.digit[k];
}

double exact_value(const exact_sum *s)
{
    exact_sum size = *s;
    exact_tidy(&size);
    const double sign = size.digit[EXACT_DIGITS - 1] < 0 ? -1 : 1;
    if (sign < 0) {
        for (int k = 0; k < EXACT_DIGITS; k++)
            size.digit[k] = -size.digit[k];
        exact_tidy(&size);
    }
    int top = EXACT_DIGITS - 1;
    while (top > 2 && size.digit[top] == 0)
        top--;
    unsigned __int128 bits = 0; /* of three digits; what is below them decides ties */
    for (int k = top; k > top - 3; k--)
        bits = bits << 32 | (uint64_t)size.digit[k];
    for (int k = top - 3; k >= 0; k--)
        bits |= size.digit[k] != 0;
    return sign * ldexp((double)bits, 32 * (top - 2) - BIAS);
}
