/* number.h - decimal text to double, correctly rounded, sixteen digits at a time.
 *
 * number_read handles what data files are made of (1 to 8 digits, a point, up to 16 digits) in line and leaves the
 * rest to number_read_any. Both want a byte that cannot continue a number at its end, NUMBER_PADDING readable bytes
 * behind, and the first NUMBER_BEFORE in front. Neither knows a locale. What SSE2 does is said again in plain C. */
#ifndef DATA_NUMBER_H
#define DATA_NUMBER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define NUMBER_PADDING 40
#define NUMBER_BEFORE 16

/* The first byte of the text is the lowest of the word. */
static inline uint64_t number_word(const char *text)
{
    uint64_t word;
    memcpy(&word, text, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* A word of text with '0'..'9' made 0..9. */
static inline uint64_t number_digits_of(const char *text)
{
    return number_word(text) ^ 0x3030303030303030u;
}

/* Bit k: text[k] is not a digit. Of 32 bytes. */
static inline uint32_t number_breaks(const char *text)
{
#ifdef __SSE2__
    /* '0' to '9' become the ten least of the signed bytes */
    const __m128i shift = _mm_set1_epi8(0x80 - '0'), beyond = _mm_set1_epi8(-128 + 10);
    __m128i first = _mm_add_epi8(_mm_loadu_si128((const __m128i *)text), shift);
    __m128i second = _mm_add_epi8(_mm_loadu_si128((const __m128i *)(text + 16)), shift);
    return ~((uint32_t)_mm_movemask_epi8(_mm_cmplt_epi8(first, beyond)) |
             (uint32_t)_mm_movemask_epi8(_mm_cmplt_epi8(second, beyond)) << 16);
#else
    uint32_t breaks = 0;
    for (int k = 0; k < 32; k++)
        breaks |= (uint32_t)((unsigned char)(text[k] - '0') > 9) << k;
    return breaks;
#endif
}

/* The place of the first break; the lowest bit of the others is that of the next one. */
static inline unsigned number_next_break(uint32_t *breaks)
{
    unsigned at = *breaks ? (unsigned)__builtin_ctz(*breaks) : 32;
    *breaks &= *breaks - 1;
    return at;
}

/* The first `run` (1 to 8) digits as a number: neighbours are joined to pairs, fours, eight. */
static inline uint64_t number_join(uint64_t digits, unsigned run)
{
    digits <<= (64 - 8 * run) & 63;
    digits = digits * 10 + (digits >> 8);
    return (((digits & 0x000000ff000000ffu) * 0x000f424000000064u) +
            (((digits >> 16) & 0x000000ff000000ffu) * 0x0000271000000001u)) >>
           32;
}

extern const unsigned char number_tail[32]; /* 16 times 0, 16 times 255 */

/* The last `count` (0 to 16) digits before `end` as a number. */
static inline uint64_t number_join_before(const char *end, unsigned count)
{
#ifdef __SSE2__
    const __m128i thousands = _mm_setr_epi16(1000, 100, 10, 1, 1000, 100, 10, 1);
    const __m128i myriads = _mm_setr_epi16(10000, 1, 10000, 1, 10000, 1, 10000, 1);
    __m128i digits = _mm_sub_epi8(_mm_loadu_si128((const __m128i *)(end - 16)), _mm_set1_epi8('0'));
    digits = _mm_and_si128(digits, _mm_loadu_si128((const __m128i *)(number_tail + count)));
    __m128i first = _mm_madd_epi16(_mm_unpacklo_epi8(digits, _mm_setzero_si128()), thousands);
    __m128i second = _mm_madd_epi16(_mm_unpackhi_epi8(digits, _mm_setzero_si128()), thousands);
    __m128i fours = _mm_madd_epi16(_mm_packs_epi32(first, second), _mm_set1_epi16(1));
    uint64_t eights = (uint64_t)_mm_cvtsi128_si64(_mm_madd_epi16(_mm_packs_epi32(fours, fours), myriads));
    return (eights & UINT32_MAX) * 100000000 + (eights >> 32);
#else
    uint64_t n = 0;
    for (; count > 0; count--)
        n = n * 10 + (uint64_t)(end[-(int)count] - '0');
    return n;
#endif
}

extern const double number_ten[23];         /* 10^0 .. 10^22, exact */
extern const uint64_t number_ten_whole[20]; /* 10^0 .. 10^19 */

/* Reads  [+-] digits [. digits] [e [+-] digits]  with a digit on at least one side of the point. Returns where it
 * ends; NULL where there is no number (value is untouched), or one too large for a double (value is infinite).
 * Underflow gives a denormal or zero. */
const char *number_read_any(const char *text, double *value);

/* mantissa / 10^places. False where that is not settled by one operation on exact doubles, which is rounded once. */
static inline bool number_settle(uint64_t mantissa, unsigned places, double *value)
{
    *value = (double)(int64_t)mantissa / number_ten[places];
    return mantissa <= (uint64_t)1 << 53;
}

static inline const char *number_read(const char *text, double *value)
{
    const char *p = text;
    if (*p == '-' || *p == '+')
        p++;
    uint32_t breaks = number_breaks(p);
    unsigned whole = number_next_break(&breaks), fraction = 0;
    if (whole == 0 || whole > 8)
        return number_read_any(text, value);
    uint64_t mantissa = number_join(number_digits_of(p), whole);
    p += whole;
    if (*p == '.') {
        fraction = number_next_break(&breaks) - whole - 1;
        p += 1 + fraction;
        if (fraction > 16 || whole + fraction > 19) /* digits that fit 64 bits */
            return number_read_any(text, value);
        mantissa = mantissa * number_ten_whole[fraction] + number_join_before(p, fraction);
    }
    double magnitude;
    if (!number_settle(mantissa, fraction, &magnitude) || (*p | 0x20) == 'e')
        return number_read_any(text, value);
    *value = *text == '-' ? -magnitude : magnitude;
    return p;
}

/* Text of as few digits as read back as the same double; at most NUMBER_TEXT bytes, not terminated. Returns its end.
 */
#define NUMBER_TEXT 32
char *number_write(char *to, double value);
char *number_write_whole(char *to, uint64_t n);

#endif
