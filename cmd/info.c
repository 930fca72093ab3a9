/* info.c - `bda info`: what a model, a data file or a checkpoint holds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"

#define SHOWN 10 /* labels */

static void print_classes(const bda_model_summary *m)
{
    uint64_t shown = m->classes <= SHOWN ? m->classes : SHOWN - 1;
    printf("  labels       %llu:", (unsigned long long)m->classes);
    for (uint64_t k = 0; k < shown; k++)
        printf("%s %s", k ? "," : "", m->label_names[k]);
    if (shown < m->classes)
        printf(", ..., %s", m->label_names[m->classes - 1]);
    printf("\n");
}

/* "model PATH"; a path may hold anything. */
static void print_head(const char *what, const char *path)
{
    char shown[1000];
    snprintf(shown, sizeof shown, "%s", path);
    bda_plain_text(shown);
    printf("%s %s\n", what, shown);
}

static bool has_sentences(const bda_model_summary *m)
{
    return strcmp(m->task, "tag") == 0 || strcmp(m->task, "parse") == 0;
}

static void print_training(const bda_model_summary *m, bool sentences)
{
    printf("  method       %s\n", m->method);
    printf("  trained on   %llu %s\n", (unsigned long long)m->instances, sentences ? "sentences" : "instances");
    printf("  objective    %.15g", m->primal);
    char accuracy[80];
    describe_gap(m->relative_gap, accuracy, sizeof accuracy);
    printf("%s\n", accuracy);
}

/* What a model of tags or trees looks at. */
static void print_traits(const bda_model *model)
{
    const char *name, *text;
    char shown[1000];
    for (uint64_t k = 0; bda_model_trait(model, k, &name, &text); k++) {
        snprintf(shown, sizeof shown, "%s", text);
        bda_plain_text(shown);
        printf("  %-11s  %s\n", name, shown);
    }
}

/* Of several labels: was each learnt against the rest? */
static bool labels_are_apart(const bda_model *model)
{
    const char *name, *value;
    for (uint64_t k = 0; bda_model_option(model, k, &name, &value); k++)
        if (strcmp(name, "multiclass") == 0)
            return strcmp(value, "one-vs-rest") == 0;
    return false;
}

static void print_model(const char *path, const bda_model *model, const bda_model_summary *m)
{
    print_head("model", path);
    printf("  task         %s\n", m->task);
    const bool parse = strcmp(m->task, "parse") == 0; /* whose labels say whether an edge is there */
    if (m->classes == 2 && strcmp(m->task, "tag") == 0)
        printf("  labels       2: %s, %s\n", m->label_names[0], m->label_names[1]);
    else if (m->classes == 2 && !parse)
        printf("  labels       %s (positive), %s\n", m->label_names[0], m->label_names[1]);
    else if (m->classes && !parse)
        print_classes(m);
    print_traits(model);
    printf("  loss         %s", m->loss);
    if (m->classes > 2 && labels_are_apart(model))
        printf(" of each against the rest");
    if (!isnan(m->cost))
        printf(", cost %.15g", m->cost);
    if (!isnan(m->epsilon) && strstr(m->loss, "epsilon"))
        printf(", epsilon %.15g", m->epsilon);
    if (m->l1_ratio > 0)
        printf("\n  regulariser  elastic net, l1 ratio %.15g", m->l1_ratio);
    printf("\n");
    if (m->method[0])
        print_training(m, has_sentences(m));
    if (m->calibration)
        printf("  calibration  %s, on %llu instances that were held out\n", m->calibration,
               (unsigned long long)m->calibrated_on);
    printf("  features     %llu", (unsigned long long)m->features);
    if (!has_sentences(m))
        printf(", and %s constant feature", m->bias >= 0 ? "a" : "no");
    if (m->bias >= 0)
        printf(" of value %.15g", m->bias);
    uint64_t all = (m->features + (m->bias >= 0)) * m->outputs;
    printf("\n  weights      %llu are not 0, of %llu\n", (unsigned long long)m->nonzero_weights,
           (unsigned long long)all);
}

