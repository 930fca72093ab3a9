/* paths.h - names of data files that hold the number of a rank. */
#ifndef DATA_PATHS_H
#define DATA_PATHS_H

#include "base/memory.h"

/* Does each rank have a file of its own: is there a "{rank}" or a "{rank:05}" in the name? */
bool path_is_of_rank(const char *path);

/* The path with every "{rank}" replaced by the number, from 0, and every "{rank:0W}" by the same with zeros in front
 * up to W digits. Any path will do. BDA_USAGE for what begins like these and is neither. Local. */
char *path_of_rank(arena *memory, const char *path, int rank, bda_error *err);

/* BDA_USAGE and a sentence where `size` ranks would leave parts out: where a file of the next number exists. For paths
 * of ranks only. Local. */
bool path_check_parts(const char *path, int size, bda_error *err);

#endif
