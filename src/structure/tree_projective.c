/* tree_projective.c - the best projective tree with one root edge: Eisner (1996), O(n^3).
 *
 * Over spans of tokens i <= j:
 *
 *     P(i,j) = max_{i <= k < j} R(i,k) + L(k+1,j)                          two halves that meet
 *     edge i -> j:  I(i,j) = P(i,j) + s(i -> j);     edge j -> i:  I(j,i) = P(i,j) + s(j -> i)
 *     R(i,j) = max_{i < k <= j} I(i,k) + R(k,j)                            all of i+1 .. j below i
 *     L(i,j) = max_{i <= k < j} L(i,k) + I(j,k)                            all of i .. j-1 below j
 *     best   = max_r L(1,r) + s(0 -> r) + R(r,n).
 *
 * R and L are kept as symmetric matrices, so that every maximum runs along two rows. There are no back pointers: on
 * the way back the first k that gives the maximum is found again, O(n) for each of 3n spans.
 */
#include "structure/lanes.h"
#include "structure/tree.h"

typedef struct chart {
    int n, stride;
    double *right; /* [n][stride] R(i,j) = R(j,i) */
    double *left;  /* [n][stride] L(i,j) = L(j,i) */
    double *edge;  /* [n][stride] I(head, child) */
} chart;

typedef enum part { RIGHT, LEFT, PAIR } part;

typedef struct span {
    uint16_t from, to;
    uint16_t what; /* part */
} span;

uint64_t tree_best_projective_work(int n)
{
    uint64_t cells = (uint64_t)n * (uint64_t)lanes_padded(n);
    return 3 * cells + (uint64_t)n + 1; /* n spans: the lengths of those that wait add up to less */
}

/* max_k x[k] + y[k] */
LANES_INLINE double best_sum(const double *x, const double *y, int count)
{
    double lane[LANES] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY}, most;
    int whole = count / LANES * LANES;
    for (int k = 0; k < whole; k += LANES)
        for (int a = 0; a < LANES; a++)
            lane[a] = lanes_larger(x[k + a] + y[k + a], lane[a]);
    most = lanes_larger(lanes_larger(lane[0], lane[1]), lanes_larger(lane[2], lane[3]));
    for (int k = whole; k < count; k++)
        most = lanes_larger(x[k] + y[k], most);
    return most;
}

/* The first k with the largest x[k] + y[k] */
static int first_best(const double *x, const double *y, int count)
{
    int best = 0;
    for (int k = 1; k < count; k++)
        if (x[k] + y[k] > x[best] + y[best])
            best = k;
    return best;
}

/* S[child][head + 1], augmented; tokens from 0 */
LANES_INLINE double edge_score(int n, const double *S, const uint16_t *gold, int head, int child)
{
    return S[(int64_t)child * (n + 1) + head + 1] + (gold && gold[child] != head + 1);
}

WIDE_VECTORS
static void fill(const chart *t, const double *S, const uint16_t *gold)
{
    const int n = t->n;
    for (int j = 0; j < n; j++) {
        double *right_j = t->right + (int64_t)j * t->stride, *left_j = t->left + (int64_t)j * t->stride;
        double *edge_j = t->edge + (int64_t)j * t->stride;
        right_j[j] = left_j[j] = 0;
        for (int i = j - 1; i >= 0; i--) {
            double *right_i = t->right + (int64_t)i * t->stride, *left_i = t->left + (int64_t)i * t->stride;
            double *edge_i = t->edge + (int64_t)i * t->stride;
            double pair = best_sum(right_i + i, left_j + i + 1, j - i);
            edge_i[j] = pair + edge_score(n, S, gold, i, j);
            edge_j[i] = pair + edge_score(n, S, gold, j, i);
            right_i[j] = right_j[i] = best_sum(edge_i + i + 1, right_j + i + 1, j - i);
            left_i[j] = left_j[i] = best_sum(left_i + i, edge_j + i, j - i);
        }
    }
}

static void push(span *stack, int *waiting, int from, int to, part what)
{
    if (from < to)
        stack[(*waiting)++] = (span){(uint16_t)from, (uint16_t)to, (uint16_t)what};
}

/* Takes the spans on the stack apart until none is left. */
static void trace(const chart *t, span *stack, int waiting, uint16_t *heads)
{
    while (waiting > 0) {
        const span s = stack[--waiting];
        const int i = s.from, j = s.to;
        const double *right_i = t->right + (int64_t)i * t->stride, *left_i = t->left + (int64_t)i * t->stride;
        const double *right_j = t->right + (int64_t)j * t->stride, *left_j = t->left + (int64_t)j * t->stride;
        const double *edge_i = t->edge + (int64_t)i * t->stride, *edge_j = t->edge + (int64_t)j * t->stride;
        int k;
        switch ((part)s.what) {
        case RIGHT:
            k = i + 1 + first_best(edge_i + i + 1, right_j + i + 1, j - i);
            heads[k] = (uint16_t)(i + 1);
            push(stack, &waiting, i, k, PAIR);
            push(stack, &waiting, k, j, RIGHT);
            break;
        case LEFT:
            k = i + first_best(left_i + i, edge_j + i, j - i);
            heads[k] = (uint16_t)(j + 1);
            push(stack, &waiting, i, k, LEFT);
            push(stack, &waiting, k, j, PAIR);
            break;
        case PAIR:
            k = i + first_best(right_i + i, left_j + i + 1, j - i);
            push(stack, &waiting, i, k, RIGHT);
            push(stack, &waiting, k + 1, j, LEFT);
            break;
        }
    }
}

double tree_best_projective(int n, const double *S, const uint16_t *gold, uint16_t *heads, double *work)
{
    const int stride = lanes_padded(n);
    const int64_t cells = (int64_t)n * stride;
    chart t = {n, stride, work, work + cells, work + 2 * cells};
    fill(&t, S, gold);
    const double *right = t.right + (int64_t)(n - 1) * stride;
    int root = 0;
    double most = -INFINITY;
    for (int r = 0; r < n; r++) {
        double score = t.left[r] + edge_score(n, S, gold, -1, r) + right[r];
        if (score > most) {
            most = score;
            root = r;
        }
    }
    heads[root] = 0;
    span *stack = (span *)(work + 3 * cells);
    int waiting = 0;
    push(stack, &waiting, 0, root, LEFT);
    push(stack, &waiting, root, n - 1, RIGHT);
    trace(&t, stack, waiting, heads);
    return tree_score(n, S, heads, gold);
}
