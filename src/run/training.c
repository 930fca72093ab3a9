/* training.c - what the options of `bda train` mean together: which loss fits which task, which option needs which
 * other. All of it is said before any data is read. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <threads.h>

#include "methods/auto.h"
#include "methods/table.h"
#include "run/options.h"
#include "run/settings.h"
#include "run/sized.h"
#include "run/validation.h"

/* "a, b or c" of the losses of a task. */
static void list_losses(const char *task, char *text, size_t size)
{
    const loss *last = NULL;
    for (const loss *l = losses; l->name; l++)
        if (task_find(task, l, 0, NULL))
            last = l;
    size_t used = 0;
    text[0] = 0;
    for (const loss *l = losses; l->name; l++) {
        if (!task_find(task, l, 0, NULL))
            continue;
        int wrote = snprintf(text + used, size - used, "%s%s", used == 0 ? "" : l == last ? " or " : ", ", l->name);
        if (wrote < 0 || (size_t)wrote >= size - used)
            return;
        used += (size_t)wrote;
    }
}

static bool check_loss(const bda_settings *s, training *t, bda_error *err)
{
    const char *name = s->loss[0] ? s->loss : task_usual_loss(s->task);
    char fitting[200];
    list_losses(s->task, fitting, sizeof fitting);
    t->loss = loss_find(name);
    if (!t->loss)
        return err_set(err, BDA_USAGE, "--loss must be %s with --task=%s, not '%s'", fitting, s->task, name);
    if (!task_find(s->task, t->loss, 0, NULL))
        return err_set(err, BDA_USAGE, "--loss=%s is not for --task=%s, which takes %s", name, s->task, fitting);
    return true;
}

static bool check_method(const bda_settings *s, training *t, bda_error *err)
{
    t->method = method_find(s->method);
    if (!t->method) {
        char names[300] = "";
        for (const method *const *m = methods; *m; m++) {
            size_t used = strlen(names);
            snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", (*m)->name);
        }
        return err_set(err, BDA_USAGE, "--method must be one of %s, not '%s'; --method=list says more", names,
                       s->method);
    }
    t->left_open = t->method == &auto_method;
    static const char *const gaps[] = {"gap", "gap-of"};
    for (int i = 0; i < 2; i++)
        if (t->method->uncertified && settings_given(s, gaps[i]))
            return err_set(err, BDA_USAGE, "--%s=%s cannot be met by --method=%s, which has no dual and knows no gap",
                           gaps[i], bda_get(s, gaps[i]), s->method);
    if (t->free_intercept && s->accelerate)
        return err_set(err, BDA_USAGE, "--accelerate pulls every weight and does not go with --intercept=free");
    return method_may_serve(t->method, s->task, t->loss, s->l1_ratio, t->free_intercept, err);
}

/* A number from `least` on, read by the rules of all options from the text up to `end`. */
static bool parse_real(const char *text, const char *end, double least, double *x)
{
    const bda_option real = {.name = "", .type = BDA_REAL, .least = least, .most = INFINITY};
    char copy[100];
    bda_error ignored = {0};
    if (end - text >= (ptrdiff_t)sizeof copy)
        return false;
    memcpy(copy, text, (size_t)(end - text));
    copy[end - text] = 0;
    return option_set(&real, x, copy, &ignored);
}

#define ONE_MODEL "bda", "disdca", "cocoa+", "dsvm-ave" /* a model for each block */
#define OUTER_LOOP "bda", "disdca", "disdca-basic", "cocoa+", "dsvm-ave", "prox-grad"

/* Options of single methods are refused elsewhere: what is asked for and ignored misleads. */
static bool check_owners(const bda_settings *s, bda_error *err)
{
    static const struct {
        const char *option, *methods[12]; /* NULL-terminated */
    } owners[] = {
        {"local-epochs", {"auto", "hull", "momentum", OUTER_LOOP, "admm", "average"}},
        {"machine", {"auto"}},
        {"inference", {"auto", "momentum", ONE_MODEL}},
        {"learning-epochs", {"auto", "momentum", ONE_MODEL}},
        {"a1", {"auto", OUTER_LOOP}},
        {"a2", {"auto", OUTER_LOOP}},
        {"line-search", {"auto", OUTER_LOOP}},
        {"step", {"auto", OUTER_LOOP}},
        {"tau", {"auto", OUTER_LOOP, "l-commdir", "lbfgs"}},
        {"beta", {"auto", OUTER_LOOP, "l-commdir", "lbfgs"}},
        {"threads-mode", {"auto", "hull", OUTER_LOOP}},
        {"hull", {"auto", "hull"}},
        {"accelerate", {OUTER_LOOP}},
        {"no-scaling", {"auto", OUTER_LOOP}},
        {"history", {"l-commdir", "lbfgs"}},
        {"penalty", {"admm"}},
        {"balance", {"admm"}},
        {"relaxation", {"admm"}},
    };
    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++) {
        if (!settings_given(s, owners[i].option))
            continue;
        char names[200] = "";
        bool owned = false;
        for (const char *const *m = owners[i].methods; *m; m++) {
            owned = owned || strcmp(*m, s->method) == 0;
            size_t used = strlen(names);
            snprintf(names + used, sizeof names - used, "%s%s", used == 0 ? "" : m[1] ? ", " : " or ", *m);
        }
        if (!owned)
            return err_set(err, BDA_USAGE, "--%s is an option of --method=%s, not of %s", owners[i].option, names,
                           s->method);
    }
    return true;
}

