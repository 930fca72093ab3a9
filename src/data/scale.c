/* scale.c - see scale.h.
 *
 * The standard deviation takes two passes, so that columns far from 0 lose nothing by cancellation: means first, of the
 * columns over their largest magnitudes, for sums of vectors have one grid for all columns; then the squares of the
 * distances to them, in which cells that are not there count with the square of the mean. */
#include "data/scale.h"

#include <math.h>
#include <string.h>

#include "base/vector.h"
#include "data/rows_math.h"

#define ALMOST_CONSTANT 1e-7 /* deviations below this part of the largest magnitude: the column is left as it is */

/* The largest magnitudes; 0 for columns that no row has. */
static void largest_of_columns(comm *c, const data *d, double *largest)
{
    const rows *r = &d->rows;
    memset(largest, 0, d->features * sizeof *largest);
#define CALL(form)                                                                                                   \
    for (uint64_t i = 0; i < r->count; i++)                                                                          \
        for (uint64_t j = r->start[i]; j < r->start[i + 1]; j++) {                                                   \
            double *to = &largest[rows_column(r, form, j)];                                                          \
            *to = fmax(*to, fabs(rows_value(r, form, i, j)));                                                        \
        }
    ROWS_DISPATCH(r->form, CALL);
#undef CALL
    const uint64_t piece = 1 << 24;
    for (uint64_t first = 0; first < d->features; first += piece)
        comm_max_reals(c, largest + first, (int)(d->features - first < piece ? d->features - first : piece));
}

/* What is added up for each cell x of a column, over its largest magnitude: x, 1, or (x - centre)^2. */
typedef enum moment { FIRST, COUNT, SECOND } moment;

static void column_sums(comm *c, const data *d, moment what, const double *largest, const double *centre,
                        double *const *part, double *to)
{
    const rows *r = &d->rows;
    double most = 0;
    for (uint64_t k = 0; k < d->local_blocks; k++) {
        uint64_t first, end;
        memset(part[k], 0, d->features * sizeof *part[k]);
        data_block_rows(d, k, &first, &end);
        for (uint64_t i = first; i < end; i++)
            for (uint64_t j = r->start[i]; j < r->start[i + 1]; j++) {
                const uint64_t column = rows_column(r, r->form, j);
                const double x = rows_value(r, r->form, i, j) / largest[column],
                             weight = d->weight ? d->weight[i] : 1;
                if (x == 0)
                    continue;
                const double away = what == SECOND ? x - centre[column] : 0;
                part[k][column] += weight * (what == FIRST ? x : what == COUNT ? 1 : away * away);
            }
        most = fmax(most, vec_largest(part[k], d->features, 1));
    }
    comm_max_reals(c, &most, 1);
    comm_sum_vectors(c, d->blocks, most, (const double *const *)part, (int)d->local_blocks, d->features, to, 1);
}

/* The sum of the weights. mine: [local_blocks], all: [blocks] */
static double total(comm *c, const data *d, double *mine, double *all)
{
    for (uint64_t k = 0; k < d->local_blocks; k++) {
        uint64_t first, end;
        sum s = {0, 0};
        data_block_rows(d, k, &first, &end);
        for (uint64_t i = first; i < end; i++)
            sum_add(&s, d->weight ? d->weight[i] : 1);
        mine[k] = sum_value(&s);
    }
    comm_gather_blocks(c, d->blocks, mine, 1, all);
    return comm_column_sum(all, d->blocks, 0, 1);
}

/* largest: [features], which become the factors */
static bool standardise(comm *c, const data *d, double *largest, bda_error *err)
{
    arena memory = {0};
    const uint64_t n = d->features;
    double *mean = ARENA_TAKE(&memory, double, n, err), *count = ARENA_TAKE(&memory, double, n, err);
    double *square = ARENA_TAKE(&memory, double, n, err), *all = ARENA_TAKE(&memory, double, d->blocks, err);
    double **part = ARENA_TAKE(&memory, double *, d->local_blocks + 1, err);
    double *mine = ARENA_TAKE(&memory, double, d->local_blocks + 1, err);
    bool ok = mean && count && square && all && part && mine;
    for (uint64_t k = 0; ok && k < d->local_blocks; k++)
        ok = (part[k] = ARENA_TAKE(&memory, double, n, err)) != NULL;
    ok = comm_agree(c, ok, err);
    if (ok) {
        const double W = total(c, d, mine, all);
        column_sums(c, d, FIRST, largest, NULL, part, mean);
        column_sums(c, d, COUNT, largest, NULL, part, count);
        for (uint64_t j = 0; j < n; j++)
            mean[j] /= W;
        column_sums(c, d, SECOND, largest, mean, part, square);
        for (uint64_t j = 0; j < n; j++) {
            const double zeros = fmax(0, W - count[j]) * mean[j] * mean[j];
            const double deviation = sqrt((square[j] + zeros) / W);
            largest[j] = deviation > ALMOST_CONSTANT ? 1 / (deviation * largest[j]) : 1;
        }
    }
    arena_free(&memory);
    return ok;
}

