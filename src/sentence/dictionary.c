/* dictionary.c - see dictionary.h. */
#include "sentence/dictionary.h"

#include "sentence/key.h"

#include <stdlib.h>
#include <string.h>

/* What a column is made of: a key, or the sum of the hashes of its rows. */
typedef struct group {
    uint64_t name;
    uint32_t count, number; /* number: of the feature, among those of the rank that asks */
} group;

typedef struct answer {
    uint32_t column, members;
} answer;

/* ---- messages of equal items, to the ranks that own them ---------------------------------------------------------- */

typedef struct post {
    int size;
    uint64_t *out, *in; /* [size] bytes to and from each rank */
    uint64_t items;     /* that come in */
} post;

static bool post_open(post *p, comm *c, arena *memory, bda_error *err)
{
    *p = (post){.size = bda_comm_size(c)};
    p->out = ARENA_TAKE(memory, uint64_t, (uint64_t)p->size, err);
    p->in = ARENA_TAKE(memory, uint64_t, (uint64_t)p->size, err);
    return comm_agree(c, p->out && p->in, err);
}

/* After `out` has been filled: how much comes in. */
static void post_count(post *p, comm *c, uint64_t item)
{
    comm_exchange_counts(c, p->out, p->in);
    p->items = 0;
    for (int r = 0; r < p->size; r++)
        p->items += p->in[r] / item;
}

static void post_scale(post *p, uint64_t from, uint64_t to)
{
    for (int r = 0; r < p->size; r++) {
        p->out[r] = p->out[r] / from * to;
        p->in[r] = p->in[r] / from * to;
    }
}

/* Sends answers back the way that the questions came. */
static void post_back(const post *p, comm *c, const void *answers, void *to)
{
    comm_exchange(c, answers, p->in, to, p->out);
}

/* ---- numbering ----------------------------------------------------------------------------------------------------- */

/* How many columns have a count. */
typedef struct tier {
    uint64_t count, columns, next;
} tier;

static int by_count_falling(const void *a, const void *b)
{
    uint64_t x = ((const tier *)a)->count, y = ((const tier *)b)->count;
    return (x < y) - (x > y);
}

static tier *find_tier(tier *list, uint64_t tiers, uint64_t count)
{
    tier wanted = {.count = count};
    return bsearch(&wanted, list, tiers, sizeof *list, by_count_falling);
}

static int numbers_falling(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x < y) - (x > y);
}

/* The tiers of this rank's columns, of the largest count first. count: [columns] */
static tier *take_tiers(const uint32_t *count, uint64_t columns, uint64_t *tiers, arena *memory, bda_error *err)
{
    enum { COMMON = 1 << 16 };
    arena temporary = {0};
    uint64_t *often = ARENA_TAKE(&temporary, uint64_t, COMMON, err), large = 0, used = 0;
    for (uint64_t i = 0; often && i < columns; i++)
        if (count[i] < COMMON)
            often[count[i]]++;
        else
            large++;
    uint32_t *rest = ARENA_TAKE(&temporary, uint32_t, large + 1, err);
    tier *list = ARENA_TAKE(memory, tier, large + COMMON, err);
    if (often && rest && list) {
        for (uint64_t i = 0, k = 0; i < columns; i++)
            if (count[i] >= COMMON)
                rest[k++] = count[i];
        qsort(rest, large, sizeof *rest, numbers_falling);
        for (uint64_t k = 0; k < large; k++) {
            if (used == 0 || list[used - 1].count != rest[k])
                list[used++] = (tier){.count = rest[k]};
            list[used - 1].columns++;
        }
        for (uint64_t k = COMMON; k-- > 0;)
            if (often[k])
                list[used++] = (tier){.count = k, .columns = often[k]};
    }
    *tiers = used;
    bool ok = often && rest && list;
    arena_free(&temporary);
    return ok ? list : NULL;
}

/* Where the numbers of this rank's tiers begin, among those of all ranks: behind all columns of larger counts, and of
 * lower ranks with the same. Every rank gets all tiers: counts are few. */
