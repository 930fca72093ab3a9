/* bda.h - the public interface of libbda: learn linear models from data on one or many machines.
 *
 * Ownership: every function that returns a pointer gives the caller an object to be released with the matching
 * *_free, which accepts NULL. Strings that are passed in are copied. Strings that come back belong to the object.
 *
 * Errors: functions that can fail take a bda_error as last argument (never NULL), return false or NULL on failure,
 * and leave one sentence in it. Nothing in the library prints or exits.
 *
 * Sizes: structures that begin with `size` may get more members at their end in later versions. Set it before they are
 * passed, best when they are declared:  bda_outcome outcome = {.size = sizeof outcome};  The library looks at, or fills,
 * no more than so many bytes, and members beyond what is given have their defaults. A structure of size 0 is left alone.
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

/* The version of the library that is linked, which may be newer than BDA_VERSION. Static text. */
BDA_API const char *bda_version(void);

/* ---- errors ------------------------------------------------------------------------------------------------ */

typedef enum bda_status {
    BDA_OK = 0,
    BDA_FAILED = 1, /* bad data, input or output, numbers, a lost rank */
    BDA_USAGE = 2   /* a setting is wrong, or wrong for these data; nothing was trained */
} bda_status;

/* Will not grow: it is part of others. */
typedef struct bda_error {
    bda_status status;
    char text[1000]; /* one sentence without a final newline; "" where status is BDA_OK */
    char option[32]; /* the option that the sentence is about, such as "max-rounds"; "" where there is none */
} bda_error;

/* Replaces control characters, which could steer a terminal, by '?', in place. Sentences of errors are plain already;
 * this is for whatever else comes from a file or a person and is shown. */
BDA_API void bda_plain_text(char *text);

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

/* MPI waits for ever for a rank whose host or network is gone, or that was stopped. Ranks that are watched send each other
 * signs of life beside MPI (datagrams over IPv4). Once one has not been heard of for so many seconds, `lost` is called on
 * another, and then with first = false on those that it tells, from a thread of the library: it should end the process.
 * A rank that was never heard of is not missed. patience 0: nobody watches. Lasts until bda_comm_free. Collective. */
BDA_API bool bda_comm_watch(bda_comm *comm, double patience, void (*lost)(void *self, int rank, bool first),
                            void *self, bda_error *err);

/* bda_comm_launch, with the ranks watched from the moment on at which MPI has started. Until all have met nobody knows who
 * is missing: `lost` is called with rank = -1 then, on every rank that waited for so many seconds. */
BDA_API bda_comm *bda_comm_launch_watched(double patience, void (*lost)(void *self, int rank, bool first), void *self,
                                          bda_error *err);

/* Collective: where any rank passes ok = false, all get false and the error of the lowest such rank. */
BDA_API bool bda_comm_agree(bda_comm *comm, bool ok, bda_error *err);

/* Collective: are these words, those of a command line, the same on all ranks? BDA_USAGE and a sentence with the first
 * that differs if not. */
BDA_API bool bda_comm_same_words(bda_comm *comm, int count, char *const *words, bda_error *err);

/* How many processors each rank may keep busy: those it is bound to, its share where ranks of a machine are not bound,
 * and of all ranks the fewest. Collective. */
BDA_API int bda_comm_processors(bda_comm *comm);

BDA_API void bda_comm_free(bda_comm *comm);

/* ---- settings ---------------------------------------------------------------------------------------------- */

typedef enum bda_option_type {
    BDA_FLAG,    /* no value on the command line; "0" or "1" here */
    BDA_INTEGER, /* a whole number within [least, most] */
    BDA_REAL,    /* a finite number within [least, most] */
    BDA_CHOICE,  /* one of `choices` */
    BDA_TEXT,    /* anything; checked where it is used */
    BDA_TIME     /* seconds within [least, most], or with units: 90, 1.5h, 1h30m; a double like BDA_REAL */
} bda_option_type;

