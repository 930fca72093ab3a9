/* synthetic.c - see synthetic.h.
 *
 * With x = k + 1, t = 1 - s and u uniform in [0, 1), the cut-off power law is drawn by inverting its distribution
 *
 *     F(x) = (x^t - 1) / ((n+1)^t - 1),   1 <= x < n+1,   so   log x = log(1 + u ((n+1)^t - 1)) / t.
 *
 * The draws of a row are a Poisson process on u in [0, 1): gaps are exponential, so draws come in the order of k and
 * equal ones stand together. Sorting is needed only because frequent features are spread over all columns.
 */
#include "data/synthetic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "data/number.h"

#define STREAM 0x67656e657261u /* keeps these numbers apart from those of a training with the same seed */
#define SHORTEST 0.3           /* of the mean length */
#define LEVELS 64              /* a typical value of form float is about this many units */

static double distribution(const synthetic *s, double x)
{
    return expm1(s->exponent * log(x)) / s->range;
}

/* The expected number of distinct features among a Poisson number of draws with mean `rate`. Cells of similar
 * probability are counted in groups that grow with k. */
static double distinct(const synthetic *s, double rate)
{
    double total = 0;
    uint64_t k = 0;
    while (k < s->features) {
        uint64_t next = k + 1 + k / 16;
        next = next < s->features ? next : s->features;
        double cells = (double)(next - k);
        double share = distribution(s, (double)next + 1) - distribution(s, (double)k + 1);
        total -= cells * expm1(-rate * share / cells);
        k = next;
    }
    return total;
}

