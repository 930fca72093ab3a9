/* mapping.h - files that are mapped and used where they are, and what becomes of them meanwhile. A file that is replaced by
 * renaming stays as it was for those who have it mapped. One that is written to, or cut off, does not: that is noticed
 * when the work is done, or when a page is touched that is no longer there. */
#ifndef DATA_MAPPING_H
#define DATA_MAPPING_H

#include "base/error.h"

/* The first `bytes` of the file, to read. NULL with errno set. The path is kept for sentences, `bytes` may be anything. */
void *mapping_open(int fd, const char *path, uint64_t bytes);
void mapping_close(void *map, uint64_t bytes);

/* From now on the first `vital` bytes cannot be replaced by zeros: loops would go astray. */
void mapping_use(void *map, uint64_t vital);
/* Has a page been lost? Cheap. NULL: no file. */
bool mapping_lost(const void *map);
/* Is the file as it was when it was mapped? A sentence where it is not. NULL: no file. */
bool mapping_intact(const void *map, bda_error *err);

#endif
