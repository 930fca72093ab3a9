/* json.h - writes one JSON object after the other, a line each; numbers carry 17 significant digits. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/output.h"

typedef struct json {
    output *out;
    bool first; /* no member yet */
} json;

void json_open(json *j, output *out); /* { */
void json_text(json *j, const char *name, const char *value);
void json_real(json *j, const char *name, double value); /* NaN and infinities become null */
void json_count(json *j, const char *name, uint64_t value);
void json_reals(json *j, const char *name, const double *value, uint64_t count); /* [ , , ] */
/* value: [rows][columns], as an array of arrays */
void json_table(json *j, const char *name, const uint64_t *value, uint64_t rows, uint64_t columns);
void json_close(json *j); /* } and a newline */

#endif
