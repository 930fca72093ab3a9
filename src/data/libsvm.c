/* libsvm.c - the parser. Rows of well-formed text go through parse_row, which decides as little as it can per
 * character; the first token it cannot take is looked at again, slowly, by those who find words for what is wrong. */
#include "data/libsvm.h"

#include "base/memory.h"
#include "data/format.h"
#include "data/number.h"

#include <math.h>
#include <stdlib.h>

_Static_assert(LINES_PADDING >= NUMBER_PADDING && LINES_BEFORE >= NUMBER_BEFORE, "numbers are read by words");

/* ---- counting --------------------------------------------------------------------------------------------- */

static bool is_instance(const char *line)
{
    if (*line > '#') /* nearly all lines */
        return true;
    line = lines_skip_blanks(line);
    return !lines_is_end(*line);
}

static uint64_t libsvm_count(const char *text, uint64_t length)
{
    uint64_t count = 0;
    for (const char *p = text, *end = text + length; p < end; p = lines_after(p, end))
        count += is_instance(p);
    return count;
}

static const char *libsvm_skip(const char *text, const char *end, uint64_t instances)
{
    while (text < end && instances > 0) {
        instances -= is_instance(text);
        text = lines_after(text, end);
    }
    return text;
}

/* ---- words for what is wrong ------------------------------------------------------------------------------ */

/* "nan", "+Inf", "infinity" ... */
static bool is_unbounded_word(const lines_word *t)
{
    const char *words[] = {"nan", "inf", "infinity"};
    uint64_t sign = t->length > 0 && (t->text[0] == '+' || t->text[0] == '-');
    for (int i = 0; i < 3; i++)
        if (t->length - sign == strlen(words[i]) && strncasecmp(t->text + sign, words[i], t->length - sign) == 0)
            return true;
    return false;
}

/* A label with commas in it, or with a tab behind it that no feature follows, is the head of a table. */
static const char *table_hint(const char *kind, const lines_word *t)
{
    if (strcmp(kind, "label") != 0)
        return "";
    if (memchr(t->text, ',', t->length))
        return "; tables are read by `bda train --format=csv --label=NAME'";
    return t->text[t->length] == '\t' ? "; tables are read by `bda train --format=tsv --label=NAME'" : "";
}

static bool refuse_number(const char *kind, const lines_word *t, bda_error *err)
{
    if (is_unbounded_word(t))
        return err_set(err, BDA_FAILED, "%s '%s' is not a finite number", kind, t->shown);
    double x = 0;
    if (!number_read_any(t->text, &x) && isinf(x))
        return err_set(err, BDA_FAILED, "%s '%s' is too large for a double", kind, t->shown);
    return err_set(err, BDA_FAILED, "%s '%s' is not a number%s", kind, t->shown, table_hint(kind, t));
}

static bool has_nul(const lines_word *t, bda_error *err)
{
    if (t->text[t->length] == '\0')
        err_set(err, BDA_FAILED, "a NUL byte; this is not LIBSVM text");
    return t->text[t->length] == '\0';
}

static bool refuse_label(libsvm *s, const char *p, bda_error *err)
{
    s->where = p;
    lines_word t = lines_word_at(p, "");
    if (has_nul(&t, err))
        return false;
    if (memchr(t.text, ':', t.length))
        return err_set(err, BDA_FAILED, "label missing: the line begins with '%s'", t.shown);
    return refuse_number("label", &t, err);
}

