/* predict.c - what a model says of data: scores in parallel over ranks and threads, lines of text, metrics.
 *
 * Each rank reduces its rows to a few numbers each (metrics.h), counts what can be counted, and makes the text of its own
 * rows, a piece at a time, so that memory does not grow with rows times classes. Rank 0 writes the pieces as they come,
 * in the order of the data. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/output.h"
#include "run/decide.h"
#include "run/lines.h"
#include "run/metrics.h"
#include "run/predict_sentences.h"
#include "run/train_sentences.h"

#define PIECE ((uint64_t)1 << 17) /* scores made text at a time, about */

typedef struct prediction {
    comm *ranks;
    const bda_model *model;
    const data *data;
    const bda_settings *settings;
    const decision_kind *kind;
    bool gathers;
    uint32_t *class;  /* [labels of the data] their class numbers in the model */
    scored *mine;     /* [own rows] */
    uint64_t *counts; /* the tally, of all ranks in the end */
    uint64_t counted; /* its length */
    double *work;     /* [threads][outputs], or a piece of scores */
    uint64_t *rows;   /* [ranks] */
    line_writer lines;
    output *out;   /* rank 0, or NULL */
    scored *all;   /* rank 0: [rows of all] where they are gathered */
    uint64_t have; /* bytes of them that are there */
    arena memory;
} prediction;

/* ---- rows ---------------------------------------------------------------------------------------------------- */

static uint32_t truth_of(const prediction *p, uint64_t i)
{
    const data *d = p->data;
    if (p->model->classes == 0 || d->unlabelled)
        return LABEL_NONE;
    if (d->target.class)
        return p->class[d->target.class[i]];
    return p->model->labels.number ? label_of_number(&p->model->labels, d->target.real[i]) : LABEL_NONE;
}

static void score_rows(prediction *p)
{
    const bda_model *m = p->model;
    const data *d = p->data;
    const int threads = (int)p->settings->threads;
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        double *s = p->work + (uint64_t)omp_get_thread_num() * m->outputs;
#pragma omp for schedule(dynamic, 256)
        for (uint64_t i = 0; i < d->rows.count; i++) {
            decide_scores(m, &d->rows, i, s);
            const uint32_t truth = truth_of(p, i);
            p->mine[i] = (scored){.score = p->kind->term(m, s, truth),
                                  .label = d->target.real ? d->target.real[i] : NAN,
                                  .truth = truth,
                                  .guess = (uint32_t)bda_class_of(m, s)};
        }
    }
    for (uint64_t i = 0; p->kind->count && i < d->rows.count; i++)
        p->kind->count(m, &p->mine[i], p->counts);
}

static void take_rows(void *self, const void *from, uint64_t count)
{
    prediction *p = self;
    memcpy((char *)p->all + p->have, from, count);
    p->have += count;
}

/* Fills the list of metrics on all ranks alike. */
static void measure(prediction *p, bda_metrics *to)
{
    uint64_t rows = p->data->rows.count;
    score_rows(p);
    if (p->gathers)
        comm_collect(p->ranks, p->mine, rows * sizeof *p->mine, take_rows, p);
    comm_sum_long(p->ranks, p->counts, p->counted);
    comm_sum_counts(p->ranks, &rows, 1);
    to->name[0] = "instances";
    to->value[0] = (double)rows;
    to->count = 1;
    if (p->data->unlabelled)
        return;
    p->kind->measure(p->model, p->counts, p->all, p->have / sizeof *p->all, rows, to);
    comm_broadcast(p->ranks, 0, to->value, sizeof to->value); /* only rank 0 has the rows */
}

/* ---- lines --------------------------------------------------------------------------------------------------- */

static void write_text(void *self, const void *text, uint64_t count)
{
    out_write(((prediction *)self)->out, text, count);
}

