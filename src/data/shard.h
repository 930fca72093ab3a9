/* shard.h - what one rank has read before all agree on it. Private to src/data. */
#ifndef DATA_SHARD_H
#define DATA_SHARD_H

#include "data/builder.h"
#include "data/data.h"
#include "data/names.h"
#include "data/schema.h"
#include "data/source.h"

#define SHARD_FORMAT 40

typedef struct shard {
    builder rows;    /* its labels are numbers of `names` where named */
    bool named;      /* labels are names; the same on all ranks */
    bool unlabelled; /* its labels are 0, and stand for none */
    name_set names;
    const data_units *units;      /* NULL: each row is one. Otherwise the labels of the rows are its class numbers */
    void *map;                    /* of a binary file, whose cells the rows use */
    uint64_t map_bytes, map_used; /* used: by this rank's rows */
    uint64_t features;            /* largest column seen + 1 */
    bool reordered;
    uint64_t bytes_read;
    char format[SHARD_FORMAT]; /* as bda_data_summary has it; that of rank 0 counts */
    bool binary;               /* it is our own format; likewise */
    bool may_lack_labels;      /* NAN for all of them */
    data_schema *schema;       /* of a table, or NULL; goes over to the data */
} shard;

void shard_free(shard *s);

/* Makes data of all shards: agrees on counts, form and labels, cuts blocks. `shared`: the rows are of one file, as
 * data_share says; otherwise each rank has what it has, and blocks are cut within. Takes the shard over. Collective;
 * fails on all ranks where `ok` is false on one. */
data *shard_finish(comm *c, shard *s, bool ok, bool shared, const char *name, uint64_t blocks, double began,
                   bda_error *err);

#endif
