/* corpus.h - sentences of a text: the text itself, where the lines of its tokens are, and the strings of those columns
 * that are wanted. docs/formats.md has the two formats.
 *
 * CoNLL-U: ten columns separated by tabs, comments, lines of multiword tokens (3-4) and of empty nodes (5.1); the last
 * two are no tokens. Plain columns: any number of columns separated by blanks, the same in every line. An empty line
 * ends a sentence in both. The text is kept as it was read, so that it can be written again with one column changed. */
#ifndef SENTENCE_CORPUS_H
#define SENTENCE_CORPUS_H

#include "base/memory.h"
#include "sentence/strings.h"

#define CORPUS_COLUMNS 64    /* at most */
#define CORPUS_LONGEST 65534 /* tokens of a sentence */
#define CORPUS_NO_HEAD UINT16_MAX

typedef enum corpus_form { CORPUS_CONLLU, CORPUS_PLAIN } corpus_form;

enum {
    CONLLU_ID,
    CONLLU_FORM,
    CONLLU_LEMMA,
    CONLLU_UPOS,
    CONLLU_XPOS,
    CONLLU_FEATS,
    CONLLU_HEAD,
    CONLLU_DEPREL,
    CONLLU_DEPS,
    CONLLU_MISC,
    CONLLU_COLUMNS
};

typedef struct corpus {
    /* What to read: set before corpus_parse. */
    corpus_form form;
    const char *const *path; /* [files] for errors: the text is of these, one behind the other */
    const uint64_t *lines;   /* [files] how many each has */
    uint64_t files;
    uint64_t lines_before; /* of all files, before the text */
    uint64_t wanted;       /* bit c: the strings of column c; columns beyond the width are left out */
    bool heads;            /* CoNLL-U: the column HEAD */
    bool trees;            /* which must be a tree with one root in each sentence */

    char *text; /* [length], lines that end in newlines; its sentences are complete */
    uint64_t length, text_bytes;

    /* What was read */
    int width; /* columns of a line; 0 where there are no tokens */
    uint64_t sentences, tokens;
    uint64_t *first;                 /* [sentences + 1] token that a sentence begins with */
    uint64_t *line;                  /* [tokens] offset of its line in the text */
    uint32_t *id[CORPUS_COLUMNS];    /* [tokens] number among strings[column]; NULL: not wanted */
    strings strings[CORPUS_COLUMNS]; /* their texts point into `text` */
    uint16_t *head;                  /* [tokens] CORPUS_NO_HEAD for '_' */
    uint64_t headless;               /* tokens with '_' */
    arena memory;
} corpus;

/* Reads `text`, which the corpus owns from then on (mem_resize of text_bytes). A sentence in err names file and line.
 * Local. */
bool corpus_parse(corpus *c, bda_error *err);
void corpus_free(corpus *c); /* accepts what is zeroed */

/* Where the first sentence in [p, end) ends, its empty line included and what else is before the next; `end` if there
 * is no other. *tokens: has it any? Without tokens it is only comments and empty lines. */
const char *corpus_skip_sentence(const char *p, const char *end, corpus_form form, bool *tokens);

/* Is the line empty, but for blanks? It ends in a newline. */
bool corpus_blank_line(const char *p);
/* What the lines look like: CoNLL-U where the first token of the text begins such a sentence. false: no token yet. */
bool corpus_form_of(const char *p, const char *end, corpus_form *form);

/* Column c of the token's line. */
string_entry corpus_cell(const corpus *c, uint64_t token, int column);

/* The number of a token's line in the file, from 1, and an error that begins with file and line. Returns false. */
bool corpus_blame(const corpus *c, uint64_t token, const char *sentence, bda_error *err);

#endif
