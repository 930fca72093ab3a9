/* validation.c - see validation.h. The model is labelled with by the same function that `bda predict` uses. */
#include "run/validation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct validation {
    const problem *problem;
    bda_data *data;
    bda_settings *settings; /* of predict */
    bda_model *model;
    uint64_t every;
    uint64_t patience; /* 0: none */
    validation_best best;
    arena memory;
    double *w; /* [n] the weights of folded rows, scaled; NULL: the model's own memory will do */
};

bool validation_parse(const char *text, char *path, uint64_t *every, bda_error *err)
{
    static const char word[] = ",every=";
    const char *found = NULL;
    for (const char *next = text; (next = strstr(next, word)); next++)
        found = next;
    const size_t length = found ? (size_t)(found - text) : strlen(text);
    *every = 1;
    if (found) {
        const char *number = found + strlen(word);
        char *end;
        const double value = strtod(number, &end);
        if (strspn(number, "0123456789") != strlen(number) || !(value >= 1 && value < 1e15))
            return err_set(err, BDA_USAGE,
                           "--validate must be the name of data, and perhaps ,every=N with N at least 1, "
                           "not '%s'",
                           text);
        *every = (uint64_t)value;
    }
    memcpy(path, text, length);
    path[length] = 0;
    if (length == 0)
        return err_set(err, BDA_USAGE, "--validate=%s names no data", text);
    return true;
}

static bda_settings *predict_settings(const bda_settings *s, bda_error *err)
{
    bda_settings *own = bda_settings_new("predict", err);
    if (own && bda_set(own, "threads", bda_get(s, "threads"), err) &&
        bda_set(own, "zero-based", bda_get(s, "zero-based"), err) && bda_set(own, "quiet", "1", err))
        return own;
    bda_settings_free(own);
    return NULL;
}

validation *validation_open(const problem *p, const bda_settings *s, bda_model *model, bda_error *err)
{
    char path[OPTION_TEXT] = "";
    validation *v = calloc(1, sizeof *v);
    bool ok = v && model;
    if (!v)
        err_memory(err, sizeof *v, "the validation");
    if (ok) {
        v->problem = p;
        v->patience = s->patience == OPTION_UNSET ? 0 : (uint64_t)s->patience;
        v->best.score = NAN;
        ok = validation_parse(s->validate, path, &v->every, err) && (v->settings = predict_settings(s, err)) &&
             (!problem_weights_differ(p) || (v->w = ARENA_TAKE(&v->memory, double, p->n, err)));
    }
    if (v)
        v->model = model;
    else
        bda_model_free(model);
    const char *const paths[] = {path};
    if (comm_agree(p->comm, ok, err)) /* sentences are read by the templates and the words of the model */
        v->data = p->task->structure ? bda_data_read_for(p->comm, v->model, v->settings, path, err)
                                     : data_read_known(p->comm, p->data->schema, false, v->settings, 1, paths, err);
    if (v && v->data)
        return v;
    validation_close(v);
    return NULL;
}

void validation_close(validation *v)
{
    if (!v)
        return;
    bda_data_free(v->data);
    bda_settings_free(v->settings);
    bda_model_free(v->model);
    arena_free(&v->memory);
    free(v);
}

bool validation_is_due(const validation *v, uint64_t round)
{
    return round % v->every == 0;
}

const validation_best *validation_seen(const validation *v)
{
    return &v->best;
}

bool validation_judge(validation *v, const bda_metrics *scores, uint64_t round, double primal)
{
    static const struct {
        const char *name;
        double sign;
    } looked_at[] = {{"accuracy", 1}, {"mse", -1}, {"token_accuracy", 1}, {"uas", 1}};
    validation_best *best = &v->best;
    for (size_t k = 0; k < sizeof looked_at / sizeof *looked_at && v->patience > 0; k++) {
        const double score = bda_metric(scores, looked_at[k].name);
        if (isnan(score))
            continue;
        best->since++;
        if (best->name && looked_at[k].sign * score <= looked_at[k].sign * best->score)
            return false;
        *best = (validation_best){.name = looked_at[k].name, .score = score, .primal = primal, .round = round};
        return true;
    }
    return false;
}

bool validation_is_over(const validation *v)
{
    return v->patience > 0 && v->best.since >= v->patience;
}

bool validation_score(validation *v, comm *c, const double *w, double factor, bda_metrics **scores, bda_error *err)
{
    double *to = v->w ? v->w : v->model->w;
    for (uint64_t j = 0; j < v->problem->n; j++)
        to[j] = factor * w[j];
    if (v->w)
        problem_weights(v->problem, v->w, v->model->w);
    return bda_predict(c, v->model, v->data, v->settings, NULL, scores, err);
}
