/* text.h - reads text of any format (format.h) from one file or several, by one rank or by all of them. */
#ifndef DATA_TEXT_H
#define DATA_TEXT_H

#include "data/format.h"
#include "data/parts.h"

/* All units, into an empty sink that the caller closes. Local. */
bool text_read(const format *f, parts *from, int threads, void *sink, bda_error *err);

/* Those units of all parts that are in the share of the bytes of `rank` of `size`, to look at them: all ranks together
 * have every unit once. Local. */
bool text_look(const format *f, parts *from, int rank, int size, int threads, void *sink, bda_error *err);

/* This rank's units: of the l units of all parts and K blocks, rank r gets those of its blocks, where block k has the
 * units floor(k l / K) up to, not including, floor((k+1) l / K). Collective, in that all ranks get here and leave in
 * the same state; a failure that strikes one rank at the end is left for the caller to spread. */
bool text_read_shared(comm *c, const format *f, parts *from, uint64_t blocks, int threads, void *sink,
                      bda_error *err);

#endif
