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

static void write_string(output *out, const char *text)
{
    out_write(out, "\"", 1);
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        int length = utf8_length(s);
        if (length == 0)
            out_write(out, "\xef\xbf\xbd", 3);
        else if (*s == '"' || *s == '\\')
            out_printf(out, "\\%c", *s);
        else if (*s < ' ' || *s == 127)
            out_printf(out, "\\u%04x", *s);
        else
            out_write(out, s, (uint64_t)length);
        s += length > 0 ? length : 1;
    }
    out_write(out, "\"", 1);
}

static void write_name(json *j, const char *name)
{
    if (!j->first)
        out_write(j->out, ",", 1);
    j->first = false;
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

static void write_real(output *out, double value)
{
    if (!isfinite(value)) {
        out_write(out, "null", 4);
        return;
    }
    char text[64];
    snprintf(text, sizeof text, "%.17g", value);
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
    write_real(j->out, value);
}

void json_reals(json *j, const char *name, const double *value, uint64_t count)
{
    write_name(j, name);
    out_write(j->out, "[", 1);
    for (uint64_t k = 0; k < count; k++) {
        if (k > 0)
            out_write(j->out, ",", 1);
        write_real(j->out, value[k]);
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

void json_close(json *j)
{
    out_write(j->out, "}\n", 2);
}
