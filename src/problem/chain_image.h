/* chain_image.h - the image X x of a change x of the tags of one sentence, as a hash table of the columns and tags where it
 * is not 0. For sentences so long that there are too many products of pairs of tokens. Local. */
#ifndef PROBLEM_CHAIN_IMAGE_H
#define PROBLEM_CHAIN_IMAGE_H

#include "base/memory.h"
#include "data/rows.h"

typedef struct chain_image {
    const rows *rows;
    const double *h; /* [columns * tags] the norm, the same for all tags of a column; NULL: 1 */
    uint64_t tags;
    arena memory;
    uint64_t *key; /* [slots] column * tags + tag, plus 1; 0: free */
    double *value; /* [slots] */
    uint64_t slots;
    int shift;
} chain_image;

/* An empty image with room for `entries` calls of chain_image_add and a cell. False: no memory. */
bool chain_image_open(chain_image *m, const rows *r, uint64_t tags, const double *h, uint64_t entries);
void chain_image_close(chain_image *m);

/* The image += step times the row, of that tag. */
void chain_image_add(chain_image *m, uint64_t row, uint64_t tag, double step);
/* The row, of that tag, times H times the image. */
double chain_image_times(const chain_image *m, uint64_t row, uint64_t tag);
double chain_image_norm(const chain_image *m); /* its square in the norm of h */

/* Entries of a row, for chain_image_open. */
uint64_t chain_image_entries(const rows *r, uint64_t row);

#endif
