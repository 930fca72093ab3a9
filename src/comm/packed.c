/* packed.c - comm_sum_packed: the sum of long vectors in messages of a half or a third of the size.
 *
 * A word of 64 bits carries two numbers of 32 bits or three of 21, which are multiples of a unit that belongs to CHUNK
 * neighbouring columns. The unit is set by what the blocks can add up to there,
 *
 *     bound = sum_b max_j |part_b[j]|  <  2^e,    unit = 2^(e - bits + 2),
 *
 * so that |total| <= 2^(bits-2) + blocks/2 units < 2^(bits-1) never leaves its bits, and words are added as plain integers: exact in
 * any order, by any number of ranks. What is lost is at most half a unit a block. Columns with large numbers sit
 * together (by falling frequency, see data/fold.h), so units are fine where numbers are small.
 *
 * A message of bounds, one word a chunk, goes before the numbers. Those of a piece lie in planes, one a field: word i
 * has the numbers i, i + words, i + 2 words of the piece, so that the loops below run over neighbours. */
#include "base/parallel.h"
#include "comm/comm.h"
#include "comm/grid.h"
#include "comm/operations.h"

#define CHUNK 1024                      /* columns that share a unit */
#define MOST_BLOCKS ((uint64_t)1 << 16) /* whose roundings the spare bit of a field has room for, by far */
#define WORD_CHUNKS (COMM_UNITS / CHUNK)
#define PIECE_CHUNKS (COMM_MOST_PACKED * WORD_CHUNKS)

typedef struct piece {
    const double *const *part;
    int parts, fields, bits;
    uint64_t first, n, words; /* the columns first to first + n, in `words` words, whole chunks of them */
    grid unit[PIECE_CHUNKS];
} piece;

static uint64_t chunks_of(uint64_t n)
{
    return (n + CHUNK - 1) / CHUNK;
}

/* Of chunk c of the piece. */
static uint64_t length_of(const piece *p, uint64_t c)
{
    const uint64_t start = c * CHUNK;
    return start >= p->n ? 0 : p->n - start < CHUNK ? p->n - start : CHUNK;
}

static double largest_of(const double *x, uint64_t n)
{
    double most = 0;
    for (uint64_t j = 0; j < n; j++)
        most = fabs(x[j]) > most ? fabs(x[j]) : most;
    return most;
}

/* bound[c]: what this rank's blocks can add up to in chunk c, in units of g, rounded up. */
static void bound_parts(const piece *p, const grid *g, int64_t *bound, int threads)
{
    FOR_NUMBERS (c, chunks_of(p->n), threads) {
        bound[c] = 0;
        for (int b = 0; b < p->parts; b++) {
            const double most = largest_of(p->part[b] + p->first + c * CHUNK, length_of(p, c));
            bound[c] += grid_nearest(most * g->to_units[0] * g->to_units[1]) + 1;
        }
    }
}

/* From bounds to units; returns the largest unit. */
static double set_units(piece *p, const grid *g, const int64_t *bound)
{
    double most = 0;
    for (uint64_t c = 0; c < chunks_of(p->n); c++) {
        int e;
        frexp((double)bound[c] * g->to_real[0] * g->to_real[1], &e);
        const double unit = ldexp(1, e - p->bits + 2);
        p->unit[c] = grid_of(p->bits - 2 - e);
        most = unit > most ? unit : most;
    }
    return most;
}

/* word[i] += 2^shift * (x[i] in units) */
static void add_field(uint64_t *restrict word, const double *restrict x, uint64_t n, const grid *g, int shift)
{
    const double a = g->to_units[0], b = g->to_units[1];
    for (uint64_t i = 0; i < n; i++)
        word[i] += (uint64_t)grid_nearest_small(x[i] * a * b) << shift;
}

static void pack(const piece *p, uint64_t *word, int threads)
{
    const uint64_t word_chunks = p->words / CHUNK;
    FOR_NUMBERS (q, word_chunks, threads) {
        memset(word + q * CHUNK, 0, CHUNK * sizeof *word);
        for (int f = 0; f < p->fields; f++) {
            const uint64_t c = (uint64_t)f * word_chunks + q;
            for (int b = 0; b < p->parts && length_of(p, c) > 0; b++)
                add_field(word + q * CHUNK, p->part[b] + p->first + c * CHUNK, length_of(p, c), &p->unit[c],
                          f * p->bits);
        }
    }
}

/* The lowest field, with its sign, and the word without it. */
static void take_field(double *restrict x, uint64_t *restrict word, uint64_t n, const grid *g, int bits)
{
    const double a = g->to_real[0], b = g->to_real[1];
    const int others = 64 - bits;
    for (uint64_t i = 0; i < n; i++) {
        const int64_t low = (int64_t)(word[i] << others) >> others;
        x[i] = (double)low * a * b;
        word[i] = (word[i] - (uint64_t)low) >> bits;
    }
}

static void unpack(const piece *p, uint64_t *word, double *sum, int threads)
{
    const uint64_t word_chunks = p->words / CHUNK;
    FOR_NUMBERS (q, word_chunks, threads)
        for (int f = 0; f < p->fields; f++) {
            const uint64_t c = (uint64_t)f * word_chunks + q;
            if (length_of(p, c) > 0)
                take_field(sum + p->first + c * CHUNK, word + q * CHUNK, length_of(p, c), &p->unit[c], p->bits);
        }
}

static uint64_t words_for(uint64_t n, int fields)
{
    return chunks_of((n + (uint64_t)fields - 1) / (uint64_t)fields) * CHUNK;
}

double comm_sum_packed(comm *c, int fields, uint64_t blocks, double largest, const double *const *part, int parts,
                       uint64_t n, double *sum, int threads)
{
    if (fields <= 1 || blocks == 1 || blocks > MOST_BLOCKS || !(largest > 0 && largest < INFINITY)) {
        comm_sum_vectors(c, blocks, largest, part, parts, n, sum, threads);
        return 0;
    }
    const grid g = grid_for(blocks, largest);
    const uint64_t room = (uint64_t)fields * COMM_UNITS;
    int64_t bound[PIECE_CHUNKS];
    double unit = 0;
    c->said.vectors++;
    for (uint64_t first = 0; first < n; first += room) {
        piece p = {.part = part, .parts = parts, .fields = fields, .bits = 64 / fields, .first = first};
        p.n = n - first < room ? n - first : room;
        p.words = words_for(p.n, fields);
        bound_parts(&p, &g, bound, threads);
        comm_sum_long(c, bound, chunks_of(p.n));
        unit = fmax(unit, set_units(&p, &g, bound));
        pack(&p, (uint64_t *)c->units, threads);
        comm_sum_long(c, c->units, p.words);
        unpack(&p, (uint64_t *)c->units, sum, threads);
    }
    return 0.5 * (double)blocks * unit;
}
