/* method.h - what a training method is, and what it tells whoever watches it.
 *
 * A method minimises a problem in rounds. After each it reports to a `watch`, which logs, keeps the best model and
 * says whether to stop; so no method knows about files, clocks or signals. */
#ifndef PROBLEM_METHOD_H
#define PROBLEM_METHOD_H

#include <math.h>

#include "base/error.h"

typedef struct problem problem;

typedef enum line_search { SEARCH_DEFAULT, SEARCH_EXACT, SEARCH_BACKTRACKING, SEARCH_NONE } line_search;

typedef enum hull_form { HULL_DEFAULT, HULL_FUSED, HULL_ONE_VECTOR, HULL_MOMENTUM } hull_form;

/* Blocks that share one u (see pool.h) are one block of the model, at the price of the same bits. */
typedef enum sharing {
    SHARE_DEFAULT, /* as SHARE_NOTHING, unless auto knows better */
    SHARE_NOTHING,
    SHARE_ON_ONE_MACHINE, /* all blocks, where all ranks are on one machine; otherwise none */
    SHARE_MEMORY,         /* all that see the same memory: those of a rank at least */
} sharing;

/* For local_epochs: with one model nothing is lost by more passes between two looks at the gap; with several it is
 * one, or the method's own choice. hull begins plainly then, see plain_rounds of hull.c. */
#define EPOCHS_AS_NEEDED (-1)

/* Of structures: where the most violated outputs are sought. */
typedef enum inference {
    INFERENCE_DEFAULT, /* the method's */
    INFERENCE_ROUND,   /* at the w of a round, by its evaluation alone */
    INFERENCE_VISIT,   /* at the current u, in the first visit of each unit in an epoch, too */
} inference;

/* Where a run may begin that works on the dual. */
typedef struct dual_point {
    const double *alpha;     /* [rows of this rank], moved into the domain where it is outside */
    const double *intercept; /* [outputs] the free ones */
} dual_point;

/* What the person asked for; NAN: the method's own choice. */
typedef struct method_options {
    double a1, a2;     /* B = a1 blockdiag(Hessian) + a2 I */
    bool a1_is_blocks; /* --a1=K */
    line_search search;
    double step;             /* with SEARCH_NONE */
    double tau, beta;        /* of the Armijo rule */
    int64_t local_epochs;    /* 0: the method's own choice; EPOCHS_AS_NEEDED */
    int64_t learning_epochs; /* of structures: visits of each unit in a local epoch; 0: the method's own choice */
    inference inference;
    double gap;        /* asked for; only to choose by: the watch decides when to stop */
    bool gap_of_start; /* it is relative to the first gap, not to the objective */
    uint64_t seed;
    int64_t history;        /* of l-commdir and lbfgs; 0: the method's own */
    double penalty;         /* rho of admm */
    double relaxation;      /* of admm: 1 is none */
    bool balance;           /* admm adapts rho to its residuals */
    bool no_scaling;        /* of the outer loop: the model is w itself */
    bool accelerate;        /* a preset of the outer loop inside an accelerated proximal point method */
    hull_form hull;         /* which messages a round of hull sends */
    sharing sharing;        /* --threads-mode */
    const dual_point *from; /* of one output, without --accelerate; NULL: alpha = 0 */
    /* Whose speeds auto reckons with; NULL: the usual ones. */
    const struct bda_machine *machine;
} method_options;

/* Whether blocks may form a model together (pool.h). */
static inline bool method_shares(const method_options *o)
{
    return o->sharing == SHARE_ON_ONE_MACHINE || o->sharing == SHARE_MEMORY;
}

/* Seconds of one round on this rank */
typedef enum spent { SPENT_LOCAL, SPENT_MESSAGES, SPENT_LINE_SEARCH, SPENT_EVALUATION, SPENT_KINDS } spent;

/* Dual and gap of an X alpha computed anew, see dual_certify */
typedef struct round_certificate {
    bool anew;                      /* dual and gap are those */
    bool for_end;                   /* only because the run may end here; otherwise they would be these: */
    double dual_before, gap_before; /* by the v that followed alpha */
    double repaired; /* what v had been off by, against the largest number of it; 0: by rounding at most */
} round_certificate;

