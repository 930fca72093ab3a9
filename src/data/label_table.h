/* label_table.h - the distinct labels of data or of a model: their names, and their values where the names are
 * numbers. The place of a label in the table is its class number. */
#ifndef DATA_LABEL_TABLE_H
#define DATA_LABEL_TABLE_H

#include "base/memory.h"

#define LABEL_NONE UINT32_MAX /* the class number of a label that a table does not have */

typedef struct label_table {
    uint64_t count;
    const char *const *name; /* [count] as files and messages show them; NULL: they are not listed */
    const double *number;    /* [count] their values; NULL where the names are not numbers */
} label_table;

/* False also where there are too many labels to list, which only numbers may be. */
static inline bool labels_are_names(const label_table *t)
{
    return t->name && !t->number;
}

/* The class number of a value or of a name, LABEL_NONE where there is none. Tables of more than LABEL_FEW labels are
 * in increasing order: by value where the names are numbers, else by bytes. */
#define LABEL_FEW 4
uint32_t label_of_number(const label_table *t, double x);
uint32_t label_of_name(const label_table *t, const char *name);

/* class: [from->count] the class number in `to` of each label of `from`. Values are compared where both have them. */
void label_match(const label_table *from, const label_table *to, uint32_t *class);

/* Makes a table that owns its labels, in the order given; of the names of values where `name` is NULL. */
bool label_table_make(label_table *t, uint64_t count, const char *const *name, const double *number, arena *memory,
                      bda_error *err);

#endif
