/* schema.h - what the columns of a table (CSV, TSV) are, and which features they become: a number is one feature, a
 * column of texts has one for each of its values (1 where the cell has it). Training makes the schema, and prediction
 * needs it: it is kept in the model. */
#ifndef DATA_SCHEMA_H
#define DATA_SCHEMA_H

#include "base/bytes.h"
#include "data/label_table.h"

#define SCHEMA_MOST_VALUES 65536 /* different texts of a column */

typedef enum schema_missing { SCHEMA_REFUSE, SCHEMA_ZERO, SCHEMA_MEAN } schema_missing;

typedef struct schema_column {
    const char *name;
    bool is_text;
    uint32_t first;     /* its feature, or that of its first value */
    double mean;        /* of the cells of training that were not empty; of numbers */
    label_table values; /* of a column of texts, in order of bytes */
} schema_column;

typedef struct data_schema {
    char separator;         /* ',' or a tab */
    schema_missing missing; /* what an empty cell is: an error, a zero, the mean. Of texts: none of the values */
    const char *label;      /* the column of labels */
    bool named;             /* labels are texts */
    schema_column *column;  /* [columns] in the order of the first header of training, without that of labels */
    uint64_t columns, features;
    arena memory; /* holds all of it */
} data_schema;

void schema_free(data_schema *s); /* accepts what is zeroed */

/* Sets `first` of all columns, and `features`. False and a sentence where there are too many. */
bool schema_number(data_schema *s, bda_error *err);

/* For a section of the model file. */
void schema_pack(const data_schema *s, bytes *to);
/* False, and nothing to free, where the bytes are none of schema_pack: then err is set for want of memory alone. */
bool schema_unpack(data_schema *s, byte_reader *from, bda_error *err);

/* The name of feature j, "column" or "column=value", cut to `room` bytes. */
void schema_feature(const data_schema *s, uint64_t j, char *text, uint64_t room);

#endif
