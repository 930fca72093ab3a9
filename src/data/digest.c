/* digest.c - see digest.h. Each row has a hash of its place, label, weight and cells; their sum, modulo 2^64, is the same in
 * any order. Rows of equal content are held in the same form wherever they came from, so the bytes that are held can
 * be hashed. */
#include "data/digest.h"

#include <string.h>
#include <xxhash.h>

static uint64_t hash_cells(const rows *r, uint64_t i, uint64_t seed)
{
    const uint64_t first = r->start[i], count = r->start[i + 1] - first;
    if (r->form == ROWS_FLOAT)
        return XXH3_64bits_withSeed(r->pair + first, count * sizeof *r->pair, seed);
    const uint64_t columns = XXH3_64bits_withSeed(r->column + first, count * sizeof *r->column, seed);
    if (r->form == ROWS_ONES)
        return columns;
    return r->form == ROWS_CONSTANT ? XXH3_64bits_withSeed(r->value + i, sizeof *r->value, columns)
                                    : XXH3_64bits_withSeed(r->value + first, count * sizeof *r->value, columns);
}

static uint64_t label_bits(const data *d, uint64_t i)
{
    uint64_t bits = 0;
    if (d->target.real)
        memcpy(&bits, &d->target.real[i], sizeof bits);
    else if (d->target.class)
        bits = d->target.class[i];
    return bits;
}

static uint64_t hash_names(const data *d)
{
    uint64_t hash = 0;
    for (uint64_t k = 0; d->labels.name && !d->labels.number && k < d->labels.count; k++)
        hash = XXH3_64bits_withSeed(d->labels.name[k], strlen(d->labels.name[k]), hash);
    return hash;
}

uint64_t data_digest(comm *c, const data *d, int threads)
{
    const uint64_t before = comm_count_before(c, d->rows.count);
    uint64_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum) num_threads(threads) if (threads > 1)
    for (uint64_t i = 0; i < d->rows.count; i++) {
        const uint64_t place_and_label[] = {before + i, label_bits(d, i)};
        uint64_t seed = XXH3_64bits(place_and_label, sizeof place_and_label);
        if (d->weight)
            seed = XXH3_64bits_withSeed(&d->weight[i], sizeof d->weight[i], seed);
        sum += hash_cells(&d->rows, i, seed);
    }
    comm_sum_counts(c, &sum, 1);
    const uint64_t all[] = {sum, d->instances, d->features, hash_names(d)};
    return XXH3_64bits(all, sizeof all);
}
