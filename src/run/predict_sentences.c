/* predict_sentences.c - see predict_sentences.h.
 *
 * Every rank labels its own sentences, its threads one sentence at a time, and makes their text; rank 0 writes it in
 * order. Only text and counts are sent. */
#include "run/predict_sentences.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/output.h"
#include "run/chunks.h"
#include "sentence/parser.h"
#include "sentence/tagger.h"
#include "sentence/write.h"

data *sentences_for_model(comm *c, const bda_model *m, const sentences_request *request, bda_error *err)
{
    sentence_model s;
    if (!comm_agree(c, sentence_model_take(m, &s, err), err))
        return NULL;
    const sentences like = {.parse = s.parse, .tag = s.tag, .edge = s.edge};
    data *d = sentences_read_new(c, request, &like, err);
    if (d && s.tag.text) { /* the templates outlive this reading of the model */
        sentences *own = d->sentences;
        const char *text = s.tag.text;
        char *copy = ARENA_TAKE(&own->memory, char, strlen(text) + 1, err);
        bool ok = copy && tag_scheme_make(&own->tag, s.tag.form, s.tag.width, s.tag.column, strcpy(copy, text),
                                          "the templates of the model", &own->memory, err);
        if (!comm_agree(c, ok, err)) {
            data_free(d);
            d = NULL;
        }
    }
    sentence_model_free(&s);
    return d;
}

/* ---- labelling ----------------------------------------------------------------------------------------------------- */

typedef struct labeller {
    const data *d;
    sentence_model model;
    label_table tags; /* tagging: in the order of the weights, which is not the model's where there are two */
    tagger tagger;
    parser parser;
    relation_model relations;
    int threads;
    struct labeller_room {
        tagger_room tagger;
        parser_room parser;
        relation_room relation;
        uint16_t *numbers; /* [longest] tags or heads */
        bool ok;
        bda_error err;
    } * room;            /* [threads] */
    uint32_t *number;    /* [tokens] of the tag, or the head */
    uint32_t *relation;  /* [tokens] or NULL */
    double *probability; /* [tokens] or NULL */
    arena memory;
} labeller;

static bool open_labeller(labeller *l, const bda_model *m, const data *d, const bda_settings *s, bda_error *err)
{
    *l = (labeller){.d = d, .threads = (int)s->threads};
    if (!sentence_model_take(m, &l->model, err))
        return false;
    const sentence_model *x = &l->model;
    const corpus *c = &d->sentences->corpus;
    const char **tag = ARENA_TAKE(&l->memory, const char *, m->classes + 1, err);
    for (uint64_t k = 0; tag && k < m->classes; k++)
        tag[k] = m->labels.name[m->classes == 2 ? 1 - k : k];
    l->tags = (label_table){m->classes, tag, NULL};
    uint64_t longest = 0;
    for (uint64_t i = 0; i < c->sentences; i++)
        longest = c->first[i + 1] - c->first[i] > longest ? c->first[i + 1] - c->first[i] : longest;
    l->number = ARENA_TAKE(&l->memory, uint32_t, c->tokens + 1, err);
    l->room = arena_take(&l->memory, (uint64_t)l->threads, sizeof *l->room, "threads of a prediction", err);
    l->relation = x->relations.count ? ARENA_TAKE(&l->memory, uint32_t, c->tokens + 1, err) : NULL;
    l->probability = s->probability ? ARENA_TAKE(&l->memory, double, c->tokens + 1, err) : NULL;
    bool ok =
        tag && l->number && l->room && (l->relation || !x->relations.count) && (l->probability || !s->probability);
    for (int t = 0; ok && t < l->threads; t++) {
        l->room[t].ok = true;
        ok = (l->room[t].numbers = ARENA_TAKE(&l->memory, uint16_t, longest + 1, err)) != NULL;
    }
    if (!ok)
        return false;
    if (!x->parse)
        return tagger_open(&l->tagger,
                           &(tagger_model){&x->tag, x->keys.key, x->keys.column, x->keys.features, m->features, m->w,
                                           (int)m->classes},
                           s->probability, &l->memory, err);
    l->relations =
        (relation_model){.scheme = x->edge, .weights = &x->relation_weights, .relations = x->relations.count};
    return parser_open(&l->parser, &x->edge, x->projective, x->keys.key, x->keys.column, x->keys.features, m->w,
                       &l->memory, err) &&
           key_table_make(&l->relations.table, x->relation_keys.key, x->relation_keys.column,
                          x->relation_keys.features, &l->memory, err);
}

