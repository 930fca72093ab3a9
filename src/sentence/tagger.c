/* tagger.c - see tagger.h. */
#include "sentence/tagger.h"

#include <math.h>
#include <string.h>

/* Columns are given to m features each: the value of each of these is 1/sqrt(m), so that all together are sqrt(m). */
static bool take_values(tagger *g, const tagger_model *m, arena *memory, bda_error *err)
{
    g->value = ARENA_TAKE(memory, float, m->columns + 1, err);
    if (!g->value)
        return false;
    for (uint64_t i = 0; i < m->features; i++)
        g->value[m->column[i]]++;
    for (uint64_t j = 0; j < m->columns; j++)
        g->value[j] = g->value[j] > 0 ? sqrtf(g->value[j]) / g->value[j] : 0;
    return true;
}

bool tagger_open(tagger *g, const tagger_model *m, bool probabilities, arena *memory, bda_error *err)
{
    const uint64_t T = (uint64_t)m->tags;
    *g = (tagger){.scheme = m->scheme, .w = m->w, .tags = m->tags, .stride = chain_stride(m->tags)};
    g->transition = ARENA_TAKE(memory, double, (T + 1) * (uint64_t)g->stride, err);
    double *factors = probabilities ? ARENA_TAKE(memory, double, chain_factors_size(m->tags), err) : NULL;
    if (!g->transition || (probabilities && !factors) || !take_values(g, m, memory, err) ||
        !key_table_make(&g->table, m->key, m->column, m->features, memory, err))
        return false;
    for (uint64_t k = 0; k <= T; k++)
        memcpy(g->transition + k * (uint64_t)g->stride, m->w + m->columns * T + k * T, T * sizeof *m->w);
    if (probabilities)
        chain_factors_make(&g->factors, m->tags, g->transition, factors);
    return true;
}

static bool take_room(const tagger *g, tagger_room *r, uint64_t length, bda_error *err)
{
    if (length <= r->length)
        return true;
    const uint64_t room = 2 * length, most = g->scheme->most + 1;
    uint64_t work = chain_best_work((int)room, g->tags), sums = chain_sum_work((int)room, g->tags);
    arena_free(&r->memory);
    r->length = 0;
    r->key = ARENA_TAKE(&r->memory, uint64_t, most, err);
    r->column = ARENA_TAKE(&r->memory, uint32_t, most, err);
    r->emission = ARENA_TAKE(&r->memory, double, room *(uint64_t)g->stride, err);
    r->node = ARENA_TAKE(&r->memory, double, room *(uint64_t)g->stride, err);
    r->work = ARENA_TAKE(&r->memory, double, work > sums ? work : sums, err);
    if (!r->key || !r->column || !r->emission || !r->node || !r->work)
        return false;
    r->length = room;
    return true;
}

/* E[t] = sum over the features of token t of value * w[column] */
static void emit(const tagger *g, tagger_room *r, uint64_t t)
{
    const uint64_t keys = tag_keys(g->scheme, &r->view, t, r->key);
    const uint64_t columns = key_table_columns(&g->table, r->key, keys, r->column), T = (uint64_t)g->tags;
    double *E = r->emission + t * (uint64_t)g->stride;
    memset(E, 0, (uint64_t)g->stride * sizeof *E);
    for (uint64_t i = 0; i < columns; i++)
        __builtin_prefetch(g->w + r->column[i] * T);
    for (uint64_t i = 0; i < columns; i++) {
        const double value = (double)g->value[r->column[i]], *w = g->w + r->column[i] * T;
        for (uint64_t k = 0; k < T; k++)
            E[k] += value * w[k];
    }
}

bool tagger_tag(const tagger *g, tagger_room *r, const corpus *c, const word *words, uint64_t sentence,
                uint16_t *tags, double *probability, bda_error *err)
{
    const uint64_t n = c->first[sentence + 1] - c->first[sentence];
    if (!tag_look(g->scheme, &r->view, c, words, sentence, err) || !take_room(g, r, n, err))
        return false;
    for (uint64_t t = 0; t < n; t++)
        emit(g, r, t);
    const chain x = {(int)n, g->tags, r->emission, g->transition};
    chain_best(&x, NULL, tags, r->work);
    if (probability) {
        chain_sum(&x, &g->factors, r->node, NULL, r->work);
        for (uint64_t t = 0; t < n; t++)
            probability[t] = r->node[t * (uint64_t)g->stride + tags[t]];
    }
    return true;
}

void tagger_room_free(tagger_room *r)
{
    tag_view_free(&r->view);
    arena_free(&r->memory);
    *r = (tagger_room){0};
}
