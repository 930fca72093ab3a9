/* parts.c - see parts.h. What all ranks know of a shared file comes from rank 0: otherwise they would wait for each
 * other in different places where they see different files. */
#include "data/parts.h"

#include "data/binary.h"
#include "data/foreign.h"

#include <string.h>
#include <sys/stat.h>

/* What is told of a part. */
typedef struct part_facts {
    uint64_t stream, packing, binary, size;
} part_facts;

static bool look(parts *p, uint64_t k, part_facts *facts, bda_error *err)
{
    source file = {.fd = -1};
    bool ok = source_open(&file, p->at[k].path, err);
    *facts = (part_facts){!file.seekable, file.packing, binary_starts(file.head, file.heads), file.size};
    p->at[k].looked_at = ok && file.seekable;
    p->at[k].changed = file.changed;
    const char *foreign = foreign_starts(file.head, file.heads);
    if (ok && foreign)
        ok = err_set(err, BDA_FAILED, "%s: %s", file.path, foreign);
    if (ok && !file.seekable) {
        p->at[k].stream = ARENA_TAKE(&p->memory, source, 1, err);
        ok = p->at[k].stream != NULL;
        if (ok)
            *p->at[k].stream = file;
    }
    if (!ok || file.seekable)
        source_close(&file);
    return ok;
}

/* A stream has no size, but must have a place. */
static void lay_out(parts *p, const part_facts *facts)
{
    p->bytes = 0;
    for (uint64_t k = 0; k < p->count; k++) {
        part *x = &p->at[k];
        x->packing = (source_packing)facts[k].packing;
        x->binary = facts[k].binary;
        x->size = facts[k].size;
        x->begin = p->bytes;
        x->bytes = facts[k].stream ? 1 : x->size;
        p->bytes += x->bytes;
    }
}

/* Rank 0 has looked at the files. */
static bool tell(parts *p, comm *c, part_facts *facts, bda_error *err)
{
    comm_broadcast(c, 0, facts, p->count * sizeof *facts);
    for (uint64_t k = 0; k < p->count; k++)
        if (facts[k].stream && bda_comm_size(c) > 1)
            return err_set(err, BDA_FAILED, "%s: is not a regular file, so that several ranks cannot share it",
                           p->at[k].path);
    return true;
}

bool parts_open(parts *p, comm *c, bool shared, uint64_t count, const char *const *path, bda_error *err)
{
    *p = (parts){.count = count};
    arena temporary = {0};
    part_facts *facts = ARENA_TAKE(&temporary, part_facts, count, err);
    p->at = ARENA_TAKE(&p->memory, part, count, err);
    bool ok = facts && p->at;
    for (uint64_t k = 0; ok && k < count; k++)
        p->at[k].path = path[k];
    for (uint64_t k = 0; ok && k < count && (!shared || bda_comm_rank(c) == 0); k++) {
        ok = look(p, k, &facts[k], err);
        if (ok && facts[k].binary != facts[0].binary)
            ok = err_set(err, BDA_FAILED,
                         "%s: is %s, and %s is %s; the files of one data set are all binary or all text", path[0],
                         facts[0].binary ? "binary" : "text", path[k], facts[k].binary ? "binary" : "text");
    }
    ok = comm_agree(c, ok, err) && (!shared || tell(p, c, facts, err));
    if (ok)
        lay_out(p, facts);
    arena_free(&temporary);
    return ok;
}

void parts_close(parts *p)
{
    for (uint64_t k = 0; p->at && k < p->count; k++)
        if (p->at[k].stream)
            source_close(p->at[k].stream);
    arena_free(&p->memory);
    *p = (parts){0};
}

source *parts_source(const parts *p, uint64_t k, source *own, bda_error *err)
{
    const part *x = &p->at[k];
    if (x->stream)
        return x->stream;
    if (!source_open(own, x->path, err))
        return NULL;
    if (own->seekable && own->size == x->size && own->packing == x->packing &&
        binary_starts(own->head, own->heads) == x->binary)
        return own;
    err_set(err, BDA_FAILED, "%s: is not the same file for all ranks, or changed while it was read", x->path);
    return NULL;
}

bool parts_unchanged(const parts *p, bda_error *err)
{
    for (uint64_t k = 0; k < p->count; k++) {
        const part *x = &p->at[k];
        struct stat now;
        if (x->looked_at && stat(x->path, &now) == 0 &&
            ((uint64_t)now.st_size != x->size || source_changed(&now) != x->changed))
            return err_set(err, BDA_FAILED, "%s: was changed while it was read", x->path);
    }
    return true;
}
