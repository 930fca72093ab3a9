/* folds.c - see folds.h. The folds depend on the data alone, not on how many ranks hold them. */
#include "run/folds.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "data/lines.h"
#include "run/settings.h"

/* ---- in turn ------------------------------------------------------------------------------------------------- */

/* to: [classes] the turn that the first of this rank's instances of each class has. The classes follow one another, so
 * that not all of them begin with the first fold. table: [size][classes] */
static void first_turns(comm *c, const data *d, const uint32_t *class, uint64_t classes, uint64_t *table,
                        uint64_t *to)
{
    const int size = bda_comm_size(c), rank = bda_comm_rank(c);
    memset(table, 0, (uint64_t)size * classes * sizeof *table);
    for (uint64_t i = 0; i < d->units; i++)
        table[(uint64_t)rank * classes + (class ? class[i] : 0)]++;
    comm_sum_long(c, table, (uint64_t)size * classes);
    uint64_t before = 0;
    for (uint64_t k = 0; k < classes; k++) {
        to[k] = before;
        for (int r = 0; r < size; r++) {
            const uint64_t count = table[(uint64_t)r * classes + k];
            to[k] += r < rank ? count : 0;
            before += count;
        }
    }
}

bool folds_in_turn(comm *c, const data *d, uint64_t folds, bool stratified, uint32_t *fold, bda_error *err)
{
    const uint32_t *class = stratified ? d->target.class : NULL;
    const uint64_t classes = class ? d->labels.count : 1;
    arena memory = {0};
    uint64_t *table = ARENA_TAKE(&memory, uint64_t, (uint64_t)bda_comm_size(c) * classes, err);
    uint64_t *turn = ARENA_TAKE(&memory, uint64_t, classes, err);
    const bool ok = comm_agree(c, table && turn, err);
    if (ok)
        first_turns(c, d, class, classes, table, turn);
    for (uint64_t i = 0; ok && i < d->units; i++)
        fold[i] = (uint32_t)(turn[class ? class[i] : 0]++ % folds);
    arena_free(&memory);
    return ok;
}

/* ---- by groups ----------------------------------------------------------------------------------------------- */

/* An instance, its group, and later the size of that. */
typedef struct member {
    uint64_t group, instance, size, first; /* group: a hash of its word; first: its first instance */
} member;

static int by_group(const void *a, const void *b)
{
    const member *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return x->instance < y->instance ? -1 : x->instance > y->instance;
}

/* The largest groups first, of equals the one that occurs first; members of a group beside each other. */
static int by_size(const void *a, const void *b)
{
    const member *x = a, *y = b;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return x->instance < y->instance ? -1 : x->instance > y->instance;
}

/* FNV-1a */
static uint64_t hash_of(const char *text, uint64_t length)
{
    uint64_t hash = 14695981039346656037u;
    for (uint64_t k = 0; k < length; k++)
        hash = (hash ^ (unsigned char)text[k]) * 1099511628211u;
    return hash;
}

static bool read_groups(const char *path, uint64_t instances, member *to, bda_error *err)
{
    source s = {0};
    lines l = {0};
    const char *text = NULL;
    uint64_t length = 0, offset, count = 0;
    bool ok = source_open(&s, path, err) && lines_open(&l, &s, LINES_ONE, 0, UINT64_MAX, err);
    while (ok && (ok = lines_next(&l, &text, &length, &offset, err)) && length > 0)
        for (const char *p = text, *end; p < text + length; p = end + 1) {
            end = rawmemchr(p, '\n');
            uint64_t word = (uint64_t)(end - p);
            while (word > 0 && (lines_is_blank(p[word - 1]) || p[word - 1] == '\r'))
                word--;
            if (count < instances)
                to[count] = (member){.group = hash_of(p, word), .instance = count};
            count++;
        }
    lines_close(&l);
    source_close(&s);
    return ok &&
           (count == instances || err_set(err, BDA_FAILED, "%.400s has %llu lines, and there are %llu instances",
                                          path, (unsigned long long)count, (unsigned long long)instances));
}

/* all: [instances] the fold of each; load: [folds] */
static void deal(member *m, uint64_t instances, uint64_t folds, uint64_t *load, uint32_t *all)
{
    qsort(m, instances, sizeof *m, by_group);
    for (uint64_t i = 0, end; i < instances; i = end) {
        for (end = i + 1; end < instances && m[end].group == m[i].group; end++)
            ;
        for (uint64_t k = i; k < end; k++) {
            m[k].size = end - i;
            m[k].first = m[i].instance;
        }
    }
    qsort(m, instances, sizeof *m, by_size);
    for (uint64_t i = 0; i < instances; i += m[i].size) {
        uint64_t least = 0;
        for (uint64_t f = 1; f < folds; f++)
            least = load[f] < load[least] ? f : least;
        load[least] += m[i].size;
        for (uint64_t k = i; k < i + m[i].size; k++)
            all[m[k].instance] = (uint32_t)least;
    }
}

