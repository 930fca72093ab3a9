/* outputs.h - small corpora of tagged sentences and trees, and all of their outputs one by one.
 *
 * Everything here is plain and slow, and goes through dense vectors: Phi(y) is made from the rows as they were drawn. */
#ifndef CHECKER_OUTPUTS_H
#define CHECKER_OUTPUTS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "checker/draw.h"
#include "problem/block.h"
#include "problem/structured.h"

enum { COLUMNS = 9, TAGS = 3, LONGEST = 4, UNITS = 12, ROWS_MOST = UNITS * LONGEST * (LONGEST + 1) };
enum { WEIGHTS_MOST = COLUMNS * TAGS + (TAGS + 1) * TAGS };

typedef struct corpus {
    const structure *kind;
    bool trees, projective;
    int columns; /* of features */
    uint64_t unit_row[UNITS + 1], start[ROWS_MOST + 1];
    uint32_t column[ROWS_MOST * COLUMNS], class[ROWS_MOST];
    double value[ROWS_MOST * COLUMNS];
    int length[UNITS];
    uint16_t gold[UNITS][LONGEST];
    comm *comm;
    data *data;
    problem problem;
    arena memory;
    block **blocks;
} corpus;

/* One head each, one root, no cycle; with `projective` no edges that cross, the root's at position 0 among them. */
static inline bool is_tree(int n, const uint16_t *heads, bool projective)
{
    int roots = 0;
    for (int c = 1; c <= n; c++) {
        int at = c, steps = 0;
        while (at != 0 && steps++ <= n)
            at = heads[at - 1];
        if (at != 0)
            return false;
        roots += heads[c - 1] == 0;
    }
    for (int a = 1; projective && a <= n; a++)
        for (int b = 1; b <= n; b++) {
            int la = a < heads[a - 1] ? a : heads[a - 1], ra = a + heads[a - 1] - la;
            int lb = b < heads[b - 1] ? b : heads[b - 1], rb = b + heads[b - 1] - lb;
            if (la < lb && lb < ra && ra < rb)
                return false;
        }
    return roots == 1;
}

/* The next output after y in the order of counting, or the first; false: there is none. */
static inline bool next_output(const corpus *t, int i, uint16_t *y, bool first)
{
    const int n = t->length[i], base = t->trees ? n + 1 : TAGS;
    if (first)
        memset(y, 0, LONGEST * sizeof *y);
    for (bool begin = first;; begin = false) {
        int at = 0;
        if (!begin) {
            while (at < n && y[at] == base - 1)
                y[at++] = 0;
            if (at == n)
                return false;
            y[at]++;
        }
        if (!t->trees || is_tree(n, y, t->projective))
            return true;
    }
}

static inline void add_row(const corpus *t, uint64_t row, int outputs, int output, long double *phi,
                           long double scale)
{
    for (uint64_t j = t->start[row]; j < t->start[row + 1]; j++)
        phi[t->column[j] * (uint32_t)outputs + (uint32_t)output] += scale * t->value[j];
}

/* phi += scale Phi(y) */
static inline void add_features(const corpus *t, int i, const uint16_t *y, long double scale, long double *phi)
{
    const int n = t->length[i];
    for (int k = 0; k < n; k++) {
        if (t->trees) {
            add_row(t, t->unit_row[i] + (uint64_t)(k * (n + 1) + y[k]), 1, 0, phi, scale);
            continue;
        }
        add_row(t, t->unit_row[i] + (uint64_t)k, TAGS, y[k], phi, scale);
        phi[COLUMNS * TAGS + (k ? y[k - 1] : TAGS) * TAGS + y[k]] += scale;
    }
}

static inline int wrong_parts(const corpus *t, int i, const uint16_t *y)
{
    int wrong = 0;
    for (int k = 0; k < t->length[i]; k++)
        wrong += y[k] != t->gold[i][k];
    return wrong;
}

/* phi_y'w = w'(Phi(gold) - Phi(y)) */
static inline long double margin(const corpus *t, int i, const uint16_t *y, const long double *w)
{
    long double phi[WEIGHTS_MOST] = {0}, all = 0;
    add_features(t, i, t->gold[i], 1, phi);
    add_features(t, i, y, -1, phi);
    for (int j = 0; j < WEIGHTS_MOST; j++)
        all += phi[j] * w[j];
    return all;
}

static inline void draw_units(corpus *t)
{
    uint64_t rows = 0, cells = 0;
    for (int i = 0; i < UNITS; i++) {
        const int n = t->length[i] = 1 + i % LONGEST;
        t->unit_row[i] = rows;
        do
            for (int k = 0; k < n; k++)
                t->gold[i][k] = (uint16_t)uniform(0, t->trees ? n + 1 : TAGS);
        while (t->trees && !is_tree(n, t->gold[i], t->projective));
        for (int c = 0; c < n; c++)
            for (int h = 0; h < (t->trees ? n + 1 : 1); h++) {
                t->start[rows] = cells;
                t->class[rows] = t->trees ? t->gold[i][c] == h : t->gold[i][c];
                for (uint32_t j = 0; j < COLUMNS && !(t->trees && h == c + 1); j++)
                    if (uniform(0, 1) < 0.4) {
                        t->column[cells] = j;
                        t->value[cells++] = t->trees ? 1 : uniform(-1, 1);
                    }
                rows++;
            }
    }
    t->unit_row[UNITS] = rows;
    t->start[rows] = cells;
}

static inline void corpus_draw(corpus *t, const structure *kind)
{
    memset(t, 0, sizeof *t);
    t->kind = kind;
    t->trees = kind != &chain_structure;
    t->projective = kind == &tree_projective_structure;
    draw_units(t);
}

#endif
