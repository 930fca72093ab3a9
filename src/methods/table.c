/* table.c - all methods by name: the one file that knows both the dual methods and their rivals. */
#include "methods/table.h"

#include <stdio.h>
#include <string.h>

#include "dual/presets.h"
#include "methods/auto.h"
#include "methods/rivals.h"
#include "problem/instances.h"

const method *const methods[] = {
    &auto_method, &bda_method, &momentum_method, &hull_method,   &disdca,      &disdca_basic,
    &cocoa_plus,  &dsvm_ave,   &prox_grad,       &newton_method, &tron_method, &l_commdir,
    &lbfgs,       &admm,       &average,         &perceptron,    NULL,
};

const method *method_find(const char *name)
{
    for (const method *const *m = methods; *m; m++)
        if (strcmp((*m)->name, name) == 0)
            return *m;
    return NULL;
}

/* What decides whether a method serves. */
typedef struct demand {
    const task *task;
    const loss *loss;
    double l1_ratio;
    bool free_intercept;
    bool start;               /* at weights other than 0 */
    uint64_t labels, weights; /* 0: not known yet */
} demand;

typedef enum obstacle {
    NO_OBSTACLE,
    NEEDS_SENTENCES,
    NEEDS_LABELS,
    NEEDS_ROWS,
    NEEDS_PRIMAL,
    NEEDS_LABELS_TOGETHER,
    NEEDS_SLOPE,
    NEEDS_SMOOTH_PENALTY,
    NEEDS_WHOLE_PENALTY,
    NEEDS_CURVED_PENALTY,
    NEEDS_SLOPE_WITH_L1, /* no method does without */
    NEEDS_FEW_WEIGHTS,
    NEEDS_TO_BEGIN_AT_0
} obstacle;

static obstacle obstacle_of(const method *m, const demand *d)
{
    const task *t = d->task;
    if (d->l1_ratio == 1 && !t->smooth)
        return NEEDS_SLOPE_WITH_L1;
    if (m->sentences && !t->structure)
        return NEEDS_SENTENCES;
    if (m->classification && d->loss->regression)
        return NEEDS_LABELS;
    if (m->rows && t->structure)
        return NEEDS_ROWS;
    if ((m->primal && !t->primal) || (m->curvature && t->smooth && !t->primal->hessian_times))
        return NEEDS_PRIMAL;
    if (t->apart && (m->together || (m->hessian && !t->primal->hessian)))
        return NEEDS_LABELS_TOGETHER;
    if ((m->smooth_loss || (m->smooth_classes && !t->single)) && !t->smooth)
        return NEEDS_SLOPE;
    if (m->smooth_regulariser && d->l1_ratio > 0 && !(m->kinks_with_slope && t->smooth))
        return NEEDS_SMOOTH_PENALTY;
    if (!m->any_regulariser && d->l1_ratio == 1)
        return NEEDS_CURVED_PENALTY;
    if (m->whole_regulariser && d->free_intercept)
        return NEEDS_WHOLE_PENALTY;
    if (m->begins_at_0 && d->start)
        return NEEDS_TO_BEGIN_AT_0;
    if (m->most_weights && d->weights > m->most_weights)
        return NEEDS_FEW_WEIGHTS;
    return NO_OBSTACLE;
}

/* "a, b or c" of the methods that serve. */
static void list_serving(const demand *d, char *text, size_t size)
{
    const method *last = NULL;
    for (const method *const *m = methods; *m; m++)
        if (obstacle_of(*m, d) == NO_OBSTACLE)
            last = *m;
    size_t used = 0;
    text[0] = 0;
    for (const method *const *m = methods; *m && used < size; m++)
        if (obstacle_of(*m, d) == NO_OBSTACLE)
            used += (size_t)snprintf(text + used, size - used, "%s%s",
                                     used == 0    ? ""
                                     : *m == last ? " or "
                                                  : ", ",
                                     (*m)->name);
}

