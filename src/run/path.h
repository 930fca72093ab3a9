/* path.h - trainings on the same data one after the other, as along a path of increasing costs: each begins where the last
 * two lead.
 *
 * Where an instance has had alpha_1 at the cost C_1 and alpha_2 at C_2, it is expected to go on in the same proportion
 * for equal steps of log C, but by no more than C itself: small costs have alpha proportional to C, and large ones have
 * left most instances where they are. */
#ifndef RUN_PATH_H
#define RUN_PATH_H

#include "problem/block.h"
#include "run/settings.h"

/* Zeroed: nothing was trained yet. */
typedef struct path {
    uint64_t rows, outputs, known; /* points */
    double *alpha[2];              /* [known][rows] of the last training, and of the one before */
    double cost[2], l1_ratio;
    double *guess;     /* [rows] */
    double *intercept; /* [outputs] */
    dual_point point;
    double next_cost, next_ratio; /* of the training under way */
    arena memory;
} path;

void path_close(path *p);

/* bda_train, from where the path leads; `p` may be NULL. Collective. */
bda_model *path_train(path *p, bda_comm *c, const bda_data *d, const bda_settings *s, const bda_observer *observer,
                      bda_outcome *outcome, bda_error *err);

/* Parts of that. Where this training begins; NULL: at 0. Collective. */
const dual_point *path_point(path *p, const problem *of, const training *t);
/* The point that it ended with; blocks NULL: it has none. Then its weights [n]. Local. */
void path_keep(path *p, const problem *of, struct block *const *blocks);
void path_keep_intercept(path *p, const problem *of, const double *w);

#endif
