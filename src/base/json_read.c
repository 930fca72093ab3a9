/* json_read.c - see json_read.h. Numbers go through the C library in its "C" locale: the host program's may have
 * another decimal point. */
#include "base/json_read.h"

#include <locale.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#define DEEPEST 64 /* arrays and objects within each other */

static bool wrong(json_reader *r, const char *expected)
{
    if (!r->wrong)
        r->wrong = expected;
    return false;
}

static void skip_blanks(json_reader *r)
{
    r->at += strspn(r->at, " \t\r\n");
}

void json_begin(json_reader *r, char *text)
{
    *r = (json_reader){.begin = text, .at = text, .first = true};
    skip_blanks(r);
    if (*r->at == '{')
        r->at++;
    else
        wrong(r, "'{'");
}

/* ---- strings --------------------------------------------------------------------------------------------------- */

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* The four digits behind \u; -1 where there are none. */
static int32_t read_unit(const char *s)
{
    int32_t unit = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(s[i]);
        if (digit < 0)
            return -1;
        unit = unit << 4 | digit;
    }
    return unit;
}

static char *put_utf8(char *to, uint32_t c)
{
    if (c < 0x80) {
        *to++ = (char)c;
    } else if (c < 0x800) {
        *to++ = (char)(0xc0 | c >> 6);
        *to++ = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        *to++ = (char)(0xe0 | c >> 12);
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    } else {
        *to++ = (char)(0xf0 | c >> 18);
        *to++ = (char)(0x80 | (c >> 12 & 0x3f));
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    }
    return to;
}

/* r->at is behind "\u". Halves of a pair must come together; a NUL would end the text. */
static bool read_escaped_unit(json_reader *r, char **to)
{
    int32_t unit = read_unit(r->at), low = 0;
    if (unit <= 0)
        return wrong(r, "four hexadecimal digits, not all 0");
    r->at += 4;
    uint32_t c = (uint32_t)unit;
    if (unit >= 0xd800 && unit < 0xe000) {
        low = r->at[0] == '\\' && r->at[1] == 'u' ? read_unit(r->at + 2) : -1;
        if (unit >= 0xdc00 || low < 0xdc00 || low > 0xdfff)
            return wrong(r, "the other half of a surrogate pair");
        r->at += 6;
        c = 0x10000 + ((c - 0xd800) << 10) + ((uint32_t)low - 0xdc00);
    }
    *to = put_utf8(*to, c);
    return true;
}

static bool read_escape(json_reader *r, char **to)
{
    static const char from[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    char c = *r->at;
    const char *found = c ? strchr(from, c) : NULL;
    if (c == 'u') {
        r->at++;
        return read_escaped_unit(r, to);
    }
    if (!found)
        return wrong(r, "an escaped character");
    *(*to)++ = meant[found - from];
    r->at++;
    return true;
}

/* In place: what comes out is never longer. */
static bool read_string(json_reader *r, const char **text, size_t *length)
{
    if (*r->at != '"')
        return wrong(r, "'\"'");
    char *to = ++r->at;
    *text = to;
    while (*r->at != '"') {
        unsigned char c = (unsigned char)*r->at;
        if (c < ' ')
            return wrong(r, "the end of a string");
        r->at++;
        if (c != '\\')
            *to++ = (char)c;
        else if (!read_escape(r, &to))
            return false;
    }
    r->at++;
    *to = 0;
    *length = (size_t)(to - *text);
    return true;
}

/* ---- numbers and the rest --------------------------------------------------------------------------------------- */

static locale_t plain;

static void make_locale(void)
{
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static double to_number(const char *text)
{
    static once_flag once = ONCE_FLAG_INIT;
    call_once(&once, make_locale);
    return plain ? strtod_l(text, NULL, plain) : strtod(text, NULL);
}

#define DIGITS "0123456789"

/* -? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)? */
static bool read_number(json_reader *r, double *number)
{
    const char *begin = r->at;
    char *s = r->at + (*r->at == '-');
    size_t whole = strspn(s, DIGITS);
    if (whole == 0 || (whole > 1 && *s == '0'))
        return wrong(r, "a value");
    s += whole;
    if (*s == '.') {
        size_t digits = strspn(s + 1, DIGITS);
        if (digits == 0)
            return wrong(r, "a digit behind the point");
        s += 1 + digits;
    }
    if (*s == 'e' || *s == 'E') {
        s += 1 + (s[1] == '+' || s[1] == '-');
        size_t digits = strspn(s, DIGITS);
        if (digits == 0)
            return wrong(r, "a digit of an exponent");
        s += digits;
    }
    r->at = s;
    *number = to_number(begin);
    return true;
}

static bool read_word(json_reader *r, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(r->at, word, length) != 0)
        return wrong(r, "a value");
    r->at += length;
    return true;
}

static bool read_value(json_reader *r, json_member *m, int depth);

/* An array or an object; its members are dropped. */
static bool pass_over(json_reader *r, int depth)
{
    const char closing = *r->at == '[' ? ']' : '}';
    json_member ignored;
    if (depth >= DEEPEST)
        return wrong(r, "less deeply nested values");
    r->at++;
    skip_blanks(r);
    if (*r->at == closing) {
        r->at++;
        return true;
    }
    for (;;) {
        if (closing == '}') {
            if (!read_string(r, &ignored.name, &ignored.length))
                return false;
            skip_blanks(r);
            if (*r->at != ':')
                return wrong(r, "':'");
            r->at++;
            skip_blanks(r);
        }
        if (!read_value(r, &ignored, depth + 1))
            return false;
        skip_blanks(r);
        char c = *r->at;
        if (c != ',' && c != closing)
            return wrong(r, closing == ']' ? "',' or ']'" : "',' or '}'");
        r->at++;
        if (c == closing)
            return true;
        skip_blanks(r);
    }
}

static bool read_value(json_reader *r, json_member *m, int depth)
{
    m->text = r->at;
    bool ok;
    switch (*r->at) {
    case '"':
        m->type = JSON_STRING;
        return read_string(r, &m->text, &m->length);
    case '{':
    case '[':
        m->type = JSON_NESTED;
        ok = pass_over(r, depth);
        break;
    case 't':
        m->type = JSON_TRUE;
        ok = read_word(r, "true");
        break;
    case 'f':
        m->type = JSON_FALSE;
        ok = read_word(r, "false");
        break;
    case 'n':
        m->type = JSON_NULL;
        ok = read_word(r, "null");
        break;
    default:
        m->type = JSON_NUMBER;
        ok = read_number(r, &m->number);
    }
    m->length = ok ? (size_t)(r->at - m->text) : 0;
    return ok;
}

bool json_next(json_reader *r, json_member *m)
{
    if (r->wrong)
        return false;
    skip_blanks(r);
    if (*r->at == '}') {
        r->at++;
        skip_blanks(r);
        return *r->at ? wrong(r, "nothing behind the object") : false;
    }
    if (!r->first) {
        if (*r->at != ',')
            return wrong(r, "',' or '}'");
        r->at++;
        skip_blanks(r);
    }
    r->first = false;
    size_t length;
    if (!read_string(r, &m->name, &length))
        return false;
    skip_blanks(r);
    if (*r->at != ':')
        return wrong(r, "':'");
    r->at++;
    skip_blanks(r);
    return read_value(r, m, 0);
}
