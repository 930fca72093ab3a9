/* chain_line.h - the line from marginals mu along a change d of them, both on the lattice of mu, and the point of it where
 *
 *     slope g + curve g^2 / 2 - H(mu + g d)
 *
 * is least, 0 < g <= 1. */
#ifndef PROBLEM_CHAIN_LINE_H
#define PROBLEM_CHAIN_LINE_H

#include "problem/chain_held.h"

typedef struct chain_line {
    const chain_held *mu;
    const double *d;
    double least; /* d that matters */
    double slope; /* of what is linear in g */
    double curve; /* of what is quadratic */
} chain_line;

/* The derivatives of -H(mu + g d) by g, with mu in the layout of h; changes up to `least` are left out. */
void chain_line_entropy(const chain_held *h, const double *mu, const double *d, double g, double least, double *slope,
                        double *bend);

/* The zero of the slope, which rises, from a first guess g > 0: at 0 the slope may be infinite. */
double chain_line_search(const chain_line *l, double g);

#endif