static bool deal_groups(const data *d, uint64_t folds, const char *path, uint32_t *all, bda_error *err)
{
    arena memory = {0};
    member *m = ARENA_TAKE(&memory, member, d->instances, err);
    uint64_t *load = ARENA_TAKE(&memory, uint64_t, folds, err);
    bool ok = m && load && read_groups(path, d->instances, m, err);
    if (ok) {
        memset(load, 0, folds * sizeof *load);
        deal(m, d->instances, folds, load, all);
        for (uint64_t f = 0; ok && f < folds; f++)
            ok = load[f] > 0 || err_set(err, BDA_FAILED, "%.400s has fewer groups than --folds=%llu", path,
                                        (unsigned long long)folds);
    }
    arena_free(&memory);
    return ok;
}

bool folds_by_groups(comm *c, const data *d, uint64_t folds, const char *path, uint32_t *fold, bda_error *err)
{
    arena memory = {0};
    uint32_t *all = ARENA_TAKE(&memory, uint32_t, d->instances, err);
    bool ok = comm_agree(c, all != NULL, err) &&
              comm_agree(c, bda_comm_rank(c) > 0 || deal_groups(d, folds, path, all, err), err);
    if (ok) {
        comm_broadcast(c, 0, all, d->instances * sizeof *all);
        memcpy(fold, all + d->first_instance, d->units * sizeof *fold);
    }
    arena_free(&memory);
    return ok;
}

/* ---- the public functions --------------------------------------------------------------------------------------- */

struct bda_folds {
    const data *data;
    uint64_t folds, blocks; /* blocks: as asked for, of each part */
    uint32_t *fold;         /* [units] */
    uint8_t *keep;          /* [units] work space */
    arena memory;
};

bda_folds *bda_folds_new(bda_comm *c, const bda_data *d, const bda_settings *s, bda_error *err)
{
    err_clear(err);
    if (!settings_are_of(s, "select", err) || !settings_suit_labels(s, d, err))
        return NULL;
    const uint64_t folds = (uint64_t)s->folds;
    if (d->unit_row) {
        err_set(err, BDA_USAGE, "%s: sentences are not cut into folds; rows of features are", d->name);
        return NULL;
    }
    if (d->instances < folds) {
        err_set(err, BDA_FAILED, "%s has %llu instances, fewer than --folds=%llu", d->name,
                (unsigned long long)d->instances, (unsigned long long)folds);
        return NULL;
    }
    bda_folds *f = calloc(1, sizeof *f);
    bool ok = f != NULL;
    if (ok) {
        *f = (bda_folds){.data = d, .folds = folds, .blocks = settings_blocks(s, bda_comm_size(c))};
        f->fold = ARENA_TAKE(&f->memory, uint32_t, d->units, err);
        f->keep = ARENA_TAKE(&f->memory, uint8_t, d->units, err);
        ok = f->fold && f->keep;
    } else {
        err_memory(err, sizeof *f, "folds");
    }
    ok = comm_agree(c, ok, err);
    if (ok)
        ok = s->groups[0] ? folds_by_groups(c, d, folds, s->groups, f->fold, err)
                          : folds_in_turn(c, d, folds, strcmp(s->task, "classify") == 0, f->fold, err);
    if (!ok) {
        bda_folds_free(f);
        return NULL;
    }
    return f;
}

bda_data *bda_folds_data(bda_comm *c, const bda_folds *f, uint64_t fold, bool held_out, bda_error *err)
{
    err_clear(err);
    for (uint64_t i = 0; i < f->data->units; i++)
        f->keep[i] = (f->fold[i] == fold) == held_out;
    return data_subset(c, f->data, f->keep, f->blocks, err);
}

const data *folds_whole(const bda_folds *f)
{
    return f->data;
}

const uint32_t *folds_of_rows(const bda_folds *f)
{
    return f->fold;
}

uint64_t folds_count(const bda_folds *f)
{
    return f->folds;
}

void bda_folds_free(bda_folds *f)
{
    if (!f)
        return;
    arena_free(&f->memory);
    free(f);
}
