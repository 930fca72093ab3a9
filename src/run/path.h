/* path.h - trainings on the same data one after the other, as along a path of costs: each begins where those before it
 * lead. */
#ifndef RUN_PATH_H
#define RUN_PATH_H

#include "base/memory.h"
#include "data/data.h"

/* Zeroed: nothing was trained yet. */
typedef struct path {
    arena memory;
} path;

void path_close(path *p);

/* bda_train, from where the path leads. Collective. */
bda_model *path_train(path *p, bda_comm *c, const bda_data *d, const bda_settings *s, const bda_observer *observer,
                      bda_outcome *outcome, bda_error *err);

#endif