/* One option of one command. The tables are the one place where options are declared: the command line, --help, the
 * run log and other languages read them. */
typedef struct bda_option {
    const char *name; /* "local-epochs"; NULL ends a table */
    char letter;      /* short form, 0 for none */
    bda_option_type type;
    const char *argument;         /* "N": how --help names the value */
    const char *preset;           /* the default as text, "" where unset means something of its own */
    double least, most;           /* of BDA_INTEGER, BDA_REAL and BDA_TIME */
    bool above_least, below_most; /* the bound itself is excluded */
    bool repeats;                 /* may be given more than once; values are joined by newlines */
    const char *const *choices;   /* NULL-terminated, of BDA_CHOICE; of BDA_TEXT words worth offering, or NULL */
    const char *help;
    const char *group; /* the heading it stands under in --help: "problem", "data", ...; NULL: none */
    bool file;         /* BDA_TEXT that names a file */
    size_t offset;     /* private */
} bda_option;

typedef struct bda_settings bda_settings;

/* The options of a command; NULL for an unknown one. */
BDA_API const bda_option *bda_options(const char *command);
/* The names of the commands, "train", "predict", ...; NULL ends the list. */
BDA_API const char *const *bda_commands(void);

BDA_API bda_settings *bda_settings_new(const char *command, bda_error *err);
/* `name` is spelled as in the table; underscores are taken for dashes. Refused with BDA_USAGE: an unknown name, a
 * value that is not of the option's type or range. */
BDA_API bool bda_set(bda_settings *settings, const char *name, const char *value, bda_error *err);
/* The value as text, the default if it was not set; NULL for an unknown name. */
BDA_API const char *bda_get(const bda_settings *settings, const char *name);
/* The value of a number or a time (in seconds); NAN for what is neither, or was not set and has no default. */
BDA_API double bda_get_number(const bda_settings *settings, const char *name);
/* Do the settings fit together (of a training: task, loss, method)? One sentence if not; needs no data. */
BDA_API bool bda_check(const bda_settings *settings, bda_error *err);
BDA_API void bda_settings_free(bda_settings *settings);

/* A table of the methods: a line each, what it is and what it needs. Static text. */
BDA_API const char *bda_method_list(void);

typedef struct bda_method_info {
    uint32_t size;
    const char *name, *summary, *needs; /* as in the table */
    bool has_dual;                      /* and so a duality gap */
} bda_method_info;

/* The k-th method from 0; false where there are fewer. */
BDA_API bool bda_method_get(uint64_t k, bda_method_info *method);

/* ---- data -------------------------------------------------------------------------------------------------- */

typedef struct bda_data bda_data;

typedef struct bda_data_summary {
    uint32_t size;
    uint64_t instances, features, nonzeros; /* of all ranks */
    uint64_t bytes_read;                    /* of the file or files, by all ranks */
    double seconds;                         /* to load */
    uint64_t bytes_held;                    /* in memory, this rank */
    const char *values;                     /* "ones", "one per row", "float", "double": how values are held */
    const char *format;                     /* "LIBSVM text", "LIBSVM text, gzip", ..., "bda binary" */
    bool reordered;                         /* some row had its indices unsorted, and was sorted */
    uint64_t labels;                        /* distinct labels; BDA_MOST_CLASSES + 1: more than that */
    uint64_t own_rows;                      /* of this rank */
    bool unlabelled;                        /* good for prediction only */
    uint64_t files;                         /* that were read; 0 for rows from memory */
    uint64_t empty_files;                   /* of these, those without instances */
    int first_empty;                        /* where there are any: the lowest rank that has one */
    uint64_t tokens;                        /* of sentences, all ranks; 0: instances are rows */
} bda_data_summary;

/* Reads this rank's part of the data: `path` is a file, a directory, a pattern such as "parts/?.zst" or "-" for
 * standard input (where there is one rank only). Several files are read as if they were one, in the order of their
 * names. With "{rank}" in the path, or "{rank:05}" for five digits with zeros in front, each rank reads files of its
 * own; ranks count from 0, and a file for a rank beyond the last is refused, not left out. Settings: a "train",
 * "predict", "convert" or "info" set; zero-based, blocks, threads and weights are used. Collective. */
