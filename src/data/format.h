/* format.h - what a text format is: a `const format`, which the reader of text.h calls.
 *
 * A sink is where a format puts what it parses: the units that were added, in order, and whatever the parser needs for
 * itself. Every thread parses into a sink of its own; sinks that follow one another in the text are joined. The reader
 * knows a sink by its size and the functions below alone, so that rows, sentences or anything else can be read.
 *
 * Formats of rows have sinks that begin with a row_sink, and are listed in format.c. */
#ifndef DATA_FORMAT_H
#define DATA_FORMAT_H

#include "data/data.h"
#include "data/lines.h"
#include "data/page.h"
#include "data/row_sink.h"

typedef struct format {
    const char *name;  /* "LIBSVM text", as bda_data_summary has it */
    lines_unit cut_at; /* blocks of text have whole lines, or whole paragraphs */

    /* The first line of each file is a header, which the sink is told before any unit of the file; NULL: there is none.
     * Fails like `parse`. */
    bool (*header)(void *sink, const char *text, uint64_t length, const char **where, bda_error *err);

    /* Units in a block of text, which ends in a newline and has LINES_PADDING bytes behind. They agree with `parse` on
     * text that is correct. */
    uint64_t (*count)(const char *text, uint64_t length);
    const char *(*skip)(const char *text, const char *end, uint64_t units); /* the rest, behind so many units */

    /* Adds up to `most` units of a block. On failure err has the reason without file and line, and *where points to
     * the text it is about (NULL: not about the text). */
    bool (*parse)(void *sink, const char *text, uint64_t length, uint64_t most, const char **where, bda_error *err);

    uint64_t sink_bytes;
    void (*like)(void *sink, const void *other);           /* makes an empty sink with the options of another one */
    void (*close)(void *sink);                             /* accepts what is zeroed */
    uint64_t (*held)(const void *sink);                    /* units */
    void (*cut)(void *sink, uint64_t first, uint64_t end); /* keeps the units [first, end) */
    /* Puts the units of `other`, which is emptied, before or behind those of `sink`. */
    bool (*join)(void *sink, void *other, bool front, bda_error *err);
    /* A hint for an empty sink, or NULL: so many bytes of text come next, and a few units may be joined in front. */
    void (*expect)(void *sink, uint64_t bytes);

    /* Writes row i as a line; NULL: nothing is written in this format. */
    bool (*write)(page *to, const data *d, uint64_t i, bool zero_based, bda_error *err);
} format;

extern const format libsvm_format;

#endif
