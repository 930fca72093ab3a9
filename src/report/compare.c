/* compare.c - see compare.h. */
#include "report/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_in(const char *const *list, const char *name)
{
    for (; *list; list++)
        if (strcmp(*list, name) == 0)
            return true;
    return false;
}

/* In the order in which a title tells them. */
static const char *const defining[] = {
    "data",      "task",         "loss",         "cost",      "epsilon",    "l1_ratio", "feature_penalty", "bias",
    "intercept", "class_weight", "weights_file", "scale",     "multiclass", "template", "trees",           "labels",
    "min_count", "column",       "zero_based",   "instances", "features",   NULL};
static const char *const results[] = {"event",    "version", "load_seconds", "load_bytes", "weights",
                                      "nonzeros", "choice",  "classes",      NULL};

bool compare_defines_problem(const char *setting)
{
    return is_in(defining, setting);
}

bool compare_is_result(const char *setting)
{
    return is_in(results, setting);
}

double compare_target(int k)
{
    static const double target[TARGETS] = {1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6};
    return target[k];
}

static double relative(double distance, double to)
{
    return isnan(distance) || to == 0 ? NAN : fmax(distance, 0) / fabs(to);
}

double compare_primal(const compared_problem *p, const run *r, uint64_t t)
{
    return relative(run_at(r, t, RUN_BEST_PRIMAL) - p->optimum, p->optimum);
}

double compare_dual(const compared_problem *p, const run *r, uint64_t t)
{
    return relative(p->optimum + run_at(r, t, RUN_DUAL), p->optimum);
}

double compare_gap(const run *r, uint64_t t)
{
    const double primal = run_at(r, t, RUN_BEST_PRIMAL);
    return relative(primal + run_at(r, t, RUN_DUAL), primal);
}

/* ---- which runs belong together ----------------------------------------------------------------------------------- */

static bool same_setting(const run *a, const run *b, const char *name)
{
    return strcmp(run_text(a, name), run_text(b, name)) == 0;
}

/* The width of the tube says nothing of a loss that has none. */
static bool matters(const run *r, const char *name)
{
    return strcmp(name, "epsilon") != 0 || strstr(run_text(r, "loss"), "epsilon");
}

static bool same_problem(const run *a, const run *b)
{
    for (const char *const *name = defining; *name; name++)
        if (!same_setting(a, b, *name) && (matters(a, *name) || matters(b, *name)))
            return false;
    return true;
}

static void add_word(char *text, size_t size, const char *format, const char *a, const char *b)
{
    const size_t used = strlen(text);
    if (used < size)
        snprintf(text + used, size - used, format, a, b);
}

/* "folder/rcv1.bda" -> "rcv1" */
static void stem(const char *path, char *text, size_t size)
{
    const char *slash = strrchr(path, '/');
    snprintf(text, size, "%s", slash ? slash + 1 : path);
    char *dot = strrchr(text, '.');
    if (dot && dot > text)
        *dot = 0;
}

/* Is the setting another one in some run? Of other data sizes are others as a matter of course. */
static bool differs(const comparison *c, const run *r, const char *name)
{
    const bool size = strcmp(name, "instances") == 0 || strcmp(name, "features") == 0;
    for (uint64_t i = 0; i < c->runs; i++)
        if (!same_setting(c->run[i].run, r, name) && !(size && !same_setting(c->run[i].run, r, "data")))
            return true;
    return false;
}

static void write_title(const comparison *c, const run *r, compared_problem *p)
{
    stem(run_text(r, "data"), p->title, sizeof p->title);
    add_word(p->title, sizeof p->title, "%s%s", p->title[0] ? ", " : "", "");
    if (strcmp(run_text(r, "task"), "classify") != 0)
        add_word(p->title, sizeof p->title, "%s, %s", run_text(r, "task"), "");
    add_word(p->title, sizeof p->title, "%s%s", run_text(r, "loss"), "");
    for (const char *const *name = defining + 3; *name; name++)
        if (run_text(r, *name)[0] && matters(r, *name) && differs(c, r, *name))
            add_word(p->title, sizeof p->title, ", %s %s", *name, run_text(r, *name));
}

/* The first run of the same problem; i itself: there is none. */
static uint64_t first_of_problem(const run_list *list, uint64_t i)
{
    for (uint64_t k = 0; k < i; k++)
        if (same_problem(&list->run[k], &list->run[i]))
            return k;
    return i;
}

