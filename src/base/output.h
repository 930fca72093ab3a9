/* output.h - files that are complete or absent: written beside their name, flushed, and renamed at the end.
 *
 * What cannot be renamed over (pipes, terminals, devices, "-" for standard output) is written directly. Every write
 * is checked, and the first error is kept until out_commit, which reports it with the path and the system's reason.
 */
#ifndef BASE_OUTPUT_H
#define BASE_OUTPUT_H

#include "base/error.h"

typedef struct output output;

output *out_open(const char *path, bda_error *err);
/* A log that is read while it grows: written under its own name from the start, and kept by out_abandon too. */
output *out_open_log(const char *path, bda_error *err);
void out_write(output *o, const void *bytes, uint64_t count);
void out_printf(output *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* At an offset: for a header that is known last. Only within what was written. */
void out_patch(output *o, uint64_t offset, const void *bytes, uint64_t count);
uint64_t out_offset(const output *o);
bool out_flush(output *o, bda_error *err); /* hands to the system what was written so far */
/* Makes the file appear; frees o in any case. On failure nothing is left behind. */
bool out_commit(output *o, bda_error *err);
/* Removes what was written; frees o. Accepts NULL. */
void out_abandon(output *o);

#endif
