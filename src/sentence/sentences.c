/* sentences.c - see sentences.h. */
#include "sentence/sentences.h"

#include "base/clock.h"
#include "data/names.h"
#include "sentence/read.h"
#include "sentence/rows_of.h"
#include "structure/tree.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define TEMPLATE_BYTES ((uint64_t)1 << 20) /* of a file of templates, at most */

static const char *const conllu_names[] = {"ID",    "FORM", "LEMMA",  "UPOS", "XPOS",
                                           "FEATS", "HEAD", "DEPREL", "DEPS", "MISC"};

void sentences_free(sentences *s)
{
    if (!s)
        return;
    corpus_free(&s->corpus);
    dictionary_free(&s->dictionary);
    arena_free(&s->memory);
    mem_free(s, sizeof *s);
}

static sentences *sentences_new(bool parse, bda_error *err)
{
    sentences *s = mem_resize(NULL, 0, sizeof *s, "sentences", err);
    if (!s)
        return NULL;
    memset(s, 0, sizeof *s);
    s->parse = parse;
    return s;
}

/* ---- strings of a column, over all ranks --------------------------------------------------------------------------- */

/* A column's strings, but '_' where that is no string. Returns the table, and classes: [strings] the place of each
 * there, LABEL_NONE for what is not. */
static bool agree_on_column(comm *c, const corpus *text, int column, bool blank_counts, label_table *table,
                            uint32_t **classes, arena *memory, bda_error *err)
{
    const strings *s = &text->strings[column];
    name_set names = {0};
    uint32_t *number = ARENA_TAKE(memory, uint32_t, s->count + 1, err), added;
    uint32_t *class = ARENA_TAKE(memory, uint32_t, s->count + 1, err);
    bool ok = number && class;
    for (uint32_t k = 0; ok && k < s->count; k++) {
        number[k] = LABEL_NONE;
        if (!blank_counts && string_is(&s->at[k], '_'))
            continue;
        ok = names_add(&names, s->at[k].text, s->at[k].length, &added, err);
        number[k] = added;
    }
    ok = comm_agree(c, ok, err) && names_agree(c, &names, DATA_LABELS_COUNTED, table, class, memory, err);
    for (uint32_t k = 0; ok && k < s->count; k++)
        number[k] = number[k] == LABEL_NONE ? LABEL_NONE : class[number[k]];
    names_free(&names);
    *classes = number;
    return ok;
}

/* The class of each token by its string in a column. */
static bool classify(const corpus *c, int column, const uint32_t *of_string, uint32_t **class, arena *memory,
                     bda_error *err)
{
    *class = ARENA_TAKE(memory, uint32_t, c->tokens + 1, err);
    for (uint64_t t = 0; *class && t < c->tokens; t++)
        (*class)[t] = of_string[c->id[column][t]];
    return *class != NULL;
}

/* ---- which columns ------------------------------------------------------------------------------------------------- */

static uint64_t bit(int column)
{
    return (uint64_t)1 << column;
}

/* The text of the template file, which rank 0 reads. */
static bool read_templates(comm *c, const char *path, const char **text, arena *memory, bda_error *err)
{
    char *to = ARENA_TAKE(memory, char, TEMPLATE_BYTES + 1, err);
    uint64_t length = 0;
    bool ok = to != NULL;
    if (ok && bda_comm_rank(c) == 0) {
        FILE *file = fopen(path, "rbe");
        if (!file)
            ok = err_set(err, BDA_FAILED, "cannot read '%.400s': %s", path, strerror(errno));
        else if ((length = fread(to, 1, TEMPLATE_BYTES + 1, file)) > TEMPLATE_BYTES)
            ok = err_set(err, BDA_FAILED, "%s: is longer than a megabyte, which no file of templates is", path);
        else if (ferror(file))
            ok = err_set(err, BDA_FAILED, "cannot read '%.400s': %s", path, strerror(errno));
        if (file)
            fclose(file);
        if (ok && memchr(to, 0, length))
            ok = err_set(err, BDA_FAILED, "%s: has a NUL byte in it", path);
        to[ok ? length : 0] = 0;
    }
    if (!comm_agree(c, ok, err))
        return false;
    comm_broadcast(c, 0, to, TEMPLATE_BYTES + 1);
    *text = to;
    return true;
}

