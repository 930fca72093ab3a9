/* json.c - see json.h. What is not UTF-8 (a file name may be any bytes) is written as U+FFFD, so that every line is
 * valid JSON. */
#include "base/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Length of the UTF-8 character at s, 0 where there is none (also: overlong forms, surrogates, beyond U+10FFFF). */
static int utf8_length(const unsigned char *s)
{
    if (s[0] < 0x80)
        return 1;
    int length = s[0] >= 0xc2 && s[0] <= 0xdf ? 2 : (s[0] & 0xf0) == 0xe0 ? 3 : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4 : 0;
    for (int i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    bool refused = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
                   (s[0] == 0xf4 && s[1] > 0x8f);
    return refused ? 0 : length;
}

/* The next character of a text as it stands in JSON; returns its length, and moves the text on. */
static int encode_next(char to[8], const unsigned char **text)
{
    const unsigned char *s = *text;
    const int length = utf8_length(s);
    *text += length > 0 ? length : 1;
    if (length == 0)
        return (int)(stpcpy(to, "\xef\xbf\xbd") - to);
    if (*s == '"' || *s == '\\')
        return snprintf(to, 8, "\\%c", *s);
    if (*s < ' ' || *s == 127 || *s == '<')
        return snprintf(to, 8, "\\u%04x", *s);
    memcpy(to, s, (size_t)length);
    return length;
}

static void write_string(output *out, const char *text)
{
    char code[8];
    out_write(out, "\"", 1);
    for (const unsigned char *s = (const unsigned char *)text; *s;)
        out_write(out, code, (uint64_t)encode_next(code, &s));
    out_write(out, "\"", 1);
}

void json_encode(char *to, const char *text)
{
    *to++ = '"';
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        char code[8];
        const int length = encode_next(code, &s);
        memcpy(to, code, (size_t)length);
        to += length;
    }
    strcpy(to, "\"");
}

static void write_name(json *j, const char *name)
{
    if (!j->first)
        out_write(j->out, ",", 1);
    j->first = false;
    if (!name)
        return;
    write_string(j->out, name);
    out_write(j->out, ":", 1);
}

void json_open(json *j, output *out)
{
    *j = (json){.out = out, .first = true};
    out_write(out, "{", 1);
}

void json_text(json *j, const char *name, const char *value)
{
    write_name(j, name);
    write_string(j->out, value);
}

static void write_real(const json *j, double value)
{
    output *out = j->out;
    if (!isfinite(value)) {
        out_write(out, "null", 4);
        return;
    }
    char text[64];
    snprintf(text, sizeof text, "%.*g", j->digits ? j->digits : 17, value);
    /* The host program's locale may have another decimal point, of one or more bytes. */
    size_t before = strspn(text, "-0123456789e"), odd = strcspn(text + before, "0123456789");
    if (text[before] && text[before] != '+')
        out_printf(out, "%.*s.%s", (int)before, text, text + before + odd);
    else
        out_printf(out, "%s", text);
}

void json_real(json *j, const char *name, double value)
{
    write_name(j, name);
    write_real(j, value);
}

void json_reals(json *j, const char *name, const double *value, uint64_t count)
{
    write_name(j, name);
    out_write(j->out, "[", 1);
    for (uint64_t k = 0; k < count; k++) {
        if (k > 0)
            out_write(j->out, ",", 1);
        write_real(j, value[k]);
    }
    out_write(j->out, "]", 1);
}

void json_table(json *j, const char *name, const uint64_t *value, uint64_t rows, uint64_t columns)
{
    write_name(j, name);
    out_write(j->out, "[", 1);
    for (uint64_t i = 0; i < rows; i++) {
        out_printf(j->out, "%s[", i ? "," : "");
        for (uint64_t k = 0; k < columns; k++)
            out_printf(j->out, "%s%" PRIu64, k ? "," : "", value[i * columns + k]);
        out_write(j->out, "]", 1);
    }
    out_write(j->out, "]", 1);
}

void json_count(json *j, const char *name, uint64_t value)
{
    write_name(j, name);
    out_printf(j->out, "%" PRIu64, value);
}

void json_enter(json *j, const char *name, char opening)
{
    write_name(j, name);
    out_write(j->out, &opening, 1);
    j->first = true;
}

void json_leave(json *j, char opening)
{
    out_write(j->out, opening == '[' ? "]" : "}", 1);
    j->first = false;
}

void json_texts(json *j, const char *name, const char *const *value, uint64_t count)
{
    json_enter(j, name, '[');
    for (uint64_t k = 0; k < count; k++)
        json_text(j, NULL, value[k]);
    json_leave(j, '[');
}

void json_close(json *j)
{
    out_write(j->out, "}\n", 2);
}