BDA_API bda_data *bda_data_read(bda_comm *comm, const bda_settings *settings, const char *path, bda_error *err);
/* The same for `count` > 0 files (or directories, patterns), one behind the other in the order given. Collective. */
BDA_API bda_data *bda_data_read_files(bda_comm *comm, const bda_settings *settings, uint64_t count,
                                      const char *const *path, bda_error *err);
/* Data to predict with a model: text of sentences where its task is tag or parse; a table (CSV, TSV) where it was
 * trained on one, whose columns are found by their names; and rows may lack labels, all of them or none. Settings: a
 * "predict" set. Collective. */
struct bda_model;
BDA_API bda_data *bda_data_read_for(bda_comm *comm, const struct bda_model *model, const bda_settings *settings,
                                    const char *path, bda_error *err);
/* Copies rows from memory: row i has cells start[i] to start[i+1]-1, columns from 0, increasing within a row.
 * `value` may be NULL (all ones), and so may `label` (not labelled). Each rank passes its own rows. Collective. */
BDA_API bda_data *bda_data_rows(bda_comm *comm, const bda_settings *settings, uint64_t rows, const uint64_t *start,
                                const uint32_t *column, const double *value, const double *label, bda_error *err);
/* The same with names for labels. */
BDA_API bda_data *bda_data_rows_named(bda_comm *comm, const bda_settings *settings, uint64_t rows,
                                      const uint64_t *start, const uint32_t *column, const double *value,
                                      const char *const *label, bda_error *err);

/* A matrix in memory, in one of two forms. Dense: start and column are NULL, and the value of row i and column j is at
 * value + i row_stride + j column_stride, strides in bytes. Compressed rows: row i has the cells start[i] to
 * start[i+1]-1, column has their columns, increasing within a row. */
typedef struct bda_matrix {
    uint32_t size;
    uint64_t rows, columns; /* columns: of all ranks' matrices; those at the end may be empty */
    const void *start;      /* [rows + 1] whole numbers of start_bytes */
    const void *column;     /* [cells] whole numbers of column_bytes */
    const void *value;      /* reals of value_bytes; with compressed rows NULL: all ones */
    uint8_t start_bytes, column_bytes, value_bytes; /* 4 or 8 */
    int64_t row_stride, column_stride;
    const double *label;           /* [rows], or */
    const char *const *label_name; /* [rows]; both NULL: not labelled */
} bda_matrix;

/* Copies it in the smallest form that loses nothing. Each rank passes its own rows. Collective. */
BDA_API bda_data *bda_data_matrix(bda_comm *comm, const bda_settings *settings, const bda_matrix *matrix,
                                  bda_error *err);
/* Gives this rank's rows weights: finite numbers from 0 on, [own_rows], not all of them 0. C is multiplied by them: a
 * weight of 3 is three copies of a row, a row of weight 0 is taken out of the data, exactly. Once at most, and not for
 * sentences; before folds are made. Collective. */
BDA_API bool bda_data_weigh(bda_comm *comm, bda_data *data, const double *weight, bda_error *err);
BDA_API void bda_data_summarise(const bda_data *data, bda_data_summary *summary);
/* Writes one JSON object: the summary, and the labels with their counts. Collective; rank 0 writes. */
BDA_API bool bda_data_describe(bda_comm *comm, const bda_data *data, const char *path, bda_error *err);
/* The labels of this rank's rows as numbers; NAN where labels are names or there are none. label: [own_rows] */
BDA_API void bda_data_label(const bda_data *data, double *label);
/* The distinct labels in increasing order (names: in order of bytes, and each label NAN) and how many rows have each,
 * up to `capacity` of them; none where there are more than BDA_MOST_CLASSES. `label` may be NULL. Returns how many.
 * Collective. */