static void close_labeller(labeller *l)
{
    for (int t = 0; l->room && t < l->threads; t++) {
        tagger_room_free(&l->room[t].tagger);
        parser_room_free(&l->room[t].parser);
        relation_room_free(&l->room[t].relation);
    }
    arena_free(&l->memory);
    sentence_model_free(&l->model);
}

static bool label_sentence(const labeller *l, struct labeller_room *r, uint64_t i)
{
    const sentences *s = l->d->sentences;
    const corpus *c = &s->corpus;
    const uint64_t first = c->first[i], n = c->first[i + 1] - first;
    double *p = l->probability ? l->probability + first : NULL;
    bool ok = l->model.parse ? parser_parse(&l->parser, &r->parser, c, s->words, i, r->numbers, p, &r->err)
                             : tagger_tag(&l->tagger, &r->tagger, c, s->words, i, r->numbers, p, &r->err);
    if (ok && l->relation)
        ok = relations_predict(&l->relations, &r->relation, c, s->words, i, r->numbers, l->relation + first, &r->err);
    for (uint64_t t = 0; ok && t < n; t++)
        l->number[first + t] = r->numbers[t];
    return ok;
}

static bool label_all(labeller *l, bda_error *err)
{
    const uint64_t count = l->d->sentences->corpus.sentences;
#pragma omp parallel for schedule(dynamic, 8) num_threads(l->threads) if (l->threads > 1)
    for (uint64_t i = 0; i < count; i++) {
        struct labeller_room *r = &l->room[l->threads > 1 ? omp_get_thread_num() : 0];
        r->ok = r->ok && label_sentence(l, r, i);
    }
    for (int t = 0; t < l->threads; t++)
        if (!l->room[t].ok)
            return err_set(err, l->room[t].err.status, "%s", l->room[t].err.text);
    return true;
}

/* ---- writing ------------------------------------------------------------------------------------------------------- */

static void keep(void *self, const char *text, uint64_t count)
{
    bytes_put(self, text, count);
}

static void write_out(void *self, const void *text, uint64_t count)
{
    out_write(self, text, count);
}

/* Heads as text: the numbers 0 to 65534. */
static const char *const *number_texts(uint32_t most, arena *memory, bda_error *err)
{
    const char **text = ARENA_TAKE(memory, const char *, (uint64_t)most + 1, err);
    char *to = ARENA_TAKE(memory, char, 6 * ((uint64_t)most + 1), err);
    for (uint32_t k = 0; text && to && k <= most; k++, to += 6) {
        snprintf(to, 6, "%u", k % 100000);
        text[k] = to;
    }
    return to ? text : NULL;
}

static bool make_text(const labeller *l, bytes *to, arena *memory, bda_error *err)
{
    const corpus *c = &l->d->sentences->corpus;
    const bool parse = l->model.parse;
    uint32_t most = 0;
    for (uint64_t t = 0; t < c->tokens; t++)
        most = l->number[t] > most ? l->number[t] : most;
    new_columns n = {.count = 1, .probability = l->probability};
    n.column[0] = (new_column){.column = parse ? CONLLU_HEAD : l->model.tag.column,
                               .text = parse ? number_texts(most, memory, err) : l->tags.name,
                               .number = l->number};
    if (!n.column[0].text)
        return false;
    if (l->relation)
        n.column[n.count++] = (new_column){CONLLU_DEPREL, l->model.relations.name, l->relation};
    corpus_write(c, &n, keep, to);
    return bytes_done(to, "the text to write", err);
}