static bool refuse_index(const libsvm *s, const lines_word *index, bda_error *err)
{
    uint64_t n = 0;
    if (index->length == 0)
        return err_set(err, BDA_FAILED, "index missing before ':'");
    for (uint64_t i = 0; i < index->length; i++) {
        char c = index->text[i];
        if (c == '-' && i == 0 && index->length > 1)
            return err_set(err, BDA_FAILED, "negative index '%s'", index->shown);
        if (c < '0' || c > '9')
            return err_set(err, BDA_FAILED, "index '%s' is not a whole number", index->shown);
        n = n > LIBSVM_LARGEST_INDEX ? n : n * 10 + (uint64_t)(c - '0');
    }
    if (n == 0 && !s->zero_based)
        return err_set(err, BDA_FAILED, "index 0, but indices count from 1 unless --zero-based is given");
    return n <= LIBSVM_LARGEST_INDEX ||
           err_set(err, BDA_FAILED, "index %s is beyond %u, the largest allowed", index->shown, LIBSVM_LARGEST_INDEX);
}

static bool refuse_cell(libsvm *s, const char *p, bda_error *err)
{
    s->where = p;
    lines_word whole = lines_word_at(p, ""), index = lines_word_at(p, ":");
    if (strncmp(p, "qid:", 4) == 0)
        return err_set(err, BDA_FAILED, "'%s': ranking data with qid is not supported", whole.shown);
    if (has_nul(&whole, err))
        return false;
    if (index.length == whole.length)
        return err_set(err, BDA_FAILED, "'%s' has no colon; expected index:value", whole.shown);
    if (!refuse_index(s, &index, err))
        return false;
    lines_word value = lines_word_at(p + index.length + 1, "");
    if (value.length == 0)
        return err_set(err, BDA_FAILED, "index %s has no value", index.shown);
    return refuse_number("value", &value, err);
}

/* ---- rows ------------------------------------------------------------------------------------------------- */

static int compare_keys(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, 8);
    memcpy(&y, b, 8);
    return (x > y) - (x < y);
}

/* Sorts a row by column. False: out of memory, or a column that comes twice. */
static bool sort_row(libsvm *s, uint64_t cells, bda_error *err)
{
    bool ok = false;
    arena temporary = {0};
    uint64_t *key = ARENA_TAKE(&temporary, uint64_t, cells, err); /* column and place */
    double *value = ARENA_TAKE(&temporary, double, cells, err);
    if (!key || !value)
        goto done;
    for (uint64_t k = 0; k < cells; k++)
        key[k] = (uint64_t)s->column[k] << 32 | k;
    qsort(key, cells, sizeof *key, compare_keys);
    for (uint64_t k = 0; k < cells; k++) {
        s->column[k] = (uint32_t)(key[k] >> 32);
        value[k] = s->value[key[k] & UINT32_MAX];
    }
    memcpy(s->value, value, cells * sizeof *value);
    ok = true;
    for (uint64_t k = 1; k < cells && ok; k++)
        if (s->column[k] == s->column[k - 1])
            ok = err_set(err, BDA_FAILED, "duplicate index %llu",
                         (unsigned long long)s->column[k] + (s->zero_based ? 0 : 1));
done:
    arena_free(&temporary);
    return ok;
}

static uint64_t drop_zeros(libsvm *s, uint64_t cells)
{
    uint64_t kept = 0;
    double zeros = 0; /* not 0 where there are some: so the loop is vectorised */
    for (uint64_t k = 0; k < cells; k++)
        zeros = s->value[k] == 0 ? 1 : zeros;
    if (zeros == 0)
        return cells;
    for (uint64_t k = 0; k < cells; k++) {
        s->column[kept] = s->column[k];
        s->value[kept] = s->value[k];
        kept += s->value[k] != 0;
    }
    return kept;
}

/* Sorts if need be, notes the largest column, drops zeros. */
static bool tidy_row(libsvm *s, uint64_t *cells, bool unsorted, bool ones, bda_error *err)
{
    if (unsorted) {
        if (*cells > UINT32_MAX)
            return err_set(err, BDA_FAILED, "duplicate indices: the row has more cells than there are indices");
        if (!sort_row(s, *cells, err))
            return false;
        s->to.reordered = true;
    }
    if (*cells > 0 && (uint64_t)s->column[*cells - 1] + 1 > s->to.features)
        s->to.features = (uint64_t)s->column[*cells - 1] + 1;
    if (!ones)
        *cells = drop_zeros(s, *cells);
    return true;
}

