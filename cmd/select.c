/* select.c - `bda select`: cross-validates a path of costs and mixtures of regularisers, then trains with the best on all
 * data. The data are read once; the two parts of a fold are made once and serve all settings. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"

#define MOST_VALUES 100 /* of --costs, of --l1-ratios */
#define BAR 30          /* columns of the picture */

/* A point of the path. */
typedef struct trial {
    double cost, l1_ratio;
    double *score;      /* [folds] */
    double mean, error; /* of the scores; the standard error of the mean */
} trial;

typedef struct search {
    const invocation *v;
    const char *score;             /* as bda_metric names it */
    double sign;                   /* -1: less is better */
    uint64_t folds, trials, early; /* early: trainings that stopped before the gap was reached */
    trial *trial;
    double *scores; /* [trials][folds] */
    bda_settings *train, *predict;
    uint64_t best, chosen;
} search;

/* Numbers with commas between; increasing. 0: they are not. */
static int read_values(const char *text, double *to)
{
    int count = 0;
    for (const char *at = text; count < MOST_VALUES; at++) {
        char *end;
        to[count] = strtod(at, &end);
        if (end == at || !isfinite(to[count]) || (count > 0 && to[count] <= to[count - 1]) || (*end && *end != ','))
            return 0;
        count++;
        if (*end == 0)
            return count;
        at = end;
    }
    return 0;
}

static bool values_of(const search *s, const char *option, double *to, int *count, bda_error *err)
{
    *count = read_values(bda_get(s->v->settings, option), to);
    if (*count > 0)
        return true;
    err->status = BDA_USAGE;
    snprintf(err->text, sizeof err->text, "--%s must be increasing numbers with commas between, not '%.100s'", option,
             bda_get(s->v->settings, option));
    return false;
}

static bool make_trials(search *s, bda_error *err)
{
    double cost[MOST_VALUES], ratio[MOST_VALUES];
    int costs, ratios;
    if (!values_of(s, "costs", cost, &costs, err) || !values_of(s, "l1-ratios", ratio, &ratios, err))
        return false;
    s->trials = (uint64_t)(costs * ratios);
    s->trial = calloc(s->trials, sizeof *s->trial);
    s->scores = calloc(s->trials * s->folds, sizeof *s->scores);
    if (!s->trial || !s->scores)
        return no_memory("the trials", err);
    for (uint64_t k = 0; k < s->trials; k++)
        s->trial[k] = (trial){.cost = cost[k % (uint64_t)costs],
                              .l1_ratio = ratio[k / (uint64_t)costs],
                              .score = s->scores + k * s->folds};
    return true;
}

static bool set_number(bda_settings *to, const char *name, double x, bda_error *err)
{
    char text[40];
    snprintf(text, sizeof text, "%.17g", x);
    return bda_set(to, name, text, err);
}

/* Names that predict has for something else. */
static bool is_of_data_only(const char *command, const char *name)
{
    return strcmp(command, "predict") == 0 && (strcmp(name, "format") == 0 || strcmp(name, "output") == 0);
}

/* The settings of one trial, on all ranks. */
static bool set_trial(search *s, const trial *t, bda_error *err)
{
    const bool ok = set_number(s->train, "cost", t->cost, err) && set_number(s->train, "l1-ratio", t->l1_ratio, err);
    return bda_comm_agree(s->v->comm, ok, err);
}

/* What was given to select and is also an option of that command. */
static bda_settings *settings_for(const invocation *v, const char *command, bda_error *err)
{
    bda_settings *to = bda_settings_new(command, err);
    for (const bda_option *o = bda_options(command); to && o->name; o++) {
        const char *value = bda_get(v->settings, o->name);
        const bool preset = value && strcmp(value, o->preset) == 0 && strcmp(o->name, "task") != 0;
        if (!value || preset || is_of_data_only(command, o->name))
            continue;
        char *copy = strdup(value), *rest = copy;
        bool ok = copy || no_memory("settings", err);
        for (char *one; ok && (one = strsep(&rest, o->repeats ? "\n" : ""));)
            ok = bda_set(to, o->name, one, err);
        free(copy);
        if (!ok) {
            bda_settings_free(to);
            return NULL;
        }
    }
    return to;
}

static bool choose_score(search *s)
{
    static const struct {
        const char *option, *metric;
        double sign;
    } scores[] = {{"accuracy", "accuracy", 1},  {"auc", "auc", 1},  {"f1", "f1", 1},    {"macro-f1", "macro_f1", 1},
                  {"log-loss", "log_loss", -1}, {"mse", "mse", -1}, {"mae", "mae", -1}, {"r2", "r2", 1}};
    const char *asked = bda_get(s->v->settings, "score");
    if (!asked[0])
        asked = strcmp(bda_get(s->v->settings, "task"), "regress") == 0 ? "mse" : "accuracy";
    for (size_t k = 0; k < sizeof scores / sizeof *scores; k++)
        if (strcmp(scores[k].option, asked) == 0) {
            s->score = scores[k].metric;
            s->sign = scores[k].sign;
            return true;
        }
    return false;
}

