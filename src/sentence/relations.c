/* relations.c - see relations.h. */
#include "sentence/relations.h"

#include "sentence/rows_of.h"

#include <string.h>

#define LEAST_COUNT 2 /* of a feature: most occur once, and weights are a number for each relation */

/* As data of rows, cut into blocks where the sentences are. */
static data *make_data(comm *c, const data *from, builder *rows, const uint32_t *class, uint64_t *token, bool ok,
                       uint64_t columns, bda_error *err)
{
    const sentences *s = from->sentences;
    const data_units units = {.units = s->corpus.tokens,
                              .unit_row = token,
                              .class = class,
                              .labels = s->labels.count,
                              .label = s->labels.name,
                              .name = from->name,
                              .format = "relations",
                              .features = columns};
    data *d = data_take_units(c, from->blocks, rows, ok, &units, err);
    if (!d)
        return NULL;
    d->unit_row = NULL;
    for (uint64_t k = 0; k <= d->local_blocks; k++)
        d->block_start[k] = s->corpus.first[from->block_start[k]];
    return d;
}

data *relations_data(comm *c, const data *from, int threads, dictionary *d, bda_error *err)
{
    const sentences *s = from->sentences;
    key_counts counts = {0};
    key_table table;
    arena memory = {0};
    builder rows = {0};
    uint32_t *class = NULL;
    uint64_t *unit_row = NULL;
    bool ok =
        counts_open(&counts, threads, false, 0, err) && rows_count(s, ROWS_OF_RELATIONS, 0, threads, &counts, err);
    ok = comm_agree(c, ok, err) && dictionary_make(c, &counts, LEAST_COUNT, d, err);
    counts_free(&counts);
    uint64_t *token = ok ? ARENA_TAKE(&memory, uint64_t, s->corpus.tokens + 1, err) : NULL;
    ok = token && key_table_make(&table, d->key, d->column, d->count, &memory, err) &&
         rows_fill(s, ROWS_OF_RELATIONS, &table, threads, &rows, &class, &unit_row, &memory, err);
    for (uint64_t t = 0; ok && t <= s->corpus.tokens; t++)
        token[t] = t;
    data *made = make_data(c, from, &rows, class, token, ok, d->columns, err);
    arena_free(&memory);
    return made;
}

static bool take_room(const relation_model *m, relation_room *r, bda_error *err)
{
    if (r->score && r->view.most <= r->most)
        return true;
    arena_free(&r->memory);
    r->most = r->view.most + 32;
    r->key = ARENA_TAKE(&r->memory, uint64_t, r->most, err);
    r->column = ARENA_TAKE(&r->memory, uint32_t, r->most, err);
    r->score = ARENA_TAKE(&r->memory, double, m->relations, err);
    return r->key && r->column && r->score;
}

static uint32_t best_relation(const relation_model *m, relation_room *r, uint64_t t)
{
    const relation_weights *w = m->weights;
    const uint64_t keys = relation_keys(&r->view, t, r->key);
    const uint64_t columns = rows_sort_columns(r->column, key_table_columns(&m->table, r->key, keys, r->column));
    memset(r->score, 0, m->relations * sizeof *r->score);
    for (uint64_t i = 0; i < columns; i++)
        for (uint64_t k = w->start[r->column[i]]; k < w->start[r->column[i] + 1]; k++)
            r->score[w->relation[k]] += w->weight[k];
    uint32_t best = 0;
    for (uint32_t k = 1; k < m->relations; k++)
        if (r->score[k] > r->score[best])
            best = k;
    return best;
}

bool relations_predict(const relation_model *m, relation_room *r, const corpus *c, const word *words,
                       uint64_t sentence, const uint16_t *heads, uint32_t *number, bda_error *err)
{
    if (!relation_look(&m->scheme, &r->view, c, words, sentence, heads, err) || !take_room(m, r, err))
        return false;
    for (uint64_t t = 0; t < c->first[sentence + 1] - c->first[sentence]; t++)
        number[t] = best_relation(m, r, t);
    return true;
}

void relation_room_free(relation_room *r)
{
    relation_view_free(&r->view);
    arena_free(&r->memory);
    *r = (relation_room){0};
}
