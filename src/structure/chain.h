/* chain.h - inference on linear chains: the best tag string, sums over all tag strings, entropies.
 *
 * A chain of L tokens with T tags scores a tag string y by
 *
 *     score(y) = sum_t E[t][y_t] + sum_t tr[y_{t-1}][y_t],     y_{-1} = T, the start of the sentence.
 *
 * Rows of T numbers are padded to chain_stride(T); what stands in the padding of inputs does not matter, and outputs
 * have 0 there. 1 <= T <= CHAIN_TAGS, L >= 1, and scores are finite. All is local: no memory is taken, `work` is the
 * caller's, of as many doubles as the function beside it says, and bits depend on the arguments alone.
 */
#ifndef STRUCTURE_CHAIN_H
#define STRUCTURE_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#define CHAIN_TAGS 65535

typedef struct chain {
    int length, tags;         /* L, T */
    const double *emission;   /* [L][stride] E */
    const double *transition; /* [T+1][stride] tr, by previous tag; row T: sentence start */
} chain;

int chain_stride(int tags); /* T rounded up to whole vectors: 17 -> 20 */

/* The tag string with the largest score and that score; with gold, largest is score + the number of tags that differ
 * from gold. Among equals the last tag has the lowest index, then the one before it, and so on. The value returned is
 * never below that of another string as chain_score computes it. O(L T^2). */
double chain_best(const chain *c, const uint16_t *gold, uint16_t *tags, double *work);
uint64_t chain_best_work(int length, int tags);

/* The score of a tag string, with gold plus the number of tags that differ; bits as in chain_best. */
double chain_score(const chain *c, const uint16_t *tags, const uint16_t *gold);

/* score(a) - score(b) from the tokens where they differ alone: accurate where both scores are large. */
double chain_difference(const chain *c, const uint16_t *a, const uint16_t *b);

int chain_wrong(int length, const uint16_t *tags, const uint16_t *gold); /* how many tags differ */

/* Transitions as chain_sum reads them, for all chains with the same transitions. */
typedef struct chain_factors {
    double *forward;  /* [T][stride] exp(tr - shift), by previous tag; memory of the caller */
    double *backward; /* [T][stride] transposed: by next tag */
    double shift;     /* largest transition between tags */
    bool wide;        /* transitions differ by so much that products of factors could vanish: logarithms are used */
} chain_factors;

/* memory: chain_factors_size(T) doubles */
void chain_factors_make(chain_factors *f, int tags, const double *transition, double *memory);
uint64_t chain_factors_size(int tags);

/* log Z = log sum_y exp(score(y)), and the marginals of p(y) = exp(score(y)) / Z where their arrays are not NULL:
 * node [L][stride], edge [L-1][T][stride] with edge[t][i][j] = p(y_t = i, y_{t+1} = j). O(L T^2). */
double chain_sum(const chain *c, const chain_factors *f, double *node, double *edge, double *work);
uint64_t chain_sum_work(int length, int tags);

/* The derivatives of the marginals as the scores go along those of q: node [L][stride], edge [L-1][T][stride] are those
 * of chain_sum, and the slopes are laid out alike. With Q(y) the score of y by q it is, for a part of y,
 * d p(part) = p(part) (E[Q | part] - E[Q]). O(L T^2). */
void chain_sum_along(const chain *q, const double *node, const double *edge, double *node_slope, double *edge_slope,
                     double *work);
uint64_t chain_sum_along_work(int length, int tags);

#endif
