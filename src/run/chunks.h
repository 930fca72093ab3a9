/* chunks.h - spans of tokens that tags like B-NP, I-NP and O stand for, counted as the shared task of CoNLL-2000 did. */
#ifndef RUN_CHUNKS_H
#define RUN_CHUNKS_H

#include "data/label_table.h"

typedef struct chunk_counts {
    uint64_t actual, guessed, right;
} chunk_counts;

/* Do all names look so? A letter of B, I, E and S, a dash and a type; or O. */
bool chunks_are(const label_table *labels);

/* Adds the chunks of a sentence; names of the tags there and of those predicted, [n]. */
void chunks_add(chunk_counts *counts, uint64_t n, const char *const *actual, const char *const *guessed);

#endif
