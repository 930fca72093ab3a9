/* dense_factor.c - Cholesky's method in squares of BLOCK columns: see dense.h.
 *
 *     L11 L11' = A11,   L21 = A21 L11'^-1,   A22 -= L21 L21',   and so on with A22
 *
 * Nearly all of the time is the last step: tiles of 8 x 16 numbers, in registers. Vectors run across numbers of the
 * result, never along a sum, and nothing is contracted to fused multiply-adds, so every processor has the same bits,
 * whatever the width of its vectors. */
#include <math.h>
#include <string.h>

#include "base/dense.h"

enum { BLOCK = 128, ROWS = 8, COLUMNS = 16 }; /* BLOCK is a multiple of the others */

/* tile[ROWS][COLUMNS] = sum over k < depth of row[r][k] packed[k][column] */
typedef void product(uint64_t depth, const double *const *row, const double *packed, double *tile);

/* A part of the tile of HEIGHT rows by two vectors of WIDTH numbers: as many as the registers hold. */
#define PRODUCT(NAME, TARGET, WIDTH, HEIGHT)                                                                         \
    typedef double NAME##_vector __attribute__((vector_size(WIDTH * sizeof(double))));                               \
    TARGET static void NAME(uint64_t depth, const double *const *row, const double *packed, double *tile)            \
    {                                                                                                                \
        for (int r = 0; r < ROWS; r += HEIGHT)                                                                       \
            for (int c = 0; c < COLUMNS; c += 2 * WIDTH) {                                                           \
                NAME##_vector sum[HEIGHT][2] = {0}, left, right;                                                     \
                const double *from[HEIGHT], *p = packed + c;                                                         \
                for (int i = 0; i < HEIGHT; i++)                                                                     \
                    from[i] = row[r + i];                                                                            \
                for (uint64_t k = 0; k < depth; k++, p += COLUMNS) {                                                 \
                    memcpy(&left, p, sizeof left);                                                                   \
                    memcpy(&right, p + WIDTH, sizeof right);                                                         \
                    _Pragma("GCC unroll 8") for (int i = 0; i < HEIGHT; i++)                                         \
                    {                                                                                                \
                        sum[i][0] += from[i][k] * left;                                                              \
                        sum[i][1] += from[i][k] * right;                                                             \
                    }                                                                                                \
                }                                                                                                    \
                for (int i = 0; i < HEIGHT; i++)                                                                     \
                    memcpy(tile + (r + i) * COLUMNS + c, sum[i], sizeof sum[i]);                                     \
            }                                                                                                        \
    }

PRODUCT(narrow, , 2, 4)
#if defined(__x86_64__) && defined(__GNUC__)
PRODUCT(wide, __attribute__((target("avx2"))), 4, 4)
PRODUCT(widest, __attribute__((target("avx512f"))), 8, 8)
#endif

static product *choose(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
    if (__builtin_cpu_supports("avx512f"))
        return widest;
    if (__builtin_cpu_supports("avx2"))
        return wide;
#endif
    return narrow;
}

/* packed: [depth][COLUMNS] = the rows, of which there are `count`, turned; zeros for what is missing. */
static void pack(const double *from, uint64_t count, uint64_t depth, uint64_t stride, double *packed)
{
    for (uint64_t k = 0; k < depth; k++)
        for (uint64_t c = 0; c < COLUMNS; c++)
            packed[k * COLUMNS + c] = c < count ? from[c * stride + k] : 0;
}

