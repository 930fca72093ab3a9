/* kinds.h - the kinds of dual blocks; the table of tasks (task.c) chooses. */
#ifndef PROBLEM_KINDS_H
#define PROBLEM_KINDS_H

#include "problem/block.h"

extern const block_kind linear_blocks;         /* two labels, or regression: one alpha an instance */
extern const block_kind one_vs_rest_blocks;    /* each of several labels against the rest: one alpha a label */
extern const block_kind crammer_singer_blocks; /* multiclass hinge and squared hinge: few alphas an instance */
extern const block_kind softmax_blocks;        /* multinomial logistic regression: one alpha a class */
extern const block_kind structured_svm_blocks; /* tags or trees, hinge and squared hinge: few outputs a sentence */
extern const block_kind chain_crf_blocks;      /* tags, logistic: marginals */
extern const block_kind tree_crf_blocks;       /* trees, logistic: the scores that the marginals follow from */

#endif