/* The lines of this rank's rows [first, first + rows). */
static void make_lines(const prediction *p, uint64_t first, uint64_t rows, bytes *text)
{
    const bda_model *m = p->model;
    const int threads = (int)p->settings->threads;
#pragma omp parallel for schedule(dynamic, 16) num_threads(threads) if (threads > 1)
    for (uint64_t i = 0; i < rows; i++)
        decide_scores(m, &p->data->rows, first + i, p->work + i * m->outputs);
    for (uint64_t i = 0; i < rows; i++)
        lines_row(&p->lines, p->work + i * m->outputs, text);
}

static bool write_lines(prediction *p, bda_error *err)
{
    const int size = bda_comm_size(p->ranks), rank = bda_comm_rank(p->ranks);
    const uint64_t piece = PIECE / p->model->outputs + 1;
    bytes text = {0};
    comm_gather_counts(p->ranks, p->data->rows.count, p->rows);
    if (rank == 0)
        lines_head(&p->lines, &text);
    bool ok = true;
    for (int r = 0; ok && r < size; r++) {
        for (uint64_t first = 0; ok && first < p->rows[r]; first += piece) {
            const uint64_t left = p->rows[r] - first;
            if (r == rank)
                make_lines(p, first, left < piece ? left : piece, &text);
            ok = comm_agree(p->ranks, bytes_done(&text, "lines of predictions", err), err);
            if (ok)
                comm_collect(p->ranks, text.at, text.count, write_text, p);
            text.count = 0;
        }
    }
    bytes_free(&text);
    return ok;
}

/* ---- metrics as JSON ----------------------------------------------------------------------------------------- */

static void write_ratios(json *j, const char *name, const uint64_t *right, const uint64_t *whole, uint64_t count,
                         double *room)
{
    for (uint64_t k = 0; k < count; k++)
        room[k] = whole[k] ? (double)right[k] / (double)whole[k] : NAN;
    json_reals(j, name, room, count);
}

static void write_class_metrics(json *j, const prediction *p)
{
    const bda_model *m = p->model;
    const class_counts of = metrics_class_counts(m, p->counts);
    if (!of.confusion)
        return;
    if (m->labels.number)
        json_reals(j, "labels", m->labels.number, m->classes);
    else
        json_texts(j, "labels", m->labels.name, m->classes);
    json_table(j, "confusion", of.confusion, m->classes, m->classes);
    write_ratios(j, "precision", of.right, of.guessed, m->classes, p->lines.probability);
    write_ratios(j, "recall", of.right, of.actual, m->classes, p->lines.probability);
}

static bool write_metrics(const prediction *p, const bda_metrics *found, bda_error *err)
{
    output *out = out_open(p->settings->metrics, err);
    if (!out)
        return false;
    json j;
    json_open(&j, out);
    for (uint64_t k = 0; k < found->count; k++) {
        if (k == 0 || strcmp(found->name[k], "unknown_labels") == 0)
            json_count(&j, found->name[k], (uint64_t)found->value[k]);
        else
            json_real(&j, found->name[k], found->value[k]);
    }
    if (p->counted > 0 && !p->data->unlabelled)
        write_class_metrics(&j, p);
    json_close(&j);
    return out_commit(out, err);
}

/* ---- all of it ----------------------------------------------------------------------------------------------- */

static bool check_request(const prediction *p, bda_error *err)
{
    const bda_settings *s = p->settings;
    const char *task = p->model->task;
    const bool text = is_sentence_task(task);
    if (text != (p->data->sentences != NULL))
        return err_set(err, BDA_USAGE, "the model is of --task=%s, and %s was not read for it", task, p->data->name);
    if (!settings_are_of(s, "predict", err))
        return false;
    if (text && s->scores)
        return err_set(err, BDA_USAGE, "--scores is not for --task=%s, whose output is the text", task);
    if (text && strcmp(s->format, "text") != 0)
        return err_set(err, BDA_USAGE, "--format=%s is not for --task=%s, whose output is the text", s->format, task);
    const label_table *names = &p->data->labels;
    if (!text && !p->data->unlabelled && names->name && !names->number &&
        (p->model->labels.number || p->model->classes == 0))
        return err_set(err, BDA_FAILED, "the labels of %s are names, and the model's are numbers", p->data->name);
    if (s->probability && !model_has_probabilities(p->model))
        return err_set(err, BDA_USAGE,
                       "--probability is for models of the logistic loss, or of bda select --calibrate, and this one "
                       "has %s",
                       p->model->loss->name);
    return true;
}

