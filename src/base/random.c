/* random.c - see random.h. The key is the seed; the counter's 128 bits are
 *
 *     [0] number of the draw   [1] round, low   [2] block, low   [3] round, bits 32-47, and block, bits 32-47
 *
 * so streams of different (round, block) below 2^48 never meet, and a stream repeats after 2^34 numbers. */
#include "base/random.h"

#include <math.h>
#include <Random123/philox.h>

void rng_open(rng *r, uint64_t seed, uint64_t round, uint64_t block)
{
    *r = (rng){.key = {(uint32_t)seed, (uint32_t)(seed >> 32)},
               .counter = {0, (uint32_t)round, (uint32_t)block,
                           (uint32_t)(round >> 32) << 16 | (uint32_t)(block >> 32 & 0xffff)}};
}

uint32_t rng_u32(rng *r)
{
    if (r->left == 0) {
        philox4x32_ctr_t counter = {{r->counter[0], r->counter[1], r->counter[2], r->counter[3]}};
        philox4x32_key_t key = {{r->key[0], r->key[1]}};
        philox4x32_ctr_t out = philox4x32_R(10, counter, key);
        for (int i = 0; i < 4; i++)
            r->out[i] = out.v[i];
        r->counter[0]++;
        r->left = 4;
    }
    return r->out[4 - r->left--];
}

/* Lemire's method: the upper half of draw * n, draws that would favour some results are refused. */
uint32_t rng_below(rng *r, uint32_t n)
{
    uint64_t product = (uint64_t)rng_u32(r) * n;
    if ((uint32_t)product < n) {
        uint32_t refused = -n % n;
        while ((uint32_t)product < refused)
            product = (uint64_t)rng_u32(r) * n;
    }
    return (uint32_t)(product >> 32);
}

/* (k + 1/2) / 2^52: with one bit more the largest would round to 1. */
double rng_uniform(rng *r)
{
    uint64_t high = rng_u32(r), bits = high << 32 | rng_u32(r);
    return ((double)(bits >> 12) + 0.5) * 0x1p-52;
}

/* Box and Muller */
double rng_normal(rng *r)
{
    const double two_pi = 6.283185307179586476925;
    double radius = sqrt(-2 * log(rng_uniform(r)));
    return radius * cos(two_pi * rng_uniform(r));
}

void rng_shuffle(rng *r, uint32_t *x, uint32_t n)
{
    for (uint32_t i = n; i > 1; i--) {
        uint32_t j = rng_below(r, i), keep = x[i - 1];
        x[i - 1] = x[j];
        x[j] = keep;
    }
}
