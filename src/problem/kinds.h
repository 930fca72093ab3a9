/* kinds.h - the kinds of dual blocks; block.c chooses. */
#ifndef PROBLEM_KINDS_H
#define PROBLEM_KINDS_H

#include "problem/block.h"

extern const block_kind linear_blocks;         /* two labels, or regression: one alpha an instance */
extern const block_kind crammer_singer_blocks; /* multiclass hinge and squared hinge: few alphas an instance */
extern const block_kind softmax_blocks;        /* multinomial logistic regression: one alpha a class */

#endif
