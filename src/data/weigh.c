/* weigh.c - weights of instances: an instance of weight 3 counts as three copies of it, one of weight 0 is not there.
 *
 * A weight is a factor of C, so only those above 0 are kept. Instances of weight 0 are taken out of the data, with
 * labels that none of the others has; the rest stays in its blocks, so that the blocks do not depend on the ranks. */
#include <math.h>

#include "data/shard.h"

/* Where each block begins among the rows that are kept. */
static void count_kept(const data *d, const uint8_t *keep, uint64_t *start)
{
    uint64_t kept = 0;
    for (uint64_t k = 0, i = 0; k <= d->local_blocks; k++) {
        for (; i < d->block_start[k]; i++)
            kept += keep[i];
        start[k] = kept;
    }
}

static bool drop_rows(comm *c, data *d, const double *weight, bda_error *err)
{
    arena memory = {0};
    uint8_t *keep = ARENA_TAKE(&memory, uint8_t, d->rows.count, err);
    uint64_t *start = ARENA_TAKE(&memory, uint64_t, d->local_blocks + 1, err);
    bool ok = comm_agree(c, keep && start, err);
    for (uint64_t i = 0; ok && i < d->rows.count; i++)
        keep[i] = weight[i] > 0;
    data *part = ok ? data_subset(c, d, keep, d->blocks, err) : NULL;
    if (part) {
        count_kept(d, keep, start);
        for (uint64_t k = 0; k <= d->local_blocks; k++)
            part->block_start[k] = start[k];
        data_replace_rows(d, part);
    }
    arena_free(&memory);
    return part != NULL;
}

/* The first of this rank's that is no weight; sums: how many are no weight, 0, and not 1. */
static void look_at(const data *d, const double *weight, uint64_t *sums, uint64_t *first_bad)
{
    *first_bad = UINT64_MAX;
    for (uint64_t i = d->rows.count; i-- > 0;) {
        const bool bad = !(weight[i] >= 0 && isfinite(weight[i]));
        *first_bad = bad ? i : *first_bad;
        sums[0] += bad;
        sums[1] += weight[i] == 0;
        sums[2] += weight[i] != 1;
    }
}

bool data_weigh(comm *c, data *d, const double *weight, bda_error *err)
{
    if (d->unit_row)
        return err_set(err, BDA_USAGE, "%s: weights are for rows, not for sentences", d->name);
    if (d->weight)
        return err_set(err, BDA_USAGE, "%s: its instances have weights already", d->name);
    uint64_t sums[3] = {0}, first_bad;
    look_at(d, weight, sums, &first_bad);
    comm_sum_counts(c, sums, 3);
    if (sums[0] > 0)
        return comm_agree(c,
                          first_bad == UINT64_MAX ||
                              err_set(err, BDA_FAILED,
                                      "instance %llu has the weight %g; weights are numbers from 0 on",
                                      (unsigned long long)(d->first_instance + first_bad + 1), weight[first_bad]),
                          err);
    if (sums[1] == d->instances)
        return err_set(err, BDA_FAILED, "%s: all instances have the weight 0", d->name);
    if (sums[2] == 0)
        return true;
    const uint64_t count = d->rows.count;
    if (sums[1] > 0 && !drop_rows(c, d, weight, err))
        return false;
    double *to = data_take_weights(d, err);
    if (!comm_agree(c, to != NULL, err))
        return false;
    for (uint64_t i = 0; i < count; i++)
        if (weight[i] > 0)
            *to++ = weight[i];
    return true;
}
