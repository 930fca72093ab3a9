/* start.c - see start.h. */
#include "run/start.h"

#include <string.h>

#include "data/schema.h"
#include "problem/start.h"

static bool check_task(const problem *p, const bda_model *m, bda_error *err)
{
    if (p->task->structure)
        return err_set(err, BDA_USAGE, "--start is for --task=classify and regress, not for %s", p->task->name);
    if (strcmp(m->task, p->task->name) != 0)
        return err_set(err, BDA_USAGE, "--start names a model of --task=%s, and this is a training of --task=%s",
                       m->task, p->task->name);
    return true;
}

/* class: [labels] their numbers in the model. */
static bool check_labels(const problem *p, const bda_model *m, uint32_t *class, bda_error *err)
{
    const label_table *labels = &p->data->labels;
    if (!p->task->labelled)
        return true;
    label_match(labels, &m->labels, class);
    for (uint64_t k = 0; k < labels->count; k++)
        if (class[k] == LABEL_NONE)
            return err_set(err, BDA_FAILED, "%s has the label %s, which the model of --start does not know",
                           p->data->name, labels->name[k]);
    if (m->classes != labels->count)
        return err_set(err, BDA_FAILED, "the model of --start knows %llu labels, and %s has %llu of them",
                       (unsigned long long)m->classes, p->data->name, (unsigned long long)labels->count);
    if (m->outputs != p->outputs)
        return err_set(err, BDA_FAILED, "the model of --start has %llu scores a row, and this training wants %llu",
                       (unsigned long long)m->outputs, (unsigned long long)p->outputs);
    return true;
}

static bool check_features(const problem *p, const bda_model *m, bda_error *err)
{
    const data_schema *schema = p->data->schema;
    if (!schema || !m->feature_name)
        return true;
    for (uint64_t j = 0; j < p->data->features || j < m->features; j++) {
        char name[300] = "";
        if (j < p->data->features)
            schema_feature(schema, j, name, sizeof name);
        const char *known = j < m->features ? m->feature_name[j] : "";
        if (strcmp(name, known) != 0)
            return err_set(err, BDA_FAILED,
                           "feature %llu of %s is '%.100s', and that of the model of --start is '%.100s'; they must "
                           "have the same features",
                           (unsigned long long)j + 1, p->data->name, name, known);
    }
    return true;
}

/* full: [features + 1][outputs], by class number, the last for a constant feature of value 1. Of two labels the model has the
 * larger first, as its score has it: with one output there is nothing to reorder. */
static void lay_out(const problem *p, const bda_model *m, const uint32_t *class, double *full)
{
    const uint64_t T = p->outputs, known = m->features < p->data->features ? m->features : p->data->features;
    for (uint64_t j = 0; j <= known; j++) {
        const bool constant = j == known;
        if (constant && m->bias < 0)
            break;
        const double *from = m->w + (constant ? m->features : j) * T;
        double *to = full + (constant ? p->data->features : j) * T;
        for (uint64_t k = 0; k < T; k++)
            to[k] = from[T > 1 ? class[k] : 0] * (constant ? m->bias : 1);
    }
}

bool start_at_model(problem *p, const bda_model *m, bda_error *err)
{
    if (!check_task(p, m, err))
        return false;
    arena memory = {0};
    uint32_t *class = ARENA_TAKE(&memory, uint32_t, p->data->labels.count + 1, err);
    double *full = ARENA_TAKE(&memory, double, (p->data->features + 1) * p->outputs, err);
    bool ok = class && full && check_labels(p, m, class, err) && check_features(p, m, err);
    ok = comm_agree(p->comm, ok, err);
    if (ok) {
        lay_out(p, m, class, full);
        ok = problem_start(p, full, err);
    }
    arena_free(&memory);
    return ok;
}