static bool write_text(comm *c, const labeller *l, const char *path, bda_error *err)
{
    const bool first = bda_comm_rank(c) == 0;
    bytes text = {0};
    arena memory = {0};
    output *out = NULL;
    bool ok = make_text(l, &text, &memory, err) && (!first || (out = out_open(path, err)));
    ok = comm_agree(c, ok, err);
    if (ok) {
        comm_collect(c, text.at, text.count, write_out, out);
        ok = comm_agree(c, !first || out_commit(out, err), err);
        out = NULL;
    }
    out_abandon(out);
    bytes_free(&text);
    arena_free(&memory);
    return ok;
}

/* ---- measuring ----------------------------------------------------------------------------------------------------- */

enum {
    TOKENS,
    SENTENCES,
    RIGHT,
    RIGHT_SENTENCES,
    UNKNOWN,
    UNKNOWN_RIGHT,
    CHUNKS,
    CHUNKS_GUESSED,
    CHUNKS_RIGHT,
    LABELLED,
    LABELLED_RIGHT,
    WORDS,
    WORDS_RIGHT,
    WORDS_LABELLED_RIGHT,
    COUNTS
};

/* How often each tag or relation was there, was predicted, and was both: [labels] */
typedef struct label_counts {
    const label_table *labels;
    uint64_t *actual, *guessed, *right;
} label_counts;

static void add_measure(bda_metrics *x, const char *name, double value)
{
    if (isfinite(value) && x->count < METRICS_MOST) {
        x->name[x->count] = name;
        x->value[x->count++] = value;
    }
}

static double part(uint64_t some, uint64_t all)
{
    return all > 0 ? (double)some / (double)all : NAN;
}

/* Of the labels of the data (by their class numbers) the number in the model's table. */
static uint32_t *numbers_in(const label_table *from, const label_table *to, arena *memory, bda_error *err)
{
    uint32_t *number = ARENA_TAKE(memory, uint32_t, from->count + 1, err);
    for (uint64_t k = 0; number && k < from->count; k++) {
        number[k] = LABEL_NONE;
        for (uint64_t j = 0; j < to->count; j++)
            if (strcmp(from->name[k], to->name[j]) == 0)
                number[k] = (uint32_t)j;
    }
    return number;
}

static void count_labels(label_counts *x, const label_table *labels, uint32_t gold, uint32_t guess)
{
    if (gold < labels->count) {
        x->actual[gold]++;
        x->right[gold] += gold == guess;
    }
    x->guessed[guess]++;
}

/* Names of the tags of a sentence, there and predicted: [2][n] */
static void add_chunks(const labeller *l, uint64_t i, const char **name, uint64_t *count)
{
    const sentences *s = l->d->sentences;
    const uint64_t first = s->corpus.first[i], n = s->corpus.first[i + 1] - first;
    chunk_counts chunks = {0};
    for (uint64_t t = 0; t < n; t++) {
        name[t] = s->labels.name[s->class[first + t]];
        name[n + t] = l->tags.name[l->number[first + t]];
    }
    chunks_add(&chunks, n, name, name + n);
    count[CHUNKS] += chunks.actual;
    count[CHUNKS_GUESSED] += chunks.guessed;
    count[CHUNKS_RIGHT] += chunks.right;
}

