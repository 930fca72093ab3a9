/* task.c - the table of tasks. */
#include "problem/task.h"

#include <string.h>

#include "problem/instances.h"
#include "problem/kinds.h"
#include "problem/structured.h"

static uint64_t one_a_label(uint64_t labels)
{
    return labels;
}

/* ---- a row with one score: two labels, or a number ------------------------------------------------------------ */

#define SINGLE(loss_kind)                                                                                            \
    .losses = TASK_LOSS(loss_kind), .single = true, .dual = &linear_blocks, .primal = &linear_primal
#define TWO_LABELS .name = "classify", .least = 1, .most = 2, .labelled = true
#define A_NUMBER .name = "regress"

static const task binary_hinge = {TWO_LABELS, SINGLE(LOSS_HINGE), .lengths = BLOCK_LENGTHS,
                                  .bend = 2,  .steepness = 1,     .kept = 1};
static const task binary_squared_hinge = {
    TWO_LABELS, SINGLE(LOSS_SQUARED_HINGE), .usual = "squared-hinge", .smooth = true, .bend = 2, .steepness = 2,
    .kept = 1};
static const task binary_logistic = {TWO_LABELS,   SINGLE(LOSS_LOGISTIC), .smooth = true, .entropic = true,
                                     .bend = 0.25, .steepness = 0.25,     .kept = 2};
static const task epsilon_insensitive = {A_NUMBER, SINGLE(LOSS_EPSILON_INSENSITIVE), .bend = 2, .steepness = 1,
                                         .kept = 1};
static const task squared_epsilon_insensitive = {
    A_NUMBER, SINGLE(LOSS_SQUARED_EPSILON_INSENSITIVE), .smooth = true, .bend = 2, .steepness = 2, .kept = 1};
static const task squared_error = {
    A_NUMBER, SINGLE(LOSS_SQUARED_ERROR), .usual = "squared-error", .smooth = true, .bend = 2, .steepness = 2,
    .kept = 1};

/* ---- a row with a score for each of several labels ------------------------------------------------------------ */

#define SEVERAL_LABELS .name = "classify", .least = 3, .labelled = true, .outputs = one_a_label

static const task several_hinge = {SEVERAL_LABELS,
                                   .losses = TASK_LOSS(LOSS_HINGE),
                                   .sparse = true,
                                   .bend = 2,
                                   .steepness = 1,
                                   .kept = 8,
                                   .dual = &crammer_singer_blocks,
                                   .primal = &crammer_singer_primal};
/* The square of the largest of several scores has kinks, too. */
static const task several_squared_hinge = {SEVERAL_LABELS,
                                           .losses = TASK_LOSS(LOSS_SQUARED_HINGE),
                                           .sparse = true,
                                           .bend = 2,
                                           .steepness = 2,
                                           .kept = 8,
                                           .dual = &crammer_singer_blocks,
                                           .primal = &crammer_singer_primal};
static const task softmax = {SEVERAL_LABELS,
                             .losses = TASK_LOSS(LOSS_LOGISTIC),
                             .smooth = true,
                             .entropic = true,
                             .bend = 0.25,
                             .steepness = 0.5,
                             .dual = &softmax_blocks,
                             .primal = &softmax_primal};

/* ---- each label against the rest: as many losses of one score as there are labels ------------------------------- */

#define APART(loss_kind)                                                                                             \
    SEVERAL_LABELS, .apart = true, .losses = TASK_LOSS(loss_kind), .dual = &one_vs_rest_blocks,                      \
                    .primal = &one_vs_rest_primal

static const task apart_hinge = {APART(LOSS_HINGE), .bend = 2, .steepness = 1};
static const task apart_squared_hinge = {APART(LOSS_SQUARED_HINGE), .smooth = true, .bend = 2, .steepness = 2};
static const task apart_logistic = {APART(LOSS_LOGISTIC), .smooth = true, .entropic = true, .bend = 0.25,
                                    .steepness = 0.25};

/* ---- several rows: tags, or the edges of a tree --------------------------------------------------------------- */

/* By the previous tag, or the start of the sentence, and the tag. */
static uint64_t transitions(uint64_t tags)
{
    return (tags + 1) * tags;
}

