/* files.h - what a file is, for those who must know why that cannot be told. */
#ifndef RUN_FILES_H
#define RUN_FILES_H

#include "bda.h"

/* See bda_file_is. False: it is there and cannot be read. */
bool file_kind(const char *path, bda_file_kind *kind, bda_error *err);

#endif
