/* names.c - see names.h. Rank 0 joins the sets of all ranks, sorts them and tells everybody the result as text: the
 * names one after the other, each with its final zero. */
#include "data/names.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define LEAST_ROOM 64

/* Where the name is, or where it would go. */
static uint32_t *find(const name_set *s, const char *name, uint64_t length)
{
    uint64_t k = XXH3_64bits(name, length) & (s->room - 1);
    for (; s->slot[k]; k = (k + 1) & (s->room - 1)) {
        const char *other = s->name[s->slot[k] - 1];
        if (strncmp(other, name, length) == 0 && other[length] == '\0')
            break;
    }
    return &s->slot[k];
}

static bool grow(name_set *s, bda_error *err)
{
    const uint64_t room = s->room ? s->room * 2 : LEAST_ROOM;
    const char **name = mem_resize(s->name, s->name_bytes, room / 2 * sizeof *name, "labels", err);
    if (!name)
        return false;
    s->name = name;
    s->name_bytes = room / 2 * sizeof *name;
    uint32_t *slot = mem_resize(NULL, 0, room * sizeof *slot, "labels", err);
    if (!slot)
        return false;
    memset(slot, 0, room * sizeof *slot);
    if (s->slot)
        mem_free(s->slot, s->room * sizeof *s->slot);
    s->slot = slot;
    s->room = room;
    for (uint32_t k = 0; k < s->count; k++)
        *find(s, s->name[k], strlen(s->name[k])) = k + 1;
    return true;
}

bool names_add(name_set *s, const char *name, uint64_t length, uint32_t *number, bda_error *err)
{
    if ((uint64_t)s->count * 2 >= s->room && !grow(s, err))
        return false;
    uint32_t *slot = find(s, name, length);
    if (*slot == 0) {
        char *copy = ARENA_TAKE(&s->text, char, length + 1, err);
        if (!copy)
            return false;
        memcpy(copy, name, length);
        s->name[s->count++] = copy;
        *slot = s->count;
    }
    *number = *slot - 1;
    return true;
}

void names_free(name_set *s)
{
    if (s->name)
        mem_free(s->name, s->name_bytes);
    if (s->slot)
        mem_free(s->slot, s->room * sizeof *s->slot);
    arena_free(&s->text);
    *s = (name_set){0};
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

typedef struct text {
    char *bytes;
    uint64_t used, room;
    bda_error err;
} text;

static void append(void *self, const void *bytes, uint64_t count)
{
    text *t = self;
    if (t->err.status != BDA_OK || count == 0)
        return;
    if (t->used + count > t->room) {
        const uint64_t room = 2 * (t->used + count);
        char *larger = mem_resize(t->bytes, t->room, room, "labels", &t->err);
        if (!larger)
            return;
        t->bytes = larger;
        t->room = room;
    }
    memcpy(t->bytes + t->used, bytes, count);
    t->used += count;
}

static void text_free(text *t)
{
    if (t->bytes)
        mem_free(t->bytes, t->room);
}

/* Rank 0: of the names of all ranks, the distinct ones in order, as text. */
static bool join(text *t, uint64_t most, uint64_t *count, bda_error *err)
{
    name_set all = {0};
    bool ok = true;
    uint32_t number;
    for (uint64_t at = 0; ok && at < t->used; at += strlen(t->bytes + at) + 1) {
        ok = names_add(&all, t->bytes + at, strlen(t->bytes + at), &number, err);
        if (ok && all.count > most)
            ok = err_set(err, BDA_FAILED, "there are more than %llu distinct labels", (unsigned long long)most);
    }
    t->used = 0;
    if (ok && all.count > 0)
        qsort(all.name, all.count, sizeof *all.name, by_bytes);
    for (uint32_t k = 0; ok && k < all.count; k++)
        append(t, all.name[k], strlen(all.name[k]) + 1);
    *count = all.count;
    names_free(&all);
    return ok;
}

/* The text of all ranks' names goes to everybody. */
static bool exchange(comm *c, const name_set *s, uint64_t most, text *t, uint64_t *count, bda_error *err)
{
    const bool first = bda_comm_rank(c) == 0;
    text mine = {0};
    for (uint32_t k = 0; k < s->count; k++)
        append(&mine, s->name[k], strlen(s->name[k]) + 1);
    if (mine.err.status != BDA_OK)
        *err = mine.err;
    bool ok = comm_agree(c, mine.err.status == BDA_OK, err);
    if (ok) {
        comm_collect(c, mine.bytes, mine.used, append, t);
        if (t->err.status != BDA_OK)
            *err = t->err;
        ok = comm_agree(c, !first || (t->err.status == BDA_OK && join(t, most, count, err)), err);
    }
    uint64_t about[] = {t->used, *count};
    if (ok) {
        comm_broadcast(c, 0, about, sizeof about);
        *count = about[1];
    }
    if (ok && !first) {
        t->bytes = mem_resize(NULL, 0, about[0] + 1, "labels", err);
        t->room = t->bytes ? about[0] + 1 : 0;
        t->used = about[0];
    }
    ok = ok && comm_agree(c, t->bytes || about[0] == 0, err);
    if (ok)
        comm_broadcast(c, 0, t->bytes, about[0]);
    text_free(&mine);
    return ok;
}

bool names_agree(comm *c, const name_set *s, uint64_t most, label_table *table, uint32_t *class, arena *memory,
                 bda_error *err)
{
    text t = {0};
    arena temporary = {0};
    uint64_t count = 0;
    bool ok = exchange(c, s, most, &t, &count, err);
    if (ok) {
        const char **name = ARENA_TAKE(&temporary, const char *, count + 1, err);
        const char *at = t.bytes;
        for (uint64_t k = 0; name && k < count; k++, at += strlen(at) + 1)
            name[k] = at;
        ok = comm_agree(c, name && label_table_make(table, count, name, NULL, memory, err), err);
    }
    for (uint32_t k = 0; ok && k < s->count; k++)
        class[k] = label_of_name(table, s->name[k]);
    arena_free(&temporary);
    text_free(&t);
    return ok;
}
