/* hull.h - the primal-dual hull: what a run of it holds. The method is in hull.c. */
#ifndef DUAL_HULL_H
#define DUAL_HULL_H

#include "dual/dual.h"
#include "problem/instances.h"
#include "problem/points.h"

#define HULL_RING 4                 /* points of each kind that are kept where memory allows */
#define HULL_POINTS (2 * HULL_RING) /* local solutions, then dual images */
#define HULL_DIRECTIONS 3           /* of the primal subspace */

/* Collective. */
bool hull_train(const method *self, problem *p, const method_options *options, watch *watch, bda_error *err);

/* Is there memory for what hull keeps beside bda, on every rank? Collective. */
bool hull_fits(const problem *p);

typedef enum hull_phase {
    HULL_WARM_UP,      /* plain coordinate descent or bda (hull_plain.c) */
    HULL_TIMING,       /* all messages of the form, until their times are known */
    HULL_FULL,         /* all messages of the form */
    HULL_FEWER_IMAGES, /* momentum with an image every few rounds, as messages are slow */
} hull_phase;

/* Where the fall of the gap was judged last */
typedef struct hull_judgement {
    double gap_ratio; /* of the watch, there */
    double work;      /* since then, in passes over all cells */
} hull_judgement;

/* The warm-up */
typedef struct hull_plain {
    hull_phase next; /* what comes after it */
    double a1;       /* of hull's own rounds */
    double visited;  /* cells visited in the last round / all cells */
    double epochs;   /* of the last round */
    hull_judgement judgement;
} hull_plain;

/* Seconds of this rank in the rounds so far */
typedef struct hull_times {
    double messages, passes;
} hull_times;

/* The dual side: kept points with their images */
typedef struct hull_points {
    int ring;              /* points of each kind */
    int used[HULL_POINTS]; /* the places in use, `count` of them */
    int count;
    uint64_t solutions, images;                       /* kept so far */
    int newest_solution;                              /* its place */
    double *image[HULL_POINTS];                       /* [n] X point */
    double product[HULL_POINTS + 1][HULL_POINTS + 1]; /* of images and points together; last: alpha */
    double linear[HULL_POINTS + 1];
} hull_points;

/* The primal side: the best point with its margins, and the directions of the next step */
typedef struct hull_primal {
    instances *part;              /* [local] */
    double *best;                 /* [n]; NULL: the search for it has not begun */
    double *last_step;            /* [n]; NULL as z_step where P is not smooth: nobody asks */
    double *aim;                  /* [n] grad g*(X s) where the regulariser is not the squared norm */
    double *factor;               /* [n] diagonal of the Hessian of g; NULL: 1 */
    double **z_best;              /* [local] margins of best */
    double **z_step;              /* of the last step */
    double **z_now;               /* of w; in hull_improve_primal those of w - best */
    double **z_aim;               /* of the newest dual image less best */
    int newest_image;             /* place of the newest dual image; -1: none was made of the present best point */
    double best_value, now_value; /* P(best), P(w) */
    bool smooth;                  /* P is differentiable, and g quadratic */
    bool stepped;                 /* there is a last step */
    double stretch;               /* by how much the last search along best made it longer */
    uint32_t rounds_since_length; /* rounds since that search */
    uint32_t length_patience;     /* rounds from one such search to the next */
} hull_primal;

typedef struct hull_momentum {
    double *v_before;     /* [n] v of the round before */
    double *v_ahead;      /* [n] v at the extrapolated point y */
    double **advanced;    /* [local] where the local solver starts, less alpha */
    double **w_block;     /* [local][n] gradients of the blocks' models at alpha */
    double *block_norms2; /* [local] |dv_k|^2 */
    double t;             /* of the sequence of accelerated gradient methods */
    double a1;            /* measured overlap, smoothed */
    bool moved;           /* v_before and the kept alpha are those of a round before */
} hull_momentum;

/* Which vectors a round sends; for the one-vector form by the last relative gains */
typedef struct hull_turn {
    double solution_gain, image_gain;
    int since_image;                /* rounds */
    bool with_solution, with_image; /* in this round */
} hull_turn;

typedef struct hull_run {
    dual_run d;
    hull_form form;
    hull_phase phase;
    int64_t asked_epochs;
    double epoch_cell_share; /* cells visited by an epoch of the last round / all cells */
    hull_plain plain;
    hull_times times;
    hull_points points;
    hull_primal primal;
    hull_momentum momentum;
    hull_turn turn;
    double **slopes; /* [local] s(best) */
    double *scratch; /* [n] where g* is not quadratic */
} hull_run;

/* The columns first .. end - 1 that the k-th block of this rank adds up: the work is shared out, and its order fixed.
 */
void hull_columns(const hull_run *r, uint64_t k, uint64_t *first, uint64_t *end);

/* Moves alpha and v to the least value of f over the hull, from the weight `start` of the point `newest_solution`
 * (-1: none), where f is no larger than at alpha. Returns the decrease of f. Collective. */
double hull_minimise(hull_run *r, int newest_solution, double start);

/* The products of changed points (HULL_POINTS: alpha) with all others, into product and linear of the points. Collective. */
void hull_products(hull_run *r, int changed, const int *which);

/* Plain rounds from *t on, until hull promises more: then *t is the round that was reported last. `resumed`: round *t
 * has been reported in another run. Collective. */
bool hull_plain_rounds(hull_run *r, uint64_t *t, bool resumed, bool *stop, bda_error *err);
/* How many passes over all, with several models rounds, may be left of them before that. */
double hull_plain_patience(const dual_run *d);

/* What it is at, for the log. */
const char *hull_choice(const hull_run *r);

/* Memory for the points, so many of each kind. Collective. */
bool hull_take_points(hull_run *r, int ring, bda_error *err);

/* The state of a run after a round was reported (hull_state.c): where the run goes on from one, true, and *t and *stop
 * become those of the round. Otherwise it may be kept, and `stop` is returned. Collective. */
bool hull_resume(hull_run *r, uint64_t *t, bool *stop);
bool hull_keep(hull_run *r, uint64_t t, bool stop);

/* The search for the best point, from the next evaluation on. Collective. */
bool hull_begin_primal(hull_run *r, bda_error *err);

/* The margins of w, P(w) and f(alpha). Collective. */
bool hull_evaluate(hull_run *r, bda_error *err);

/* Round t with the best point as its model, and the epochs of the next; true: stop. Collective. */
bool hull_report(hull_run *r, uint64_t t);
/* dual_recentre, with all that was built on v. */
void hull_recentre(hull_run *r);

/* Improves the best point from the margins of w, z_now; P(best) never rises. Collective. */
void hull_improve_primal(hull_run *r);

#endif