static bool refuse_with(const method *m, const char *why, const char *option, const char *others, bda_error *err)
{
    return err_set(err, BDA_USAGE, "--method=%s %s; with %s --method=%s would do", m->name, why, option, others);
}

static bool serves(const method *m, const demand *d, bda_error *err)
{
    char others[300], classes[60] = "";
    list_serving(d, others, sizeof others);
    if (d->labels > 0 && !d->task->single)
        snprintf(classes, sizeof classes, " with %llu labels", (unsigned long long)d->labels);
    switch (obstacle_of(m, d)) {
    case NO_OBSTACLE:
        return true;
    case NEEDS_ROWS:
        return err_set(err, BDA_USAGE, "--method=%s does not learn tags or trees; --method=%s would do", m->name,
                       others);
    case NEEDS_SENTENCES:
        return err_set(err, BDA_USAGE, "--method=%s is for --task=tag and parse; --method=%s would do", m->name,
                       others);
    case NEEDS_LABELS:
        return err_set(err, BDA_USAGE,
                       "--method=%s learns labels, which --task=regress has none of; --method=%s would do", m->name,
                       others);
    case NEEDS_PRIMAL:
        return err_set(err, BDA_USAGE,
                       "--method=%s is not offered for --task=%s with --loss=%s; --method=%s would do", m->name,
                       d->task->name, d->loss->name, others);
    case NEEDS_LABELS_TOGETHER:
        return refuse_with(m, "does not learn labels one against the rest", "--multiclass=one-vs-rest", others, err);
    case NEEDS_SLOPE:
        return err_set(err, BDA_USAGE,
                       "--method=%s needs a differentiable loss, which --loss=%s is not%s; --method=%s would do",
                       m->name, d->loss->name, classes, others);
    case NEEDS_SMOOTH_PENALTY:
        return err_set(
            err, BDA_USAGE,
            "--method=%s needs a differentiable regulariser, which --l1-ratio=%g is not; --method=%s would do",
            m->name, d->l1_ratio, others);
    case NEEDS_CURVED_PENALTY:
        return err_set(
            err, BDA_USAGE,
            "--method=%s needs a strongly convex regulariser, which --l1-ratio=1 is not; --method=%s would do",
            m->name, others);
    case NEEDS_SLOPE_WITH_L1:
        return err_set(
            err, BDA_USAGE,
            "--l1-ratio=1 needs a differentiable loss, which --loss=%s is not%s; an --l1-ratio below 1 would do",
            d->loss->name, classes);
    case NEEDS_WHOLE_PENALTY:
        return refuse_with(m, "regularises every weight and cannot leave one free", "--intercept=free", others, err);
    case NEEDS_FEW_WEIGHTS:
        return err_set(err, BDA_USAGE,
                       "--method=%s takes at most %llu weights, and here are %llu%s; --method=%s would do", m->name,
                       (unsigned long long)m->most_weights, (unsigned long long)d->weights, classes, others);
    case NEEDS_TO_BEGIN_AT_0:
        return refuse_with(m, "begins at weights of 0", "--start", others, err);
    }
    return false;
}

bool method_may_serve(const method *m, const char *task, const loss *l, double l1_ratio, bool free_intercept,
                      bda_error *err)
{
    const demand d = {
        .task = task_find(task, l, 0, NULL), .loss = l, .l1_ratio = l1_ratio, .free_intercept = free_intercept};
    return serves(m, &d, err);
}

bool method_serves(const method *m, const problem *p, bda_error *err)
{
    return serves(m,
                  &(const demand){.task = p->task,
                                  .loss = p->loss,
                                  .l1_ratio = p->penalty.l1_ratio,
                                  .free_intercept = p->penalty.free > 0,
                                  .start = p->start != NULL,
                                  .labels = p->data ? p->data->labels.count : p->classes,
                                  .weights = p->n},
                  err);
}
