/* folds.h - the parts of data that a cross-validation holds out in turn. */
#ifndef RUN_FOLDS_H
#define RUN_FOLDS_H

#include "data/data.h"

const data *folds_whole(const bda_folds *f); /* what is cut */
uint64_t folds_count(const bda_folds *f);
const uint32_t *folds_of_rows(const bda_folds *f); /* [rows of this rank] */

/* Which of so many folds each of this rank's instances is in; fold: [units]. Instances of the same class go to the folds
 * in turn, in the order of the data, so that each fold has its share of every class and of every part of a file; without
 * classes (`stratified` false) all do. Collective. */
bool folds_in_turn(comm *c, const data *d, uint64_t folds, bool stratified, uint32_t *fold, bda_error *err);

/* The same where instances of a group stay together: `path` has a word for each instance of all ranks, a line each, in
 * their order. Groups are dealt out by size, the largest first, each to the fold that has least. Collective. */
bool folds_by_groups(comm *c, const data *d, uint64_t folds, const char *path, uint32_t *fold, bda_error *err);

#endif
