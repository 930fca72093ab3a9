/* bda.h - the public interface of libbda: learn linear models from data on one or many machines.
 *
 * Ownership: every function that returns a pointer gives the caller an object to be released with the matching
 * *_free, which accepts NULL. Strings that are passed in are copied. Strings that come back belong to the object.
 *
 * Errors: functions that can fail take a bda_error as last argument (never NULL), return false or NULL on failure,
 * and leave one sentence in it. Nothing in the library prints or exits.
 *
 * Ranks: functions marked "collective" must be called by all ranks of the communicator with the same arguments. They
 * fail on all ranks together, with the same sentence.
 */
#ifndef BDA_H
#define BDA_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BDA_VERSION "0.1.0"

#define BDA_MOST_CLASSES 65536 /* classification with more distinct labels is refused */

#if defined(__GNUC__)
#define BDA_API __attribute__((visibility("default")))
#else
#define BDA_API
#endif

/* ---- errors ------------------------------------------------------------------------------------------------ */

typedef enum bda_status {
    BDA_OK = 0,
    BDA_FAILED = 1, /* bad data, input or output, numbers, a lost rank */
    BDA_USAGE = 2   /* a setting is wrong, or wrong for these data; nothing was trained */
} bda_status;

typedef struct bda_error {
    bda_status status;
    char text[1000]; /* one sentence without a final newline; "" where status is BDA_OK */
} bda_error;

/* ---- communicators ----------------------------------------------------------------------------------------- */

typedef struct bda_comm bda_comm;

/* One rank, no MPI. */
BDA_API bda_comm *bda_comm_single(bda_error *err);

/* Starts MPI if a launcher (mpirun, srun) started this process, and covers all its ranks; otherwise one rank
 * without MPI. Ends MPI when freed, if it started it. */
BDA_API bda_comm *bda_comm_launch(bda_error *err);

/* `mpi_comm` points to an MPI_Comm, which is duplicated; MPI must be initialised. Collective. */
BDA_API bda_comm *bda_comm_mpi(const void *mpi_comm, bda_error *err);

BDA_API int bda_comm_rank(const bda_comm *comm);
BDA_API int bda_comm_size(const bda_comm *comm);

/* Collective: where any rank passes ok = false, all get false and the error of the lowest such rank. */
BDA_API bool bda_comm_agree(bda_comm *comm, bool ok, bda_error *err);

BDA_API void bda_comm_free(bda_comm *comm);

/* ---- settings ---------------------------------------------------------------------------------------------- */

typedef enum bda_option_type {
    BDA_FLAG,    /* no value on the command line; "0" or "1" here */
    BDA_INTEGER, /* a whole number within [least, most] */
    BDA_REAL,    /* a finite number within [least, most] */
    BDA_CHOICE,  /* one of `choices` */
    BDA_TEXT     /* anything; checked where it is used */
} bda_option_type;

/* One option of one command. The tables are the one place where options are declared: the command line, --help, the
 * run log and other languages read them. */
typedef struct bda_option {
    const char *name; /* "local-epochs"; NULL ends a table */
    char letter;      /* short form, 0 for none */
    bda_option_type type;
    const char *argument;         /* "N": how --help names the value */
    const char *preset;           /* the default as text, "" where unset means something of its own */
    double least, most;           /* of BDA_INTEGER and BDA_REAL */
    bool above_least, below_most; /* the bound itself is excluded */
    bool repeats;                 /* may be given more than once; values are joined by newlines */
    const char *const *choices;   /* NULL-terminated, of BDA_CHOICE */
    const char *help;
    size_t offset; /* private */
} bda_option;

typedef struct bda_settings bda_settings;

/* The options of "train", "predict", "convert", "generate", "export" or "info"; NULL for an unknown command. */
BDA_API const bda_option *bda_options(const char *command);

BDA_API bda_settings *bda_settings_new(const char *command, bda_error *err);
/* `name` is spelled as in the table; underscores are taken for dashes. Refused with BDA_USAGE: an unknown name, a
 * value that is not of the option's type or range. */
BDA_API bool bda_set(bda_settings *settings, const char *name, const char *value, bda_error *err);
/* The value as text, the default if it was not set; NULL for an unknown name. */
BDA_API const char *bda_get(const bda_settings *settings, const char *name);
/* Do the settings fit together (of a training: task, loss, method)? One sentence if not; needs no data. */
BDA_API bool bda_check(const bda_settings *settings, bda_error *err);
BDA_API void bda_settings_free(bda_settings *settings);

/* A table of the methods: a line each, what it is and what it needs. Static text. */
BDA_API const char *bda_method_list(void);

/* ---- data -------------------------------------------------------------------------------------------------- */

typedef struct bda_data bda_data;

typedef struct bda_data_summary {
    uint64_t instances, features, nonzeros; /* of all ranks */
    uint64_t bytes_read;                    /* of the file or files, by all ranks */
    double seconds;                         /* to load */
    uint64_t bytes_held;                    /* in memory, this rank */
    const char *values;                     /* "ones", "one per row", "float", "double": how values are held */
    const char *format;                     /* "LIBSVM text", "LIBSVM text, gzip", ..., "bda binary" */
    bool reordered;                         /* some row had its indices unsorted, and was sorted */
    uint64_t labels;                        /* distinct labels; BDA_MOST_CLASSES + 1: more than that */
} bda_data_summary;

/* Reads this rank's part of a file (or its own file where `path` has "{rank}" in it). Settings: a "train",
 * "predict", "convert" or "info" set; zero-based, blocks and threads are used. Collective. */
BDA_API bda_data *bda_data_read(bda_comm *comm, const bda_settings *settings, const char *path, bda_error *err);
/* Copies rows from memory: row i has cells start[i] to start[i+1]-1, columns from 0, increasing within a row.
 * `value` may be NULL (all ones). Each rank passes its own rows. Collective. */
