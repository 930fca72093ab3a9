/* frequency.h - columns by how many rows have them: in text a few have most of the cells, and most occur once. */
#ifndef DATA_FREQUENCY_H
#define DATA_FREQUENCY_H

#include <stdint.h>

#define FREQUENCY_BUCKETS 65536   /* what is more frequent than that is in the last */
#define FREQUENCY_RARE UINT32_MAX /* the place of a column that occurs less than `least` times */

/* count: [columns] how often each occurs -> its place by falling frequency, from 0. Returns how many have one.
 * bucket: [FREQUENCY_BUCKETS], work space */
uint64_t frequency_places(uint32_t *count, uint64_t columns, uint32_t least, uint64_t *bucket);

#endif
