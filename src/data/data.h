/* data.h - one rank's part of a data set: its rows and labels, and what all ranks agree on. */
#ifndef DATA_DATA_H
#define DATA_DATA_H

#include "base/memory.h"
#include "comm/comm.h"
#include "data/label_table.h"
#include "data/rows.h"

#define DATA_LABELS_COUNTED BDA_MOST_CLASSES /* distinct labels are listed up to this number */

/* What the rows are labelled with. */
typedef struct targets {
    const double *real;    /* [rows.count] the labels as numbers; NULL where they are names */
    const uint32_t *class; /* [rows.count] their class numbers; NULL where there are too many labels to list */
} targets;

/* What is learnt from one at a time is a unit: a row, or several, as the tokens of a sentence. Instances are units. */
struct bda_data {
    rows rows; /* bias 0; columns = features */
    targets target;
    const double *weight; /* [rows.count] all above 0; NULL: 1 */

    /* The same on all ranks */
    uint64_t features;           /* n without a constant feature: largest column + 1 */
    uint64_t instances;          /* units of all ranks */
    uint64_t rows_all, nonzeros; /* of all ranks */
    uint64_t blocks;             /* K */
    bool reordered;
    bool unlabelled;    /* some rows have no label; 0 stands for it */
    label_table labels; /* the distinct labels; not listed, and count DATA_LABELS_COUNTED + 1, where there are more */
    double label_least, label_most;   /* NAN where labels are names */
    const struct data_schema *schema; /* of a table, NULL for other formats */

    struct {        /* where they came from; members are named directly, as are those of the next group */
        char *name; /* the path as it was given */
        uint64_t bytes_read;
        const char *format;          /* as bda_data_summary has it */
        bool binary;                 /* read from our own format */
        uint64_t files, empty_files; /* read; of these, where ranks read their own, those without instances */
        int first_empty;             /* the lowest rank whose own files are empty; the number of ranks: none */
        double seconds;              /* that reading took */
    };
    struct { /* this rank's */
        uint64_t units;
        const uint64_t *unit_row; /* [units + 1] where the rows of each unit begin; NULL: row i is unit i */
        uint64_t first_instance;  /* of all, the number of this rank's first unit */
        uint64_t first_row;       /* likewise of its first row */
        uint64_t first_block, local_blocks;
        uint64_t *block_start; /* [local_blocks + 1] unit where each block of this rank begins; 0 first, units last */
        uint64_t bytes_held;
    };
    struct sentences *sentences; /* what rows of sentences were made from (src/sentence), or NULL */
    void (*free_sentences)(struct sentences *sentences);
    struct data_memory *memory; /* private to src/data */
};
typedef bda_data data;

/* The first row of a unit, counted from 0 among this rank's; behind the last unit the number of rows. */
static inline uint64_t data_unit_row(const data *d, uint64_t unit)
{
    return d->unit_row ? d->unit_row[unit] : unit;
}

/* The rows of the k-th block of this rank: [*first, *end). */
static inline void data_block_rows(const data *d, uint64_t k, uint64_t *first, uint64_t *end)
{
    *first = data_unit_row(d, d->block_start[k]);
    *end = data_unit_row(d, d->block_start[k + 1]);
}

typedef struct table_request {
    const struct data_schema *schema; /* for prediction: that of training, which counts instead of all below */
    char separator;                   /* ',' or a tab */
    const char *label;                /* name of the column */
    int missing;                      /* a schema_missing */
} table_request;

typedef struct data_request {
    /* A file, a directory, a pattern or "-": see listing.h. With "{rank}" in it each rank reads files of its own. */
    const char *path;
    const char *const *others; /* more of them, which follow: [other_count] */
    uint64_t other_count;
    const table_request *table; /* the files are tables; NULL: they are not */
    bool may_lack_labels;       /* all rows have labels, or none has */
    bool zero_based;            /* LIBSVM text counts features from 0 */
    uint64_t blocks;            /* K > 0 */
    int threads;                /* share the text of this rank */
} data_request;

