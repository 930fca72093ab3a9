/* grid.h - private to src/comm: doubles as whole multiples of a unit that is a power of two. Sums of doubles depend on
 * their order, sums of integers do not. */
#ifndef COMM_GRID_H
#define COMM_GRID_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Powers of two as two factors: a unit may be as small as 2^-1136, its inverse beyond the range of a double. */
typedef struct grid {
    double to_units[2], to_real[2];
} grid;

/* unit = 2^-power */
static inline grid grid_of(int power)
{
    const int half = power / 2;
    return (grid){.to_units = {ldexp(1, half), ldexp(1, power - half)},
                  .to_real = {ldexp(1, -half), ldexp(1, half - power)}};
}

/* unit = 2^(e - 62) with 2^(e-1) <= blocks * largest <= 2^e */
static inline grid grid_for(uint64_t blocks, double largest)
{
    int of_largest, of_blocks;
    double fraction = frexp(largest, &of_largest);
    frexp(fraction * (double)blocks, &of_blocks);
    return grid_of(62 - of_largest - of_blocks);
}

/* The whole number that GRID_SHIFT has moved into the low bits of a double; 2^51 more than that is its size limit. */
#define GRID_SHIFT 0x1.8p52

static inline int64_t grid_shifted(double x)
{
    const double shift = GRID_SHIFT;
    int64_t bits, zero;
    memcpy(&bits, &x, sizeof bits);
    memcpy(&zero, &shift, sizeof zero);
    return bits - zero;
}

/* To the nearest whole number (ties to even), for |units| <= 2^62, in two halves of 32 bits: no branch and no
 * conversion instruction, so that the loops below work on several numbers at once. Both differences are exact. */
static inline int64_t grid_nearest(double units)
{
    double high = units * 0x1p-32 + GRID_SHIFT;
    double low = (units - (high - GRID_SHIFT) * 0x1p32) + GRID_SHIFT;
    return (int64_t)((uint64_t)grid_shifted(high) << 32) + grid_shifted(low);
}

/* The same for |units| < 2^51, in one step. */
static inline int64_t grid_nearest_small(double units)
{
    return grid_shifted(units + GRID_SHIFT);
}

#endif
