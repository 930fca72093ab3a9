/* bench.c - `bda bench`: methods side by side on the same data, each run alone; what is finished is not repeated.
 *
 * SIGINT and SIGTERM reach the run as well; it ends, and the comparison with it. What was made is kept. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "bench.h"

#define CERTAIN 1e-7 /* of the optimum: then 1e-6 is told with certainty */

/* ---- --calibrate ---------------------------------------------------------------------------------------------------- */

static void print_machine(FILE *to, const invocation *v, const bda_machine *m)
{
    const int ranks = bda_comm_size(v->comm);
    fprintf(to, "# measured on %d rank%s\n", ranks, ranks == 1 ? "" : "s");
    for (int k = 0; k < BDA_SPEEDS; k++)
        fprintf(to, "%s\t%.4g\n", bda_speed_name(k), m->speed[k]);
}

static int calibrate(const invocation *v)
{
    bda_error err = {0};
    bda_machine machine;
    if (!bda_calibrate(v->comm, &machine, &err))
        return fail(v, &err);
    if (v->first)
        print_machine(stdout, v, &machine);
    return EXIT_DONE;
}

/* ---- the runs ------------------------------------------------------------------------------------------------------- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What the runs so far took each, or what they may take at most. */
static void describe_left(char *text, size_t size, double spent, int made, double most, int left)
{
    double each = made ? spent / made : most;
    if (!isnan(most))
        each = fmin(each, most);
    const double seconds = each * left;
    text[0] = 0;
    if (left > 0 && !isnan(seconds))
        snprintf(text, size, seconds < 100 ? "; about %.0f s left" : "; about %.0f min left",
                 seconds < 100 ? seconds : seconds / 60);
}

/* The report of all logs so far; NULL and a sentence: there is none. */
static bda_report *read_logs(const invocation *v, const bench_plan *plan, const bool *made, bda_error *err)
{
    bda_report *report = NULL;
    bda_settings *settings = bda_settings_new("report", err);
    const char **logs = calloc((size_t)plan->count + 1, sizeof *logs), *optimum = bda_get(v->settings, "optimum");
    size_t count = 0;
    for (int i = 0; logs && i < plan->count; i++)
        if (made[i])
            logs[count++] = bench_path(v, plan->run[i].name, ".log");
    if (settings && logs && (!optimum[0] || bda_set(settings, "optimum", optimum, err)))
        report = bda_report_read(logs, count, settings, err);
    for (size_t i = 0; i < count; i++)
        free((char *)logs[i]);
    free(logs);
    bda_settings_free(settings);
    return report;
}

/* Is the optimum of the problem of run i known well enough? */
static bool is_certain(const invocation *v, const bench_plan *plan, const bool *made, int i)
{
    bda_error err = {0};
    bool *of_problem = calloc((size_t)plan->count, sizeof *of_problem);
    for (int k = i - 1; of_problem && k >= 0 && !plan->run[k].reference; k--)
        of_problem[k] = made[k];
    bda_report *report = of_problem ? read_logs(v, plan, of_problem, &err) : NULL;
    bool certain = false;
    for (size_t k = 0; report && k < bda_report_runs(report); k++) {
        bda_run_summary run;
        bda_report_run(report, k, &run);
        certain = run.uncertainty <= CERTAIN;
    }
    bda_report_free(report);
    free(of_problem);
    return certain;
}

/* What happened to a run, in the words of a line. */
static void tell(const invocation *v, const bench_plan *plan, int i, bench_result result, const char *why,
                 const char *left)
{
    static const char *const words[] = {"done", "done before", "FAILED", "stopped"};
    if (!is_set(v, "quiet") || result == BENCH_FAILED)
        say(v, "%d of %d: %s: %s%s%s%s", i + 1, plan->count, plan->run[i].name, words[result], why[0] ? ": " : "",
            why, left);
}

