/* parts.h - the files of a data set, in order: one text, as it were, of one file behind the other. */
#ifndef DATA_PARTS_H
#define DATA_PARTS_H

#include "base/memory.h"
#include "comm/comm.h"
#include "data/source.h"

typedef struct part {
    const char *path;
    source *stream; /* what can be read once only, and stays open; NULL: a regular file, opened when it is read */
    source_packing packing;
    bool binary;    /* a file of our own format */
    uint64_t size;  /* of the file; 0 for a stream */
    bool looked_at; /* by this rank, which knows when it was changed last */
    int64_t changed;
    uint64_t begin, bytes; /* its place among all of them: [begin, begin + bytes) is shared out */
} part;

typedef struct parts {
    part *at; /* [count] */
    uint64_t count;
    uint64_t bytes;      /* of all together */
    uint64_t bytes_read; /* of the files, by this rank so far */
    arena memory;
} parts;

/* Looks at the files. shared: rank 0 does, and tells all what it found; otherwise every rank has files of its own. The
 * paths must outlive the parts. Files that are no data, and binary files mixed with others, are refused. Fails on all
 * ranks together. Collective. parts_close accepts what is zeroed, or failed to open. */
bool parts_open(parts *p, comm *c, bool shared, uint64_t count, const char *const *path, bda_error *err);
void parts_close(parts *p);

/* To read part k: its stream, or `own`, opened, which the caller closes. NULL where that fails, or the file is not the
 * one that was looked at. Local. */
source *parts_source(const parts *p, uint64_t k, source *own, bda_error *err);

/* Are the regular files that this rank looked at as they were then? Local. */
bool parts_unchanged(const parts *p, bda_error *err);

#endif
