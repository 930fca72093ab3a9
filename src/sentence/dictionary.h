/* dictionary.h - which features there are, over all ranks, and which column each has.
 *
 * A feature is a 64-bit key (key.h). Each rank counts the keys of its own rows; each key has one owner, by its upper
 * bits, who adds up the counts of all ranks; columns are numbered by falling count, ties by key, and every rank is told
 * the columns of its own keys. So the numbers do not depend on how many ranks there are, and none has all keys.
 *
 * Columns that the same rows have may be merged, exactly: with g = w'w/2 m of them are one column with the value
 * sqrt(m). They are found by the sum of hashes of their rows, which then takes the place of the key. */
#ifndef SENTENCE_DICTIONARY_H
#define SENTENCE_DICTIONARY_H

#include "base/memory.h"
#include "comm/comm.h"
#include "sentence/key_counts.h"

#define DICTIONARY_NONE UINT32_MAX
#define DICTIONARY_MOST 4294967294u /* columns */

/* ---- columns ---- */

typedef struct dictionary {
    uint64_t columns;
    bool merged; /* some column stands for several features */
    /* This rank's keys, in increasing order, and their columns, DICTIONARY_NONE for those that came too seldom; and
     * how many features a column stands for. */
    uint64_t *key;
    uint32_t *column, *members;
    uint64_t count;
    uint64_t dropped;  /* features of all ranks that came too seldom */
    uint64_t features; /* of all ranks, that have a column */
    /* The keys that this rank owns, likewise. */
    uint64_t *own_key;
    uint32_t *own_column;
    uint64_t owned;
    arena memory;
} dictionary;

/* Columns are merged where the counts have sums. Frees the counts. Collective. */
bool dictionary_make(comm *c, key_counts *k, uint64_t min_count, dictionary *d, bda_error *err);
void dictionary_free(dictionary *d);

/* All keys that have a column, in increasing order, and their columns: [d->features], in memory of the arena.
 * Collective. */
bool dictionary_gather(comm *c, const dictionary *d, arena *memory, uint64_t **key, uint32_t **column,
                       bda_error *err);

/* ---- look-up ---- */

/* Keys and their columns as a hash table behind a filter of bits. */
typedef struct key_table {
    uint64_t room;
    uint64_t *key;    /* [room + slack] 0: free; in increasing order otherwise */
    uint32_t *column; /* DICTIONARY_NONE where free */
    uint64_t *filter; /* bit by the lower bits of the key */
    uint64_t filter_mask;
} key_table;

/* Keys in increasing order; those without a column are left out. */
bool key_table_make(key_table *t, const uint64_t *key, const uint32_t *column, uint64_t count, arena *memory,
                    bda_error *err);

static inline void key_table_prefetch_filter(const key_table *t, uint64_t key)
{
    __builtin_prefetch(&t->filter[(key & t->filter_mask) >> 6]);
}

/* False: the table does not have the key. */
static inline bool key_table_may_have(const key_table *t, uint64_t key)
{
    return t->filter[(key & t->filter_mask) >> 6] >> (key & 63) & 1;
}

static inline uint64_t key_table_slot(const key_table *t, uint64_t key)
{
    return (uint64_t)((unsigned __int128)key * t->room >> 64);
}

/* From the slot of the key on. */
static inline uint32_t key_table_find(const key_table *t, uint64_t slot, uint64_t key)
{
    while (t->key[slot] < key && t->key[slot])
        slot++;
    return t->key[slot] == key ? t->column[slot] : DICTIONARY_NONE;
}

/* The columns of keys that have one, in their order; returns how many. column: [keys] */
uint64_t key_table_columns(const key_table *t, const uint64_t *key, uint64_t keys, uint32_t *column);

#endif
