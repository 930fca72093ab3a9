/* svg.c - figures for papers: SVG of fixed size, readable without colour by its dashes, on white. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/output.h"
#include "report/page.h"
#include "report/style.h"

enum {
    WIDTH = 720,
    HEIGHT = 420,
    LEFT = 78,
    TOP = 34,
    PLOT_WIDTH = 440,
    PLOT_HEIGHT = 320,
    LEGEND = 534,    /* x */
    MOST_NAMED = 18, /* lines of the legend */
    POINTS = 400     /* of a line */
};

/* What an axis shows of round t of a run. */
typedef double (*value_of)(const compared_problem *p, const run *r, uint64_t t);

static double round_of(const compared_problem *p, const run *r, uint64_t t)
{
    (void)p;
    return run_at(r, t, RUN_ROUND);
}

static double seconds_of(const compared_problem *p, const run *r, uint64_t t)
{
    (void)p;
    return run_at(r, t, RUN_SECONDS);
}

static double vectors_of(const compared_problem *p, const run *r, uint64_t t)
{
    (void)p;
    return run_at(r, t, RUN_VECTORS);
}

static double bytes_of(const compared_problem *p, const run *r, uint64_t t)
{
    (void)p;
    return run_at(r, t, RUN_BYTES);
}

static double step_of(const compared_problem *p, const run *r, uint64_t t)
{
    (void)p;
    return t ? run_at(r, t, RUN_STEP) : NAN;
}

static double gap_of(const compared_problem *p, const run *r, uint64_t t)
{
    (void)p;
    return compare_gap(r, t);
}

/* Of the model that would have been written: what the last one scored that was looked at until then. */
static double score_of(const compared_problem *p, const run *r, uint64_t t)
{
    (void)p;
    const int measure = run_main_measure(r);
    uint64_t before = 0, after = r->score_count; /* scores before `before` are of round t or earlier */
    while (before < after) {
        const uint64_t middle = before + (after - before) / 2;
        if (r->scores[middle].round <= run_at(r, t, RUN_ROUND))
            before = middle + 1;
        else
            after = middle;
    }
    return before && measure >= 0 ? r->scores[r->scores[before - 1].best].measure[measure] : NAN;
}

typedef struct quantity {
    const char *name, *title;
    value_of value;
} quantity;

static const quantity across[] = {{"rounds", "rounds", round_of},
                                  {"seconds", "seconds of training", seconds_of},
                                  {"vectors", "vectors sent", vectors_of},
                                  {"bytes", "bytes sent", bytes_of}};
static const quantity upward[] = {{"primal", "relative primal distance to the optimum", compare_primal},
                                  {"dual", "relative dual distance to the optimum", compare_dual},
                                  {"gap", "relative duality gap", gap_of},
                                  {"step", "step size", step_of},
                                  {"score", "on the validation data", score_of}};

/* ---- axes ------------------------------------------------------------------------------------------------------------ */

typedef struct axis {
    double least, most; /* of what is shown; of logarithms where `log` */
    bool log;
    double begin, length; /* in the picture */
} axis;

static double place(const axis *a, double x)
{
    if (a->log)
        x = log10(x);
    return a->begin + a->length * (x - a->least) / (a->most - a->least);
}

static void widen(axis *a, double x)
{
    if (a->log)
        x = log10(x);
    if (isfinite(x)) {
        a->least = fmin(a->least, x);
        a->most = fmax(a->most, x);
    }
}

static bool settle(axis *a)
{
    if (!(a->least <= a->most))
        return false;
    if (a->log) {
        a->least = floor(a->least + 1e-9);
        a->most = fmax(ceil(a->most - 1e-9), a->least + 1);
    } else if (a->least == a->most) {
        a->most = a->least + 1;
    }
    return true;
}

/* 1, 2 or 5 times a power of ten: about five of them. */
static double tick_distance(const axis *a)
{
    const double rough = (a->most - a->least) / 5;
    const double unit = a->log ? 1 : pow(10, floor(log10(rough)));
    const double times = rough / unit;
    return unit * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
}

