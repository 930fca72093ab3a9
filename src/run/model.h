/* model.h - a linear model and its file (docs/model-format.md). */
#ifndef RUN_MODEL_H
#define RUN_MODEL_H

#include "base/sections.h"
#include "data/label_table.h"
#include "problem/task.h"
#include "run/calibration.h"

#define MODEL_MOST_FEATURES UINT32_MAX
#define MODEL_MOST_OUTPUTS ((uint64_t)1 << 24)
#define MODEL_MOST_SHARED ((uint64_t)1 << 40)

typedef struct model_option {
    const char *name, *value; /* as bda_set takes them */
} model_option;

/* How the model came about: for people, and for training it again. What is not known is NAN, 0, "" or NULL. */
typedef struct model_record {
    const char *version; /* of the program */
    const char *method;
    double cost, epsilon, l1_ratio;
    double primal, dual;               /* at the end of training; dual: minus the primal at the optimum */
    double relative_gap, gap_of_start; /* (primal + dual) / primal, and the same over the gap at the start */
    uint64_t instances;                /* trained on */
    uint64_t rounds, blocks, seed;
    uint64_t data_digest; /* data_digest of what it was trained on */
    const model_option *option;
    uint64_t options;
} model_record;

struct bda_model {
    const char *task; /* one of model_tasks */
    const loss *loss;
    const struct task *kind; /* what task, loss and number of labels come to */
    double bias;             /* value of the constant feature; < 0: none */
    uint64_t classes;        /* 0 for regression */
    label_table labels;      /* [classes] the larger first where there are two, in increasing order otherwise */
    uint64_t features;       /* without the constant feature */
    const char *const *feature_name; /* [features]; NULL: they have none */
    uint64_t outputs;                /* weights of a feature: 1, or one for each class */
    uint64_t shared;                 /* weights that belong to no feature */
    uint64_t n;                      /* (features + (bias >= 0)) * outputs + shared */
    bool unit_rows;                  /* scores are of rows of length 1 */
    bool apart;                      /* of several labels: each was learnt against the rest */
    double *w;                       /* [n] = [features + (bias >= 0)][outputs], then [shared] */
    const calibration *calibration;  /* NULL: none */
    model_record record;
    const model_option *trait; /* [traits] what a model of sentences looks at, in words */
    uint64_t traits;
    /* What other parts keep in the model file: a dictionary, templates, names of features. A part that predicts with
     * its section keeps it as a needed one and adds its kind to `known` of model_read.c. */
    sections extra;
    arena memory; /* holds w, labels and texts */
};

typedef struct model_shape {
    uint64_t features, outputs, shared;
    double bias;
} model_shape;

extern const char *const model_tasks[];   /* NULL-terminated */
const char *model_task(const char *name); /* the one of that name; NULL: there is none */

/* A model of n weights, all 0, of no task and loss yet. The labels are copied; there are none for regression. NULL and
 * a sentence where there is no memory for it. */
bda_model *model_new(const model_shape *shape, const label_table *labels, bda_error *err);

/* Of the labels that the model has. The task is one of model_tasks. */
void model_set_task(bda_model *m, const char *task, const loss *l);

const char *model_copy_text(bda_model *m, const char *text, bda_error *err); /* lives as long as the model */

/* Are there probabilities of labels: because scores are the logarithms of odds, or by a calibration? */
static inline bool model_has_probabilities(const bda_model *m)
{
    return m->calibration || m->kind->entropic;
}

/* The bytes of calibration_pack become the model's calibration. */
bool model_keep_calibration(bda_model *m, const unsigned char *packed, uint64_t count, bda_error *err);
/* Adds to the file what it needs to say of unit_rows. */
bool model_keep_scale(bda_model *m, bda_error *err);
/* The same of apart; probabilities of several labels depend on it. */
bool model_keep_apart(bda_model *m, bda_error *err);

bool model_name_features(bda_model *m, const char *const *name, bda_error *err); /* [features], copied */

/* ---- the file ---- */

#define MODEL_TABLE "table" /* section: the columns of the table that the model was trained on, see data/schema.h */
#define MODEL_SCALE "scale" /* section: "unit-rows", scores are of rows of length 1 */
#define MODEL_MULTICLASS "multiclass" /* section: "one-vs-rest", scores of labels are odds against the rest */
#define MODEL_MAGIC "BDAMODEL"
#define MODEL_VERSION 2

/* The fields of the record that go into the file under a name: one table for writing and reading. */
typedef enum record_type { RECORD_TEXT, RECORD_REAL, RECORD_COUNT } record_type;
typedef struct record_field {
    const char *name; /* NULL ends the table */
    record_type type;
    size_t offset;      /* in model_record */
    double least, most; /* of RECORD_REAL, which is finite */
} record_field;
extern const record_field model_fields[];

/* Sparse weights: a place takes 4 bytes where n allows it, and all places are filled up to a multiple of 8. */
static inline uint64_t model_place_bytes(uint64_t n)
{
    return n <= (uint64_t)1 << 32 ? 4 : 8;
}

static inline uint64_t model_places_bytes(uint64_t n, uint64_t stored)
{
    return (stored * model_place_bytes(n) + 7) / 8 * 8;
}

/* Reads n weights of which k are stored: their places first where they are sparse. False where the bytes are too few
 * or too many, or hold what cannot be. */
bool model_take_weights(double *w, uint64_t n, bool sparse, uint64_t stored, byte_reader *from);
/* Are finite labels in the order that a model has them in? */
bool model_labels_in_order(const double *label, uint64_t classes);
/* Do task, loss and labels go together, and are the counts possible? */
bool model_is_sound(const char *task, const loss *l, const model_shape *shape, uint64_t classes);

/* Will it do no harm in a terminal? Printable characters of ASCII, no blanks, and one of them at least. */
bool model_is_name(const char *text);

bda_model *model_read_first_version(byte_source *from, bda_error *err);

#endif
