/* fuzz_libsvm.c - random mutations of LIBSVM text, read by the parser and by a slow plain one that is written from
 * the grammar: they must agree on what is accepted and on every number. usage: fuzz_libsvm [SEED [CASES]] */
#include "fuzz/fuzz_data.h"

#include <ctype.h>
#include <math.h>

#define LONGEST 400

static const char *const seeds[] = {
    "+1 1:1 3:1 12:1\n-1 2:1\n+1\n",
    "1 1:0.5 2:-3.25e-2 # comment\n\n-1 7:1e3\r\n",
    "# head\n  3.5\t4:.5 2:5. 9:0 # tail\n4 1:0.12345678901234567890",
    "-1 12345678:1 4294967294:0.1 \n0 123456789:1 1234567:2\n",
    "1 1:1e400\n2 1:nan\n",
    "5 10:0.0198403253586671 20:0.3333333333333333 30:1234567.8901234567\n",
};

static const char *const pieces[] = {" ",          "\n",         ":",        "1",    "0",   "-",    "+",   ".",
                                     "e",          "#",          "\t",       "\r",   "nan", "inf",  "1:1", "9:0.25",
                                     "4294967294", "4294967295", "00000000", "1e-9", "\0",  "\xff", "x"};

static bool blank(char ch)
{
    return ch == ' ' || ch == '\t' || ch == '\r';
}

/* [+-] digits [. digits] [e [+-] digits], with a digit before the exponent, and finite */
static bool plain_number(const char *from, const char *to, double *value)
{
    const char *p = from;
    int digits = 0;
    p += p < to && (*p == '+' || *p == '-');
    for (; p < to && isdigit((unsigned char)*p); p++)
        digits++;
    if (p < to && *p == '.')
        for (p++; p < to && isdigit((unsigned char)*p); p++)
            digits++;
    if (digits == 0)
        return false;
    if (p < to && (*p == 'e' || *p == 'E')) {
        p++;
        p += p < to && (*p == '+' || *p == '-');
        if (p == to || !isdigit((unsigned char)*p))
            return false;
        while (p < to && isdigit((unsigned char)*p))
            p++;
    }
    if (p != to)
        return false;
    char copy[LONGEST * 2];
    snprintf(copy, sizeof copy, "%.*s", (int)(to - from), from);
    *value = strtod(copy, NULL);
    return isfinite(*value);
}

typedef struct cell {
    uint64_t index;
    double value;
} cell;

static int by_index(const void *a, const void *b)
{
    const cell *x = a, *y = b;
    return (x->index > y->index) - (x->index < y->index);
}

static bool plain_cell(const char *from, const char *to, cell *out)
{
    const char *colon = memchr(from, ':', (size_t)(to - from));
    if (!colon || colon == from)
        return false;
    out->index = 0;
    for (const char *p = from; p < colon; p++) {
        if (!isdigit((unsigned char)*p))
            return false;
        out->index = out->index > UINT32_MAX ? out->index : out->index * 10 + (uint64_t)(*p - '0');
    }
    return out->index >= 1 && out->index <= 4294967294u && plain_number(colon + 1, to, &out->value);
}

/* One line; false: refused. Appends to `out` as support_show does. */
static bool plain_line(const char *from, const char *to, FILE *out, int *instances)
{
    const char *comment = memchr(from, '#', (size_t)(to - from));
    to = comment ? comment : to;
    cell cells[LONGEST];
    int count = -1; /* the label comes first */
    double label = 0;
    for (const char *p = from; p < to;) {
        const char *end = p;
        while (end < to && !blank(*end))
            end++;
        if (end > p && !(count < 0 ? plain_number(p, end, &label) : plain_cell(p, end, &cells[count])))
            return false;
        count += end > p;
        p = end + 1;
    }
    if (count < 0)
        return true;
    (*instances)++;
    qsort(cells, (size_t)count, sizeof *cells, by_index);
    fprintf(out, "%.17g", label + 0.0);
    for (int k = 0; k < count; k++) {
        if (k > 0 && cells[k].index == cells[k - 1].index)
            return false;
        if (cells[k].value != 0)
            fprintf(out, " %u:%.17g", (uint32_t)(cells[k].index - 1), cells[k].value);
    }
    fprintf(out, ";");
    return true;
}

/* NULL: refused. */
static char *plain_read(const char *text, size_t length)
{
    char *shown;
    size_t size;
    FILE *out = open_memstream(&shown, &size);
    int instances = 0;
    bool good = true;
    for (const char *p = text, *end = text + length; good && p < end;) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        newline = newline ? newline : end;
        good = plain_line(p, newline, out, &instances);
        p = newline + 1;
    }
    fclose(out);
    if (good && instances > 0)
        return shown;
    free(shown);
    return NULL;
}

static size_t mutate(rng *r, char *text)
{
    strcpy(text, seeds[rng_below(r, sizeof seeds / sizeof *seeds)]);
    size_t length = strlen(text);
    for (uint32_t changes = rng_below(r, 6); changes > 0; changes--) {
        size_t at = rng_below(r, (uint32_t)length + 1);
        const char *piece = pieces[rng_below(r, sizeof pieces / sizeof *pieces)];
        size_t added = *piece ? strlen(piece) : 1, cut = rng_below(r, 4);
        cut = cut < length - at ? cut : length - at;
        if (length + added > LONGEST - 10)
            break;
        memmove(text + at + added, text + at + cut, length - at - cut);
        memcpy(text + at, piece, added);
        length = length - cut + added;
    }
    return length;
}

static bool one_case(rng *r, uint64_t i, bool *accepted)
{
    (void)i;
    char text[LONGEST];
    size_t length = mutate(r, text);
    support_write("d", text, length);
    bda_error err = {0};
    data *d = support_read(alone, "d", 1, 1, &err);
    char *seen = d ? support_show(d) : NULL, *expected = plain_read(text, length);
    bool same = seen && expected ? strcmp(seen, expected) == 0 : !seen && !expected;
    bool right = same && (d || strncmp(err.text, "d", 1) == 0);
    if (!right)
        fprintf(stderr, "%.*s\nseen     %s\nexpected %s\n%s\n", (int)length, text, seen ? seen : "-",
                expected ? expected : "-", err.text);
    *accepted = d != NULL;
    free(seen);
    free(expected);
    data_free(d);
    return right;
}

int main(int argc, char **argv)
{
    if (support_open(NULL) != 0)
        return 1;
    int status = fuzz_run(argc, argv, 30000, 20, one_case);
    unlink("d");
    return support_close(NULL) == 0 ? status : 1;
}