static void write_tick(output *out, const axis *a, double x, bool upright)
{
    char label[64];
    const double at = a->begin + a->length * (x - a->least) / (a->most - a->least);
    x = fabs(x) < 1e-12 ? 0 : x; /* no "-0" */
    if (a->log)
        snprintf(label, sizeof label, "10<tspan dy=\"-5\" font-size=\"9\">%.0f</tspan>", x);
    else
        snprintf(label, sizeof label, "%g", x);
    if (upright)
        out_printf(
            out, "<path d=\"M%d %.1fh%d\" class=\"grid\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
            LEFT, at, PLOT_WIDTH, LEFT - 8, at + 4, label);
    else
        out_printf(
            out,
            "<path d=\"M%.1f %dv%d\" class=\"grid\"/><text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
            at, TOP, PLOT_HEIGHT, at, TOP + PLOT_HEIGHT + 18, label);
}

static void write_axis(output *out, const axis *a, bool upright)
{
    const double distance = tick_distance(a);
    for (double x = ceil(a->least / distance - 1e-9) * distance; x <= a->most + 1e-9 * distance; x += distance)
        write_tick(out, a, x, upright);
}

static void write_escaped(output *out, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '<':
            out_printf(out, "&lt;");
            break;
        case '&':
            out_printf(out, "&amp;");
            break;
        default:
            if ((unsigned char)*text >= ' ')
                out_write(out, text, 1);
        }
}

/* ---- a figure --------------------------------------------------------------------------------------------------------- */

typedef struct figure {
    const report_view *v;
    const run_style *style; /* [runs] of all */
    uint64_t begin, end;    /* the runs of the problem */
    const compared_problem *problem;
    const quantity *x, *y;
    axis across, upward;
} figure;

static bool shown(const figure *f, const run *r, uint64_t t, double *x, double *y)
{
    *x = f->x->value(f->problem, r, t);
    *y = f->y->value(f->problem, r, t);
    return isfinite(*x) && isfinite(*y) && (!f->upward.log || *y > 0) && (!f->across.log || *x > 0);
}

/* The first scores of a run, of models that are hardly trained, would take up most of the axis. */
static bool starts(const figure *f, const run *r, uint64_t t)
{
    return f->y->value == score_of && (t == 0 || t < r->round_count / 4);
}

static bool measure(figure *f)
{
    double x, y;
    const run *r;
    f->across = (axis){.least = INFINITY, .most = -INFINITY, .begin = LEFT, .length = PLOT_WIDTH};
    f->upward = (axis){.least = INFINITY, .most = -INFINITY, .begin = TOP + PLOT_HEIGHT, .length = -PLOT_HEIGHT};
    f->upward.log = f->y->value != step_of && f->y->value != score_of;
    for (uint64_t i = f->begin; i < f->end; i++)
        for (uint64_t t = 0; r = f->v->comparison->run[i].run, t < r->round_count; t++)
            if (shown(f, r, t, &x, &y)) {
                widen(&f->across, x);
                if (!starts(f, r, t))
                    widen(&f->upward, y);
            }
    if (f->y->value == step_of)
        widen(&f->upward, 0);
    if (f->y->value == score_of) {
        const double room = 0.05 * (f->upward.most - f->upward.least);
        f->upward.least -= room;
        f->upward.most += room;
    }
    return settle(&f->across) && settle(&f->upward);
}

static void write_line(output *out, const figure *f, uint64_t i)
{
    const run *r = f->v->comparison->run[i].run;
    const run_style *style = &f->style[i];
    uint64_t t[POINTS];
    const uint64_t count = style_thin(r->round_count, POINTS, t);
    double x, y;
    bool drawing = false;
    out_printf(out,
               "<path clip-path=\"url(#plot)\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.8\" "
               "stroke-dasharray=\"%s\" d=\"",
               style_colour[style->colour], style_dash[style->dash][0] ? style_dash[style->dash] : "none");
    for (uint64_t k = 0; k < count; k++) {
        const bool now = shown(f, r, t[k], &x, &y);
        if (now)
            out_printf(out, "%c%.1f %.1f", drawing ? 'L' : 'M', place(&f->across, x), place(&f->upward, y));
        drawing = now;
    }
    out_printf(out, "\"/>\n");
}

static void write_legend(output *out, const figure *f)
{
    uint64_t named = 0;
    for (uint64_t i = f->begin; i < f->end && named < MOST_NAMED; i++, named++) {
        const int y = TOP + 8 + 18 * (int)named;
        const run_style *style = &f->style[i];
        out_printf(out, "<path d=\"M%d %dh26\" stroke=\"%s\" stroke-width=\"2\" stroke-dasharray=\"%s\"/>", LEGEND, y,
                   style_colour[style->colour], style_dash[style->dash][0] ? style_dash[style->dash] : "none");
        out_printf(out, "<text x=\"%d\" y=\"%d\">", LEGEND + 32, y + 4);
        write_escaped(out, f->v->comparison->run[i].label);
        out_printf(out, "</text>\n");
    }
    if (f->end - f->begin > named)
        out_printf(out, "<text x=\"%d\" y=\"%d\">and %llu more</text>\n", LEGEND, TOP + 12 + 18 * (int)named,
                   (unsigned long long)(f->end - f->begin - named));
}

