/* digest.h - one number that tells data sets apart. */
#ifndef DATA_DIGEST_H
#define DATA_DIGEST_H

#include "data/data.h"

/* Of all rows and labels in their order, however they were read and whoever holds them. Costs a pass over the rows.
 * Collective. */
uint64_t data_digest(comm *c, const data *d, int threads);

#endif
