/* source.h - the text of a file as a stream of bytes, unpacked where the file begins like gzip or zstd. */
#ifndef DATA_SOURCE_H
#define DATA_SOURCE_H

#include "base/error.h"

typedef enum source_packing { SOURCE_PLAIN, SOURCE_GZIP, SOURCE_ZSTD } source_packing;

#define SOURCE_HEAD 16

typedef struct source {
    const char *path; /* the caller's */
    int fd;
    bool seekable;   /* a regular file; otherwise a pipe or a device, which can be read once */
    uint64_t size;   /* of the file; 0 for what is not seekable */
    int64_t changed; /* when that was, in nanoseconds; likewise */
    source_packing packing;
    char head[SOURCE_HEAD]; /* the first bytes of the file, `heads` of them */
    uint64_t heads;
    uint64_t offset;     /* in the text: where the next read begins */
    uint64_t bytes_read; /* of the file */

    uint64_t file_offset; /* of the next byte to take from the file */
    struct source_packed *packed;
} source;

/* "-" is standard input. Fails where the path cannot be opened or is a directory. source_close accepts a source that is zeroed, or that
 * failed to open. */
bool source_open(source *s, const char *path, bda_error *err);
void source_close(source *s);

struct stat;
int64_t source_changed(const struct stat *about); /* the time of the last change, in nanoseconds */

/* Fills `to` unless the text ends before. */
bool source_read(source *s, void *to, uint64_t want, uint64_t *got, bda_error *err);

/* The next read begins at this offset of the text. Packed text is unpacked up to there, from the beginning if need
 * be. Not for pipes, other than where they stand. */
bool source_seek(source *s, uint64_t offset, bda_error *err);

#endif
