/* bytes.h - numbers and texts as bytes of a file: little-endian whatever the machine is, reals as IEEE 754 doubles, a
 * text as its length in 64 bits and its bytes, without a final zero. */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include "base/memory.h"

#include <stdio.h>

void bytes_encode_u32(unsigned char to[4], uint32_t x);
void bytes_encode_u64(unsigned char to[8], uint64_t x);
void bytes_encode_real(unsigned char to[8], double x);
uint32_t bytes_decode_u32(const unsigned char from[4]);
uint64_t bytes_decode_u64(const unsigned char from[8]);
double bytes_decode_real(const unsigned char from[8]);

/* A growing array of bytes; empty when zeroed. Putting cannot fail at once: bytes_done says whether all was kept. */
typedef struct bytes {
    unsigned char *at; /* [count] */
    uint64_t count, room;
    bool failed; /* there was no memory for all of it */
} bytes;

void bytes_put(bytes *b, const void *from, uint64_t count);
void bytes_put_u32(bytes *b, uint32_t x);
void bytes_put_u64(bytes *b, uint64_t x);
void bytes_put_real(bytes *b, double x);
void bytes_put_text(bytes *b, const char *text);
bool bytes_done(const bytes *b, const char *what, bda_error *err);
void bytes_free(bytes *b); /* leaves it empty */

/* Reads bytes from front to back. What is not there is 0, and `failed` from then on, so that a caller may ask once, at
 * the end. Nothing is copied but texts. */
typedef struct byte_reader {
    const unsigned char *at;
    uint64_t left;
    bool failed;
} byte_reader;

const unsigned char *bytes_get(byte_reader *r, uint64_t count); /* NULL where there are fewer left */
uint32_t bytes_get_u32(byte_reader *r);
uint64_t bytes_get_u64(byte_reader *r);
double bytes_get_real(byte_reader *r);
/* A copy that ends in a zero. NULL and `failed` where the bytes end too early or hold a zero; NULL and a sentence in
 * err where there is no memory. */
const char *bytes_get_text(byte_reader *r, arena *memory, bda_error *err);
/* Was everything there, and nothing is left? */
bool bytes_ended(const byte_reader *r);

/* The bytes of a file as they arrive, or of memory. */
typedef struct byte_source {
    const char *name; /* for sentences */
    FILE *file;       /* NULL: all bytes are there */
    const unsigned char *at;
    uint64_t count;
    uint64_t room; /* taken; 0: the bytes are the caller's */
} byte_source;

bool byte_source_open(byte_source *s, const char *path, bda_error *err);
/* Reads until there are `count` bytes or the file ends: then there are fewer, which is no failure. Memory grows with
 * the bytes that arrive, whatever `count` is. */
bool byte_source_want(byte_source *s, uint64_t count, bda_error *err);
void byte_source_close(byte_source *s); /* accepts one that failed to open */

#endif
