/* frequency.c - see frequency.h. */
#include "data/frequency.h"

#include <string.h>

static uint32_t bucket_of(uint32_t count)
{
    return count < FREQUENCY_BUCKETS ? count : FREQUENCY_BUCKETS - 1;
}

uint64_t frequency_places(uint32_t *count, uint64_t columns, uint32_t least, uint64_t *bucket)
{
    memset(bucket, 0, FREQUENCY_BUCKETS * sizeof *bucket);
    for (uint64_t j = 0; j < columns; j++)
        bucket[bucket_of(count[j])]++;
    uint64_t placed = 0;
    for (uint64_t b = FREQUENCY_BUCKETS; b-- > least;) {
        const uint64_t here = bucket[b];
        bucket[b] = placed;
        placed += here;
    }
    for (uint64_t j = 0; j < columns; j++)
        count[j] = count[j] < least ? FREQUENCY_RARE : (uint32_t)bucket[bucket_of(count[j])]++;
    return placed;
}
