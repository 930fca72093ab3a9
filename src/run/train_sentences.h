/* train_sentences.h - trainings of sentences: which data, which structures, and what the model keeps of them. */
#ifndef RUN_TRAIN_SENTENCES_H
#define RUN_TRAIN_SENTENCES_H

#include "problem/problem.h"
#include "run/model.h"
#include "run/settings.h"

/* Is it one of sentences: tag or parse? */
bool is_sentence_task(const char *task);

/* Data for a training. Collective. */
data *read_for_training(comm *c, const bda_settings *s, uint64_t count, const char *const *path, uint64_t blocks,
                        bda_error *err);

/* What a unit is, by the task; data of another kind are refused. *structure: NULL for rows. */
bool choose_structure(const bda_settings *s, const data *d, const struct structure **structure, bda_error *err);

/* Rank 0 tells the observer where --trees=projective leaves out what gold trees have. */
void note_trees(comm *c, const bda_settings *s, const data *d, const bda_observer *o);

/* Adds to a trained model what it takes to make features of new text; for parsing also trains the relations. Nothing
 * for other tasks. Collective. */
bool keep_sentences(comm *c, const data *d, const bda_settings *s, const struct structure *structure, bda_model *m,
                    bda_error *err);

#endif
