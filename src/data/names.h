/* names.h - labels that are names: the distinct ones of this rank, and the table that all ranks make of theirs. */
#ifndef DATA_NAMES_H
#define DATA_NAMES_H

#include "comm/comm.h"
#include "data/label_table.h"

/* A zeroed set is empty. Names are numbered from 0 in the order they came in; they hold no NUL byte. */
typedef struct name_set {
    const char **name; /* [count] */
    uint64_t name_bytes;
    uint32_t *slot; /* [room] number of a name + 1, 0: free; a hash table */
    uint64_t room;  /* a power of two, at least twice the count; 0: none yet */
    uint32_t count;
    arena text;
} name_set;

/* The number of a name, which is added if it is new. Local. */
bool names_add(name_set *s, const char *name, uint64_t length, uint32_t *number, bda_error *err);
void names_free(name_set *s);

/* Makes the table of all ranks' names, in order of bytes; class: [s->count] the class number of each of this rank's
 * names. Fails where there are more than `most`. Collective. */
bool names_agree(comm *c, const name_set *s, uint64_t most, label_table *table, uint32_t *class, arena *memory,
                 bda_error *err);

#endif
