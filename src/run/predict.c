/* predict.c - decision values of all rows, in parallel over ranks and threads; what they say, line by line; and how
 * good it is.
 *
 * A row's sum runs over its cells in order and takes the constant feature last, as LIBLINEAR's does, so that even a
 * score next to 0 gets the same label from an exported model. */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "data/data.h"
#include "run/metrics.h"
#include "run/settings.h"
#include "run/text.h"

/* x_i'w over the features that the model knows. */
static double decision_value(const rows *r, uint64_t i, const bda_model *m)
{
    double s = 0;
    for (uint64_t j = r->start[i]; j < r->start[i + 1]; j++) {
        uint32_t column = r->form == ROWS_FLOAT ? r->pair[j].column : r->column[j];
        if (column >= m->features)
            break;
        switch (r->form) {
        case ROWS_ONES:
            s += m->w[column];
            break;
        case ROWS_CONSTANT:
            s += r->value[i] * m->w[column];
            break;
        case ROWS_FLOAT:
            s += (double)r->pair[j].value * m->w[column];
            break;
        case ROWS_DOUBLE:
            s += r->value[j] * m->w[column];
            break;
        }
    }
    if (m->bias >= 0)
        s += m->bias * m->w[m->features];
    return s;
}

static void score_rows(const bda_model *m, const data *d, int threads, scored *scores)
{
#pragma omp parallel for schedule(dynamic, 1024) num_threads(threads) if (threads > 1)
    for (uint64_t i = 0; i < d->rows.count; i++)
        scores[i] = (scored){decision_value(&d->rows, i, m), d->label[i]};
}

/* ---- rank 0 -------------------------------------------------------------------------------------------------- */

typedef struct collected {
    const bda_model *model;
    const bda_settings *settings;
    output *out; /* or NULL */
    scored *all; /* [instances] */
    uint64_t count;
} collected;

static size_t add_real(char *line, size_t used, double x)
{
    line[used++] = ' ';
    return used + (size_t)text_real(line + used, x);
}

static void write_line(const collected *c, double score)
{
    char line[5 * TEXT_REAL];
    const bda_model *m = c->model;
    size_t used = (size_t)text_real(line, m->loss->regression ? score : metrics_decide(m, score));
    if (c->settings->scores)
        used = add_real(line, used, score);
    if (c->settings->probability) {
        used = add_real(line, used, 1 / (1 + exp(-score)));
        used = add_real(line, used, 1 / (1 + exp(score)));
    }
    line[used++] = '\n';
    out_write(c->out, line, used);
}

/* Pieces may end anywhere within a row: what is there of it waits in `part`. */
typedef struct taker {
    collected *to;
    scored part;
    size_t have; /* bytes of part */
} taker;

static void take_row(collected *c, const scored *row)
{
    if (c->out)
        write_line(c, row->score);
    c->all[c->count++] = *row;
}

static void take_rows(void *self, const void *bytes, uint64_t count)
{
    taker *t = self;
    const char *from = bytes;
    while (count > 0) {
        uint64_t wanted = sizeof t->part - t->have, now = count < wanted ? count : wanted;
        memcpy((char *)&t->part + t->have, from, now);
        t->have += now;
        from += now;
        count -= now;
        if (t->have == sizeof t->part) {
            take_row(t->to, &t->part);
            t->have = 0;
        }
    }
}

static bool write_metrics(const bda_model *m, const bda_metrics *x, const char *path, bda_error *err)
{
    output *out = out_open(path, err);
    if (!out)
        return false;
    json j;
    json_open(&j, out);
    json_count(&j, "instances", x->instances);
    if (m->loss->regression) {
        json_real(&j, "mse", x->mse);
        json_real(&j, "mae", x->mae);
        json_real(&j, "r2", x->r2);
    } else {
        json_count(&j, "unknown_labels", x->unknown_labels);
        json_real(&j, "accuracy", x->accuracy);
        json_real(&j, "auc", x->auc);
        json_real(&j, "f1", x->f1);
        if (m->loss->kind == LOSS_LOGISTIC)
            json_real(&j, "log_loss", x->log_loss);
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
    return c->all && (!path || (c->out = out_open(path, err)));
}

static bool finish(collected *c, bda_metrics *found, bda_error *err)
{
    metrics_compute(c->model, c->all, c->count, found);
    output *out = c->out;
    c->out = NULL;
    const char *path = c->settings->metrics;
    return (!out || out_commit(out, err)) && (!path[0] || write_metrics(c->model, found, path, err));
}

bool bda_predict(bda_comm *ranks, const bda_model *m, const bda_data *d, const bda_settings *s, const char *path,
                 bda_metrics *metrics, bda_error *err)
{
    err_clear(err);
    if (!check_request(m, s, err))
        return false;
    bool first = bda_comm_rank(ranks) == 0;
    arena memory = {0};
    collected c = {.model = m, .settings = s};
    bda_metrics found = {0};
    scored *mine = arena_take(&memory, d->rows.count + 1, sizeof *mine, "decision values", err);
    bool ok = comm_agree(ranks, mine && (!first || open_collected(&c, &memory, d, path, err)), err);
    if (ok) {
        score_rows(m, d, (int)s->threads, mine);
        taker all = {.to = &c};
        comm_collect(ranks, mine, d->rows.count * sizeof *mine, take_rows, &all);
        ok = comm_agree(ranks, !first || finish(&c, &found, err), err);
        comm_broadcast(ranks, 0, &found, sizeof found);
    }
    out_abandon(c.out);
    arena_free(&memory);
    if (ok && metrics)
        *metrics = found;
    return ok;
}
