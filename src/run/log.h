/* log.h - the run log: one JSON object a line, flushed line by line so that it can be followed while it grows.
 *
 * Only rank 0 has one; elsewhere, and where nobody asked for a log, it is NULL, which every function accepts. */
#ifndef RUN_LOG_H
#define RUN_LOG_H

#include "base/output.h"
#include "problem/problem.h"
#include "run/settings.h"

typedef struct run_log run_log;

/* Local. NULL and a sentence if the file cannot be written. */
run_log *log_open(const char *path, bda_error *err);

typedef struct log_start {
    const bda_settings *settings;
    const training *training;
    const problem *problem;
    double load_seconds; /* of the slowest rank */
    bool resumed;        /* the run goes on from the state after this round: */
    uint64_t resumed_round;
} log_start;

/* False and a sentence if it cannot be written; a pipe whose reader has left is told by log_close instead. */
bool log_write_start(run_log *log, const log_start *start, const method_facts *facts, bda_error *err);

/* A line that cannot be written is remembered, and told by log_close. */
void log_write_round(run_log *log, const round_report *report, const bda_progress *progress, double other_seconds);
/* What the model of a round scores on other data. */
void log_write_scores(run_log *log, uint64_t round, double seconds, const bda_metrics *scores);
void log_write_end(run_log *log, const bda_outcome *outcome);

const char *log_reason(bda_reason reason); /* "gap", "max-rounds", ... */

/* Frees the log; false and a sentence if some line was lost. */
bool log_close(run_log *log, bda_error *err);

#endif
