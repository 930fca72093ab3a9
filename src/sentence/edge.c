/* edge.c - see edge.h. Every feature comes twice, with the direction and with the binned distance too. */
#include "sentence/edge.h"

#include "sentence/key.h"

#include <string.h>

/* The numbers are part of model files: new templates go to the end of a group. */
enum template_name {
    SINGLE = 0x100, /* head or child alone: 6 */
    PAIR = 0x110,   /* head and child: 7 */
    STEM = 0x20,    /* added to both: with stems in place of words */
    AROUND = 0x140, /* neighbours' tags: 4 of four, 8 of three */
    BETWEEN = 0x150,
    FINE = 0x100, /* added to all: with fine tags */
    EXTRA = 0x300,
};

enum {
    FIXED = 168,
    COUNTED = 3,
    FARTHEST = 30
}; /* keys of an edge but those between; counts and distances end there */

#define NAME(number) key_mix((uint64_t)(number) << 20)

/* Strings that no text has. */
enum { IN_FRONT = 0x20001, ROOT, BEHIND, NOTHING_BETWEEN };

static int distance_bin(int distance)
{
    return distance <= 5 ? distance : distance <= 10 ? 6 : 7;
}

/* What all keys of an edge have in them. */
typedef struct edge {
    const edge_token *h, *c, *h_before, *h_behind, *c_before, *c_behind;
    uint64_t direct, distant;
    int distance;
    uint64_t *key; /* the next one */
} edge;

static inline void add(edge *e, uint64_t key)
{
    e->key[0] = key + e->direct;
    e->key[1] = key + e->distant;
    e->key += 2;
}

/* Templates of words and tags. by_word: those without words are wanted as well, and words alone. */
static inline void add_words(edge *e, uint64_t kind, uint64_t hw, uint64_t cw, uint64_t ht, uint64_t ct, bool head,
                             bool child)
{
    if (head) {
        add(e, key2(NAME(SINGLE + 1) + kind, hw, ht));
        add(e, key3(NAME(PAIR + 3) + kind, hw, ht, ct));
        add(e, key2(NAME(PAIR + 4) + kind, hw, ct));
    }
    if (child) {
        add(e, key2(NAME(SINGLE + 4) + kind, cw, ct));
        add(e, key3(NAME(PAIR + 1) + kind, ht, cw, ct));
        add(e, key2(NAME(PAIR + 5) + kind, ht, cw));
    }
    if (head || child)
        add(e, key4(NAME(PAIR + 0) + kind, hw, ht, cw, ct));
}

static inline void add_words_alone(edge *e, uint64_t kind, uint64_t hw, uint64_t cw, bool head, bool child)
{
    if (head)
        add(e, key1(NAME(SINGLE + 0) + kind, hw));
    if (child)
        add(e, key1(NAME(SINGLE + 3) + kind, cw));
    if (head || child)
        add(e, key2(NAME(PAIR + 2) + kind, hw, cw));
}

static inline void add_tags(edge *e, uint64_t kind, uint64_t ht, uint64_t ct)
{
    add(e, key1(NAME(SINGLE + 2) + kind, ht));
    add(e, key1(NAME(SINGLE + 5) + kind, ct));
    add(e, key2(NAME(PAIR + 6) + kind, ht, ct));
}

/* Tags of head and child, and of their neighbours. */
static inline void add_around(edge *e, uint64_t kind, uint64_t h, uint64_t hl, uint64_t hr, uint64_t c, uint64_t cl,
                              uint64_t cr)
{
    add(e, key4(NAME(AROUND + 0) + kind, h, hr, cl, c));
    add(e, key4(NAME(AROUND + 1) + kind, hl, h, cl, c));
    add(e, key4(NAME(AROUND + 2) + kind, h, hr, c, cr));
    add(e, key4(NAME(AROUND + 3) + kind, hl, h, c, cr));
    add(e, key3(NAME(AROUND + 4) + kind, h, hr, c));
    add(e, key3(NAME(AROUND + 5) + kind, hl, h, c));
    add(e, key3(NAME(AROUND + 6) + kind, h, cl, c));
    add(e, key3(NAME(AROUND + 7) + kind, h, c, cr));
    add(e, key3(NAME(AROUND + 8) + kind, h, hr, cl));
    add(e, key3(NAME(AROUND + 9) + kind, hl, h, cr));
    add(e, key3(NAME(AROUND + 10) + kind, hr, cl, c));
    add(e, key3(NAME(AROUND + 11) + kind, hl, c, cr));
}