/* All memory, and on rank 0 the file. */
static bool open_prediction(prediction *p, const char *path, bda_error *err)
{
    const bda_model *m = p->model;
    const data *d = p->data;
    const bool first = bda_comm_rank(p->ranks) == 0;
    const uint64_t known = d->target.class ? d->labels.count : 0, piece = PIECE / m->outputs + 1;
    const uint64_t wide = piece > (uint64_t)p->settings->threads ? piece : (uint64_t)p->settings->threads;
    p->gathers = !d->unlabelled && p->kind->gathers(m);
    p->counted = p->kind->counts ? p->kind->counts(m) : 0;
    p->class = ARENA_TAKE(&p->memory, uint32_t, known + 1, err);
    p->mine = arena_take(&p->memory, d->rows.count + 1, sizeof *p->mine, "predictions", err);
    p->counts = ARENA_TAKE(&p->memory, uint64_t, p->counted + 1, err);
    p->work = arena_take(&p->memory, wide * m->outputs, sizeof *p->work, "scores", err);
    p->rows = ARENA_TAKE(&p->memory, uint64_t, (uint64_t)bda_comm_size(p->ranks), err);
    if (first && p->gathers)
        p->all = arena_take(&p->memory, d->rows_all + 1, sizeof *p->all, "predictions", err);
    if (!p->class || !p->mine || !p->counts || !p->work || !p->rows || (first && p->gathers && !p->all) ||
        !lines_open_writer(&p->lines, m, p->settings, err))
        return false;
    if (known > 0 && m->classes > 0)
        label_match(&d->labels, &m->labels, p->class);
    return !first || !path || (p->out = out_open(path, err));
}

static bool finish(prediction *p, const bda_metrics *found, bda_error *err)
{
    output *out = p->out;
    p->out = NULL;
    return (!out || out_commit(out, err)) && (!p->settings->metrics[0] || write_metrics(p, found, err));
}

/* Tags or trees. */
static bool predict_text(comm *ranks, const bda_model *m, const data *d, const bda_settings *s, const char *path,
                         bda_metrics **metrics, bda_error *err)
{
    bda_metrics *found = calloc(1, sizeof *found);
    if (!found)
        err_memory(err, sizeof *found, "metrics");
    bool ok = comm_agree(ranks, found != NULL, err) && predict_sentences(ranks, m, d, s, path, found, err);
    if (ok && metrics)
        *metrics = found;
    else
        free(found);
    return ok;
}

bool bda_predict(bda_comm *ranks, const bda_model *m, const bda_data *d, const bda_settings *s, const char *path,
                 bda_metrics **metrics, bda_error *err)
{
    err_clear(err);
    if (metrics)
        *metrics = NULL;
    prediction p = {.ranks = ranks, .model = m, .data = d, .settings = s, .kind = decision_of(m)};
    if (!check_request(&p, err))
        return false;
    if (d->sentences)
        return predict_text(ranks, m, d, s, path, metrics, err);
    bda_metrics found, *listed = metrics ? malloc(sizeof *listed) : NULL;
    bool ok = listed || !metrics || err_memory(err, sizeof *listed, "metrics");
    ok = comm_agree(ranks, ok && open_prediction(&p, path, err), err);
    if (ok) {
        measure(&p, &found);
        ok = (!path || write_lines(&p, err)) && data_intact(ranks, d, err);
    }
    ok = ok && comm_agree(ranks, bda_comm_rank(ranks) != 0 || finish(&p, &found, err), err);
    out_abandon(p.out);
    lines_close_writer(&p.lines);
    arena_free(&p.memory);
    if (ok && metrics)
        *(*metrics = listed) = found;
    else
        free(listed);
    return ok;
}
