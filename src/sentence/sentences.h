/* sentences.h - sentences as data of a training: their features counted, numbered and put into rows.
 *
 * Tagging: a row is a token, its class the tag; a unit is a sentence. Parsing: a sentence of n tokens has n (n+1) rows,
 * of which row c (n+1) + h is the edge from head h (0: the root) to token c + 1; the class is 1 on gold edges, else 0.
 * All values are 1, but for columns of tagging that stand for several features (dictionary.h). */
#ifndef SENTENCE_SENTENCES_H
#define SENTENCE_SENTENCES_H

#include "data/data.h"
#include "sentence/dictionary.h"
#include "sentence/edge.h"
#include "sentence/tag.h"

typedef struct sentences_request {
    const char *path; /* the first, and others: see listing.h */
    const char *const *others;
    uint64_t other_count;
    uint64_t blocks; /* K > 0 */
    int threads;
    bool parse;           /* otherwise tag */
    bool xpos;            /* tag, CoNLL-U: the column to learn is XPOS, not UPOS */
    bool column_given;    /* which was said */
    const char *template; /* tag: path of a file of templates; "": none */
    uint32_t groups;      /* parse */
    uint64_t min_count;   /* of a feature; at least 1 */
} sentences_request;

/* What data of sentences has beside its rows. */
typedef struct sentences {
    const char *name; /* of the files */
    corpus corpus;
    word *words; /* of the column of the words */
    bool parse;
    tag_scheme tag;   /* of tagging */
    edge_scheme edge; /* of parsing */
    dictionary dictionary;
    label_table labels;  /* tagging: the tags; parsing: the relations of DEPREL */
    uint32_t *class;     /* [tokens] of each token's; LABEL_NONE where it has none. NULL: it has no such column */
    uint64_t tokens_all; /* of all ranks */
    uint64_t crossings;  /* parsing: edges of all ranks that are not projective */
    arena memory;
} sentences;

/* Reads, checks and numbers; the data owns its `sentences`. Collective. */
data *sentences_read(comm *c, const sentences_request *request, bda_error *err);

/* Sentences to predict: no rows have cells. The scheme is that of `like`, whose dictionary and words are not looked
 * at; its texts must live as long as the data. Collective. */
data *sentences_read_new(comm *c, const sentences_request *request, const sentences *like, bda_error *err);

void sentences_free(sentences *s); /* accepts NULL */

#endif