/* "a.conllu", or "a.conllu and 3 more files". */
static const char *name_of(const sentences_request *q, arena *memory, bda_error *err)
{
    const uint64_t room = strlen(q->path) + 40;
    char *name = ARENA_TAKE(memory, char, room, err);
    if (name && q->other_count == 0)
        strcpy(name, q->path);
    else if (name)
        snprintf(name, room, "%s and %llu more file%s", q->path, (unsigned long long)q->other_count,
                 q->other_count == 1 ? "" : "s");
    return name;
}

static bool read_text(comm *c, const sentences_request *q, const uint64_t wanted[2], bool heads, sentences *s,
                      bool *shared, uint64_t *bytes, bda_error *err)
{
    const corpus_request r = {
        .path = q->path,
        .others = q->others,
        .other_count = q->other_count,
        .blocks = q->blocks,
        .wanted = {wanted[0], wanted[1]},
        .heads = s->parse,
        .trees = heads,
        .refusal = s->parse
                       ? "dependency trees are read from CoNLL-U, and this is not CoNLL-U: its lines do not have "
                         "ten columns separated by tabs"
                       : "these sentences are in another format than those that the model was trained on",
    };
    s->name = name_of(q, &s->memory, err);
    if (!comm_agree(c, s->name != NULL, err) || !corpus_read(c, &r, &s->corpus, shared, bytes, err))
        return false;
    s->tokens_all = s->corpus.tokens;
    comm_sum_counts(c, &s->tokens_all, 1);
    if (s->tokens_all == 0)
        return err_set(err, BDA_FAILED, "%s is empty: there are no sentences in it", s->name);
    double width[2] = {(double)s->corpus.width, s->corpus.width ? -(double)s->corpus.width : -CORPUS_COLUMNS};
    comm_max_reals(c, width, 2);
    if (width[0] != -width[1])
        return err_set(err, BDA_FAILED, "%s: some lines have %g columns and others %g", s->name, -width[1], width[0]);
    s->corpus.width = (int)width[0];
    s->words = words_make(&s->corpus.strings[s->corpus.form == CORPUS_CONLLU ? CONLLU_FORM : 0], q->threads,
                          &s->memory, err);
    return comm_agree(c, s->words != NULL, err);
}

static bool refuse_constant(const char *path, const char *column, const label_table *t, const char *why,
                            bda_error *err)
{
    return err_set(err, BDA_FAILED, "%s: the column %s is '%s' in all lines%s", path, column,
                   t->count ? t->name[0] : "_", why);
}

static const char *column_name(const sentences *s, int column, char room[20])
{
    if (s->corpus.form == CORPUS_CONLLU)
        return conllu_names[column];
    snprintf(room, 20, "%d", column + 1);
    return room;
}

/* ---- tagging --------------------------------------------------------------------------------------------------------- */

/* Reads the text and finds out what to look at: the templates say which columns are wanted, and the text how many
 * there are. */
static bool read_tags(comm *c, const sentences_request *q, sentences *s, bool *shared, uint64_t *bytes,
                      bda_error *err)
{
    const int column = q->xpos ? CONLLU_XPOS : CONLLU_UPOS;
    const char *text = NULL;
    tag_scheme asked = {0};
    if (q->template[0]) {
        bool ok = read_templates(c, q->template, &text, &s->memory, err) &&
                  tag_templates_parse(&asked, text, q->template, &s->memory, err);
        if (!comm_agree(c, ok, err))
            return false;
    }
    const uint64_t wanted[] = {asked.wanted | bit(CONLLU_FORM) | bit(column), UINT64_MAX};
    if (!read_text(c, q, wanted, false, s, shared, bytes, err))
        return false;
    if (s->corpus.form == CORPUS_PLAIN && q->column_given)
        return err_set(err, BDA_USAGE, "--column is for CoNLL-U; in plain columns the last one has the tags");
    const int width = s->corpus.width;
    if (width < 2)
        return err_set(err, BDA_FAILED, "%s: has one column, and tags were expected in a second one", s->name);
    const bool made =
        tag_scheme_make(&s->tag, s->corpus.form, width, s->corpus.form == CORPUS_CONLLU ? column : width - 1, text,
                        q->template, &s->memory, err);
    return comm_agree(c, made, err);
}

