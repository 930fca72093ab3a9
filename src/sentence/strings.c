/* strings.c - see strings.h. */
#include "sentence/strings.h"

#include "base/memory.h"

#include <string.h>
#include <xxhash.h>

#define FIRST_ROOM 1024

uint64_t strings_hash(const char *text, uint64_t length)
{
    return XXH3_64bits(text, length);
}

void strings_free(strings *s)
{
    mem_free(s->at, s->at_bytes);
    mem_free(s->slot, s->room * sizeof *s->slot);
    *s = (strings){0};
}

static uint64_t place_of(const strings *s, uint64_t hash, const char *text, uint64_t length)
{
    uint64_t i = hash & (s->room - 1);
    for (; s->slot[i]; i = (i + 1) & (s->room - 1)) {
        const string_entry *e = &s->at[s->slot[i] - 1];
        if (e->hash == hash && e->length == length && memcmp(e->text, text, length) == 0)
            break;
    }
    return i;
}

static bool grow(strings *s, bda_error *err)
{
    uint64_t room = s->room ? s->room * 2 : FIRST_ROOM;
    if (room > (uint64_t)1 << 32)
        return err_set(err, BDA_FAILED, "a column has more than 2^31 different strings");
    string_entry *at = mem_resize(s->at, s->at_bytes, room / 2 * sizeof *at, "strings", err);
    if (!at)
        return false;
    s->at = at;
    s->at_bytes = room / 2 * sizeof *at;
    uint32_t *slot = mem_resize(NULL, 0, room * sizeof *slot, "a table of strings", err);
    if (!slot)
        return false;
    memset(slot, 0, room * sizeof *slot);
    mem_free(s->slot, s->room * sizeof *s->slot);
    s->slot = slot;
    s->room = room;
    for (uint32_t k = 0; k < s->count; k++) {
        uint64_t i = at[k].hash & (room - 1);
        while (slot[i])
            i = (i + 1) & (room - 1);
        slot[i] = k + 1;
    }
    return true;
}

bool strings_add(strings *s, const char *text, uint64_t length, uint32_t *number, bda_error *err)
{
    if (2 * (uint64_t)s->count >= s->room && !grow(s, err))
        return false;
    uint64_t hash = strings_hash(text, length), i = place_of(s, hash, text, length);
    if (!s->slot[i]) {
        s->at[s->count] = (string_entry){hash, text, (uint32_t)length, 0};
        s->slot[i] = ++s->count;
    }
    *number = s->slot[i] - 1;
    string_entry *e = &s->at[*number];
    e->count += e->count < UINT32_MAX;
    return true;
}
