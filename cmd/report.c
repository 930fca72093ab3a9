/* report.c - `bda report`: a page of figures and tables from run logs; with --follow again and again, while they grow. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "cmd.h"

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
    (void)number;
    stopped = 1;
}

/* The page once. False: an error. `open`: runs that have not ended. */
static bool write_once(const invocation *v, size_t *runs, size_t *open, bda_error *err)
{
    bda_report *report = bda_report_read(v->argument, (size_t)v->arguments, v->settings, err);
    bool ok = report && bda_report_write(report, bda_get(v->settings, "output"), err);
    *runs = ok ? bda_report_runs(report) : 0;
    *open = 0;
    for (size_t i = 0; i < *runs; i++) {
        bda_run_summary run;
        bda_report_run(report, i, &run);
        *open += !run.reason;
    }
    bda_report_free(report);
    return ok;
}

static long long size_of_logs(const invocation *v)
{
    long long size = 0;
    for (int i = 0; i < v->arguments; i++) {
        struct stat there;
        if (stat(v->argument[i], &there) == 0)
            size += there.st_size;
    }
    return size;
}

/* A signal ends it at once: the page is there. */
static bool follow(const invocation *v, size_t *runs, size_t *open, bda_error *err)
{
    static const struct timespec pause = {.tv_sec = 1};
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (!is_set(v, "quiet"))
        say(v, "following %d log%s; Ctrl-C ends it", v->arguments, v->arguments == 1 ? "" : "s");
    for (long long before = -1; !stopped;) {
        const long long now = size_of_logs(v);
        if (now != before && !write_once(v, runs, open, err))
            return false;
        before = now;
        if (*runs > 0 && *open == 0)
            break;
        nanosleep(&pause, NULL);
    }
    return true;
}

static bool make_report(const invocation *v, bda_error *err)
{
    size_t runs = 0, open = 0;
    const bool ok = is_set(v, "follow") ? follow(v, &runs, &open, err) : write_once(v, &runs, &open, err);
    if (!ok || is_set(v, "quiet"))
        return ok;
    char unfinished[80] = "";
    if (open)
        snprintf(unfinished, sizeof unfinished, ", %zu of them without an end", open);
    say(v, "%zu run%s%s written to %s", runs, runs == 1 ? "" : "s", unfinished, bda_get(v->settings, "output"));
    return true;
}

static int run_report(invocation *v)
{
    bda_error err = {0};
    const bda_output output[] = {{bda_get(v->settings, "output"), BDA_FILE_PAGE},
                                 {bda_get(v->settings, "csv"), BDA_FILE_CSV}};
    const bool ok = can_write(v, output, 2, v->argument, v->arguments, &err) &&
                    bda_comm_agree(v->comm, !v->first || make_report(v, &err), &err);
    return ok ? EXIT_DONE : fail(v, &err);
}

const command report_command = {
    .name = "report",
    .arguments = "LOG...",
    .summary = "figures and tables of run logs, on one page of HTML",
    .more =
        "LOG is what `bda train --log=LOG' writes. Runs that solve the same problem are compared: how far they are "
        "from the optimum over seconds, rounds, vectors and bytes, their gaps and step sizes, where the time "
        "went, what more ranks and blocks change. The page needs no network and no other file.",
    .examples = {"bda report run.log", "bda report -o compared.html bda.log disdca.log",
                 "bda report --follow run.log"},
    .least = 1,
    .most = 100000,
    .run = run_report,
};