static bool take_tags(comm *c, sentences *s, bda_error *err)
{
    uint32_t *of_string;
    char room[20];
    if (!agree_on_column(c, &s->corpus, s->tag.column, true, &s->labels, &of_string, &s->memory, err))
        return false;
    if (s->labels.count < 2)
        return refuse_constant(s->name, column_name(s, s->tag.column, room), &s->labels,
                               ", so that there is nothing to learn", err);
    return comm_agree(c, classify(&s->corpus, s->tag.column, of_string, &s->class, &s->memory, err), err);
}

/* ---- parsing --------------------------------------------------------------------------------------------------------- */

/* How many different strings a column has, and pairs of strings of UPOS and FEATS: all ranks'. */
static bool count_pairs(comm *c, const corpus *t, uint64_t *pairs, arena *memory, bda_error *err)
{
    name_set names = {0};
    label_table table;
    char name[40];
    uint32_t added, *class = NULL;
    bool ok = true;
    for (uint64_t i = 0; ok && i < t->tokens; i++) {
        const uint64_t upos = t->strings[CONLLU_UPOS].at[t->id[CONLLU_UPOS][i]].hash;
        const uint64_t feats = t->strings[CONLLU_FEATS].at[t->id[CONLLU_FEATS][i]].hash;
        int length = snprintf(name, sizeof name, "%llx %llx", (unsigned long long)upos, (unsigned long long)feats);
        ok = names.count > DATA_LABELS_COUNTED || names_add(&names, name, (uint64_t)length, &added, err);
    }
    *pairs = names.count;
    bool many = names.count > DATA_LABELS_COUNTED;
    class = ARENA_TAKE(memory, uint32_t, names.count + 1, err);
    ok = comm_agree(c, ok && class, err);
    uint64_t too_many = many;
    if (ok)
        comm_sum_counts(c, &too_many, 1);
    if (ok && too_many == 0 && (ok = names_agree(c, &names, DATA_LABELS_COUNTED, &table, class, memory, err)))
        *pairs = table.count;
    else if (ok)
        *pairs = DATA_LABELS_COUNTED;
    names_free(&names);
    return ok;
}

/* Coarse tags are UPOS, fine ones XPOS; where XPOS says nothing, or has more different strings than UPOS and FEATS
 * together and so more than a tagger could know, these two are the fine tags. */
static bool choose_columns(comm *c, const sentences_request *q, sentences *s, bda_error *err)
{
    arena memory = {0};
    label_table upos, xpos, feats;
    uint32_t *ignored;
    uint64_t pairs = 0;
    const corpus *t = &s->corpus;
    bool ok = agree_on_column(c, t, CONLLU_UPOS, true, &upos, &ignored, &memory, err) &&
              agree_on_column(c, t, CONLLU_XPOS, true, &xpos, &ignored, &memory, err) &&
              agree_on_column(c, t, CONLLU_FEATS, true, &feats, &ignored, &memory, err) &&
              count_pairs(c, t, &pairs, &memory, err);
    if (ok && upos.count < 2 && xpos.count < 2 && s->tokens_all > 1)
        ok = refuse_constant(s->name, "UPOS", &upos, ", and so is XPOS: a parser needs tags", err);
    if (ok) {
        const bool fine = xpos.count > 1 && (feats.count < 2 || xpos.count <= pairs);
        s->edge =
            (edge_scheme){.groups = q->groups, .tag = upos.count > 1 || xpos.count < 2 ? CONLLU_UPOS : CONLLU_XPOS};
        if (!fine && feats.count < 2)
            s->edge.groups &= ~(uint32_t)EDGE_FINE;
        s->edge.fine = fine ? CONLLU_XPOS : CONLLU_UPOS;
        s->edge.feats = !fine;
    }
    arena_free(&memory);
    return ok;
}

static bool read_trees(comm *c, const sentences_request *q, bool gold, sentences *s, bool *shared, uint64_t *bytes,
                       bda_error *err)
{
    const uint64_t wanted[] = {
        bit(CONLLU_FORM) | bit(CONLLU_UPOS) | bit(CONLLU_XPOS) | bit(CONLLU_FEATS) | bit(CONLLU_DEPREL), 0};
    return read_text(c, q, wanted, gold, s, shared, bytes, err);
}

