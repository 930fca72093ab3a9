/* bench.h - what the files of `bda bench` share. */
#ifndef BENCH_H
#define BENCH_H

#include <stdio.h>

#include "cmd.h"

#define BENCH_WORDS 64 /* of a command line */

/* A training to be made. */
typedef struct bench_run {
    char *name;              /* "hinge-c1-bda-k8-r1-t1": of its files in the folder */
    char *word[BENCH_WORDS]; /* of `bda train`, NULL-terminated; the data is the last */
    int words;
    int ranks;
    double most_seconds; /* NAN: not known */
    bool reference;      /* made only where the others leave the optimum uncertain */
} bench_run;

typedef struct bench_plan {
    bench_run *run; /* [count] */
    int count, room;
} bench_plan;

/* All combinations of the lists. False and a sentence where a list is not one. */
bool bench_plan_make(bench_plan *plan, const invocation *v, bda_error *err);
void bench_plan_free(bench_plan *plan);

/* A path in the folder, to be freed; exits where there is no memory. */
char *bench_path(const invocation *v, const char *name, const char *ending);

typedef enum bench_result { BENCH_DONE, BENCH_KNOWN, BENCH_FAILED, BENCH_STOPPED } bench_result;

/* Makes a run, unless its log is there, whole, and of the same command. `why`: the sentence of one that failed. */
bench_result bench_make(const invocation *v, const bench_run *run, char *why, size_t size);

/* The table of all runs that have logs, on `to`. */
void bench_print_table(FILE *to, const bda_report *report);

#endif
