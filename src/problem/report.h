/* report.h - what all methods fill into the report of a round in the same way: where its time went, and what its ranks
 * agree on. */
#ifndef PROBLEM_REPORT_H
#define PROBLEM_REPORT_H

#include "comm/scalars.h"
#include "problem/method.h"

/* A stretch of code whose seconds are one kind of work, but for those that it waited for messages. */
typedef struct span {
    const comm *comm;
    double began, waited;
} span;

span span_begin(const comm *c);
/* SPENT_MESSAGES: the rest is not counted. */
void span_end(const span *s, round_report *report, spent kind);

/* What the watch of this rank says, in two columns of the message that each round sends anyway: from `column` on */
typedef struct rank_view {
    double seconds, interrupted;
} rank_view;

rank_view report_begin(watch *w);
void report_put(rank_view view, double *to);
/* From the message just gathered: the latest clock, whether anybody was interrupted; and what was sent so far. */
void report_end(round_report *report, const scalars *s, int column);

#endif