/* Relations, and how many edges cross others. */
static bool take_trees(comm *c, sentences *s, bda_error *err)
{
    const corpus *t = &s->corpus;
    uint32_t *of_string;
    if (!agree_on_column(c, t, CONLLU_DEPREL, true, &s->labels, &of_string, &s->memory, err) ||
        !comm_agree(c, classify(t, CONLLU_DEPREL, of_string, &s->class, &s->memory, err), err))
        return false;
    for (uint64_t i = 0; i < t->sentences; i++)
        s->crossings += (uint64_t)tree_crossings((int)(t->first[i + 1] - t->first[i]), t->head + t->first[i]);
    comm_sum_counts(c, &s->crossings, 1);
    return true;
}

/* ---- both -------------------------------------------------------------------------------------------------------------- */

static bool make_dictionary(comm *c, const sentences_request *q, sentences *s, bda_error *err)
{
    key_counts counts = {0};
    const uint64_t first = comm_count_before(c, s->corpus.tokens);
    bool ok = counts_open(&counts, q->threads, !s->parse, 0, err) &&
              rows_count(s, s->parse ? ROWS_OF_EDGES : ROWS_OF_TOKENS, first, q->threads, &counts, err);
    ok = comm_agree(c, ok, err) && dictionary_make(c, &counts, q->min_count, &s->dictionary, err);
    counts_free(&counts);
    if (ok && s->dictionary.columns == 0)
        return err_set(err, BDA_FAILED, "%s: no feature occurs %llu times, as --min-count asks", s->name,
                       (unsigned long long)q->min_count);
    return ok;
}

/* Tokens have features of this rank alone. Any two words may be an edge, whose features are gold edges' of other ranks,
 * too: for parsing each rank gets the keys of all, which take as much memory as the weights. */
static bool fill(comm *c, const sentences_request *q, const sentences *s, builder *rows, uint32_t **class,
                 uint64_t **unit_row, arena *memory, bda_error *err)
{
    const dictionary *d = &s->dictionary;
    arena keys = {0}, tables = {0};
    uint64_t *key = d->key, count = d->count;
    uint32_t *column = d->column;
    key_table table;
    bool ok = true;
    if (s->parse) {
        count = d->features;
        ok = dictionary_gather(c, d, &keys, &key, &column, err);
    }
    ok = ok && key_table_make(&table, key, column, count, &tables, err);
    arena_free(&keys);
    ok = ok && rows_fill(s, s->parse ? ROWS_OF_EDGES : ROWS_OF_TOKENS, &table, q->threads, rows, class, unit_row,
                         memory, err);
    arena_free(&tables);
    return ok;
}

static data *finish(comm *c, const sentences_request *q, sentences *s, bool ok, builder *rows, data_units *units,
                    double began, bda_error *err)
{
    units->units = s->corpus.sentences;
    units->name = s->name;
    units->format = s->corpus.form == CORPUS_CONLLU ? "CoNLL-U" : "columns";
    data *d = data_take_units(c, q->blocks, rows, ok, units, err);
    if (!d) {
        sentences_free(s);
        return NULL;
    }
    d->files = s->corpus.files;
    if (!units->shared && bda_comm_size(c) > 1)
        comm_sum_counts(c, &d->files, 1);
    d->first_empty = bda_comm_size(c);
    d->sentences = s;
    d->free_sentences = sentences_free;
    d->seconds = clock_now() - began;
    d->bytes_held += s->corpus.text_bytes + s->corpus.memory.bytes + s->dictionary.memory.bytes + s->memory.bytes;
    return d;
}

