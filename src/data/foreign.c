/* foreign.c - see foreign.h. */
#include "data/foreign.h"

#include <string.h>

typedef struct foreign {
    const char *begin; /* the first bytes */
    uint64_t length;
    const char *is;
} foreign;

#define BYTES(text) text, sizeof(text) - 1
#define UNPACK "; unpack it first, or pack it as .gz or .zst"
#define CONVERT "; write it as LIBSVM text or CSV first"

static const foreign table[] = {
    {BYTES("\xfd"
           "7zXZ\0"),
     "is packed by xz" UNPACK},
    {BYTES("BZh"), "is packed by bzip2" UNPACK},
    {BYTES("\x04\x22\x4d\x18"), "is packed by lz4" UNPACK},
    {BYTES("PK\x03\x04"), "is a zip archive" UNPACK},
    {BYTES("7z\xbc\xaf\x27\x1c"), "is a 7z archive" UNPACK},
    {BYTES("\x93NUMPY"), "is an array of NumPy (.npy)" CONVERT},
    {BYTES("PAR1"), "is a Parquet file" CONVERT},
    {BYTES("ARROW1"), "is an Arrow file" CONVERT},
    {BYTES("\x89HDF\r\n\x1a\n"), "is an HDF5 file" CONVERT},
    {BYTES("BDAMODEL"), "is a model of bda, not data"},
};

const char *foreign_starts(const char *head, uint64_t length)
{
    for (uint64_t k = 0; k < sizeof table / sizeof *table; k++)
        if (length >= table[k].length && memcmp(head, table[k].begin, table[k].length) == 0)
            return table[k].is;
    return NULL;
}
