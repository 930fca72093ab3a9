/* key_counts.h - how often each key occurs: hash tables whose slots rise with the keys, so that what they hold comes
 * out nearly sorted. */
#ifndef SENTENCE_KEY_COUNTS_H
#define SENTENCE_KEY_COUNTS_H

#include "base/memory.h"

typedef struct key_counts {
    struct key_counts_part *part; /* [parts] equal parts of all keys, each counted by one thread */
    int parts;
    bool sums; /* of hashes of the rows that have the key, too */
    arena memory;
} key_counts;

/* expected: keys; what is a guess for keys in random order must not be too low for keys in increasing order. */
bool counts_open(key_counts *k, int parts, bool sums, uint64_t expected, bda_error *err);
/* Counts those of the keys that are in the part. row: [keys] the hash of each key's row; NULL unless `sums`. count:
 * [keys] how often; NULL: once. The key 0 is passed over. */
bool counts_add(key_counts *k, int part, const uint64_t *key, const uint64_t *row, const uint32_t *count,
                uint64_t keys, bda_error *err);
uint64_t counts_keys(const key_counts *k); /* distinct ones */
/* All of them in increasing order: [counts_keys]; sum may be NULL. Frees the counts part by part. */
void counts_take(key_counts *k, uint64_t *key, uint32_t *count, uint64_t *sum);
void counts_free(key_counts *k);

#endif
