/* csv_read.h - tables to rows, by all ranks together or by each its own. Private to src/data. */
#ifndef DATA_CSV_READ_H
#define DATA_CSV_READ_H

#include "data/parts.h"
#include "data/shard.h"

/* Reads this rank's rows and fills `to`, with the schema. Collective. A failure may be one of this rank alone: the
 * caller agrees. */
bool csv_read(comm *c, const data_request *request, parts *from, bool shared, shard *to, bda_error *err);

#endif
