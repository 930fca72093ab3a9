/* libsvm.h - LIBSVM text to rows: `label index:value ...`, a line an instance. docs/formats.md has the grammar. */
#ifndef DATA_LIBSVM_H
#define DATA_LIBSVM_H

#include "data/builder.h"

#define LIBSVM_LARGEST_INDEX 4294967294u /* 2^32 - 2 */

typedef struct libsvm {
    bool zero_based;
    uint64_t features; /* largest column seen + 1, also where its value is 0 */
    bool reordered;    /* some row was not sorted */

    uint32_t *column; /* of one row, [room]: private */
    double *value;
    uint64_t column_bytes, value_bytes;
    const char *where; /* the text that cannot be read, after a failure */
} libsvm;

void libsvm_free(libsvm *s);

/* How many lines of the block hold an instance: not blank, and not a comment only. The block ends in a newline. */
uint64_t libsvm_count(const char *text, uint64_t length);

/* The rest of the block behind so many instances. */
const char *libsvm_skip(const char *text, const char *end, uint64_t instances);

/* Adds up to `most` instances. The block ends in a newline and has LINES_PADDING bytes behind. On failure err has the
 * reason without file and line, and s->where points to the text it is about (NULL: not about the text). */
bool libsvm_parse(libsvm *s, builder *b, const char *text, uint64_t length, uint64_t most, bda_error *err);

#endif
