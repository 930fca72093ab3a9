/* key_counts.c - see key_counts.h. */
#include "sentence/key_counts.h"

#include "sentence/key.h"

#include <string.h>

#define FIRST_ROOM ((uint64_t)4096)
#define SLACK ((uint64_t)1024) /* slots behind the last that a key falls on; clusters are far shorter */
#define AHEAD 16               /* keys whose slots are fetched beforehand */

typedef struct key_counts_part part;
struct key_counts_part {
    uint64_t room, used;
    uint64_t *key; /* [room + SLACK] 0: free */
    uint32_t *count;
    uint64_t *sum; /* NULL where there are none */
};

static uint64_t slots(const part *p)
{
    return p->room ? p->room + SLACK : 0; /* none yet */
}

static void part_free(part *p)
{
    mem_free(p->key, slots(p) * sizeof *p->key);
    mem_free(p->count, slots(p) * sizeof *p->count);
    mem_free(p->sum, slots(p) * sizeof *p->sum);
    *p = (part){0};
}

/* Zeroed. */
static void *take(uint64_t count, uint64_t size, bda_error *err)
{
    void *p = mem_resize(NULL, 0, count * size, "counts of features", err);
    return p ? memset(p, 0, count * size) : NULL;
}

void counts_free(key_counts *k)
{
    for (int i = 0; k->part && i < k->parts; i++)
        part_free(&k->part[i]);
    arena_free(&k->memory);
    *k = (key_counts){0};
}

/* The slot rises with the key, also within a part. */
static uint64_t slot_of(const part *p, int parts, uint64_t key)
{
    return key_part(key * (uint64_t)parts, p->room);
}

/* False: there is no slot left behind the key's own, however few are used. */
static bool put(part *p, int parts, uint64_t key, uint32_t count, uint64_t sum)
{
    uint64_t i = slot_of(p, parts, key);
    while (p->key[i] && p->key[i] != key)
        if (++i == slots(p))
            return false;
    p->used += p->key[i] == 0;
    p->key[i] = key;
    p->count[i] = count < UINT32_MAX - p->count[i] ? p->count[i] + count : UINT32_MAX;
    if (p->sum)
        p->sum[i] += sum;
    return true;
}

static bool take_part(part *p, uint64_t room, bool sums, bda_error *err)
{
    *p = (part){.room = room};
    p->key = take(slots(p), sizeof *p->key, err);
    p->count = take(slots(p), sizeof *p->count, err);
    p->sum = sums ? take(slots(p), sizeof *p->sum, err) : NULL;
    if (p->key && p->count && (p->sum || !sums))
        return true;
    part_free(p);
    return false;
}

bool counts_open(key_counts *k, int parts, bool sums, uint64_t expected, bda_error *err)
{
    *k = (key_counts){.parts = parts, .sums = sums};
    k->part = ARENA_TAKE(&k->memory, part, (uint64_t)parts, err);
    for (int i = 0; k->part && i < parts; i++)
        if (!take_part(&k->part[i], 2 * expected / (uint64_t)parts + FIRST_ROOM, sums, err))
            return false;
    return k->part != NULL;
}

static bool put_all(const part *from, part *to, int parts)
{
    for (uint64_t i = 0; i < slots(from); i++)
        if (from->key[i] && !put(to, parts, from->key[i], from->count[i], from->sum ? from->sum[i] : 0))
            return false;
    return true;
}

static bool grow(part *p, int parts, bool sums, bda_error *err)
{
    part larger;
    for (uint64_t room = 2 * p->room; take_part(&larger, room, sums, err); room *= 2) {
        if (put_all(p, &larger, parts)) {
            part_free(p);
            *p = larger;
            return true;
        }
        part_free(&larger);
    }
    return false;
}

bool counts_add(key_counts *k, int number, const uint64_t *key, const uint64_t *row, const uint32_t *count,
                uint64_t keys, bda_error *err)
{
    part *p = &k->part[number];
    for (uint64_t i = 0; i < keys; i++) {
        if (i + AHEAD < keys) {
            uint64_t next = slot_of(p, k->parts, key[i + AHEAD]);
            __builtin_prefetch(&p->key[next]);
            __builtin_prefetch(&p->count[next]);
        }
        if (key[i] == 0 || key_part(key[i], (uint64_t)k->parts) != (uint64_t)number)
            continue;
        if (2 * p->used >= p->room && !grow(p, k->parts, k->sums, err))
            return false;
        while (!put(p, k->parts, key[i], count ? count[i] : 1, row ? row[i] : 0))
            if (!grow(p, k->parts, k->sums, err))
                return false;
    }
    return true;
}

uint64_t counts_keys(const key_counts *k)
{
    uint64_t keys = 0;
    for (int i = 0; i < k->parts; i++)
        keys += k->part[i].used;
    return keys;
}

/* Keys of a cluster may be out of order, by a few places. */
static void settle(uint64_t *key, uint32_t *count, uint64_t *sum, uint64_t i, uint64_t first)
{
    uint64_t a = key[i], c = sum ? sum[i] : 0;
    uint32_t b = count[i];
    for (; i > first && key[i - 1] > a; i--) {
        key[i] = key[i - 1];
        count[i] = count[i - 1];
        if (sum)
            sum[i] = sum[i - 1];
    }
    key[i] = a;
    count[i] = b;
    if (sum)
        sum[i] = c;
}

void counts_take(key_counts *k, uint64_t *key, uint32_t *count, uint64_t *sum)
{
    uint64_t at = 0;
    for (int number = 0; number < k->parts; number++) {
        part *p = &k->part[number];
        for (uint64_t i = 0, first = at; i < slots(p); i++) {
            if (!p->key[i])
                continue;
            key[at] = p->key[i];
            count[at] = p->count[i];
            if (sum)
                sum[at] = p->sum[i];
            settle(key, count, sum, at++, first);
        }
        part_free(p);
    }
}
