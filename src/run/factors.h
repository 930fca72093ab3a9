/* factors.h - penalty factors of features, from a text file (--feature-penalty). */
#ifndef RUN_FACTORS_H
#define RUN_FACTORS_H

#include "comm/comm.h"

/* factor: [features], all 1 but for those that the file names. Rank 0 reads, all get the same. Collective. */
bool factors_read(comm *c, const char *path, bool zero_based, uint64_t features, double *factor, bda_error *err);

#endif
