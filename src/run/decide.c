/* decide.c - scores of rows, and what they stand for.
 *
 * A row's sum runs over its cells in order and takes the constant feature last, as LIBLINEAR's does, so that even a
 * score next to 0 gets the same label from an exported model. */
#include "run/decide.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "data/rows_math.h"
#include "data/scale.h"

/* s[k] += x w[k] */
static inline void add_scaled(double *restrict s, double x, const double *restrict w, uint64_t outputs)
{
    for (uint64_t k = 0; k < outputs; k++)
        s[k] += x * w[k];
}

/* Of models of rows of length 1. */
static inline void shorten(const bda_model *m, double norm, double *s)
{
    for (uint64_t k = 0; k < m->outputs; k++)
        s[k] *= scale_of_length(sqrt(norm));
}

static inline void add_constant(const bda_model *m, double *s)
{
    if (m->bias >= 0)
        add_scaled(s, m->bias, m->w + m->features * m->outputs, m->outputs);
}

/* Of a model with one output; `form` is a constant. */
ROWS_INLINE double one_score(const bda_model *m, const rows *r, rows_form form, uint64_t i)
{
    double s = 0;
    for (uint64_t j = r->start[i], end = r->start[i + 1]; j < end; j++) {
        const uint32_t column = rows_column(r, form, j);
        if (column >= m->features)
            break;
        s += rows_value(r, form, i, j) * m->w[column];
    }
    if (m->unit_rows)
        shorten(m, rows_norm(r, form, i), &s);
    return m->bias >= 0 ? s + m->bias * m->w[m->features] : s;
}

ROWS_INLINE void all_scores(const bda_model *m, const rows *r, rows_form form, uint64_t i, double *s)
{
    memset(s, 0, m->outputs * sizeof *s);
    for (uint64_t j = r->start[i], end = r->start[i + 1]; j < end; j++) {
        const uint32_t column = rows_column(r, form, j);
        if (column >= m->features)
            break;
        add_scaled(s, rows_value(r, form, i, j), m->w + column * m->outputs, m->outputs);
    }
    if (m->unit_rows)
        shorten(m, rows_norm(r, form, i), s);
    add_constant(m, s);
}

ROWS_INLINE void scores(const bda_model *m, const rows *r, rows_form form, uint64_t i, double *s)
{
    if (m->outputs == 1)
        *s = one_score(m, r, form, i);
    else
        all_scores(m, r, form, i, s);
}

void decide_scores(const bda_model *m, const rows *r, uint64_t i, double *s)
{
    switch (r->form) {
    case ROWS_ONES:
        scores(m, r, ROWS_ONES, i, s);
        break;
    case ROWS_CONSTANT:
        scores(m, r, ROWS_CONSTANT, i, s);
        break;
    case ROWS_FLOAT:
        scores(m, r, ROWS_FLOAT, i, s);
        break;
    case ROWS_DOUBLE:
        scores(m, r, ROWS_DOUBLE, i, s);
        break;
    }
}

bool bda_decide(const bda_model *m, const bda_data *d, int threads, double *score, bda_error *err)
{
    err_clear(err);
    if (threads < 1)
        return err_set(err, BDA_USAGE, "bda_decide takes 1 thread or more, not %d", threads);
#pragma omp parallel for schedule(dynamic, 256) num_threads(threads) if (threads > 1)
    for (uint64_t i = 0; i < d->rows.count; i++)
        decide_scores(m, &d->rows, i, score + i * m->outputs);
    return true;
}

void bda_score(const bda_model *m, uint64_t cells, const uint32_t *column, const double *value, double *score)
{
    memset(score, 0, m->outputs * sizeof *score);
    for (uint64_t j = 0; j < cells; j++)
        if (column[j] < m->features)
            add_scaled(score, value ? value[j] : 1, m->w + column[j] * m->outputs, m->outputs);
    double norm = 0;
    for (uint64_t j = 0; m->unit_rows && j < cells; j++)
        norm += value ? value[j] * value[j] : 1;
    if (m->unit_rows)
        shorten(m, norm, score);
    add_constant(m, score);
}

static uint64_t largest_of(const double *score, uint64_t count)
{
    uint64_t best = 0;
    for (uint64_t k = 1; k < count; k++)
        if (score[k] > score[best])
            best = k;
    return best;
}

uint64_t bda_class_of(const bda_model *m, const double *score)
{
    if (m->classes == 0)
        return 0;
    return m->outputs > 1 ? largest_of(score, m->outputs) : !(score[0] > 0);
}

/* 1 / (1 + e^-z), over that of the largest score where all are so small that they would be 0. */
static double odds_against_rest(double z, double most)
{
    return most < -30 ? exp(z - most) : 1 / (1 + exp(-z));
}

bool bda_probabilities(const bda_model *m, const double *score, double *p, bda_error *err)
{
    err_clear(err);
    if (m->calibration) {
        calibration_apply(m->calibration, score, p);
        return true;
    }
    if (!model_has_probabilities(m))
        return err_set(
            err, BDA_USAGE,
            "probabilities are for models of the logistic loss, or with a calibration, and this one has %s",
            m->loss->name);
    if (m->classes == 2) {
        const double z = score[0];
        p[0] = 1 / (1 + exp(-z));
        p[1] = 1 / (1 + exp(z));
        return true;
    }
    const double most = score[largest_of(score, m->classes)];
    double total = 0;
    for (uint64_t k = 0; k < m->classes; k++) /* of labels against the rest as odds, over their sum */
        total += p[k] = m->apart ? odds_against_rest(score[k], most) : exp(score[k] - most);
    for (uint64_t k = 0; k < m->classes; k++)
        p[k] /= total;
    return true;
}
