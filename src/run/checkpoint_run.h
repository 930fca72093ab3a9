/* checkpoint_run.h - what the files of checkpoints share: checkpoint.c (when and what), checkpoint_write.c and
 * checkpoint_load.c. */
#ifndef RUN_CHECKPOINT_RUN_H
#define RUN_CHECKPOINT_RUN_H

#include <limits.h>
#include <pthread.h>

#include "problem/keeper.h"
#include "run/checkpoint.h"
#include "run/checkpoint_file.h"

#define CHECKPOINT_TRAITS 160 /* at most */

/* Of this rank. */
typedef struct checkpoint_names {
    char now[PATH_MAX], old[PATH_MAX], new[PATH_MAX];
} checkpoint_names;

/* What is being written. */
typedef struct checkpoint_writing {
    bool under_way, threaded;
    pthread_t thread;
    _Atomic bool done;
    bytes head;            /* as bytes; the ranks that write it */
    unsigned char *region; /* this rank's parts as they will be in the file, but for their checksums */
    uint64_t room, first, count;
    bool ok;
    bda_error error;
} checkpoint_writing;

/* What was read. */
typedef struct checkpoint_state {
    unsigned char *whole;
    uint64_t count;
    unsigned char **block; /* [local] */
    uint64_t *length;      /* [local] */
    arena memory;
    uint64_t round, method_round; /* as in its head */
    bool stopped;
} checkpoint_state;

struct checkpoint {
    keeper keeper; /* first */
    training_watch *watch;
    problem *p;
    comm *comm;
    checkpoint_names name;
    bool of_rank; /* every rank has a file of its own */
    bool damaged; /* name.now is, and so must not take the place of name.old */
    uint64_t every_rounds;
    double every_seconds; /* where every_rounds is 0 */
    uint64_t last_round;
    double last_seconds;
    checkpoint_head head; /* of the one being written; the traits are always there */
    checkpoint_trait trait[CHECKPOINT_TRAITS];
    checkpoint_writing write;
    checkpoint_state from;
    arena memory;
};

/* To the person, once. grave: something went wrong. */
void checkpoint_note(const checkpoint *c, bool grave, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The names that this rank's files have. */
bool checkpoint_name(checkpoint_names *to, const char *path, int rank, bda_error *err);

/* A walk over all that ranks have alike. */
void checkpoint_walk(archive *a, checkpoint *c, const method_state *state);

/* Copies the state, and begins to write it; `last`: waits until it is written. Collective. */
void checkpoint_take(checkpoint *c, const method_state *state, uint64_t t, bool last);
/* Has every rank written? Collective. */
bool checkpoint_is_written(checkpoint *c);
/* Waits until every rank has, and makes the file appear. Collective. */
void checkpoint_finish(checkpoint *c);

/* Looks for the state to resume from: into c->from, *found. c->head.number becomes that of the newest there is.
 * `resume`: it is wanted. Collective. */
bool checkpoint_load(checkpoint *c, bool resume, bool *found, bda_error *err);
void checkpoint_forget(checkpoint_state *from);

#endif