/* Fewer blocks, then fewer workers. */
static bool comes_before(const run *a, const run *b)
{
    const double blocks = run_number(a, "blocks") - run_number(b, "blocks");
    const double workers =
        run_number(a, "ranks") * run_number(a, "threads") - run_number(b, "ranks") * run_number(b, "threads");
    return blocks < 0 || (blocks == 0 && workers < 0);
}

/* Stable insertion of run k among those of its method in [begin, k); behind all where it is the first. */
static void sort_in(comparison *c, uint64_t begin, uint64_t k)
{
    const compared moved = c->run[k];
    uint64_t to = k;
    bool found = false;
    for (uint64_t j = begin; j < k; j++) {
        if (!same_setting(c->run[j].run, moved.run, "method"))
            continue;
        if (!found || !comes_before(moved.run, c->run[j].run))
            to = comes_before(moved.run, c->run[j].run) ? j : j + 1;
        found = true;
    }
    memmove(&c->run[to + 1], &c->run[to], (k - to) * sizeof moved);
    c->run[to] = moved;
}

/* Runs with their problems in the order of their first run, then methods likewise. problem: [runs] */
static void order_runs(comparison *c, const run_list *list)
{
    uint64_t filled = 0;
    for (uint64_t i = 0; i < list->count; i++) {
        if (first_of_problem(list, i) != i)
            continue;
        const uint64_t problem = c->problems++, begin = filled;
        for (uint64_t k = i; k < list->count; k++)
            if (same_problem(&list->run[i], &list->run[k]))
                c->run[filled++] = (compared){.run = &list->run[k], .problem = problem};
        c->problem[problem].runs = filled - begin;
        for (uint64_t k = begin; k < filled; k++)
            sort_in(c, begin, k);
    }
}

/* When to stop, and what mostly follows from the number of blocks, is told only where nothing else differs. */
static bool is_secondary(const char *name)
{
    static const char *const secondary[] = {"gap", "max_rounds", "max_time", "gap_of", "a1", "a2", "step", NULL};
    return is_in(secondary, name);
}

bool compare_same_but(const run *a, const run *b, const char *const *exempt)
{
    for (uint64_t s = 0; s < a->setting_count; s++) {
        const char *name = a->settings[s].name, *value = a->settings[s].value;
        const run_setting *beside = s < b->setting_count ? &b->settings[s] : NULL; /* mostly the same */
        const bool same = beside && strcmp(beside->name, name) == 0 ? strcmp(beside->value, value) == 0
                                                                    : strcmp(run_text(b, name), value) == 0;
        if (!same && !compare_is_result(name) && !is_secondary(name) && !is_in(exempt, name))
            return false;
    }
    return true;
}

/* ---- labels --------------------------------------------------------------------------------------------------------- */

static bool told_apart(const compared *a, const compared *b)
{
    return strcmp(a->label, b->label) != 0;
}

/* Adds what differs between runs of one method in one problem. [begin, end): those runs */
static void add_differences(compared *begin, compared *end, bool secondary)
{
    const run *first = begin->run;
    for (uint64_t s = 0; s < first->setting_count; s++) {
        const char *name = first->settings[s].name;
        bool same = true;
        for (compared *i = begin; i < end; i++)
            same = same && same_setting(i->run, first, name);
        if (same || compare_is_result(name) || is_secondary(name) != secondary)
            continue;
        for (compared *i = begin; i < end; i++)
            add_word(i->label, sizeof i->label, ", %s %s", name, run_text(i->run, name));
    }
}

static void number_equals(compared *begin, compared *end)
{
    for (compared *i = begin; i < end; i++) {
        int same = 1;
        for (compared *k = i + 1; k < end; k++) {
            if (told_apart(i, k))
                continue;
            char number[24];
            snprintf(number, sizeof number, "%d", ++same);
            add_word(k->label, sizeof k->label, " (%s)%s", number, "");
        }
    }
}

static bool any_equal(const compared *begin, const compared *end)
{
    for (const compared *i = begin; i < end; i++)
        for (const compared *k = i + 1; k < end; k++)
            if (!told_apart(i, k))
                return true;
    return false;
}

static void write_labels(comparison *c)
{
    for (uint64_t i = 0, next; i < c->runs; i = next) {
        compared *begin = &c->run[i];
        for (next = i; next < c->runs && c->run[next].problem == begin->problem &&
                       same_setting(c->run[next].run, begin->run, "method");
             next++)
            snprintf(c->run[next].label, sizeof c->run[next].label, "%s", run_text(begin->run, "method"));
        compared *end = &c->run[next];
        add_differences(begin, end, false);
        if (any_equal(begin, end))
            add_differences(begin, end, true);
        number_equals(begin, end);
    }
}

