/* info.c - `bda info`: what a model or a data file holds. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"

#define SHOWN 10 /* labels, weights */

static void print_classes(const bda_model_summary *m)
{
    uint64_t shown = m->classes <= SHOWN ? m->classes : SHOWN - 1;
    printf("  labels       %llu:", (unsigned long long)m->classes);
    for (uint64_t k = 0; k < shown; k++)
        printf("%s %.15g", k ? "," : "", m->labels[k]);
    if (shown < m->classes)
        printf(", ..., %.15g", m->labels[m->classes - 1]);
    printf("\n");
}

static void print_model(const char *path, const bda_model_summary *m)
{
    printf("model %s\n", path);
    printf("  task         %s\n", m->task);
    if (m->classes == 2)
        printf("  labels       %.15g (positive), %.15g\n", m->labels[0], m->labels[1]);
    else if (m->classes > 2)
        print_classes(m);
    printf("  loss         %s, cost %.15g", m->loss, m->cost);
    if (strstr(m->loss, "epsilon"))
        printf(", epsilon %.15g", m->epsilon);
    if (m->l1_ratio > 0)
        printf("\n  regulariser  elastic net, l1 ratio %.15g", m->l1_ratio);
    printf("\n  method       %s\n", m->method);
    printf("  trained on   %llu instances\n", (unsigned long long)m->instances);
    printf("  objective    %.15g", m->primal);
    if (!isnan(m->relative_gap))
        printf(", gap %.3g of the start", m->relative_gap);
    printf("\n");
    printf("  features     %llu, and %s constant feature", (unsigned long long)m->features,
           m->bias >= 0 ? "a" : "no");
    if (m->bias >= 0)
        printf(" of value %.15g", m->bias);
    uint64_t all = (m->features + (m->bias >= 0)) * m->outputs;
    printf("\n  weights      %llu are not 0, of %llu\n", (unsigned long long)m->nonzero_weights,
           (unsigned long long)all);
}

/* "12:0.5", with many labels "12:0.5 (label 3)" */
static void print_weight(const bda_model_summary *m, uint64_t j)
{
    uint64_t feature = j / m->outputs;
    if (feature == m->features)
        printf(" constant:%.4g", m->weights[j]);
    else
        printf(" %llu:%.4g", (unsigned long long)feature + 1, m->weights[j]);
    if (m->outputs > 1)
        printf(" (label %.15g)", m->labels[j % m->outputs]);
}

/* The largest by magnitude, those of lower index first where equal. */
static void print_weights(const bda_model_summary *m)
{
    uint64_t top[SHOWN], shown = 0, n = (m->features + (m->bias >= 0)) * m->outputs;
    for (uint64_t j = 0; j < n; j++) {
        double size = fabs(m->weights[j]);
        if (size == 0 || (shown == SHOWN && size <= fabs(m->weights[top[SHOWN - 1]])))
            continue;
        uint64_t k = shown < SHOWN ? shown++ : SHOWN - 1;
        for (; k > 0 && size > fabs(m->weights[top[k - 1]]); k--)
            top[k] = top[k - 1];
        top[k] = j;
    }
    if (shown)
        printf("  largest     ");
    for (uint64_t k = 0; k < shown; k++)
        print_weight(m, top[k]);
    if (shown)
        printf("\n");
}

static bool show_model(const invocation *v, bda_error *err)
{
    bda_model *model = bda_model_read(v->argument[0], err);
    if (!model)
        return false;
    bda_model_summary summary;
    bda_model_summarise(model, &summary);
    print_model(v->argument[0], &summary);
    print_weights(&summary);
    bda_model_free(model);
    return true;
}

static void print_labels(const bda_data_summary *d, uint64_t listed, const double *label, const uint64_t *count)
{
    printf("  labels       ");
    for (uint64_t k = 0; k < listed; k++)
        printf("%s%.15g (%llu)", k ? ", " : "", label[k], (unsigned long long)count[k]);
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
    bda_data_summary d;
    double label[SHOWN];
    uint64_t count[SHOWN];
    bda_data_summarise(data, &d);
    uint64_t listed = bda_data_labels(v->comm, data, SHOWN, label, count);
    bda_data_free(data);
    bool ok = true;
    if (v->first) {
        double per_row = d.instances ? (double)d.nonzeros / (double)d.instances : 0;
        printf("data %s\n", v->argument[0]);
        printf("  format       %s, %.3g MB, read in %.3g s\n", d.format, (double)d.bytes_read * 1e-6, d.seconds);
        printf("  instances    %llu\n", (unsigned long long)d.instances);
        printf("  features     %llu\n", (unsigned long long)d.features);
        printf("  nonzeros     %llu, %.3g an instance; values held as: %s\n", (unsigned long long)d.nonzeros, per_row,
               d.values);
        print_labels(&d, listed, label, count);
        ok = print_forecasts(v, &d, err);
    }
    return bda_comm_agree(v->comm, ok, err);
}

static int info(invocation *v)
{
    bda_error err = {0};
    bool model = v->first && bda_is_model(v->argument[0]);
    /* Whether it is a model is rank 0's to say: the others may not even see the file. */
    bda_error other = {.status = BDA_FAILED};
    bool ok;
    if (!bda_comm_agree(v->comm, !model, &other))
        ok = bda_comm_agree(v->comm, !v->first || show_model(v, &err), &err);
    else
        ok = show_data(v, &err);
    return ok ? EXIT_DONE : fail(v, &err);
}

const command info_command = {
    .name = "info",
    .arguments = "FILE",
    .summary = "what a model or a data file holds",
    .more = "Data is read as for training; the memory of a training is forecast for the default settings and "
            "--threads.",
    .least = 1,
    .most = 1,
    .run = info,
};
