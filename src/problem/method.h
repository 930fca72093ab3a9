/* method.h - what a training method is, and what it tells whoever watches it.
 *
 * A method minimises a problem in rounds. After each it reports to a `watch`, which logs, keeps the best model and
 * says whether to stop; so no method knows about files, clocks or signals. */
#ifndef PROBLEM_METHOD_H
#define PROBLEM_METHOD_H

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

/* What the person asked for; NAN: the method's own choice. */
typedef struct method_options {
    double a1, a2;     /* B = a1 blockdiag(Hessian) + a2 I */
    bool a1_is_blocks; /* --a1=K */
    line_search search;
    double step;          /* with SEARCH_NONE */
    double tau, beta;     /* of the Armijo rule */
    int64_t local_epochs; /* 0: the method's own choice; EPOCHS_AS_NEEDED */
    double gap;           /* asked for, relative to the first; only to choose by: the watch decides when to stop */
    uint64_t seed;
    int64_t history;   /* of l-commdir and lbfgs; 0: the method's own */
    double penalty;    /* rho of admm */
    double relaxation; /* of admm: 1 is none */
    bool balance;      /* admm adapts rho to its residuals */
    bool accelerate;   /* a preset of the outer loop inside an accelerated proximal point method */
    hull_form hull;    /* which messages a round of hull sends */
    sharing sharing;   /* --threads-mode */
} method_options;

/* Whether blocks may form a model together (pool.h). */
static inline bool method_shares(const method_options *o)
{
    return o->sharing == SHARE_ON_ONE_MACHINE || o->sharing == SHARE_MEMORY;
}

/* One round, the same on every rank but for the times, which are the slowest rank's where cheaply known. */
typedef struct round_report {
    uint64_t round;
    double primal, dual; /* of the model and alpha of this round; dual is NAN for a method without one */
    double gap;          /* primal + dual, computed without cancellation: never negative */
    double stretch;      /* the model is (1 + stretch) w; 0 for most methods: it is w */
    double step;         /* that led here; 0 in round 0 */
    uint64_t line_search_steps;
    double epochs;                     /* passes over the data that led here, in cells visited over cells held */
    uint64_t vectors_sent, bytes_sent; /* so far */
    double seconds;                    /* on the watch's clock, agreed on by all ranks */
    bool interrupted;                  /* somewhere */
    bool kept_best; /* w is the best so far, and the method keeps it: there is no need to copy it before the end */
    bool stalled;   /* the method can make no further progress in double precision */
    bool finished;  /* the method has done all it does */
    double primal_residual, dual_residual; /* of admm (Boyd et al., 3.3): both go to 0; 0 for other methods */
    double local_seconds, comm_seconds, line_search_seconds, eval_seconds; /* of this round */
    const char *choice;          /* one word: what a method that chooses for itself did; NULL: nothing to say */
    struct block *const *blocks; /* this rank's dual point, see block_alpha; NULL for a method without one */
} round_report;

typedef struct watch watch;
struct watch {
    double to_go; /* the last gap over the one asked for; infinite where that is 0, or before the first round */
    /* This rank's own view, to be agreed on by the method in the message it sends anyway. */
    double (*seconds)(watch *self);
    bool (*interrupted)(watch *self);
    /* Collective in effect: gets the same report and w on all ranks, and returns the same answer: true means stop.
     * w: [n], of which the report's model is a multiple; the model is kept if it is the best so far. */
    bool (*round)(watch *self, const round_report *report, const double *w);
};

typedef struct method {
    const char *name, *summary;
    const char *needs; /* in words, for --method=list */
    /* What it cannot do without; method_serves of methods/table.h checks it, and names those that would do. */
    bool smooth_loss;        /* a differentiable loss */
    bool smooth_classes;     /* one where there are more than two classes */
    bool smooth_regulariser; /* no --l1-ratio */
    bool classification;     /* labels, not numbers */
    uint64_t most_weights;   /* the longest w it can take; 0: any */
    bool uncertified;        /* has no dual, so no gap to stop at: it ends by itself */
    const void *preset;      /* what `train` makes of it; e.g. a row of dual/presets.c */
    /* Trains from w = 0 until the watch says stop. Collective. */
    bool (*train)(const struct method *self, problem *p, const method_options *options, watch *watch, bda_error *err);
} method;

#endif
