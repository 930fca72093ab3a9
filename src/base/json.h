/* json.h - writes one JSON object after the other, a line each; numbers carry 17 significant digits unless fewer are
 * asked for. `<` is escaped, so that the text may stand in a page of HTML. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/output.h"

typedef struct json {
    output *out;
    bool first; /* no member yet */
    int digits; /* of numbers; 0: 17 */
} json;

void json_open(json *j, output *out); /* { */
void json_text(json *j, const char *name, const char *value);
void json_real(json *j, const char *name, double value); /* NaN and infinities become null */
void json_count(json *j, const char *name, uint64_t value);
void json_reals(json *j, const char *name, const double *value, uint64_t count); /* [ , , ] */
/* value: [rows][columns], as an array of arrays */
void json_table(json *j, const char *name, const uint64_t *value, uint64_t rows, uint64_t columns);
/* A value that is an array or an object itself: '[' or '{', and the same to close it. Members of an array have NULL for
 * a name. */
void json_enter(json *j, const char *name, char opening);
void json_leave(json *j, char opening);
void json_texts(json *j, const char *name, const char *const *value, uint64_t count); /* [ , , ] */
void json_close(json *j);                                                             /* } and a newline */

/* A text as it stands in JSON, quotes included, into memory of JSON_TEXT_ROOM(its length) bytes. */
#define JSON_TEXT_ROOM(length) (6 * (uint64_t)(length) + 3)
void json_encode(char *to, const char *text);

#endif
