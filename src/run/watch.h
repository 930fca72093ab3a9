/* watch.h - looks on while a method trains: logs each round, keeps the best model, decides when to stop.
 *
 * The gap of round t is that of the best model so far:  best_primal + dual(t). It is computed from the method's gap,
 * which knows no cancellation, as  gap(t) - (primal(t) - best_primal),  and is relative to the gap of round 0.
 * Training stops once it is at most `target`; by max_rounds or max_time; when somebody interrupts; when the method
 * can make no progress or has done all it does; or when the objective is no number, which is an error. A method
 * without a dual has no gap, and `target` is not looked at; nor does it minimise the primal, so its last model is its
 * best. */
#ifndef RUN_WATCH_H
#define RUN_WATCH_H

#include "problem/method.h"
#include "run/log.h"

typedef struct training_watch {
    watch watch; /* first: what methods see */

    /* What stops it */
    double target;
    bool target_given; /* somebody asked for it */
    uint64_t max_rounds;
    double max_time;              /* NAN: none */
    const bda_observer *observer; /* or NULL */
    run_log *log;                 /* or NULL */
    double started;               /* when the training began, by clock_now */

    uint64_t vectors_before, bytes_before; /* sent by the communicator before this training */

    /* What it has seen */
    double first_gap;
    bda_progress now; /* of the last round; best_primal is that of best_w */
    double *best_w;   /* [n] */
    uint64_t n;
    bda_reason reason;
    bda_error error;
} training_watch;

/* The rounds begin. best_w: [n], the caller's. */
void watch_start(training_watch *w, double *best_w, uint64_t n);

/* Was all done that was asked for? See bda_outcome. */
bool watch_complete(const training_watch *w);

#endif