/* made: [count] those that have a log. False: stopped. */
static bool make_all(const invocation *v, const bench_plan *plan, bool *made, char (*why)[400])
{
    double spent = 0;
    int started = 0;
    for (int i = 0; i < plan->count; i++) {
        const bench_run *run = &plan->run[i];
        if (run->reference && is_certain(v, plan, made, i))
            continue;
        const double begin = now();
        const bench_result result = bench_make(v, run, why[i], sizeof why[i]);
        made[i] = result == BENCH_DONE || result == BENCH_KNOWN;
        if (result == BENCH_DONE) {
            spent += now() - begin;
            started++;
        }
        char left[60];
        describe_left(left, sizeof left, spent, started, run->most_seconds, plan->count - i - 1);
        tell(v, plan, i, result, why[i], left);
        if (result == BENCH_STOPPED)
            return false;
    }
    return true;
}

static bool write_table(const invocation *v, const bench_plan *plan, const bda_report *report, char (*why)[400],
                        bda_error *err)
{
    char *path = bench_path(v, "table", ".txt");
    FILE *file = fopen(path, "w");
    FILE *const to[] = {stdout, file};
    for (int k = 0; file && k < 2; k++) {
        bench_print_table(to[k], report);
        for (int i = 0; i < plan->count; i++)
            if (why[i][0])
                fprintf(to[k], "failed: %s: %s\n", plan->run[i].name, why[i]);
    }
    const bool ok = file && fclose(file) == 0;
    if (!ok) {
        err->status = BDA_FAILED;
        snprintf(err->text, sizeof err->text, "cannot write '%.400s': %s", path, strerror(errno));
    }
    free(path);
    return ok;
}

static bool conclude(const invocation *v, const bench_plan *plan, const bool *made, char (*why)[400], bda_error *err)
{
    char *page = bench_path(v, "report", ".html");
    bda_report *report = read_logs(v, plan, made, err);
    const bool ok = report && bda_report_write(report, page, err) && write_table(v, plan, report, why, err);
    fflush(stdout); /* the table stands before the line about the report also where both go to one file */
    if (ok && !is_set(v, "quiet"))
        say(v, "the report is %s", page);
    bda_report_free(report);
    free(page);
    return ok;
}

static bool make_folder(const invocation *v, bda_error *err)
{
    const char *path = bda_get(v->settings, "output");
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return true;
    err->status = BDA_FAILED;
    snprintf(err->text, sizeof err->text, "cannot make the directory '%.400s': %s", path, strerror(errno));
    return false;
}

/* With nothing made there is no report, but the table says why. */
static int compare(const invocation *v, const bench_plan *plan, bda_error *err)
{
    bool *made = calloc((size_t)plan->count + 1, sizeof *made), any = false;
    char(*why)[400] = calloc((size_t)plan->count + 1, sizeof *why);
    if (!made || !why)
        exit(EXIT_FAILED);
    const bool whole = make_all(v, plan, made, why);
    for (int i = 0; i < plan->count; i++)
        any = any || made[i];
    int status = whole ? EXIT_DONE : 130;
    if (!any && whole)
        say(v, "no run finished");
    if (any ? !conclude(v, plan, made, why, err) : whole)
        status = EXIT_FAILED;
    free(made);
    free(why);
    return status;
}

static int bench(invocation *v)
{
    bda_error err = {0};
    bench_plan plan;
    if (is_set(v, "calibrate"))
        return calibrate(v);
    if (!v->argument[0]) {
        say(v, "expected DATA");
        return EXIT_USAGE;
    }
    if (bda_comm_size(v->comm) > 1) {
        say(v, "starts ranks by itself, as --ranks says, and must not be started by a launcher");
        return EXIT_USAGE;
    }
    if (!bench_plan_make(&plan, v, &err) || !make_folder(v, &err))
        return fail(v, &err);
    int status = compare(v, &plan, &err);
    bench_plan_free(&plan);
    return err.status == BDA_OK ? status : fail(v, &err);
}

const command bench_command = {
    .name = "bench",
    .arguments = "DATA",
    .summary = "compare methods on the same data, and write a report",
    .more =
        "Every combination of the lists is trained, one run after the other. Logs, a table (table.txt) and the "
        "report (report.html) go to the folder of --output; a run that ended there with the same command line is "
        "not made again, and one that fails is a line of the table. Where the runs leave the optimum uncertain, one "
        "more finds it.",
    .examples = {"bda bench --methods=bda,disdca,hull data.svm", "bda bench --ranks=1,2,4 --gap=1e-6 data.bda",
                 "bda bench --calibrate"},
    .least = 0,
    .most = 1,
    .run = bench,
};
