/* read.c - opens a data file, sees what it is, and has it read: by each rank its own, or by all ranks together. */
#include "base/clock.h"
#include "data/binary.h"
#include "data/shard.h"

#include <stdio.h>
#include <string.h>

#define PLACEHOLDER "{rank}"

/* The path with every "{rank}" replaced. */
static char *path_of_rank(arena *memory, const char *path, int rank, bda_error *err)
{
    uint64_t places = 0, length = strlen(path);
    for (const char *p = path; (p = strstr(p, PLACEHOLDER)); p += strlen(PLACEHOLDER))
        places++;
    char *own = ARENA_TAKE(memory, char, length + places * 12 + 1, err), *to = own;
    if (!own)
        return NULL;
    for (const char *next; (next = strstr(path, PLACEHOLDER)); path = next + strlen(PLACEHOLDER)) {
        memcpy(to, path, (size_t)(next - path));
        to += next - path;
        to += sprintf(to, "%d", rank);
    }
    strcpy(to, path);
    return own;
}

static shard_format format_of(const source *s)
{
    if (binary_is(s))
        return SHARD_BINARY;
    return s->packing == SOURCE_GZIP ? SHARD_GZIP : s->packing == SOURCE_ZSTD ? SHARD_ZSTD : SHARD_TEXT;
}

/* Is it one and the same file to all ranks? Otherwise they would wait for each other in different places. */
static bool same_for_all(comm *c, const source *s, shard_format format, bda_error *err)
{
    uint64_t seen[2] = {format, s->size}, first[2] = {format, s->size};
    comm_broadcast(c, 0, first, sizeof first);
    bool same = memcmp(seen, first, sizeof seen) == 0;
    if (!same)
        err_set(err, BDA_FAILED, "%s: is not the same file for all ranks", s->path);
    return comm_agree(c, same, err);
}

data *data_read(comm *c, const data_request *request, bda_error *err)
{
    double began = clock_now();
    int rank = bda_comm_rank(c), size = bda_comm_size(c);
    bool shared = size > 1 && !strstr(request->path, PLACEHOLDER);
    shard s = {0};
    source file = {.fd = -1};
    arena memory = {0};
    char *path = path_of_rank(&memory, request->path, rank, err);
    bool ok = path && source_open(&file, path, err);
    if (ok && !shared && request->blocks < (uint64_t)size)
        ok = err_set(err, BDA_USAGE, "%llu blocks are too few for %d ranks that each read a file of their own",
                     (unsigned long long)request->blocks, size);
    s.format = format_of(&file);
    ok = comm_agree(c, ok, err) && (!shared || same_for_all(c, &file, s.format, err));
    if (ok && s.format == SHARD_BINARY)
        ok = binary_read(&file, request->blocks, shared ? rank : 0, shared ? size : 1, &s, err);
    else if (ok && shared)
        ok = text_read_shared(c, &file, request, &s, err);
    else if (ok)
        ok = text_read(&file, request, &s, err);
    source_close(&file);
    arena_free(&memory);
    return shard_finish(c, &s, ok, shared, request->path, request->blocks, began, err);
}

bool data_is_binary(const char *path)
{
    bda_error ignored = {0};
    source file = {.fd = -1};
    bool binary = source_open(&file, path, &ignored) && binary_is(&file);
    source_close(&file);
    return binary;
}
