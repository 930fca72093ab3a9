/* lines.h - a source in blocks of complete lines or paragraphs, and the words of a line. */
#ifndef DATA_LINES_H
#define DATA_LINES_H

#include "data/source.h"

#include <string.h>

#define LINES_PADDING 64 /* readable bytes behind every block */
#define LINES_BEFORE 16  /* and in front */

/* What a block has whole numbers of. Paragraphs are cut at blank lines: a paragraph is what lies between two of them,
 * together with the blank lines before it. The place of a paragraph is the last blank line before it, so that whoever
 * begins to read in the middle of a text can tell whether a paragraph begins there. */
typedef enum lines_unit { LINES_ONE, LINES_PARAGRAPH } lines_unit;

typedef struct lines {
    source *source;
    lines_unit unit;
    uint64_t limit; /* units that begin at this offset of the text or later are not delivered */
    char *buffer;
    uint64_t capacity;
    uint64_t begin; /* of what the buffer still holds: [begin, filled) */
    uint64_t filled;
    uint64_t offset; /* of buffer[begin] in the text */
    bool ended;      /* the source has no more */
} lines;

/* Units that begin in [from, to) of the text; a byte-order mark at the beginning of the text is skipped. lines_close
 * accepts what is zeroed or failed to open. */
bool lines_open(lines *l, source *s, lines_unit unit, uint64_t from, uint64_t to, bda_error *err);
void lines_close(lines *l);

/* The next block: `length` bytes from `offset` of the text, at least one line, and a newline last (one is added where
 * the text ends without). lines_open from that offset delivers the same units again. length 0: no more. The block is
 * good until the next call. */
bool lines_next(lines *l, const char **text, uint64_t *length, uint64_t *offset, bda_error *err);

uint64_t lines_count(const char *text, uint64_t length); /* newlines */

/* The number of the line, from 1, that holds this offset of the text. Moves the source. */
bool lines_number(source *s, uint64_t offset, uint64_t *number, bda_error *err);

static inline bool lines_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* A line ends in its newline, what counts of it ends in a comment too. */
static inline bool lines_is_end(char c)
{
    return c == '\n' || c == '#';
}

/* Of what is below `end`, which ends in a newline: the beginning of the next line. */
static inline const char *lines_after(const char *p, const char *end)
{
    return (const char *)memchr(p, '\n', (size_t)(end - p)) + 1;
}

static inline const char *lines_skip_blanks(const char *p)
{
    while (lines_is_blank(*p))
        p++;
    return p;
}

/* A word as errors show it: what is not plain ASCII is '?', and "..." stands for what is too long. */
#define LINES_SHOWN 40
typedef struct lines_word {
    const char *text;
    uint64_t length;
    char shown[LINES_SHOWN + 4];
} lines_word;

/* From p to a blank, to the end of what counts, to a NUL byte or to one of `stops`. */
lines_word lines_word_at(const char *p, const char *stops);

#endif
