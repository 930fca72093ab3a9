/* unicode.c - see unicode.h. The ranges of code points are in unicode_table.h. */
#include "sentence/unicode.h"

#include <stddef.h>
#include <string.h>

typedef struct code_range {
    uint32_t first, last;
} code_range;

#include "sentence/unicode_table.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* Bytes of the well-formed code point at p, before `end`; 0 where it is none. */
static int well_formed(const unsigned char *p, const unsigned char *end)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    int bytes = *p < 0x80 ? 1 : *p < 0xC2 ? 0 : *p < 0xE0 ? 2 : *p < 0xF0 ? 3 : *p < 0xF5 ? 4 : 0;
    if (bytes <= 1)
        return *p == 0 ? 0 : bytes;
    if (end - p < bytes)
        return 0;
    uint32_t code = *p & (0xFFu >> (bytes + 1));
    for (int i = 1; i < bytes; i++) {
        if ((p[i] & 0xC0) != 0x80)
            return 0;
        code = code << 6 | (p[i] & 0x3Fu);
    }
    return code < least[bytes] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF) ? 0 : bytes;
}

/* Are these 8 bytes ASCII without a NUL? */
static bool plain(const char *p)
{
    uint64_t x;
    memcpy(&x, p, sizeof x);
    const uint64_t high = 0x8080808080808080u;
    return ((x | (x - 0x0101010101010101u)) & high) == 0;
}

uint64_t unicode_invalid(const char *text, uint64_t length)
{
    if (length == 0) /* then there may be no text at all */
        return 0;
    const unsigned char *end = (const unsigned char *)text + length;
    for (uint64_t i = 0; i < length;) {
        if (length - i >= 8 && plain(text + i)) {
            i += 8;
            continue;
        }
        int bytes = well_formed((const unsigned char *)text + i, end);
        if (bytes == 0)
            return i;
        i += (uint64_t)bytes;
    }
    return length;
}

uint32_t unicode_next(const char **p)
{
    const unsigned char *b = (const unsigned char *)*p;
    int bytes = *b < 0x80 ? 1 : *b < 0xE0 ? 2 : *b < 0xF0 ? 3 : 4;
    uint32_t code = bytes == 1 ? *b : *b & (0xFFu >> (bytes + 1));
    for (int i = 1; i < bytes; i++)
        code = code << 6 | (b[i] & 0x3Fu);
    *p += bytes;
    return code;
}

int unicode_put(uint32_t code, char *to)
{
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    int bytes = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (int i = bytes - 1; i > 0; i--, code >>= 6)
        to[i] = (char)(0x80 | (code & 0x3F));
    to[0] = (char)((0xF00u >> bytes & 0xFF) | code);
    return bytes;
}

uint32_t unicode_lower(uint32_t code)
{
    size_t low = 0, high = COUNT(lower_ranges);
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (lower_ranges[middle].last < code)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == COUNT(lower_ranges) || code < lower_ranges[low].first ||
        (code - lower_ranges[low].first) % lower_ranges[low].step != 0)
        return code;
    return (uint32_t)((int64_t)code + lower_ranges[low].delta);
}

static bool is_in(const code_range *range, size_t count, uint32_t code)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (range[middle].last < code)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && code >= range[low].first;
}

unicode_kind unicode_kind_of(uint32_t code)
{
    if (is_in(digit_ranges, COUNT(digit_ranges), code))
        return UNICODE_DIGIT;
    if (is_in(other_ranges, COUNT(other_ranges), code))
        return UNICODE_OTHER;
    return unicode_lower(code) != code ? UNICODE_UPPER : UNICODE_LOWER;
}
