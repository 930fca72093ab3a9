/* builder.h - rows under construction, always in the smallest form that loses nothing of what was added so far.
 *
 * Which form that is follows from three facts about the values, whatever the order they came in and whoever saw them;
 * so ranks agree on a form by agreeing on the facts. */
#ifndef DATA_BUILDER_H
#define DATA_BUILDER_H

#include "base/error.h"
#include "data/rows.h"

typedef struct builder_facts {
    bool not_ones; /* some value is not 1 */
    bool varied;   /* some row has two values */
    bool inexact;  /* some value is not a float */
} builder_facts;

rows_form builder_form(builder_facts facts);

typedef struct builder builder;
struct builder {
    builder_facts facts;
    rows_form form; /* of what is held: builder_form(facts), unless upgraded beyond */
    uint64_t count, cells;
    uint64_t *start;  /* [count + 1]; NULL until room is made */
    double *label;    /* [count] */
    uint32_t *column; /* [cells] ones, constant, double */
    rows_pair *pair;  /* [cells] float */
    double *value;    /* constant: [count], 0 for a row without cells; double: [cells] */
    /* Items that each array has room for in front of its first: rows of those by row, cells of the others. */
    uint64_t gap_rows, gap_cells;
    /* Taken. 0 where an array is somebody else's and only read: then rows are not added or cut. */
    uint64_t start_bytes, label_bytes, column_bytes, pair_bytes, value_bytes;
};

/* A zeroed builder is empty. builder_free leaves it so. One where the gaps alone are set is empty as well: rows that
 * are put in front later find room there. Large arrays are mapped, so that a gap is no memory until it is used. */
void builder_free(builder *b);

/* Room for so many more rows and cells: adding them cannot fail but by a change of form. */
bool builder_reserve(builder *b, uint64_t more_rows, uint64_t cells, bda_error *err);

/* Columns increase, values are finite and not 0; NULL: all are 1. Room is there. */
bool builder_add(builder *b, double label, const uint32_t *column, const double *value, uint64_t cells,
                 bda_error *err);

/* Holds the rows in a larger form. */
bool builder_upgrade(builder *b, rows_form form, bda_error *err);

/* Keeps the rows [first, end). They stay where they are if few are dropped before them. */
void builder_cut(builder *b, uint64_t first, uint64_t end);

/* Puts the rows of `other`, which is emptied, before or behind those of b. The rows of b stay where they are if there
 * is room. */
bool builder_join(builder *b, builder *other, bool front, bda_error *err);

/* Gives back the room that is not used. start and label are there afterwards, also where there are no rows. */
bool builder_fit(builder *b, bda_error *err);

uint64_t builder_bytes(const builder *b); /* taken, without the gaps */

#endif