static bool check_options(const bda_settings *s, training *t, bda_error *err)
{
    method_options *o = &t->options;
    *o = (method_options){.a1 = NAN,
                          .a2 = s->a2,
                          .step = s->step,
                          .tau = s->tau,
                          .beta = s->beta,
                          .local_epochs = s->local_epochs == OPTION_UNSET ? 0 : s->local_epochs,
                          .learning_epochs = s->learning_epochs == OPTION_UNSET ? 0 : s->learning_epochs,
                          .gap = s->gap,
                          .gap_of_start = strcmp(s->gap_of, "start") == 0,
                          .seed = (uint64_t)s->seed,
                          .history = s->history == OPTION_UNSET ? 0 : s->history,
                          .penalty = s->penalty,
                          .relaxation = s->relaxation,
                          .balance = s->balance,
                          .no_scaling = s->no_scaling,
                          .accelerate = s->accelerate};
    if (s->inference[0])
        o->inference = s->inference[0] == 'r' ? INFERENCE_ROUND : INFERENCE_VISIT;
    if ((s->inference[0] || o->learning_epochs > 0) && task_find(s->task, t->loss, 0, NULL)->entropic)
        return err_set(err, BDA_USAGE,
                       "--%s is for hinge and squared-hinge, which seek outputs; --loss=logistic sums over all",
                       s->inference[0] ? "inference" : "learning-epochs");
    if (strcmp(s->threads_mode, "lock-free") == 0)
        o->sharing = SHARE_MEMORY;
    else if (s->threads_mode[0] || settings_given(s, "blocks"))
        o->sharing = SHARE_NOTHING;
    static const char *const forms[] = {"", "fused", "one-vector", "momentum"};
    for (int i = 0; i < 4; i++)
        if (strcmp(s->hull, forms[i]) == 0)
            o->hull = (hull_form)i;
    o->a1_is_blocks = strcasecmp(s->a1, "K") == 0;
    if (s->a1[0] && !o->a1_is_blocks && !parse_real(s->a1, strchr(s->a1, 0), 0, &o->a1))
        return err_set(err, BDA_USAGE, "--a1 must be a number of at least 0, or K, not '%s'", s->a1);
    if (o->a1 == 0 && o->a2 == 0)
        return err_set(err, BDA_USAGE, "--a1=0 and --a2=0 leave no local model; one of them must be above 0");
    if (strcmp(s->line_search, "exact") == 0)
        o->search = SEARCH_EXACT;
    else if (strcmp(s->line_search, "backtracking") == 0)
        o->search = SEARCH_BACKTRACKING;
    else if (strcmp(s->line_search, "none") == 0)
        o->search = SEARCH_NONE;
    if (settings_given(s, "step") && o->search != SEARCH_NONE)
        return err_set(err, BDA_USAGE, "--step=%s needs --line-search=none: a line search finds its own step",
                       bda_get(s, "step"));
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "beta" : "tau";
        if (!settings_given(s, name))
            continue;
        if (o->search == SEARCH_EXACT || o->search == SEARCH_NONE)
            return err_set(err, BDA_USAGE, "--%s=%s is for --line-search=backtracking, not for --line-search=%s",
                           name, bda_get(s, name), s->line_search);
        o->search = SEARCH_BACKTRACKING;
    }
    return true;
}

static bool add_class_weight(const char *text, const char *end, training *t, bda_error *err)
{
    int length = (int)(end - text);
    if (length == 8 && strncmp(text, "balanced", 8) == 0) {
        t->balanced = true;
        return true;
    }
    const char *colon = memchr(text, ':', (size_t)length);
    double label, weight;
    if (!colon || !parse_real(text, colon, -INFINITY, &label) || !parse_real(colon + 1, end, 0, &weight) ||
        weight == 0)
        return err_set(err, BDA_USAGE,
                       "--class-weight must be a label and a number above 0 with a colon between, or balanced, not "
                       "'%.*s'",
                       length, text);
    for (int i = 0; i < t->weights; i++)
        if (t->weight[i].label == label)
            return err_set(err, BDA_USAGE, "--class-weight gives the label %.17g two weights", label);
    t->weight[t->weights].label = label;
    t->weight[t->weights++].weight = weight;
    return true;
}

