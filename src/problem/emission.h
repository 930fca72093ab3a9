/* emission.h - scores of all tags of a token, and what the kernels of structured_chain.c need for themselves. */
#ifndef PROBLEM_EMISSION_H
#define PROBLEM_EMISSION_H

#include "data/rows.h"

/* S[t][j] = x_t'w_j for the tokens `first` .. first + count - 1 and the tags j < T; rows of S have `stride` numbers, T
 * padded to whole lanes (structure/lanes.h), and the padding gets numbers that mean nothing. w: [columns][T] with at
 * least 3 more numbers behind. */
void emission_scores(const rows *r, uint64_t first, uint64_t count, const double *w, int T, int stride, double *S);

#endif
