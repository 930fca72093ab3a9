/* metrics.h - how good predictions are, from all decision values in the order of the data: the same numbers, to the
 * last bit, for any number of ranks. */
#ifndef RUN_METRICS_H
#define RUN_METRICS_H

#include "run/model.h"

typedef struct scored {
    double score; /* x'w */
    double label; /* as the data has it */
} scored;

/* The label that a score stands for; LIBLINEAR decides 0 the same way. */
static inline double metrics_decide(const bda_model *m, double score)
{
    return score > 0 ? m->labels[0] : m->labels[1];
}

/* Reorders `all`. */
void metrics_compute(const bda_model *m, scored *all, uint64_t count, bda_metrics *metrics);

#endif
