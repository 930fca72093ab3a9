/* structured_tree.c - heads of the tokens of a sentence: row c (n+1) + h of a unit is the edge from h to token c + 1.
 *
 * w is [columns]. A table is [n][n+1] scores of edges (structure/tree.h). Rows of edges from a token to itself have no
 * cells; the class of a row is 1 on gold edges, else 0. */
#include <math.h>
#include <string.h>

#include "data/rows_math.h"
#include "problem/kinds.h"
#include "problem/structured.h"
#include "structure/tree.h"

static uint64_t tree_table(const structured *s, uint32_t n)
{
    (void)s;
    return (uint64_t)n * (n + 1);
}

static uint32_t tree_length(uint64_t rows)
{
    uint64_t n = (uint64_t)sqrt((double)rows);
    while (n > 0 && n * (n + 1) > rows)
        n--;
    return n <= TREE_LONGEST && n * (n + 1) == rows ? (uint32_t)n : 0;
}

static bool tree_gold(const structured *s, uint64_t row, uint32_t n, uint16_t *y)
{
    const uint32_t *class = s->p->data->target.class + row;
    for (uint32_t c = 0; c < n; c++) {
        uint32_t heads = 0;
        for (uint32_t h = 0; h <= n; h++)
            if (class[(uint64_t)c * (n + 1) + h]) {
                y[c] = (uint16_t)h;
                heads++;
            }
        if (heads != 1 || y[c] == c + 1)
            return false;
    }
    return true;
}

static uint64_t score_edges(const structured *s, uint32_t i, const double *u, double *S)
{
    const rows *r = &s->p->rows;
    const uint64_t first = structured_row(s, i), edges = tree_table(s, structured_length(s, i));
#define CALL(form)                                                                                                   \
    for (uint64_t k = 0; k < edges; k++)                                                                             \
    S[k] = rows_dot(r, form, first + k, u)
    ROWS_DISPATCH(r->form, CALL);
#undef CALL
    return r->start[first + edges] - r->start[first];
}

static inline uint64_t edge_of(uint32_t n, uint32_t c, uint32_t head)
{
    return (uint64_t)c * (n + 1) + head;
}

/* Edges that are wanted are marked by NAN first: several outputs share them. */
static uint64_t tree_score_of(const structured *s, uint32_t i, const double *u, uint32_t count,
                              const uint16_t *const *y, double *S)
{
    const rows *r = &s->p->rows;
    const uint64_t first = structured_row(s, i);
    const uint32_t n = structured_length(s, i);
    const uint16_t *gold = structured_gold(s, i);
    uint64_t cells = 0;
    for (uint32_t k = 0; k < count; k++)
        for (uint32_t c = 0; c < n; c++)
            if (y[k][c] != gold[c])
                S[edge_of(n, c, y[k][c])] = S[edge_of(n, c, gold[c])] = NAN;
    for (uint32_t k = 0; k < count; k++)
        for (uint32_t c = 0; c < n; c++)
            for (int of_gold = 0; of_gold < 2 && y[k][c] != gold[c]; of_gold++) {
                const uint64_t edge = edge_of(n, c, of_gold ? gold[c] : y[k][c]);
                if (!isnan(S[edge]))
                    continue;
#define CALL(form) S[edge] = rows_dot(r, form, first + edge, u)
                ROWS_DISPATCH(r->form, CALL);
#undef CALL
                cells += r->start[first + edge + 1] - r->start[first + edge];
            }
    return cells;
}

static double difference(const structured *s, uint32_t i, const double *S, const uint16_t *a, const uint16_t *b)
{
    return tree_difference((int)structured_length(s, i), S, a, b);
}

static double tree_total(const structured *s, uint32_t i, const double *S, const uint16_t *y)
{
    return tree_score((int)structured_length(s, i), S, y, NULL);
}

static void tree_count(const structured *s, uint32_t i, double step, const uint16_t *a, const uint16_t *b, double *x)
{
    const uint32_t n = structured_length(s, i);
    for (uint32_t c = 0; c < n; c++)
        if (a[c] != b[c]) {
            x[edge_of(n, c, a[c])] += step;
            x[edge_of(n, c, b[c])] -= step;
        }
}

static void tree_spread(const structured *s, uint32_t i, double *x, const double *h, double *u)
{
    const rows *r = &s->p->rows;
    const uint64_t first = structured_row(s, i), edges = tree_table(s, structured_length(s, i));
    for (uint64_t k = 0; k < edges; k++) {
        if (x[k] == 0)
            continue;
#define CALL(form)                                                                                                   \
    if (h)                                                                                                           \
        rows_add_scaled(r, form, first + k, x[k], h, u);                                                             \
    else                                                                                                             \
        rows_add(r, form, first + k, x[k], u)
        ROWS_DISPATCH(r->form, CALL);
#undef CALL
        x[k] = 0;
    }
}