/* "12:0.5", by name where there is one; with many labels "12:0.5 (label 3)" */
static void print_weight(const bda_model *model, const bda_model_summary *m, uint64_t j)
{
    const uint64_t feature = j / m->outputs;
    const char *name = bda_model_feature(model, feature);
    if (feature == m->features)
        printf(" constant:%.4g", m->weights[j]);
    else if (name)
        printf(" %s:%.4g", name, m->weights[j]);
    else
        printf(" %llu:%.4g", (unsigned long long)feature + 1, m->weights[j]);
    if (m->outputs > 1)
        printf(" (label %s)", m->label_names[j % m->outputs]);
}

static bool print_weights(const bda_model *model, const bda_model_summary *m, uint64_t top, bda_error *err)
{
    uint64_t *place = calloc(top + 1, sizeof *place);
    if (!place) {
        err->status = BDA_FAILED;
        snprintf(err->text, sizeof err->text, "out of memory for %llu weights", (unsigned long long)top);
        return false;
    }
    const uint64_t listed = bda_model_top(model, top, place);
    if (listed)
        printf("  largest     ");
    for (uint64_t k = 0; k < listed; k++)
        print_weight(model, m, place[k]);
    if (listed)
        printf("\n");
    free(place);
    return true;
}

static bool show_model(const invocation *v, bda_error *err)
{
    bda_model *model = bda_model_read(v->argument[0], err);
    if (!model)
        return false;
    const uint64_t top = strtoull(bda_get(v->settings, "top"), NULL, 10);
    bool ok;
    if (is_set(v, "json")) {
        ok = bda_model_describe(model, top, "-", err);
    } else {
        bda_model_summary summary = {.size = sizeof summary};
        bda_model_summarise(model, &summary);
        print_model(v->argument[0], model, &summary);
        ok = has_sentences(&summary) || print_weights(model, &summary, top, err);
    }
    bda_model_free(model);
    return ok;
}

static void print_labels(const bda_data *data, const bda_data_summary *d, uint64_t listed, const uint64_t *count)
{
    printf("  labels       ");
    for (uint64_t k = 0; k < listed; k++)
        printf("%s%s (%llu)", k ? ", " : "", bda_data_label_name(data, k), (unsigned long long)count[k]);
    if (d->labels > BDA_MOST_CLASSES)
        printf("more than %d different numbers", BDA_MOST_CLASSES);
    else if (d->labels > listed)
        printf(", ... (%llu different labels)", (unsigned long long)d->labels);
    printf("\n");
}

/* What one rank would need, for some numbers of ranks. */
static bool print_forecast(const invocation *v, const bda_data_summary *d, const char *what, const char *task,
                           bda_error *err)
{
    bda_settings *training = bda_settings_new("train", err);
    if (!training || !bda_set(training, "threads", bda_get(v->settings, "threads"), err) ||
        !bda_set(training, "task", task, err)) {
        bda_settings_free(training);
        return false;
    }
    printf("  %-11s  memory of a rank:", what);
    for (int ranks = 1; ranks <= 16; ranks *= 2)
        printf("%s %.3g MB with %d", ranks > 1 ? "," : "", (double)bda_forecast(d, training, ranks) * 1e-6, ranks);
    printf("\n");
    bda_settings_free(training);
    return true;
}

/* Many labels may be classes or numbers, which differ in memory; too many can only be numbers. */
static bool print_forecasts(const invocation *v, const bda_data_summary *d, bda_error *err)
{
    if (d->labels <= 2)
        return print_forecast(v, d, "to train", "classify", err);
    return (d->labels > BDA_MOST_CLASSES || print_forecast(v, d, "to classify", "classify", err)) &&
           print_forecast(v, d, "to regress", "regress", err);
}