static bool check_class_weights(const bda_settings *s, training *t, bda_error *err)
{
    if (t->loss->regression && strcmp(s->multiclass, "together") != 0)
        return err_set(err, BDA_USAGE, "--multiclass=%s is for labels, which --task=regress has none of",
                       s->multiclass);
    if (!s->class_weight[0])
        return true;
    if (t->loss->regression)
        return err_set(err, BDA_USAGE, "--class-weight is for --task=classify: regression has no classes");
    for (const char *text = s->class_weight;;) {
        const char *end = strchrnul(text, '\n');
        if (!add_class_weight(text, end, t, err))
            return false;
        if (!*end)
            break;
        text = end + 1;
    }
    if (t->balanced && t->weights)
        return err_set(err, BDA_USAGE, "--class-weight=balanced sets all weights and goes with no other");
    return true;
}

static bool check_validation(const bda_settings *s, bda_error *err)
{
    uint64_t every;
    char path[OPTION_TEXT];
    if (!s->validate[0])
        return s->patience == OPTION_UNSET ||
               err_set(err, BDA_USAGE, "--patience=%lld needs --validate=DATA, whose scores it waits for",
                       (long long)s->patience);
    if (!s->log[0] && s->patience == OPTION_UNSET)
        return err_set(err, BDA_USAGE,
                       "--validate=%s needs --log=FILE, where the scores go, or --patience=N, which acts on them",
                       s->validate);
    return validation_parse(s->validate, path, &every, err);
}

bool settings_every(const char *text, uint64_t *rounds, double *seconds, bda_error *err)
{
    const bda_option number = {.name = "checkpoint-every", .type = BDA_INTEGER, .least = 1, .most = INFINITY};
    const bda_option time = {.name = "checkpoint-every", .type = BDA_TIME, .least = 0, .most = INFINITY};
    const bool plain = strspn(text, "0123456789") == strlen(text);
    int64_t count = 0;
    *rounds = 0;
    *seconds = 0;
    if (!plain)
        return option_set(&time, seconds, text, err);
    const bool ok = option_set(&number, &count, text, err);
    *rounds = (uint64_t)count;
    return ok;
}

static bool check_checkpoint(const bda_settings *s, bda_error *err)
{
    uint64_t rounds;
    double seconds;
    if (!s->checkpoint[0] && (s->resume || settings_given(s, "checkpoint-every")))
        return err_set(err, BDA_USAGE, "--%s needs --checkpoint=FILE", s->resume ? "resume" : "checkpoint-every");
    if (s->checkpoint[0] && s->patience != OPTION_UNSET)
        return err_set(err, BDA_USAGE,
                       "--patience=%lld goes with no --checkpoint, which does not keep the scores that it waits for",
                       (long long)s->patience);
    return settings_every(s->checkpoint_every, &rounds, &seconds, err);
}

/* Options of single tasks. */
static bool check_task_options(const bda_settings *s, bda_error *err)
{
    static const struct {
        const char *option, *tasks[3]; /* NULL-terminated */
    } owners[] = {
        {"column", {"tag"}},
        {"template", {"tag"}},
        {"trees", {"parse"}},
        {"labels", {"parse"}},
        {"min-count", {"tag", "parse"}},
        {"inference", {"tag", "parse"}},
        {"learning-epochs", {"tag", "parse"}},
    };
    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++) {
        bool owned = !settings_given(s, owners[i].option);
        for (const char *const *task = owners[i].tasks; *task; task++)
            owned = owned || strcmp(*task, s->task) == 0;
        if (!owned)
            return err_set(err, BDA_USAGE, "--%s is an option of --task=%s%s%s, not of %s", owners[i].option,
                           owners[i].tasks[0], owners[i].tasks[1] ? " and " : "",
                           owners[i].tasks[1] ? owners[i].tasks[1] : "", s->task);
    }
    static const char *const of_rows[] = {"start",      "multiclass",      "scale",   "intercept",
                                          "bias",       "feature-penalty", "weights", "class-weight",
                                          "zero-based", "format",          "label",   "missing"};
    const bool sentences = strcmp(s->task, "tag") == 0 || strcmp(s->task, "parse") == 0;
    for (size_t i = 0; sentences && i < sizeof of_rows / sizeof *of_rows; i++)
        if (settings_given(s, of_rows[i]))
            return err_set(err, BDA_USAGE, "--%s is not for --task=%s, whose features come from text", of_rows[i],
                           s->task);
    return true;
}

