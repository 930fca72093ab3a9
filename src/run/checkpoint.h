/* checkpoint.h - --checkpoint and --resume: keeps the state of a training from time to time, and goes on from it.
 *
 * A state is copied after a round was reported and written while the next rounds go on; each rank writes what is its
 * own. FILE then becomes FILE.old, and FILE.new becomes FILE; so there is always one that is whole. */
#ifndef RUN_CHECKPOINT_H
#define RUN_CHECKPOINT_H

#include "problem/stage.h"
#include "run/watch.h"

typedef struct checkpoint checkpoint;

/* *kept: NULL where the settings want none. Reads the state that the run is to go on from, if there is one; the watch has
 * been started, and knows who keeps the state from here on. Collective; false and a sentence on all ranks. */
bool checkpoint_open(checkpoint **kept, training_watch *w, const plan *plan, bda_error *err);
/* Waits for what is being written. Accepts NULL. Collective. */
void checkpoint_close(checkpoint *c);

/* K of the checkpoint that the settings want to resume from, where they do not say how many blocks there are; 0: there is
 * none. Collective. */
uint64_t checkpoint_blocks(comm *c, const bda_settings *s);

#endif
