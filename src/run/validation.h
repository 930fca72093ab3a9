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
/* Scores factor * w; the metrics are the caller's to free. w: [n] of the problem. Collective. */
bool validation_score(validation *v, comm *c, const double *w, double factor, bda_metrics **scores, bda_error *err);

#endif
