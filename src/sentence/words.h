/* words.h - what features ask of a word, worked out once for each distinct one. */
#ifndef SENTENCE_WORDS_H
#define SENTENCE_WORDS_H

#include "base/memory.h"
#include "sentence/strings.h"

#define WORD_AFFIX 5        /* longest, in code points */
#define WORD_LOOKED_AT 1024 /* bytes */

enum {
    WORD_CAPS_FIRST = 1,
    WORD_CAPS_INNER = 2,
    WORD_CAPS_ALL = 4,
    WORD_DIGIT = 8,
    WORD_HYPHEN = 16,
    WORD_PUNCTUATION = 32 /* neither letters nor digits */
};

/* Hashes of strings. Affixes are of the lower-cased word; those of lengths beyond the word's are not set. */
typedef struct word {
    uint64_t whole, lower;
    uint64_t prefix[WORD_AFFIX + 1], suffix[WORD_AFFIX + 1]; /* [length] */
    uint64_t ending;                                         /* of up to three code points, whatever the length */
    uint64_t shape, short_shape; /* a letter for each kind of code point; for each run of one kind */
    uint64_t stem;               /* the first five code points as they are, where there are more; else 0 */
    uint32_t length;             /* code points */
    uint32_t flags;
} word;

/* words: [s->count], in memory of the arena; NULL on failure. Threads share the work. */
word *words_make(const strings *s, int threads, arena *memory, bda_error *err);
/* Of one string in valid UTF-8, the first WORD_LOOKED_AT bytes of it. */
void word_make(word *w, const string_entry *e);

#endif
