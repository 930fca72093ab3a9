/* write.h - the text of sentences once more, with other strings in some columns of its tokens and all else as it was. */
#ifndef SENTENCE_WRITE_H
#define SENTENCE_WRITE_H

#include "sentence/corpus.h"

/* What goes into one column: string number[t] of token t. The column behind the last is added. */
typedef struct new_column {
    int column;
    const char *const *text; /* [numbers] */
    const uint32_t *number;  /* [tokens] */
} new_column;

typedef struct new_columns {
    int count;
    new_column column[2]; /* by column */
    /* [tokens] or NULL: goes into MISC of CoNLL-U as Probability=..., or into a column behind all others. */
    const double *probability;
} new_columns;

/* Bytes go to put, in order, some at a time. */
typedef void (*write_put)(void *self, const char *bytes, uint64_t count);
void corpus_write(const corpus *c, const new_columns *columns, write_put put, void *self);

#endif
