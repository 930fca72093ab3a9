/* metrics.c - see metrics.h.
 *
 *     auc        the part of all pairs (positive, negative) in which the positive has the larger score, a tie
 *                counting one half: from the ranks of the scores
 *     f1         of the positive (larger) label: 2 tp / (2 tp + fp + fn)
 *     macro_f1   the mean of f1 over the labels of the model that the data has or that were predicted
 *     log_loss   mean of -log(probability of the label), logistic loss only
 *     r2         1 - (sum of squared errors) / (sum of squared deviations from the mean)
 *
 * What the data cannot tell (auc with one label only, r2 of constant targets) is NAN. */
#include "run/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

static void put(bda_metrics *to, const char *name, double value)
{
    to->name[to->count] = name;
    to->value[to->count++] = value;
}

static bool always(const bda_model *m)
{
    (void)m;
    return true;
}

static double first_score(const bda_model *m, const double *score, uint32_t truth)
{
    (void)m, (void)truth;
    return score[0];
}

/* ---- two labels ---------------------------------------------------------------------------------------------- */

static int by_score(const void *a, const void *b)
{
    double x = ((const scored *)a)->score, y = ((const scored *)b)->score;
    return (x > y) - (x < y);
}

/* Twice the number of pairs (positive, negative) in the right order, over twice the number of pairs. Counts are exact
 * as long as there are fewer than 2^31 instances of each label, and to 15 digits beyond. */
static double area_under_curve(const scored *sorted, uint64_t count)
{
    double pairs = 0;
    uint64_t below = 0, positives = 0;
    for (uint64_t i = 0; i < count;) {
        uint64_t tied_positives = 0, tied_negatives = 0;
        double score = sorted[i].score;
        for (; i < count && sorted[i].score == score; i++) {
            tied_positives += sorted[i].truth == 0;
            tied_negatives += sorted[i].truth == 1;
        }
        pairs += (double)tied_positives * (2 * (double)below + (double)tied_negatives);
        below += tied_negatives;
        positives += tied_positives;
    }
    return positives && below ? pairs / (2 * (double)positives * (double)below) : NAN;
}

static double logistic_loss(double margin)
{
    return margin > 0 ? log1p(exp(-margin)) : log1p(exp(margin)) - margin;
}

static void measure_two(const bda_model *m, const uint64_t *counts, scored *all, uint64_t gathered, uint64_t rows,
                        bda_metrics *to)
{
    (void)counts, (void)rows;
    uint64_t right = 0, known = 0, true_positive = 0, predicted_positive = 0, positive = 0;
    sum loss_sum = {0, 0};
    for (uint64_t i = 0; i < gathered; i++) {
        const bool is_positive = all[i].truth == 0;
        right += all[i].guess == all[i].truth;
        positive += is_positive;
        predicted_positive += all[i].guess == 0;
        true_positive += is_positive && all[i].guess == 0;
        if (all[i].truth != LABEL_NONE) {
            known++;
            sum_add(&loss_sum, m->calibration ? calibration_loss(m->calibration, &all[i].score, all[i].truth)
                                              : logistic_loss(is_positive ? all[i].score : -all[i].score));
        }
    }
    const double either = (double)(positive + predicted_positive);
    put(to, "unknown_labels", (double)(gathered - known));
    put(to, "accuracy", gathered ? (double)right / (double)gathered : NAN);
    if (gathered)
        qsort(all, gathered, sizeof *all, by_score);
    put(to, "auc", area_under_curve(all, gathered));
    put(to, "f1", either > 0 ? 2 * (double)true_positive / either : NAN);
    if (model_has_probabilities(m))
        put(to, "log_loss", known ? sum_value(&loss_sum) / (double)known : NAN);
}

/* ---- more labels --------------------------------------------------------------------------------------------- */

double metrics_softmax_loss(const bda_model *m, const double *score, uint32_t truth)
{
    if (!model_has_probabilities(m) || truth == LABEL_NONE)
        return NAN;
    if (m->calibration)
        return calibration_loss(m->calibration, score, truth);
    if (m->apart) {
        const double least = logistic_loss(score[bda_class_of(m, score)]);
        double all = 0; /* over the probability of the most probable label, so that it cannot vanish */
        for (uint64_t k = 0; k < m->classes; k++)
            all += exp(least - logistic_loss(score[k]));
        return logistic_loss(score[truth]) - least + log(fmax(all, 1));
    }
    const uint64_t best = bda_class_of(m, score);
    double others = 0;
    for (uint64_t k = 0; k < m->classes; k++)
        others += k == best ? 0 : exp(score[k] - score[best]);
    return log1p(others) + (score[best] - score[truth]);
}

