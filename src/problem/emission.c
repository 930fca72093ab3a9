/* emission.c - see emission.h. The scores of a token stay in registers while its cells are gone through: a cell adds
 * whole lanes of its weights, those of the next columns' first tags among them, which end up in the padding. */
#include "problem/emission.h"

#include "data/rows_math.h"
#include "structure/lanes.h"

#define CELLS_AHEAD 12
#define MOST_VECTORS 6 /* of LANES numbers, that stay in registers */

typedef double lanes_vector __attribute__((vector_size(8 * LANES), aligned(8), may_alias));

/* The first 4 `vectors` tags from w on, vectors a constant; w and S begin with the first of them. Cells are
 * asked for up to `last`. */
LANES_INLINE void token_scores(const rows *r, rows_form form, uint64_t i, uint64_t last, const double *w, uint64_t T,
                               int vectors, double *S)
{
    lanes_vector s[MOST_VECTORS];
    for (int k = 0; k < vectors; k++)
        s[k] = (lanes_vector){0};
#define ADD(c, x)                                                                                                    \
    for (int k = 0; k < vectors; k++)                                                                                \
    s[k] += (x) * ((const lanes_vector *)(w + (c)*T))[k]
    ROWS_UNSTORED(r, i, ADD(c, x));
    const uint64_t end = r->start[i + 1];
    for (uint64_t j = r->start[i]; j < end; j++) {
        if (j + CELLS_AHEAD < last) { /* those of the next row, too */
            const double *ahead = w + rows_column(r, form, j + CELLS_AHEAD) * T;
            for (int k = 0; k < LANES * vectors; k += ROWS_LINE / (int)sizeof *w)
                __builtin_prefetch(ahead + k);
            __builtin_prefetch(ahead + LANES * vectors - 1);
        }
        ADD((uint64_t)rows_column(r, form, j), rows_value(r, form, i, j));
    }
#undef ADD
    for (int k = 0; k < vectors; k++)
        ((lanes_vector *)S)[k] = s[k];
}

LANES_INLINE void all_scores(const rows *r, rows_form form, uint64_t first, uint64_t count, const double *w, int T,
                             int stride, double *S)
{
    const int vectors = stride / LANES;
    const uint64_t last = r->start[first + count];
    for (uint64_t t = 0; t < count; t++, S += stride) {
        int k = 0;
        for (; vectors - k >= MOST_VECTORS; k += MOST_VECTORS)
            token_scores(r, form, first + t, last, w + LANES * k, (uint64_t)T, MOST_VECTORS, S + LANES * k);
        switch (vectors - k) {
#define CASE(rest)                                                                                                   \
    case rest:                                                                                                       \
        token_scores(r, form, first + t, last, w + LANES * k, (uint64_t)T, rest, S + LANES * k);                     \
        break
            CASE(1);
            CASE(2);
            CASE(3);
            CASE(4);
            CASE(5);
#undef CASE
        }
    }
}

#define FORM(name, form)                                                                                             \
    WIDE_VECTORS static void name(const rows *r, uint64_t first, uint64_t count, const double *w, int T, int stride, \
                                  double *S)                                                                         \
    {                                                                                                                \
        all_scores(r, form, first, count, w, T, stride, S);                                                          \
    }
FORM(scores_ones, ROWS_ONES)
FORM(scores_constant, ROWS_CONSTANT)
FORM(scores_float, ROWS_FLOAT)
FORM(scores_double, ROWS_DOUBLE)

void emission_scores(const rows *r, uint64_t first, uint64_t count, const double *w, int T, int stride, double *S)
{
    switch (r->form) {
    case ROWS_ONES:
        scores_ones(r, first, count, w, T, stride, S);
        break;
    case ROWS_CONSTANT:
        scores_constant(r, first, count, w, T, stride, S);
        break;
    case ROWS_FLOAT:
        scores_float(r, first, count, w, T, stride, S);
        break;
    case ROWS_DOUBLE:
        scores_double(r, first, count, w, T, stride, S);
        break;
    }
}
