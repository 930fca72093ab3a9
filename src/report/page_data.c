/* page_data.c - see page_data.h. Names here are those that the scripts in web/ reads.
 *
 * Of long runs not every round is drawn; what the tables say (when a run came near the optimum, sums of times, the last
 * round) is made from all of them. Numbers have six digits: more than any screen. */
#include "report/page_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "report/style.h"

#define POINTS 8000     /* of all runs together, about */
#define MOST_POINTS 300 /* of a run */
#define LEAST_POINTS 24
#define DIGITS 6

typedef struct page_data {
    json j;
    const report_view *v;
    run_style *style; /* [runs] */
    uint64_t *drawn;  /* [room] rounds of the run under way */
    uint64_t drawn_count, room;
    double *column;   /* [room] */
    uint64_t *scores; /* [2][most scores of a run] which of them are shown */
} page_data;

static void write_column(page_data *d, const char *name)
{
    json_reals(&d->j, name, d->column, d->drawn_count);
}

/* ---- a run ---------------------------------------------------------------------------------------------------------- */

static void write_rounds(page_data *d, const compared *c)
{
    static const struct {
        const char *name;
        int column;
    } plain[] = {{"round", RUN_ROUND}, {"seconds", RUN_SECONDS}, {"vectors", RUN_VECTORS},
                 {"bytes", RUN_BYTES}, {"step", RUN_STEP},       {"search", RUN_LINE_SEARCH_STEPS}};
    const compared_problem *p = &d->v->comparison->problem[c->problem];
    const run *r = c->run;
    d->drawn_count = style_thin(r->round_count, d->room, d->drawn);
    for (size_t k = 0; k < sizeof plain / sizeof *plain; k++) {
        for (uint64_t i = 0; i < d->drawn_count; i++)
            d->column[i] = run_at(r, d->drawn[i], plain[k].column);
        write_column(d, plain[k].name);
    }
    double epochs = 0;
    for (uint64_t i = 0, t = 0; i < d->drawn_count; i++) {
        for (; t <= d->drawn[i]; t++)
            epochs += isnan(run_at(r, t, RUN_EPOCHS)) ? 0 : run_at(r, t, RUN_EPOCHS);
        d->column[i] = epochs;
    }
    write_column(d, "epochs");
    for (uint64_t i = 0; i < d->drawn_count; i++)
        d->column[i] = compare_primal(p, r, d->drawn[i]);
    write_column(d, "primal");
    bool differs = false;
    for (uint64_t i = 0; i < d->drawn_count; i++) {
        const double plain_primal = run_at(r, d->drawn[i], RUN_PLAIN_PRIMAL),
                     own = run_at(r, d->drawn[i], RUN_PRIMAL);
        const double now = isnan(plain_primal) ? own : plain_primal;
        differs = differs || now != run_at(r, d->drawn[i], RUN_BEST_PRIMAL);
        d->column[i] = fmax(now - p->optimum, 0) / fabs(p->optimum);
    }
    if (differs)
        write_column(d, "now");
    for (uint64_t i = 0; i < d->drawn_count; i++)
        d->column[i] = compare_dual(p, r, d->drawn[i]);
    write_column(d, "dual");
    for (uint64_t i = 0; i < d->drawn_count; i++)
        d->column[i] = compare_gap(r, d->drawn[i]);
    write_column(d, "gap");
}

/* Of a measure: first, smallest, largest and last of all scores, those that are not drawn too. */
static void write_summary(json *j, const char *name, const run *r, const uint64_t *shown, int measure)
{
    double summary[4] = {NAN, NAN, NAN, NAN};
    for (uint64_t i = 0; i < r->score_count; i++) {
        const double value = r->scores[shown[i]].measure[measure];
        if (isnan(value))
            continue;
        summary[0] = isnan(summary[0]) ? value : summary[0];
        summary[1] = fmin(summary[1], value);
        summary[2] = fmax(summary[2], value);
        summary[3] = value;
    }
    json_reals(j, name, summary, 4);
}

/* The scores that `shown` says for each, under `name`: a column and a summary for each measure. */
static void write_measures(page_data *d, const char *name, const run *r, const uint64_t *shown)
{
    json_enter(&d->j, name, '{');
    for (int k = 0; k < RUN_MEASURES; k++) {
        bool any = false;
        for (uint64_t i = 0; i < r->score_count && !any; i++)
            any = !isnan(r->scores[i].measure[k]);
        if (!any)
            continue;
        json_enter(&d->j, run_measures[k], '{');
        for (uint64_t i = 0; i < d->drawn_count; i++)
            d->column[i] = r->scores[shown[d->drawn[i]]].measure[k];
        write_column(d, "drawn");
        write_summary(&d->j, "summary", r, shown, k);
        json_leave(&d->j, '{');
    }
    json_leave(&d->j, '{');
}

