/* sentence_model.c - see sentence_model.h. */
#include "run/sentence_model.h"

#include <math.h>
#include <string.h>

#define MADE_BY "sentences" /* how features are made */
#define KEYS "dictionary"
#define RELATIONS "relations"

/* ---- writing ------------------------------------------------------------------------------------------------- */

/* The bytes, copied to memory of the model. Frees them. */
static bool add_section(bda_model *m, const char *kind, bytes *b, bda_error *err)
{
    sections *s = &m->extra;
    section *list = ARENA_TAKE(&s->memory, section, s->count + 1, err);
    unsigned char *copy = ARENA_TAKE(&s->memory, unsigned char, b->count + 1, err);
    const bool ok = list && copy && bytes_done(b, "a model", err);
    if (ok) {
        if (s->count > 0)
            memcpy(list, s->list, s->count * sizeof *list);
        memcpy(copy, b->at, b->count);
        list[s->count++] = (section){.kind = kind, .needed = true, .bytes = copy, .count = b->count};
        s->list = list;
    }
    bytes_free(b);
    return ok;
}

static bool put_scheme(bda_model *m, const sentence_model *s, bda_error *err)
{
    bytes b = {0};
    bytes_put_u64(&b, s->parse);
    if (s->parse) {
        const edge_scheme *e = &s->edge;
        const uint64_t numbers[] = {s->projective, e->groups, (uint64_t)e->tag, (uint64_t)e->fine, e->feats};
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
            bytes_put_u64(&b, numbers[i]);
    } else {
        const tag_scheme *t = &s->tag;
        bytes_put_u64(&b, t->form);
        bytes_put_u64(&b, (uint64_t)t->width);
        bytes_put_u64(&b, (uint64_t)t->column);
        bytes_put_text(&b, t->text ? t->text : "");
    }
    return add_section(m, MADE_BY, &b, err);
}

static void put_keys(bytes *b, const keyed_columns *k)
{
    bytes_put_u64(b, k->features);
    for (uint64_t i = 0; i < k->features; i++)
        bytes_put_u64(b, k->key[i]);
    for (uint64_t i = 0; i < k->features; i++)
        bytes_put_u32(b, k->column[i]);
}

static bool put_relations(bda_model *m, const sentence_model *s, bda_error *err)
{
    bytes b = {0};
    bytes_put_u64(&b, s->relations.count);
    for (uint64_t k = 0; k < s->relations.count; k++)
        bytes_put_text(&b, s->relations.name[k]);
    put_keys(&b, &s->relation_keys);
    const relation_weights *w = &s->relation_weights;
    bytes_put_u64(&b, w->columns);
    for (uint64_t j = 0; j < w->columns; j++) {
        bytes_put_u64(&b, w->start[j + 1] - w->start[j]);
        for (uint64_t i = w->start[j]; i < w->start[j + 1]; i++) {
            bytes_put_u32(&b, w->relation[i]);
            bytes_put_real(&b, w->weight[i]);
        }
    }
    return add_section(m, RELATIONS, &b, err);
}

bool sentence_model_put(bda_model *m, const sentence_model *s, bda_error *err)
{
    bytes b = {0};
    put_keys(&b, &s->keys);
    return put_scheme(m, s, err) && add_section(m, KEYS, &b, err) &&
           (s->relations.count == 0 || put_relations(m, s, err)) && sentence_model_look(m, s, err);
}

/* ---- reading ------------------------------------------------------------------------------------------------- */

static bool damaged(const char *kind, bda_error *err)
{
    return err_set(err, BDA_FAILED, "the model is damaged: its section '%s' is missing or has impossible values",
                   kind);
}

static bool is_tag_column(uint64_t column)
{
    return column == CONLLU_UPOS || column == CONLLU_XPOS;
}

static bool take_scheme(const bda_model *m, sentence_model *s, bda_error *err)
{
    byte_reader r = section_reader(sections_find(&m->extra, MADE_BY));
    s->parse = bytes_get_u64(&r) == 1;
    if (r.failed || s->parse != (strcmp(m->task, "parse") == 0))
        return damaged(MADE_BY, err);
    if (s->parse) {
        uint64_t number[5];
        for (size_t i = 0; i < sizeof number / sizeof *number; i++)
            number[i] = bytes_get_u64(&r);
        s->projective = number[0];
        s->edge = (edge_scheme){
            .groups = (uint32_t)number[1], .tag = (int)number[2], .fine = (int)number[3], .feats = number[4]};
        return (bytes_ended(&r) && number[1] <= (EDGE_FINE | EDGE_EXTRA) && is_tag_column(number[2]) &&
                is_tag_column(number[3])) ||
               damaged(MADE_BY, err);
    }
    const uint64_t form = bytes_get_u64(&r), width = bytes_get_u64(&r), column = bytes_get_u64(&r);
    const char *text = bytes_get_text(&r, &s->memory, err);
    const bool sound = form == CORPUS_CONLLU ? width == CONLLU_COLUMNS && is_tag_column(column)
                                             : width >= 2 && width <= CORPUS_COLUMNS && column == width - 1;
    if (!text || !bytes_ended(&r) || form > CORPUS_PLAIN || !sound)
        return damaged(MADE_BY, err);
    return tag_scheme_make(&s->tag, (corpus_form)form, (int)width, (int)column, text[0] ? text : NULL,
                           "the templates of the model", &s->memory, err);
}