static void tree_expect(const structured *s, uint32_t i, double scale, const double *mu, double *x)
{
    const uint64_t edges = tree_table(s, structured_length(s, i));
    for (uint64_t k = 0; k < edges; k++)
        x[k] = scale * mu[k];
}

static void tree_add(const structured *s, uint32_t i, double step, const uint16_t *y, double *x)
{
    const uint32_t n = structured_length(s, i);
    for (uint32_t c = 0; c < n; c++)
        x[edge_of(n, c, y[c])] += step;
}

/* By central differences, from scores that differ by DIFFERENCE: what is left out and what is lost to rounding are
 * both about 1e-10 of the largest derivative. */
#define DIFFERENCE 1e-5

static void tree_bend(const structured *s, uint32_t i, const double *S, const double *mu, const double *q,
                      double *room, double *x)
{
    (void)mu;
    const uint64_t edges = tree_table(s, structured_length(s, i));
    double most = 0, *ahead = room, *behind = room + edges;
    for (uint64_t k = 0; k < edges; k++)
        most = fmax(most, fabs(q[k]));
    const double step = most > 0 ? DIFFERENCE / most : 0;
    for (uint64_t k = 0; k < edges; k++)
        x[k] = S[k] - step * q[k];
    s->kind->sum(s, i, x, behind);
    for (uint64_t k = 0; k < edges; k++)
        x[k] = S[k] + step * q[k];
    s->kind->sum(s, i, x, ahead);
    for (uint64_t k = 0; k < edges; k++)
        x[k] = step > 0 ? (ahead[k] - behind[k]) / (2 * step) : 0;
}

/* ---- products ------------------------------------------------------------------------------------------------ */

/* H phi of one output: a hash table from columns to values. */
typedef struct structured_image {
    uint32_t *key; /* [slots] column + 1; 0: none */
    double *value; /* [slots] */
    uint32_t *slot_used;
    uint64_t used, slots;
    int shift; /* of a 64-bit product, to a slot's number */
} structured_image;

/* The cells of a unit's gold edges and of its fullest others: as many as phi has at most. */
static uint64_t cells_of_image(const structured *s, uint32_t i)
{
    const uint64_t *start = s->p->rows.start + structured_row(s, i);
    const uint32_t n = structured_length(s, i);
    uint64_t all = 0;
    for (uint32_t c = 0; c < n; c++) {
        uint64_t most = 0;
        for (uint32_t h = 0; h <= n; h++) {
            const uint64_t edge = edge_of(n, c, h), cells = start[edge + 1] - start[edge];
            most = cells > most ? cells : most;
        }
        all += 2 * (most + 1);
    }
    return all;
}

static bool tree_open(structured *s, arena *memory, bda_error *err)
{
    structured_image *m = s->image = ARENA_TAKE(memory, structured_image, 1, err);
    uint64_t cells = 1;
    for (uint32_t i = 0; i < s->count; i++) {
        const uint64_t here = cells_of_image(s, i);
        cells = here > cells ? here : cells;
    }
    if (!m)
        return false;
    m->shift = 63;
    for (m->slots = 2; m->slots < 2 * cells; m->slots *= 2)
        m->shift--;
    return (m->key = ARENA_TAKE(memory, uint32_t, m->slots, err)) &&
           (m->value = ARENA_TAKE(memory, double, m->slots, err)) &&
           (m->slot_used = ARENA_TAKE(memory, uint32_t, m->slots, err));
}

static inline uint64_t slot_of(const structured_image *m, uint64_t column)
{
    uint64_t slot = column * 0x9e3779b97f4a7c15u >> m->shift;
    while (m->key[slot] != 0 && m->key[slot] != column + 1)
        slot = (slot + 1) & (m->slots - 1);
    return slot;
}

static inline void image_add(structured_image *m, uint64_t column, double x)
{
    const uint64_t slot = slot_of(m, column);
    if (m->key[slot] == 0) {
        m->key[slot] = (uint32_t)column + 1;
        m->slot_used[m->used++] = (uint32_t)slot;
    }
    m->value[slot] += x;
}

ROWS_INLINE void image_add_row(structured_image *m, const rows *r, uint64_t i, double step, rows_form form)
{
    ROWS_UNSTORED(r, i, image_add(m, c, step * x));
    for (uint64_t j = r->start[i]; j < r->start[i + 1]; j++)
        image_add(m, rows_column(r, form, j), step * rows_value(r, form, i, j));
}

ROWS_INLINE double image_times_row(const structured_image *m, const rows *r, uint64_t i, rows_form form)
{
    double all = 0;
    ROWS_UNSTORED(r, i, all += x * m->value[slot_of(m, c)]);
    for (uint64_t j = r->start[i]; j < r->start[i + 1]; j++)
        all += rows_value(r, form, i, j) * m->value[slot_of(m, rows_column(r, form, j))];
    return all;
}

