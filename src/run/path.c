/* path.c - see path.h. */
#include "run/path.h"

void path_close(path *p)
{
    arena_free(&p->memory);
}

bda_model *path_train(path *p, bda_comm *c, const bda_data *d, const bda_settings *s, const bda_observer *observer,
                      bda_outcome *outcome, bda_error *err)
{
    (void)p;
    return bda_train(c, d, s, observer, outcome, err);
}
