/* tag.h - the features of a token for tagging: which words, affixes, shapes and given tags are looked at.
 *
 * Either the templates of this program, or those of a file in the syntax of CRF++. Features are keys (key.h). */
#ifndef SENTENCE_TAG_H
#define SENTENCE_TAG_H

#include "sentence/corpus.h"
#include "sentence/words.h"

#define TAG_MACROS 16 /* of a template, at most */
#define TAG_REACH 100 /* rows away, at most */

typedef struct tag_macro {
    int row, column; /* %x[row,column] */
} tag_macro;

typedef struct tag_template {
    uint64_t name; /* the hash of its text but for rows and columns: equal names share features, as in CRF++ */
    int macros;
    tag_macro macro[TAG_MACROS];
} tag_template;

typedef struct tag_scheme {
    corpus_form form;
    int width;        /* columns, with the one of the tags */
    int column;       /* of the tags */
    int word;         /* column of the words */
    uint64_t wanted;  /* bit c: column c is looked at */
    const char *text; /* of the file; NULL: the program's templates */
    tag_template *list;
    int templates;
    uint64_t most; /* keys of a token */
} tag_scheme;

/* text: of the template file, NULL for none; kept in memory of the arena. path names it in errors. */
bool tag_scheme_make(tag_scheme *s, corpus_form form, int width, int column, const char *text, const char *path,
                     arena *memory, bda_error *err);

/* What a file of templates looks at; before the width of the data is known. */
bool tag_templates_parse(tag_scheme *s, const char *text, const char *path, arena *memory, bda_error *err);

/* Room of one thread for the sentence it is at. Zeroed at first. */
typedef struct tag_view {
    const corpus *corpus;
    const word *words; /* [distinct strings of the column of words] */
    uint64_t first, length;
    word edge[4];      /* what stands for the two words in front of the sentence and the two behind it */
    const word **word; /* [length + 4] with these */
    uint64_t room;
    arena memory;
} tag_view;

/* Looks at a sentence; keys of its tokens follow. */
bool tag_look(const tag_scheme *s, tag_view *v, const corpus *c, const word *words, uint64_t sentence,
              bda_error *err);
/* The keys of token t of the sentence: at most s->most, all different. */
uint64_t tag_keys(const tag_scheme *s, const tag_view *v, uint64_t t, uint64_t *key);
/* The key of a token that has the word, whatever is around it; 0: the templates look at no word alone. */
uint64_t tag_word_key(const tag_scheme *s, uint64_t word);
void tag_view_free(tag_view *v);

#endif