BDA_API uint64_t bda_data_labels(bda_comm *comm, const bda_data *data, uint64_t capacity, double *label,
                                 uint64_t *count);
/* The name of label k of these, as files have it; NULL where it is not listed. */
BDA_API const char *bda_data_label_name(const bda_data *data, uint64_t k);
/* Writes the binary format, or LIBSVM text where the settings or the name say so. Collective. */
/* Binary data are mapped. For a handler of SIGBUS, which a page raises that a file which was cut off no longer has: puts
 * zeros in its place, after which trainings end with the best model so far, and everything else fails with a sentence.
 * False where the address is in no such file, or among what cannot be replaced: then the process must end. */
BDA_API bool bda_replace_lost_page(void *address);
/* Was a file written to since it was mapped? Columns are checked when data are read, and what is written later is not: it may
 * lead loops anywhere. For a handler of SIGSEGV, which can tell that from a defect of the program. */
BDA_API bool bda_data_changed(void);

BDA_API bool bda_data_write(bda_comm *comm, const bda_data *data, const bda_settings *settings, const char *path,
                            bda_error *err);
BDA_API void bda_data_free(bda_data *data);

/* The parts of data that a cross-validation holds out in turn. Settings of "select": folds, groups, task and blocks are
 * used. Instances of a label go to the folds in turn, in the order of the data; with --groups those of a group stay
 * together. The data must outlive the folds. Collective. */
typedef struct bda_folds bda_folds;
BDA_API bda_folds *bda_folds_new(bda_comm *comm, const bda_data *data, const bda_settings *settings, bda_error *err);
/* A copy of the instances of that fold, or of all others. Collective. */
BDA_API bda_data *bda_folds_data(bda_comm *comm, const bda_folds *folds, uint64_t fold, bool held_out,
                                 bda_error *err);
BDA_API void bda_folds_free(bda_folds *folds);

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
    BDA_FINISHED, /* the method did all that it does */
    BDA_VALIDATED /* the score on other data (--validate) no longer got better */
} bda_reason;

/* The same on every rank. */
typedef struct bda_progress {
    uint32_t size;
    uint64_t round;
    double seconds;                   /* since training began */
    double primal, best_primal, dual; /* dual: f(alpha) of the paper, at the optimum minus the primal */
    bool has_dual;                    /* without it dual and both gaps are NAN, and target is 0 */
    double relative_gap;              /* (best_primal + dual) / best_primal */
    double gap_of_start;              /* the same over the gap at the start */
    double target;                    /* the gap asked for: */
    bool target_of_start;             /* of which of the two */
    double step;
    double spare[8]; /* 0; for members to come, as this is part of bda_outcome */
} bda_progress;

typedef struct bda_observer {
    uint32_t size;
    void (*round)(void *self, const bda_progress *progress); /* after each round, on every rank; may be NULL */
    void *self;
    const volatile sig_atomic_t *interrupt; /* training ends after the round in which it becomes non-zero; or NULL */
    /* On rank 0, a sentence about checkpoints or data; `grave`: something went wrong that did not end the training. May
     * be NULL. */
    void (*note)(void *note_self, bool grave, const char *sentence);
    void *note_self;
} bda_observer;

typedef struct bda_outcome {
    uint32_t size;
    bda_reason reason;
    /* All that was asked for was done: the gap was reached, or the method ended in its own way (it was finished, or
     * has no dual and did its rounds) and nobody asked for a gap. */
    bool complete;
    bool same_bits;        /* false: blocks shared memory, and the same command may give another model next time */
    bda_progress last;     /* of the best model */
    uint64_t peak_bytes;   /* resident memory of the rank that used most */
    int interrupt;         /* BDA_INTERRUPTED: the largest *interrupt of all ranks */
    bda_error log;         /* not BDA_OK: why the run log is incomplete; the model is good all the same */
    double repaired;       /* what X alpha had been off by, relatively, before it was computed anew; 0: by rounding */
    uint64_t scored_round; /* with --patience: the round whose model scored best on other data, and is returned, */
    double score;          /* its score, and by what; NAN and NULL without */
    const char *score_name;
    /* Where it ended by rounds or time: the largest over the least of the largest magnitudes of the features that it was
     * trained on, see --scale; else 0. */
    double spread;
    bda_error data; /* not BDA_OK: the file of the data changed meanwhile; the model is of what was seen of it */
} bda_outcome;