static inline void add_basic(edge *e, const edge_view *v)
{
    const edge_token *h = e->h, *c = e->c;
    const uint64_t stem = key_mix(STEM);
    add_words_alone(e, 0, h->word, c->word, true, true);
    add_words(e, 0, h->word, c->word, h->tag, c->tag, true, true);
    add_tags(e, 0, h->tag, c->tag);
    add_words_alone(e, stem, h->stem, c->stem, h->longer, c->longer);
    add_words(e, stem, h->stem, c->stem, h->tag, c->tag, h->longer, c->longer);
    add_around(e, 0, h->tag, e->h_before->tag, e->h_behind->tag, c->tag, e->c_before->tag, e->c_behind->tag);
    for (int i = 0; i < v->distinct_tags; i++)
        add(e, key3(NAME(BETWEEN), h->tag, v->tags[i], c->tag));
}

static inline void add_fine(edge *e, const edge_view *v)
{
    const edge_token *h = e->h, *c = e->c;
    const uint64_t fine = key_mix(FINE);
    add_words(e, fine, h->word, c->word, h->fine, c->fine, true, true);
    add_tags(e, fine, h->fine, c->fine);
    add_around(e, fine, h->fine, e->h_before->fine, e->h_behind->fine, c->fine, e->c_before->fine, e->c_behind->fine);
    for (int i = 0; i < v->distinct_fines; i++)
        add(e, key3(NAME(BETWEEN) + fine, h->fine, v->fines[i], c->fine));
}

static uint64_t counted(uint64_t number)
{
    return key_mix(0x30000 + (number < COUNTED ? number : COUNTED));
}

static inline void add_extra(edge *e, const edge_view *v)
{
    const edge_token *h = e->h, *c = e->c;
    add(e, key3(NAME(EXTRA + 0), h->word, c->tag, e->c_behind->tag));
    add(e, key3(NAME(EXTRA + 1), h->word, e->c_before->tag, c->tag));
    add(e, key3(NAME(EXTRA + 2), h->tag, e->h_behind->tag, c->word));
    add(e, key3(NAME(EXTRA + 3), e->h_before->tag, h->tag, c->word));
    add(e, key3(NAME(EXTRA + 4), h->word, c->word, e->c_behind->tag));
    add(e, key3(NAME(EXTRA + 5), h->word, c->word, e->c_before->tag));
    add(e, key3(NAME(EXTRA + 6), e->h_before->word, h->tag, c->tag));
    add(e, key3(NAME(EXTRA + 7), e->h_behind->word, h->tag, c->tag));
    add(e, key3(NAME(EXTRA + 8), e->c_before->word, h->tag, c->tag));
    add(e, key3(NAME(EXTRA + 9), e->c_behind->word, h->tag, c->tag));
    const uint64_t marks = counted((uint64_t)v->punctuation);
    add(e, key3(NAME(EXTRA + 10), marks, h->tag, c->tag));
    add(e, key3(NAME(EXTRA + 11), marks, h->word, c->tag));
    add(e, key3(NAME(EXTRA + 12), marks, h->tag, c->word));
    add(e, key3(NAME(EXTRA + 13), counted(v->tag_count[h->tag_number]), h->tag, c->tag));
    add(e, key3(NAME(EXTRA + 14), counted(v->tag_count[c->tag_number]), h->tag, c->tag));
    const int far = e->distance < FARTHEST ? e->distance : FARTHEST;
    *e->key++ = key3(NAME(EXTRA + 15), key_mix(0x40000 + (uint64_t)far), h->tag, c->tag) + e->direct;
}

/* The keys of the edge; what is between has been walked. Returns the place behind them. */
static uint64_t *add_edge(const edge_scheme *s, const edge_view *v, int child, int head, uint64_t *key)
{
    static const edge_token between = {
        .word = NOTHING_BETWEEN * KEY_D, .tag = NOTHING_BETWEEN * KEY_C, .fine = NOTHING_BETWEEN * KEY_C};
    const edge_token *h = v->token + 1 + head, *c = v->token + 1 + child;
    const bool right = head < child;
    const int distance = right ? child - head : head - child;
    edge e = {h, c, h - 1, h + 1, c - 1, c + 1, 0, 0, distance, key};
    if (distance == 1 && right)
        e.h_behind = e.c_before = &between;
    else if (distance == 1)
        e.h_before = e.c_behind = &between;
    e.direct = key_mix(0x50000 + right);
    e.distant = key_mix(0x60000 + 2 * (uint64_t)distance_bin(distance) + right);
    add_basic(&e, v);
    if (s->groups & EDGE_FINE)
        add_fine(&e, v);
    if (s->groups & EDGE_EXTRA)
        add_extra(&e, v);
    return e.key;
}

/* ---- what is between --------------------------------------------------------------------------------------------- */

