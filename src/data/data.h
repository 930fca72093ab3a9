/* data.h - one rank's part of a data set: its rows and labels, and what all ranks agree on. */
#ifndef DATA_DATA_H
#define DATA_DATA_H

#include "base/memory.h"
#include "comm/comm.h"
#include "data/rows.h"

#define DATA_LABELS_COUNTED BDA_MOST_CLASSES /* distinct labels are listed up to this number */

struct bda_data {
    rows rows;           /* bias 0; columns = features */
    const double *label; /* [rows.count] */

    /* The same on all ranks */
    uint64_t features;            /* n without a constant feature: largest column + 1 */
    uint64_t instances, nonzeros; /* of all ranks */
    uint64_t blocks;              /* K */
    bool reordered;
    double *labels;       /* [label_count] the distinct labels in increasing order; NULL where there are too many */
    uint64_t label_count; /* how many; DATA_LABELS_COUNTED + 1: more than that */
    double label_least, label_most;
    uint64_t bytes_read;
    const char *format; /* as bda_data_summary has it */

    /* This rank's */
    uint64_t first_instance;
    uint64_t first_block, local_blocks;
    uint64_t *block_start; /* [local_blocks + 1] row where each block of this rank begins; 0 first, rows.count last */
    uint64_t bytes_held;
    double seconds;
    char *name;                 /* the path as it was given */
    struct data_memory *memory; /* private to src/data */
};
typedef bda_data data;

typedef struct data_request {
    const char *path; /* may hold "{rank}": then each rank reads its own file */
    bool zero_based;  /* LIBSVM text counts features from 0 */
    uint64_t blocks;  /* K > 0 */
    int threads;      /* share the text of this rank */
} data_request;

/* Reads and checks. A shared file is cut into K contiguous blocks of equal numbers of instances (block k holds the
 * instances floor(k l / K) up to floor((k+1) l / K)), and each rank reads those of its own blocks only. With "{rank}"
 * each rank cuts its own instances into its blocks; K must not be below the number of ranks. Collective. */
data *data_read(comm *c, const data_request *request, bda_error *err);

/* See bda_data_rows. Collective. */
data *data_copy(comm *c, uint64_t blocks, uint64_t count, const uint64_t *start, const uint32_t *column,
                const double *value, const double *label, bda_error *err);
void data_free(data *d);

/* Rank 0 assembles the file in instance order. text: LIBSVM, otherwise our binary format. Numbers are written with
 * as many digits as it takes to read the same double again. The path's ending .gz or .zst packs text. Collective. */
bool data_write(comm *c, const data *d, const char *path, bool text, bool zero_based, bda_error *err);

typedef struct data_shape data_shape; /* what `generate --like` can imitate: a table in data/generate.c */
struct data_shape {
    const char *name; /* NULL ends the table */
    uint64_t instances, features;
    double nonzeros_per_row;
    double exponent;  /* of the power law of feature frequencies */
    rows_form values; /* ones, constant (1/sqrt(nonzeros) per row) or float (tf-idf-like, unit length) */
    double positive;  /* fraction of the label +1 */
    double noise;     /* fraction of labels flipped */
};
extern const data_shape data_shapes[];

/* Instances and features are multiplied by `scale`. The bytes depend on shape, scale and seed alone. Collective. */
bool data_generate(comm *c, const data_shape *shape, double scale, uint64_t seed, const char *path, bool text,
                   bda_error *err);

/* Does the file begin like our binary data? */
bool data_is_binary(const char *path);

#endif
