/* fuzz_csv.c - random mutations of tables, read by the parser and by a slow plain one that is written from the rules in
 * docs/formats.md: they must agree on what is accepted and on every number. usage: fuzz_csv [SEED [CASES]] */
#include "fuzz/fuzz_data.h"

#include "data/schema.h"

#include <ctype.h>
#include <math.h>

#define LONGEST 400
#define MOST 64 /* cells of a line, lines */

static const char *const seeds[] = {
    "y,a,b\n1,2,3\n-1,0.5,1e1\n",
    "a,c,y\n1,red,0\n2,blue,1\r\n,red,1\n",
    "\"c\",y\n\"a,\"\"b\"\"\",1\n\"\",2\n\"3\",3\n",
    "a,y\n1,u\n\n2,v\n3,u",
    "y\n1\n2\n",
    "a,b,y\n 1 ,x y,1\n2,,2\n-.5,x y,1e400\n",
};

static const char *const pieces[] = {",",  "\n", "\"", "\"\"", "1",  "0", "-", ".",  "e", "a",
                                     "\r", "\t", "y",  "nan",  "2.", "#", " ", "\0", "x", ",,"};

typedef struct plain_cell {
    char text[LONGEST];
    bool number;
    double value;
} plain_cell;

static plain_cell cells[MOST][MOST];
static int width[MOST], lines;

/* [+-] digits [. digits] [e [+-] digits] between blanks, finite */
static void see_number(plain_cell *c)
{
    char copy[LONGEST], *p = copy, *end;
    strcpy(copy, c->text);
    while (*p == ' ')
        p++;
    for (end = p + strlen(p); end > p && end[-1] == ' ';)
        *--end = 0;
    c->number = strspn(p, "+-.0123456789eE") == strlen(p) && strpbrk(p, "0123456789") && !strchr("eE", *p);
    if (c->number) {
        c->value = strtod(p, &end);
        c->number = *end == 0 && isfinite(c->value);
    }
}

/* One line without its end; false: refused. */
static bool plain_line(const char *p, const char *end)
{
    if (memchr(p, 0, (size_t)(end - p)) || lines == MOST)
        return false;
    width[lines] = 0;
    for (;;) {
        plain_cell *c = &cells[lines][width[lines]++];
        char *to = c->text;
        if (p < end && *p == '"') {
            for (p++;; p++) {
                if (p == end)
                    return false;
                if (*p == '"' && p + 1 < end && p[1] == '"')
                    p++;
                else if (*p == '"')
                    break;
                *to++ = *p;
            }
            p++;
            if (p < end && *p != ',')
                return false;
        } else {
            for (; p < end && *p != ','; p++) {
                if (*p == '"')
                    return false;
                *to++ = *p;
            }
        }
        *to = 0;
        see_number(c);
        if (p == end || width[lines] == MOST)
            break;
        p++;
    }
    lines++;
    return true;
}

static bool plain_lines(const char *text, size_t length)
{
    lines = 0;
    for (const char *p = text, *end = text + length; p < end;) {
        const char *newline = memchr(p, '\n', (size_t)(end - p)), *stop = newline ? newline : end;
        const char *last = stop > p && stop[-1] == '\r' ? stop - 1 : stop;
        if ((last > p || lines == 0) && !plain_line(p, last))
            return false;
        p = stop + 1;
    }
    return true;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Features of column k up to row i: its name and value where the cell is of row i; returns how many there are. */
static int plain_features(int k, int i, int first, FILE *out)
{
    const char *values[MOST];
    int count = 0;
    bool text = false;
    for (int r = 1; r < lines; r++)
        text |= cells[r][k].text[0] && !cells[r][k].number;
    const plain_cell *c = &cells[i][k];
    if (!text) {
        if (c->text[0] && c->value != 0)
            fprintf(out, " %d:%.17g", first, c->value);
        return 1;
    }
    for (int r = 1; r < lines; r++) {
        bool seen = cells[r][k].text[0] == 0;
        for (int v = 0; v < count; v++)
            seen |= strcmp(values[v], cells[r][k].text) == 0;
        if (!seen)
            values[count++] = cells[r][k].text;
    }
    qsort(values, (size_t)count, sizeof *values, by_bytes);
    for (int v = 0; v < count; v++)
        if (strcmp(values[v], c->text) == 0)
            fprintf(out, " %d:1", first + v);
    return count;
}

/* NULL: refused. */
static char *plain_read(const char *text, size_t length)
{
    int label = -1;
    bool named = false;
    if (!plain_lines(text, length) || lines < 2)
        return NULL;
    for (int k = 0; k < width[0]; k++) {
        for (int m = 0; m < k; m++)
            if (strcmp(cells[0][m].text, cells[0][k].text) == 0)
                return NULL;
        label = strcmp(cells[0][k].text, "y") == 0 ? k : label;
    }
    for (int i = 1; i < lines; i++)
        if (label < 0 || width[i] != width[0] || cells[i][label].text[0] == 0)
            return NULL;
    for (int i = 1; i < lines; i++)
        named |= !cells[i][label].number;
    char *shown;
    size_t size;
    FILE *out = open_memstream(&shown, &size);
    for (int i = 1; i < lines; i++) {
        if (named)
            fputs(cells[i][label].text, out);
        else
            fprintf(out, "%.17g", cells[i][label].value + 0.0);
        for (int k = 0, first = 0; k < width[0]; k++)
            first += k == label ? 0 : plain_features(k, i, first, out);
        fputc(';', out);
    }
    fclose(out);
    return shown;
}

static char *show(const data *d)
{
    char *text;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    for (uint64_t i = 0; i < d->rows.count; i++) {
        if (!d->labels.number)
            fputs(d->labels.name[d->target.class[i]], to);
        else
            fprintf(to, "%.17g", d->target.real[i]);
        for (uint64_t k = d->rows.start[i]; k < d->rows.start[i + 1]; k++)
            fprintf(to, " %u:%.17g", support_column(&d->rows, k), support_value(&d->rows, i, k));
        fputc(';', to);
    }
    fclose(to);
    return text;
}

static size_t mutate(rng *r, char *text)
{
    strcpy(text, seeds[rng_below(r, sizeof seeds / sizeof *seeds)]);
    size_t length = strlen(text);
    for (uint32_t changes = rng_below(r, 5); changes > 0; changes--) {
        size_t at = rng_below(r, (uint32_t)length + 1);
        const char *piece = pieces[rng_below(r, sizeof pieces / sizeof *pieces)];
        size_t added = *piece ? strlen(piece) : 1, cut = rng_below(r, 3);
        cut = cut < length - at ? cut : length - at;
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
    const table_request table = {.separator = ',', .label = "y", .missing = SCHEMA_ZERO};
    data *d = data_read(alone, &(data_request){.path = "d", .table = &table, .blocks = 1, .threads = 1}, &err);
    char *seen = d ? show(d) : NULL, *expected = plain_read(text, length);
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
    int status = fuzz_run(argc, argv, 20000, 20, one_case);
    unlink("d");
    return support_close(NULL) == 0 ? status : 1;
}