static void walk_begin(edge_view *v)
{
    memset(v->tag_count, 0, (uint64_t)(v->n + 3) * sizeof *v->tag_count);
    memset(v->fine_count, 0, (uint64_t)(v->n + 3) * sizeof *v->fine_count);
    v->distinct_tags = v->distinct_fines = v->punctuation = 0;
}

static void walk_past(edge_view *v, int token)
{
    const edge_token *t = v->token + 1 + token;
    if (v->tag_count[t->tag_number]++ == 0)
        v->tags[v->distinct_tags++] = t->tag;
    if (v->fine_count[t->fine_number]++ == 0)
        v->fines[v->distinct_fines++] = t->fine;
    v->punctuation += t->punctuation;
}

void edge_keys_of_child(const edge_scheme *s, edge_view *v, int child, uint64_t *key, uint32_t *begin, uint32_t *end)
{
    uint64_t *next = key;
    begin[child] = end[child] = 0;
    for (int side = -1; side <= 1; side += 2) {
        walk_begin(v);
        for (int head = child + side; head >= 0 && head <= v->n; head += side) {
            begin[head] = (uint32_t)(next - key);
            next = add_edge(s, v, child, head, next);
            end[head] = (uint32_t)(next - key);
            walk_past(v, head);
        }
    }
}

uint64_t edge_keys(const edge_scheme *s, edge_view *v, int child, int head, uint64_t *key)
{
    const int side = head < child ? -1 : 1;
    walk_begin(v);
    for (int t = child + side; t != head; t += side)
        walk_past(v, t);
    return (uint64_t)(add_edge(s, v, child, head, key) - key);
}

/* ---- a sentence ---------------------------------------------------------------------------------------------------- */

static bool take_room(edge_view *v, uint64_t n, bda_error *err)
{
    if (n + 3 <= v->room)
        return true;
    arena_free(&v->memory);
    *v = (edge_view){.room = 2 * (n + 3)};
    v->token = ARENA_TAKE(&v->memory, edge_token, v->room, err);
    v->tag_count = ARENA_TAKE(&v->memory, uint32_t, v->room, err);
    v->fine_count = ARENA_TAKE(&v->memory, uint32_t, v->room, err);
    v->tags = ARENA_TAKE(&v->memory, uint64_t, v->room, err);
    v->fines = ARENA_TAKE(&v->memory, uint64_t, v->room, err);
    if (v->token && v->tag_count && v->fine_count && v->tags && v->fines)
        return true;
    v->room = 0;
    return false;
}

static uint64_t hash_of(const corpus *c, int column, uint64_t token)
{
    return c->strings[column].at[c->id[column][token]].hash;
}

static edge_token special(uint64_t name)
{
    return (edge_token){.word = key_mix(name), .stem = key_mix(name), .tag = key_mix(name), .fine = key_mix(name)};
}

/* Numbers tags by where in the sentence they come first. Returns how many there are. */
static int number_tags(edge_view *v, bool fine)
{
    int distinct = 0;
    for (int i = 0; i < v->n + 3; i++) {
        edge_token *t = v->token + i;
        const uint64_t name = fine ? t->fine : t->tag;
        int k = 0;
        uint64_t *seen = fine ? v->fines : v->tags;
        while (k < distinct && seen[k] != name)
            k++;
        if (k == distinct)
            seen[distinct++] = name;
        if (fine)
            t->fine_number = (uint16_t)k;
        else
            t->tag_number = (uint16_t)k;
    }
    return distinct;
}

bool edge_look(const edge_scheme *s, edge_view *v, const corpus *c, const word *words, uint64_t sentence,
               bda_error *err)
{
    const uint64_t first = c->first[sentence], n = c->first[sentence + 1] - first;
    if (!take_room(v, n, err))
        return false;
    v->n = (int)n;
    v->token[0] = special(IN_FRONT);
    v->token[1] = special(ROOT);
    v->token[n + 2] = special(BEHIND);
    for (uint64_t i = 0; i < n; i++) {
        const word *w = &words[c->id[CONLLU_FORM][first + i]];
        edge_token *t = v->token + 2 + i;
        *t = (edge_token){.word = w->whole, .stem = w->stem ? w->stem : w->whole, .longer = w->stem != 0};
        t->tag = hash_of(c, s->tag, first + i);
        t->fine = s->groups & EDGE_FINE ? hash_of(c, s->fine, first + i) : t->tag;
        if (s->groups & EDGE_FINE && s->feats)
            t->fine = key2(0, t->fine, hash_of(c, CONLLU_FEATS, first + i));
        t->punctuation = w->flags & WORD_PUNCTUATION;
    }
    v->most = FIXED + 2 * (uint64_t)(number_tags(v, false) + number_tags(v, true));
    return true;
}

void edge_view_free(edge_view *v)
{
    arena_free(&v->memory);
    *v = (edge_view){0};
}
