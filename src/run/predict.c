/* predict.c - decision values of all rows, in parallel over ranks and threads; what they say, line by line; and how
 * good it is.
 *
 * A row's sum runs over its cells in order and takes the constant feature last, as LIBLINEAR's does, so that even a
 * score next to 0 gets the same label from an exported model.
 *
 * What goes to rank 0 is a few numbers a row. Only lines that show a value for each of many classes need more: they
 * are made in a second pass, a piece of one rank's rows at a time, so that memory does not grow with rows times
 * classes. */
#include <math.h>
#include <omp.h>
#include <string.h>

#include "base/json.h"
#include "data/data.h"
#include "run/metrics.h"
#include "run/settings.h"
#include "run/text.h"

#define PIECE ((uint64_t)1 << 17) /* decision values sent at a time, about */

static double cell_value(const rows *r, uint64_t i, uint64_t cell)
{
    switch (r->form) {
    case ROWS_ONES:
        return 1;
    case ROWS_CONSTANT:
        return r->value[i];
    case ROWS_FLOAT:
        return (double)r->pair[cell].value;
    case ROWS_DOUBLE:
        return r->value[cell];
    }
    return NAN;
}

/* s[k] += x w[k] */
static inline void add_scaled(double *s, double x, const double *w, uint64_t outputs)
{
    for (uint64_t k = 0; k < outputs; k++)
        s[k] += x * w[k];
}

/* s = x_i'w over the features that the model knows; [outputs] */
static void decision_values(const rows *r, uint64_t i, const bda_model *m, double *s)
{
    memset(s, 0, m->outputs * sizeof *s);
    for (uint64_t j = r->start[i]; j < r->start[i + 1]; j++) {
        uint32_t column = r->form == ROWS_FLOAT ? r->pair[j].column : r->column[j];
        if (column >= m->features)
            break;
        add_scaled(s, cell_value(r, i, j), m->w + column * m->outputs, m->outputs);
    }
    if (m->bias >= 0)
        add_scaled(s, m->bias, m->w + m->features * m->outputs, m->outputs);
}

/* work: [threads][outputs] */
static void score_rows(const bda_model *m, const data *d, int threads, double *work, scored *scores)
{
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
        double *s = work + (uint64_t)omp_get_thread_num() * m->outputs;
#pragma omp for schedule(dynamic, 256)
        for (uint64_t i = 0; i < d->rows.count; i++) {
            decision_values(&d->rows, i, m, s);
            scores[i] = metrics_row(m, s, d->label[i]);
        }
    }
}

/* ---- rank 0 -------------------------------------------------------------------------------------------------- */

typedef struct collected {
    const bda_model *model;
    const bda_settings *settings;
    bool wide;   /* lines have values for each of many classes */
    output *out; /* or NULL */
    scored *all; /* [instances] */
    uint64_t count;
    class_counts counts;
    double *probability; /* [classes, 1 at least] */
} collected;

static void write_real(output *out, char before, double x)
{
    char text[TEXT_REAL + 1];
    text[0] = before;
    int length = text_real(text + 1, x);
    out_write(out, before ? text : text + 1, (uint64_t)length + (before != 0));
}

static void write_line(const collected *c, double guess, const double *score)
{
    const bda_model *m = c->model;
    write_real(c->out, 0, guess);
    for (uint64_t k = 0; c->settings->scores && k < m->outputs; k++)
        write_real(c->out, ' ', score[k]);
    if (c->settings->probability) {
        metrics_probabilities(m, score, c->probability);
        for (uint64_t k = 0; k < m->classes; k++)
            write_real(c->out, ' ', c->probability[k]);
    }
    out_write(c->out, "\n", 1);
}

/* Rows of `size` bytes out of pieces that may end anywhere: what there is of a row waits in `part`. */
typedef struct taker {
    collected *to;
    void (*row)(collected *to, const void *row);
    char *part;
    size_t size, have;
} taker;

static void take_rows(void *self, const void *bytes, uint64_t count)
{
    taker *t = self;
    const char *from = bytes;
    while (count > 0) {
        uint64_t wanted = t->size - t->have, now = count < wanted ? count : wanted;
        memcpy(t->part + t->have, from, now);
        t->have += now;
        from += now;
        count -= now;
        if (t->have == t->size) {
            t->row(t->to, t->part);
            t->have = 0;
        }
    }
}

static void take_scored(collected *c, const void *row)
{
    const scored *s = row;
    if (c->out && !c->wide)
        write_line(c, s->guess, &s->score);
    c->all[c->count++] = *s;
}

static void take_wide(collected *c, const void *row)
{
    const double *score = row;
    write_line(c, metrics_decide(c->model, score), score);
}

static void write_class_metrics(json *j, const collected *c, const bda_metrics *x)
{
    const bda_model *m = c->model;
    json_count(j, "unknown_labels", x->unknown_labels);
    json_real(j, "accuracy", x->accuracy);
    if (m->classes == 2) {
        json_real(j, "auc", x->auc);
        json_real(j, "f1", x->f1);
    } else {
        json_real(j, "macro_f1", x->macro_f1);
    }
    if (m->loss->kind == LOSS_LOGISTIC)
        json_real(j, "log_loss", x->log_loss);
    if (c->counts.confusion) {
        json_reals(j, "labels", m->labels, m->classes);
        json_table(j, "confusion", c->counts.confusion, m->classes, m->classes);
    }
}

