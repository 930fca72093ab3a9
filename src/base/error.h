/* error.h - errors travel with their sentence: a bda_error is the last argument of everything that can fail. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include "bda.h"

void err_clear(bda_error *err);

/* Sets status and sentence and returns false, so that a caller can `return err_set(...)`. Keeps the first error: an
 * error that is already set is not overwritten. */
bool err_set(bda_error *err, bda_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* "out of memory: needed 1.2 GB for WHAT" */
bool err_memory(bda_error *err, uint64_t bytes, const char *what);

#endif
