/* model_make.c - models made from given weights, and what callers ask of one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run/model.h"
#include "run/sized.h"

void bda_model_summarise(const bda_model *m, bda_model_summary *summary)
{
    uint64_t nonzero = 0;
    for (uint64_t j = 0; j < m->n; j++)
        nonzero += m->w[j] != 0;
    const model_record *r = &m->record;
    const bda_model_summary all = {
        .task = m->task,
        .loss = m->loss->name,
        .method = r->method,
        .cost = r->cost,
        .epsilon = r->epsilon,
        .bias = m->bias,
        .l1_ratio = r->l1_ratio,
        .features = m->features,
        .nonzero_weights = nonzero,
        .classes = m->classes,
        .label_names = m->labels.name,
        .labels = m->labels.number,
        .primal = r->primal,
        .relative_gap = r->relative_gap,
        .gap_of_start = r->gap_of_start,
        .instances = r->instances,
        .weights = m->w,
        .outputs = m->outputs,
        .calibration = m->calibration ? calibration_name(m->calibration->kind) : NULL,
        .calibrated_on = m->calibration ? m->calibration->instances : 0,
        .shared_weights = m->shared,
        .feature_names = m->feature_name,
        .dual = r->dual,
        .rounds = r->rounds,
        .blocks = r->blocks,
        .seed = r->seed,
        .data_digest = r->data_digest,
        .version = r->version,
    };
    sized_fill(summary, &all, sizeof all);
}

const char *bda_model_label(const bda_model *m, uint64_t k)
{
    return k < m->classes ? m->labels.name[k] : NULL;
}

const char *bda_model_feature(const bda_model *m, uint64_t j)
{
    return m->feature_name && j < m->features ? m->feature_name[j] : NULL;
}

bool bda_model_trait(const bda_model *m, uint64_t k, const char **name, const char **text)
{
    if (k >= m->traits)
        return false;
    *name = m->trait[k].name;
    *text = m->trait[k].value;
    return true;
}

bool bda_model_option(const bda_model *m, uint64_t k, const char **name, const char **value)
{
    if (k >= m->record.options)
        return false;
    *name = m->record.option[k].name;
    *value = m->record.option[k].value;
    return true;
}

bool model_name_features(bda_model *m, const char *const *name, bda_error *err)
{
    const char **copy = ARENA_TAKE(&m->memory, const char *, m->features, err);
    for (uint64_t j = 0; copy && j < m->features; j++)
        if (!(copy[j] = model_copy_text(m, name[j], err)))
            return false;
    m->feature_name = copy;
    return copy;
}

/* ---- made by hand -------------------------------------------------------------------------------------------- */

static bool check_labels(const bda_model_summary *s, bda_error *err)
{
    if (s->classes > 0 && !s->labels && !s->label_names)
        return err_set(err, BDA_USAGE, "a model of %llu classes needs their labels", (unsigned long long)s->classes);
    if (s->labels && !model_labels_in_order(s->labels, s->classes))
        return err_set(err, BDA_USAGE,
                       "the labels of a model must be finite and in order: of two the larger first, of "
                       "more in increasing order");
    for (uint64_t k = 1; !s->labels && k < s->classes; k++) {
        const int order = strcmp(s->label_names[k], s->label_names[k - 1]);
        if (s->classes == 2 ? order >= 0 : order <= 0)
            return err_set(err, BDA_USAGE,
                           "the labels of a model must be in order: of two the larger first, of more in "
                           "increasing order of bytes");
    }
    return true;
}

static bool check_summary(const bda_model_summary *s, const model_shape *shape, bda_error *err)
{
    if (!s->task || !s->loss || !s->weights)
        return err_set(err, BDA_USAGE, "a model needs a task, a loss and weights");
    if (!model_is_sound(model_task(s->task), loss_find(s->loss), shape, s->classes))
        return err_set(
            err, BDA_USAGE,
            "a model of task '%.30s' and loss '%.30s' cannot have %llu classes, %llu weights a feature and "
            "%llu features",
            s->task, s->loss, (unsigned long long)s->classes, (unsigned long long)s->outputs,
            (unsigned long long)s->features);
    if (s->method && s->method[0] && !model_is_name(s->method))
        return err_set(err, BDA_USAGE, "the name of a method has printable characters of ASCII only");
    return check_labels(s, err);
}

static bool take_weights(bda_model *m, const double *w, bda_error *err)
{
    for (uint64_t j = 0; j < m->n; j++) {
        if (!isfinite(w[j]))
            return err_set(err, BDA_FAILED, "weight %llu is not a finite number", (unsigned long long)j);
        m->w[j] = w[j];
    }
    return true;
}

/* A value of 0 may mean that the caller does not know it; a cost or an objective of 0 says nothing anyway. */
static double known(double x)
{
    return x != 0 && isfinite(x) ? x : NAN;
}

static bool take_record(bda_model *m, const bda_model_summary *s, bda_error *err)
{
    model_record *r = &m->record;
    r->cost = known(fabs(s->cost));
    r->epsilon = known(fabs(s->epsilon));
    r->l1_ratio = s->l1_ratio >= 0 && s->l1_ratio <= 1 ? s->l1_ratio : NAN;
    r->primal = known(s->primal);
    r->dual = known(s->dual);
    r->relative_gap = r->primal > 0 && s->relative_gap >= 0 ? s->relative_gap : NAN;
    r->gap_of_start = r->primal > 0 && s->gap_of_start >= 0 ? s->gap_of_start : NAN;
    r->instances = s->instances;
    r->rounds = s->rounds;
    r->blocks = s->blocks;
    r->seed = s->seed;
    r->data_digest = s->data_digest;
    r->version = bda_version();
    r->method = model_copy_text(m, s->method ? s->method : "", err);
    return r->method;
}

bda_model *bda_model_make(const bda_model_summary *summary, bda_error *err)
{
    err_clear(err);
    bda_model_summary s = {.bias = -1};
    sized_take(&s, summary, sizeof s);
    const model_shape shape = {
        .features = s.features, .outputs = s.outputs, .shared = s.shared_weights, .bias = s.bias};
    if (!check_summary(&s, &shape, err))
        return NULL;
    const label_table labels = {s.classes, s.classes ? s.label_names : NULL, s.classes ? s.labels : NULL};
    bda_model *m = model_new(&shape, &labels, err);
    if (!m)
        return NULL;
    model_set_task(m, model_task(s.task), loss_find(s.loss));
    if (take_weights(m, s.weights, err) && take_record(m, &s, err) &&
        (!s.feature_names || model_name_features(m, s.feature_names, err)))
        return m;
    bda_model_free(m);
    return NULL;
}
