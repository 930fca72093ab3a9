/* crammer_singer_ray.c - Crammer-Singer blocks along the way from the start of a round, and at its end. */
#include <math.h>

#include "problem/crammer_singer.h"

void cs_describe(const block *base, block_direction *d)
{
    const crammer_singer *b = (const crammer_singer *)base;
    sum slope = {0, 0}, curve = {0, 0};
    double limit = INFINITY;
    for (uint32_t i = 0; i < base->count; i++) {
        const entry *e = cs_entries(b, i);
        double C = multiclass_cost(&b->m, i);
        for (uint32_t k = 0; k < b->span[i].used; k++) {
            double da = e[k].now - e[k].start;
            if (da == 0)
                continue;
            bool is_y = e[k].class == b->m.y[i];
            if (!is_y) {
                sum_add(&slope, da);
                if (da > 0)
                    limit = fmin(limit, -e[k].start / da);
            } else if (b->squared) {
                sum_add(&slope, da * (e[k].start / (2 * C)));
                sum_add(&curve, da * (da / (2 * C)));
            } else if (da > 0) {
                limit = fmin(limit, (C - e[k].start) / da);
            }
        }
    }
    d->slope = sum_value(&slope);
    d->curve = sum_value(&curve);
    d->limit = limit;
}

/* alpha becomes start + eta (alpha - start), within its bounds. Long steps magnify what its sum is off by, and would again
 * in the next round, so the sum is made 0: by alpha_y, and where that is at its bound by the others. */
static void lengthen(const crammer_singer *b, uint32_t i, double eta)
{
    const double C = multiclass_cost(&b->m, i);
    entry *e = cs_entries(b, i), *own = NULL;
    double others = 0;
    bool moved = false;
    for (uint32_t k = 0; k < b->span[i].used; k++) {
        const bool is_y = e[k].class == b->m.y[i];
        if (e[k].now != e[k].start) {
            const double a = e[k].start + eta * (e[k].now - e[k].start);
            e[k].now = is_y ? a : fmin(a, 0);
            moved = true;
        }
        own = is_y ? &e[k] : own;
        others += is_y ? 0 : e[k].now;
    }
    if (!moved || !own)
        return;
    own->now = b->squared ? -others : fmin(-others, C);
    for (uint32_t k = 0; - others > own->now && k < b->span[i].used; k++)
        if (&e[k] != own)
            e[k].now *= own->now / -others;
}

void cs_move(block *base, double eta)
{
    crammer_singer *b = (crammer_singer *)base;
    for (uint32_t i = 0; i < base->count; i++) {
        entry *e = cs_entries(b, i);
        uint32_t used = b->span[i].used, kept = 0;
        if (used == 0)
            continue;
        if (eta != 1)
            lengthen(b, i, eta);
        for (uint32_t k = 0; k < used; k++) {
            e[k].start = e[k].now;
            e[kept] = e[k];
            kept += e[k].now != 0;
        }
        b->span[i].used = kept;
        b->clear_until[i] = 0;
    }
    cs_begin_round(b);
}
