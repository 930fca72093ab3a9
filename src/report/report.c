/* report.c - the public functions of reports. */
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/page.h"

struct bda_report {
    run_list logs;
    comparison comparison;
    series_list series;
    network network;
    char network_text[128];
    char csv[1024], svg[1024];
    int refresh;
};

static bool open_report(bda_report *report, const char *const *logs, size_t count, const bda_settings *s,
                        bda_error *err)
{
    const char *optimum = bda_get(s, "optimum");
    const bool growing = strcmp(bda_get(s, "follow"), "1") == 0;
    report->refresh = growing ? 2 : 0;
    strncpy(report->network_text, bda_get(s, "network"), sizeof report->network_text - 1);
    strncpy(report->csv, bda_get(s, "csv"), sizeof report->csv - 1);
    strncpy(report->svg, bda_get(s, "svg"), sizeof report->svg - 1);
    if (!network_parse(&report->network, bda_get(s, "network"), err))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!run_list_read(&report->logs, logs[i], growing, err))
            return false;
    return comparison_open(&report->comparison, &report->logs, optimum[0] ? strtod(optimum, NULL) : NAN, err) &&
           series_find(&report->series, &report->comparison, err);
}

/* Numbers are written and read with a point, whatever the host program's locale has. */
static locale_t enter_plain_locale(locale_t *plain)
{
    *plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return *plain ? uselocale(*plain) : (locale_t)0;
}

static void leave_plain_locale(locale_t plain, locale_t before)
{
    if (!plain)
        return;
    uselocale(before);
    freelocale(plain);
}

bda_report *bda_report_read(const char *const *logs, size_t count, const bda_settings *settings, bda_error *err)
{
    *err = (bda_error){0};
    bda_report *report = calloc(1, sizeof *report);
    if (!report) {
        err_memory(err, sizeof *report, "the report");
        return NULL;
    }
    locale_t plain, before = enter_plain_locale(&plain);
    const bool ok = open_report(report, logs, count, settings, err);
    leave_plain_locale(plain, before);
    if (ok)
        return report;
    bda_report_free(report);
    return NULL;
}

bool bda_report_write(const bda_report *report, const char *path, bda_error *err)
{
    *err = (bda_error){0};
    const report_view view = {.comparison = &report->comparison,
                              .series = &report->series,
                              .network = &report->network,
                              .network_text = report->network_text,
                              .refresh = report->refresh};
    locale_t plain, before = enter_plain_locale(&plain);
    const bool ok = (!path || page_write(&view, path, err)) &&
                    (!report->csv[0] || csv_write(&view, report->csv, err)) &&
                    (!report->svg[0] || svg_write(&view, report->svg, err));
    leave_plain_locale(plain, before);
    return ok;
}

size_t bda_report_runs(const bda_report *report)
{
    return report->comparison.runs;
}

void bda_report_run(const bda_report *report, size_t i, bda_run_summary *summary)
{
    const compared *c = &report->comparison.run[i];
    const compared_problem *p = &report->comparison.problem[c->problem];
    *summary = (bda_run_summary){.log = c->run->path,
                                 .problem = p->title,
                                 .label = c->label,
                                 .reason = c->run->ended ? c->run->reason : NULL,
                                 .rounds = c->run->round_count ? c->run->round_count - 1 : 0,
                                 .seconds = c->seconds,
                                 .optimum = p->optimum,
                                 .uncertainty = p->floor};
    for (int m = 0; m < MEASURES; m++)
        for (int k = 0; k < TARGETS; k++) {
            const reached *to = &c->reached[m][k];
            double *out = m == MEASURE_PRIMAL ? summary->primal[k] : summary->dual[k];
            out[0] = to->rounds;
            out[1] = to->vectors;
            out[2] = to->bytes;
            out[3] = to->seconds;
        }
}

void bda_report_free(bda_report *report)
{
    if (!report)
        return;
    series_free(&report->series);
    comparison_close(&report->comparison);
    run_list_free(&report->logs);
    free(report);
}
