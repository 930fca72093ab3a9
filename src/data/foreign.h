/* foreign.h - files that are not data, told by their first bytes. */
#ifndef DATA_FOREIGN_H
#define DATA_FOREIGN_H

#include <stdint.h>

/* What a file that begins like this is, and what to do about it, as the rest of a sentence: "is ..."; NULL: it may be
 * data. */
const char *foreign_starts(const char *head, uint64_t length);

#endif