/* Costs and gaps that sentences take where nobody asks for others: accuracy no longer rises there (docs/methods.md).
 * Their P(0) counts every token as wrong, and so is a measure of the gap that is easily met. */
static void choose_defaults(const bda_settings *s, const task *kind, training *t)
{
    t->cost = s->cost;
    t->gap = s->gap;
    if (kind->cost == 0)
        return;
    if (!settings_given(s, "cost"))
        t->cost = kind->cost;
    if (!settings_given(s, "gap") && !settings_given(s, "gap-of")) {
        t->options.gap_of_start = kind->gap_of_start;
        t->gap = t->options.gap = kind->gap;
    }
}

static bool check_table(const bda_settings *s, bda_error *err)
{
    table_request table;
    if (settings_table(s, &table))
        return s->label[0] ||
               err_set(err, BDA_USAGE, "--format=%s needs --label=NAME, the column to learn", s->format);
    if (s->label[0] || settings_given(s, "missing"))
        return err_set(err, BDA_USAGE, "--%s is an option of --format=csv and tsv",
                       s->label[0] ? "label" : "missing");
    return true;
}

static scale_kind scale_asked(const bda_settings *s)
{
    static const scale_kind kinds[] = {SCALE_NONE, SCALE_UNIT_ROWS, SCALE_MAX_ABS, SCALE_STANDARD};
    for (int k = 0; scale_names[k]; k++)
        if (strcmp(scale_names[k], s->scaling) == 0)
            return kinds[k];
    return SCALE_NONE;
}

/* A --bias alone says which kind. A constant feature of value 0 changes nothing. */
static bool check_intercept(const bda_settings *s, training *t, bda_error *err)
{
    const bool sentences = strcmp(s->task, "tag") == 0 || strcmp(s->task, "parse") == 0;
    const bool asked = settings_given(s, "intercept"), value = settings_given(s, "bias");
    const bool penalised = value && !asked ? s->bias > 0 : strcmp(s->intercept, "penalised") == 0;
    t->bias = -1;
    if (sentences)
        return true; /* of which check_task_options tells those who ask */
    if (asked && value && penalised != (s->bias > 0))
        return err_set(err, BDA_USAGE, "--bias=%s does not go with --intercept=%s", bda_get(s, "bias"), s->intercept);
    t->bias = penalised ? s->bias : -1;
    t->free_intercept = !value && strcmp(s->intercept, "free") == 0;
    return true;
}

bool settings_training(const bda_settings *s, training *t, bda_error *err)
{
    memset(t, 0, sizeof *t);
    if (!settings_are_of(s, "train", err))
        return false;
    t->scale = scale_asked(s);
    if (!check_intercept(s, t, err) || !check_loss(s, t, err) || !check_method(s, t, err) || !check_owners(s, err) ||
        !check_options(s, t, err) || !check_class_weights(s, t, err) || !check_validation(s, err) ||
        !check_checkpoint(s, err) || !check_task_options(s, err) || !check_table(s, err))
        return false;
    choose_defaults(s, task_find(s->task, t->loss, 0, NULL), t);
    bool own_rounds = t->method->uncertified && !settings_given(s, "max-rounds");
    t->max_rounds = own_rounds ? UNCERTIFIED_ROUNDS : (uint64_t)s->max_rounds;
    return true;
}

static char method_list[8192];

static void write_method_list(void)
{
    size_t used = 0;
    for (const method *const *m = methods; *m; m++) {
        int wrote = snprintf(method_list + used, sizeof method_list - used, "%-14s%s\n%-14sneeds: %s\n", (*m)->name,
                             (*m)->summary, "", (*m)->needs);
        if (wrote < 0 || (size_t)wrote >= sizeof method_list - used)
            return;
        used += (size_t)wrote;
    }
}

bool bda_method_get(uint64_t k, bda_method_info *to)
{
    uint64_t count = 0;
    while (methods[count])
        count++;
    if (k >= count)
        return false;
    const bda_method_info all = {.name = methods[k]->name,
                                 .summary = methods[k]->summary,
                                 .needs = methods[k]->needs,
                                 .has_dual = !methods[k]->uncertified};
    sized_fill(to, &all, sizeof all);
    return true;
}

const char *bda_method_list(void)
{
    static once_flag once = ONCE_FLAG_INIT;
    call_once(&once, write_method_list);
    return method_list;
}
