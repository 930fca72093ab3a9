/* dual.h - the paper: one outer loop for all presets. */
#ifndef DUAL_DUAL_H
#define DUAL_DUAL_H

#include "comm/scalars.h"
#include "dual/presets.h"
#include "problem/block.h"
#include "problem/intercept.h"
#include "problem/report.h"
#include "problem/stage.h"

/* Algorithm 2. Collective. */
bool dual_train(const method *self, problem *p, const method_options *options, watch *watch, bda_error *err);

#define DUAL_NO_MEMORY "out of memory for dual variables; more ranks on more machines would help"

/* The quadratic model that each block minimises: B = a1 blockdiag(X_k'H X_k) + a2 I */
typedef struct dual_model {
    uint64_t count; /* blocks of B: K, or fewer where blocks share a u */
    double a1, a2;
    bool adaptive_a1; /* a1 is the dual_overlap of the round before */
    bool separate;    /* B is diagonal: each instance is a block of its own */
    double *h;        /* [n] diagonal of H, the Hessian of g* at v; NULL: H is the identity */
} dual_model;

/* How thoroughly: visits of the local data between two rounds */
typedef struct dual_epochs {
    int64_t count;          /* epochs of the next round */
    int64_t learning;       /* of structures, as in a subproblem */
    bool settled_outputs;   /* likewise */
    bool adaptive;          /* `count` is chosen each round from the observed decrease of the gap */
    pace pace;              /* of the gap, by epochs */
    double eval_cell_share; /* cells read by the last evaluation / all cells */
} dual_epochs;

/* How far to go along the direction */
typedef struct dual_search {
    line_search kind;
    double fixed_step;          /* of SEARCH_NONE */
    double tau, beta;           /* of the Armijo rule */
    double trial[BLOCK_TRIALS]; /* step sizes 1, beta, beta^2 ... */
    int trials;                 /* that come with the direction: with one block the model is exact, and 1 will do */
    int idle_rounds;            /* in a row whose decrease was lost in the rounding of f */
} dual_search;

/* The direction of a round, of blocks and of their sum */
typedef struct dual_direction {
    double *dv;                /* [n] X da */
    double **dv_block;         /* [local][n]; the first shares dv's memory */
    block_direction *of_block; /* [local] */
    block_direction all;       /* sums over all blocks, known on every rank */
} dual_direction;

/* Where blocks begin that are not linearised at alpha (hull.c) */
typedef struct dual_ahead {
    double **w_block; /* [local][n] gradient of each block's model at its start; NULL: that is w */
    const double *w;  /* [n] gradient at the extrapolated point, the same for all blocks */
} dual_ahead;

/* Bounds of how far v may be from X alpha, see certify.c */
typedef struct dual_drift {
    double largest_added; /* largest |dv_j| of a block in any round so far */
    double sum_error;     /* what the last packed message may have taken from a |dv_j| */
    double rounding;      /* what all of them may have taken from a |v_j| */
} dual_drift;

/* The model is the best of t w for the factors t */
typedef struct dual_scales {
    bool tried; /* false: the model is w */
    double factor[BLOCK_LENGTHS];
} dual_scales;

/* What one run of the outer loop holds. All memory is taken before the first round. */
typedef struct dual_run {
    problem *p;
    watch *watch;
    uint64_t K;     /* blocks of all ranks */
    uint64_t local; /* blocks of this rank */
    uint64_t seed;
    dual_model model;
    dual_epochs epochs;
    dual_search search;
    dual_scales scales;

    arena memory;
    scalars scalars;
    block **blocks;      /* [local] */
    uint32_t *turn;      /* [local] the order in which they are solved */
    block_value *value;  /* [local] */
    double **margins;    /* [local] where free intercepts want them; NULL */
    intercept intercept; /* free ones: v and the images have its centre beside X alpha */
    pool pool;           /* where blocks share their u, see pool_is_open */

    double *v; /* [n] X alpha */
    double *w; /* [n] grad g*(v); v itself where the regulariser is the squared norm */
    double f;  /* f(alpha) */
    dual_direction direction;
    dual_ahead ahead;
    dual_drift drift;
    double travelled;    /* sum of |w - w'| over the moves so far */
    round_report report; /* of the round under way */
} dual_run;

