/* csv.h - tables with a header as text: CSV and TSV. docs/formats.md has the rules.
 *
 * A table is read twice or three times: to see which columns are numbers (and their means), to list the values of those
 * that are texts, and to make rows. Each time is a `const format` with a sink of its own. */
#ifndef DATA_CSV_H
#define DATA_CSV_H

#include "base/exact_sum.h"
#include "data/format.h"
#include "data/names.h"
#include "data/schema.h"

typedef struct csv_cell {
    const char *text; /* quotes taken away */
    uint64_t length;
} csv_cell;

/* A line taken apart. */
typedef struct csv_line {
    csv_cell *cell; /* [count] */
    uint64_t count;
    uint64_t cell_bytes;
    char *copy; /* [copy_bytes] cells that had doubled quotes in them, behind LINES_BEFORE bytes */
    uint64_t copy_bytes;
} csv_line;

/* The line [p, end), without its newline. On failure *where points to what is wrong. */
bool csv_split(csv_line *l, char separator, const char *p, const char *end, const char **where, bda_error *err);
void csv_line_free(csv_line *l);
bool csv_number(csv_cell c, double *x); /* false: it is no finite number */

#define CSV_LABEL UINT32_MAX
#define CSV_OTHER (UINT32_MAX - 1)

/* What both sinks have: the columns of the file that is being read. */
typedef struct csv_columns {
    const data_schema *schema;
    bool strict;     /* training: the file has the columns of the schema, all of them, and no others */
    uint32_t *place; /* [count] the number of the schema's column that a column is, CSV_LABEL or CSV_OTHER */
    uint64_t count;
    bool has_label;
    csv_line line;
    arena memory;
} csv_columns;

/* Sees which columns a header names. */
bool csv_header(csv_columns *s, const char *text, uint64_t length, const char **where, bda_error *err);
void csv_columns_free(csv_columns *s);

/* ---- what the columns are ---- */

typedef struct csv_facts {
    uint64_t empty, texts, numbers; /* cells */
    exact_sum sum;                  /* of the numbers */
    name_set values;                /* where they are collected */
} csv_facts;

typedef struct csv_survey {
    csv_columns columns;
    bool collects;    /* texts of the columns that the schema says are texts; otherwise counts and adds up */
    csv_facts *facts; /* [schema->columns + 1], of the label last */
    uint64_t lines;
    bool failed; /* no memory for the facts */
} csv_survey;

/* ---- rows ---- */

typedef struct csv_rows {
    row_sink to;
    csv_columns columns;
    bool needs_label;
    const csv_cell **cell_of; /* [schema->columns] */
    uint32_t *column;         /* of one row */
    double *value;
    uint64_t room; /* of these three; 0: none yet */
} csv_rows;

extern const format csv_survey_format, csv_format;

#endif
