/* relation.c - see relation.h. */
#include "sentence/relation.h"

#include "sentence/key.h"

/* The numbers are part of model files: new templates go to the end. */
enum template_name { ALONE = 0x800, WITH_HEAD = 0x840, CHILDREN = 0x880, SIBLINGS = 0x8A0, ABOVE = 0x8C0 };

enum { FIXED = 72, OF_A_CHILD = 4, OF_A_SIBLING = 3 };

#define NAME(number) key_mix((uint64_t)(number) << 24)

typedef struct ends {
    const edge_token *h, *c;
    const word *word; /* of the child */
    uint64_t way;     /* direction and distance */
    uint64_t side;    /* direction */
} ends;

static const edge_token *token_of(const relation_view *v, uint64_t number)
{
    return v->edge.token + 1 + number; /* 0: the root */
}

static uint64_t *child_keys(const ends *e, uint64_t *k)
{
    const edge_token *c = e->c;
    const word *w = e->word;
    *k++ = NAME(ALONE);
    *k++ = key1(NAME(ALONE + 1), c->tag);
    *k++ = key1(NAME(ALONE + 2), c->fine);
    *k++ = key1(NAME(ALONE + 3), c->word);
    *k++ = key1(NAME(ALONE + 4), w->lower);
    *k++ = key2(NAME(ALONE + 5), w->lower, c->tag);
    *k++ = key2(NAME(ALONE + 6), w->ending, c->tag);
    for (int i = -1; i <= 1; i += 2) {
        *k++ = key2(NAME(ALONE + 8 + i), c[i].tag, c->tag);
        *k++ = key2(NAME(ALONE + 11 + i), c[i].word, c->tag);
        *k++ = key2(NAME(ALONE + 14 + i), c[i].fine, c->fine);
    }
    return k;
}

static uint64_t *head_keys(const ends *e, uint64_t *k)
{
    const edge_token *h = e->h, *c = e->c;
    *k++ = key1(NAME(WITH_HEAD), e->way);
    *k++ = key1(NAME(WITH_HEAD + 1), h->tag);
    *k++ = key1(NAME(WITH_HEAD + 2), h->word);
    *k++ = key1(NAME(WITH_HEAD + 3), h->fine);
    *k++ = key2(NAME(WITH_HEAD + 4), h->word, c->word);
    *k++ = key3(NAME(WITH_HEAD + 5), h->word, c->word, e->side);
    *k++ = key3(NAME(WITH_HEAD + 6), h->fine, c->fine, e->side);
    *k++ = key3(NAME(WITH_HEAD + 7), h->fine, c->fine, e->way);
    *k++ = key3(NAME(WITH_HEAD + 8), h->tag, c->word, e->side);
    *k++ = key3(NAME(WITH_HEAD + 9), h->tag, c->word, e->way);
    *k++ = key3(NAME(WITH_HEAD + 10), h->word, c->tag, e->side);
    *k++ = key3(NAME(WITH_HEAD + 11), h->word, c->fine, e->side);
    *k++ = key3(NAME(WITH_HEAD + 12), h->tag, c->tag, e->side);
    *k++ = key3(NAME(WITH_HEAD + 13), h->tag, c->tag, e->way);
    *k++ = key3(NAME(WITH_HEAD + 14), e->word->ending, h->tag, e->side);
    for (int i = -1; i <= 1; i += 2) {
        *k++ = key4(NAME(WITH_HEAD + 16 + i), c[i].tag, c->tag, h->tag, e->side);
        *k++ = key4(NAME(WITH_HEAD + 19 + i), h[i].tag, c->tag, h->tag, e->side);
        *k++ = key3(NAME(WITH_HEAD + 22 + i), c[i].word, c->tag, h->tag);
    }
    return k;
}

static uint64_t *children_keys(const relation_view *v, const ends *e, uint64_t number, uint64_t *k)
{
    uint64_t count = 0, leftmost = v->child[number], rightmost = 0;
    for (uint64_t i = leftmost; i; i = v->next[i], count++) {
        const edge_token *d = token_of(v, i);
        const uint64_t side = key_mix(i < number);
        *k++ = key3(NAME(CHILDREN), d->tag, e->c->tag, side);
        *k++ = key3(NAME(CHILDREN + 1), d->word, e->c->tag, side);
        *k++ = key4(NAME(CHILDREN + 2), d->tag, e->c->tag, e->h->tag, e->side);
        *k++ = key4(NAME(CHILDREN + 3), d->word, e->c->tag, e->h->tag, e->side);
        rightmost = i;
    }
    const uint64_t bin = key_mix(count < 3 ? count : 3);
    *k++ = key2(NAME(CHILDREN + 4), bin, e->c->tag);
    *k++ = key4(NAME(CHILDREN + 5), bin, e->c->tag, e->h->tag, e->side);
    if (count == 0)
        return k;
    const edge_token *l = token_of(v, leftmost), *r = token_of(v, rightmost);
    *k++ = key2(NAME(CHILDREN + 6), l->tag, e->c->tag);
    *k++ = key2(NAME(CHILDREN + 7), r->tag, e->c->tag);
    *k++ = key3(NAME(CHILDREN + 8), l->word, e->c->word, e->h->tag);
    *k++ = key3(NAME(CHILDREN + 9), l->word, e->c->tag, e->h->word);
    *k++ = key3(NAME(CHILDREN + 10), l->fine, r->fine, e->c->fine);
    return k;
}

