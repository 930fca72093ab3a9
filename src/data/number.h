/* number.h - decimal text to double, correctly rounded, eight digits at a time.
 *
 * number_read handles what data files are made of (up to 7 digits, a point, up to 18 digits) in line and leaves the
 * rest to number_read_any. Both want NUMBER_PADDING readable bytes behind the text, and a byte that cannot continue a
 * number at its end. Neither knows a locale. */
#ifndef DATA_NUMBER_H
#define DATA_NUMBER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define NUMBER_PADDING 32

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

/* How many digits the word begins with, 0 to 8: a byte above 9 carries into its highest bit. */
static inline unsigned number_run(uint64_t digits)
{
    uint64_t other = (((digits & 0x7f7f7f7f7f7f7f7fu) + 0x7676767676767676u) | digits) & 0x8080808080808080u;
    return other ? (unsigned)__builtin_ctzll(other) >> 3 : 8;
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

extern const double number_ten[23];         /* 10^0 .. 10^22, exact */
extern const uint64_t number_ten_whole[20]; /* 10^0 .. 10^19 */

/* Reads  [+-] digits [. digits] [e [+-] digits]  with a digit on at least one side of the point. Returns where it
 * ends; NULL where there is no number (value is untouched), or one too large for a double (value is infinite).
 * Underflow gives a denormal or zero. */
const char *number_read_any(const char *text, double *value);

static inline const char *number_read(const char *text, double *value)
{
    const char *p = text + ((*text == '-') | (*text == '+'));
    unsigned whole = 1, fraction = 0;
    uint64_t mantissa = (uint64_t)(unsigned char)*p - '0', digits;
    if (p[1] != '.' || mantissa > 9) {
        digits = number_digits_of(p);
        whole = number_run(digits);
        mantissa = whole ? number_join(digits, whole) : 0;
        if (whole == 8)
            return number_read_any(text, value);
    }
    p += whole;
    if (*p == '.') {
        digits = number_digits_of(++p);
        fraction = number_run(digits);
        mantissa = fraction ? mantissa * number_ten_whole[fraction] + number_join(digits, fraction) : mantissa;
        for (unsigned run = fraction; run == 8 && fraction < 24; fraction += run) {
            digits = number_digits_of(p + fraction);
            run = number_run(digits);
            mantissa = run ? mantissa * number_ten_whole[run] + number_join(digits, run) : mantissa;
        }
        p += fraction;
    }
    /* 19 digits fit 64 bits; a quotient of two exact doubles is rounded once. */
    if (whole + fraction - 1 >= 19 || mantissa > (uint64_t)1 << 53 || (*p | 0x20) == 'e')
        return number_read_any(text, value);
    double magnitude = (double)(int64_t)mantissa / number_ten[fraction];
    uint64_t bits;
    memcpy(&bits, &magnitude, sizeof bits);
    bits |= (uint64_t)(*text == '-') << 63;
    memcpy(value, &bits, sizeof bits);
    return p;
}

/* Text of as few digits as read back as the same double; at most NUMBER_TEXT bytes, not terminated. Returns its end.
 */
#define NUMBER_TEXT 32
char *number_write(char *to, double value);
char *number_write_whole(char *to, uint64_t n);

#endif