static void make_image(structured *s, uint32_t i, const uint16_t *y)
{
    structured_image *m = s->image;
    const rows *r = &s->p->rows;
    const uint64_t first = structured_row(s, i);
    const uint32_t n = structured_length(s, i);
    const uint16_t *gold = structured_gold(s, i);
    for (uint64_t k = 0; k < m->used; k++) {
        m->key[m->slot_used[k]] = 0;
        m->value[m->slot_used[k]] = 0;
    }
    m->used = 0;
    for (uint32_t c = 0; c < n; c++) {
        if (y[c] == gold[c])
            continue;
#define CALL(form)                                                                                                   \
    image_add_row(m, r, first + edge_of(n, c, gold[c]), 1, form);                                                    \
    image_add_row(m, r, first + edge_of(n, c, y[c]), -1, form)
        ROWS_DISPATCH(r->form, CALL);
#undef CALL
    }
    for (uint64_t k = 0; s->h && k < m->used; k++)
        m->value[m->slot_used[k]] *= s->h[m->key[m->slot_used[k]] - 1];
}

static bool tree_products(structured *s, uint32_t i, const uint16_t *y, uint32_t count, const uint16_t *const *others,
                          double *product)
{
    const structured_image *m = s->image;
    const rows *r = &s->p->rows;
    const uint64_t first = structured_row(s, i);
    const uint32_t n = structured_length(s, i);
    const uint16_t *gold = structured_gold(s, i);
    make_image(s, i, y);
    for (uint32_t k = 0; k < count; k++) {
        product[k] = 0;
        for (uint32_t c = 0; c < n; c++) {
            if (others[k][c] == gold[c])
                continue;
#define CALL(form)                                                                                                   \
    product[k] += image_times_row(m, r, first + edge_of(n, c, gold[c]), form) -                                      \
                  image_times_row(m, r, first + edge_of(n, c, others[k][c]), form)
            ROWS_DISPATCH(r->form, CALL);
#undef CALL
        }
    }
    return true;
}

/* |phi| <= sum_c 2 max_h |x_(c, h)| */
static double tree_largest_norm(const structured *s, uint32_t i)
{
    const uint64_t first = structured_row(s, i);
    const uint32_t n = structured_length(s, i);
    double all = 0;
    for (uint32_t c = 0; c < n; c++) {
        double most = 0;
#define CALL(form)                                                                                                   \
    for (uint32_t h = 0; h <= n; h++)                                                                                \
    most = fmax(most, rows_norm(&s->p->rows, form, first + edge_of(n, c, h)))
        ROWS_DISPATCH(s->p->rows.form, CALL);
#undef CALL
        all += 2 * sqrt(most);
    }
    return all * all;
}

/* ---- any trees, and projective ones --------------------------------------------------------------------------- */

#define TREES(KIND, TEXT)                                                                                            \
    static uint64_t tree_##KIND##_work(const structured *s, uint32_t n)                                              \
    {                                                                                                                \
        const uint64_t best = tree_best_##KIND##_work((int)n), sums = tree_sum_##KIND##_work((int)n);                \
        return s->p->loss->kind == LOSS_LOGISTIC && sums > best ? sums : best;                                       \
    }                                                                                                                \
    static double tree_##KIND##_best(const structured *s, uint32_t i, const double *S, const uint16_t *gold,         \
                                     uint16_t *y)                                                                    \
    {                                                                                                                \
        return tree_best_##KIND((int)structured_length(s, i), S, gold, y, s->work);                                  \
    }                                                                                                                \
    static double tree_##KIND##_sum(const structured *s, uint32_t i, const double *S, double *mu)                    \
    {                                                                                                                \
        return tree_sum_##KIND((int)structured_length(s, i), S, mu, s->work);                                        \
    }                                                                                                                \
    const structure tree_##KIND##_structure = {                                                                      \
        .name = TEXT,                                                                                                \
        .table = tree_table,                                                                                         \
        .work = tree_##KIND##_work,                                                                                  \
        .length = tree_length,                                                                                       \
        .gold = tree_gold,                                                                                           \
        .open = tree_open,                                                                                           \
        .score = score_edges,                                                                                        \
        .score_of = tree_score_of,                                                                                   \
        .best = tree_##KIND##_best,                                                                                  \
        .difference = difference,                                                                                    \
        .count = tree_count,                                                                                         \
        .spread = tree_spread,                                                                                       \
        .products = tree_products,                                                                                   \
        .largest_norm = tree_largest_norm,                                                                           \
        .total = tree_total,                                                                                         \
        .sum = tree_##KIND##_sum,                                                                                    \
        .marginals = tree_table,                                                                                     \
        .expect = tree_expect,                                                                                       \
        .add = tree_add,                                                                                             \
        .bend = tree_bend,                                                                                           \
        .visits = 2,                                                                                                 \
    }

TREES(any, "dependency trees");
TREES(projective, "projective dependency trees");
