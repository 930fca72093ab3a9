/* archive.h - the state of something as bytes, by one walk over its fields.
 *
 *     static void name_state(archive *a, thing *x)
 *     {
 *         ARCHIVE(a, x->round);
 *         ARCHIVE_ARRAY(a, x->v, x->n);
 *     }
 *
 * The same walk counts the bytes, copies them, and reads them back, so that what is written and what is read cannot
 * differ. Before each field stand a number made from its name and its length: where these are not what the reader
 * expects, nothing is read from there on, and `wrong` names the field. Bytes are those of the machine. */
#ifndef BASE_ARCHIVE_H
#define BASE_ARCHIVE_H

#include "base/error.h"

typedef enum archive_mode {
    ARCHIVE_COUNT,
    ARCHIVE_SAVE,
    ARCHIVE_LOAD,
} archive_mode;

typedef struct archive {
    archive_mode mode;
    uint64_t at;               /* bytes of the walk so far */
    unsigned char *to;         /* ARCHIVE_SAVE: where the bytes [first, end) of the walk go */
    const unsigned char *from; /* ARCHIVE_LOAD: [end] */
    uint64_t first, end;
    const char *wrong; /* ARCHIVE_LOAD: the field that was not there; NULL: all was so far */
} archive;

archive archive_counting(void);
archive archive_saving(unsigned char *to, uint64_t first, uint64_t end);
archive archive_loading(const unsigned char *from, uint64_t count);

static inline bool archive_loads(const archive *a)
{
    return a->mode == ARCHIVE_LOAD;
}

/* count * size bytes at x; loading, they are written there, unless something is wrong. */
void archive_bytes(archive *a, const char *name, void *x, uint64_t count, uint64_t size);
#define ARCHIVE(a, field) archive_bytes((a), #field, &(field), 1, sizeof(field))
#define ARCHIVE_ARRAY(a, x, count) archive_bytes((a), #x, (x), (count), sizeof *(x))
/* An array of numbers below its own length, as orders of visits are. */
void archive_places(archive *a, const char *name, uint32_t *x, uint64_t count);
#define ARCHIVE_PLACES(a, x, count) archive_places((a), #x, (x), (count))

/* Loading: the field is not what it should be; false where a length that was read has no room in what is left. */
void archive_refuse(archive *a, const char *name);
bool archive_has(archive *a, const char *name, uint64_t count, uint64_t size);
/* Loading: was all of it read, and nothing wrong? */
bool archive_ended(const archive *a);

#endif