data *sentences_read(comm *c, const sentences_request *q, bda_error *err)
{
    static const char *const edge_labels[] = {"no", "yes"};
    double began = clock_now();
    sentences *s = sentences_new(q->parse, err);
    if (!comm_agree(c, s != NULL, err)) {
        sentences_free(s);
        return NULL;
    }
    builder rows = {0};
    arena memory = {0};
    data_units units = {0};
    uint32_t *class = NULL;
    uint64_t *unit_row = NULL;
    bool ok = q->parse ? read_trees(c, q, true, s, &units.shared, &units.bytes_read, err) &&
                             choose_columns(c, q, s, err) && take_trees(c, s, err)
                       : read_tags(c, q, s, &units.shared, &units.bytes_read, err) && take_tags(c, s, err);
    ok = ok && make_dictionary(c, q, s, err) && fill(c, q, s, &rows, &class, &unit_row, &memory, err);
    units.class = class;
    units.unit_row = unit_row;
    units.features = s->dictionary.columns;
    units.labels = q->parse ? 2 : s->labels.count;
    units.label = q->parse ? edge_labels : s->labels.name;
    data *d = finish(c, q, s, ok, &rows, &units, began, err);
    arena_free(&memory);
    return d;
}

/* ---- sentences to predict ------------------------------------------------------------------------------------------ */

static bool read_like(comm *c, const sentences_request *q, const sentences *like, sentences *s, bool *shared,
                      uint64_t *bytes, bda_error *err)
{
    s->tag = like->tag;
    s->edge = like->edge;
    if (s->parse)
        return read_trees(c, q, false, s, shared, bytes, err);
    const tag_scheme *t = &like->tag;
    const uint64_t columns = t->wanted | bit(t->column) | bit(t->word);
    const uint64_t wanted[] = {t->form == CORPUS_CONLLU ? columns : 0, t->form == CORPUS_PLAIN ? columns : 0};
    if (!read_text(c, q, wanted, false, s, shared, bytes, err))
        return false;
    if (t->form == CORPUS_CONLLU || s->corpus.width == t->width || s->corpus.width == t->width - 1)
        return true;
    return err_set(err, BDA_FAILED, "%s: has %d columns, and the model needs %d, or %d with the tags", s->name,
                   s->corpus.width, t->width - 1, t->width);
}

/* Columns that the model looks at must say something. */
static bool check_columns(comm *c, const sentences *s, bda_error *err)
{
    const edge_scheme *e = &s->edge;
    const int columns[] = {e->tag, e->groups & EDGE_FINE ? e->fine : e->tag};
    for (int i = 0; s->parse && i < 2; i++) {
        const strings *in = &s->corpus.strings[columns[i]];
        uint64_t filled = in->count > 1 || (in->count == 1 && !string_is(&in->at[0], '_'));
        comm_sum_counts(c, &filled, 1);
        if (filled == 0)
            return err_set(err, BDA_FAILED, "%s: the column %s is '_' in all lines, and the model looks at it",
                           s->name, conllu_names[columns[i]]);
    }
    return true;
}

/* What the column to predict has, if it has anything. */
static bool take_gold(comm *c, sentences *s, bda_error *err)
{
    const int column = s->parse ? CONLLU_DEPREL : s->tag.column;
    uint32_t *of_string;
    if (column >= s->corpus.width)
        return true;
    bool ok = agree_on_column(c, &s->corpus, column, s->corpus.form == CORPUS_PLAIN, &s->labels, &of_string,
                              &s->memory, err);
    if (ok && s->labels.count > 0)
        ok = comm_agree(c, classify(&s->corpus, column, of_string, &s->class, &s->memory, err), err);
    return ok;
}

data *sentences_read_new(comm *c, const sentences_request *q, const sentences *like, bda_error *err)
{
    static const char *const none[] = {"none"};
    double began = clock_now();
    sentences *s = sentences_new(like->parse, err);
    if (!comm_agree(c, s != NULL, err)) {
        sentences_free(s);
        return NULL;
    }
    builder rows = {0};
    arena memory = {0};
    data_units units = {.labels = 1, .label = none};
    bool ok = read_like(c, q, like, s, &units.shared, &units.bytes_read, err) && check_columns(c, s, err) &&
              take_gold(c, s, err);
    if (ok) { /* a row for each token, without cells */
        uint32_t *class = ARENA_TAKE(&memory, uint32_t, s->corpus.tokens + 1, err);
        ok = class && builder_reserve(&rows, s->corpus.tokens, 0, err);
        for (uint64_t t = 0; ok && t < s->corpus.tokens; t++)
            ok = builder_add(&rows, 0, NULL, NULL, 0, err);
        units.class = class;
        units.unit_row = s->corpus.first;
    }
    data *d = finish(c, q, s, ok, &rows, &units, began, err);
    arena_free(&memory);
    return d;
}