/* COLUMNS rows x below the square become x L11'^-1, ROWS of their numbers at a time. */
static void solve_rows(product *times, const double *square, uint64_t m, double *x, uint64_t count, uint64_t stride)
{
    double turned[BLOCK * COLUMNS], tile[ROWS * COLUMNS];
    pack(x, count, m, stride, turned);
    for (uint64_t first = 0; first < m; first += ROWS) {
        const uint64_t rows = m - first < ROWS ? m - first : ROWS;
        const double *row[ROWS];
        for (uint64_t r = 0; r < ROWS; r++)
            row[r] = square + (first + (r < rows ? r : 0)) * stride;
        times(first, row, turned, tile);
        for (uint64_t r = 0; r < rows; r++) {
            double *to = turned + (first + r) * COLUMNS, *sum = tile + r * COLUMNS;
            for (uint64_t k = 0; k < r; k++)
                for (int c = 0; c < COLUMNS; c++)
                    sum[c] += row[r][first + k] * turned[(first + k) * COLUMNS + (uint64_t)c];
            for (int c = 0; c < COLUMNS; c++)
                to[c] = (to[c] - sum[c]) / row[r][first + r];
        }
    }
    for (uint64_t c = 0; c < count; c++)
        for (uint64_t k = 0; k < m; k++)
            x[c * stride + k] = turned[k * COLUMNS + c];
}

/* a[i][j] -= tile for `rows` x `columns` numbers. What lies above the diagonal is spoilt; nobody reads it. */
static void subtract(double *a, uint64_t stride, uint64_t rows, uint64_t columns, const double *tile)
{
    for (uint64_t i = 0; i < rows; i++)
        for (uint64_t j = 0; j < columns; j++)
            a[i * stride + j] -= tile[i * COLUMNS + j];
}

/* The rows from `first` to n, columns first to first + columns of a, minus the product of their parts in `panel`, which
 * has `depth` columns. Row i of the panel belongs to row i of a. */
static void update(product *times, double *a, const double *panel, uint64_t n, uint64_t stride, uint64_t first,
                   uint64_t columns, uint64_t depth)
{
    static const double none[BLOCK] = {0};
    double packed[BLOCK * BLOCK], tile[ROWS * COLUMNS];
    for (uint64_t c = 0; c < columns; c += COLUMNS)
        pack(panel + (first + c) * stride, columns - c < COLUMNS ? columns - c : COLUMNS, depth, stride,
             packed + c * depth);
    for (uint64_t i = first; i < n; i += ROWS) {
        const uint64_t rows = n - i < ROWS ? n - i : ROWS;
        const double *row[ROWS];
        for (uint64_t r = 0; r < ROWS; r++)
            row[r] = r < rows ? panel + (i + r) * stride : none;
        for (uint64_t c = 0; c < columns && first + c < i + rows; c += COLUMNS) {
            times(depth, row, packed + c * depth, tile);
            subtract(a + i * stride + first + c, stride, rows, columns - c < COLUMNS ? columns - c : COLUMNS, tile);
        }
    }
}

/* A square of at most COLUMNS rows, each `stride` behind the one before. */
static bool factor_small(double *a, uint64_t n, uint64_t stride)
{
    for (uint64_t j = 0; j < n; j++) {
        double *row = a + j * stride;
        for (uint64_t i = 0; i <= j; i++) {
            const double *other = a + i * stride;
            double x = row[i];
            for (uint64_t k = 0; k < i; k++)
                x -= row[k] * other[k];
            if (i == j && !(x > 0 && isfinite(x)))
                return false;
            row[i] = i == j ? sqrt(x) : x / other[i];
        }
    }
    return true;
}

/* In blocks of `block` columns: BLOCK for all of a, COLUMNS for the squares at its diagonal. */
static bool factor(product *times, double *a, uint64_t n, uint64_t stride, uint64_t block)
{
    for (uint64_t p = 0; p < n; p += block) {
        const uint64_t m = n - p < block ? n - p : block, below = p + m;
        double *square = a + p * stride + p;
        if (!(block > COLUMNS ? factor(times, square, m, stride, COLUMNS) : factor_small(square, m, stride)))
            return false;
        for (uint64_t i = below; i < n; i += COLUMNS)
            solve_rows(times, square, m, a + i * stride + p, n - i < COLUMNS ? n - i : COLUMNS, stride);
        for (uint64_t j = below; j < n; j += BLOCK)
            update(times, a, a + p, n, stride, j, n - j < BLOCK ? n - j : BLOCK, m);
    }
    return true;
}

bool dense_factor(double *a, uint64_t n)
{
    return factor(choose(), a, n, n, BLOCK);
}

bool dense_factor_narrow(double *a, uint64_t n)
{
    return factor(narrow, a, n, n, BLOCK);
}
