/* json_read.h - reads JSON objects member by member, strictly (RFC 8259) and in place: what a line of a run log needs.
 *
 *     json_reader r;
 *     json_member m;
 *     json_begin(&r, line);
 *     while (json_next(&r, &m))
 *         ...
 *     if (r.wrong) ...
 *
 * The text is changed: names and strings end in NUL afterwards and stay where they are. Arrays and objects within the
 * object are checked and passed over.
 */
#ifndef BASE_JSON_READ_H
#define BASE_JSON_READ_H

#include <stdbool.h>
#include <stddef.h>

typedef enum json_type { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_STRING, JSON_NESTED } json_type;

typedef struct json_member {
    const char *name;
    json_type type;
    double number;    /* of JSON_NUMBER */
    const char *text; /* of JSON_STRING: its characters; otherwise the value as it is written */
    size_t length;    /* of text, which ends in NUL only where it is a JSON_STRING */
} json_member;

typedef struct json_reader {
    char *begin, *at;
    bool first;
    const char *wrong; /* what was expected at `at`; NULL: all is well so far */
} json_reader;

void json_begin(json_reader *r, char *text);
/* False after the last member, when nothing but blanks may follow, and where something is wrong. */
bool json_next(json_reader *r, json_member *m);

#endif
