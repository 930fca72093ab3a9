/* lines.c - complete lines or paragraphs in a reused buffer of a size that stays in the cache; it grows for a longer
 * one. */
#include "data/lines.h"

#include "base/memory.h"

#define BLOCK ((uint64_t)512 << 10)
#define BYTE_ORDER_MARK "\xef\xbb\xbf"
#define MARK_BYTES 3

static bool grow(lines *l, bda_error *err)
{
    uint64_t bytes = l->capacity ? l->capacity * 2 : BLOCK;
    char *buffer = mem_resize(l->buffer, l->capacity, bytes, "a line of text", err);
    if (!buffer)
        return false;
    l->buffer = buffer;
    l->capacity = bytes;
    return true;
}

/* Moves what is left to the front and reads on. */
static bool refill(lines *l, bda_error *err)
{
    uint64_t rest = l->filled - l->begin;
    memmove(l->buffer + LINES_BEFORE, l->buffer + l->begin, rest);
    l->begin = LINES_BEFORE;
    l->filled = LINES_BEFORE + rest;
    if (l->filled + 1 + LINES_PADDING >= l->capacity && !grow(l, err))
        return false;
    uint64_t want = l->capacity - l->filled - 1 - LINES_PADDING, got;
    if (!source_read(l->source, l->buffer + l->filled, want, &got, err))
        return false;
    l->filled += got;
    l->ended = got < want;
    if (l->ended && l->filled > l->begin && l->buffer[l->filled - 1] != '\n')
        l->buffer[l->filled++] = '\n';
    memset(l->buffer + l->filled, 0, LINES_PADDING);
    return true;
}

static void pass(lines *l, uint64_t bytes)
{
    l->begin += bytes;
    l->offset += bytes;
}

/* A line begins at `from` if the byte before ends one; otherwise the first to begin is behind the next newline. */
static bool skip_broken_line(lines *l, bda_error *err)
{
    for (;;) {
        const char *p = l->buffer + l->begin, *newline = memchr(p, '\n', l->filled - l->begin);
        uint64_t passed = newline ? (uint64_t)(newline + 1 - p) : l->filled - l->begin;
        pass(l, passed);
        if (newline || l->ended)
            return true;
        if (!refill(l, err))
            return false;
    }
}

/* To the first blank line from here on, which a paragraph may follow. */
static bool skip_broken_paragraph(lines *l, bda_error *err)
{
    for (;;) {
        const char *p = l->buffer + l->begin, *newline = memchr(p, '\n', l->filled - l->begin);
        if (newline && lines_skip_blanks(p) == newline)
            return true;
        if (newline)
            pass(l, (uint64_t)(newline + 1 - p));
        else if (l->ended)
            return true;
        else if (!refill(l, err))
            return false;
    }
}

/* The first unit begins behind the mark, and belongs to whoever reads the first byte of the text. */
static void skip_mark(lines *l)
{
    if (l->filled - l->begin < MARK_BYTES || memcmp(l->buffer + l->begin, BYTE_ORDER_MARK, MARK_BYTES) != 0)
        return;
    pass(l, MARK_BYTES);
    if (l->limit > 0 && l->limit <= MARK_BYTES)
        l->limit = MARK_BYTES + 1;
}

bool lines_open(lines *l, source *s, lines_unit unit, uint64_t from, uint64_t to, bda_error *err)
{
    *l = (lines){.source = s, .unit = unit, .limit = to, .offset = from > 0 ? from - 1 : 0};
    if (!grow(l, err))
        return false;
    memset(l->buffer, 0, LINES_BEFORE);
    if (!source_seek(s, l->offset, err) || !refill(l, err))
        return false;
    if (from > 0)
        return skip_broken_line(l, err) && (unit == LINES_ONE || skip_broken_paragraph(l, err));
    skip_mark(l);
    return true;
}

void lines_close(lines *l)
{
    mem_free(l->buffer, l->capacity);
    *l = (lines){0};
}

/* Where the last unit to deliver ends of those the buffer holds whole; NULL: it holds none. */
static const char *lines_end(const lines *l)
{
    const char *begin = l->buffer + l->begin;
    const char *last = memrchr(begin, '\n', l->filled - l->begin);
    if (!last)
        return NULL;
    uint64_t whole = (uint64_t)(last + 1 - begin), before_limit = l->limit - l->offset;
    if (whole > before_limit) /* the last line to deliver holds the byte before the limit */
        return lines_after(begin + before_limit - 1, last + 1);
    return last + 1;
}

/* The first blank line at or behind the limit; NULL: the buffer does not reach that far, or has none. */
static const char *blank_line_at_limit(const lines *l)
{
    const char *begin = l->buffer + l->begin, *end = l->buffer + l->filled;
    if (l->limit - l->offset >= (uint64_t)(end - begin))
        return NULL;
    const char *p = begin + (l->limit - l->offset), *newline;
    for (p--; (newline = memchr(p, '\n', (uint64_t)(end - p))); p = newline) {
        if (newline + 1 == end)
            return NULL;
        if (*lines_skip_blanks(++newline) == '\n')
            return newline;
    }
    return NULL;
}

static const char *paragraphs_end(const lines *l)
{
    const char *begin = l->buffer + l->begin, *end = l->buffer + l->filled, *at_limit = blank_line_at_limit(l);
    if (at_limit)
        return at_limit;
    if (l->ended)
        return end > begin ? end : NULL;
    const char *last = memrchr(begin, '\n', (uint64_t)(end - begin));
    for (const char *before; last && (before = memrchr(begin, '\n', (uint64_t)(last - begin))); last = before)
        if (lines_skip_blanks(before + 1) == last)
            return before + 1;
    return NULL;
}

bool lines_next(lines *l, const char **text, uint64_t *length, uint64_t *offset, bda_error *err)
{
    *length = 0;
    if (l->offset >= l->limit)
        return true;
    const char *end;
    while (!(end = (l->unit == LINES_ONE ? lines_end : paragraphs_end)(l))) {
        if (l->ended)
            return true;
        if (!refill(l, err))
            return false;
    }
    *text = l->buffer + l->begin;
    *length = (uint64_t)(end - *text);
    *offset = l->offset;
    pass(l, *length);
    return true;
}

uint64_t lines_count(const char *text, uint64_t length)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < length; i++)
        count += text[i] == '\n';
    return count;
}

lines_word lines_word_at(const char *p, const char *stops)
{
    lines_word word = {.text = p};
    while (!lines_is_blank(p[word.length]) && !lines_is_end(p[word.length]) && !strchr(stops, p[word.length]))
        word.length++; /* strchr finds the end of `stops` in a NUL byte */
    uint64_t shown = word.length < LINES_SHOWN ? word.length : LINES_SHOWN;
    for (uint64_t i = 0; i < shown; i++)
        word.shown[i] = p[i] >= ' ' && p[i] <= '~' ? p[i] : '?';
    strcpy(word.shown + shown, word.length > LINES_SHOWN ? "..." : "");
    return word;
}

bool lines_number(source *s, uint64_t offset, uint64_t *number, bda_error *err)
{
    char piece[16384];
    *number = 1;
    if (!source_seek(s, 0, err))
        return false;
    while (s->offset < offset) {
        uint64_t rest = offset - s->offset, got;
        if (!source_read(s, piece, rest < sizeof piece ? rest : sizeof piece, &got, err))
            return false;
        *number += lines_count(piece, got);
        if (got == 0)
            break;
    }
    return true;
}
