/* predict_sentences.h - tags and trees of new text by a model: the text again with the predicted columns. */
#ifndef RUN_PREDICT_SENTENCES_H
#define RUN_PREDICT_SENTENCES_H

#include "run/metrics.h"
#include "run/sentence_model.h"
#include "run/settings.h"

/* Data of sentences for a model, whose task says what they are; request: path, blocks and threads. Collective. */
data *sentences_for_model(comm *c, const bda_model *m, const sentences_request *request, bda_error *err);

/* As bda_predict; what the text cannot tell is left out of `found`, an empty list. Collective. */
bool predict_sentences(comm *c, const bda_model *m, const data *d, const bda_settings *s, const char *path,
                       bda_metrics *found, bda_error *err);

#endif