static void count_tags(const labeller *l, const uint32_t *known, uint64_t i, label_counts *x, uint64_t *count)
{
    const sentences *s = l->d->sentences;
    const corpus *c = &s->corpus;
    uint64_t labelled = 0, right = 0;
    for (uint64_t t = c->first[i]; t < c->first[i + 1]; t++) {
        if (s->class[t] == LABEL_NONE)
            continue;
        const uint32_t gold = known[s->class[t]];
        const bool same = gold == l->number[t];
        const uint64_t key = tag_word_key(&l->model.tag, s->words[c->id[l->model.tag.word][t]].whole);
        const bool unknown =
            key && key_table_find(&l->tagger.table, key_table_slot(&l->tagger.table, key), key) == DICTIONARY_NONE;
        count_labels(x, x->labels, gold, l->number[t]);
        labelled++;
        right += same;
        count[UNKNOWN] += unknown;
        count[UNKNOWN_RIGHT] += unknown && same;
    }
    count[TOKENS] += labelled;
    count[RIGHT] += right;
    count[SENTENCES] += labelled > 0;
    count[RIGHT_SENTENCES] += labelled > 0 && right == labelled;
}

/* Is there a token of this rank whose UPOS is PUNCT? That is how UD marks punctuation; elsewhere words tell. */
static bool has_punct(const corpus *c, uint32_t *number)
{
    const strings *s = &c->strings[CONLLU_UPOS];
    for (uint32_t k = 0; k < s->count; k++)
        if (s->at[k].length == 5 && memcmp(s->at[k].text, "PUNCT", 5) == 0) {
            *number = k;
            return true;
        }
    return false;
}

static void count_heads(const labeller *l, const uint32_t *known, bool marked, uint32_t punct, uint64_t i,
                        label_counts *x, uint64_t *count)
{
    const sentences *s = l->d->sentences;
    const corpus *c = &s->corpus;
    uint64_t tokens = 0, right = 0;
    for (uint64_t t = c->first[i]; t < c->first[i + 1]; t++) {
        if (c->head[t] == CORPUS_NO_HEAD)
            continue;
        const bool same = c->head[t] == l->number[t], labelled = l->relation && s->class && s->class[t] != LABEL_NONE;
        const bool word =
            marked ? c->id[CONLLU_UPOS][t] != punct : !(s->words[c->id[CONLLU_FORM][t]].flags & WORD_PUNCTUATION);
        const bool both = labelled && same && known[s->class[t]] == l->relation[t];
        tokens++;
        right += same;
        count[WORDS] += word;
        count[WORDS_RIGHT] += word && same;
        count[LABELLED] += labelled;
        count[LABELLED_RIGHT] += both;
        count[WORDS_LABELLED_RIGHT] += word && both;
        if (labelled)
            count_labels(x, x->labels, known[s->class[t]], l->relation[t]);
    }
    count[TOKENS] += tokens;
    count[RIGHT] += right;
    count[SENTENCES] += tokens > 0;
    count[RIGHT_SENTENCES] += tokens > 0 && right == tokens;
}

static void list_measures(const labeller *l, const uint64_t *n, bda_metrics *x)
{
    const bool labelled = n[LABELLED] == n[TOKENS];
    add_measure(x, "sentences", (double)l->d->instances);
    add_measure(x, "tokens", (double)l->d->rows_all);
    if (l->model.parse) {
        add_measure(x, "uas", part(n[RIGHT], n[TOKENS]));
        add_measure(x, "las", labelled ? part(n[LABELLED_RIGHT], n[TOKENS]) : NAN);
        add_measure(x, "uas_no_punct", part(n[WORDS_RIGHT], n[WORDS]));
        add_measure(x, "las_no_punct", labelled ? part(n[WORDS_LABELLED_RIGHT], n[WORDS]) : NAN);
        add_measure(x, "sentence_accuracy", part(n[RIGHT_SENTENCES], n[SENTENCES]));
        return;
    }
    add_measure(x, "token_accuracy", part(n[RIGHT], n[TOKENS]));
    add_measure(x, "sentence_accuracy", part(n[RIGHT_SENTENCES], n[SENTENCES]));
    add_measure(x, "unknown_words", n[TOKENS] ? (double)n[UNKNOWN] : NAN);
    add_measure(x, "unknown_word_accuracy", part(n[UNKNOWN_RIGHT], n[UNKNOWN]));
    add_measure(x, "chunk_precision", part(n[CHUNKS_RIGHT], n[CHUNKS_GUESSED]));
    add_measure(x, "chunk_recall", part(n[CHUNKS_RIGHT], n[CHUNKS]));
    add_measure(x, "chunk_f1", part(2 * n[CHUNKS_RIGHT], n[CHUNKS] + n[CHUNKS_GUESSED]));
}