static bool write_metrics(const collected *c, const bda_metrics *x, const char *path, bda_error *err)
{
    output *out = out_open(path, err);
    if (!out)
        return false;
    json j;
    json_open(&j, out);
    json_count(&j, "instances", x->instances);
    if (c->model->loss->regression) {
        json_real(&j, "mse", x->mse);
        json_real(&j, "mae", x->mae);
        json_real(&j, "r2", x->r2);
    } else {
        write_class_metrics(&j, c, x);
    }
    json_close(&j);
    return out_commit(out, err);
}

/* ---- all ranks ----------------------------------------------------------------------------------------------- */

static bool check_request(const bda_model *m, const bda_settings *s, bda_error *err)
{
    if (!settings_are_of(s, "predict", err))
        return false;
    if (s->probability && m->loss->kind != LOSS_LOGISTIC)
        return err_set(err, BDA_USAGE, "--probability is for models of the logistic loss, and this one has %s",
                       m->loss->name);
    return true;
}

/* Takes all memory and opens the file. */
static bool open_collected(collected *c, arena *memory, const data *d, const char *path, bda_error *err)
{
    c->all = arena_take(memory, d->instances + 1, sizeof *c->all, "decision values", err);
    c->probability = ARENA_TAKE(memory, double, c->model->classes + 1, err);
    return c->all && c->probability && metrics_counts(&c->counts, c->model, memory, err) &&
           (!path || (c->out = out_open(path, err)));
}

static bool finish(collected *c, bda_metrics *found, bda_error *err)
{
    metrics_compute(c->model, c->all, c->count, &c->counts, found);
    output *out = c->out;
    c->out = NULL;
    const char *path = c->settings->metrics;
    return (!out || out_commit(out, err)) && (!path[0] || write_metrics(c, found, path, err));
}

/* The lines of all ranks' rows, in their order: a rank scores a piece of its rows, and rank 0 writes them. */
static bool write_wide(comm *ranks, const data *d, collected *c, bda_error *err)
{
    const bda_model *m = c->model;
    int size = bda_comm_size(ranks), rank = bda_comm_rank(ranks);
    uint64_t piece = PIECE / m->outputs + 1;
    arena memory = {0};
    double *score = arena_take(&memory, piece * m->outputs, sizeof *score, "decision values", err);
    uint64_t *count = ARENA_TAKE(&memory, uint64_t, (uint64_t)size, err);
    char *part = ARENA_TAKE(&memory, char, m->outputs * sizeof *score, err);
    bool ok = comm_agree(ranks, score && count && part, err);
    if (ok)
        comm_gather_counts(ranks, d->rows.count, count);
    taker lines = {.to = c, .row = take_wide, .part = part, .size = m->outputs * sizeof *score};
    for (int r = 0; ok && r < size; r++) {
        for (uint64_t first = 0; first < count[r]; first += piece) {
            uint64_t rows = r != rank ? 0 : count[r] - first < piece ? count[r] - first : piece;
#pragma omp parallel for schedule(dynamic, 16) num_threads((int)c->settings->threads) if (c->settings->threads > 1)
            for (uint64_t i = 0; i < rows; i++)
                decision_values(&d->rows, first + i, m, score + i * m->outputs);
            comm_collect(ranks, score, rows * m->outputs * sizeof *score, take_rows, &lines);
        }
    }
    arena_free(&memory);
    return ok;
}

bool bda_predict(bda_comm *ranks, const bda_model *m, const bda_data *d, const bda_settings *s, const char *path,
                 bda_metrics *metrics, bda_error *err)
{
    err_clear(err);
    if (!check_request(m, s, err))
        return false;
    bool first = bda_comm_rank(ranks) == 0;
    arena memory = {0};
    collected c = {.model = m, .settings = s, .wide = m->outputs > 1 && (s->scores || s->probability)};
    bda_metrics found = {0};
    scored *mine = arena_take(&memory, d->rows.count + 1, sizeof *mine, "decision values", err), row;
    double *work = ARENA_TAKE(&memory, double, (uint64_t)s->threads * m->outputs, err);
    bool ok = comm_agree(ranks, mine && work && (!first || open_collected(&c, &memory, d, path, err)), err);
    if (ok) {
        score_rows(m, d, (int)s->threads, work, mine);
        taker all = {.to = &c, .row = take_scored, .part = (char *)&row, .size = sizeof row};
        comm_collect(ranks, mine, d->rows.count * sizeof *mine, take_rows, &all);
        ok = !path || !c.wide || write_wide(ranks, d, &c, err);
    }
    if (ok) {
        ok = comm_agree(ranks, !first || finish(&c, &found, err), err);
        comm_broadcast(ranks, 0, &found, sizeof found);
    }
    out_abandon(c.out);
    arena_free(&memory);
    if (ok && metrics)
        *metrics = found;
    return ok;
}
