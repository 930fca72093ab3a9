/* lines.c - complete lines in a reused buffer of a size that stays in the cache; it grows for a longer line. */
#include "data/lines.h"

#include "base/memory.h"

#include <string.h>

#define BLOCK ((uint64_t)512 << 10)

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

/* A line begins at `from` if the byte before ends one; otherwise the first to begin is behind the next newline. */
static bool skip_broken_line(lines *l, bda_error *err)
{
    for (;;) {
        const char *p = l->buffer + l->begin, *newline = memchr(p, '\n', l->filled - l->begin);
        uint64_t passed = newline ? (uint64_t)(newline + 1 - p) : l->filled - l->begin;
        l->begin += passed;
        l->offset += passed;
        if (newline || l->ended)
            return true;
        if (!refill(l, err))
            return false;
    }
}

bool lines_open(lines *l, source *s, uint64_t from, uint64_t to, bda_error *err)
{
    *l = (lines){.source = s, .limit = to, .offset = from > 0 ? from - 1 : 0};
    if (!grow(l, err))
        return false;
    memset(l->buffer, 0, LINES_BEFORE);
    return source_seek(s, l->offset, err) && refill(l, err) && (from == 0 || skip_broken_line(l, err));
}

void lines_close(lines *l)
{
    mem_free(l->buffer, l->capacity);
    *l = (lines){0};
}

bool lines_next(lines *l, const char **text, uint64_t *length, uint64_t *offset, bda_error *err)
{
    *length = 0;
    if (l->offset >= l->limit)
        return true;
    const char *last;
    while (!(last = memrchr(l->buffer + l->begin, '\n', l->filled - l->begin))) {
        if (l->ended)
            return true;
        if (!refill(l, err))
            return false;
    }
    *text = l->buffer + l->begin;
    uint64_t whole = (uint64_t)(last + 1 - *text), before_limit = l->limit - l->offset;
    if (whole > before_limit) /* the last line to deliver holds the byte before the limit */
        whole = (uint64_t)((const char *)memchr(*text + before_limit - 1, '\n', whole) + 1 - *text);
    *length = whole;
    *offset = l->offset;
    l->begin += whole;
    l->offset += whole;
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
