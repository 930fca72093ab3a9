/* tree.c - given dependency trees: their scores, whether they are trees, whether they are projective. */
#include "structure/tree.h"

#include "base/vector.h"

double tree_score(int n, const double *S, const uint16_t *heads, const uint16_t *gold)
{
    sum s = {0};
    for (int c = 0; c < n; c++)
        sum_add(&s, S[(int64_t)c * (n + 1) + heads[c]] + (gold && heads[c] != gold[c]));
    return sum_value(&s);
}

double tree_difference(int n, const double *S, const uint16_t *a, const uint16_t *b)
{
    sum s = {0};
    for (int c = 0; c < n; c++)
        if (a[c] != b[c]) {
            sum_add(&s, S[(int64_t)c * (n + 1) + a[c]]);
            sum_add(&s, -S[(int64_t)c * (n + 1) + b[c]]);
        }
    return sum_value(&s);
}

int tree_wrong(int n, const uint16_t *heads, const uint16_t *gold)
{
    int wrong = 0;
    for (int c = 0; c < n; c++)
        wrong += heads[c] != gold[c];
    return wrong;
}

tree_fault tree_check(int n, const uint16_t *heads, int *token, uint16_t *work)
{
    int roots = 0;
    for (int c = 0; c < n; c++) {
        work[c] = 0;
        *token = c;
        if (heads[c] > n)
            return TREE_NO_SUCH_HEAD;
        if (heads[c] == 0 && roots++)
            return TREE_SECOND_ROOT;
    }
    for (int c = 0; c < n; c++) {
        /* Climb until the root or a token that was met before; in this climb (its number is c + 1): a cycle. */
        int at = c;
        while (work[at] == 0 && heads[at] != 0) {
            work[at] = (uint16_t)(c + 1);
            at = heads[at] - 1;
        }
        *token = at;
        if (work[at] == c + 1)
            return TREE_CYCLE;
    }
    *token = 0;
    return roots ? TREE_FINE : TREE_NO_ROOT;
}

/* Heads form a tree, so the climb ends at the root. */
static bool descends(const uint16_t *heads, int token, int from)
{
    while (token != from && token != 0)
        token = heads[token - 1];
    return token == from;
}

int tree_crossings(int n, const uint16_t *heads)
{
    int crossings = 0;
    for (int child = 1; child <= n; child++) {
        const int head = heads[child - 1], low = head < child ? head : child, high = head < child ? child : head;
        for (int k = low + 1; k < high; k++) {
            /* A climb that stays between the ends reaches one of them; where it leaves, it is decided. */
            if ((heads[k - 1] < low || heads[k - 1] > high) && !descends(heads, k, head)) {
                crossings++;
                break;
            }
        }
    }
    return crossings;
}

bool tree_is_projective(int n, const uint16_t *heads)
{
    return tree_crossings(n, heads) == 0;
}
