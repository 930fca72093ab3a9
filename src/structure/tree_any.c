/* tree_any.c - the best dependency tree with one root edge: Chu-Liu-Edmonds, dense, O(n^2).
 *
 * Trees are ordered by (number of root edges, then score), so that the best one has exactly one root edge. In the
 * algorithm this order takes a simple form. An edge from the root is worse than any other, the root is in no cycle,
 * and therefore no best incoming edge comes from the root as long as two (contracted) tokens are left. So cycles of
 * the other edges are contracted until one token is left, which takes its best root edge. Nothing is subtracted from
 * root scores to keep them away, and no digits are lost to it.
 *
 * A path is grown along best incoming edges (Tarjan 1977; Camerini, Fratta, Maffioli 1979). Where it meets itself,
 * the cycle C becomes one token in the slot of its first:
 *
 *     score(h -> C) = max_{c in C} score(h -> c) - best(c),     score(C -> c) = max_{h in C} score(h -> c).
 *
 * Each cell remembers the edge between original tokens that it stands for. At the end contractions are undone, the
 * newest first: the edge that enters C decides which of its tokens leaves the cycle.
 */
#include "structure/lanes.h"
#include "structure/tree.h"

typedef struct graph {
    int n, stride;
    int ids;         /* tokens and contractions so far */
    double *score;   /* [n][stride] by child, head slot; -INFINITY where there is no edge */
    double *root;    /* [n] score of the root edge to a slot */
    double *best;    /* [n] score of a slot's best incoming edge */
    uint32_t *from;  /* [n][stride] original edge of a cell, head * n + child: its order breaks ties */
    uint32_t *entry; /* [n] original root edge */
    uint32_t *edge;  /* [2n] chosen incoming edge by id */
    int32_t *parent; /* [2n] contraction that an id is part of */
    int32_t *id;     /* [n] id of the slot's token; -1: contracted into another */
    int32_t *path;   /* [n] slots */
    int32_t *place;  /* [n] place in path; -1: not in it */
} graph;

uint64_t tree_best_any_work(int n)
{
    uint64_t rows = (uint64_t)n, cells = rows * (uint64_t)lanes_padded(n);
    return cells + 2 * rows + (cells + 8 * rows + 1) / 2;
}

static void open_graph(graph *g, int n, const double *S, const uint16_t *gold, double *work)
{
    const int stride = lanes_padded(n);
    const int64_t cells = (int64_t)n * stride;
    uint32_t *words = (uint32_t *)(work + cells + 2 * n);
    int32_t *ints = (int32_t *)(words + cells + 3 * n);
    *g = (graph){.n = n, .stride = stride, .ids = n, .score = work, .root = work + cells, .best = work + cells + n};
    g->from = words;
    g->entry = words + cells;
    g->edge = words + cells + n;
    g->parent = ints;
    g->id = ints + 2 * n;
    g->path = ints + 3 * n;
    g->place = ints + 4 * n;
    for (int c = 0; c < n; c++) {
        const double *row = S + (int64_t)c * (n + 1), cost = gold ? 1 : 0;
        double *score = g->score + (int64_t)c * stride;
        uint32_t *from = g->from + (int64_t)c * stride;
        for (int h = 0; h < n; h++)
            score[h] = row[h + 1] + cost;
        for (int h = 0; h < n; h++)
            from[h] = (uint32_t)(h + 1) * (uint32_t)n + (uint32_t)c;
        for (int h = n; h < stride; h++) {
            score[h] = -INFINITY;
            from[h] = UINT32_MAX;
        }
        g->root[c] = row[0] + cost;
        if (gold && gold[c])
            score[gold[c] - 1] = row[gold[c]];
        else if (gold)
            g->root[c] = row[0];
        score[c] = -INFINITY;
        g->entry[c] = (uint32_t)c;
        g->id[c] = c;
        g->place[c] = -1;
    }
}

