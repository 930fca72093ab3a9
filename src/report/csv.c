/* csv.c - the rounds of all runs as comma-separated values, for other programs. Numbers have 17 digits; what a log does
 * not have is empty. */
#include <math.h>
#include <string.h>

#include "base/output.h"
#include "report/page.h"

/* Quoted where it has to be. */
static void write_text(output *out, const char *text)
{
    if (!strpbrk(text, ",\"\n\r")) {
        out_printf(out, "%s", text);
        return;
    }
    out_printf(out, "\"");
    for (; *text; text++)
        out_printf(out, *text == '"' ? "\"\"" : "%c", *text);
    out_printf(out, "\"");
}

static void write_number(output *out, double x)
{
    if (isnan(x))
        out_printf(out, ",");
    else
        out_printf(out, ",%.17g", x);
}

bool csv_write(const report_view *v, const char *path, bda_error *err)
{
    output *out = out_open(path, err);
    if (!out)
        return false;
    out_printf(out, "problem,run,method,log");
    for (int k = 0; k < RUN_COLUMNS; k++)
        out_printf(out, ",%s", run_columns[k]);
    out_printf(out, ",optimum,primal_distance,dual_distance,gap\n");
    for (uint64_t i = 0; i < v->comparison->runs; i++) {
        const compared *c = &v->comparison->run[i];
        const compared_problem *p = &v->comparison->problem[c->problem];
        for (uint64_t t = 0; t < c->run->round_count; t++) {
            write_text(out, p->title);
            out_printf(out, ",");
            write_text(out, c->label);
            out_printf(out, ",");
            write_text(out, run_text(c->run, "method"));
            out_printf(out, ",");
            write_text(out, c->run->path);
            for (int k = 0; k < RUN_COLUMNS; k++)
                write_number(out, run_at(c->run, t, k));
            write_number(out, p->optimum);
            write_number(out, compare_primal(p, c->run, t));
            write_number(out, compare_dual(p, c->run, t));
            write_number(out, compare_gap(c->run, t));
            out_printf(out, "\n");
        }
    }
    return out_commit(out, err);
}
