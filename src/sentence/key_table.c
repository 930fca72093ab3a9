/* key_table.c - the look-up of dictionary.h. */
#include "sentence/dictionary.h"

#include <string.h>

#define SLACK 1024
#define FILTER_BITS 8 /* a key, at least */

bool key_table_make(key_table *t, const uint64_t *key, const uint32_t *column, uint64_t count, arena *memory,
                    bda_error *err)
{
    uint64_t bits = 1 << 12;
    while (bits < FILTER_BITS * count)
        bits *= 2;
    *t = (key_table){.room = count + count / 2 + 16, .filter_mask = bits - 1};
    t->key = ARENA_TAKE(memory, uint64_t, t->room + SLACK, err);
    t->column = ARENA_TAKE(memory, uint32_t, t->room + SLACK, err);
    t->filter = ARENA_TAKE(memory, uint64_t, bits / 64, err);
    if (!t->key || !t->column || !t->filter)
        return false;
    memset(t->column, 0xFF, (t->room + SLACK) * sizeof *t->column);
    for (uint64_t i = 0; i < count; i++) {
        if (column[i] == DICTIONARY_NONE)
            continue;
        uint64_t slot = key_table_slot(t, key[i]);
        while (t->key[slot])
            if (++slot == t->room + SLACK - 1) /* the last one stays free, for searches to end */
                return err_set(err, BDA_FAILED, "the keys of the features are not those of any text");
        t->key[slot] = key[i];
        t->column[slot] = column[i];
        t->filter[(key[i] & t->filter_mask) >> 6] |= (uint64_t)1 << (key[i] & 63);
    }
    return true;
}

#define TOGETHER 256 /* keys that are looked up together, so that memory is waited for once */

uint64_t key_table_columns(const key_table *t, const uint64_t *key, uint64_t keys, uint32_t *column)
{
    uint64_t likely[TOGETHER], slot[TOGETHER], found = 0;
    for (uint64_t from = 0; from < keys; from += TOGETHER) {
        const uint64_t count = keys - from < TOGETHER ? keys - from : TOGETHER;
        for (uint64_t i = 0; i < count; i++)
            key_table_prefetch_filter(t, key[from + i]);
        uint64_t some = 0;
        for (uint64_t i = 0; i < count; i++) {
            likely[some] = key[from + i];
            some += key_table_may_have(t, key[from + i]);
        }
        for (uint64_t i = 0; i < some; i++) {
            slot[i] = key_table_slot(t, likely[i]);
            __builtin_prefetch(&t->key[slot[i]]);
            __builtin_prefetch(&t->column[slot[i]]);
        }
        for (uint64_t i = 0; i < some; i++) {
            column[found] = key_table_find(t, slot[i], likely[i]);
            found += column[found] != DICTIONARY_NONE;
        }
    }
    return found;
}