static bool show_data(const invocation *v, bda_error *err)
{
    bda_data *data = bda_data_read(v->comm, v->settings, v->argument[0], err);
    if (!data)
        return false;
    if (is_set(v, "json")) {
        const bool written = bda_data_describe(v->comm, data, "-", err);
        bda_data_free(data);
        return written;
    }
    bda_data_summary d = {.size = sizeof d};
    uint64_t count[SHOWN];
    bda_data_summarise(data, &d);
    uint64_t listed = bda_data_labels(v->comm, data, SHOWN, NULL, count);
    bool ok = true;
    if (v->first) {
        double per_row = d.instances ? (double)d.nonzeros / (double)d.instances : 0;
        print_head("data", v->argument[0]);
        printf("  format       %s, %.3g MB, read in %.3g s\n", d.format, (double)d.bytes_read * 1e-6, d.seconds);
        printf("  instances    %llu\n", (unsigned long long)d.instances);
        printf("  features     %llu\n", (unsigned long long)d.features);
        printf("  nonzeros     %llu, %.3g an instance; values held as: %s\n", (unsigned long long)d.nonzeros, per_row,
               d.values);
        print_labels(data, &d, listed, count);
        ok = print_forecasts(v, &d, err);
    }
    bda_data_free(data);
    return bda_comm_agree(v->comm, ok, err);
}

static bool show_checkpoint(const invocation *v, bda_error *err)
{
    const char *path = v->argument[0];
    if (is_set(v, "json"))
        return bda_checkpoint_describe(path, "-", err);
    bda_checkpoint_summary c = {.size = sizeof c};
    if (!bda_checkpoint_summarise(path, &c, err))
        return false;
    char gap[80] = "";
    if (!isnan(c.relative_gap))
        describe_gap(c.relative_gap, gap, sizeof gap);
    print_head("checkpoint", path);
    printf("  written by   bda %s, %llu rank%s\n", c.version, (unsigned long long)c.ranks, c.ranks == 1 ? "" : "s");
    printf("  training     --task=%s --loss=%s, %s, %llu instances in %llu block%s\n", c.task, c.loss, c.method,
           (unsigned long long)c.instances, (unsigned long long)c.blocks, c.blocks == 1 ? "" : "s");
    printf("  after        round %llu, %.1f s%s\n", (unsigned long long)c.round, c.seconds,
           c.ended ? ", where the training ended" : "");
    printf("  objective    %.15g%s\n", c.primal, gap);
    printf("  size         %.3g MB", (double)c.bytes * 1e-6);
    if (c.parts_here < c.parts)
        printf(", of which this file has %llu of %llu parts", (unsigned long long)c.parts_here,
               (unsigned long long)c.parts);
    printf("\n");
    return true;
}

/* A model or a checkpoint; of other files the ranks read their parts. */
static bool is_state(const char *path)
{
    return bda_is_model(path) || bda_file_is(path) == BDA_FILE_CHECKPOINT;
}

static bool show_state(const invocation *v, bda_error *err)
{
    return bda_is_model(v->argument[0]) ? show_model(v, err) : show_checkpoint(v, err);
}

static int info(invocation *v)
{
    bda_error err = {0};
    bool state = v->first && is_state(v->argument[0]);
    /* Whether it is one is rank 0's to say: the others may not even see the file. */
    bda_error other = {.status = BDA_FAILED};
    bool ok;
    if (!bda_comm_agree(v->comm, !state, &other))
        ok = bda_comm_agree(v->comm, !v->first || show_state(v, &err), &err);
    else
        ok = show_data(v, &err);
    return ok ? EXIT_DONE : fail(v, &err);
}

const command info_command = {
    .name = "info",
    .arguments = "FILE",
    .summary = "what a model, a data file or a checkpoint holds",
    .more = "Data is read as for training; the memory of a training is forecast for the default settings and "
            "--threads.",
    .examples = {"bda info model", "bda info --threads=4 data.svm", "bda info data.bda"},
    .least = 1,
    .most = 1,
    .run = info,
};
