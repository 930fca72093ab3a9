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

static uint64_t largest_of(const double *score, uint64_t count)
{
    uint64_t best = 0;
    for (uint64_t k = 1; k < count; k++)
        if (score[k] > score[best])
            best = k;
    return best;
}

double metrics_decide(const bda_model *m, const double *score)
{
    if (m->loss->regression)
        return score[0];
    return m->labels[m->classes > 2 ? largest_of(score, m->classes) : !(score[0] > 0)];
}

void metrics_probabilities(const bda_model *m, const double *score, double *p)
{
    if (m->classes == 2) {
        double z = score[0];
        p[0] = 1 / (1 + exp(-z));
        p[1] = 1 / (1 + exp(z));
        return;
    }
    double most = score[largest_of(score, m->classes)], total = 0;
    for (uint64_t k = 0; k < m->classes; k++)
        total += p[k] = exp(score[k] - most);
    for (uint64_t k = 0; k < m->classes; k++)
        p[k] /= total;
}

/* -log of the probability of the label: log(1 + sum over the others of exp(score - most)) + most - its score */
static double softmax_loss(const bda_model *m, const double *score, double label)
{
    uint64_t class = model_class(m, label), best = largest_of(score, m->classes);
    if (class == m->classes)
        return NAN;
    double others = 0;
    for (uint64_t k = 0; k < m->classes; k++)
        others += k == best ? 0 : exp(score[k] - score[best]);
    return log1p(others) + (score[best] - score[class]);
}

scored metrics_row(const bda_model *m, const double *score, double label)
{
    scored row = {label, metrics_decide(m, score), score[0]};
    if (m->classes > 2)
        row.score = m->loss->kind == LOSS_LOGISTIC ? softmax_loss(m, score, label) : NAN;
    return row;
}

static void measure_two(const bda_model *m, scored *all, uint64_t count, bda_metrics *metrics)
{
    uint64_t right = 0, known = 0, true_positive = 0, predicted_positive = 0, positive = 0;
    sum loss_sum = {0, 0};
    for (uint64_t i = 0; i < count; i++) {
        double label = all[i].label, guess = all[i].guess;
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

bool metrics_counts(class_counts *counts, const bda_model *m, arena *memory, bda_error *err)
{
    uint64_t T = m->classes;
    *counts = (class_counts){0};
    if (T <= 2)
        return true;
    counts->actual = ARENA_TAKE(memory, uint64_t, T, err);
    counts->guessed = ARENA_TAKE(memory, uint64_t, T, err);
    counts->right = ARENA_TAKE(memory, uint64_t, T, err);
    if (T <= METRICS_CONFUSION)
        counts->confusion = ARENA_TAKE(memory, uint64_t, T * T, err);
    return counts->actual && counts->guessed && counts->right && (T > METRICS_CONFUSION || counts->confusion);
}

static void measure_many(const bda_model *m, const scored *all, uint64_t count, class_counts *counts,
                         bda_metrics *metrics)
{
    uint64_t T = m->classes, right = 0, known = 0, occurring = 0;
    sum loss_sum = {0, 0}, f1 = {0, 0};
    for (uint64_t i = 0; i < count; i++) {
        uint64_t label = model_class(m, all[i].label), guess = model_class(m, all[i].guess);
        counts->guessed[guess]++;
        if (label == T)
            continue;
        known++;
        counts->actual[label]++;
        counts->right[label] += label == guess;
        if (counts->confusion)
            counts->confusion[label * T + guess]++;
        sum_add(&loss_sum, all[i].score);
    }
    for (uint64_t k = 0; k < T; k++) {
        right += counts->right[k];
        if (counts->actual[k] + counts->guessed[k] == 0)
            continue;
        occurring++;
        sum_add(&f1, 2 * (double)counts->right[k] / (double)(counts->actual[k] + counts->guessed[k]));
    }
    metrics->unknown_labels = count - known;
    if (count) {
        metrics->accuracy = (double)right / (double)count;
        metrics->macro_f1 = sum_value(&f1) / (double)occurring;
    }
    if (m->loss->kind == LOSS_LOGISTIC && known)
        metrics->log_loss = sum_value(&loss_sum) / (double)known;
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

void metrics_compute(const bda_model *m, scored *all, uint64_t count, class_counts *counts, bda_metrics *metrics)
{
    *metrics = (bda_metrics){.instances = count,
                             .accuracy = NAN,
                             .auc = NAN,
                             .f1 = NAN,
                             .macro_f1 = NAN,
                             .log_loss = NAN,
                             .mse = NAN,
                             .mae = NAN,
                             .r2 = NAN};
    if (m->loss->regression)
        measure_numbers(all, count, metrics);
    else if (m->classes > 2)
        measure_many(m, all, count, counts, metrics);
    else
        measure_two(m, all, count, metrics);
}
