/* listing.h - which files DATA stands for: one, several, those of a directory or of a pattern. */
#ifndef DATA_LISTING_H
#define DATA_LISTING_H

#include "base/memory.h"
#include "comm/comm.h"

typedef struct listing {
    const char **path; /* [count] */
    uint64_t count;
    arena memory;
} listing;

/* The files that `name` and `others`, [other_count], stand for, in the order given. A directory stands for its files,
 * without those whose names begin with '.' or '_', and a name with '*', '?' or '[' that no file has is a pattern; both in
 * the order of the bytes of their names. "-" is standard input. With "{rank}" in all of the names each rank lists its
 * own files; otherwise rank 0 lists them for all. Fails on all ranks together. Collective. */
bool listing_open(listing *l, comm *c, const char *name, const char *const *others, uint64_t other_count,
                  bda_error *err);
void listing_close(listing *l);

/* The same for rank `rank` of `size`, without a word to the others. Local. */
bool listing_of_rank(listing *l, const char *name, const char *const *others, uint64_t other_count, int rank,
                     int size, bda_error *err);

#endif
