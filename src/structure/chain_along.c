/* chain_along.c - how marginals of a chain change as its scores do: conditional expectations, forward and backward. */
#include <string.h>

#include "structure/chain.h"
#include "structure/lanes.h"

uint64_t chain_sum_along_work(int length, int tags)
{
    return 2 * (uint64_t)length * (uint64_t)lanes_padded(tags);
}

/* before[t][b]: the expected score by q of the tokens up to t, if token t has tag b; 0 where it never has. */
static void look_back(const chain *q, const double *node, const double *edge, double *before)
{
    const int T = q->tags, stride = lanes_padded(T);
    const double *start = q->transition + (int64_t)T * stride;
    for (int b = 0; b < T; b++)
        before[b] = node[b] > 0 ? start[b] + q->emission[b] : 0;
    for (int t = 1; t < q->length; t++) {
        const double *last = before + (int64_t)(t - 1) * stride, *own = q->emission + (int64_t)t * stride;
        const double *mu = node + (int64_t)t * stride, *pair = edge + (int64_t)(t - 1) * T * stride;
        double *to = before + (int64_t)t * stride;
        memset(to, 0, (size_t)stride * sizeof *to);
        for (int a = 0; a < T; a++)
            for (int b = 0; b < T; b++)
                to[b] += pair[a * stride + b] * (last[a] + q->transition[(int64_t)a * stride + b]);
        for (int b = 0; b < T; b++)
            to[b] = mu[b] > 0 ? to[b] / mu[b] + own[b] : 0;
    }
}

/* after[t][a]: the expected score of what follows token t, if it has tag a. */
static void look_ahead(const chain *q, const double *node, const double *edge, double *after)
{
    const int T = q->tags, stride = lanes_padded(T);
    memset(after + (int64_t)(q->length - 1) * stride, 0, (size_t)stride * sizeof *after);
    for (int t = q->length - 1; t-- > 0;) {
        const double *next = after + (int64_t)(t + 1) * stride, *own = q->emission + (int64_t)(t + 1) * stride;
        const double *mu = node + (int64_t)t * stride, *pair = edge + (int64_t)t * T * stride;
        for (int a = 0; a < T; a++) {
            const double *row = pair + (int64_t)a * stride, *step = q->transition + (int64_t)a * stride;
            double all = 0;
            for (int b = 0; b < T; b++)
                all += row[b] * (step[b] + own[b] + next[b]);
            after[(int64_t)t * stride + a] = mu[a] > 0 ? all / mu[a] : 0;
        }
    }
}

void chain_sum_along(const chain *q, const double *node, const double *edge, double *node_slope, double *edge_slope,
                     double *work)
{
    const int T = q->tags, stride = lanes_padded(T);
    double *before = work, *after = work + (int64_t)q->length * stride, mean = 0;
    look_back(q, node, edge, before);
    look_ahead(q, node, edge, after);
    for (int a = 0; a < T; a++)
        mean += node[a] * (before[a] + after[a]);
    for (int t = 0; t < q->length; t++) {
        const double *behind = before + (int64_t)t * stride, *ahead = after + (int64_t)t * stride;
        const double *own = q->emission + (int64_t)(t + 1) * stride;
        for (int a = 0; a < stride; a++)
            node_slope[(int64_t)t * stride + a] =
                a < T ? node[(int64_t)t * stride + a] * (behind[a] + ahead[a] - mean) : 0;
        for (int64_t a = (int64_t)t * T; t + 1 < q->length && a < (int64_t)(t + 1) * T; a++)
            for (int b = 0; b < stride; b++)
                edge_slope[a * stride + b] =
                    b < T ? edge[a * stride + b] *
                                (behind[a - (int64_t)t * T] + q->transition[(a - (int64_t)t * T) * stride + b] +
                                 own[b] + ahead[stride + b] - mean)
                          : 0;
    }
}
