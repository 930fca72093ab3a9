/* lanes.h - loops over small dense rows that the compiler turns into vector instructions, with the same bits for
 * every vector width.
 *
 * Sums run in LANES interleaved partial sums, which are added in a fixed order. lanes_exp and lanes_log are
 * polynomials without branches, so that a loop over them is vectorised, and their bits do not depend on the C
 * library; both are within 2 ulp. WIDE_VECTORS compiles a function a second time for processors with AVX2, chosen
 * when the program starts: only the width of the vectors changes, never the order of operations, and nothing is
 * contracted to fused multiply-adds.
 */
#ifndef STRUCTURE_LANES_H
#define STRUCTURE_LANES_H

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#define LANES 4
#define LANES_INLINE static inline __attribute__((always_inline))

/* The choice at start-up needs GNU indirect functions. The sanitizers check memory before they are set up for such a
 * choice, and have no use for speed. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) &&                         \
    !defined(__SANITIZE_ADDRESS__)
#define WIDE_VECTORS __attribute__((target_clones("default", "avx2")))
#else
#define WIDE_VECTORS
#endif

/* The length of a row of n numbers, padded to whole lanes. */
LANES_INLINE int lanes_padded(int n)
{
    return (n + LANES - 1) / LANES * LANES;
}

LANES_INLINE double lanes_larger(double a, double b)
{
    return a > b ? a : b;
}

LANES_INLINE double lanes_from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

LANES_INLINE uint64_t lanes_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Adding this to a number below 2^51 rounds it to an integer, which then stands in the low bits. */
#define LANES_ROUND 0x1.8p52
#define LANES_LN2_HIGH 0x1.62e42fefa38p-1 /* 43 bits: its products with the exponents of doubles are exact */
#define LANES_LN2_LOW 0x1.ef35793c7673p-45

/* The exponential of x <= 709; 0 below -708, where the result would not be a normal number. */
LANES_INLINE double lanes_exp(double x)
{
    double y = x < -708 ? -708 : x; /* NaN stays NaN */
    double shifted = y * 0x1.71547652b82fep0 + LANES_ROUND, k = shifted - LANES_ROUND;
    double r = (y - k * LANES_LN2_HIGH) - k * LANES_LN2_LOW; /* |r| <= ln(2) / 2 */
    double p = 1 / 6227020800.0;                             /* Taylor: the first term left out is 4e-18 */
    p = p * r + 1 / 479001600.0;
    p = p * r + 1 / 39916800.0;
    p = p * r + 1 / 3628800.0;
    p = p * r + 1 / 362880.0;
    p = p * r + 1 / 40320.0;
    p = p * r + 1 / 5040.0;
    p = p * r + 1 / 720.0;
    p = p * r + 1 / 120.0;
    p = p * r + 1 / 24.0;
    p = p * r + 1 / 6.0;
    p = p * r + 0.5;
    double e = 1 + (r + r * r * p);
    double scaled = e * lanes_from_bits((lanes_bits(shifted) + 1023) << 52);
    return x < -708 ? 0 : scaled;
}

/* The natural logarithm of a normal number x > 0; of anything smaller that of the smallest normal number. */
LANES_INLINE double lanes_log(double x)
{
    uint64_t bits = lanes_bits(x < DBL_MIN ? DBL_MIN : x);
    uint64_t offset =
        bits - 0x3fe6a09e667f3bcdu; /* from sqrt(1/2): its upper bits are the exponent, in two's complement */
    uint64_t biased = (offset + 0x4000000000000000u) >> 52; /* + 1024, so that no sign is shifted */
    double k = lanes_from_bits(0x4338000000000000u + biased) - LANES_ROUND - 1024;
    double m = lanes_from_bits(bits - ((biased - 1024) << 52)); /* in [sqrt(1/2), sqrt(2)) */
    double f = m - 1, s = f / (2 + f), z = s * s;
    double p = 1 / 23.0; /* log(1 + f) = 2 artanh(s), |s| < 0.172: the first term left out is 4e-20 of it */
    p = p * z + 1 / 21.0;
    p = p * z + 1 / 19.0;
    p = p * z + 1 / 17.0;
    p = p * z + 1 / 15.0;
    p = p * z + 1 / 13.0;
    p = p * z + 1 / 11.0;
    p = p * z + 1 / 9.0;
    p = p * z + 1 / 7.0;
    p = p * z + 1 / 5.0;
    p = p * z + 1 / 3.0;
    /* 2 artanh(s) = f - s (f - 2 z p): f is exact, so the result is accurate near x = 1 as well */
    return k * LANES_LN2_HIGH + (f - (s * (f - 2 * z * p) - k * LANES_LN2_LOW));
}

/* LANES partial sums in a fixed order */
LANES_INLINE double lanes_add(const double *lane)
{
    return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

LANES_INLINE double lanes_max(const double *x, int n)
{
    double lane[LANES] = {x[0], x[0], x[0], x[0]};
    int whole = n / LANES * LANES;
    for (int j = 0; j < whole; j += LANES)
        for (int a = 0; a < LANES; a++)
            lane[a] = lanes_larger(x[j + a], lane[a]);
    for (int j = whole; j < n; j++)
        lane[0] = lanes_larger(x[j], lane[0]);
    return lanes_larger(lanes_larger(lane[0], lane[1]), lanes_larger(lane[2], lane[3]));
}

LANES_INLINE double lanes_sum(const double *x, int n)
{
    double lane[LANES] = {0};
    int whole = n / LANES * LANES;
    for (int j = 0; j < whole; j += LANES)
        for (int a = 0; a < LANES; a++)
            lane[a] += x[j + a];
    for (int j = whole; j < n; j++)
        lane[j - whole] += x[j];
    return lanes_add(lane);
}

#endif
