/* output.h - files that are complete or absent: written beside their name, flushed, and renamed at the end.
 *
 * What cannot be renamed over (pipes, terminals, devices, "-" for standard output) is written directly. Every write
 * is checked, and the first error is kept until out_commit, which reports it with the path and the system's reason.
 * A pipe whose reader has left is such an error only where SIGPIPE is ignored, a file that grows beyond the limit of
 * the process only where SIGXFSZ is; the program ignores both. bda_discard_outputs is here, too.
 */
#ifndef BASE_OUTPUT_H
#define BASE_OUTPUT_H

#include "base/error.h"

#include <limits.h>

typedef struct output output;

bool out_is_stdout(const char *path); /* "-" and /dev/stdout */
/* Where a chain of symbolic links leads, whether or not there is a file. False with errno set where it has no end. */
bool out_target(const char *path, char target[PATH_MAX]);
/* Could it be written now? Creates a file beside it and removes that again; leaves the file itself alone. log: as
 * out_open_log would write it. */
bool out_try(const char *path, bool log, bda_error *err);

output *out_open(const char *path, bda_error *err);
/* A log that is read while it grows: written under its own name from the start, and kept by out_abandon too. */
output *out_open_log(const char *path, bda_error *err);
void out_write(output *o, const void *bytes, uint64_t count);
void out_printf(output *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* At an offset: for a header that is known last. Only within what was written. */
void out_patch(output *o, uint64_t offset, const void *bytes, uint64_t count);
uint64_t out_offset(const output *o);
bool out_reader_left(const output *o);     /* it is a pipe that nobody reads any more */
bool out_flush(output *o, bda_error *err); /* hands to the system what was written so far */
/* Makes the file appear; frees o in any case. On failure nothing is left behind. */
bool out_commit(output *o, bda_error *err);
/* Removes what was written; frees o. Accepts NULL. */
void out_abandon(output *o);

#endif
