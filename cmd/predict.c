/* predict.c - `bda predict`: labels new data, and says how well where the data has labels. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"

static void say_sentences(const invocation *v, const bda_metrics *m)
{
    static const char *const parts[][2] = {{"token_accuracy", "token accuracy"},
                                           {"uas", "uas"},
                                           {"las", "las"},
                                           {"sentence_accuracy", "sentence accuracy"},
                                           {"chunk_f1", "chunk f1"}};
    char text[300] = "";
    size_t used = 0;
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        if (!isnan(bda_metric(m, parts[k][0])))
            used += (size_t)snprintf(text + used, sizeof text - used, "%s %s %.2f %%", used ? "," : ":", parts[k][1],
                                     100 * bda_metric(m, parts[k][0]));
    const unsigned long long sentences = (unsigned long long)bda_metric(m, "sentences");
    say(v, "%llu sentence%s%s", sentences, sentences == 1 ? "" : "s", used ? text : "; there is nothing to score");
}

static void say_metrics(const invocation *v, const bda_model *model, const bda_metrics *m)
{
    bda_model_summary summary = {.size = sizeof summary};
    bda_model_summarise(model, &summary);
    unsigned long long instances = (unsigned long long)bda_metric(m, "instances");
    if (strcmp(summary.task, "tag") == 0 || strcmp(summary.task, "parse") == 0) {
        say_sentences(v, m);
        return;
    }
    if (isnan(bda_metric(m, "accuracy")) && isnan(bda_metric(m, "mse"))) {
        say(v, "%llu instances, which have no labels, so there is nothing to score", instances);
        return;
    }
    if (strcmp(summary.task, "regress") == 0) {
        say(v, "%llu instances: mse %.6g, mae %.6g, r2 %.4f", instances, bda_metric(m, "mse"), bda_metric(m, "mae"),
            bda_metric(m, "r2"));
        return;
    }
    const unsigned long long strangers = (unsigned long long)bda_metric(m, "unknown_labels");
    if (strangers == instances) {
        say(v, "%llu instances; the model knows none of their labels, so there is nothing to score", instances);
        return;
    }
    char more[200] = "", unknown[100] = "";
    size_t used = 0;
    static const char *const names[][2] = {
        {"auc", "auc"}, {"f1", "f1"}, {"macro_f1", "macro f1"}, {"log_loss", "log loss"}};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (!isnan(bda_metric(m, names[k][0])))
            used += (size_t)snprintf(more + used, sizeof more - used, ", %s %.4f", names[k][1],
                                     bda_metric(m, names[k][0]));
    if (strangers)
        snprintf(unknown, sizeof unknown, "; %llu have labels that the model does not know and count as wrong",
                 strangers);
    say(v, "%llu instances: accuracy %.2f %%%s%s", instances, 100 * bda_metric(m, "accuracy"), more, unknown);
}

static bool label_data(const invocation *v, const bda_model *model, const char *output, bda_error *err)
{
    bda_data *data = bda_data_read_for(v->comm, model, v->settings, v->argument[1], err);
    if (!data)
        return false;
    note_data(v, data, v->argument[1]);
    bda_metrics *found = NULL;
    bool ok = bda_predict(v->comm, model, data, v->settings, output, &found, err);
    if (ok && !is_set(v, "quiet"))
        say_metrics(v, model, found);
    bda_metrics_free(found);
    bda_data_free(data);
    return ok;
}

static int predict(invocation *v)
{
    bda_error err = {0};
    const char *lines = v->argument[2] ? v->argument[2] : "-";
    bda_output output[] = {{lines, BDA_FILE_PREDICTIONS}, {bda_get(v->settings, "metrics"), BDA_FILE_METRICS}};
    const bool swapped = v->first && !bda_is_model(v->argument[0]) && bda_is_model(v->argument[1]);
    if (swapped) {
        err.status = BDA_USAGE;
        snprintf(err.text, sizeof err.text, "MODEL comes before DATA, and '%.300s' is a model while '%.300s' is none",
                 v->argument[1], v->argument[0]);
    }
    if (!bda_comm_agree(v->comm, !swapped, &err) || !can_write(v, output, 2, v->argument, 2, &err))
        return fail(v, &err);
    bda_model *model = bda_model_read(v->argument[0], &err);
    bool ok = bda_comm_agree(v->comm, model != NULL, &err) && label_data(v, model, lines, &err);
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
    .examples = {"bda predict model new.svm predictions", "bda predict --probability model new.svm -",
                 "bda predict --quiet --metrics=scores.json model test.svm"},
    .least = 2,
    .most = 3,
    .run = predict,
};
