/* watch.h - looks on while a method trains: logs each round, keeps the best model, decides when to stop.
 *
 * The gap of round t is that of the best model so far:  best_primal + dual(t). It is computed from the method's gap,
 * which knows no cancellation, as  gap(t) - (primal(t) - best_primal),  and is told over best_primal (relative_gap) and
 * over the gap of round 0 (gap_of_start). Training stops once the first, or the second where of_start is set, is at
 * most `target`; by max_rounds or max_time; when somebody interrupts; when the method can make no progress or has done
 * all it does; or when the objective is no number, which is an error. A method without a dual has no gap, and `target`
 * is not looked at; nor does it minimise the primal, so its last model is its best. */
#ifndef RUN_WATCH_H
#define RUN_WATCH_H

#include "base/archive.h"
#include "problem/method.h"
#include "run/log.h"

/* What stops a training */
typedef struct watch_limits {
    double target;     /* gap, as a part of the objective */
    bool of_start;     /* ... of the first gap instead */
    bool target_given; /* somebody asked for it */
    uint64_t max_rounds;
    double max_time; /* seconds since it began or was resumed; NAN: no limit */
} watch_limits;

typedef struct training_watch {
    watch watch; /* first: what methods see */

    watch_limits limits;
    double resumed_seconds;       /* clock where the training was resumed; 0: it was not */
    const bda_observer *observer; /* or NULL */
    run_log *log;                 /* or NULL */
    double started;               /* when the training began, by clock_now; later by what was no training since */

    struct { /* sent by the communicator before this training, or aside from it */
        uint64_t vectors_before, bytes_before;
    };

    comm *ranks;                   /* that train */
    const data *data;              /* NULL: nobody looks whether pages of it are lost */
    comm *comm;                    /* whose rank 0 writes the log; NULL: nobody does */
    log_start start;               /* its first line, written when the method has said what it makes of its options */
    struct path *path;             /* gets the dual point of the last round; or NULL */
    struct validation *validation; /* or NULL: scores the model of a round on other data */

    /* What it has seen */
    bool begun; /* best_w and now.best_primal are those of weights that the training begins at */
    double first_gap;
    double told_seconds; /* of all parts of the rounds so far */
    bda_progress now;    /* of the last round; best_primal is that of best_w */
    double repaired;     /* the largest of the reports */
    double *best_w;      /* [n] */
    uint64_t n;
    struct {
        bool finished, stalled; /* the last report said so */
        bool shared;            /* in some round */
        bool lost;              /* data have gone in the last round: nothing of it is worth keeping */
    };
    bda_reason reason;
    bda_error error;
} training_watch;

/* The rounds begin. best_w: [n], the caller's. */
void watch_start(training_watch *w, double *best_w, uint64_t n);
/* They begin at these weights [n], which are the best model until there is a better one. */
void watch_start_at(training_watch *w, const double *weights, double primal);

/* What it has seen, by one walk (base/archive.h); loading, clock and counts of messages go on from there. `last`: the run
 * had ended. watch_resume then writes the first line of the log; true: there is still nothing more to do. Collective. */
void watch_archive(archive *a, training_watch *w);
bool watch_resume(training_watch *w, bool last);

/* Was all done that was asked for? See bda_outcome. */
bool watch_complete(const training_watch *w);

#endif
