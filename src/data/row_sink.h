/* row_sink.h - the sink of formats of rows: a row and its label is a unit. */
#ifndef DATA_ROW_SINK_H
#define DATA_ROW_SINK_H

#include "data/builder.h"
#include "data/names.h"

typedef struct row_sink {
    builder rows;
    bool named; /* labels are numbers of these names */
    name_set names;
    uint64_t features; /* largest column seen + 1, also where its value is 0 */
    bool reordered;    /* some row was not sorted */
} row_sink;

/* The functions of a `format` whose sink begins with a row_sink. */
void row_sink_free(row_sink *s);
uint64_t row_sink_held(const void *sink);
void row_sink_cut(void *sink, uint64_t first, uint64_t end);
bool row_sink_join(void *sink, void *other, bool front, bda_error *err);
void row_sink_expect(void *sink, uint64_t bytes);

#endif
