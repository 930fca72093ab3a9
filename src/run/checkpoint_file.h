/* checkpoint_file.h - the file of a checkpoint: a head, then parts, each with a checksum of its own, so that ranks write and
 * read theirs without each other (docs/checkpoint-format.md has the bytes).
 *
 * There is a part for each piece of the whole, one from each rank that wrote, and a part for each block of the dual. Where
 * ranks have files of their own, each of them has the same head, and of the parts those of its rank, at the same places;
 * the rest is a hole.
 *
 * Local: nobody is asked, and err_set tells what went wrong. */
#ifndef RUN_CHECKPOINT_FILE_H
#define RUN_CHECKPOINT_FILE_H

#include "base/bytes.h"

#define CHECKPOINT_MAGIC "BDASTATE"
#define CHECKPOINT_VERSION 1

/* What a training is recognised by. */
typedef struct checkpoint_trait {
    const char *name, *value;
} checkpoint_trait;

typedef struct checkpoint_head {
    uint64_t number; /* increases from one checkpoint to the next */
    uint64_t tag;    /* of all its parts, so that those of another are not taken for them */
    uint64_t pieces, blocks;
    uint64_t round; /* of the run, and of the method that is at work */
    uint64_t method_round;
    uint64_t stopped; /* the run had come to its end, however that was */
    double seconds, primal, gap;
    uint64_t traits;
    checkpoint_trait *trait; /* [traits] */
    uint64_t *length;        /* [pieces + blocks] of the parts, pieces first */
    uint64_t *place;         /* likewise, where each begins in the file: its own head, and then its bytes */
    uint64_t bytes;          /* of the file */
    arena memory;
} checkpoint_head;

/* place and bytes from the rest; local ranks' parts lie side by side: a piece and the blocks of the same rank. False
 * without memory. */
bool checkpoint_lay_out(checkpoint_head *h, bda_error *err);
/* Where those of a rank begin and end. */
void checkpoint_region(const checkpoint_head *h, uint64_t rank, uint64_t *first, uint64_t *end);
/* The head as bytes. */
bool checkpoint_encode(const checkpoint_head *h, bytes *to, bda_error *err);
/* From bytes: false and a reason ("it ends too early") where they are no such head. Takes memory, which is given back by
 * checkpoint_head_free, whatever the answer is. */
bool checkpoint_decode(checkpoint_head *h, const unsigned char *from, uint64_t count, bda_error *err);
/* The same from a file; *missing: there is none. */
bool checkpoint_read_head(checkpoint_head *h, const char *path, bool *missing, bda_error *err);
void checkpoint_head_free(checkpoint_head *h);
const char *checkpoint_trait_of(const checkpoint_head *h, const char *name); /* NULL: there is none */

/* The bytes of a part in front of its own, which begin behind them. */
#define CHECKPOINT_PART 32
void checkpoint_seal(const checkpoint_head *h, uint64_t part, unsigned char *at);
/* Reads a part into to[length]. */
bool checkpoint_read_part(const checkpoint_head *h, int file, uint64_t part, unsigned char *to, bda_error *err);
/* Does the file have this part's head? For who asks whether others have written to the same file. */
bool checkpoint_has_part(const checkpoint_head *h, int file, uint64_t part);

/* Writes all of it, again and again if need be. */
bool checkpoint_write(int file, const void *bytes, uint64_t count, uint64_t place, const char *path, bda_error *err);

/* For tests: the checksum of a head that has been altered. */
void checkpoint_test_checksum(unsigned char *head, uint64_t count);

#endif
