/* options.h - settings that are described by a table: parsing, ranges, defaults, text. The tables live with those who
 * know what the options mean (run/settings.c).
 *
 * A settings structure is plain C: `offset` of each option finds its field. BDA_FLAG is a bool, BDA_INTEGER an
 * int64_t, BDA_REAL and BDA_TIME a double, BDA_CHOICE and BDA_TEXT a char[OPTION_TEXT] (a repeated option joins its values by
 * newlines). Where an option has the preset "", BDA_INTEGER is OPTION_UNSET and the doubles are NAN until set.
 */
#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include "base/error.h"

#define OPTION_TEXT 1024
#define OPTION_UNSET INT64_MIN

const bda_option *option_find(const bda_option *table, const char *name); /* '_' is taken for '-' */
/* Checks type and range of `value` and stores it in `fields`. BDA_USAGE and a sentence that names the option, what
 * was seen and what is allowed. */
bool option_set(const bda_option *option, void *fields, const char *value, bda_error *err);
void option_defaults(const bda_option *table, void *fields);

#endif
