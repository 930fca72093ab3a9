/* binary.h - our own data file: arrays as they are in memory, mapped and used in place. docs/formats.md describes it
 * byte by byte. */
#ifndef DATA_BINARY_H
#define DATA_BINARY_H

#include "base/output.h"
#include "data/parts.h"
#include "data/shard.h"

#define BINARY_MAGIC                                                                                                 \
    "\x89"                                                                                                           \
    "BDADAT\n"
#define BINARY_VERSION 1
#define BINARY_HEADER ((uint64_t)128)
#define BINARY_ALIGNMENT ((uint64_t)64)    /* of sections */
#define BINARY_BLOCK ((uint64_t)256 << 10) /* bytes under one checksum */

typedef struct binary_header {
    char magic[8];
    uint32_t version;
    uint32_t form; /* rows_form */
    uint64_t instances, features, nonzeros;
    uint64_t block; /* BINARY_BLOCK */
    uint64_t size;  /* of the file */
    uint64_t zero[8];
    uint64_t checksum; /* XXH3-64 of what is before */
} binary_header;

/* Where the sections begin, counted from the beginning of the file. */
typedef struct binary_layout {
    uint64_t start;    /* u64 [instances + 1] */
    uint64_t label;    /* double [instances] */
    uint64_t cell;     /* u32 or rows_pair [nonzeros] */
    uint64_t value;    /* double: constant [instances], double [nonzeros] */
    uint64_t checksum; /* u64 [blocks], and one of these themselves */
    uint64_t blocks, size;
} binary_layout;

/* False where a file of such counts would be larger than a file can be. */
bool binary_lay_out(rows_form form, uint64_t instances, uint64_t nonzeros, binary_layout *layout);

/* Do these first bytes begin a file of our binary data? */
bool binary_starts(const char *head, uint64_t length);

/* The rows of the blocks of `rank` of `size`, of all files; 0 of 1 is all. One file is used in place, the rows of
 * several are copied. Local: reads and checks no more than that. */
bool binary_read(const parts *p, uint64_t blocks, int rank, int size, shard *to, bda_error *err);

/* A file under construction, as one stream of bytes: the header, the sections in order, each padded up to the next,
 * and the end. On rank 0; elsewhere `out` is NULL, and only open and close may be called. */
typedef struct binary_stream {
    output *out;
    uint64_t offset; /* bytes put so far */
    char *piece;     /* the last of them, which are yet to be written: [held] */
    uint64_t held;
    struct XXH3_state_s *state; /* of the block begun */
    uint64_t in_block, blocks;
    uint64_t *checksum; /* [blocks + 1] */
    uint64_t checksum_bytes;
} binary_stream;

bool binary_stream_open(binary_stream *s, output *out, uint64_t blocks, bda_error *err);
void binary_stream_header(binary_stream *s, rows_form form, uint64_t instances, uint64_t features, uint64_t nonzeros,
                          const binary_layout *layout);
void binary_stream_put(void *stream, const void *bytes, uint64_t count); /* a comm_take */
void binary_stream_pad(binary_stream *s, uint64_t next);                 /* up to this offset of the file */
void binary_stream_end(binary_stream *s);
void binary_stream_close(binary_stream *s); /* accepts what is zeroed, or failed to open */

/* Collective; rank 0 has `out`, others pass NULL. */
bool binary_write(comm *c, const data *d, output *out, bda_error *err);

#endif
