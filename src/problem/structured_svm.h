/* structured_svm.h - the dual variables of structured_svm.c, for those who check them. */
#ifndef PROBLEM_STRUCTURED_SVM_H
#define PROBLEM_STRUCTURED_SVM_H

#include "problem/block.h"
#include "problem/working_set.h"

/* Of a unit of a block of structured_svm_blocks: alpha is 0 for all other outputs. */
const working_set *structured_svm_set(const block *b, uint32_t i);

#endif
