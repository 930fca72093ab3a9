/* parser.c - see parser.h. Nothing of an edge is kept: its keys are made, looked up and forgotten. Most are of no
 * feature that the model has; a filter of bits says so. */
#include "sentence/parser.h"

#include "sentence/key.h"
#include "structure/tree.h"

#define SLACK 1024
#define FILTER_BITS 8 /* a key, at least */
#define TOGETHER 256  /* keys that are looked up together, so that memory is waited for once */

static uint64_t slot_of(const parser *p, uint64_t key)
{
    return key_part(key, p->room);
}

static bool put(parser *p, uint64_t key, double weight, bda_error *err)
{
    uint64_t i = slot_of(p, key);
    while (p->slot[i].key)
        if (++i == p->room + SLACK - 1) /* the last one stays free, for searches to end */
            return err_set(err, BDA_FAILED, "the keys of the features are not those of any text");
    p->slot[i] = (struct parser_slot){key, weight};
    p->filter[(key & p->filter_mask) >> 6] |= (uint64_t)1 << (key & 63);
    return true;
}

bool parser_open(parser *p, const edge_scheme *scheme, bool projective, const uint64_t *key, const uint32_t *column,
                 uint64_t features, const double *weight, arena *memory, bda_error *err)
{
    uint64_t count = 0, bits = 1 << 12;
    for (uint64_t i = 0; i < features; i++)
        count += weight[column[i]] != 0;
    while (bits < FILTER_BITS * count)
        bits *= 2;
    *p = (parser){
        .scheme = *scheme, .projective = projective, .room = count + count / 2 + 16, .filter_mask = bits - 1};
    p->slot = arena_take(memory, p->room + SLACK, sizeof *p->slot, "weights of edges", err);
    p->filter = ARENA_TAKE(memory, uint64_t, bits / 64, err);
    if (!p->slot || !p->filter)
        return false;
    for (uint64_t i = 0; i < features; i++)
        if (weight[column[i]] != 0 && key[i] && !put(p, key[i], weight[column[i]], err))
            return false;
    return true;
}

static bool may_have(const parser *p, uint64_t key)
{
    return p->filter[(key & p->filter_mask) >> 6] >> (key & 63) & 1;
}

static double weight_at(const parser *p, uint64_t slot, uint64_t key)
{
    while (p->slot[slot].key && p->slot[slot].key < key)
        slot++;
    return p->slot[slot].key == key ? p->slot[slot].weight : 0;
}

/* score[head[i]] += the weight of key i, in order. */
static void add_weights(const parser *p, const uint64_t *key, const uint32_t *begin, const uint32_t *end, int n,
                        double *score)
{
    uint64_t likely[TOGETHER], slot[TOGETHER];
    for (int head = 0; head <= n; head++) {
        double sum = 0;
        for (uint64_t from = begin[head]; from < end[head]; from += TOGETHER) {
            const uint64_t count = end[head] - from < TOGETHER ? end[head] - from : TOGETHER;
            uint64_t some = 0;
            for (uint64_t i = 0; i < count; i++) {
                likely[some] = key[from + i];
                some += may_have(p, key[from + i]);
            }
            for (uint64_t i = 0; i < some; i++) {
                slot[i] = slot_of(p, likely[i]);
                __builtin_prefetch(&p->slot[slot[i]]);
            }
            for (uint64_t i = 0; i < some; i++)
                sum += weight_at(p, slot[i], likely[i]);
        }
        score[head] = sum;
    }
}

static bool take_room(const parser *p, parser_room *r, uint64_t n, bda_error *err)
{
    if (n <= r->length && r->view.most <= r->most)
        return true;
    const uint64_t length = n > r->length ? n + n / 4 : r->length, most = r->view.most + 32;
    const int longest = (int)(length < TREE_LONGEST ? length : TREE_LONGEST);
    uint64_t work = p->projective ? tree_best_projective_work(longest) : tree_best_any_work(longest);
    const uint64_t sums = p->projective ? tree_sum_projective_work(longest) : tree_sum_any_work(longest);
    work = sums > work ? sums : work;
    arena_free(&r->memory);
    r->length = 0;
    r->key = ARENA_TAKE(&r->memory, uint64_t, length * most, err);
    r->begin = ARENA_TAKE(&r->memory, uint32_t, length + 1, err);
    r->end = ARENA_TAKE(&r->memory, uint32_t, length + 1, err);
    r->score = ARENA_TAKE(&r->memory, double, length *(length + 1), err);
    r->marginal = ARENA_TAKE(&r->memory, double, length *(length + 1), err);
    r->work = ARENA_TAKE(&r->memory, double, work, err);
    if (!r->key || !r->begin || !r->end || !r->score || !r->marginal || !r->work)
        return false;
    r->length = length;
    r->most = most;
    return true;
}

bool parser_parse(const parser *p, parser_room *r, const corpus *c, const word *words, uint64_t sentence,
                  uint16_t *heads, double *probability, bda_error *err)
{
    const uint64_t n = c->first[sentence + 1] - c->first[sentence];
    if (!edge_look(&p->scheme, &r->view, c, words, sentence, err) || !take_room(p, r, n, err))
        return false;
    for (uint64_t child = 1; child <= n; child++) {
        edge_keys_of_child(&p->scheme, &r->view, (int)child, r->key, r->begin, r->end);
        add_weights(p, r->key, r->begin, r->end, (int)n, r->score + (child - 1) * (n + 1));
    }
    (p->projective ? tree_best_projective : tree_best_any)((int)n, r->score, NULL, heads, r->work);
    if (probability) {
        (p->projective ? tree_sum_projective : tree_sum_any)((int)n, r->score, r->marginal, r->work);
        for (uint64_t t = 0; t < n; t++)
            probability[t] = r->marginal[t * (n + 1) + heads[t]];
    }
    return true;
}

void parser_room_free(parser_room *r)
{
    edge_view_free(&r->view);
    arena_free(&r->memory);
    *r = (parser_room){0};
}
