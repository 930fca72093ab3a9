/* regulariser.c - the table of regularisers, and which of them a request means. */
#include "problem/regulariser.h"

#include <stddef.h>

const regulariser *const regularisers[] = {&squared_norm, &weighted_norm, &elastic_net, NULL};

penalty penalty_for(uint64_t columns, uint64_t outputs, uint64_t shared, double l1_ratio, const double *factor,
                    int threads)
{
    double least = 1;
    for (uint64_t j = 0; factor && j < columns; j++)
        least = factor[j] < least ? factor[j] : least;
    return (penalty){
        .kind = l1_ratio > 0 ? &elastic_net
                : factor     ? &weighted_norm
                             : &squared_norm,
        .n = columns * outputs + shared,
        .columns = columns,
        .outputs = outputs,
        .l1_ratio = l1_ratio,
        .factor = factor,
        .threads = threads,
        .convexity = least * (1 - l1_ratio),
    };
}
