/* vectors.c - comm_sum_vectors: the sum of the blocks' vectors, the same to the last bit for any number of ranks.
 *
 * Sums of doubles depend on their order; sums of integers do not. So every number is rounded to a multiple of a grid
 *
 *     unit = 2^(e - 62),   2^(e-1) <= blocks * largest <= 2^e,
 *
 * the multiples are added as 64-bit integers, within ranks and between them, and the total is turned into a double
 * once. |total| <= 2^62 + blocks/2 units, which cannot overflow. A number with |x| >= 2^-10 2^e is on the grid
 * already; for the others the error is at most half a unit, far below the last bit of the larger ones. The message
 * has the size of a vector of doubles. It is cut into pieces that stay in the cache between rounding, sending and
 * turning back. */
#include "comm/comm.h"
#include "comm/grid.h"
#include "comm/operations.h"

#define TILE 4096 /* numbers a thread takes at a time */

static void set_units(int64_t *restrict units, const double *restrict x, uint64_t n, const grid *g)
{
    const double a = g->to_units[0], b = g->to_units[1];
    for (uint64_t j = 0; j < n; j++)
        units[j] = grid_nearest(x[j] * a * b);
}

static void add_units(int64_t *restrict units, const double *restrict x, uint64_t n, const grid *g)
{
    const double a = g->to_units[0], b = g->to_units[1];
    for (uint64_t j = 0; j < n; j++)
        units[j] += grid_nearest(x[j] * a * b);
}

static void set_reals(double *restrict x, const int64_t *restrict units, uint64_t n, const grid *g)
{
    const double a = g->to_real[0], b = g->to_real[1];
    for (uint64_t j = 0; j < n; j++)
        x[j] = (double)units[j] * a * b;
}

static inline uint64_t tile_end(uint64_t tile, uint64_t n)
{
    return n - tile < TILE ? n : tile + TILE;
}

/* units[j] = sum of this rank's parts at first + j, j < n */
static void round_parts(int64_t *units, const double *const *part, int parts, uint64_t first, uint64_t n,
                        const grid *g, int threads)
{
    if (parts == 0) {
        memset(units, 0, n * sizeof *units);
        return;
    }
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1 && n > TILE)
    for (uint64_t tile = 0; tile < n; tile += TILE) {
        uint64_t length = tile_end(tile, n) - tile;
        set_units(units + tile, part[0] + first + tile, length, g);
        for (int b = 1; b < parts; b++)
            add_units(units + tile, part[b] + first + tile, length, g);
    }
}

static void turn_back(double *x, const int64_t *units, uint64_t n, const grid *g, int threads)
{
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1 && n > TILE)
    for (uint64_t tile = 0; tile < n; tile += TILE)
        set_reals(x + tile, units + tile, tile_end(tile, n) - tile, g);
}

/* One block: its owner's bits, to which all others add 0. */
static void pass_on(comm *c, const double *const *part, int parts, uint64_t n, double *sum)
{
    if (parts == 0)
        memset(sum, 0, n * sizeof *sum);
    else if (sum != part[0])
        memcpy(sum, part[0], n * sizeof *sum);
    comm_sum_words(c, sum, n);
}

void comm_sum_vectors(comm *c, uint64_t blocks, double largest, const double *const *part, int parts, uint64_t n,
                      double *sum, int threads)
{
    c->said.vectors++;
    c->said.bytes += n * sizeof *sum;
    if (blocks == 1) {
        pass_on(c, part, parts, n, sum);
        return;
    }
    if (!(largest > 0 && largest < INFINITY)) {
        double all = largest == 0 ? 0 : (double)NAN;
        for (uint64_t j = 0; j < n; j++)
            sum[j] = all;
        return;
    }
    const grid g = grid_for(blocks, largest);
    const uint64_t room = COMM_UNITS < comm_limit() ? COMM_UNITS : comm_limit();
    for (uint64_t first = 0; first < n;) {
        uint64_t piece = n - first < room ? n - first : room;
        round_parts(c->units, part, parts, first, piece, &g, threads);
        comm_sum_words(c, c->units, piece);
        turn_back(sum + first, c->units, piece, &g, threads);
        first += piece;
    }
}
