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

/* Has the gap fallen slowly? Judged after enough work, from `then` on. */
typedef struct hull_judgement {
    double then; /* to_go */
    double work;
} hull_judgement;

/* The rounds before those of hull (hull_plain.c) */
typedef struct hull_plain {
    bool on;        /* it is still at them */
    double a1;      /* of hull's own rounds */
    double visited; /* of the round before, in epochs that visit all */
    double epochs;  /* of the round before */
    hull_judgement judgement;
} hull_plain;

typedef struct hull_run {
    dual_run d;
    hull_form form;
    int64_t asked_epochs;
    double an_epoch; /* cells that one of the last round visited, against all */
    bool choosing;   /* whether messages are slow, by measured times */
    bool sparing;    /* momentum with fewer images */
    hull_plain plain;
    double message_seconds, pass_seconds; /* of this rank, in the rounds so far */

    /* The dual side: points with their images */
    int ring;               /* points of each kind */
    int point[HULL_POINTS]; /* those in use, `points` of them */
    int points;
    uint64_t kept_solutions, kept_images;             /* so far */
    double *image[HULL_POINTS];                       /* [n] X point */
    double product[HULL_POINTS + 1][HULL_POINTS + 1]; /* of images and points together; last: alpha */
    double linear[HULL_POINTS + 1];
    double *scratch; /* [n] where g* is not quadratic */

    /* The primal side: the best point, its margins, the last step, and the directions of the next */
    instances *part;   /* [local] */
    double *best;      /* [n]; NULL: the search for it has not begun */
    double *last_step; /* [n]; NULL as z_step where P is not smooth: nobody asks */
    double *aim;       /* [n] grad g*(X s) where the regulariser is not the squared norm */
    double *factor;    /* [n] diagonal of the Hessian of g; NULL: 1 */
    double **z_best;   /* [local] margins of best */
    double **z_step;   /* of the last step */
    double **z_now;    /* of w */
    double **z_aim;    /* of the newest dual image */
    double **slopes;   /* [local] s(best) */
    int newest_solution;
    int newest; /* the newest dual image, -1: none of the best point as it is */
    double best_primal, now_primal;
    bool smooth;                                   /* P is differentiable, and g quadratic */
    bool stepped;                                  /* there is a last step */
    double stretch;                                /* by what the last search along best made it longer */
    uint32_t rounds_since_length, length_patience; /* rounds since that search, and from one to the next */

    /* Momentum */
    double *v_before;  /* [n] v of the round before */
    double *v_ahead;   /* [n] v at y */
    double **advanced; /* [local] where the local solver starts, less alpha */
    double **start;    /* [local][n] gradients of the blocks' models at alpha */
    double *apart;     /* [local] |dv_k|^2 */
    double t_now;      /* of the sequence of accelerated gradient methods */
    double a1;         /* smoothed */
    bool moved;        /* v_before and the kept alpha are those of a round before */

    /* Whose turn it is in the one-vector form: the last relative gains */
    double solution_gain, image_gain;
    int since_image;
    bool with_solution, with_image; /* this round */
} hull_run;

/* The columns first .. end - 1 that the k-th block of this rank adds up: the work is shared out, and its order fixed.
 */
void hull_columns(const hull_run *r, uint64_t k, uint64_t *first, uint64_t *end);

/* Moves alpha and v to the least value of f over the hull, from the weight `start` of the point `newest_solution`
 * (-1: none), where f is no larger than at alpha. Returns the decrease of f. Collective. */
double hull_minimise(hull_run *r, int newest_solution, double start);

/* The products of changed points (HULL_POINTS: alpha) with all others, into r->product and r->linear. Collective. */
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

/* The search for the best point, from the next look on: r->best. Collective. */
bool hull_begin_primal(hull_run *r, bda_error *err);

/* The margins of w, P(w) and f(alpha). Collective. */
bool hull_evaluate(hull_run *r, bda_error *err);

/* Round t with the best point as its model, and the epochs of the next; true: stop. Collective. */
bool hull_report(hull_run *r, uint64_t t);
/* dual_recentre, with all that was built on v. */
void hull_recentre(hull_run *r);

/* Improves r->best from the margins of w, z_now; r->best_primal never rises. Collective. */
void hull_improve_primal(hull_run *r);

#endif
