/* packer.h - a text file under construction, packed as the ending of its name says: .gz, .zst, or not at all. */
#ifndef DATA_PACKER_H
#define DATA_PACKER_H

#include "base/error.h"

typedef struct packer packer;

/* Does the ending ask for packing? */
bool packer_wanted(const char *path);

/* NULL and a sentence on failure. */
packer *packer_open(const char *path, bda_error *err);
void packer_put(void *packer, const void *bytes, uint64_t count); /* a comm_take */
/* Makes the file appear, and frees p in any case; on failure nothing is left behind. */
bool packer_commit(packer *p, bda_error *err);
/* Removes what was written, and frees p. Accepts NULL. */
void packer_abandon(packer *p);

#endif
