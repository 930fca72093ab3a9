/* exact_sum.h - a sum of doubles that is rounded once, at its end: the same bits in any order and any grouping.
 *
 * The sum is kept in fixed point, in digits of 32 bits: sum over k of digit[k] 2^(32 k - 1152). Every double fits. */
#ifndef BASE_EXACT_SUM_H
#define BASE_EXACT_SUM_H

#include <stdint.h>

#define EXACT_DIGITS 70

typedef struct exact_sum {
    int64_t digit[EXACT_DIGITS]; /* zero: the empty sum */
    uint64_t added;              /* since the digits were last made small */
} exact_sum;

void exact_add(exact_sum *s, double x); /* finite */
void exact_join(exact_sum *s, const exact_sum *other);
/* Digits in [0, 2^32) but for the last, which has the sign: then sums of 2^30 such digits are sums of digits again. */
void exact_tidy(exact_sum *s);
double exact_value(const exact_sum *s); /* to nearest; infinite where it is too large */

#endif
