/* structured_dual.h - X alpha and the sum of xi*(-alpha) of blocks of structures, from their variables and all outputs. */
#ifndef UNIT_STRUCTURED_DUAL_H
#define UNIT_STRUCTURED_DUAL_H

#include "problem/chain_crf.h"
#include "problem/structured_svm.h"
#include "problem/tree_crf.h"
#include "unit/structured_support.h"

enum { STRIDE = 4, EDGES = LONGEST * (LONGEST + 1) }; /* of the tables of marginals */

/* v = X alpha, and the sum of xi*(-alpha), from the working sets. */
static inline long double svm_dual(const corpus *t, bool squared, long double *v)
{
    const double C = t->problem.cost[0];
    long double conjugate = 0;
    memset(v, 0, WEIGHTS_MOST * sizeof *v);
    for (block **b = t->blocks; *b; b++)
        for (uint32_t k = 0; k < (*b)->count; k++) {
            const int i = (int)((*b)->first + k);
            const working_set *set = structured_svm_set(*b, k);
            long double all = 0;
            for (uint32_t y = 0; y < set->used; y++) {
                const long double a = set->member[y].now;
                assert_true(a >= 0);
                add_features(t, i, t->gold[i], a, v);
                add_features(t, i, working_set_output(set, y), -a, v);
                conjugate -= a * wrong_parts(t, i, working_set_output(set, y));
                all += a;
            }
            assert_true(squared || all <= C * (1 + 1e-12));
            conjugate += squared ? all * all / (4 * C) : 0;
        }
    return conjugate;
}

/* The probability of y by the block's own variables; for tags that of the chain with its marginals. */
static inline long double weight_of(const corpus *t, const block *b, uint32_t k, const uint16_t *y)
{
    const int n = t->length[b->first + k];
    long double p = 1, score = 0;
    if (t->trees) {
        const double *theta = tree_crf_theta(b, k);
        for (int c = 0; c < n; c++)
            score += theta[c * (n + 1) + y[c]];
        return expl(score);
    }
    double node[LONGEST * STRIDE], edge[LONGEST * TAGS * STRIDE];
    chain_crf_marginals(b, k, node, edge);
    p = node[y[0]];
    for (int j = 0; j + 1 < n; j++) {
        const long double mass = node[j * STRIDE + y[j]];
        p *= mass > 0 ? edge[(j * TAGS + y[j]) * STRIDE + y[j + 1]] / mass : 0;
    }
    return p;
}

/* The marginal of part j of y by the block's own variables. */
static inline double marginal_of(const corpus *t, const block *b, uint32_t k, int j, int value)
{
    const int n = t->length[b->first + k];
    if (t->trees)
        return tree_crf_marginals(b, k)[j * (n + 1) + value];
    double node[LONGEST * STRIDE], edge[LONGEST * TAGS * STRIDE];
    chain_crf_marginals(b, k, node, edge);
    return node[j * STRIDE + value];
}

/* v = X alpha, and the sum of xi*(-alpha), from all outputs. Marginals must be those of the distribution. */
static inline long double crf_dual(const corpus *t, long double *v)
{
    const double C = t->problem.cost[0];
    long double conjugate = 0;
    memset(v, 0, WEIGHTS_MOST * sizeof *v);
    for (block **b = t->blocks; *b; b++)
        for (uint32_t k = 0; k < (*b)->count; k++) {
            const int i = (int)((*b)->first + k), base = t->trees ? t->length[i] + 1 : TAGS;
            uint16_t y[LONGEST];
            long double all = 0, entropy = 0, marginal[EDGES] = {0};
            for (bool more = next_output(t, i, y, true); more; more = next_output(t, i, y, false))
                all += weight_of(t, *b, k, y);
            for (bool more = next_output(t, i, y, true); more; more = next_output(t, i, y, false)) {
                const long double p = weight_of(t, *b, k, y) / all;
                entropy -= p > 0 ? p * logl(p) : 0;
                add_features(t, i, t->gold[i], C * p, v);
                add_features(t, i, y, -C * p, v);
                for (int j = 0; j < t->length[i]; j++)
                    marginal[j * base + y[j]] += p;
            }
            for (int j = 0; j < t->length[i] * base; j++)
                assert_true(fabsl(marginal[j] - marginal_of(t, *b, k, j / base, j % base)) < 1e-12);
            conjugate -= C * entropy;
        }
    return conjugate;
}

#endif