/* The rate at which rows of all lengths have `target` features on average: a fixed point of a concave function. */
static double calibrate(const synthetic *s, double target)
{
    enum { QUANTILES = 128, STEPS = 40 };
    double rate = target;
    for (int step = 0; step < STEPS; step++) {
        double mean = 0;
        for (int q = 0; q < QUANTILES; q++)
            mean += distinct(s, rate * (SHORTEST - (1 - SHORTEST) * log((q + 0.5) / QUANTILES))) / QUANTILES;
        if (fabs(mean - target) < 1e-4 * target)
            break;
        rate *= target / mean;
    }
    return rate;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* splitmix64's finaliser */
static uint64_t mix(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static double planted_weight(const synthetic *s, uint64_t k)
{
    uint64_t bits = mix(mix(s->seed + STREAM) + k * 0x9e3779b97f4a7c15u);
    if (bits & 3)
        return 0;
    return (double)(int64_t)bits * 0x1p-63 / sqrt(1 + (double)k / s->head);
}

/* Least significant digit first; short rows by insertion. */
static void sort_cells(synthetic_row *row, int key_bits)
{
    enum { DIGIT = 11, SHORT = 64 };
    uint64_t *from = row->cell, *to = row->spare;
    if (row->count <= SHORT) {
        for (uint64_t i = 1; i < row->count; i++) {
            uint64_t cell = from[i], j = i;
            for (; j > 0 && from[j - 1] > cell; j--)
                from[j] = from[j - 1];
            from[j] = cell;
        }
        return;
    }
    for (int shift = 32; shift < 32 + key_bits; shift += DIGIT) {
        uint64_t place[1 << DIGIT] = {0}, sum = 0;
        for (uint64_t i = 0; i < row->count; i++)
            place[from[i] >> shift & ((1 << DIGIT) - 1)]++;
        for (int d = 0; d < 1 << DIGIT; d++) {
            uint64_t count = place[d];
            place[d] = sum;
            sum += count;
        }
        for (uint64_t i = 0; i < row->count; i++)
            to[place[from[i] >> shift & ((1 << DIGIT) - 1)]++] = from[i];
        uint64_t *keep = from;
        from = to;
        to = keep;
    }
    row->cell = from;
    row->spare = to;
}

/* Turns the values of a row, held as the bits of floats, into ticks of unit length. */
static void scale_values(const synthetic *s, synthetic_row *row, double squares)
{
    double scale = number_ten[s->decimals] / ((double)s->unit * sqrt(squares));
    for (uint64_t i = 0; i < row->count; i++) {
        uint32_t bits = (uint32_t)row->cell[i];
        float value;
        memcpy(&value, &bits, sizeof value);
        double ticks = floor(value * scale + 0.5);
        row->cell[i] = row->cell[i] >> 32 << 32 | (uint32_t)(ticks < 1 ? 1 : ticks);
    }
}

/* Adds the k-th most frequent feature, drawn `times` times; returns its value before scaling. */
static double add_cell(const synthetic *s, synthetic_row *row, uint64_t k, uint64_t times)
{
    float value = 1;
    uint32_t bits = 1;
    if (s->form == ROWS_FLOAT) {
        value = (float)((1 + log((double)(k + 1))) * (times > 1 ? 1 + log((double)times) : 1));
        memcpy(&bits, &value, sizeof bits);
    }
    row->cell[row->count++] = (k * s->stride + s->offset) % s->features << 32 | bits;
    return value;
}

/* The cells of a row, in the order of k. Returns the score. */
static double draw_row(const synthetic *s, rng *r, synthetic_row *row)
{
    double gap = 1 / (s->rate * (SHORTEST - (1 - SHORTEST) * log(rng_uniform(r))));
    double score = 0, squares = 0, u = 0;
    uint64_t feature = 0, times = 0;
    row->count = 0;
    while (row->count < s->most) {
        u -= gap * log(((double)rng_u32(r) + 0.5) * 0x1p-32);
        bool done = u >= 1;
        /* A row without any draw takes one from the middle. */
        double x = exp(log(1 + (done ? 0.5 : u) * s->range) / s->exponent);
        uint64_t k = x < 1 ? 0 : x < (double)s->features ? (uint64_t)x - 1 : s->features - 1;
        if (times > 0 && (done || k != feature)) {
            double value = add_cell(s, row, feature, times);
            score += value * planted_weight(s, feature);
            squares += value * value;
            times = 0;
            if (done)
                break;
        }
        feature = k;
        times++;
    }
    if (s->form != ROWS_FLOAT)
        return score;
    scale_values(s, row, squares);
    return score / sqrt(squares);
}

void synthetic_draw(const synthetic *s, uint64_t instance, synthetic_row *row)
{
    rng r;
    rng_open(&r, s->seed, STREAM, instance);
    bool flipped = rng_uniform(&r) < s->noise;
    bool positive = draw_row(s, &r, row) > s->threshold;
    row->label = positive != flipped ? 1 : -1;
    row->ticks = synthetic_row_ticks(s, row->count);
}

void synthetic_make(const synthetic *s, uint64_t instance, synthetic_row *row)
{
    synthetic_draw(s, instance, row);
    sort_cells(row, s->key_bits);
}

uint32_t synthetic_row_ticks(const synthetic *s, uint64_t count)
{
    return s->form == ROWS_CONSTANT ? (uint32_t)floor(1e5 / sqrt((double)count) + 0.5) : 1;
}

double synthetic_value(const synthetic *s, uint32_t ticks)
{
    return (double)(ticks * s->unit) / number_ten[s->decimals];
}

bool synthetic_row_open(synthetic_row *row, const synthetic *s, arena *a, bda_error *err)
{
    row->cell = ARENA_TAKE(a, uint64_t, s->most, err);
    row->spare = ARENA_TAKE(a, uint64_t, s->most, err);
    return row->cell && row->spare;
}

static int compare_reals(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The score that the right fraction of the rows exceeds: flips turn q into q + noise (1 - 2 q) positives. */
static bool set_threshold(synthetic *s, double positive, double per_row, bda_error *err)
{
    double wanted = 8e6 / per_row;
    uint64_t sample = wanted < 1000 ? 1000 : wanted > 10000 ? 10000 : (uint64_t)wanted;
    sample = sample < s->instances ? sample : s->instances;
    arena memory = {0};
    synthetic_row row;
    double *score = ARENA_TAKE(&memory, double, sample, err);
    bool ok = score && synthetic_row_open(&row, s, &memory, err);
    if (ok) {
        for (uint64_t i = 0; i < sample; i++) {
            rng r;
            rng_open(&r, s->seed, STREAM, i);
            rng_uniform(&r);
            score[i] = draw_row(s, &r, &row);
        }
        qsort(score, sample, sizeof *score, compare_reals);
        double before_flips = (positive - s->noise) / (1 - 2 * s->noise);
        uint64_t above = (uint64_t)(before_flips * (double)sample + 0.5);
        above = above > sample - 1 ? sample - 1 : above;
        s->threshold = score[sample - 1 - above];
    }
    arena_free(&memory);
    return ok;
}

/* The unit of values: 10^-5 for constant; for float a power of two, so that a value is a float, in decimals. */
static void set_unit(synthetic *s, double per_row)
{
    s->unit = 1;
    if (s->form == ROWS_CONSTANT)
        s->decimals = 5;
    if (s->form == ROWS_FLOAT)
        for (double size = 1; size < LEVELS * sqrt(per_row); size *= 2, s->decimals++)
            s->unit *= 5;
}

bool synthetic_open(synthetic *s, const data_shape *shape, double scale, uint64_t seed, bda_error *err)
{
    double instances = (double)shape->instances * scale, features = (double)shape->features * scale;
    /* Instances number the streams of random numbers, which are 48 bits; columns are 32 bits. */
    if (!(instances < 0x1p48 && features < 0x1p32 - 1))
        return err_set(err, BDA_USAGE,
                       "--scale=%g of %s makes %.3g instances of %.3g features; at most %.3g of %.3g are possible",
                       scale, shape->name, instances, features, 0x1p48 - 1, 0x1p32 - 2);
    *s = (synthetic){.form = shape->values, .seed = seed, .noise = shape->noise, .exponent = 1 - shape->exponent};
    s->instances = instances > 2 ? (uint64_t)(instances + 0.5) : 2;
    s->features = features > 2 ? (uint64_t)(features + 0.5) : 2;
    double n = (double)s->features, per_row = fmin(shape->nonzeros_per_row, n / 2);
    s->range = expm1(s->exponent * log(n + 1));
    s->rate = calibrate(s, per_row);
    s->head = s->rate * distribution(s, 2);
    /* The longest rows: rng_uniform is above 2^-54, and a Poisson number strays few deviations from its mean. */
    double longest = s->rate * (SHORTEST + (1 - SHORTEST) * 54 * log(2));
    s->most = (uint64_t)fmin(n, longest + 20 * sqrt(longest) + 100);
    /* Multiples of the golden section spread the frequent features evenly over the columns. */
    s->stride = (uint64_t)(n * 0.6180339887498949);
    while (s->stride < 1 || common_divisor(s->stride, s->features) != 1)
        s->stride++;
    s->offset = mix(seed) % s->features;
    while ((s->features - 1) >> s->key_bits)
        s->key_bits++;
    set_unit(s, per_row);
    return set_threshold(s, shape->positive, per_row, err);
}
