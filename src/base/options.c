/* options.c - see options.h. */
#include "base/options.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if ((*a == '_' ? '-' : *a) != (*b == '_' ? '-' : *b))
            return false;
    return *a == *b;
}

const bda_option *option_find(const bda_option *table, const char *name)
{
    for (const bda_option *o = table; o->name; o++)
        if (same_name(o->name, name))
            return o;
    return NULL;
}

/* "a whole number from 1 to 9", "a number above 0", "a number of at least 0 and below 1" */
static void describe_range(const bda_option *o, char *text, size_t size)
{
    bool whole = o->type == BDA_INTEGER, low = o->least > -INFINITY, high = o->most < INFINITY;
    const char *kind = whole ? "a whole number" : "a number", *form = whole ? "%.20g" : "%.15g";
    char least[40], most[40], lower[64] = "", upper[64] = "";
    snprintf(least, sizeof least, form, o->least);
    snprintf(most, sizeof most, form, o->most);
    if (low && high && !o->above_least && !o->below_most) {
        snprintf(text, size, "%s from %s to %s", kind, least, most);
        return;
    }
    if (low)
        snprintf(lower, sizeof lower, " %s %s", o->above_least ? "above" : "of at least", least);
    if (high)
        snprintf(upper, sizeof upper, "%s %s %s", low ? " and" : "", o->below_most ? "below" : "of at most", most);
    snprintf(text, size, "%s%s%s", kind, lower, upper);
}

static void describe_choices(const bda_option *o, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (const char *const *c = o->choices; *c && used < size; c++) {
        const char *joint = c == o->choices ? "" : c[1] ? ", " : " or ";
        int length = snprintf(text + used, size - used, "%s%s", joint, *c);
        used += length > 0 ? (size_t)length : 0;
    }
}

static bool refuse(const bda_option *o, const char *value, const char *allowed, bda_error *err)
{
    const char *rest = strlen(value) > 80 ? "..." : "";
    return err_set(err, BDA_USAGE, "--%s must be %s, not '%.80s%s'", o->name, allowed, value, rest);
}

static bool refuse_number(const bda_option *o, const char *value, bda_error *err)
{
    char allowed[256];
    describe_range(o, allowed, sizeof allowed);
    return refuse(o, value, allowed, err);
}

static bool within(const bda_option *o, double x)
{
    bool low = o->above_least ? x > o->least : x >= o->least;
    return low && (o->below_most ? x < o->most : x <= o->most);
}

/* strtod takes leading blanks and much else; options start with a digit, a sign or a point. */
static bool starts_like_number(const char *value)
{
    return *value && strchr("+-.0123456789", *value);
}

static bool set_integer(const bda_option *o, int64_t *field, const char *value, bda_error *err)
{
    char *end;
    errno = 0;
    long long x = strtoll(value, &end, 10);
    if (!starts_like_number(value) || end == value || *end || errno || x == OPTION_UNSET || !within(o, (double)x))
        return refuse_number(o, value, err);
    *field = x;
    return true;
}

/* A number in the C locale, whatever the host program has set. */
static double parse_real(const char *value, char **end)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c == (locale_t)0)
        return strtod(value, end);
    double x = strtod_l(value, end, c);
    freelocale(c);
    return x;
}

static bool set_real(const bda_option *o, double *field, const char *value, bda_error *err)
{
    char *end;
    double x = parse_real(value, &end);
    if (!starts_like_number(value) || end == value || *end || !isfinite(x) || !within(o, x))
        return refuse_number(o, value, err);
    *field = x;
    return true;
}

/* 90, 1.5h, 1h30m: seconds, or parts of falling units. */
static bool set_time(const bda_option *o, double *field, const char *value, bda_error *err)
{
    static const struct {
        char letter;
        double seconds;
    } units[] = {{'d', 86400}, {'h', 3600}, {'m', 60}, {'s', 1}, {0, 1}};
    double sum = 0;
    const char *at = value;
    for (size_t least = 0; *at || at == value; least++) {
        char *end;
        const double x = parse_real(at, &end);
        while (least < 5 && units[least].letter != *end)
            least++;
        if (!strchr(".0123456789", *at) || end == at || least == 5 || (*end == 0 && at != value) || !isfinite(x))
            return refuse(o, value, "a time such as 90, 45s or 1h30m, of at least 0 seconds", err);
        sum += x * units[least].seconds;
        at = *end ? end + 1 : end;
    }
    if (!within(o, sum))
        return refuse_number(o, value, err);
    *field = sum;
    return true;
}

static bool set_choice(const bda_option *o, char *field, const char *value, bda_error *err)
{
    for (const char *const *c = o->choices; *c; c++)
        if (strcmp(*c, value) == 0) {
            snprintf(field, OPTION_TEXT, "%s", value);
            return true;
        }
    char allowed[700];
    describe_choices(o, allowed, sizeof allowed);
    return refuse(o, value, allowed, err);
}

static bool set_text(const bda_option *o, char *field, const char *value, bda_error *err)
{
    if (o->repeats && strchr(value, '\n'))
        return refuse(o, value, "text without a newline", err);
    bool joins = o->repeats && field[0] && strcmp(field, o->preset) != 0;
    size_t used = joins ? strlen(field) + 1 : 0;
    if (used + strlen(value) >= OPTION_TEXT)
        return err_set(err, BDA_USAGE, "--%s takes at most %d characters%s, not %zu", o->name, OPTION_TEXT - 1,
                       o->repeats ? " in all" : "", used + strlen(value));
    if (joins)
        field[used - 1] = '\n';
    strcpy(field + used, value);
    return true;
}

bool option_set(const bda_option *option, void *fields, const char *value, bda_error *err)
{
    void *field = (char *)fields + option->offset;
    switch (option->type) {
    case BDA_FLAG:
        if (strcmp(value, "0") != 0 && strcmp(value, "1") != 0)
            return refuse(option, value, "0 or 1", err);
        *(bool *)field = value[0] == '1';
        return true;
    case BDA_INTEGER:
        return set_integer(option, field, value, err);
    case BDA_REAL:
        return set_real(option, field, value, err);
    case BDA_TIME:
        return set_time(option, field, value, err);
    case BDA_CHOICE:
        return set_choice(option, field, value, err);
    case BDA_TEXT:
        return set_text(option, field, value, err);
    }
    return err_set(err, BDA_USAGE, "--%s has no known type", option->name);
}

/* Presets are not held against the range: bias may be preset to a value that a person need not give. */
void option_defaults(const bda_option *table, void *fields)
{
    for (const bda_option *o = table; o->name; o++) {
        void *field = (char *)fields + o->offset;
        bool unset = o->preset[0] == 0;
        switch (o->type) {
        case BDA_FLAG:
            *(bool *)field = o->preset[0] == '1';
            break;
        case BDA_INTEGER:
            *(int64_t *)field = unset ? OPTION_UNSET : strtoll(o->preset, NULL, 10);
            break;
        case BDA_REAL:
        case BDA_TIME: {
            char *end;
            *(double *)field = unset ? NAN : parse_real(o->preset, &end);
            break;
        }
        case BDA_CHOICE:
        case BDA_TEXT:
            snprintf(field, OPTION_TEXT, "%s", o->preset);
            break;
        }
    }
}
