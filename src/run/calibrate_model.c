/* calibrate_model.c - a model gets probabilities from the scores of instances that were held out: by a training for each
 * fold, on all others. The scores are taken in the order of folds and data, whoever holds them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run/decide.h"
#include "run/folds.h"
#include "run/settings.h"

typedef struct held_out {
    comm *comm;
    const bda_model *model;
    uint64_t folds;
    uint64_t *start;         /* [folds + 1] where each fold's rows begin */
    double *score;           /* [own rows][outputs] */
    double *weight;          /* [own rows] */
    uint32_t *truth;         /* [own rows] the class number of the model */
    uint32_t *class;         /* [labels of the data] work space */
    calibration_point *mine; /* [own rows] work space */
    calibration_point *all;  /* rank 0: [rows] */
    uint64_t have;           /* of them, bytes */
    arena memory;
} held_out;

static bool same_labels(const bda_model *a, const bda_model *b)
{
    bool same = a->classes == b->classes;
    for (uint64_t k = 0; same && k < a->classes; k++)
        same = strcmp(a->labels.name[k], b->labels.name[k]) == 0;
    return same;
}

static bool score_fold(held_out *h, const bda_model *trained, const data *d, uint64_t fold, const char *name,
                       bda_error *err)
{
    const uint64_t first = h->start[fold], T = h->model->outputs;
    if (!same_labels(trained, h->model))
        return err_set(err, BDA_FAILED,
                       "%s: all instances of some label are in fold %llu, and the scores of the others tell nothing "
                       "of it; fewer labels or other groups would help",
                       name, (unsigned long long)fold + 1);
    if (d->target.class)
        label_match(&d->labels, &h->model->labels, h->class);
    for (uint64_t i = 0; i < d->rows.count; i++) {
        decide_scores(trained, &d->rows, i, h->score + (first + i) * T);
        h->weight[first + i] = d->weight ? d->weight[i] : 1;
        h->truth[first + i] =
            d->target.class ? h->class[d->target.class[i]] : label_of_number(&h->model->labels, d->target.real[i]);
    }
    h->start[fold + 1] = first + d->rows.count;
    return true;
}

static bool run_fold(held_out *h, const bda_folds *folds, uint64_t fold, const bda_settings *s,
                     const bda_observer *observer, bda_error *err)
{
    bda_outcome outcome = {.size = sizeof outcome};
    bda_data *rest = bda_folds_data(h->comm, folds, fold, false, err);
    bda_data *held = rest ? bda_folds_data(h->comm, folds, fold, true, err) : NULL;
    bda_model *trained = held ? bda_train(h->comm, rest, s, observer, &outcome, err) : NULL;
    bool ok = trained != NULL;
    if (ok && outcome.reason == BDA_INTERRUPTED)
        ok = err_set(err, BDA_FAILED, "a signal ended the calibration");
    ok = ok && comm_agree(h->comm, score_fold(h, trained, held, fold, held->name, err), err);
    bda_model_free(trained);
    bda_data_free(held);
    bda_data_free(rest);
    return ok;
}

static void take_points(void *self, const void *from, uint64_t count)
{
    held_out *h = self;
    memcpy((char *)h->all + h->have, from, count);
    h->have += count;
}

/* Rank 0 has all points of output k, which for two labels is that of the positive one. */
static void gather(held_out *h, uint64_t k)
{
    h->have = 0;
    for (uint64_t f = 0; f < h->folds; f++) {
        const uint64_t first = h->start[f], count = h->start[f + 1] - first;
        for (uint64_t i = 0; i < count; i++)
            h->mine[i] = (calibration_point){.score = h->score[(first + i) * h->model->outputs + k],
                                             .weight = h->weight[first + i],
                                             .target = h->truth[first + i] == k};
        comm_collect(h->comm, h->mine, count * sizeof *h->mine, take_points, h);
    }
}

/* Rank 0 fits; all get the bytes of it. */
static bool fit(held_out *h, calibration *c, bytes *packed, bda_error *err)
{
    const bool first = bda_comm_rank(h->comm) == 0;
    bool ok = (c->map = ARENA_TAKE(&h->memory, calibration_map, c->maps, err)) != NULL;
    ok = comm_agree(h->comm, ok, err);
    for (uint64_t k = 0; ok && k < c->maps; k++) {
        gather(h, k);
        ok = comm_agree(
            h->comm,
            !first || calibration_fit(c->kind, h->all, h->have / sizeof *h->all, &c->map[k], &h->memory, err), err);
    }
    if (ok && first)
        calibration_pack(c, packed);
    if (!ok || !comm_agree(h->comm, bytes_done(packed, "a calibration", err), err))
        return false;
    uint64_t count = packed->count;
    comm_broadcast(h->comm, 0, &count, sizeof count);
    unsigned char *room = first ? packed->at : ARENA_TAKE(&h->memory, unsigned char, count, err);
    if (!comm_agree(h->comm, room != NULL, err))
        return false;
    comm_broadcast(h->comm, 0, room, count);
    if (!first)
        bytes_put(packed, room, count);
    return comm_agree(h->comm, bytes_done(packed, "a calibration", err), err);
}

static bool open_held_out(held_out *h, const data *d, bda_error *err)
{
    const uint64_t own = d->rows.count;
    h->start = ARENA_TAKE(&h->memory, uint64_t, h->folds + 1, err);
    h->score = arena_take(&h->memory, own + 1, h->model->outputs * sizeof *h->score, "scores", err);
    h->weight = ARENA_TAKE(&h->memory, double, own + 1, err);
    h->truth = ARENA_TAKE(&h->memory, uint32_t, own + 1, err);
    h->class = ARENA_TAKE(&h->memory, uint32_t, d->labels.count + 1, err);
    h->mine = ARENA_TAKE(&h->memory, calibration_point, own + 1, err);
    h->all = bda_comm_rank(h->comm) == 0 ? ARENA_TAKE(&h->memory, calibration_point, d->rows_all + 1, err) : NULL;
    return h->start && h->score && h->weight && h->truth && h->class && h->mine &&
           (bda_comm_rank(h->comm) > 0 || h->all);
}

bool bda_model_calibrate(bda_comm *c, bda_model *m, const bda_folds *folds, const bda_settings *s, const char *method,
                         const bda_observer *observer, bda_error *err)
{
    err_clear(err);
    const data *d = folds_whole(folds);
    calibration fitted = {.maps = m->outputs, .instances = d->rows_all};
    if (!settings_are_of(s, "train", err))
        return false;
    if (!calibration_kind_of(method, &fitted.kind))
        return err_set(err, BDA_USAGE, "a calibration is platt or isotonic, not '%.40s'", method);
    if (!m->kind->labelled)
        return err_set(err, BDA_USAGE, "only a model of --task=classify is calibrated, and this one is of --task=%s",
                       m->task);
    held_out h = {.comm = c, .model = m, .folds = folds_count(folds)};
    bytes packed = {0};
    bool ok = comm_agree(c, open_held_out(&h, d, err), err);
    for (uint64_t f = 0; ok && f < h.folds; f++)
        ok = run_fold(&h, folds, f, s, observer, err);
    ok = ok && fit(&h, &fitted, &packed, err);
    ok = ok && comm_agree(c, model_keep_calibration(m, packed.at, packed.count, err), err);
    bytes_free(&packed);
    arena_free(&h.memory);
    return ok;
}