static void write_score_axes(page_data *d, const run *r)
{
    static const struct {
        const char *name;
        int column;
    } axes[] = {{"vectors", RUN_VECTORS}, {"bytes", RUN_BYTES}};
    for (uint64_t i = 0; i < d->drawn_count; i++)
        d->column[i] = r->scores[d->drawn[i]].round;
    write_column(d, "round");
    for (uint64_t i = 0; i < d->drawn_count; i++)
        d->column[i] = r->scores[d->drawn[i]].seconds;
    write_column(d, "seconds");
    for (size_t k = 0; k < sizeof axes / sizeof *axes; k++) {
        for (uint64_t i = 0; i < d->drawn_count; i++)
            d->column[i] = run_at(r, run_round_at(r, r->scores[d->drawn[i]].round), axes[k].column);
        write_column(d, axes[k].name);
    }
    double epochs = 0;
    for (uint64_t i = 0, t = 0; i < d->drawn_count; i++) {
        for (const uint64_t end = run_round_at(r, r->scores[d->drawn[i]].round) + 1; t < end; t++)
            epochs += isnan(run_at(r, t, RUN_EPOCHS)) ? 0 : run_at(r, t, RUN_EPOCHS);
        d->column[i] = epochs;
    }
    write_column(d, "epochs");
}

/* What the model scored that would have been written in that round, and, where it differs, what w of the round did. */
static void write_scores(page_data *d, const run *r)
{
    if (r->score_count == 0 || r->round_count == 0)
        return;
    uint64_t *best = d->scores, *own = d->scores + r->score_count;
    bool differs = false;
    for (uint64_t i = 0; i < r->score_count; i++) {
        own[i] = i;
        best[i] = r->scores[i].best;
        differs = differs || best[i] != i;
    }
    d->drawn_count = style_thin(r->score_count, d->room, d->drawn);
    json_enter(&d->j, "scores", '{');
    write_score_axes(d, r);
    write_measures(d, "primal", r, best);
    if (differs)
        write_measures(d, "now", r, own);
    json_leave(&d->j, '{');
}

static void write_reached(page_data *d, const compared *c)
{
    static const char *const names[MEASURES] = {"primal", "dual"};
    json_enter(&d->j, "reached", '{');
    for (int m = 0; m < MEASURES; m++) {
        json_enter(&d->j, names[m], '[');
        for (int k = 0; k < TARGETS; k++) {
            const reached *to = &c->reached[m][k];
            const double values[] = {to->rounds, to->seconds, to->vectors, to->bytes};
            json_reals(&d->j, NULL, values, 4);
        }
        json_leave(&d->j, '[');
    }
    json_leave(&d->j, '{');
}

static void write_run(page_data *d, uint64_t i)
{
    const compared *c = &d->v->comparison->run[i];
    const run *r = c->run;
    json *j = &d->j;
    json_enter(j, NULL, '{');
    json_text(j, "label", c->label);
    json_text(j, "path", r->path);
    json_count(j, "colour", (uint64_t)d->style[i].colour);
    json_count(j, "dash", (uint64_t)d->style[i].dash);
    if (r->ended)
        json_text(j, "end", r->reason);
    json_count(j, "rounds", r->round_count ? (uint64_t)run_at(r, r->round_count - 1, RUN_ROUND) : 0);
    json_count(j, "logged", r->round_count);
    json_real(j, "total", c->seconds);
    json_real(j, "load", c->load_seconds);
    json_real(j, "memory", r->peak_bytes);
    json_reals(j, "shares", c->share, 5);
    write_rounds(d, c);
    write_reached(d, c);
    write_scores(d, r);
    json_leave(j, '{');
}

/* ---- settings ------------------------------------------------------------------------------------------------------- */

/* Names in the order of the first run that has them, and a row of values for each run. [begin, end): the runs */
static void write_settings(page_data *d, uint64_t begin, uint64_t end)
{
    const compared *run = d->v->comparison->run;
    json *j = &d->j;
    const char *names[256];
    size_t count = 0;
    for (uint64_t i = begin; i < end; i++)
        for (uint64_t s = 0; s < run[i].run->setting_count && count < sizeof names / sizeof *names; s++) {
            const char *name = run[i].run->settings[s].name;
            bool known = false;
            for (size_t k = 0; k < count && !known; k++)
                known = strcmp(names[k], name) == 0;
            if (!known && strcmp(name, "event") != 0)
                names[count++] = name;
        }
    json_enter(j, "settings", '[');
    for (size_t k = 0; k < count; k++)
        json_text(j, NULL, names[k]);
    json_leave(j, '[');
    json_enter(j, "values", '[');
    for (uint64_t i = begin; i < end; i++) {
        json_enter(j, NULL, '[');
        for (size_t k = 0; k < count; k++)
            json_text(j, NULL, run_text(run[i].run, names[k]));
        json_leave(j, '[');
    }
    json_leave(j, '[');
}

/* ---- series and projections ---------------------------------------------------------------------------------------- */