static void write_head(output *out, const char *title)
{
    out_printf(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
               "font-family=\"sans-serif\" font-size=\"12\">\n"
               "<style>.grid{stroke:#ddd;stroke-width:1}text{fill:#222}</style>\n"
               "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n<text x=\"%d\" y=\"20\" font-weight=\"bold\">",
               WIDTH, HEIGHT, WIDTH, HEIGHT, WIDTH, HEIGHT, LEFT);
    write_escaped(out, title);
    out_printf(out, "</text>\n");
}

static void write_titles(output *out, const char *x, const char *y)
{
    out_printf(out,
               "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n"
               "<text transform=\"translate(18 %d) rotate(-90)\" text-anchor=\"middle\">%s</text>\n",
               LEFT + PLOT_WIDTH / 2, TOP + PLOT_HEIGHT + 42, x, TOP + PLOT_HEIGHT / 2, y);
}

/* "token accuracy on the validation data" */
static void upward_title(const figure *f, char *title, size_t size)
{
    const char *measured = "";
    for (uint64_t i = f->begin; i < f->end && f->y->value == score_of && !*measured; i++) {
        const int k = run_main_measure(f->v->comparison->run[i].run);
        measured = k < 0 ? "" : run_measures[k];
    }
    snprintf(title, size, "%s%s%s", measured, *measured ? " " : "", f->y->title);
    for (char *c = strchr(title, '_'); c; c = strchr(c, '_'))
        *c = ' ';
}

static void write_figure(output *out, const figure *f)
{
    write_head(out, f->problem->title);
    write_axis(out, &f->across, false);
    write_axis(out, &f->upward, true);
    char title[80];
    upward_title(f, title, sizeof title);
    out_printf(out, "<clipPath id=\"plot\"><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/></clipPath>\n", LEFT,
               TOP - 1, PLOT_WIDTH, PLOT_HEIGHT + 2);
    write_titles(out, f->x->title, title);
    for (uint64_t i = f->begin; i < f->end; i++)
        write_line(out, f, i);
    write_legend(out, f);
    out_printf(out, "</svg>\n");
}

/* "rcv1, hinge" -> "rcv1-hinge" */
static void file_stem(const char *title, char *stem, size_t size)
{
    size_t used = 0;
    for (; *title && used + 1 < size; title++) {
        const bool plain = strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._", *title);
        if (plain)
            stem[used++] = *title;
        else if (used && stem[used - 1] != '-')
            stem[used++] = '-';
    }
    stem[used] = 0;
}

static bool write_file(figure *f, const char *directory, bda_error *err)
{
    char stem[120], path[1400];
    file_stem(f->problem->title, stem, sizeof stem);
    snprintf(path, sizeof path, "%.1200s/%s-%s-%s.svg", directory, stem, f->y->name, f->x->name);
    if (!measure(f))
        return true; /* no run has both */
    output *out = out_open(path, err);
    if (!out)
        return false;
    write_figure(out, f);
    return out_commit(out, err);
}

static bool write_problem(figure *f, const char *directory, bda_error *err)
{
    for (size_t y = 0; y < sizeof upward / sizeof *upward; y++)
        for (size_t x = 0; x < sizeof across / sizeof *across; x++) {
            f->x = &across[x];
            f->y = &upward[y];
            if (!write_file(f, directory, err))
                return false;
        }
    return true;
}

/* ---- rounds over blocks ---------------------------------------------------------------------------------------------- */

#define BLOCKS_TARGET 2 /* 1e-3 */

static double rounds_of_point(const figure *f, const series *s, uint64_t i)
{
    return f->v->comparison->run[s->run[i]].reached[MEASURE_PRIMAL][BLOCKS_TARGET].rounds;
}

static bool is_shown(const figure *f, const series *s)
{
    return s->by == SERIES_BLOCKS && s->run[0] >= f->begin && s->run[0] < f->end;
}

