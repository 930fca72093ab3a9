/* read.h - this rank's sentences of files that all ranks share, or of its own files. */
#ifndef SENTENCE_READ_H
#define SENTENCE_READ_H

#include "comm/comm.h"
#include "sentence/corpus.h"

typedef struct corpus_request {
    const char *path; /* may hold "{rank}": then each rank reads its own files. See listing.h */
    const char *const *others;
    uint64_t other_count;
    uint64_t blocks; /* K: sentences of a shared file are dealt to K blocks in order, as rows are (data.h) */
    /* See corpus.h. wanted: by what the first token of the text looks like; 0: such text is refused. */
    uint64_t wanted[2]; /* [corpus_form] */
    bool heads, trees;
    const char *refusal; /* the sentence of a form that is refused */
} corpus_request;

/* Plain text is read by all ranks, an equal number of bytes each, and sentences are sent to those who want them;
 * packed text is unpacked by every rank. bytes_read, of the files, are this rank's.
 * Collective; fails on all ranks together. */
bool corpus_read(comm *c, const corpus_request *request, corpus *to, bool *shared, uint64_t *bytes_read,
                 bda_error *err);

#endif
