/* report.c - what all methods fill into the report of a round in the same way. */
#include "problem/report.h"

#include "base/clock.h"

span span_begin(const comm *c)
{
    return (span){c, clock_now(), comm_said(c)->seconds};
}

void span_end(const span *s, round_report *report, spent kind)
{
    const double waited = comm_said(s->comm)->seconds - s->waited;
    report->spent[SPENT_MESSAGES] += waited;
    if (kind != SPENT_MESSAGES)
        report->spent[kind] += clock_now() - s->began - waited;
}

rank_view report_begin(watch *w)
{
    return (rank_view){w->seconds(w), w->interrupted(w)};
}

void report_put(rank_view view, double *to)
{
    to[0] = view.seconds;
    to[1] = view.interrupted;
}

void report_end(round_report *report, const scalars *s, int column)
{
    report->seconds = scalars_max(s, column);
    report->interrupted = scalars_max(s, column + 1) > 0;
    report->vectors_sent = comm_said(s->comm)->vectors;
    report->bytes_sent = comm_said(s->comm)->bytes;
}