/* One round, the same on every rank but for the times, which are the slowest rank's where cheaply known. */
typedef struct round_report {
    uint64_t round;
    double primal, dual; /* of the model and alpha of this round; dual is NAN for a method without one */
    double gap;          /* primal + dual, computed without cancellation: never negative */
    double stretch;      /* the model is (1 + stretch) w; 0 for most methods: it is w */
    bool stretches;      /* the method looks for such multiples; then P(w) is: */
    double plain_primal;
    double step; /* that led here; 0 in round 0 */
    uint64_t line_search_steps;
    double epochs;                     /* passes over the data that led here, in cells visited over cells held */
    uint64_t vectors_sent, bytes_sent; /* so far */
    double seconds;                    /* on the watch's clock, agreed on by all ranks */
    bool interrupted;                  /* somewhere */
    bool kept_best; /* w is the best so far, and the method keeps it: there is no need to copy it before the end */
    bool stalled;   /* the method can make no further progress in double precision */
    bool finished;  /* the method has done all it does */
    bool shares;    /* blocks change one u together: the next run may differ */
    round_certificate certificate;
    double primal_residual, dual_residual; /* of admm (Boyd et al., 3.3): both go to 0; 0 for other methods */
    double spent[SPENT_KINDS];             /* seconds, each counted once */
    const char *choice;          /* one word: what a method that chooses for itself did; NULL: nothing to say */
    struct block *const *blocks; /* this rank's dual point, see block_alpha; NULL for a method without one */
} round_report;

/* What a method made of its options and of the problem, for the log: NAN, 0 and NULL where it has no such thing. It is
 * known before the first round. */
typedef struct method_facts {
    double a1, a2, step; /* step: of a fixed one */
    int64_t local_epochs;
    const char *line_search; /* "exact", "backtracking", "none" */
    const char *step_rule;   /* in words */
    const char *form;        /* of hull */
} method_facts;

#define NO_FACTS ((method_facts){.a1 = NAN, .a2 = NAN, .step = NAN})

struct stage;

typedef struct watch watch;
struct watch {
    double to_go; /* the last gap over the one asked for; infinite where that is 0, or before the first round */
    /* This rank's own view, to be agreed on by the method in the message it sends anyway. */
    double (*seconds)(watch *self);
    bool (*interrupted)(watch *self);
    bool (*late)(watch *self); /* it was interrupted, or its time is up; NULL: not known */
    /* Collective in effect: gets the same report and w on all ranks, and returns the same answer: true means stop.
     * w: [n], of which the report's model is a multiple; the model is kept if it is the best so far. */
    bool (*round)(watch *self, const round_report *report, const double *w);
    /* What round() would return, without telling anybody of the round; to_go: what that would be then. NULL: not known
     * beforehand. */
    bool (*ends)(watch *self, const round_report *report, double *to_go);
    method_facts facts;    /* the method's to fill in before it reports its first round */
    struct stage *stage;   /* the one under way, see stage.h; NULL: the run has only one */
    struct keeper *keeper; /* of the state, see keeper.h; NULL: nobody keeps it */
};

typedef struct method {
    const char *name, *summary;
    const char *needs; /* in words, for --method=list */
    /* What it cannot do without; method_serves of methods/table.h checks it, and names those that would do. */
    bool smooth_loss;        /* a differentiable loss */
    bool smooth_classes;     /* one where a unit has several scores */
    bool smooth_regulariser; /* no --l1-ratio */
    bool whole_regulariser;  /* no --intercept=free */
    bool kinks_with_slope;   /* ... but where the loss is differentiable */
    bool any_regulariser;    /* --l1-ratio=1 as well, which is not strongly convex */
    bool classification;     /* labels, not numbers */
    bool rows;               /* units that are single rows: no tags, no trees */
    bool sentences;          /* units of several rows, and blocks that can begin ahead (block_solve_ahead) */
    bool primal;             /* a primal kind, see instances.h */
    bool curvature;          /* ... with products of second derivatives */
    bool hessian;            /* ... with all of them */
    bool together;           /* several labels are learnt together */
    uint64_t most_weights;   /* the longest w it can take; 0: any */
    bool begins_at_0;        /* and nowhere else: no --start */
    bool uncertified;        /* has no dual, so no gap to stop at: it ends by itself */
    const void *preset;      /* what `train` makes of it; e.g. a row of dual/presets.c */
    /* Trains from w = 0 until the watch says stop. Collective. */
    bool (*train)(const struct method *self, problem *p, const method_options *options, watch *watch, bda_error *err);
} method;

#endif