/* The slot of the best head of a slot. */
static int best_head(const graph *g, int slot)
{
    const double *score = g->score + (int64_t)slot * g->stride;
    const uint32_t *from = g->from + (int64_t)slot * g->stride;
    const double most = lanes_max(score, g->stride);
    int head = -1, other = -1;
    for (int h = 0; h < g->n; h++) {
        if (score[h] == most && h != slot && g->id[h] >= 0 && (head < 0 || from[h] < from[head]))
            head = h;
        if (g->id[h] >= 0 && h != slot)
            other = h;
    }
    return head >= 0 ? head : other; /* the other: scores are not numbers */
}

/* The incoming edges of `slot`, already reduced, or those of `member` reduced by its best one: whichever is better */
static void merge_row(graph *g, int slot, int member)
{
    double *score = g->score + (int64_t)slot * g->stride;
    uint32_t *from = g->from + (int64_t)slot * g->stride;
    const double *others = g->score + (int64_t)member * g->stride, best = g->best[member];
    const uint32_t *others_from = g->from + (int64_t)member * g->stride;
    for (int h = 0; h < g->stride; h++) {
        double x = others[h] - best;
        if (x > score[h] || (x == score[h] && others_from[h] < from[h])) {
            score[h] = x;
            from[h] = others_from[h];
        }
    }
    double x = g->root[member] - best;
    if (x > g->root[slot] || (x == g->root[slot] && g->entry[member] < g->entry[slot])) {
        g->root[slot] = x;
        g->entry[slot] = g->entry[member];
    }
}

/* Edges from the cycle path[first ..] to another slot: the best becomes that from `slot`, the others go. */
static void merge_cells(graph *g, int other, int slot, int first, int length)
{
    double *score = g->score + (int64_t)other * g->stride;
    uint32_t *from = g->from + (int64_t)other * g->stride;
    for (int k = first + 1; k < length; k++) {
        int member = g->path[k];
        if (score[member] > score[slot] || (score[member] == score[slot] && from[member] < from[slot])) {
            score[slot] = score[member];
            from[slot] = from[member];
        }
        score[member] = -INFINITY;
    }
}

/* Makes the cycle path[first .. length-1] one token, in the slot of its first. */
static void contract(graph *g, int first, int length)
{
    const int slot = g->path[first], id = g->ids++;
    double *score = g->score + (int64_t)slot * g->stride;
    for (int h = 0; h < g->stride; h++)
        score[h] -= g->best[slot];
    g->root[slot] -= g->best[slot];
    g->parent[g->id[slot]] = id;
    for (int k = first + 1; k < length; k++) {
        int member = g->path[k];
        merge_row(g, slot, member);
        g->parent[g->id[member]] = id;
        g->id[member] = -1;
        g->place[member] = -1;
    }
    for (int k = first; k < length; k++)
        score[g->path[k]] = -INFINITY;
    for (int other = 0; other < g->n; other++)
        if (g->id[other] >= 0 && other != slot)
            merge_cells(g, other, slot, first, length);
    g->id[slot] = id;
}

double tree_best_any(int n, const double *S, const uint16_t *gold, uint16_t *heads, double *work)
{
    graph g;
    open_graph(&g, n, S, gold, work);
    int length = 1, left = n;
    g.path[0] = 0;
    g.place[0] = 0;
    while (left > 1) {
        const int slot = g.path[length - 1], head = best_head(&g, slot);
        g.best[slot] = g.score[(int64_t)slot * g.stride + head];
        g.edge[g.id[slot]] = g.from[(int64_t)slot * g.stride + head];
        if (g.place[head] < 0) {
            g.place[head] = length;
            g.path[length++] = head;
        } else {
            const int first = g.place[head];
            contract(&g, first, length);
            left -= length - 1 - first;
            length = first + 1;
        }
    }
    g.edge[g.ids - 1] = g.entry[g.path[0]];
    for (int id = g.ids - 1; id >= n; id--) {
        int member = (int)(g.edge[id] % (uint32_t)n);
        while (g.parent[member] != id)
            member = g.parent[member];
        g.edge[member] = g.edge[id];
    }
    for (int c = 0; c < n; c++)
        heads[c] = (uint16_t)(g.edge[c] / (uint32_t)n);
    return tree_score(n, S, heads, gold);
}