static bool take_keys(byte_reader *r, keyed_columns *k, uint64_t columns, arena *memory, const char *kind,
                      bda_error *err)
{
    k->features = bytes_get_u64(r);
    if (r->failed || k->features > r->left / 12)
        return damaged(kind, err);
    const unsigned char *keys = bytes_get(r, k->features * 8), *numbers = bytes_get(r, k->features * 4);
    k->key = ARENA_TAKE(memory, uint64_t, k->features + 1, err);
    k->column = ARENA_TAKE(memory, uint32_t, k->features + 1, err);
    if (!k->key || !k->column)
        return false;
    for (uint64_t i = 0; i < k->features; i++) {
        k->key[i] = bytes_decode_u64(keys + 8 * i);
        k->column[i] = bytes_decode_u32(numbers + 4 * i);
        if (k->key[i] == 0 || (i > 0 && k->key[i] <= k->key[i - 1]) || k->column[i] >= columns)
            return damaged(kind, err);
    }
    return true;
}

/* Columns one after the other: how many weights are not 0, and of which relations. */
static bool take_relation_weights(byte_reader *r, sentence_model *s, bda_error *err)
{
    relation_weights *w = &s->relation_weights;
    w->columns = bytes_get_u64(r);
    if (r->failed || w->columns > r->left / 8)
        return damaged(RELATIONS, err);
    const uint64_t most = (r->left - 8 * w->columns) / 12;
    w->start = ARENA_TAKE(&s->memory, uint64_t, w->columns + 1, err);
    w->relation = ARENA_TAKE(&s->memory, uint32_t, most + 1, err);
    w->weight = ARENA_TAKE(&s->memory, double, most + 1, err);
    if (!w->start || !w->relation || !w->weight)
        return false;
    for (uint64_t j = 0, at = 0; j < w->columns; j++) {
        const uint64_t count = bytes_get_u64(r);
        if (r->failed || count > most - at)
            return damaged(RELATIONS, err);
        for (uint64_t i = 0; i < count; i++, at++) {
            w->relation[at] = bytes_get_u32(r);
            w->weight[at] = bytes_get_real(r);
            if (w->relation[at] >= s->relations.count || !isfinite(w->weight[at]))
                return damaged(RELATIONS, err);
        }
        w->start[j + 1] = at;
    }
    for (uint64_t i = 0; i < s->relation_keys.features; i++)
        if (s->relation_keys.column[i] >= w->columns)
            return damaged(RELATIONS, err);
    return bytes_ended(r) || damaged(RELATIONS, err);
}

static bool take_relation_names(byte_reader *r, sentence_model *s, bda_error *err)
{
    const uint64_t count = bytes_get_u64(r);
    if (r->failed || count < 2 || count > r->left / 8)
        return damaged(RELATIONS, err);
    const char **name = ARENA_TAKE(&s->memory, const char *, count, err);
    for (uint64_t k = 0; name && k < count; k++)
        if (!(name[k] = bytes_get_text(r, &s->memory, err)))
            return damaged(RELATIONS, err);
    s->relations = (label_table){count, name, NULL};
    return name != NULL;
}

static bool take_relations(const bda_model *m, sentence_model *s, bda_error *err)
{
    const section *there = sections_find(&m->extra, RELATIONS);
    if (!there)
        return true;
    byte_reader r = section_reader(there);
    if (!take_relation_names(&r, s, err) || !take_keys(&r, &s->relation_keys, UINT64_MAX, &s->memory, RELATIONS, err))
        return false;
    return take_relation_weights(&r, s, err);
}

bool sentence_model_take(const bda_model *m, sentence_model *s, bda_error *err)
{
    *s = (sentence_model){0};
    byte_reader r = section_reader(sections_find(&m->extra, KEYS));
    bool ok = take_scheme(m, s, err) && take_keys(&r, &s->keys, m->features, &s->memory, KEYS, err) &&
              (bytes_ended(&r) || damaged(KEYS, err)) && take_relations(m, s, err);
    if (ok && (s->parse ? m->outputs != 1 || m->shared != 0
                        : m->outputs != m->classes || m->shared != (m->classes + 1) * m->classes ||
                              m->classes > CHAIN_TAGS))
        ok = damaged("model", err);
    if (!ok)
        sentence_model_free(s);
    return ok;
}

bool sentence_model_glance(bda_model *m, bda_error *err)
{
    sentence_model s = {0};
    const section *there = sections_find(&m->extra, RELATIONS);
    byte_reader r = there ? section_reader(there) : (byte_reader){0};
    const bool ok =
        take_scheme(m, &s, err) && (!there || take_relation_names(&r, &s, err)) && sentence_model_look(m, &s, err);
    sentence_model_free(&s);
    return ok;
}

void sentence_model_free(sentence_model *s)
{
    arena_free(&s->memory);
    *s = (sentence_model){0};
}