/* An index of nine digits and more. NULL where it is beyond the largest. */
static const char *long_index(const char *p, uint64_t *index)
{
    *index = 0;
    for (; *p >= '0' && *p <= '9'; p++) {
        *index = *index * 10 + (uint64_t)(*p - '0');
        if (*index > LIBSVM_LARGEST_INDEX)
            return NULL;
    }
    return p;
}

static bool ends_token(char c)
{
    return lines_is_blank(c) || lines_is_end(c);
}

static bool is_blank_or_newline(char c)
{
    return c == ' ' || c == '\n';
}

/* The value at p of the cell, whose breaks without the first are given. Returns its end, NULL where there is none. Of
 * the usual ones, a digit, a point and some more digits or up to eight digits, the end is known before the value is.
 */
static inline const char *read_value(const char *p, const char *cell, uint32_t breaks, double *value)
{
    const char *first = cell + number_next_break(&breaks), *second = cell + number_next_break(&breaks);
    unsigned places = (unsigned)(second - first - 1), digits = (unsigned)(first - p);
    if (*first == '.') {
        if (digits == 1 && places <= 16 && is_blank_or_newline(*second) &&
            number_settle((uint64_t)(*p - '0') * number_ten_whole[places] + number_join_before(second, places),
                          places, value))
            return second;
    } else if (digits - 1 < 8 && is_blank_or_newline(*first)) {
        *value = (double)(int64_t)number_join(number_digits_of(p), digits);
        return first;
    }
    p = number_read(p, value);
    return p && ends_token(*p) ? p : NULL;
}

/* The line whose label begins at p. Returns the end of the line, NULL on failure. What is usual is decided by
 * branches that a processor foresees, so that the next cell is looked at before this one is done. */
static const char *parse_row(libsvm *s, const char *p, bda_error *err)
{
    const uint64_t base = !s->zero_based;
    const char *line = p;
    uint32_t *column = s->column;
    double *value = s->value, label;
    uint64_t cells = 0, next = 0; /* the least index that may follow */
    bool unsorted = false, ones = true;
    p = number_read(p, &label);
    if (s->may_lack_labels && p && *p == ':') {
        p = line;
        label = NAN;
    } else if (!p || !ends_token(*p)) {
        return refuse_label(s, line, err), NULL;
    }
    for (p += *p == ' ';; p++) {
        const char *cell = p;
        uint32_t breaks = number_breaks(p);
        unsigned run = number_next_break(&breaks);
        if (run == 0) {
            p = lines_skip_blanks(p);
            if (lines_is_end(*p))
                break;
            if (p == cell)
                return refuse_cell(s, cell, err), NULL;
            p--;
            continue;
        }
        uint64_t index;
        if (run <= 8)
            index = number_join(number_digits_of(p), run), p += run;
        else
            p = long_index(p, &index);
        if (!p || *p != ':' || index < base)
            return refuse_cell(s, cell, err), NULL;
        if (p[1] == '1' && is_blank_or_newline(p[2])) {
            value[cells] = 1;
            p += 2;
        } else {
            p = read_value(p + 1, cell, breaks, &value[cells]);
            if (!p)
                return refuse_cell(s, cell, err), NULL;
            ones = false;
        }
        unsorted |= index < next;
        next = index + 1;
        column[cells++] = (uint32_t)(index - base);
        if (lines_is_end(*p))
            break;
    }
    p = *p == '\n' ? p : rawmemchr(p, '\n');
    s->where = line;
    if (!tidy_row(s, &cells, unsorted, ones, err))
        return NULL;
    s->where = NULL;
    return builder_add(&s->to.rows, label + 0.0, column, ones ? NULL : value, cells, err) ? p + 1 : NULL;
}

