/* chain_crf.h - the dual variables of chain_crf.c, for those who check them. */
#ifndef PROBLEM_CHAIN_CRF_H
#define PROBLEM_CHAIN_CRF_H

#include "problem/block.h"

/* Marginals of a unit as structure/chain.h lays them out: alpha_i is C times the gold string minus them. */
void chain_crf_marginals(const block *b, uint32_t i, double *node, double *edge);

#endif
