/* unicode.h - UTF-8 and what code points are, the same on every machine: nothing here asks for a locale. */
#ifndef SENTENCE_UNICODE_H
#define SENTENCE_UNICODE_H

#include <stdbool.h>
#include <stdint.h>

/* A letter without case, or a mark on one, counts as lower. */
typedef enum unicode_kind { UNICODE_UPPER, UNICODE_LOWER, UNICODE_DIGIT, UNICODE_OTHER } unicode_kind;

#define UNICODE_MOST_BYTES 4 /* of a code point in UTF-8 */

/* The offset of the first byte that is not UTF-8, or is NUL; `length` where all is well. */
uint64_t unicode_invalid(const char *text, uint64_t length);

/* The code point at p, in valid UTF-8; moves p behind it. */
uint32_t unicode_next(const char **p);
/* Writes a code point and returns its bytes. */
int unicode_put(uint32_t code, char *to);

uint32_t unicode_lower(uint32_t code); /* of one code point; itself where there is no other */
unicode_kind unicode_kind_of(uint32_t code);

#endif