/* Room for the longest row that so many bytes can hold. */
static bool make_room(libsvm *s, uint64_t cells, bda_error *err)
{
    if (s->column_bytes >= cells * sizeof *s->column)
        return true;
    mem_free(s->column, s->column_bytes);
    mem_free(s->value, s->value_bytes);
    s->column_bytes = cells * sizeof *s->column;
    s->value_bytes = cells * sizeof *s->value;
    s->column = mem_resize(NULL, 0, s->column_bytes, "a row", err);
    s->value = mem_resize(NULL, 0, s->value_bytes, "a row", err);
    return s->column && s->value;
}

static bool libsvm_parse(void *sink, const char *text, uint64_t length, uint64_t most, const char **where,
                         bda_error *err)
{
    libsvm *s = sink;
    const char *end = text + length;
    uint64_t cells = length / 4 + 1; /* a blank, an index, a colon, a value: four bytes at least */
    *where = s->where = NULL;
    if (!make_room(s, cells, err))
        return false;
    if (!builder_reserve(&s->to.rows, length / 2 + 1, cells, err)) /* a line: a label and a newline at least */
        return false;
    while (text < end && most > 0) {
        text = lines_skip_blanks(text);
        if (*text == '\n')
            text++;
        else if (*text == '#')
            text = lines_after(text, end);
        else if ((text = parse_row(s, text, err)))
            most--;
        else
            break;
    }
    *where = s->where;
    return text != NULL;
}

static void libsvm_like(void *sink, const void *other)
{
    *(libsvm *)sink = (libsvm){.zero_based = ((const libsvm *)other)->zero_based,
                               .may_lack_labels = ((const libsvm *)other)->may_lack_labels};
}

static void libsvm_close(void *sink)
{
    libsvm *s = sink;
    mem_free(s->column, s->column_bytes);
    mem_free(s->value, s->value_bytes);
    row_sink_free(&s->to);
    *s = (libsvm){0};
}

/* ---- writing ---------------------------------------------------------------------------------------------- */

#define CELL_TEXT (NUMBER_TEXT + 12) /* at most: a blank, an index of 10 digits, a colon, a value */

static bool libsvm_write(page *t, const data *d, uint64_t i, bool zero_based, bda_error *err)
{
    const rows *r = &d->rows;
    uint64_t begin = r->start[i], end = r->start[i + 1];
    if (!page_reserve(t, NUMBER_TEXT + 1 + (end - begin) * CELL_TEXT, err))
        return false;
    char same[NUMBER_TEXT], *to = number_write(t->bytes + t->used, d->target.real[i]);
    uint64_t length = (uint64_t)(number_write(same, r->form == ROWS_CONSTANT ? r->value[i] : 1) - same);
    for (uint64_t k = begin; k < end; k++) {
        uint64_t column = r->form == ROWS_FLOAT ? r->pair[k].column : r->column[k];
        *to++ = ' ';
        to = number_write_whole(to, column + !zero_based);
        *to++ = ':';
        if (r->form == ROWS_FLOAT || r->form == ROWS_DOUBLE) {
            to = number_write(to, r->form == ROWS_FLOAT ? (double)r->pair[k].value : r->value[k]);
        } else {
            memcpy(to, same, length);
            to += length;
        }
    }
    *to++ = '\n';
    t->used = (uint64_t)(to - t->bytes);
    return true;
}

const format libsvm_format = {
    .name = "LIBSVM text",
    .cut_at = LINES_ONE,
    .count = libsvm_count,
    .skip = libsvm_skip,
    .parse = libsvm_parse,
    .sink_bytes = sizeof(libsvm),
    .like = libsvm_like,
    .close = libsvm_close,
    .held = row_sink_held,
    .cut = row_sink_cut,
    .join = row_sink_join,
    .expect = row_sink_expect,
    .write = libsvm_write,
};
