/* log.c - see log.h. The first line holds what was asked for, option by option under its own name. */
#include "run/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "problem/machine.h"

struct run_log {
    output *out;
    bda_error error; /* of the first line that was lost */
};

run_log *log_open(const char *path, bda_error *err)
{
    run_log *log = calloc(1, sizeof *log);
    if (!log) {
        err_memory(err, sizeof *log, "the run log");
        return NULL;
    }
    log->out = out_open_log(path, err);
    if (!log->out) {
        free(log);
        return NULL;
    }
    return log;
}

/* What --task, --loss and the like came to is written by log_write_start itself; where and what to print is no
 * property of a run. */
static bool is_plain_option(const char *name)
{
    static const char *const others[] = {"task", "loss", "method", "cost", "intercept", "bias", "threads", "blocks",
                                         "log", "quiet", "progress", "progress-every", "max-rounds", "force",
                                         "output", "checkpoint", "checkpoint-every", "resume",
                                         /* the method's facts say what they came to */
                                         "a1", "a2", "line-search", "step", "local-epochs", "hull"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(name, others[i]) == 0)
            return false;
    return true;
}

static void write_option(json *j, const bda_settings *s, const bda_option *o)
{
    char name[64];
    size_t length = strlen(o->name);
    if (length >= sizeof name)
        return;
    for (size_t i = 0; i <= length; i++)
        name[i] = o->name[i] == '-' ? '_' : o->name[i];
    const void *field = (const char *)s + o->offset;
    switch (o->type) {
    case BDA_FLAG:
        json_count(j, name, *(const bool *)field);
        break;
    case BDA_INTEGER:
        if (*(const int64_t *)field != OPTION_UNSET)
            json_count(j, name, (uint64_t) * (const int64_t *)field);
        break;
    case BDA_REAL:
    case BDA_TIME:
        if (!isnan(*(const double *)field))
            json_real(j, name, *(const double *)field);
        break;
    case BDA_CHOICE:
    case BDA_TEXT:
        if (*(const char *)field)
            json_text(j, name, field);
        break;
    }
}

static void write_facts(json *j, const method_facts *facts)
{
    if (!isnan(facts->a1))
        json_real(j, "a1", facts->a1);
    if (!isnan(facts->a2))
        json_real(j, "a2", facts->a2);
    if (facts->line_search)
        json_text(j, "line_search", facts->line_search);
    if (facts->step_rule)
        json_text(j, "step_rule", facts->step_rule);
    if (!isnan(facts->step))
        json_real(j, "step", facts->step);
    if (facts->local_epochs > 0)
        json_count(j, "local_epochs", (uint64_t)facts->local_epochs);
    if (facts->form)
        json_text(j, "form", facts->form);
}

/* By which auto chose. */
static void write_speeds(json *j, const bda_machine *m)
{
    json_enter(j, "speeds", '{');
    for (int k = 0; k < BDA_SPEEDS; k++)
        json_real(j, bda_speed_name(k), (m ? m : &machine_usual)->speed[k]);
    json_leave(j, '{');
}

bool log_write_start(run_log *log, const log_start *start, const method_facts *facts, bda_error *err)
{
    if (!log)
        return true;
    const bda_settings *s = start->settings;
    const data *d = start->problem->data;
    json j;
    json_open(&j, log->out);
    json_text(&j, "event", "start");
    json_text(&j, "version", bda_version());
    json_text(&j, "task", s->task);
    json_text(&j, "loss", start->training->loss->name);
    json_text(&j, "method", s->method);
    json_real(&j, "cost", start->training->cost);
    json_count(&j, "ranks", (uint64_t)bda_comm_size(start->problem->comm));
    json_count(&j, "threads", (uint64_t)s->threads);
    json_count(&j, "blocks", d->blocks);
    json_count(&j, "instances", d->instances);
    json_count(&j, "features", d->features);
    json_count(&j, "nonzeros", d->nonzeros);
    json_real(&j, "load_seconds", start->load_seconds);
    json_count(&j, "load_bytes", d->bytes_read);
    json_text(&j, "data", d->name);
    json_count(&j, "weights", start->problem->n);
    if (!start->training->loss->regression)
        json_count(&j, "classes", start->problem->classes);
    const bool free = start->training->free_intercept, penalised = start->training->bias >= 0;
    json_text(&j, "intercept", free ? "free" : penalised ? "penalised" : "none");
    json_real(&j, "bias", start->training->bias);
    json_count(&j, "max_rounds", start->training->max_rounds);
    if (start->resumed)
        json_count(&j, "resumed_round", start->resumed_round);
    if (start->training->left_open) {
        json_text(&j, "choice", start->training->method->name);
        write_speeds(&j, start->training->options.machine);
    }
    write_facts(&j, facts);
    for (const bda_option *o = s->options; o->name; o++)
        if (is_plain_option(o->name))
            write_option(&j, s, o);
    json_close(&j);
    if (out_flush(log->out, &log->error))
        return true;
    if (out_reader_left(log->out)) /* it might have left a moment later just as well, so it costs no training */
        return true;
    *err = log->error;
    return false;
}

