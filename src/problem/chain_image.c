/* chain_image.c - see chain_image.h. */
#include "problem/chain_image.h"

#include "data/rows_math.h"

#define UNSTORED_MOST 2 /* cells of a row that are not in its list */

uint64_t chain_image_entries(const rows *r, uint64_t row)
{
    return r->start[row + 1] - r->start[row] + UNSTORED_MOST;
}

bool chain_image_open(chain_image *m, const rows *r, uint64_t tags, const double *h, uint64_t entries)
{
    *m = (chain_image){.rows = r, .h = h, .tags = tags, .slots = 2, .shift = 63};
    for (; m->slots < 2 * entries; m->slots *= 2)
        m->shift--;
    bda_error ignored = {0};
    if ((m->key = ARENA_TAKE(&m->memory, uint64_t, m->slots, &ignored)) &&
        (m->value = ARENA_TAKE(&m->memory, double, m->slots, &ignored)))
        return true;
    chain_image_close(m);
    return false;
}

void chain_image_close(chain_image *m)
{
    arena_free(&m->memory);
}

/* Where the key is, or the free slot where it would be. */
static inline uint64_t slot_of(const chain_image *m, uint64_t key)
{
    uint64_t slot = key * 0x9e3779b97f4a7c15u >> m->shift;
    while (m->key[slot] != 0 && m->key[slot] != key)
        slot = (slot + 1) & (m->slots - 1);
    return slot;
}

static inline void add_cell(chain_image *m, uint64_t column, uint64_t tag, double x)
{
    const uint64_t key = column * m->tags + tag + 1, slot = slot_of(m, key);
    m->key[slot] = key;
    m->value[slot] += x;
}

static inline double times_cell(const chain_image *m, uint64_t column, uint64_t tag, double x)
{
    return x * m->value[slot_of(m, column * m->tags + tag + 1)] * (m->h ? m->h[column * m->tags] : 1);
}

ROWS_INLINE void add_row(chain_image *m, const rows *r, rows_form form, uint64_t i, uint64_t tag, double step)
{
    ROWS_UNSTORED(r, i, add_cell(m, c, tag, step * x));
    for (uint64_t j = r->start[i]; j < r->start[i + 1]; j++)
        add_cell(m, rows_column(r, form, j), tag, step * rows_value(r, form, i, j));
}

ROWS_INLINE double times_row(const chain_image *m, const rows *r, rows_form form, uint64_t i, uint64_t tag)
{
    double all = 0;
    ROWS_UNSTORED(r, i, all += times_cell(m, c, tag, x));
    for (uint64_t j = r->start[i]; j < r->start[i + 1]; j++)
        all += times_cell(m, rows_column(r, form, j), tag, rows_value(r, form, i, j));
    return all;
}

void chain_image_add(chain_image *m, uint64_t row, uint64_t tag, double step)
{
#define CALL(form) add_row(m, m->rows, form, row, tag, step)
    ROWS_DISPATCH(m->rows->form, CALL);
#undef CALL
}

double chain_image_times(const chain_image *m, uint64_t row, uint64_t tag)
{
    double all = 0;
#define CALL(form) all = times_row(m, m->rows, form, row, tag)
    ROWS_DISPATCH(m->rows->form, CALL);
#undef CALL
    return all;
}

double chain_image_norm(const chain_image *m)
{
    double all = 0;
    for (uint64_t k = 0; k < m->slots; k++)
        if (m->key[k] != 0)
            all += m->value[k] * m->value[k] * (m->h ? m->h[(m->key[k] - 1) / m->tags * m->tags] : 1);
    return all;
}