/* Trains, writes the run log if the settings name one, and returns the best model found; `outcome` says whether the
 * gap was reached. `observer` may be NULL. Collective; the model is the same on all ranks. */
BDA_API bda_model *bda_train(bda_comm *comm, const bda_data *data, const bda_settings *settings,
                             const bda_observer *observer, bda_outcome *outcome, bda_error *err);

/* The same from the weights of a model on: it knows the same labels, or is of regression as the training is; loss, cost
 * and all else may differ. For --task=classify and regress. `start` NULL: as bda_train, which does this with the model that
 * the option "start" names. Collective. */
BDA_API bda_model *bda_train_from(bda_comm *comm, const bda_data *data, const bda_settings *settings,
                                  const bda_model *start, const bda_observer *observer, bda_outcome *outcome,
                                  bda_error *err);

/* What a checkpoint of a training says about itself. */
typedef struct bda_checkpoint_summary {
    uint32_t size;
    char version[64], task[64], loss[64], method[200];
    uint64_t round; /* the last that is in it */
    double seconds; /* that the training had taken */
    double primal, relative_gap;
    bool ended;                 /* the training had come to its end, or somebody ended it */
    uint64_t instances, blocks; /* of all ranks */
    uint64_t ranks;             /* that wrote it; any number may go on, unless they have files of their own */
    uint64_t parts, parts_here; /* of them all, in this file: fewer where ranks have files of their own */
    uint64_t bytes;
} bda_checkpoint_summary;

/* Reads and checks all of it. False and a sentence where it is damaged or none. Local. */
BDA_API bool bda_checkpoint_summarise(const char *path, bda_checkpoint_summary *summary, bda_error *err);
/* The same as one JSON object, options of the training included. Local. */
BDA_API bool bda_checkpoint_describe(const char *path, const char *output, bda_error *err);

/* Bytes that one rank of `size` with the settings' threads and blocks would need to train on such data; 0 where the
 * settings are not those of a training that bda_check accepts, or size is below 1. */
BDA_API uint64_t bda_forecast(const bda_data_summary *summary, const bda_settings *settings, int size);

/* ---- models ------------------------------------------------------------------------------------------------ */

typedef struct bda_model_summary {
    uint32_t size;
    const char *task, *loss, *method;
    double cost, epsilon, bias; /* bias < 0: none */
    double l1_ratio;
    uint64_t features; /* without the constant feature */
    uint64_t nonzero_weights;
    uint64_t classes; /* 0 for regress */
    /* [classes] the larger first where there are two, in increasing order otherwise */
    const char *const *label_names;
    const double *labels; /* their values; NULL where they are names */
    double primal;        /* at the end of training */
    double relative_gap, gap_of_start;
    uint64_t instances;
    /* [features][outputs], then the weights of the constant feature where bias >= 0; outputs is 1 for up to two
     * classes, else a weight for each class */
    const double *weights;
    uint64_t outputs;
    uint64_t shared_weights;          /* behind the others: they belong to no feature */
    const char *const *feature_names; /* [features]; NULL: they have none */
    double dual;                      /* at the end of training, or NAN */
    uint64_t rounds, blocks, seed;
    uint64_t data_digest;    /* tells apart the data it was trained on */
    const char *version;     /* of the program that trained it */
    const char *calibration; /* "platt" or "isotonic"; NULL: none */
    uint64_t calibrated_on;  /* instances that were held out */
} bda_model_summary;

