/* shard.h - what one rank has read before all agree on it. Private to src/data. */
#ifndef DATA_SHARD_H
#define DATA_SHARD_H

#include "data/builder.h"
#include "data/data.h"
#include "data/source.h"

typedef enum shard_format { SHARD_TEXT, SHARD_GZIP, SHARD_ZSTD, SHARD_BINARY, SHARD_MEMORY } shard_format;

typedef struct shard {
    builder rows;
    void *map;                    /* of a binary file, whose cells the rows use */
    uint64_t map_bytes, map_used; /* used: by this rank's rows */
    uint64_t features;            /* largest column seen + 1 */
    bool reordered;
    uint64_t bytes_read;
    shard_format format;
} shard;

void shard_free(shard *s);

/* Which rows of a shared file of l instances are rank's: [*first, *end). */
void shard_range(uint64_t instances, uint64_t blocks, int rank, int size, uint64_t *first, uint64_t *end);

/* Makes data of all shards: agrees on counts, form and labels, cuts blocks. `shared`: the rows are of one file, as
 * shard_range says; otherwise each rank has what it has, and blocks are cut within. Takes the shard over. Collective;
 * fails on all ranks where `ok` is false on one. */
data *shard_finish(comm *c, shard *s, bool ok, bool shared, const char *name, uint64_t blocks, double began,
                   bda_error *err);

/* All rows of a text. Local. */
bool text_read(source *s, const data_request *request, shard *to, bda_error *err);
/* This rank's rows of one text. Collective, in that all ranks get here and leave in the same state; a failure that
 * strikes one rank at the end is left for shard_finish to spread. */
bool text_read_shared(comm *c, source *s, const data_request *request, shard *to, bda_error *err);

#endif
