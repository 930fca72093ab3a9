/* export.h - models in other formats, each a function in a table. */
#ifndef RUN_EXPORT_H
#define RUN_EXPORT_H

#include "base/output.h"
#include "run/model.h"

/* They check that the format can hold the model before they write anything; out_commit is the caller's. */
typedef struct export_format {
    const char *name;                                 /* NULL ends the table */
    bool (*fits)(const bda_model *m, bda_error *err); /* NULL: always */
    void (*write)(const bda_model *m, output *out);
} export_format;

extern const export_format export_formats[];

void export_json(const bda_model *m, output *out);
void export_c(const bda_model *m, output *out);

/* The features with a weight that is not 0, the constant one not among them. */
static inline bool export_is_used(const bda_model *m, uint64_t feature)
{
    for (uint64_t k = 0; k < m->outputs; k++)
        if (m->w[feature * m->outputs + k] != 0)
            return true;
    return false;
}

#endif
