/* validation.h - what the models of a training score on data that it does not see, round by round. */
#ifndef RUN_VALIDATION_H
#define RUN_VALIDATION_H

#include "problem/problem.h"
#include "run/model.h"
#include "run/settings.h"

typedef struct validation validation;

/* "DATA[,every=N]"; BDA_USAGE and a sentence where it is none. path: [OPTION_TEXT] */
bool validation_parse(const char *text, char *path, uint64_t *every, bda_error *err);

/* Reads the data of --validate. `model` has the shape of those to come and is the validation's from now on; NULL: it
 * failed on this rank. Collective. */
validation *validation_open(const problem *p, const bda_settings *s, bda_model *model, bda_error *err);
void validation_close(validation *v); /* accepts NULL */

bool validation_is_due(const validation *v, uint64_t round);
/* The best score so far, with --patience. */
typedef struct validation_best {
    const char *name; /* what is looked at, as bda_metric has it; NULL: no --patience */
    double score, primal;
    uint64_t round, since; /* since: scores in turn that were no better */
} validation_best;
const validation_best *validation_seen(const validation *v);
/* Takes the scores of a round; true: they are the best so far. Always false without --patience. */
bool validation_judge(validation *v, const bda_metrics *scores, uint64_t round, double primal);
bool validation_is_over(const validation *v); /* patience has run out */

/* Scores factor * w; the metrics are the caller's to free. w: [n] of the problem. Collective. */
bool validation_score(validation *v, comm *c, const double *w, double factor, bda_metrics **scores, bda_error *err);

#endif
