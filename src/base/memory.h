/* memory.h - memory that is taken before a loop and given back at once.
 *
 * An arena remembers what was taken through it; arena_free gives all of it back and accepts an arena that was zeroed
 * and never used. Large pieces (a megabyte and more) are mapped, aligned to 2 MB and advised for huge pages: random
 * access to weights is bound by address translation otherwise. All memory comes zeroed.
 *
 * mem_fail_at(k) makes the k-th request from now on (1 is the next) fail once, in tests; 0 switches that off.
 */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include "base/error.h"

typedef struct arena {
    struct arena_piece *last;
    uint64_t bytes; /* taken so far */
} arena;

/* NULL and a sentence in err on failure or overflow of count * size. `what` names the piece in that sentence. */
void *arena_take(arena *a, uint64_t count, uint64_t size, const char *what, bda_error *err);
#define ARENA_TAKE(a, type, count, err) ((type *)arena_take((a), (count), sizeof(type), #type " array", (err)))
void arena_free(arena *a);

/* A growing array: keeps its content, moves pages instead of bytes when large. `bytes` is the new size. Not zeroed.
 * mem_resize(NULL, 0, ...) takes anew; on failure the old memory is untouched and NULL comes back. */
void *mem_resize(void *old, uint64_t old_bytes, uint64_t bytes, const char *what, bda_error *err);
void mem_free(void *p, uint64_t bytes);

/* mremap to a place of the caller's choice, which must be mapped and is written over. An old_length of 0 maps shared
 * pages once more, and `old` stays. False: nothing has changed but that the place may be unmapped. */
bool mem_move_pages(void *old, uint64_t old_length, uint64_t length, void *place);

/* Advises the kernel to back a large range by huge pages, where it can. */
void mem_advise_huge(void *p, uint64_t bytes);

void mem_fail_at(uint64_t k);
uint64_t mem_peak_bytes(void);      /* resident memory of this process, at its highest */
uint64_t mem_available_bytes(void); /* what this machine or control group could still give; UINT64_MAX: unknown */

#endif
