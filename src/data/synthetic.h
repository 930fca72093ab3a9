/* synthetic.h - rows of a made-up data set with the shape of a real one, any of them at any time.
 *
 * Row i depends on (shape, scale, seed, i) alone, so ranks can make their own rows in any order. A feature that is
 * the k-th most frequent (k from 0) has probability p_k ~ (k+1)^-s, cut off at n. A row draws a Poisson number of
 * features with replacement, with mean r m, where m spreads the lengths of rows (0.3 + 0.7 Exp(1), mean 1) and r is
 * set such that the mean number of distinct features is the shape's. How often a feature was drawn is its term
 * frequency.
 *
 *   ones       every value is 1
 *   constant   1/sqrt(features in the row), in decimals of 10^-5
 *   float      (1 + log tf)(1 + log(k+1)), scaled to unit length, in multiples of a power of two
 *
 * All of these are read back from short text as the very same double, and those of `float` are floats exactly.
 *
 * The label is +1 where the planted model's score, the sum of weight_k value_k (value 1 for `constant`), is above a
 * threshold that gives the shape's fraction of positives; then a fraction `noise` of the labels is flipped. A quarter
 * of the features has a weight, uniform in (-1, 1) / sqrt(1 + k/h) with h = r p_0: about h features are in most rows,
 * and what is rarer says less, so that a part of the data teaches something about the rest.
 *
 * Left out: features that depend on each other; the same bits on machines whose C library rounds log and exp
 * differently.
 */
#ifndef DATA_SYNTHETIC_H
#define DATA_SYNTHETIC_H

#include "data/data.h"

typedef struct synthetic {
    rows_form form;
    uint64_t instances, features, seed;
    double noise;
    double exponent;         /* t = 1 - s */
    double range;            /* (n+1)^t - 1 */
    double rate;             /* r */
    double head;             /* h */
    uint64_t stride, offset; /* the k-th most frequent feature is column (k stride + offset) mod n */
    int key_bits;            /* of a column */
    int decimals;            /* a value is ticks * unit / 10^decimals */
    uint64_t unit;
    double threshold;
    uint64_t most; /* cells a row can have */
} synthetic;

typedef struct synthetic_row {
    uint64_t count;
    uint64_t *cell;  /* [most] column << 32 | ticks of the value; columns increase */
    uint64_t *spare; /* [most] */
    double label;
    uint32_t ticks; /* of every value; form float: not used */
} synthetic_row;

/* Makes some rows to find the threshold. BDA_USAGE where the scale asks for more instances or features than can be
 * counted. */
bool synthetic_open(synthetic *s, const data_shape *shape, double scale, uint64_t seed, bda_error *err);
bool synthetic_row_open(synthetic_row *row, const synthetic *s, arena *a, bda_error *err);
void synthetic_make(const synthetic *s, uint64_t instance, synthetic_row *row);
/* The same, with the cells in no order. */
void synthetic_draw(const synthetic *s, uint64_t instance, synthetic_row *row);
/* What follows from the number of cells alone: the ticks of every value of a row of form constant; 1 otherwise. */
uint32_t synthetic_row_ticks(const synthetic *s, uint64_t count);

static inline uint32_t synthetic_column(uint64_t cell)
{
    return (uint32_t)(cell >> 32);
}
/* The value of a cell; ones and constant: pass the row's ticks. */
double synthetic_value(const synthetic *s, uint32_t ticks);

#endif
