/* run.h - a training as its log tells it: settings, a row of numbers for each round, how it ended.
 *
 * Fields that a log lacks are NAN, so that logs of older versions and of methods without a dual are read alike. Events
 * and fields that are not known here are passed over.
 */
#ifndef REPORT_RUN_H
#define REPORT_RUN_H

#include "base/error.h"

/* Of a round; the names in the log are in run_columns. */
enum {
    RUN_ROUND,
    RUN_SECONDS,
    RUN_PRIMAL,
    RUN_BEST_PRIMAL,
    RUN_PLAIN_PRIMAL, /* of w where the model is a multiple of it; NAN: the model is w */
    RUN_DUAL,
    RUN_STEP,
    RUN_LINE_SEARCH_STEPS,
    RUN_EPOCHS,
    RUN_VECTORS,
    RUN_BYTES,
    RUN_LOCAL_SECONDS,
    RUN_COMM_SECONDS,
    RUN_LINE_SEARCH_SECONDS,
    RUN_EVAL_SECONDS,
    RUN_OTHER_SECONDS,
    RUN_COLUMNS
};
extern const char *const run_columns[RUN_COLUMNS];

/* What a model scored on other data while it was trained; of the start of a list in order of interest, the first that
 * a log has is drawn. */
enum { RUN_MEASURES = 13 };
extern const char *const run_measures[RUN_MEASURES];

typedef struct run_score {
    double round, seconds; /* of the training, without the scoring */
    double measure[RUN_MEASURES];
    uint64_t best; /* the place of the score of the model that would have been written then */
} run_score;

typedef struct run_setting {
    char *name, *value;
    double number; /* NAN: it is none */
} run_setting;

typedef struct run {
    char *path;
    run_setting *settings; /* [setting_count] the members of the first line in their order */
    uint64_t setting_count, setting_room;
    double *rounds; /* [round_count][RUN_COLUMNS] */
    uint64_t round_count, round_room;
    run_score *scores; /* [score_count] */
    uint64_t score_count, score_room;
    bool ended;      /* there is an end line */
    char reason[32]; /* that it gives */
    double peak_bytes;
} run;

static inline double run_at(const run *r, uint64_t t, int column)
{
    return r->rounds[t * RUN_COLUMNS + (uint64_t)column];
}

/* The first round of the log that is not before `round`, the last one where there is none. There are rounds. */
uint64_t run_round_at(const run *r, double round);
/* The measure that is drawn of the run's scores; -1: it has none. */
int run_main_measure(const run *r);

/* The setting as text or number; "" and NAN where the log does not have it. */
const char *run_text(const run *r, const char *name);
double run_number(const run *r, const char *name);

typedef struct run_list {
    run *run; /* [count] */
    uint64_t count, room;
} run_list;

/* Appends the runs of a log: one for each start line. False and a sentence where the file is no run log, or is broken.
 * `growing`: a last line without its end is left out, for it is being written. On failure the list is as it was. */
bool run_list_read(run_list *list, const char *path, bool growing, bda_error *err);
void run_list_free(run_list *list);

#endif
