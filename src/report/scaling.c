/* scaling.c - see scaling.h. */
#include "report/scaling.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double workers(const run *r)
{
    const double threads = run_number(r, "threads");
    return run_number(r, "ranks") * (isnan(threads) ? 1 : threads);
}

static double blocks(const run *r)
{
    return run_number(r, "blocks");
}

/* ---- series --------------------------------------------------------------------------------------------------------- */

static const char *const sizes[] = {"ranks", "threads", "blocks", NULL};

typedef enum belongs { ANY_BLOCKS, EQUAL_BLOCKS, BLOCKS_ARE_WORKERS } belongs;

static bool are_together(const compared *a, const compared *b, belongs how)
{
    if (a->problem != b->problem || !compare_same_but(a->run, b->run, sizes))
        return false;
    return how == ANY_BLOCKS     ? true
           : how == EQUAL_BLOCKS ? blocks(a->run) == blocks(b->run)
                                 : blocks(a->run) == workers(a->run) && blocks(b->run) == workers(b->run);
}

/* Sorted by x; of equal x the quickest. */
static void add_point(series *s, const comparison *c, uint64_t run, double x)
{
    uint64_t at = 0;
    while (at < s->points && s->x[at] < x)
        at++;
    if (at < s->points && s->x[at] == x) {
        if (c->run[run].seconds < c->run[s->run[at]].seconds)
            s->run[at] = run;
        return;
    }
    if (s->points == SERIES_POINTS)
        return;
    memmove(&s->x[at + 1], &s->x[at], (s->points - at) * sizeof s->x[0]);
    memmove(&s->run[at + 1], &s->run[at], (s->points - at) * sizeof s->run[0]);
    s->x[at] = x;
    s->run[at] = run;
    s->points++;
}

static series gather(const comparison *c, uint64_t first, int by, belongs how)
{
    series s = {.by = by};
    for (uint64_t i = first; i < c->runs; i++)
        if (are_together(&c->run[first], &c->run[i], how) && c->run[i].run->round_count > 0)
            add_point(&s, c, i, by == SERIES_WORKERS ? workers(c->run[i].run) : blocks(c->run[i].run));
    const char *method = run_text(c->run[first].run, "method");
    if (by == SERIES_WORKERS && how == EQUAL_BLOCKS)
        snprintf(s.label, sizeof s.label, "%s, %.4g blocks", method, blocks(c->run[first].run));
    else
        snprintf(s.label, sizeof s.label, "%s", method);
    return s;
}

/* Does an earlier run begin the same series? */
static bool is_later(const comparison *c, uint64_t i, belongs how)
{
    for (uint64_t k = 0; k < i; k++)
        if (are_together(&c->run[k], &c->run[i], how))
            return true;
    return false;
}

static bool add_series(series_list *list, const comparison *c, uint64_t first, int by, belongs how, bda_error *err)
{
    if (is_later(c, first, how))
        return true;
    series s = gather(c, first, by, how);
    if (s.points < 2)
        return true;
    if (list->count == list->room) {
        const uint64_t next = list->room ? 2 * list->room : 8;
        series *grown = realloc(list->series, next * sizeof *grown);
        if (!grown)
            return err_memory(err, next * sizeof *grown, "the report");
        list->series = grown;
        list->room = next;
    }
    list->series[list->count++] = s;
    return true;
}

bool series_find(series_list *list, const comparison *c, bda_error *err)
{
    *list = (series_list){0};
    for (uint64_t i = 0; i < c->runs; i++) {
        if (!add_series(list, c, i, SERIES_WORKERS, EQUAL_BLOCKS, err) ||
            (blocks(c->run[i].run) == workers(c->run[i].run) &&
             !add_series(list, c, i, SERIES_WORKERS, BLOCKS_ARE_WORKERS, err)) ||
            !add_series(list, c, i, SERIES_BLOCKS, ANY_BLOCKS, err)) {
            series_free(list);
            return false;
        }
    }
    return true;
}

void series_free(series_list *list)
{
    free(list->series);
    *list = (series_list){0};
}

double series_speedup(const series *s, const comparison *c, int measure, bool loading, int k, uint64_t i)
{
    const compared *one = &c->run[s->run[0]], *many = &c->run[s->run[i]];
    const double before = one->reached[measure][k].seconds + (loading ? one->load_seconds : 0);
    const double after = many->reached[measure][k].seconds + (loading ? many->load_seconds : 0);
    return after > 0 ? before / after : NAN;
}

/* ---- other networks -------------------------------------------------------------------------------------------------- */

/* "10Gbit": a number and one of the units. `end`: behind it. */
static bool parse_amount(const char *text, const char *const *unit, const double *factor, double *amount,
                         const char **end)
{
    char *behind;
    *amount = strtod(text, &behind);
    if (behind == text || !(*amount > 0) || !isfinite(*amount))
        return false;
    for (int i = 0; unit[i]; i++) {
        const size_t length = strlen(unit[i]);
        if (strncmp(behind, unit[i], length) == 0) {
            *amount *= factor[i];
            *end = behind + length;
            return true;
        }
    }
    return false;
}

bool network_parse(network *net, const char *text, bda_error *err)
{
    static const char *const rates[] = {"kbit", "Mbit", "Gbit", NULL}, *const times[] = {"ms", "us", "ns", "s", NULL};
    static const double bytes[] = {125, 125e3, 125e6}, seconds[] = {1e-3, 1e-6, 1e-9, 1};
    const char *end = text;
    if (!parse_amount(text, rates, bytes, &net->bandwidth, &end) || *end != ',' ||
        !parse_amount(end + 1, times, seconds, &net->latency, &end) || *end)
        return err_set(err, BDA_USAGE,
                       "--network must be a bandwidth in kbit, Mbit or Gbit, a comma, and a latency in s, ms, us or "
                       "ns, like 10Gbit,50us, not '%.100s'",
                       text);
    return true;
}

double network_project(const network *net, const compared *c, uint64_t t, double machines)
{
    enum { SHORT_MESSAGES = 2 }; /* a round: values to evaluate, and the scalars that go before a vector */
    const run *r = c->run;
    const double n = run_number(r, "weights"), vectors = run_at(r, t, RUN_VECTORS), bytes = run_at(r, t, RUN_BYTES);
    if (machines > blocks(r) || machines < 1)
        return NAN;
    double work = 0, messages = SHORT_MESSAGES * run_at(r, t, RUN_ROUND);
    for (uint64_t i = 0; i <= t; i++) {
        const double since = run_at(r, i, RUN_SECONDS) - (i ? run_at(r, i - 1, RUN_SECONDS) : 0);
        const double trials = run_at(r, i, RUN_LINE_SEARCH_STEPS);
        work += fmax(since - run_at(r, i, RUN_COMM_SECONDS), 0);
        messages += isnan(trials) ? 0 : trials;
    }
    const double steps = 2 * ceil(log2(machines)), moved = 2 * (machines - 1) / machines / net->bandwidth;
    const double other_bytes = fmax(bytes - 8 * n * vectors, 0);
    return work * workers(r) / machines + vectors * (steps * net->latency + 8 * n * moved) +
           messages * steps * net->latency + other_bytes * moved;
}

double network_project_to(const network *net, const compared *c, int measure, int k, double machines)
{
    const double round = c->reached[measure][k].rounds;
    for (uint64_t t = 0; t < c->run->round_count; t++)
        if (run_at(c->run, t, RUN_ROUND) == round)
            return network_project(net, c, t, machines);
    return NAN;
}
