/* metrics.h - how good predictions are, from all decision values in the order of the data: the same numbers, to the
 * last bit, for any number of ranks. */
#ifndef RUN_METRICS_H
#define RUN_METRICS_H

#include "run/model.h"

typedef struct scored {
    double label; /* as the data has it */
    double guess; /* the label or number predicted */
    /* x'w; with more than two classes the log loss of the label where the model has probabilities and knows it */
    double score;
} scored;

/* How often what was taken for what, for models of more than two classes. */
typedef struct class_counts {
    uint64_t *actual, *guessed, *right; /* [classes] */
    uint64_t *confusion;                /* [classes][classes] label and guess; NULL where that is too much */
} class_counts;

#define METRICS_CONFUSION 1000 /* classes up to which there is a confusion matrix */

/* What the decision values of an instance (m->outputs of them) stand for: a number; the larger label for a value
 * above 0, as LIBLINEAR decides 0; the label with the largest value, the smallest label of equals. */
double metrics_decide(const bda_model *m, const double *score);
/* p[k]: of the labels in the order of the model. Logistic models only. p may be `score` where there are more than two
 * classes. */
void metrics_probabilities(const bda_model *m, const double *score, double *p);
/* One row of what metrics_compute takes. */
scored metrics_row(const bda_model *m, const double *score, double label);

/* All zero; what there is none of is NULL. */
bool metrics_counts(class_counts *counts, const bda_model *m, arena *memory, bda_error *err);
/* Reorders `all`, and fills counts where there are more than two classes. */
void metrics_compute(const bda_model *m, scored *all, uint64_t count, class_counts *counts, bda_metrics *metrics);

#endif
