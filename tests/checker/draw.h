/* draw.h - random numbers for tests (splitmix64), from a state that a test sets to repeat its draws. */
#ifndef CHECKER_DRAW_H
#define CHECKER_DRAW_H

#include <math.h>
#include <stdint.h>

static uint64_t state;

static inline double uniform(double lo, double hi)
{
    state += 0x9e3779b97f4a7c15u;
    uint64_t x = state;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return lo + (hi - lo) * (double)((x ^ (x >> 31)) >> 11) * 0x1p-53;
}

/* 10 to a power that is uniform between these */
static inline double power(double lo, double hi)
{
    return pow(10, uniform(lo, hi));
}

#endif