static bool place_tiers(comm *c, tier *mine, uint64_t tiers, uint64_t *columns, bda_error *err)
{
    const int size = bda_comm_size(c), rank = bda_comm_rank(c);
    arena memory = {0};
    post p;
    bool ok = post_open(&p, c, &memory, err);
    tier *copies = ok ? ARENA_TAKE(&memory, tier, tiers * (uint64_t)size + 1, err) : NULL;
    ok = ok && comm_agree(c, copies != NULL, err);
    if (ok) {
        for (int r = 0; r < size; r++) {
            memcpy(copies + (uint64_t)r * tiers, mine, tiers * sizeof *mine);
            p.out[r] = tiers * sizeof *mine;
        }
        post_count(&p, c, sizeof *mine);
    }
    tier *all = ok ? ARENA_TAKE(&memory, tier, p.items + 1, err) : NULL;
    ok = ok && comm_agree(c, all != NULL, err);
    if (ok) {
        comm_exchange(c, copies, p.out, all, p.in);
        tier *t = all;
        *columns = 0;
        for (int r = 0; r < size; r++)
            for (uint64_t left = p.in[r] / sizeof *t; left > 0; left--, t++) {
                *columns += t->columns;
                for (uint64_t k = 0; k < tiers; k++) /* those behind t in this rank's list */
                    if (mine[k].count < t->count || (mine[k].count == t->count && r < rank))
                        mine[k].next += t->columns;
            }
    }
    arena_free(&memory);
    return ok;
}

/* column: [columns] by falling count; equal counts in the order they are in, lower ranks first. */
static bool number_columns(comm *c, const uint32_t *count, uint64_t mine, uint32_t *column, uint64_t *columns,
                           bda_error *err)
{
    arena memory = {0};
    uint64_t tiers = 0;
    tier *list = take_tiers(count, mine, &tiers, &memory, err);
    bool ok = comm_agree(c, list != NULL, err) && place_tiers(c, list, tiers, columns, err);
    if (ok && *columns > DICTIONARY_MOST)
        ok = err_set(err, BDA_FAILED, "there are %llu different features, and columns are numbered up to %llu",
                     (unsigned long long)*columns, (unsigned long long)DICTIONARY_MOST);
    for (uint64_t i = 0; ok && i < mine; i++)
        column[i] = (uint32_t)find_tier(list, tiers, count[i])->next++;
    arena_free(&memory);
    return ok;
}

/* ---- columns of several features --------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    const group *x = a, *y = b;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

typedef struct asked {
    uint64_t name;
    uint32_t count, place; /* place: among the questions */
} asked;

