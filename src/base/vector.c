/* vector.c - see vector.h. A vector is cut into chunks of CHUNK numbers. Within a chunk LANES partial sums run side
 * by side (two to a register), which fixes the order of additions and lets the compiler use vector instructions;
 * chunks are then added in order with compensation. Threads take whole chunks, so they change no bit. */
#include "base/vector.h"

#include <math.h>

#define CHUNK 4096
#define PAIRS 4
#define LANES (2 * PAIRS)
#define GROUP 256        /* chunks whose partial results are kept at a time */
#define WORTH_THREADS 16 /* chunks from which starting threads pays off */

/* What the loop over chunks hands to a chunk: y may be written, a chunk touches its own part alone. */
typedef struct operands {
    const double *x;
    double *y;
    double s;
} operands;

typedef struct partial {
    double a, b;
} partial;

/* Works on the numbers [first, first + n), n <= CHUNK. */
typedef partial (*chunk_work)(const operands *o, uint64_t first, uint64_t n);
/* Takes the partial results in the order of the chunks. */
typedef void (*chunk_merge)(void *self, partial p);

static inline uint64_t chunk_length(uint64_t n, uint64_t chunk)
{
    uint64_t left = n - chunk * CHUNK;
    return left < CHUNK ? left : CHUNK;
}

static inline void over_chunks(const operands *o, uint64_t n, int threads, chunk_work work, chunk_merge merge,
                               void *self)
{
    uint64_t chunks = n / CHUNK + (n % CHUNK != 0);
    if (threads <= 1 || chunks < WORTH_THREADS) {
        for (uint64_t c = 0; c < chunks; c++)
            merge(self, work(o, c * CHUNK, chunk_length(n, c)));
        return;
    }
    partial results[GROUP];
    for (uint64_t done = 0; done < chunks; done += GROUP) {
        int count = chunks - done < GROUP ? (int)(chunks - done) : GROUP;
#pragma omp parallel for schedule(static) num_threads(threads)
        for (int i = 0; i < count; i++) {
            uint64_t c = done + (uint64_t)i;
            results[i] = work(o, c * CHUNK, chunk_length(n, c));
        }
        for (int i = 0; i < count; i++)
            merge(self, results[i]);
    }
}

/* Two doubles to a register; `packed` is how they lie in a vector, aligned to one double only. */
typedef double pair __attribute__((vector_size(16)));
typedef double packed __attribute__((vector_size(16), aligned(8), may_alias));
typedef int64_t pair_bits __attribute__((vector_size(16)));

static inline double lanes_sum(const pair *a)
{
    pair s = (a[0] + a[1]) + (a[2] + a[3]);
    return s[0] + s[1];
}

typedef struct sums {
    sum a, b;
} sums;

static void merge_sums(void *self, partial p)
{
    sums *s = self;
    sum_add(&s->a, p.a);
    sum_add(&s->b, p.b);
}

/* NaN wins over any number, and stays. */
static void merge_largest(void *self, partial p)
{
    double *m = self;
    if (p.a > *m || isnan(p.a))
        *m = isnan(*m) ? *m : p.a;
}

static partial dot_chunk(const operands *o, uint64_t first, uint64_t n)
{
    const double *x = o->x + first, *y = o->y + first;
    pair a[PAIRS] = {0};
    uint64_t j = 0;
    for (; j + LANES <= n; j += LANES) {
        const packed *u = (const packed *)(x + j), *v = (const packed *)(y + j);
        for (int k = 0; k < PAIRS; k++)
            a[k] += u[k] * v[k];
    }
    for (int k = 0; j < n; j++, k++)
        a[k / 2][k % 2] += x[j] * y[j];
    return (partial){lanes_sum(a), 0};
}

double vec_dot(const double *x, const double *y, uint64_t n, int threads)
{
    sums s = {0};
    over_chunks(&(operands){.x = x, .y = (double *)y}, n, threads, dot_chunk, merge_sums, &s);
    return sum_value(&s.a);
}

static partial dots_chunk(const operands *o, uint64_t first, uint64_t n)
{
    const double *x = o->x + first, *y = o->y + first;
    pair a[PAIRS] = {0}, b[PAIRS] = {0};
    uint64_t j = 0;
    for (; j + LANES <= n; j += LANES) {
        const packed *u = (const packed *)(x + j), *v = (const packed *)(y + j);
        for (int k = 0; k < PAIRS; k++) {
            a[k] += u[k] * v[k];
            b[k] += v[k] * v[k];
        }
    }
    for (int k = 0; j < n; j++, k++) {
        a[k / 2][k % 2] += x[j] * y[j];
        b[k / 2][k % 2] += y[j] * y[j];
    }
    return (partial){lanes_sum(a), lanes_sum(b)};
}