static void write_speedups(page_data *d, const series *s)
{
    static const char *const names[2][MEASURES] = {{"primal", "dual"}, {"primal_loading", "dual_loading"}};
    json *j = &d->j;
    json_enter(j, "speedup", '{');
    for (int loading = 0; loading < 2; loading++)
        for (int m = 0; m < MEASURES; m++) {
            json_enter(j, names[loading][m], '[');
            for (int k = 0; k < TARGETS; k++) {
                double value[SERIES_POINTS];
                for (uint64_t i = 0; i < s->points; i++)
                    value[i] = series_speedup(s, d->v->comparison, m, loading, k, i);
                json_reals(j, NULL, value, s->points);
            }
            json_leave(j, '[');
        }
    json_leave(j, '{');
}

static void write_series(page_data *d, uint64_t begin, uint64_t end)
{
    json *j = &d->j;
    json_enter(j, "series", '[');
    for (uint64_t i = 0; i < d->v->series->count; i++) {
        const series *s = &d->v->series->series[i];
        if (s->run[0] < begin || s->run[0] >= end)
            continue;
        json_enter(j, NULL, '{');
        json_text(j, "by", s->by == SERIES_WORKERS ? "workers" : "blocks");
        json_text(j, "label", s->label);
        json_reals(j, "x", s->x, s->points);
        json_enter(j, "runs", '[');
        for (uint64_t k = 0; k < s->points; k++)
            json_count(j, NULL, s->run[k] - begin);
        json_leave(j, '[');
        if (s->by == SERIES_WORKERS)
            write_speedups(d, s);
        json_leave(j, '{');
    }
    json_leave(j, '[');
}

/* 1, 2, 4, ... and the number of blocks. */
static uint64_t list_machines(double blocks, double machines[24])
{
    uint64_t count = 0;
    for (double m = 1; m < blocks && count < 20; m *= 2)
        machines[count++] = m;
    if (blocks >= 1)
        machines[count++] = blocks;
    return count;
}

static void write_projection(page_data *d, const compared *c)
{
    static const char *const names[MEASURES] = {"primal", "dual"};
    double machines[24], seconds[24];
    const uint64_t count = list_machines(run_number(c->run, "blocks"), machines);
    json *j = &d->j;
    json_enter(j, NULL, '{');
    json_reals(j, "machines", machines, count);
    for (int m = 0; m < MEASURES; m++) {
        json_enter(j, names[m], '[');
        for (int k = 0; k < TARGETS; k++) {
            for (uint64_t i = 0; i < count; i++)
                seconds[i] = network_project_to(d->v->network, c, m, k, machines[i]);
            json_reals(j, NULL, seconds, count);
        }
        json_leave(j, '[');
    }
    json_leave(j, '{');
}

static void write_problem(page_data *d, uint64_t problem, uint64_t begin, uint64_t end)
{
    const compared_problem *p = &d->v->comparison->problem[problem];
    json *j = &d->j;
    json_enter(j, NULL, '{');
    json_text(j, "title", p->title);
    j->digits = 17;
    json_real(j, "optimum", p->optimum);
    json_real(j, "lower", p->lower);
    json_real(j, "upper", p->upper);
    j->digits = DIGITS;
    json_real(j, "floor", p->floor);
    json_enter(j, "runs", '[');
    for (uint64_t i = begin; i < end; i++)
        write_run(d, i);
    json_leave(j, '[');
    write_settings(d, begin, end);
    write_series(d, begin, end);
    json_enter(j, "projections", '[');
    for (uint64_t i = begin; i < end; i++)
        write_projection(d, &d->v->comparison->run[i]);
    json_leave(j, '[');
    json_leave(j, '{');
}

bool page_data_write(output *out, const report_view *v, bda_error *err)
{
    const comparison *c = v->comparison;
    page_data d = {.v = v};
    d.room = c->runs ? POINTS / c->runs : 0;
    d.room = d.room < LEAST_POINTS ? LEAST_POINTS : d.room > MOST_POINTS ? MOST_POINTS : d.room;
    d.style = calloc(c->runs + 1, sizeof *d.style);
    d.drawn = calloc(d.room, sizeof *d.drawn);
    d.column = calloc(d.room, sizeof *d.column);
    uint64_t most = 1;
    for (uint64_t i = 0; i < c->runs; i++)
        most = c->run[i].run->score_count > most ? c->run[i].run->score_count : most;
    d.scores = calloc(most, 2 * sizeof *d.scores);
    const bool ok = d.style && d.drawn && d.column && d.scores;
    if (ok) {
        style_choose(c, d.style);
        json_open(&d.j, out);
        d.j.digits = DIGITS;
        json_text(&d.j, "version", bda_version());
        json_text(&d.j, "network", v->network_text);
        json_count(&d.j, "refresh", (uint64_t)v->refresh);
        json_enter(&d.j, "problems", '[');
        for (uint64_t i = 0, next; i < c->runs; i = next) {
            for (next = i; next < c->runs && c->run[next].problem == c->run[i].problem; next++)
                continue;
            write_problem(&d, c->run[i].problem, i, next);
        }
        json_leave(&d.j, '[');
        json_close(&d.j);
    } else {
        err_memory(err, d.room * sizeof *d.drawn, "the report");
    }
    free(d.style);
    free(d.drawn);
    free(d.column);
    free(d.scores);
    return ok;
}