/* ---- numbers -------------------------------------------------------------------------------------------------------- */

static void find_optimum(const comparison *c, uint64_t problem, compared_problem *p, double known)
{
    p->lower = -INFINITY;
    p->upper = INFINITY;
    for (uint64_t i = 0; i < c->runs; i++) {
        const run *r = c->run[i].run;
        for (uint64_t t = 0; c->run[i].problem == problem && t < r->round_count; t++) {
            p->upper = fmin(p->upper, run_at(r, t, RUN_BEST_PRIMAL)); /* of NAN and a number: the number */
            p->lower = fmax(p->lower, -run_at(r, t, RUN_DUAL));
        }
    }
    if (!isnan(known)) {
        p->optimum = known;
        p->floor = 0;
        return;
    }
    if (!isfinite(p->upper)) {
        p->optimum = p->floor = NAN;
        return;
    }
    if (!isfinite(p->lower)) { /* no run has a dual: nothing is certain */
        p->optimum = p->upper;
        p->floor = INFINITY;
        return;
    }
    p->lower = fmin(p->lower, p->upper); /* rounding may leave it a little above */
    p->optimum = p->lower + 0.5 * (p->upper - p->lower);
    p->floor = relative(0.5 * (p->upper - p->lower), p->optimum);
}

/* The first round within the target. A target is certain where the optimum is known to a tenth of it. */
static void find_reached(const compared_problem *p, compared *c)
{
    for (int m = 0; m < MEASURES; m++) {
        uint64_t t = 0;
        const run *r = c->run;
        for (int k = 0; k < TARGETS; k++) {
            const double target = compare_target(k);
            reached *to = &c->reached[m][k];
            *to = (reached){NAN, NAN, NAN, NAN};
            if (!(p->floor <= 0.1 * target))
                continue;
            while (t < r->round_count && !((m == MEASURE_PRIMAL ? compare_primal : compare_dual)(p, r, t) <= target))
                t++;
            if (t < r->round_count)
                *to = (reached){.rounds = run_at(r, t, RUN_ROUND),
                                .seconds = run_at(r, t, RUN_SECONDS),
                                .vectors = run_at(r, t, RUN_VECTORS),
                                .bytes = run_at(r, t, RUN_BYTES)};
        }
    }
}

/* Older logs do not have the rest of a round's time: it is what the other parts leave. */
static void sum_shares(compared *c)
{
    static const int columns[5] = {RUN_LOCAL_SECONDS, RUN_COMM_SECONDS, RUN_LINE_SEARCH_SECONDS, RUN_EVAL_SECONDS,
                                   RUN_OTHER_SECONDS};
    const run *r = c->run;
    double sum = 0;
    for (uint64_t t = 0; t < r->round_count; t++)
        for (int k = 0; k < 5; k++)
            if (!isnan(run_at(r, t, columns[k])))
                c->share[k] += run_at(r, t, columns[k]);
    c->seconds = r->round_count ? run_at(r, r->round_count - 1, RUN_SECONDS) : NAN;
    for (int k = 0; k < 5; k++)
        sum += c->share[k];
    if (c->share[4] == 0)
        c->share[4] = fmax(c->seconds - sum, 0);
    c->load_seconds = run_number(r, "load_seconds");
}

bool comparison_open(comparison *c, const run_list *list, double optimum, bda_error *err)
{
    *c = (comparison){.runs = list->count};
    c->run = calloc(list->count + 1, sizeof *c->run); /* one more: order_runs moves */
    c->problem = calloc(list->count + 1, sizeof *c->problem);
    if (!c->run || !c->problem) {
        comparison_close(c);
        return err_memory(err, list->count * sizeof *c->run, "the report");
    }
    order_runs(c, list);
    if (!isnan(optimum) && c->problems > 1) {
        const uint64_t problems = c->problems;
        comparison_close(c);
        return err_set(err, BDA_USAGE, "--optimum is for one problem, and the logs are of %llu: report them apart",
                       (unsigned long long)problems);
    }
    for (uint64_t p = 0; p < c->problems; p++)
        find_optimum(c, p, &c->problem[p], optimum);
    for (uint64_t i = 0; i < c->runs; i++) {
        compared_problem *p = &c->problem[c->run[i].problem];
        if (!p->title[0])
            write_title(c, c->run[i].run, p);
        find_reached(p, &c->run[i]);
        sum_shares(&c->run[i]);
    }
    write_labels(c);
    return true;
}

void comparison_close(comparison *c)
{
    free(c->run);
    free(c->problem);
    *c = (comparison){0};
}
