/* random.h - reproducible random numbers: Philox 4x32-10 of Random123, a counter-based generator.
 *
 * A stream is named by (seed, round, block); its numbers depend on nothing else, whatever ranks, threads and load.
 */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stdint.h>

typedef struct rng {
    uint32_t key[2];
    uint32_t counter[4];
    uint32_t out[4];
    int left; /* of out */
} rng;

void rng_open(rng *r, uint64_t seed, uint64_t round, uint64_t block);
uint32_t rng_u32(rng *r);
uint32_t rng_below(rng *r, uint32_t n); /* uniform in [0, n), unbiased; n > 0 */
double rng_uniform(rng *r);             /* in (0, 1) */
double rng_normal(rng *r);
void rng_shuffle(rng *r, uint32_t *x, uint32_t n); /* Fisher-Yates */

#endif