#define STRUCTURED_LENGTHS 3 /* an output is sought at each of them */
#define STRUCTURED_SVM(which)                                                                                        \
    .losses = (which), .sparse = true, .lengths = STRUCTURED_LENGTHS, .bend = 2, .steepness = 2, .kept = 1,          \
    .dual = &structured_svm_blocks
#define STRUCTURED_CRF                                                                                               \
    .losses = TASK_LOSS(LOSS_LOGISTIC), .smooth = true, .entropic = true, .bend = 0.25, .steepness = 0.5
#define TAGS .name = "tag", .structure = &chain_structure, .outputs = one_a_label, .shared = transitions
#define TREES(kind) .name = "parse", .structure = &tree_##kind##_structure

#define TAKES(its_cost, its_gap) .cost = (its_cost), .gap = (its_gap)
#define OF_START .gap_of_start = true
#define PARSE_SVM(kind, loss_kind, its_cost)                                                                         \
    TREES(kind), STRUCTURED_SVM(TASK_LOSS(loss_kind)), TAKES(its_cost, 1e-2), OF_START
#define PARSE_CRF(kind)                                                                                              \
    TREES(kind), STRUCTURED_CRF, TAKES(0.1, 1e-2), .dual = &tree_crf_blocks, .primal = &structured_primal

static const task tag_svm = {TAGS, STRUCTURED_SVM(TASK_LOSS(LOSS_HINGE) | TASK_LOSS(LOSS_SQUARED_HINGE)),
                             TAKES(0.1, 1e-3), OF_START, .usual = "squared-hinge"};
static const task tag_crf = {TAGS, STRUCTURED_CRF, TAKES(1, 1e-2), .dual = &chain_crf_blocks,
                             .primal = &structured_primal};
static const task parse_svm = {PARSE_SVM(projective, LOSS_HINGE, 0.03), .usual = "hinge"};
static const task parse_squared_svm = {PARSE_SVM(projective, LOSS_SQUARED_HINGE, 0.01)};
static const task parse_crf = {PARSE_CRF(projective)};
static const task parse_any_svm = {PARSE_SVM(any, LOSS_HINGE, 0.03)};
static const task parse_any_squared_svm = {PARSE_SVM(any, LOSS_SQUARED_HINGE, 0.01)};
static const task parse_any_crf = {PARSE_CRF(any)};

const task *const task_table[] = {
    &binary_hinge,
    &binary_squared_hinge,
    &binary_logistic,
    &several_hinge,
    &several_squared_hinge,
    &softmax,
    &apart_hinge,
    &apart_squared_hinge,
    &apart_logistic,
    &epsilon_insensitive,
    &squared_epsilon_insensitive,
    &squared_error,
    &tag_svm,
    &tag_crf,
    &parse_svm,
    &parse_squared_svm,
    &parse_crf,
    &parse_any_svm,
    &parse_any_squared_svm,
    &parse_any_crf,
    NULL,
};

static bool takes(const task *t, const char *name, const loss *l, uint64_t labels)
{
    const bool fits = labels == 0 || (labels >= t->least && (t->most == 0 || labels <= t->most));
    return fits && strcmp(t->name, name) == 0 && (t->losses & TASK_LOSS(l->kind));
}

const task *task_find(const char *name, const loss *l, uint64_t labels, const struct structure *structure)
{
    for (const task *const *t = task_table; *t; t++)
        if (takes(*t, name, l, labels) && !(*t)->apart && (!structure || (*t)->structure == structure))
            return *t;
    return NULL;
}

const task *task_find_apart(const char *name, const loss *l, uint64_t labels)
{
    for (const task *const *t = task_table; labels > 0 && *t; t++)
        if (takes(*t, name, l, labels) && (*t)->apart)
            return *t;
    return task_find(name, l, labels, NULL);
}

const char *task_usual_loss(const char *name)
{
    for (const task *const *t = task_table; *t; t++)
        if ((*t)->usual && strcmp((*t)->name, name) == 0)
            return (*t)->usual;
    return "";
}

const char *task_of_loss(const loss *l, const struct structure *structure)
{
    for (const task *const *t = task_table; structure && *t; t++)
        if ((*t)->structure == structure)
            return (*t)->name;
    return l->regression ? "regress" : "classify";
}
