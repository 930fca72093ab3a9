/* stage.h - a run in stages: several methods in turn, each from the point that the one before hands on.
 *
 * A method reports its rounds by stage_report, which passes them on to the watch. In a run of one method that is all.
 * In a run of several the rounds are numbered through, the best point so far is kept, and a rule may end the stage:
 * the method is told to stop, as if the watch had said so, and the next one goes on.
 *
 *     hull:    0 1 2 ... 7         round 7: the rule says that newton is faster from here
 *     newton:            0 1 2     its round 0 is round 7, which has been reported; the others are 8 and 9
 *
 * What is handed on is a point of the primal problem and the least dual: methods differ in everything else. */
#ifndef PROBLEM_STAGE_H
#define PROBLEM_STAGE_H

#include "problem/keeper.h"
#include "problem/method.h"
#include "problem/pace.h"

/* What a stage hands to the next. */
typedef struct handover {
    double *w; /* [n] the model with the least primal so far */
    uint64_t n;
    double primal, dual;   /* the least of any round so far */
    double gap, first_gap; /* primal + dual; that of round 0 */
    uint64_t round;        /* the last */
} handover;

typedef struct stage {
    handover point;
    pace pace;          /* of the whole run, in epochs */
    int number;         /* 0: the first stage */
    uint64_t first;     /* the round of the run that is this stage's round 0 */
    const char *choice; /* what reports of this stage say where they do not say it themselves; NULL: nothing */
    double next_cost;   /* of the next stage, in epochs of this one; INFINITY: there is none */
    bool (*leaves)(const struct stage *s); /* is the next stage the faster way on? NULL: never */
    bool stopped;                          /* by the watch */
} stage;

/* Tells the watch of a round, whose number is the method's own. True: the method is to stop. */
bool stage_report(watch *watch, const round_report *report, const double *w);

/* What stage_report would return; to_go as in struct watch. Nobody is told. False where that is not known. */
bool stage_ends(watch *watch, const round_report *report, double *to_go);

/* Begins where a run that was kept ended: then the state is that after round *t was reported, and *stop says whether
 * there is no more to do. False: there is nothing to go on from. Collective. */
bool stage_resume(watch *watch, const method_state *state, uint64_t *t, bool *stop);

/* The state may be kept now, after round t was reported; `stop` is what stage_report said, and is returned. Collective. */
bool stage_keep(watch *watch, const method_state *state, uint64_t t, bool stop);

/* The point from which the method under way may go on; NULL: it is the first, and begins at w = 0. */
const handover *stage_from(const watch *watch);

/* Of the run so far: part of the state of each of its methods. */
void stage_archive(archive *a, stage *s);

/* A run: the methods in turn, and the options that they are run with. */
#define PLAN_STAGES 3
typedef struct plan {
    const method *method[PLAN_STAGES + 1]; /* NULL-terminated */
    method_options options;
    double cost[PLAN_STAGES]; /* of each but the first: what it takes, in epochs of the one before */
    bool (*leaves)(const stage *s);
} plan;

/* Collective; false and a sentence on all ranks. */
bool plan_train(const plan *plan, problem *p, watch *watch, bda_error *err);

#endif