static bool write_measures(const bda_metrics *found, const label_counts *x, const char *path, bda_error *err)
{
    output *out = out_open(path, err);
    if (!out)
        return false;
    json j;
    json_open(&j, out);
    for (uint64_t k = 0; k < found->count; k++)
        json_real(&j, found->name[k], found->value[k]);
    json_enter(&j, "labels", '[');
    for (uint64_t k = 0; k < x->labels->count; k++) {
        json_enter(&j, NULL, '{');
        json_text(&j, "label", x->labels->name[k]);
        json_count(&j, "actual", x->actual[k]);
        json_count(&j, "predicted", x->guessed[k]);
        json_count(&j, "right", x->right[k]);
        json_real(&j, "precision", part(x->right[k], x->guessed[k]));
        json_real(&j, "recall", part(x->right[k], x->actual[k]));
        json_real(&j, "f1", part(2 * x->right[k], x->guessed[k] + x->actual[k]));
        json_leave(&j, '{');
    }
    json_leave(&j, '[');
    json_close(&j);
    return out_commit(out, err);
}

/* Counts of this rank's sentences. */
static void count_all(const labeller *l, const uint32_t *known, bool marked, uint32_t punct, const char **name,
                      label_counts *x, uint64_t *count)
{
    const sentences *s = l->d->sentences;
    const bool chunks = !l->model.parse && s->class && chunks_are(&l->tags) && chunks_are(&s->labels);
    for (uint64_t i = 0; i < s->corpus.sentences; i++) {
        if (l->model.parse)
            count_heads(l, known, marked, punct, i, x, count);
        else if (s->class)
            count_tags(l, known, i, x, count);
        if (chunks)
            add_chunks(l, i, name, count);
    }
}

static bool measure(comm *c, const labeller *l, const char *path, bda_metrics *found, bda_error *err)
{
    const sentences *s = l->d->sentences;
    arena memory = {0};
    uint64_t count[COUNTS] = {0};
    uint32_t punct = UINT32_MAX;
    label_counts x = {.labels = l->model.parse ? &l->model.relations : &l->tags};
    const uint64_t labels = x.labels->count;
    uint32_t *known = numbers_in(&s->labels, x.labels, &memory, err);
    const char **name = ARENA_TAKE(&memory, const char *, 2 * CORPUS_LONGEST, err);
    x.actual = ARENA_TAKE(&memory, uint64_t, 3 * labels + 1, err);
    bool ok = comm_agree(c, known && name && x.actual, err);
    if (ok) {
        x.guessed = x.actual + labels;
        x.right = x.guessed + labels;
        uint64_t marked = l->model.parse && has_punct(&s->corpus, &punct);
        comm_sum_counts(c, &marked, 1);
        count_all(l, known, marked > 0, punct, name, &x, count);
        comm_sum_counts(c, count, COUNTS);
        comm_sum_counts(c, x.actual, (int)(3 * labels));
        list_measures(l, count, found);
        ok = comm_agree(c, !path[0] || bda_comm_rank(c) > 0 || write_measures(found, &x, path, err), err);
    }
    arena_free(&memory);
    return ok;
}

bool predict_sentences(comm *c, const bda_model *m, const data *d, const bda_settings *s, const char *path,
                       bda_metrics *found, bda_error *err)
{
    labeller l;
    bool ok = comm_agree(c, open_labeller(&l, m, d, s, err), err) && comm_agree(c, label_all(&l, err), err) &&
              (!path || write_text(c, &l, path, err)) && measure(c, &l, s->metrics, found, err);
    close_labeller(&l);
    return ok;
}
