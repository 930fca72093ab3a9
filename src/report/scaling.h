/* scaling.h - runs that differ in nothing but how many workers or blocks there are: speed-ups, and what the time would
 * be on other machines. */
#ifndef REPORT_SCALING_H
#define REPORT_SCALING_H

#include "report/compare.h"

#define SERIES_POINTS 32

enum { SERIES_WORKERS, SERIES_BLOCKS };

/* At least two runs of one problem and method, by ranks times threads or by blocks, increasing. Of several with the same
 * number the one that took the least time. */
typedef struct series {
    int by; /* SERIES_WORKERS: with equal blocks, or as many blocks as workers */
    char label[200];
    uint64_t points;
    uint64_t run[SERIES_POINTS]; /* places in the comparison */
    double x[SERIES_POINTS];
} series;

typedef struct series_list {
    series *series; /* [count] */
    uint64_t count, room;
} series_list;

bool series_find(series_list *list, const comparison *c, bda_error *err);
void series_free(series_list *list);

/* How many times faster point i reaches target k than the first point does; `loading`: with the time to load the data.
 * NAN where one of them does not. */
double series_speedup(const series *s, const comparison *c, int measure, bool loading, int k, uint64_t i);

/* What messages cost between machines. */
typedef struct network {
    double bandwidth; /* bytes a second */
    double latency;   /* seconds */
} network;

/* "10Gbit,50us"; false and a sentence where it is not of that form. */
bool network_parse(network *net, const char *text, bda_error *err);

/* Seconds of a run to its round t on `machines`, at most its blocks, each like one worker of the run:
 *
 *     (all but messages) workers / machines + messages
 *
 * with vectors summed by halving and doubling, 2 ceil(log2 M) latency + 2 (M-1)/M 8n / bandwidth each, and short
 * messages, two a round and one for each trial of the line search, whose work is divided like all other work. NAN where
 * the log does not say enough. */
double network_project(const network *net, const compared *c, uint64_t t, double machines);
/* To target k, from the first round that reached it. */
double network_project_to(const network *net, const compared *c, int measure, int k, double machines);

#endif