BDA_API bda_data *bda_data_rows(bda_comm *comm, const bda_settings *settings, uint64_t rows, const uint64_t *start,
                                const uint32_t *column, const double *value, const double *label, bda_error *err);
BDA_API void bda_data_summarise(const bda_data *data, bda_data_summary *summary);
/* The distinct labels in increasing order and how many instances have each, up to `capacity` of them; none where
 * there are more than BDA_MOST_CLASSES. Returns how many. Collective. */
BDA_API uint64_t bda_data_labels(bda_comm *comm, const bda_data *data, uint64_t capacity, double *label,
                                 uint64_t *count);
/* Writes the binary format, or LIBSVM text where the settings or the name say so. Collective. */
BDA_API bool bda_data_write(bda_comm *comm, const bda_data *data, const bda_settings *settings, const char *path,
                            bda_error *err);
BDA_API void bda_data_free(bda_data *data);

/* Writes synthetic data as the "generate" settings say. Collective. */
BDA_API bool bda_generate(bda_comm *comm, const bda_settings *settings, const char *path, bda_error *err);

/* ---- training ---------------------------------------------------------------------------------------------- */

typedef struct bda_model bda_model;

typedef enum bda_reason {
    BDA_REACHED_GAP,
    BDA_MAX_ROUNDS,
    BDA_MAX_TIME,
    BDA_STALLED, /* the objective no longer changes in double precision */
    BDA_INTERRUPTED,
    BDA_FINISHED /* the method did all that it does */
} bda_reason;

/* The same on every rank. */
typedef struct bda_progress {
    uint64_t round;
    double seconds;                   /* since training began */
    double primal, best_primal, dual; /* dual: f(alpha) of the paper, at the optimum minus the primal */
    bool has_dual;                    /* without it dual and relative_gap are NAN, and target is 0 */
    double relative_gap, target;      /* target: the gap asked for */
    double step;
} bda_progress;

typedef struct bda_observer {
    void (*round)(void *self, const bda_progress *progress); /* after each round, on every rank; may be NULL */
    void *self;
    const volatile sig_atomic_t *interrupt; /* training ends after the round in which it becomes non-zero; or NULL */
} bda_observer;

typedef struct bda_outcome {
    bda_reason reason;
    /* All that was asked for was done: the gap was reached, or the method ended in its own way (it was finished, or
     * has no dual and did its rounds) and nobody asked for a gap. */
    bool complete;
    bda_progress last;   /* of the best model */
    uint64_t peak_bytes; /* resident memory of the rank that used most */
    int interrupt;       /* BDA_INTERRUPTED: the largest *interrupt of all ranks */
    bda_error log;       /* not BDA_OK: why the run log is incomplete; the model is good all the same */
} bda_outcome;

/* Trains, writes the run log if the settings name one, and returns the best model found; `outcome` says whether the
 * gap was reached. `observer` may be NULL. Collective; the model is the same on all ranks. */
BDA_API bda_model *bda_train(bda_comm *comm, const bda_data *data, const bda_settings *settings,
                             const bda_observer *observer, bda_outcome *outcome, bda_error *err);

/* Bytes that one rank of `size` with the settings' threads and blocks would need to train on such data. */
BDA_API uint64_t bda_forecast(const bda_data_summary *summary, const bda_settings *settings, int size);

/* ---- models ------------------------------------------------------------------------------------------------ */

typedef struct bda_model_summary {
    const char *task, *loss, *method;
    double cost, epsilon, bias; /* bias < 0: none */
    double l1_ratio;
    uint64_t features; /* without the constant feature */
    uint64_t nonzero_weights;
    uint64_t classes;            /* 0 for regress */
    const double *labels;        /* [classes] the larger first where there are two, in increasing order otherwise */
    double primal, relative_gap; /* at the end of training */
    uint64_t instances;
    /* [features][outputs], then the weights of the constant feature where bias >= 0; outputs is 1 for up to two
     * classes, else a weight for each class */
    const double *weights;
    uint64_t outputs;
} bda_model_summary;

BDA_API bda_model *bda_model_read(const char *path, bda_error *err);
BDA_API bool bda_model_write(const bda_model *model, const char *path, bda_error *err);
/* format: "liblinear" */
BDA_API bool bda_model_export(const bda_model *model, const char *format, const char *path, bda_error *err);
BDA_API void bda_model_summarise(const bda_model *model, bda_model_summary *summary);
BDA_API void bda_model_free(bda_model *model);

/* Does the file start like one of our models? Cheap; false also where it cannot be read. */
BDA_API bool bda_is_model(const char *path);

/* ---- prediction -------------------------------------------------------------------------------------------- */

/* Those that do not apply are NAN. */
typedef struct bda_metrics {
    uint64_t instances;
    uint64_t unknown_labels;   /* instances whose label the model does not know: wrong predictions all */
    double accuracy, log_loss; /* classify; log_loss: logistic only */
    double auc, f1;            /* classify, two labels; f1 of the larger one */
    double macro_f1;           /* classify, more labels: the mean over those that occur */
    double mse, mae, r2;       /* regress */
} bda_metrics;

/* Labels the data and writes a line each to `output` ("-": standard output; NULL: nowhere) in the order of the data;
 * settings of "predict". `metrics` may be NULL; it is the same on all ranks. Collective; rank 0 writes. */
BDA_API bool bda_predict(bda_comm *comm, const bda_model *model, const bda_data *data, const bda_settings *settings,
                         const char *output, bda_metrics *metrics, bda_error *err);

#ifdef __cplusplus
}
#endif
#endif
