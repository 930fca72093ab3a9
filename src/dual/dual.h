/* dual.h - the paper: one outer loop for all presets. */
#ifndef DUAL_DUAL_H
#define DUAL_DUAL_H

#include "dual/presets.h"
#include "problem/block.h"
#include "problem/intercept.h"
#include "problem/stage.h"

/* Algorithm 2. Collective. */
bool dual_train(const method *self, problem *p, const method_options *options, watch *watch, bda_error *err);

#define DUAL_NO_MEMORY "out of memory for dual variables; more ranks on more machines would help"

/* What one run of the outer loop holds. All memory is taken before the first round. */
typedef struct dual_run {
    problem *p;
    watch *watch;
    uint64_t K;
    uint64_t models; /* blocks of B: K, or fewer where blocks share a u */
    double a1, a2;
    bool adapts; /* a1 is that of the round before by dual_overlap */
    bool separate;
    line_search search;
    double fixed_step, tau, beta;
    int64_t epochs;
    int64_t learning;     /* of structures, as in a subproblem */
    bool settled_outputs; /* likewise */
    bool as_needed;       /* so many as the gap's fall asks for */
    pace pace;            /* in epochs */
    double looked_at;     /* by the last evaluation: a part of all cells */
    uint64_t seed;

    arena memory;
    block **blocks;                   /* [local] */
    uint64_t local;                   /* blocks of this rank */
    uint32_t *turn;                   /* [local] the order in which they are solved */
    double *v;                        /* [n] X alpha */
    double *w;                        /* [n] grad g*(v); v itself where the regulariser is the squared norm */
    double *h;                        /* [n] the diagonal of the Hessian of g* at v; NULL where it is the identity */
    double *dv;                       /* [n] X da */
    pool pool;                        /* where blocks share their u, see pool_is_open */
    double **start;                   /* [local][n] in place of w, see hull.c; NULL: w */
    const double *ahead;              /* [n] then what the starts have in common */
    double **dv_block;                /* [local] each [n]; the first shares dv's memory */
    block_value *value;               /* [local] */
    double **margins;                 /* [local] where free intercepts want them; NULL */
    intercept intercept;              /* free ones: v and the images have its centre beside X alpha */
    block_direction *local_direction; /* [local] */
    double *mine, *all;               /* [local][m], [K][m] scalars of a message */

    /* Sums over all blocks, known on every rank */
    block_direction direction;
    double trial[BLOCK_TRIALS]; /* 1, beta, beta^2 ... */
    int trials;                 /* that come with the direction: with one block the model is exact, and 1 will do */
    double largest_added;       /* largest |dv_j| of a block in any round so far */
    double sum_error, rounding; /* what packed messages may have taken from a |dv_j|; and from a |v_j| so far */
    double travelled;           /* sum of |w - w'| over the moves so far */
    bool lengthens;             /* the model is the best of t w for the lengths t; otherwise w */
    double length[BLOCK_LENGTHS];
    double f;            /* f(alpha) */
    int idle_rounds;     /* in a row whose decrease was lost in the rounding of f */
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
/* Primal, dual and gap at w and alpha, reported to the watch as round t; true: stop. */
bool dual_evaluate(dual_run *r, uint64_t t);
/* Before the watch is told of a round in which it may say stop, and every DUAL_CERTIFY rounds: X alpha is computed anew
 * from alpha and the rows, into r->dv, and dual and gap of r->report become those of it. `w` is the report's model,
 * `terms` the sum of the gap's terms over the instances, for a w that is no longer than it was found. Costs one pass and
 * one vector. dual_repair, after the watch has been told and has said whether to stop, puts r->dv in the place of v where they differ by more than
 * rounding, which must not happen; builds with assertions end there. Both collective. */
#define DUAL_CERTIFY 64
void dual_certify(dual_run *r, const double *w, double terms);
bool dual_repair(dual_run *r, bool stop);
/* For a method that tells of another alpha than that of r->v, which the blocks have gone back to, whose v is given
 * and whose xi*(-alpha) sums to `separable`: X alpha into r->dv, dual and gap of the report become those of it. It is due
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

/* r->epochs of the next round by r->pace and the report of the last. */
void dual_choose_epochs(dual_run *r);
#define DUAL_CAUTION 0.7 /* the part of the passes left that are made before the next look */

/* The curvature of g* along a move of all blocks against that of the block-diagonal model: |sum_k dv_k|^2 over sum_k
 * |dv_k|^2, between 1 and K. An a1 as large as that fits the move. */
double dual_overlap(const dual_run *r, double together, double apart);

/* Scalars: r->mine -> r->all, m for each block; and over all blocks, in their order, of one of the m columns */
void dual_gather(dual_run *r, int m);
double dual_column_sum(const dual_run *r, int column, int m);
double dual_column_max(const dual_run *r, int column, int m);

#endif
