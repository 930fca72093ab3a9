/* metrics.h - how good predictions are. Each row is reduced to a few numbers; what can be counted is counted by each
 * rank and added up, and only what needs all rows in their order (the area under the curve, sums of reals) is gathered.
 * The metrics are the same, to the last bit, for any number of ranks. */
#ifndef RUN_METRICS_H
#define RUN_METRICS_H

#include "run/model.h"

/* A row that was predicted. */
typedef struct scored {
    double score; /* two classes, regress: the score; more: the loss of the label where the model has probabilities */
    double label; /* regress: as the data has it */
    uint32_t truth, guess; /* class numbers of the model; truth LABEL_NONE where the model does not know the label */
} scored;

#define METRICS_MOST 32
#define METRICS_CONFUSION 1000 /* classes up to which there is a confusion matrix */

struct bda_metrics {
    uint64_t count;
    const char *name[METRICS_MOST]; /* strings of the program, the same on all ranks */
    double value[METRICS_MOST];
};

/* What is decided from scores, and how well: one for each kind of prediction. A row of the table in metrics.c. */
typedef struct decision_kind {
    const char *task;
    uint64_t least, most;                                                    /* classes */
    uint64_t (*counts)(const bda_model *m);                                  /* length of a tally; NULL: 0 */
    bool (*gathers)(const bda_model *m);                                     /* are all rows needed in one place? */
    double (*term)(const bda_model *m, const double *score, uint32_t truth); /* the `score` of a scored row */
    void (*count)(const bda_model *m, const scored *row, uint64_t *counts);  /* into the tally; NULL: nothing */
    /* Puts all metrics there are, those that the data cannot tell as NAN. counts: of all ranks; all: [gathered] rows
     * in the order of the data, which may be reordered; rows: of all ranks. */
    void (*measure)(const bda_model *m, const uint64_t *counts, scored *all, uint64_t gathered, uint64_t rows,
                    bda_metrics *to);
} decision_kind;

const decision_kind *decision_of(const bda_model *m);

/* The loss of the label by the softmax: log(1 + sum over the others of exp(score - most)) + most - its score. */
double metrics_softmax_loss(const bda_model *m, const double *score, uint32_t truth);

/* The parts of a tally for more than two classes. */
typedef struct class_counts {
    const uint64_t *actual, *guessed, *right; /* [classes] */
    const uint64_t *confusion;                /* [classes][classes] label and guess; NULL where that is too much */
} class_counts;
class_counts metrics_class_counts(const bda_model *m, const uint64_t *counts);

#endif