/* The lines of the loop, for it and for the methods that are built on it (hull.c, accelerate.c). All collective.
 *
 * alpha = 0, v = 0. False and a sentence on all ranks. */
bool dual_open(dual_run *r, const preset *preset, problem *p, const method_options *options, watch *watch,
               bda_error *err);
/* alpha and v of the weights that the training begins at, where there are any; see problem/start.h. */
bool dual_begin(dual_run *r, const watch *watch, bda_error *err);
/* From alpha = 0 to a point that is known, as far that way as f falls; not for all kinds of blocks, of which the others stay
 * where they are. One vector. */
bool dual_begin_at(dual_run *r, const dual_point *from, bda_error *err);
void dual_close(dual_run *r);
/* From now on the model of a round is the best of a few multiples of w, where there are several models and the task's blocks
 * can tell what these are worth. */
void dual_begin_lengths(dual_run *r, const method_options *options);
/* Primal, dual and gap at w and alpha, reported to the watch as round t; true: stop. */
bool dual_evaluate(dual_run *r, uint64_t t);
/* Before the watch is told of a round in which it may say stop, and every DUAL_CERTIFY rounds: X alpha is computed anew
 * from alpha and the rows, into r->direction.dv, and dual and gap of r->report become those of it. `w` is the report's model,
 * `terms` the sum of the gap's terms over the instances, for a w that is no longer than it was found. Costs one pass and
 * one vector. dual_repair, after the watch has been told and has said whether to stop, puts r->direction.dv in the place of v where they differ by more than
 * rounding, which must not happen; builds with assertions end there. Both collective. */
#define DUAL_CERTIFY 64
void dual_certify(dual_run *r, const double *w, double terms);
bool dual_repair(dual_run *r, bool stop);
/* For a method that tells of another alpha than that of r->v, which the blocks have gone back to, whose v is given
 * and whose xi*(-alpha) sums to `separable`: X alpha into r->direction.dv, dual and gap of the report become those of it. It is due
 * whenever it is called. Collective. */
void dual_certify_kept(dual_run *r, const double *v, double separable, round_report *to);
/* The same with w = grad g*(v), where the state may be kept; or instead of both, where the run goes on from a state,
 * *t becomes the round that ended there. `state`: of dual_whole and dual_block, or of one that holds more. */
bool dual_look(dual_run *r, watch *watch, const method_state *state, uint64_t *t);
/* The state between the evaluation of a round and its steps; see problem/keeper.h. run: a dual_run */
void dual_whole(archive *a, void *run);
void dual_block(archive *a, void *run, uint64_t k);
/* The next four are of free intercepts, and do nothing, or return 0 or NULL, where there are none.
 *
 * b'(sum of alpha) at w, in units of the constant feature. */
double dual_turned(const dual_run *r);
/* Adds what the sum of alpha costs to dual and gap of r->report, whose model has the margins `scale` times z and the
 * weights `scale` times w. Returns what the gap has more. Collective. */
double dual_price(dual_run *r, double *const *z, const double *w, double scale);
/* The next proximal step: moves the centre, and v and w with it. Returns the [free] numbers by which. */
const double *dual_recentre(dual_run *r);
/* v += the centre, of a v that is X alpha alone. */
void dual_add_centre(const dual_run *r, double *v);
/* Each block minimises its model: da, dv_block, local_direction. t names the random numbers. */
void dual_solve(dual_run *r, uint64_t t);
/* dv and the scalars of the ray, summed over all blocks: one vector. */
bool dual_sum(dual_run *r, bda_error *err);
/* The step along (da, dv): Algorithm 1 or the exact one. */
double dual_step(dual_run *r);
/* alpha += eta da, v += eta dv */
void dual_move(dual_run *r, double eta);

/* The epochs of the next round, by the pace of the gap and the report of the last round. */
void dual_choose_epochs(dual_run *r);
#define EPOCHS_BEFORE_NEXT_CHECK 0.7 /* of the epochs that seem to be left */

/* The curvature of g* along a move of all blocks against that of the block-diagonal model: |sum_k dv_k|^2 over sum_k
 * |dv_k|^2, between 1 and K. An a1 as large as that fits the move. */
double dual_overlap(const dual_run *r, double together, double apart);

#endif