void vec_dots(const double *x, const double *y, uint64_t n, int threads, double *xy, double *yy)
{
    sums s = {0};
    over_chunks(&(operands){.x = x, .y = (double *)y}, n, threads, dots_chunk, merge_sums, &s);
    *xy = sum_value(&s.a);
    *yy = sum_value(&s.b);
}

static inline pair pair_abs(pair x)
{
    return (pair)((pair_bits)x & (pair_bits){INT64_MAX, INT64_MAX});
}

static inline pair pair_max(pair a, pair b)
{
    pair_bits greater = a > b;
    return (pair)(((pair_bits)a & greater) | ((pair_bits)b & ~greater));
}

/* A comparison loses NaN, so a second sum watches for it: x - x is 0 for every finite x, NaN otherwise. */
static double settle_largest(const pair *m, const pair *odd, const double *x, uint64_t n)
{
    double largest = 0;
    for (int k = 0; k < LANES; k++)
        largest = m[k / 2][k % 2] > largest ? m[k / 2][k % 2] : largest;
    if (lanes_sum(odd) == 0)
        return largest;
    for (uint64_t j = 0; j < n; j++)
        if (isnan(x[j]))
            return NAN;
    return largest;
}

static partial largest_chunk(const operands *o, uint64_t first, uint64_t n)
{
    const double *x = o->x + first;
    pair m[PAIRS] = {0}, odd[PAIRS] = {0};
    uint64_t j = 0;
    for (; j + LANES <= n; j += LANES) {
        const packed *u = (const packed *)(x + j);
        for (int k = 0; k < PAIRS; k++) {
            m[k] = pair_max(pair_abs(u[k]), m[k]);
            odd[k] += u[k] - u[k];
        }
    }
    for (; j < n; j++) {
        m[0] = pair_max((pair){fabs(x[j]), 0}, m[0]);
        odd[0][0] += x[j] - x[j];
    }
    return (partial){settle_largest(m, odd, x, n), 0};
}

double vec_largest(const double *x, uint64_t n, int threads)
{
    double largest = 0;
    over_chunks(&(operands){.x = x}, n, threads, largest_chunk, merge_largest, &largest);
    return largest;
}

static partial difference_chunk(const operands *o, uint64_t first, uint64_t n)
{
    double *x = o->y + first;
    const double *y = o->x + first, s = o->s;
    pair m[PAIRS] = {0}, odd[PAIRS] = {0};
    uint64_t j = 0;
    for (; j + LANES <= n; j += LANES) {
        packed *u = (packed *)(x + j);
        const packed *v = (const packed *)(y + j);
        for (int k = 0; k < PAIRS; k++) {
            pair d = (u[k] - v[k]) / s;
            u[k] = d;
            m[k] = pair_max(pair_abs(d), m[k]);
            odd[k] += d - d;
        }
    }
    for (; j < n; j++) {
        x[j] = (x[j] - y[j]) / s;
        m[0] = pair_max((pair){fabs(x[j]), 0}, m[0]);
        odd[0][0] += x[j] - x[j];
    }
    return (partial){settle_largest(m, odd, x, n), 0};
}

double vec_difference(double *x, const double *y, double s, uint64_t n, int threads)
{
    double largest = 0;
    over_chunks(&(operands){.x = y, .y = x, .s = s}, n, threads, difference_chunk, merge_largest, &largest);
    return largest;
}

static void add_range(double *restrict y, double s, const double *restrict x, uint64_t n)
{
    for (uint64_t j = 0; j < n; j++)
        y[j] += s * x[j];
}

void vec_add(double *y, double s, const double *x, uint64_t n, int threads)
{
    if (threads <= 1 || n / CHUNK < WORTH_THREADS) {
        add_range(y, s, x, n);
        return;
    }
    uint64_t chunks = n / CHUNK + (n % CHUNK != 0);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (uint64_t c = 0; c < chunks; c++)
        add_range(y + c * CHUNK, s, x + c * CHUNK, chunk_length(n, c));
}