static void end_line(run_log *log, json *j)
{
    json_close(j);
    if (log->error.status == BDA_OK)
        out_flush(log->out, &log->error);
}

void log_write_round(run_log *log, const round_report *report, const bda_progress *progress, double other_seconds)
{
    if (!log)
        return;
    json j;
    json_open(&j, log->out);
    json_text(&j, "event", "round");
    json_count(&j, "round", report->round);
    json_real(&j, "seconds", report->seconds);
    json_real(&j, "primal", report->primal);
    json_real(&j, "best_primal", progress->best_primal);
    if (report->stretches)
        json_real(&j, "plain_primal", report->plain_primal);
    if (progress->has_dual) {
        json_real(&j, "dual", report->dual);
        json_real(&j, "relative_gap", progress->relative_gap);
        json_real(&j, "gap_of_start", progress->gap_of_start);
    }
    json_real(&j, "step", report->step);
    json_count(&j, "line_search_steps", report->line_search_steps);
    json_real(&j, "epochs", report->epochs);
    json_count(&j, "vectors_sent", report->vectors_sent);
    json_count(&j, "bytes_sent", report->bytes_sent);
    json_real(&j, "local_seconds", report->spent[SPENT_LOCAL]);
    json_real(&j, "comm_seconds", report->spent[SPENT_MESSAGES]);
    json_real(&j, "line_search_seconds", report->spent[SPENT_LINE_SEARCH]);
    json_real(&j, "eval_seconds", report->spent[SPENT_EVALUATION]);
    json_real(&j, "other_seconds", other_seconds);
    if (report->primal_residual > 0 || report->dual_residual > 0) {
        json_real(&j, "primal_residual", report->primal_residual);
        json_real(&j, "dual_residual", report->dual_residual);
    }
    if (report->certificate.repaired > 0)
        json_real(&j, "repaired", report->certificate.repaired);
    if (report->choice)
        json_text(&j, "choice", report->choice);
    end_line(log, &j);
}

void log_write_scores(run_log *log, uint64_t round, double seconds, const bda_metrics *scores)
{
    if (!log)
        return;
    json j;
    json_open(&j, log->out);
    json_text(&j, "event", "validate");
    json_count(&j, "round", round);
    json_real(&j, "seconds", seconds);
    const char *name;
    for (uint64_t k = 0; (name = bda_metric_name(scores, k)); k++)
        if (!isnan(bda_metric(scores, name)))
            json_real(&j, name, bda_metric(scores, name));
    end_line(log, &j);
}

const char *log_reason(bda_reason reason)
{
    static const char *const names[] = {
        [BDA_REACHED_GAP] = "gap",     [BDA_MAX_ROUNDS] = "max-rounds",   [BDA_MAX_TIME] = "max-time",
        [BDA_STALLED] = "stalled",     [BDA_INTERRUPTED] = "interrupted", [BDA_FINISHED] = "finished",
        [BDA_VALIDATED] = "validated",
    };
    return names[reason];
}

void log_write_end(run_log *log, const bda_outcome *outcome)
{
    if (!log)
        return;
    const bda_progress *last = &outcome->last;
    json j;
    json_open(&j, log->out);
    json_text(&j, "event", "end");
    json_text(&j, "reason", log_reason(outcome->reason));
    json_count(&j, "rounds", last->round);
    json_real(&j, "seconds", last->seconds);
    json_real(&j, "primal", last->best_primal);
    if (last->has_dual) {
        json_real(&j, "dual", last->dual);
        json_real(&j, "relative_gap", last->relative_gap);
        json_real(&j, "gap_of_start", last->gap_of_start);
    }
    json_count(&j, "peak_rss_bytes", outcome->peak_bytes);
    end_line(log, &j);
}

bool log_close(run_log *log, bda_error *err)
{
    if (!log)
        return true;
    bda_error error = log->error;
    bool ok = out_commit(log->out, &error) && error.status == BDA_OK;
    if (!ok)
        *err = error;
    free(log);
    return ok;
}
