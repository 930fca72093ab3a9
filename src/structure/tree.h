/* tree.h - inference on dependency trees: the best tree, sums over all trees, checks of given trees.
 *
 * A sentence of n tokens has a score S[c][h] for each edge from head h to child c: [n][n+1], child-major, where the
 * row c = 0 .. n-1 is token c + 1, and the column h = 0 is the root, above all tokens. S[c][c+1] is never read. A
 * tree gives each token one head, has no cycle and exactly one edge from the root; heads[c] is in 0 .. n. Its score
 * is the sum over its edges. A tree is projective if all tokens between the ends of an edge descend from its head.
 *
 * 1 <= n <= TREE_LONGEST, scores are finite. All is local: no memory is taken, `work` is the caller's, of as many
 * doubles as the function beside it says, and bits depend on the arguments alone.
 */
#ifndef STRUCTURE_TREE_H
#define STRUCTURE_TREE_H

#include <stdbool.h>
#include <stdint.h>

#define TREE_LONGEST 65534

/* The tree with the largest score, and that score; with gold, largest is score + the number of heads that differ from
 * gold. Where edges compete with equal scores, the one with the lower head wins, then the lower child. O(n^2). */
double tree_best_any(int n, const double *S, const uint16_t *gold, uint16_t *heads, double *work);
uint64_t tree_best_any_work(int n);

/* The same among projective trees; where spans compete, the one that is split further left wins. O(n^3). */
double tree_best_projective(int n, const double *S, const uint16_t *gold, uint16_t *heads, double *work);
uint64_t tree_best_projective_work(int n);

/* log Z = log sum over trees of exp(score), and where mu is not NULL the marginals mu[c][h] = p(heads[c] = h), laid
 * out as S, of p(tree) = exp(score) / Z; mu[c][c+1] = 0. O(n^3). */
double tree_sum_any(int n, const double *S, double *mu, double *work);
uint64_t tree_sum_any_work(int n);
double tree_sum_projective(int n, const double *S, double *mu, double *work);
uint64_t tree_sum_projective_work(int n);

/* The score of a tree, with gold plus the number of heads that differ; and score(a) - score(b) from the tokens where
 * they differ alone, accurate where both scores are large. */
double tree_score(int n, const double *S, const uint16_t *heads, const uint16_t *gold);
double tree_difference(int n, const double *S, const uint16_t *a, const uint16_t *b);
int tree_wrong(int n, const uint16_t *heads, const uint16_t *gold); /* how many heads differ */

typedef enum tree_fault {
    TREE_FINE,
    TREE_NO_SUCH_HEAD, /* a head beyond n */
    TREE_CYCLE,        /* also a token that is its own head */
    TREE_NO_ROOT,
    TREE_SECOND_ROOT,
} tree_fault;

/* What is wrong with heads that were read, and at which token (c; 0 where no token has the root as its head). work:
 * n numbers. O(n). */
tree_fault tree_check(int n, const uint16_t *heads, int *token, uint16_t *work);

/* How many edges of a tree are not projective: those with a token between their ends that does not descend from their
 * head. */
int tree_crossings(int n, const uint16_t *heads);
bool tree_is_projective(int n, const uint16_t *heads);

#endif
