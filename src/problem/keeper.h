/* keeper.h - who keeps the state of a run, so that another run can go on from it (run/checkpoint.c).
 *
 * A method names what it holds in two walks (base/archive.h): what all ranks have alike, and what belongs to a block.
 * Both are taken after a round was reported, and a run that goes on begins there. A walk that loads is the same on all
 * ranks up to the blocks, so it may take memory on the way and agree on it. */
#ifndef PROBLEM_KEEPER_H
#define PROBLEM_KEEPER_H

#include "base/archive.h"

typedef struct method_state {
    void *run;
    void (*whole)(archive *a, void *run);
    void (*block)(archive *a, void *run, uint64_t k); /* the k-th block of this rank; NULL: blocks hold nothing */
} method_state;

typedef struct keeper keeper;
struct keeper {
    bool resuming; /* the run goes on from a state that was kept, until resume() has taken all of it */
    archive whole; /* of it, what is left to be read of the first walk */
    /* The state of a method that is open; *t: its own number of the round. True: stop. Collective. */
    bool (*resume)(keeper *self, const method_state *state, uint64_t *t);
    /* After round t of the method was reported; `stop`: it is the last. Collective. */
    void (*keep)(keeper *self, const method_state *state, uint64_t t, bool stop);
};

#endif
