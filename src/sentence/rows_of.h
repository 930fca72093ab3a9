/* rows_of.h - from sentences to keys, and from keys to rows, by all threads. Private to src/sentence. */
#ifndef SENTENCE_ROWS_OF_H
#define SENTENCE_ROWS_OF_H

#include "data/builder.h"
#include "sentence/sentences.h"

typedef enum rows_kind {
    ROWS_OF_TOKENS,   /* for tagging: a row each */
    ROWS_OF_EDGES,    /* for parsing: a row for every edge; features are counted of gold ones */
    ROWS_OF_RELATIONS /* a row for the gold edge of each token, and its relation */
} rows_kind;

/* Counts the features. first_token: of all ranks' tokens the number of this rank's first. Local. */
bool rows_count(const sentences *s, rows_kind kind, uint64_t first_token, int threads, key_counts *counts,
                bda_error *err);

/* Adds all rows; those of parsing have their columns in the order of their templates. table: of all features that rows
 * may have. class, unit_row: made in memory of the arena. Local. */
bool rows_fill(const sentences *s, rows_kind kind, const key_table *table, int threads, builder *to, uint32_t **class,
               uint64_t **unit_row, arena *memory, bda_error *err);

/* Puts columns in increasing order, each once; returns how many are left. */
uint64_t rows_sort_columns(uint32_t *column, uint64_t count);

#endif
