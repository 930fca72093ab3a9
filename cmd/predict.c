/* predict.c - `bda predict`: labels new data, and says how well where the data has labels. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"

static void say_metrics(const invocation *v, const bda_model *model, const bda_metrics *m)
{
    bda_model_summary summary;
    bda_model_summarise(model, &summary);
    unsigned long long instances = m->instances;
    if (strcmp(summary.task, "regress") == 0) {
        say(v, "%llu instances: mse %.6g, mae %.6g, r2 %.4f", instances, m->mse, m->mae, m->r2);
        return;
    }
    if (m->unknown_labels == m->instances) {
        say(v, "%llu instances; the model knows none of their labels, so there is nothing to score", instances);
        return;
    }
    char more[200] = "", unknown[100] = "";
    size_t used = 0;
    if (!isnan(m->auc))
        used += (size_t)snprintf(more + used, sizeof more - used, ", auc %.4f", m->auc);
    if (!isnan(m->f1))
        used += (size_t)snprintf(more + used, sizeof more - used, ", f1 %.4f", m->f1);
    if (!isnan(m->macro_f1))
        used += (size_t)snprintf(more + used, sizeof more - used, ", macro f1 %.4f", m->macro_f1);
    if (!isnan(m->log_loss))
        snprintf(more + used, sizeof more - used, ", log loss %.4f", m->log_loss);
    if (m->unknown_labels)
        snprintf(unknown, sizeof unknown, "; %llu have labels that the model does not know and count as wrong",
                 (unsigned long long)m->unknown_labels);
    say(v, "%llu instances: accuracy %.2f %%%s%s", instances, 100 * m->accuracy, more, unknown);
}

static bool label_data(const invocation *v, const bda_model *model, bda_error *err)
{
    const char *output = v->argument[2] ? v->argument[2] : "-", *metrics = bda_get(v->settings, "metrics");
    if (!can_write(v, output, 2, err) || (metrics[0] && !can_write(v, metrics, -1, err)))
        return false;
    bda_data *data = bda_data_read(v->comm, v->settings, v->argument[1], err);
    if (!data)
        return false;
    note_data(v, data, v->argument[1]);
    bda_metrics found;
    bool ok = bda_predict(v->comm, model, data, v->settings, output, &found, err);
    if (ok && !is_set(v, "quiet"))
        say_metrics(v, model, &found);
    bda_data_free(data);
    return ok;
}

static int predict(invocation *v)
{
    bda_error err = {0};
    bda_model *model = bda_model_read(v->argument[0], &err);
    bool ok = bda_comm_agree(v->comm, model != NULL, &err) && label_data(v, model, &err);
    bda_model_free(model);
    return ok ? EXIT_DONE : fail(v, &err);
}

const command predict_command = {
    .name = "predict",
    .arguments = "MODEL DATA [OUTPUT]",
    .summary = "label new data, and score it",
    .more =
        "Writes a line for each instance to OUTPUT (standard output where there is none): the predicted label or "
        "number, then what --scores and --probability add. Of two labels, decision values above 0 stand for the "
        "larger one; with more, each label has a decision value and the largest wins, of equals that of the smallest "
        "label. Features that the model does not know are ignored. A summary goes to standard error.",
    .least = 2,
    .most = 3,
    .run = predict,
};
