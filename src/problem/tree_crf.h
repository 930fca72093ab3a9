/* tree_crf.h - the dual variables of tree_crf.c, for those who check them. */
#ifndef PROBLEM_TREE_CRF_H
#define PROBLEM_TREE_CRF_H

#include "problem/block.h"

/* Of a unit, as structure/tree.h lays out scores: its distribution over trees is the one with the scores theta, with
 * these marginals, and alpha_i is C times the gold tree minus them. */
const double *tree_crf_theta(const block *b, uint32_t i);
const double *tree_crf_marginals(const block *b, uint32_t i);

#endif
