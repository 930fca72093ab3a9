/* key.h - features are 64-bit keys: sums of hashed strings, each times an odd number of its place, and of a number for
 * the template. 64 bits identify a feature: among ten million the chance of any two being taken for one is 3e-6. */
#ifndef SENTENCE_KEY_H
#define SENTENCE_KEY_H

#include <stdint.h>

/* The finaliser of splitmix64: small numbers to keys. */
static inline uint64_t key_mix(uint64_t x)
{
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

/* Factors of the places of a feature. */
#define KEY_A 0x9E6C63D0876A9A47u
#define KEY_B 0xD1342543DE82EF95u
#define KEY_C 0xAF251AF3B0F025B5u
#define KEY_D 0xC13FA9A902A6328Fu

static inline uint64_t key1(uint64_t name, uint64_t a)
{
    return name + a * KEY_A;
}

static inline uint64_t key2(uint64_t name, uint64_t a, uint64_t b)
{
    return name + a * KEY_A + b * KEY_B;
}

static inline uint64_t key3(uint64_t name, uint64_t a, uint64_t b, uint64_t c)
{
    return name + a * KEY_A + b * KEY_B + c * KEY_C;
}

static inline uint64_t key4(uint64_t name, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    return name + a * KEY_A + b * KEY_B + c * KEY_C + d * KEY_D;
}

/* Which of `parts` equal parts of all keys a key is in: it rises with the key. */
static inline uint64_t key_part(uint64_t key, uint64_t parts)
{
    return (uint64_t)((unsigned __int128)key * parts >> 64);
}

#endif