BDA_API bda_model *bda_model_read(const char *path, bda_error *err);
BDA_API bool bda_model_write(const bda_model *model, const char *path, bda_error *err);
/* The same as bytes in memory, which free() gives back. */
BDA_API bool bda_model_pack(const bda_model *model, void **bytes, size_t *count, bda_error *err);
BDA_API bda_model *bda_model_unpack(const void *bytes, size_t count, bda_error *err);
/* A model of given weights: of the summary task, loss, features, bias, classes, outputs, weights, and label_names or
 * labels (or both) are needed; the rest may be 0 or NULL. Everything is copied. */
BDA_API bda_model *bda_model_make(const bda_model_summary *summary, bda_error *err);
/* A model of another program: format "liblinear". */
BDA_API bda_model *bda_model_import(const char *format, const char *path, bda_error *err);
/* format: "liblinear", "json" or "c" */
BDA_API bool bda_model_export(const bda_model *model, const char *format, const char *path, bda_error *err);
BDA_API void bda_model_summarise(const bda_model *model, bda_model_summary *summary);
/* The name of class k, in the order of the summary's labels; that of feature j, NULL where it has none. NULL beyond. */
BDA_API const char *bda_model_label(const bda_model *model, uint64_t k);
BDA_API const char *bda_model_feature(const bda_model *model, uint64_t j);
/* The k-th option that it was trained with, name and value as bda_set takes them, and "data", the name of the file.
 * False where there are fewer. */
BDA_API bool bda_model_option(const bda_model *model, uint64_t k, const char **name, const char **value);
/* The same of what a model of tags or trees looks at, in words: its templates, the kind of trees. */
BDA_API bool bda_model_trait(const bda_model *model, uint64_t k, const char **name, const char **text);
/* The places among the weights of the largest by magnitude that are not 0, at most `capacity`; of equal ones those of
 * lower place first. Returns how many. */
BDA_API uint64_t bda_model_top(const bda_model *model, uint64_t capacity, uint64_t *place);
/* Writes one JSON object: what the model is, how it came about, and so many of its largest weights. */
BDA_API bool bda_model_describe(const bda_model *model, uint64_t top, const char *path, bda_error *err);
BDA_API void bda_model_free(bda_model *model);

/* Does the file start like one of our models? Cheap; false also where it cannot be read, or could be read only once. */
BDA_API bool bda_is_model(const char *path);

/* Gives a model of labels probabilities that its scores alone do not have: trains by the settings of "train" (the cost
 * that it was trained with, no log) on the data without each of the folds in turn, and fits to the scores of what was
 * held out. method: "platt", a logistic curve, or "isotonic", a function that never falls; with more than two labels
 * each is looked at against all others. bda_probabilities then uses it, and model files hold it. Collective. */
BDA_API bool bda_model_calibrate(bda_comm *comm, bda_model *model, const bda_folds *folds,
                                 const bda_settings *settings, const char *method, const bda_observer *observer,
                                 bda_error *err);

/* What bda_folds_score is to try. */
typedef struct bda_trials {
    uint32_t size;
    uint64_t count;
    const double *cost, *l1_ratio; /* [count] each */
    /* Of "train" and "predict". Cost and l1-ratio are those of the trials; the others do not change. */
    const bda_settings *train, *predict;
    const char *metric; /* as bda_metric names it */
    const volatile sig_atomic_t
        *interrupt; /* everything ends, with an error, soon after it becomes non-zero; or NULL */
    /* A fold is done: on the rank that did it, or on rank 0. Never called twice at the same time. May be NULL. */
    void (*done)(void *self, uint64_t fold);
    void *self;
} bda_trials;

/* Trains with each of the trials on the data without each of the folds in turn, and scores what was held out. Trainings of
 * a fold may begin where those before them lead, so costs should increase; what they end at has the gap that is asked for.
 * Folds go side by side on the threads of the training, and on ranks if there are no more of them than folds: each fold is
 * then trained on one rank, and where there is room for it all ranks get all of the data. Otherwise all ranks train one fold
 * after the other together. score: [count][folds]. early: how many trainings stopped before the gap was reached; may be
 * NULL. Collective; all ranks get all scores. */
