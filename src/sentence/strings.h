/* strings.h - the distinct strings of one column of a text, numbered in the order they came in.
 *
 * Numbers are of this rank alone. What ranks agree on is the hash: 64 bits stand for a string everywhere. */
#ifndef SENTENCE_STRINGS_H
#define SENTENCE_STRINGS_H

#include "base/error.h"

typedef struct string_entry {
    uint64_t hash;
    const char *text; /* not ended by a zero */
    uint32_t length;
    uint32_t count; /* how often it came, up to UINT32_MAX */
} string_entry;

/* A zeroed set is empty. */
typedef struct strings {
    string_entry *at; /* [count] */
    uint32_t count;
    uint32_t *slot; /* [room] number + 1; a hash table */
    uint64_t room;  /* a power of two */
    uint64_t at_bytes;
} strings;

uint64_t strings_hash(const char *text, uint64_t length);

/* The number of a string, which is added if it is new; the text stays the caller's. */
bool strings_add(strings *s, const char *text, uint64_t length, uint32_t *number, bda_error *err);
void strings_free(strings *s);

static inline bool string_is(const string_entry *e, char c)
{
    return e->length == 1 && e->text[0] == c;
}

#endif