/* The factors of the columns, or NULL. */
static bool find_factors(scaled *s, comm *c, const data *d, scale_kind kind, bda_error *err)
{
    if (kind == SCALE_UNIT_ROWS)
        return true;
    double *factor = ARENA_TAKE(&s->memory, double, d->features + 1, err);
    if (!comm_agree(c, factor != NULL, err))
        return false;
    largest_of_columns(c, d, factor);
    s->factor = factor;
    if (kind == SCALE_STANDARD)
        return standardise(c, d, factor, err);
    for (uint64_t j = 0; j < d->features; j++)
        factor[j] = factor[j] > 0 ? 1 / factor[j] : 1;
    return true;
}

/* Values that all cells of a row have in common stay so where rows are scaled. */
static bool scale_rows(scaled *s, const data *d, bda_error *err)
{
    const rows *r = &d->rows;
    rows *to = &s->data.rows;
    double *value = ARENA_TAKE(&s->memory, double, r->count + 1, err);
    for (uint64_t i = 0; value && i < r->count; i++)
        value[i] = (r->form == ROWS_ONES ? 1 : r->value[i]) * scale_of_length(sqrt(rows_norm(r, r->form, i)));
    to->form = ROWS_CONSTANT;
    to->value = value;
    return value != NULL;
}

static bool scale_cells(scaled *s, const data *d, bda_error *err)
{
    const rows *r = &d->rows;
    rows *to = &s->data.rows;
    const uint64_t cells = r->start[r->count];
    double *value = ARENA_TAKE(&s->memory, double, cells + 1, err);
    uint32_t *column = r->form == ROWS_FLOAT ? ARENA_TAKE(&s->memory, uint32_t, cells + 1, err) : NULL;
    if (!value || (r->form == ROWS_FLOAT && !column))
        return false;
    for (uint64_t i = 0; i < r->count; i++) {
        const double by = s->factor ? 1 : scale_of_length(sqrt(rows_norm(r, r->form, i)));
        for (uint64_t j = r->start[i]; j < r->start[i + 1]; j++) {
            const uint32_t at = rows_column(r, r->form, j);
            value[j] = rows_value(r, r->form, i, j) * (s->factor ? s->factor[at] : by);
            if (column)
                column[j] = at;
        }
    }
    to->form = ROWS_DOUBLE;
    to->value = value;
    to->pair = NULL;
    if (column)
        to->column = column;
    return true;
}

bool scale_open(scaled *s, comm *c, const data *d, scale_kind kind, bda_error *err)
{
    *s = (scaled){.data = *d};
    if (kind == SCALE_NONE)
        return true;
    const bool whole = kind == SCALE_UNIT_ROWS && (d->rows.form == ROWS_ONES || d->rows.form == ROWS_CONSTANT);
    bool ok = find_factors(s, c, d, kind, err);
    ok = comm_agree(c, ok && (whole ? scale_rows(s, d, err) : scale_cells(s, d, err)), err);
    if (!ok)
        scale_close(s);
    return ok;
}

void scale_close(scaled *s)
{
    arena_free(&s->memory);
}

double scale_spread(comm *c, const data *d)
{
    bda_error ignored = {0};
    arena memory = {0};
    double *largest = ARENA_TAKE(&memory, double, d->features + 1, &ignored), least = INFINITY, most = 0;
    const bool ok = comm_agree(c, largest != NULL, &ignored);
    if (ok)
        largest_of_columns(c, d, largest);
    for (uint64_t j = 0; ok && j < d->features; j++)
        if (largest[j] > 0) {
            least = fmin(least, largest[j]);
            most = fmax(most, largest[j]);
        }
    arena_free(&memory);
    return most > 0 ? most / least : 1;
}