BDA_API bool bda_folds_score(bda_comm *comm, const bda_folds *folds, const bda_trials *trials, double *score,
                             uint64_t *early, bda_error *err);

/* ---- prediction -------------------------------------------------------------------------------------------- */

/* How good predictions are: numbers by name. */
typedef struct bda_metrics bda_metrics;

/* The number of that name, NAN where there is none, or the data cannot tell it:
 *   instances         how many
 *   unknown_labels    classify: instances whose label the model does not know; they count as wrong
 *   accuracy          classify
 *   log_loss          classify, where there are probabilities: mean of -log(probability of the label)
 *   auc, f1           classify, two labels; f1 of the larger one
 *   macro_f1          classify, more labels: the mean over those that occur
 *   mse, mae, r2      regress
 *   sentences, tokens, token_accuracy, sentence_accuracy, unknown_words, unknown_word_accuracy    tag
 *   chunk_precision, chunk_recall, chunk_f1    tag, for tags like B-NP, I-NP and O
 *   uas, las, uas_no_punct, las_no_punct    parse: heads that are right, and heads with their relations
 * Of data without labels only `instances` is there. */
BDA_API double bda_metric(const bda_metrics *metrics, const char *name);
/* The k-th name from 0; NULL where there are fewer. */
BDA_API const char *bda_metric_name(const bda_metrics *metrics, uint64_t k);
BDA_API void bda_metrics_free(bda_metrics *metrics);

/* Labels the data and writes a line each to `output` ("-": standard output; NULL: nowhere) in the order of the data;
 * settings of "predict". Where `metrics` is not NULL it gets an object, the same on all ranks. Collective; rank 0
 * writes. */
BDA_API bool bda_predict(bda_comm *comm, const bda_model *model, const bda_data *data, const bda_settings *settings,
                         const char *output, bda_metrics **metrics, bda_error *err);

/* The scores of this rank's rows, by `threads` threads; score: [own_rows][outputs]. Not collective. */
BDA_API bool bda_decide(const bda_model *model, const bda_data *data, int threads, double *score, bda_error *err);
/* The scores of one row: cells of column (from 0, in any order; those that the model does not know do not count) and
 * value (NULL: all ones). score: [outputs]. Nothing can fail, and threads may call it at once. */
BDA_API void bda_score(const bda_model *model, uint64_t cells, const uint32_t *column, const double *value,
                       double *score);
/* What the scores of a row stand for: the place of the predicted class among the model's labels; 0 for regress, where
 * the score is the prediction. */
BDA_API uint64_t bda_class_of(const bda_model *model, const double *score);
/* From the scores of a row to the probabilities of the classes, in the order of the labels; of the logistic loss or
 * a calibrated model. p: [classes] */
BDA_API bool bda_probabilities(const bda_model *model, const double *score, double *p, bda_error *err);

/* ---- machines ---------------------------------------------------------------------------------------------- */

#define BDA_SPEEDS 12

/* How fast a machine is at what training is made of: nanoseconds for each unit of work, by which --method=auto compares
 * methods. Only their proportions matter. Those of messages are 0 with one rank. */
typedef struct bda_machine {
    double speed[BDA_SPEEDS];
} bda_machine;

/* "ns_per_cell" (a nonzero in a pass over the rows) and the like, as --machine=FILE takes them; NULL beyond. */
BDA_API const char *bda_speed_name(int k);
/* Measures for a few seconds. Collective. */
BDA_API bool bda_calibrate(bda_comm *comm, bda_machine *machine, bda_error *err);

/* ---- reports ----------------------------------------------------------------------------------------------- */

typedef struct bda_report bda_report;

#define BDA_REPORT_TARGETS 6 /* relative distances to the optimum: 1e-1, 1e-2, ..., 1e-6 */