static int by_name_asked(const void *a, const void *b)
{
    const asked *x = a, *y = b;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    if (x->count != y->count)
        return x->count < y->count ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

/* Equal names with equal counts are one column. Answers in the order of the questions. */
static bool answer_groups(comm *c, asked *question, uint64_t questions, answer *answers, uint64_t *columns,
                          bda_error *err)
{
    arena memory = {0};
    uint32_t *count = ARENA_TAKE(&memory, uint32_t, questions + 1, err);
    uint32_t *column = ARENA_TAKE(&memory, uint32_t, questions + 1, err);
    uint32_t *members = ARENA_TAKE(&memory, uint32_t, questions + 1, err);
    bool ok = comm_agree(c, count && column && members, err);
    uint64_t groups = 0;
    if (ok) {
        qsort(question, questions, sizeof *question, by_name_asked);
        for (uint64_t i = 0; i < questions; i++) {
            if (i == 0 || question[i].name != question[i - 1].name || question[i].count != question[i - 1].count)
                count[groups++] = question[i].count;
            members[groups - 1]++;
        }
        ok = number_columns(c, count, groups, column, columns, err);
    }
    for (uint64_t i = 0, g = 0, seen = 0; ok && i < questions; i++) {
        answers[question[i].place] = (answer){column[g], members[g]};
        if (++seen == members[g]) {
            g++;
            seen = 0;
        }
    }
    arena_free(&memory);
    return ok;
}

/* Answers, for this rank's own features, by the owners of the sums. */
static bool merge_columns(comm *c, group *g, uint64_t groups, answer *found, uint64_t *columns, bda_error *err)
{
    arena memory = {0};
    post p;
    bool ok = post_open(&p, c, &memory, err);
    if (ok) {
        qsort(g, groups, sizeof *g, by_name);
        for (uint64_t i = 0; i < groups; i++)
            p.out[key_part(g[i].name, (uint64_t)p.size)] += sizeof *g;
        post_count(&p, c, sizeof *g);
        if (p.items > UINT32_MAX)
            ok = err_set(err, BDA_FAILED, "there are too many different features for %d ranks", p.size);
    }
    group *in = ok ? ARENA_TAKE(&memory, group, p.items + 1, err) : NULL;
    asked *question = ok ? ARENA_TAKE(&memory, asked, p.items + 1, err) : NULL;
    answer *answers = ok ? ARENA_TAKE(&memory, answer, p.items + 1, err) : NULL;
    answer *mine = ok ? ARENA_TAKE(&memory, answer, groups + 1, err) : NULL;
    ok = comm_agree(c, in && question && answers && mine, err);
    if (ok) {
        comm_exchange(c, g, p.out, in, p.in);
        for (uint64_t i = 0; i < p.items; i++)
            question[i] = (asked){in[i].name, in[i].count, (uint32_t)i};
        ok = answer_groups(c, question, p.items, answers, columns, err);
    }
    if (ok) {
        post_scale(&p, sizeof *g, sizeof *answers);
        post_back(&p, c, answers, mine);
        for (uint64_t i = 0; i < groups; i++)
            found[g[i].number] = mine[i];
    }
    arena_free(&memory);
    return ok;
}

/* ---- owners of keys ------------------------------------------------------------------------------------------------ */

/* The features that this rank owns: counts of all ranks. */
typedef struct owned {
    uint64_t *key, *sum;
    uint32_t *count;
    answer *answers;
    uint64_t features;
    arena memory;
} owned;

static bool take_counts(key_counts *k, owned *o, bda_error *err)
{
    const uint64_t n = counts_keys(k) + 1;
    o->features = n - 1;
    o->key = ARENA_TAKE(&o->memory, uint64_t, n, err);
    o->count = ARENA_TAKE(&o->memory, uint32_t, n, err);
    o->sum = k->sums ? ARENA_TAKE(&o->memory, uint64_t, n, err) : NULL;
    if (!o->key || !o->count || (k->sums && !o->sum))
        return false;
    counts_take(k, o->key, o->count, o->sum);
    return true;
}

/* One array of all ranks' own, to the owners. */
static void *send(comm *c, post *p, const void *from, uint64_t before, uint64_t item, arena *memory, bda_error *err)
{
    post_scale(p, before, item);
    void *in = arena_take(memory, p->items + 1, item, "features", err);
    if (!comm_agree(c, in != NULL, err))
        return NULL;
    comm_exchange(c, from, p->out, in, p->in);
    return in;
}

/* Adds up what all ranks have counted of this rank's own keys. in: the keys that came, in the order they came. */
static bool add_up(comm *c, post *p, const owned *mine, uint64_t **in, owned *o, arena *memory, bda_error *err)
{
    key_counts all = {0};
    uint32_t *count = NULL;
    uint64_t *sum = NULL;
    for (uint64_t i = 0; i < mine->features; i++)
        p->out[key_part(mine->key[i], (uint64_t)p->size)] += sizeof *mine->key;
    post_count(p, c, sizeof *mine->key);
    bool ok = (*in = send(c, p, mine->key, 8, 8, memory, err)) &&
              (count = send(c, p, mine->count, 8, 4, memory, err)) &&
              (!mine->sum || (sum = send(c, p, mine->sum, 4, 8, memory, err)));
    if (ok) {
        ok = counts_open(&all, 1, sum != NULL, p->items, err) &&
             counts_add(&all, 0, *in, sum, count, p->items, err) && take_counts(&all, o, err) &&
             (o->answers = ARENA_TAKE(&o->memory, answer, o->features + 1, err));
        ok = comm_agree(c, ok, err);
    }
    counts_free(&all);
    post_scale(p, sum ? 8 : 4, 1); /* in items */
    return ok;
}

/* Columns of the features that are frequent enough. */
static bool number_owned(comm *c, owned *o, uint64_t min_count, dictionary *d, bda_error *err)
{
    arena memory = {0};
    group *g = arena_take(&memory, o->features + 1, sizeof *g, "features", err);
    uint32_t *count = ARENA_TAKE(&memory, uint32_t, o->features + 1, err), *column = NULL;
    if (count)
        column = ARENA_TAKE(&memory, uint32_t, o->features + 1, err);
    bool ok = comm_agree(c, g && count && column, err);
    uint64_t kept = 0, sums[2];
    for (uint64_t i = 0; ok && i < o->features; i++) {
        o->answers[i] = (answer){DICTIONARY_NONE, 0};
        if (o->count[i] < min_count)
            continue;
        g[kept] = (group){o->sum ? o->sum[i] : o->key[i], o->count[i], (uint32_t)i};
        count[kept++] = o->count[i];
    }
    if (ok && o->sum)
        ok = merge_columns(c, g, kept, o->answers, &d->columns, err);
    else if (ok && (ok = number_columns(c, count, kept, column, &d->columns, err)))
        for (uint64_t i = 0; i < kept; i++)
            o->answers[g[i].number] = (answer){column[i], 1};
    sums[0] = kept;
    sums[1] = o->features - kept;
    if (ok) {
        comm_sum_counts(c, sums, 2);
        d->features = sums[0];
        d->dropped = sums[1];
        d->merged = d->features > d->columns;
    }
    arena_free(&memory);
    return ok;
}

/* Tells every rank the columns of its keys. in: the questions of all ranks. */
static bool answer_all(comm *c, post *p, const owned *o, const uint64_t *in, const owned *mine, dictionary *d,
                       bda_error *err)
{
    arena memory = {0};
    answer *out = ARENA_TAKE(&memory, answer, p->items + 1, err);
    answer *back = ARENA_TAKE(&memory, answer, mine->features + 1, err);
    d->key = ARENA_TAKE(&d->memory, uint64_t, mine->features + 1, err);
    d->column = ARENA_TAKE(&d->memory, uint32_t, mine->features + 1, err);
    d->members = ARENA_TAKE(&d->memory, uint32_t, mine->features + 1, err);
    bool ok = comm_agree(c, out && back && d->key && d->column && d->members, err);
    if (ok) {
        uint64_t i = 0;
        for (int r = 0; r < p->size; r++) /* each rank's questions are in order, as the features owned are */
            for (uint64_t left = p->in[r], at = 0; left > 0; left--, i++) {
                while (o->key[at] != in[i])
                    at++;
                out[i] = o->answers[at];
            }
        post_scale(p, 1, sizeof *out);
        post_back(p, c, out, back);
        d->count = mine->features;
        memcpy(d->key, mine->key, mine->features * sizeof *d->key);
        for (uint64_t k = 0; k < mine->features; k++) {
            d->column[k] = back[k].column;
            d->members[k] = back[k].members;
        }
    }
    arena_free(&memory);
    return ok;
}

static bool keep_owned(const owned *o, dictionary *d, bda_error *err)
{
    d->own_key = ARENA_TAKE(&d->memory, uint64_t, o->features + 1, err);
    d->own_column = ARENA_TAKE(&d->memory, uint32_t, o->features + 1, err);
    if (!d->own_key || !d->own_column)
        return false;
    for (uint64_t i = 0; i < o->features; i++)
        if (o->answers[i].column != DICTIONARY_NONE) {
            d->own_key[d->owned] = o->key[i];
            d->own_column[d->owned++] = o->answers[i].column;
        }
    return true;
}

bool dictionary_make(comm *c, key_counts *k, uint64_t min_count, dictionary *d, bda_error *err)
{
    owned mine = {0}, own = {0};
    arena memory = {0};
    post p;
    uint64_t *in = NULL;
    *d = (dictionary){0};
    bool ok = post_open(&p, c, &memory, err) && comm_agree(c, take_counts(k, &mine, err), err) &&
              add_up(c, &p, &mine, &in, &own, &memory, err) && number_owned(c, &own, min_count, d, err) &&
              answer_all(c, &p, &own, in, &mine, d, err) && comm_agree(c, keep_owned(&own, d, err), err);
    counts_free(k);
    arena_free(&mine.memory);
    arena_free(&own.memory);
    arena_free(&memory);
    return ok;
}

void dictionary_free(dictionary *d)
{
    arena_free(&d->memory);
    *d = (dictionary){0};
}

static void append(void *self, const void *bytes, uint64_t count)
{
    char **to = self;
    memcpy(*to, bytes, count);
    *to += count;
}

/* An array of every rank, one behind the other, on all of them. */
static void *gather(comm *c, const void *mine, uint64_t count, uint64_t item, uint64_t all, arena *memory,
                    bda_error *err)
{
    char *to = arena_take(memory, all + 1, item, "features", err), *at = to;
    if (!comm_agree(c, to != NULL, err))
        return NULL;
    comm_collect(c, mine, count * item, append, &at);
    comm_broadcast(c, 0, to, all * item);
    return to;
}

bool dictionary_gather(comm *c, const dictionary *d, arena *memory, uint64_t **key, uint32_t **column, bda_error *err)
{
    *key = gather(c, d->own_key, d->owned, sizeof **key, d->features, memory, err);
    *column = *key ? gather(c, d->own_column, d->owned, sizeof **column, d->features, memory, err) : NULL;
    return *column != NULL;
}