static uint64_t *sibling_keys(const relation_view *v, const ends *e, uint64_t number, uint64_t head, uint64_t *k)
{
    uint64_t before = 0, behind = 0;
    for (uint64_t i = v->child[head]; i; i = v->next[i]) {
        if (i == number)
            continue;
        const edge_token *d = token_of(v, i);
        const uint64_t place = key_mix((i < number) + 2 * (uint64_t)(i < head));
        *k++ = key4(NAME(SIBLINGS), d->tag, e->c->tag, e->h->tag, place);
        *k++ = key4(NAME(SIBLINGS + 1), d->word, e->c->tag, e->h->tag, place);
        *k++ = key4(NAME(SIBLINGS + 2), d->fine, e->c->word, e->h->tag, place);
        before = i < number ? i : before;
        behind = i > number && !behind ? i : behind;
    }
    const uint64_t none = key_mix(0x70001), b = before ? token_of(v, before)->tag : none,
                   a = behind ? token_of(v, behind)->tag : none;
    *k++ = key4(NAME(SIBLINGS + 3), b, e->c->tag, e->h->tag, e->side);
    *k++ = key4(NAME(SIBLINGS + 4), a, e->c->tag, e->h->tag, e->side);
    *k++ = key4(NAME(SIBLINGS + 5), a, b, e->c->tag, e->h->tag);
    return k;
}

static uint64_t *above_keys(const relation_view *v, const ends *e, uint64_t head, uint64_t *k)
{
    if (head == 0)
        return k;
    const uint64_t grand = v->heads[head - 1];
    const edge_token *g = token_of(v, grand);
    const uint64_t sides = key_mix((head < grand) + 0x100) + e->side;
    *k++ = key3(NAME(ABOVE), g->tag, e->h->tag, e->c->tag);
    *k++ = key4(NAME(ABOVE + 1), g->tag, e->h->tag, e->c->tag, sides);
    *k++ = key4(NAME(ABOVE + 2), g->tag, e->h->word, e->c->tag, sides);
    *k++ = key3(NAME(ABOVE + 3), g->word, e->h->tag, e->c->tag);
    return k;
}

uint64_t relation_keys(const relation_view *v, uint64_t t, uint64_t *key)
{
    const uint64_t number = t + 1, head = v->heads[t], distance = head < number ? number - head : head - number;
    const uint64_t bin = distance < 5 ? distance : distance < 11 ? 5 : 6, right = head < number;
    const ends e = {token_of(v, head), token_of(v, number), &v->words[v->corpus->id[CONLLU_FORM][v->first + t]],
                    key_mix(0x71000 + 2 * bin + right), key_mix(0x72000 + right)};
    uint64_t *k = head_keys(&e, child_keys(&e, key));
    k = above_keys(v, &e, head, k);
    k = sibling_keys(v, &e, number, head, children_keys(v, &e, number, k));
    return (uint64_t)(k - key);
}

/* ---- a sentence ---------------------------------------------------------------------------------------------------- */

static bool take_room(relation_view *v, uint64_t n, bda_error *err)
{
    if (n + 1 <= v->room)
        return true;
    arena_free(&v->memory);
    v->room = 0;
    v->child = ARENA_TAKE(&v->memory, uint16_t, 2 * (n + 1), err);
    v->next = ARENA_TAKE(&v->memory, uint16_t, 2 * (n + 1), err);
    if (!v->child || !v->next)
        return false;
    v->room = 2 * (n + 1);
    return true;
}

bool relation_look(const edge_scheme *s, relation_view *v, const corpus *c, const word *words, uint64_t sentence,
                   const uint16_t *heads, bda_error *err)
{
    const uint64_t n = c->first[sentence + 1] - c->first[sentence];
    if (!edge_look(s, &v->edge, c, words, sentence, err) || !take_room(v, n, err))
        return false;
    v->corpus = c;
    v->words = words;
    v->first = c->first[sentence];
    v->heads = heads;
    for (uint64_t i = 0; i <= n; i++)
        v->child[i] = 0;
    uint64_t most = 0;
    for (uint64_t i = n; i > 0; i--) { /* from the last, so that children are in order */
        v->next[i] = v->child[heads[i - 1]];
        v->child[heads[i - 1]] = (uint16_t)i;
    }
    for (uint64_t i = 0; i <= n; i++) {
        uint64_t children = 0;
        for (uint64_t k = v->child[i]; k; k = v->next[k])
            children++;
        most = children > most ? children : most;
    }
    v->most = FIXED + (OF_A_CHILD + OF_A_SIBLING) * most;
    return true;
}

void relation_view_free(relation_view *v)
{
    edge_view_free(&v->edge);
    arena_free(&v->memory);
    *v = (relation_view){0};
}
