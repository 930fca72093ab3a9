/* structured.h - the units of a block as structures: sentences with tags, or with dependency trees.
 *
 * An output y of a unit is [length] small numbers: a tag for each token, or its head. It consists of parts, one for
 * each token and, for tags, one for each pair of neighbours, and scores are sums over parts:
 *
 *     w'Phi(y) = sum_t S[t][y_t] (+ sum_t transition[y_{t-1}][y_t]),    phi_y = Phi(gold) - Phi(y).
 *
 * What a kind of structure knows is in a `structure`: how a table of scores S follows from weights, which output is
 * best, sums over all outputs, and how a change of parts becomes a change of weights. A table has structure_table
 * doubles for a unit, laid out as src/structure wants it; tables of changes x have the same layout.
 *
 * Local; the work space serves one unit at a time, so different blocks may be used by different threads. */
#ifndef PROBLEM_STRUCTURED_H
#define PROBLEM_STRUCTURED_H

#include "base/memory.h"
#include "problem/problem.h"

typedef struct structured {
    const struct structure *kind;
    const problem *p;
    uint64_t first;    /* unit of this rank */
    uint32_t count;    /* units */
    uint32_t longest;  /* length */
    uint64_t largest;  /* doubles of the largest table */
    int tags, stride;  /* of chains: T, and the padded length of a row of the table */
    uint64_t *gold_at; /* [count + 1] where in gold a unit's output begins */
    uint16_t *gold;
    const double *h; /* [n] the diagonal in structured_product, the same for all outputs of a column; NULL: 1 */

    /* Work space */
    double *S;        /* [largest] */
    double *x;        /* [largest] all 0 between uses */
    double *work;     /* of best and sum */
    double *factors;  /* chains: for chain_factors_make */
    uint16_t *output; /* [longest] */
    uint32_t *token;  /* [2][longest] */
    float **kernel;   /* chains: [count] of [length][length] x_t'x_s, made when they are first wanted */
    uint64_t *kernel_bytes;
    struct structured_image *image; /* trees: phi of the output at hand */
} structured;

typedef struct structure {
    const char *name;
    uint64_t (*table)(const structured *s, uint32_t length);
    uint64_t (*work)(const structured *s, uint32_t length); /* doubles for best and sum */
    uint32_t (*length)(uint64_t rows);                      /* of a unit with so many rows; 0: there is none */
    bool (*gold)(const structured *s, uint64_t row, uint32_t length, uint16_t *y);
    bool (*open)(structured *s, arena *memory, bda_error *err); /* memory for products; may be NULL */

    /* S = the scores of all parts by u; returns cells looked at. */
    uint64_t (*score)(const structured *s, uint32_t i, const double *u, double *S);
    /* The same for the parts that gold and these outputs have; the others are not written. */
    uint64_t (*score_of)(const structured *s, uint32_t i, const double *u, uint32_t count, const uint16_t *const *y,
                         double *S);
    /* The best output and its score; with gold, score + wrong. */
    double (*best)(const structured *s, uint32_t i, const double *S, const uint16_t *gold, uint16_t *y);
    /* score(a) - score(b), from the parts where they differ */
    double (*difference)(const structured *s, uint32_t i, const double *S, const uint16_t *a, const uint16_t *b);
    /* x += step (parts of a - parts of b) */
    void (*count)(const structured *s, uint32_t i, double step, const uint16_t *a, const uint16_t *b, double *x);
    /* u += X x, times h where it is not NULL, and x = 0 */
    void (*spread)(const structured *s, uint32_t i, double *x, const double *h, double *u);
    /* product[k] = phi_y' H phi_k for outputs k; false: no memory */
    bool (*products)(structured *s, uint32_t i, const uint16_t *y, uint32_t count, const uint16_t *const *others,
                     double *product);
    double (*largest_norm)(const structured *s, uint32_t i); /* a bound of |phi_y|^2 for all y */
    double (*total)(const structured *s, uint32_t i, const double *S, const uint16_t *y); /* score of y */
    /* With the logistic loss: log Z, and where mu is not NULL the marginals; of trees a table, of tags those of nodes
     * [length][stride] and then of edges [length - 1][T][stride]. */
    double (*sum)(const structured *s, uint32_t i, const double *S, double *mu);
    uint64_t (*marginals)(const structured *s, uint32_t length); /* numbers of mu */
    /* x, which is 0, = scale (the expected parts of a distribution with the marginals mu, or of a change of it) */
    void (*expect)(const structured *s, uint32_t i, double scale, const double *mu, double *x);
    /* x += step (parts of y) */
    void (*add)(const structured *s, uint32_t i, double step, const uint16_t *y, double *x);
    /* x, which is 0, = the derivative of the expected parts as the scores go from S, where the marginals are mu, along
     * q; room: for twice the marginals */
    void (*bend)(const structured *s, uint32_t i, const double *S, const double *mu, const double *q, double *room,
                 double *x);
    int64_t visits; /* of a unit after each search that pay, the first included */
} structure;

/* Of chains: |X x|^2 in the norm of h. NAN: no memory. */
double structured_chain_norm(structured *s, uint32_t i, const double *x);

extern const structure chain_structure, tree_any_structure, tree_projective_structure;

/* The units [first, first + count) of this rank. False and a sentence on failure: memory, or units that are not what
 * the structure wants. */
bool structured_open(structured *s, arena *memory, const problem *p, uint64_t first, uint32_t count, bda_error *err);
void structured_close(structured *s);

static inline uint32_t structured_length(const structured *s, uint32_t i)
{
    return (uint32_t)(s->gold_at[i + 1] - s->gold_at[i]);
}

static inline const uint16_t *structured_gold(const structured *s, uint32_t i)
{
    return s->gold + s->gold_at[i];
}

static inline uint64_t structured_row(const structured *s, uint32_t i)
{
    return data_unit_row(s->p->data, s->first + i);
}

/* Products are with another h from now on, [n] or NULL. */
void structured_weigh(structured *s, const double *h);

/* xi_i at w, from the most violated output or the sum over all. */
double structured_loss(structured *s, uint32_t i, const double *w);

static inline uint32_t structured_wrong(uint32_t length, const uint16_t *y, const uint16_t *gold)
{
    uint32_t wrong = 0;
    for (uint32_t t = 0; t < length; t++)
        wrong += y[t] != gold[t];
    return wrong;
}

#endif
