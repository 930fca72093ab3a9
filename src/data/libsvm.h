/* libsvm.h - LIBSVM text to rows: `label index:value ...`, a line an instance. docs/formats.md has the grammar. */
#ifndef DATA_LIBSVM_H
#define DATA_LIBSVM_H

#include "data/row_sink.h"

#define LIBSVM_LARGEST_INDEX 4294967294u /* 2^32 - 2 */

/* The sink of libsvm_format (format.h). Zeroed but for its options, zero_based and may_lack_labels, it is empty. */
typedef struct libsvm {
    row_sink to;
    bool zero_based;
    bool may_lack_labels; /* a line may begin with index:value; its label is NAN */

    uint32_t *column; /* of one row, [room]: private */
    double *value;
    uint64_t column_bytes, value_bytes;
    const char *where; /* the text that cannot be read */
} libsvm;

#endif