/* Reads and checks. Several files are read as if they were one, in their order. What is shared is cut into K contiguous blocks of equal numbers of instances (block k holds the
 * instances floor(k l / K) up to floor((k+1) l / K)), and each rank reads those of its own blocks only. With "{rank}"
 * each rank cuts its own instances into its blocks; K must not be below the number of ranks. Collective. */
data *data_read(comm *c, const data_request *request, bda_error *err);

/* See bda_data_rows. Collective. */
data *data_copy(comm *c, uint64_t blocks, uint64_t count, const uint64_t *start, const uint32_t *column,
                const double *value, const double *label, bda_error *err);
/* The same for labels that are names. */
data *data_copy_named(comm *c, uint64_t blocks, uint64_t count, const uint64_t *start, const uint32_t *column,
                      const double *value, const char *const *label, bda_error *err);

/* Units of several rows, such as sentences, that each rank has put together. */
typedef struct data_units {
    uint64_t units;
    const uint64_t *unit_row; /* [units + 1] begins with 0 */
    const uint64_t *start;    /* [rows + 1] cells of each row; a row may have none */
    const uint32_t *column;   /* [cells] increasing within a row */
    const double *value;      /* [cells] NULL: all are 1 */
    const uint32_t *class;    /* [rows] class numbers below `labels` */
    uint64_t labels;          /* 1 to DATA_LABELS_COUNTED */
    const char *const *label; /* [labels] their names, the same on all ranks, in increasing order of bytes */
    const char *name;         /* of what it was read from, for messages */
    const char *format;       /* as in bda_data_summary */
    uint64_t bytes_read;
    uint64_t features; /* at least so many; more where there are larger columns */
    bool shared;       /* the units are the rank's share of one sequence, as data_share says */
} data_units;

/* Copies them. Blocks hold whole units. Without `shared` each rank has what it brings, and blocks are cut within, of
 * which there must be one a rank at least. `labels` are known beforehand: some may occur nowhere. Collective. */
data *data_copy_units(comm *c, uint64_t blocks, const data_units *from, bda_error *err);

/* The same for rows that were put together where they are to stay: `rows`, whose labels are not looked at, is taken
 * over; start, column and value of `from` are not looked at. The columns of a row differ, and are in any order.
 * Collective; fails on all ranks where `ok` is false on one. */
struct builder;
data *data_take_units(comm *c, uint64_t blocks, struct builder *rows, bool ok, const data_units *from,
                      bda_error *err);

/* Which units of a shared sequence of so many are a rank's: [*first, *end). */
void data_share(uint64_t units, uint64_t blocks, int rank, int size, uint64_t *first, uint64_t *end);

/* See bda_data_matrix; takes a structure of this version. Collective. */
data *data_copy_matrix(comm *c, uint64_t blocks, const bda_matrix *m, bda_error *err);
/* The rows whose `keep` is not 0 ([rows of this rank], each row a unit) as data of their own, with the same number of
 * features. Labels that none of them has are not known there. Collective. */
data *data_subset(comm *c, const data *d, const uint8_t *keep, uint64_t blocks, bda_error *err);
/* All ranks' rows, each a unit, as data of this rank alone, whose communicator is `alone`. Collective among the ranks
 * of `c`. */
data *data_gather(comm *c, const data *d, comm *alone, uint64_t blocks, bda_error *err);

/* See bda_data_weigh. Collective. */
bool data_weigh(comm *c, data *d, const double *weight, bda_error *err);
/* Room for the weights of the rows, part of `d`. NULL without memory; local. */
double *data_take_weights(data *d, bda_error *err);
/* `d` gets the rows of `by`, which is freed, and remains what it is otherwise: its name, where it came from, its columns'
 * names. Local. */
void data_replace_rows(data *d, data *by);

void data_free(data *d);

/* Binary data are used where the file has them. Has a page been lost, and zeros stand in its place? Local, cheap. */
bool data_lost(const data *d);
/* Are the files as they were when they were read, on all ranks? Asked when the work is done. Collective. */
bool data_intact(comm *c, const data *d, bda_error *err);

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