/* A training as its run log tells it, beside the others of the same problem. NAN: not known, or never. */
typedef struct bda_run_summary {
    const char *log;     /* path */
    const char *problem; /* data, loss, and what else the objective depends on where runs differ in it */
    const char *label;   /* the method, and what tells the run from the others of the problem */
    const char *reason;  /* why it ended; NULL: it has not ended, or was broken off */
    uint64_t rounds;
    double seconds;
    double optimum;     /* of the objective: the middle of what the runs certify, or --optimum */
    double uncertainty; /* half of that interval, relative to the optimum; infinite where no run has a dual */
    /* Rounds, vectors, bytes and seconds until the best primal, and the dual, were within the targets. */
    double primal[BDA_REPORT_TARGETS][4], dual[BDA_REPORT_TARGETS][4];
} bda_run_summary;

/* Reads run logs; settings of "report". Local. */
BDA_API bda_report *bda_report_read(const char *const *logs, size_t count, const bda_settings *settings,
                                    bda_error *err);
/* Writes the page (path NULL: none) and what --csv and --svg ask for. Local. */
BDA_API bool bda_report_write(const bda_report *report, const char *path, bda_error *err);
BDA_API size_t bda_report_runs(const bda_report *report);
/* Runs are ordered by problem and method. The texts belong to the report. */
BDA_API void bda_report_run(const bda_report *report, size_t i, bda_run_summary *summary);
BDA_API void bda_report_free(bda_report *report);

/* ---- files ------------------------------------------------------------------------------------------------- */

typedef enum bda_file_kind {
    BDA_FILE_NONE,    /* there is no file, none that can be found, or it is empty */
    BDA_FILE_STREAM,  /* a device, a pipe, a socket */
    BDA_FILE_MODEL,   /* of ours, whole or not: as it begins */
    BDA_FILE_BINARY,  /* data in our binary format, as it begins */
    BDA_FILE_TEXT,    /* LIBSVM text, plain or packed */
    BDA_FILE_LOG,     /* a run log */
    BDA_FILE_METRICS, /* of bda_predict */
    BDA_FILE_PREDICTIONS, /* what bda_predict writes: lines of numbers as it writes them, with names of columns, or JSON */
    BDA_FILE_LIBLINEAR, /* a model in LIBLINEAR's format */
    BDA_FILE_JSON,      /* a model exported as JSON */
    BDA_FILE_C,         /* a model exported as C source */
    BDA_FILE_PAGE,      /* of bda_report_write */
    BDA_FILE_CSV,       /* likewise, its table */
    BDA_FILE_OTHER,     /* none of these, a directory, or not readable */
    BDA_FILE_CHECKPOINT /* of a training, whole or not, as it begins */
} bda_file_kind;

/* What a file is, by its content. Lines of numbers are read to their end, of all else no more than the beginning. */
BDA_API bda_file_kind bda_file_is(const char *path);
/* What bda_data_write (settings of "convert") and bda_generate make of `path`: text or binary. `input`: the data to be
 * written, of which the format may depend; NULL where there is none. */
BDA_API bda_file_kind bda_data_file_kind(const bda_settings *settings, const char *input, const char *path);

typedef struct bda_output {
    const char *path; /* NULL or "": none */
    bda_file_kind kind;
} bda_output;

/* May these files be written? Asked before long work, for nothing must be lost by a slip of the hand: a file of
 * another kind than the one about to be written is replaced only with `force`; no output is another output or an input
 * (by whatever name, and for "{rank}" the file of any rank), with `force` or without; and the files can be created.
 * BDA_USAGE or BDA_FAILED and a sentence if not. Rank 0, which writes, looks. Collective. */
BDA_API bool bda_check_outputs(bda_comm *comm, const bda_output *output, int outputs, const char *const *input,
                               int inputs, bool force, bda_error *err);

/* Removes the temporary files of outputs that are being written. May be called from a signal handler, before the
 * process ends. */
BDA_API void bda_discard_outputs(void);

#ifdef __cplusplus
}
#endif
#endif