/* [classes] actual, guessed, right; then the confusion matrix */
static uint64_t counts_of_many(const bda_model *m)
{
    return 3 * m->classes + (m->classes <= METRICS_CONFUSION ? m->classes * m->classes : 0);
}

class_counts metrics_class_counts(const bda_model *m, const uint64_t *counts)
{
    const uint64_t T = m->classes;
    return (class_counts){counts, counts + T, counts + 2 * T, T <= METRICS_CONFUSION ? counts + 3 * T : NULL};
}

static void count_many(const bda_model *m, const scored *row, uint64_t *counts)
{
    const uint64_t T = m->classes;
    counts[T + row->guess]++;
    if (row->truth == LABEL_NONE)
        return;
    counts[row->truth]++;
    counts[2 * T + row->truth] += row->truth == row->guess;
    if (T <= METRICS_CONFUSION)
        counts[3 * T + row->truth * T + row->guess]++;
}

static void measure_many(const bda_model *m, const uint64_t *counts, scored *all, uint64_t gathered, uint64_t rows,
                         bda_metrics *to)
{
    const class_counts of = metrics_class_counts(m, counts);
    uint64_t right = 0, known = 0, occurring = 0;
    sum loss_sum = {0, 0}, f1 = {0, 0};
    for (uint64_t k = 0; k < m->classes; k++) {
        known += of.actual[k];
        right += of.right[k];
        if (of.actual[k] + of.guessed[k] == 0)
            continue;
        occurring++;
        sum_add(&f1, 2 * (double)of.right[k] / (double)(of.actual[k] + of.guessed[k]));
    }
    for (uint64_t i = 0; i < gathered; i++)
        if (all[i].truth != LABEL_NONE)
            sum_add(&loss_sum, all[i].score);
    put(to, "unknown_labels", (double)(rows - known));
    put(to, "accuracy", rows ? (double)right / (double)rows : NAN);
    put(to, "macro_f1", rows ? sum_value(&f1) / (double)occurring : NAN);
    if (model_has_probabilities(m))
        put(to, "log_loss", known ? sum_value(&loss_sum) / (double)known : NAN);
}

/* ---- numbers ------------------------------------------------------------------------------------------------- */

static void measure_numbers(const bda_model *m, const uint64_t *counts, scored *all, uint64_t gathered, uint64_t rows,
                            bda_metrics *to)
{
    (void)m, (void)counts, (void)rows;
    sum total = {0, 0}, squares = {0, 0}, absolute = {0, 0}, spread = {0, 0};
    for (uint64_t i = 0; i < gathered; i++) {
        const double error = all[i].score - all[i].label;
        sum_add(&total, all[i].label);
        sum_add(&squares, error * error);
        sum_add(&absolute, fabs(error));
    }
    const double count = (double)gathered, mean = sum_value(&total) / count;
    for (uint64_t i = 0; i < gathered; i++)
        sum_add(&spread, (all[i].label - mean) * (all[i].label - mean));
    put(to, "mse", sum_value(&squares) / count);
    put(to, "mae", sum_value(&absolute) / count);
    put(to, "r2", sum_value(&spread) > 0 ? 1 - sum_value(&squares) / sum_value(&spread) : NAN);
}

static const decision_kind kinds[] = {
    {"regress", 0, 0, NULL, always, first_score, NULL, measure_numbers},
    {"classify", 2, 2, NULL, always, first_score, NULL, measure_two},
    {"classify", 3, UINT64_MAX, counts_of_many, model_has_probabilities, metrics_softmax_loss, count_many,
     measure_many},
};

const decision_kind *decision_of(const bda_model *m)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        if (strcmp(kinds[k].task, m->task) == 0 && m->classes >= kinds[k].least && m->classes <= kinds[k].most)
            return &kinds[k];
    return NULL;
}

/* ---- by name ------------------------------------------------------------------------------------------------- */

double bda_metric(const bda_metrics *metrics, const char *name)
{
    for (uint64_t k = 0; k < metrics->count; k++)
        if (strcmp(metrics->name[k], name) == 0)
            return metrics->value[k];
    return NAN;
}

const char *bda_metric_name(const bda_metrics *metrics, uint64_t k)
{
    return k < metrics->count ? metrics->name[k] : NULL;
}

void bda_metrics_free(bda_metrics *metrics)
{
    free(metrics);
}