/* ---- the trials -------------------------------------------------------------------------------------------------- */

static void tell_fold(void *self, uint64_t fold)
{
    const search *s = self;
    if (!is_set(s->v, "quiet"))
        fprintf(stderr, "bda select: fold %llu of %llu is done\n", (unsigned long long)fold + 1,
                (unsigned long long)s->folds);
}

/* Scores of all trials on all folds. */
static bool score_all(search *s, const bda_folds *folds, bda_error *err)
{
    double *cost = calloc(2 * s->trials, sizeof *cost);
    bool ok = bda_comm_agree(s->v->comm, cost || no_memory("the trials", err), err);
    for (uint64_t k = 0; ok && k < s->trials; k++) {
        cost[k] = s->trial[k].cost;
        cost[s->trials + k] = s->trial[k].l1_ratio;
    }
    const bda_trials trials = {.size = sizeof trials,
                               .count = s->trials,
                               .cost = cost,
                               .l1_ratio = cost ? cost + s->trials : NULL,
                               .train = s->train,
                               .predict = s->predict,
                               .metric = s->score,
                               .interrupt = &interrupted,
                               .done = tell_fold,
                               .self = s};
    ok = ok && bda_folds_score(s->v->comm, folds, &trials, s->scores, &s->early, err);
    free(cost);
    if (!ok && interrupted)
        snprintf(err->text, sizeof err->text, "%s ended the search; nothing was written", signal_name(interrupted));
    return ok;
}

/* The best mean; or the least cost, and of these the largest ratio, whose mean is within a standard error of it. */
static void choose(search *s)
{
    const double folds = (double)s->folds;
    for (uint64_t k = 0; k < s->trials; k++) {
        trial *t = &s->trial[k];
        double sum = 0, squares = 0;
        for (uint64_t f = 0; f < s->folds; f++)
            sum += t->score[f];
        t->mean = sum / folds;
        for (uint64_t f = 0; f < s->folds; f++)
            squares += (t->score[f] - t->mean) * (t->score[f] - t->mean);
        t->error = sqrt(squares / (folds - 1) / folds);
        if (s->sign * t->mean > s->sign * s->trial[s->best].mean)
            s->best = k;
    }
    s->chosen = s->best;
    const trial *best = &s->trial[s->best];
    for (uint64_t k = 0; k < s->trials && is_set(s->v, "one-standard-error"); k++) {
        const trial *t = &s->trial[k], *now = &s->trial[s->chosen];
        const bool simpler = t->cost < now->cost || (t->cost == now->cost && t->l1_ratio > now->l1_ratio);
        if (simpler && s->sign * (best->mean - t->mean) <= best->error)
            s->chosen = k;
    }
}

/* ---- what came of it ------------------------------------------------------------------------------------------------ */

static void print_table(const search *s)
{
    double least = INFINITY, most = -INFINITY;
    for (uint64_t k = 0; k < s->trials; k++) {
        least = fmin(least, s->trial[k].mean);
        most = fmax(most, s->trial[k].mean);
    }
    printf("%10s %9s %12s %10s\n", "cost", "l1-ratio", s->score, "+-");
    for (uint64_t k = 0; k < s->trials; k++) {
        const trial *t = &s->trial[k];
        const int length = most > least ? 1 + (int)lround((BAR - 1) * (t->mean - least) / (most - least)) : BAR;
        const char *mark = k == s->chosen ? "  chosen" : k == s->best ? "  best" : "";
        printf("%10.4g %9.3g %12.6g %10.2g  %-*.*s%s\n", t->cost, t->l1_ratio, t->mean, t->error, *mark ? BAR : 0,
               length, "##############################", mark);
    }
}

static void print_json(const search *s)
{
    printf("{\"score\":\"%s\",\"folds\":%llu,\"trials\":[", s->score, (unsigned long long)s->folds);
    for (uint64_t k = 0; k < s->trials; k++) {
        const trial *t = &s->trial[k];
        printf("%s\n{\"cost\":%.17g,\"l1_ratio\":%.17g,\"mean\":%.17g,\"standard_error\":%.17g,\"scores\":[",
               k ? "," : "", t->cost, t->l1_ratio, t->mean, t->error);
        for (uint64_t f = 0; f < s->folds; f++)
            printf("%s%.17g", f ? "," : "", t->score[f]);
        printf("]}");
    }
    printf("],\n\"best\":{\"cost\":%.17g,\"l1_ratio\":%.17g},\"chosen\":{\"cost\":%.17g,\"l1_ratio\":%.17g}}\n",
           s->trial[s->best].cost, s->trial[s->best].l1_ratio, s->trial[s->chosen].cost,
           s->trial[s->chosen].l1_ratio);
}