/* Axes: blocks by powers of two, rounds by powers of ten. */
static bool measure_blocks(figure *f)
{
    f->across = (axis){.least = INFINITY, .most = -INFINITY, .begin = LEFT, .length = PLOT_WIDTH};
    f->upward = (axis){.least = INFINITY, .most = -INFINITY, .log = true};
    f->upward.begin = TOP + PLOT_HEIGHT;
    f->upward.length = -PLOT_HEIGHT;
    for (uint64_t k = 0; k < f->v->series->count; k++) {
        const series *s = &f->v->series->series[k];
        for (uint64_t i = 0; is_shown(f, s) && i < s->points; i++)
            if (rounds_of_point(f, s, i) > 0) {
                widen(&f->across, log2(s->x[i]));
                widen(&f->upward, rounds_of_point(f, s, i));
            }
    }
    return settle(&f->across) && settle(&f->upward);
}

static void write_blocks_line(output *out, const figure *f, const series *s, int place_in_legend)
{
    const char *colour = style_colour[f->style[s->run[0]].colour];
    bool drawing = false;
    out_printf(out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.8\" d=\"", colour);
    for (uint64_t i = 0; i < s->points; i++) {
        const double rounds = rounds_of_point(f, s, i);
        if (rounds > 0)
            out_printf(out, "%c%.1f %.1f", drawing ? 'L' : 'M', place(&f->across, log2(s->x[i])),
                       place(&f->upward, rounds));
        drawing = rounds > 0;
    }
    out_printf(out, "\"/>\n");
    for (uint64_t i = 0; i < s->points; i++)
        if (rounds_of_point(f, s, i) > 0)
            out_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" fill=\"%s\"/>\n",
                       place(&f->across, log2(s->x[i])), place(&f->upward, rounds_of_point(f, s, i)), colour);
    const int y = TOP + 8 + 18 * place_in_legend;
    out_printf(out, "<path d=\"M%d %dh26\" stroke=\"%s\" stroke-width=\"2\"/><text x=\"%d\" y=\"%d\">", LEGEND, y,
               colour, LEGEND + 32, y + 4);
    write_escaped(out, s->label);
    out_printf(out, "</text>\n");
}

static void write_blocks_figure(output *out, const figure *f)
{
    write_head(out, f->problem->title);
    for (double k = ceil(f->across.least); k <= f->across.most + 1e-9; k++) {
        const double at =
            f->across.begin + f->across.length * (k - f->across.least) / (f->across.most - f->across.least);
        out_printf(out,
                   "<path d=\"M%.1f %dv%d\" class=\"grid\"/><text x=\"%.1f\" y=\"%d\" "
                   "text-anchor=\"middle\">%.0f</text>\n",
                   at, TOP, PLOT_HEIGHT, at, TOP + PLOT_HEIGHT + 18, exp2(k));
    }
    write_axis(out, &f->upward, true);
    write_titles(out, "blocks", "rounds to a relative primal distance of 0.001");
    int named = 0;
    for (uint64_t k = 0; k < f->v->series->count; k++)
        if (is_shown(f, &f->v->series->series[k]))
            write_blocks_line(out, f, &f->v->series->series[k], named++);
    out_printf(out, "</svg>\n");
}

static bool write_blocks(figure *f, const char *directory, bda_error *err)
{
    char stem[120], path[1400];
    file_stem(f->problem->title, stem, sizeof stem);
    snprintf(path, sizeof path, "%.1200s/%s-rounds-blocks.svg", directory, stem);
    if (!measure_blocks(f))
        return true; /* no runs that differ in blocks alone */
    output *out = out_open(path, err);
    if (!out)
        return false;
    write_blocks_figure(out, f);
    return out_commit(out, err);
}

bool svg_write(const report_view *v, const char *directory, bda_error *err)
{
    const comparison *c = v->comparison;
    if (mkdir(directory, 0777) != 0 && errno != EEXIST)
        return err_set(err, BDA_FAILED, "cannot make the directory '%.400s': %s", directory, strerror(errno));
    run_style *style = calloc(c->runs + 1, sizeof *style);
    if (!style)
        return err_memory(err, c->runs * sizeof *style, "the report");
    style_choose(c, style);
    bool ok = true;
    for (uint64_t i = 0, next; ok && i < c->runs; i = next) {
        for (next = i; next < c->runs && c->run[next].problem == c->run[i].problem; next++)
            continue;
        figure f = {.v = v, .style = style, .begin = i, .end = next, .problem = &c->problem[c->run[i].problem]};
        ok = write_problem(&f, directory, err) && write_blocks(&f, directory, err);
    }
    free(style);
    return ok;
}
