/* metrics.c - see metrics.h.
 *
 *     auc        the part of all pairs (positive, negative) in which the positive has the larger score, a tie
 * counting one half: from the ranks of the scores f1         of the positive (larger) label: 2 tp / (2 tp + fp + fn)
 *     log_loss   mean of log(1 + exp(-y score)), logistic loss only
 *     r2         1 - (sum of squared errors) / (sum of squared deviations from the mean)
 *
 * What the data cannot tell (auc with one label only, r2 of constant targets) is NAN. */
#include "run/metrics.h"

#include <math.h>
#include <stdlib.h>

#include "base/vector.h"

static int by_score(const void *a, const void *b)
{
    double x = ((const scored *)a)->score, y = ((const scored *)b)->score;
    return (x > y) - (x < y);
}

/* Twice the number of pairs (positive, negative) in the right order, over twice the number of pairs. Counts are exact
 * as long as there are fewer than 2^31 instances of each label, and to 15 digits beyond. */
static double area_under_curve(const bda_model *m, const scored *sorted, uint64_t count)
{
    double pairs = 0;
    uint64_t below = 0, positives = 0;
    for (uint64_t i = 0; i < count;) {
        uint64_t tied_positives = 0, tied_negatives = 0;
        double score = sorted[i].score;
        for (; i < count && sorted[i].score == score; i++) {
            tied_positives += sorted[i].label == m->labels[0];
            tied_negatives += sorted[i].label == m->labels[1];
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

static void measure_classes(const bda_model *m, scored *all, uint64_t count, bda_metrics *metrics)
{
    uint64_t right = 0, known = 0, true_positive = 0, predicted_positive = 0, positive = 0;
    sum loss_sum = {0, 0};
    for (uint64_t i = 0; i < count; i++) {
        double label = all[i].label, guess = metrics_decide(m, all[i].score);
        bool is_positive = label == m->labels[0];
        right += guess == label;
        positive += is_positive;
        predicted_positive += guess == m->labels[0];
        true_positive += is_positive && guess == label;
        if (is_positive || label == m->labels[1]) {
            known++;
            sum_add(&loss_sum, logistic_loss(is_positive ? all[i].score : -all[i].score));
        }
    }
    metrics->unknown_labels = count - known;
    metrics->accuracy = count ? (double)right / (double)count : NAN;
    if (positive + predicted_positive)
        metrics->f1 = 2 * (double)true_positive / (double)(positive + predicted_positive);
    if (m->loss->kind == LOSS_LOGISTIC && known)
        metrics->log_loss = sum_value(&loss_sum) / (double)known;
    qsort(all, count, sizeof *all, by_score);
    metrics->auc = area_under_curve(m, all, count);
}

static void measure_numbers(const scored *all, uint64_t count, bda_metrics *metrics)
{
    sum total = {0, 0}, squares = {0, 0}, absolute = {0, 0}, spread = {0, 0};
    for (uint64_t i = 0; i < count; i++) {
        double error = all[i].score - all[i].label;
        sum_add(&total, all[i].label);
        sum_add(&squares, error * error);
        sum_add(&absolute, fabs(error));
    }
    double mean = sum_value(&total) / (double)count;
    for (uint64_t i = 0; i < count; i++)
        sum_add(&spread, (all[i].label - mean) * (all[i].label - mean));
    metrics->mse = sum_value(&squares) / (double)count;
    metrics->mae = sum_value(&absolute) / (double)count;
    if (sum_value(&spread) > 0)
        metrics->r2 = 1 - sum_value(&squares) / sum_value(&spread);
}

void metrics_compute(const bda_model *m, scored *all, uint64_t count, bda_metrics *metrics)
{
    *metrics = (bda_metrics){.instances = count,
                             .accuracy = NAN,
                             .auc = NAN,
                             .f1 = NAN,
                             .log_loss = NAN,
                             .mse = NAN,
                             .mae = NAN,
                             .r2 = NAN};
    if (m->loss->regression)
        measure_numbers(all, count, metrics);
    else
        measure_classes(m, all, count, metrics);
}