static bool train_chosen(search *s, const bda_data *data, const bda_folds *folds, const char *path, bda_error *err)
{
    bda_observer observer = {.size = sizeof observer, .interrupt = &interrupted};
    bda_outcome outcome = {.size = sizeof outcome};
    const trial *t = &s->trial[s->chosen];
    if (!set_trial(s, t, err))
        return false;
    bda_model *model = bda_train(s->v->comm, data, s->train, &observer, &outcome, err);
    const char *calibration = bda_get(s->v->settings, "calibrate");
    const bool intact = outcome.data.status == BDA_OK; /* otherwise scores and choice are worth nothing */
    if (model && !intact)
        *err = outcome.data;
    const bool ok = model && intact &&
                    (strcmp(calibration, "none") == 0 ||
                     bda_model_calibrate(s->v->comm, model, folds, s->train, calibration, &observer, err)) &&
                    bda_comm_agree(s->v->comm, !s->v->first || bda_model_write(model, path, err), err);
    bda_model_free(model);
    if (!ok || is_set(s->v, "quiet"))
        return ok;
    char gap[80] = "";
    if (outcome.last.has_dual)
        describe_gap(outcome.last.relative_gap, gap, sizeof gap);
    if (s->early)
        say(s->v, "note: %llu of %llu trainings stopped before the gap was reached", (unsigned long long)s->early,
            (unsigned long long)(s->trials * s->folds));
    say(s->v, "cost %.6g, l1-ratio %.3g: objective %.10g%s; the model is in %s", t->cost, t->l1_ratio,
        outcome.last.best_primal, gap, path);
    return true;
}

static bool search_all(search *s, const bda_folds *folds, bda_error *err)
{
    if (!score_all(s, folds, err))
        return false;
    choose(s);
    if (s->v->first)
        (is_set(s->v, "json") ? print_json : print_table)(s);
    return true;
}

/* Said before anything is trained. */
static bool check_calibration(const search *s, bda_error *err)
{
    const char *task = bda_get(s->v->settings, "task");
    if (strcmp(bda_get(s->v->settings, "calibrate"), "none") == 0 || strcmp(task, "classify") == 0)
        return true;
    err->status = BDA_USAGE;
    snprintf(err->text, sizeof err->text, "--calibrate is for --task=classify, not for %.100s", task);
    return false;
}

static bool prepare(search *s, bda_error *err)
{
    s->folds = (uint64_t)bda_get_number(s->v->settings, "folds");
    s->train = settings_for(s->v, "train", err);
    s->predict = s->train ? settings_for(s->v, "predict", err) : NULL;
    const bool ok = s->predict && check_calibration(s, err) && choose_score(s) && make_trials(s, err) &&
                    set_number(s->train, "cost", s->trial[0].cost, err) && bda_check(s->train, err);
    return bda_comm_agree(s->v->comm, ok, err);
}

static int run_select(invocation *v)
{
    bda_error err = {0};
    search s = {.v = v};
    char *path = model_name(v, &err);
    if (!path)
        return fail(v, &err);
    bool ok = check_data(v, &err) && prepare(&s, &err);
    const bda_output output[] = {{path, BDA_FILE_MODEL}};
    ok = ok && can_write_beside(v, output, 1, bda_get(v->settings, "groups"), &err);
    bda_data *data = ok ? read_data(v, &err) : NULL;
    if (data)
        note_data(v, data, v->argument[0]);
    signals_catch();
    bda_folds *folds = data ? bda_folds_new(v->comm, data, v->settings, &err) : NULL;
    ok = folds && search_all(&s, folds, &err) && train_chosen(&s, data, folds, path, &err);
    bda_folds_free(folds);
    bda_data_free(data);
    bda_settings_free(s.train);
    bda_settings_free(s.predict);
    free(s.trial);
    free(s.scores);
    free(path);
    return ok ? EXIT_DONE : fail(v, &err);
}

const command select_command = {
    .name = "select",
    .arguments = "DATA [MODEL]",
    .summary = "choose the cost by cross-validation, then train with it",
    .more =
        "Each of --folds parts of the data is held out in turn, the rest is trained on with every value of --costs "
        "and "
        "--l1-ratios, and the part that was held out is scored. Folds have about the same share of every label, and "
        "do not depend on ranks. A table of the mean scores and their standard errors goes to standard output; the "
        "model of the best mean is then trained on all data.",
    .examples = {"bda select data.svm model",
                 "bda select --folds=10 --costs=0.1,1,10 --loss=logistic --score=auc data.svm",
                 "bda select --groups=patients.txt --one-standard-error data.svm model"},
    .least = 1,
    .most = 100000,
    .run = run_select,
};
