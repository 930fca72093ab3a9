/* fold.c - see fold.h. */
#include "data/fold.h"

#include <math.h>
#include <string.h>

#include "data/frequency.h"
#include "data/rows_math.h"

/* Shorter vectors cost nothing beside the rows; methods that want columns in order (instances_hessian) take fewer. */
#define LEAST_COLUMNS 8192
/* Methods keep about so many vectors; what these save is more than the copy of the rows takes, so that memory does
 * not grow. */
#define VECTORS 16

static void count_columns(comm *c, const data *d, uint32_t *count, uint64_t *word)
{
    const rows *r = &d->rows;
    const uint64_t first = r->count > 0 ? r->start[0] : 0, end = r->count > 0 ? r->start[r->count] : 0;
    const uint32_t most = UINT32_MAX / (uint32_t)bda_comm_size(c);
#define CALL(form)                                                                                                   \
    for (uint64_t j = first; j < end; j++) {                                                                         \
        uint32_t *of = &count[rows_column(r, form, j)];                                                              \
        *of += *of < most;                                                                                           \
    }
    ROWS_DISPATCH(r->form, CALL);
#undef CALL
    comm_sum_small(c, count, d->features, word);
}

typedef struct cells {
    uint64_t *start;
    uint32_t *column;
    rows_pair *pair;
    double *value, *own;
} cells;

/* Without branches, which nobody could foresee: every cell is written, and the next one over it where it goes away.
 */
ROWS_INLINE void fill(const rows *r, const uint32_t *place, const cells *to, rows_form form)
{
    uint64_t k = 0;
    for (uint64_t i = 0; i < r->count; i++) {
        double squares = 0;
        for (uint64_t j = r->start[i]; j < r->start[i + 1]; j++) {
            const uint32_t column = place[rows_column(r, form, j)];
            const double x = rows_value(r, form, i, j);
            const bool stays = column != FOLD_AWAY;
            if (form == ROWS_FLOAT)
                to->pair[k] = (rows_pair){column, (float)x};
            else
                to->column[k] = column;
            if (form == ROWS_DOUBLE)
                to->value[k] = x;
            k += stays;
            squares += stays ? 0 : x * x;
        }
        to->own[i] = sqrt(squares);
        to->start[i + 1] = k;
    }
}

#define LINE 64 /* arrays begin on cache lines */

/* Where the arrays of `count` rows with `kept` cells are from `base` on; returns the bytes that they take. */
static uint64_t lay_out(char *base, rows_form form, uint64_t count, uint64_t kept, cells *to)
{
    uint64_t at = 0;
#define ARRAY(field, items)                                                                                          \
    do {                                                                                                             \
        to->field = (void *)((uintptr_t)base + at);                                                                  \
        at += ((items) * sizeof *to->field + LINE - 1) / LINE * LINE;                                                \
    } while (0)
    *to = (cells){0};
    ARRAY(start, count + 1);
    ARRAY(own, count);
    if (form == ROWS_FLOAT)
        ARRAY(pair, kept);
    else
        ARRAY(column, kept);
    if (form == ROWS_DOUBLE || form == ROWS_CONSTANT)
        ARRAY(value, form == ROWS_DOUBLE ? kept : count);
#undef ARRAY
    return at;
}

static void show_cells(rows *r, const cells *of)
{
    r->start = of->start;
    r->column = of->column;
    r->pair = of->pair;
    r->value = of->value;
    r->own = of->own;
}

/* Room is taken for all cells and one more; pages that no cell gets to cost nothing. */
static bool copy_rows(fold *f, const data *d, uint64_t columns, bda_error *err)
{
    const rows *r = &d->rows;
    const uint64_t most = r->count > 0 ? r->start[r->count] - r->start[0] + 1 : 1;
    cells to;
    char *base = arena_take(&f->memory, lay_out(NULL, r->form, r->count, most, &to), 1, "folded rows", err);
    if (!base)
        return false;
    lay_out(base, r->form, r->count, most, &to);
    if (r->form == ROWS_CONSTANT && r->count > 0)
        memcpy(to.value, r->value, r->count * sizeof *to.value);
#define CALL(form) fill(r, f->place, &to, form)
    ROWS_DISPATCH(r->form, CALL);
#undef CALL
    f->rows = (rows){
        .form = r->form, .count = r->count, .columns = columns + d->rows_all, .own_first = columns + d->first_row};
    show_cells(&f->rows, &to);
    return true;
}

static bool pays(const data *d, uint64_t columns, uint64_t outputs)
{
    cells unused;
    const double saved = ((double)d->features - (double)columns) * (double)outputs * VECTORS * sizeof(double);
    return columns >= LEAST_COLUMNS && saved > (double)lay_out(NULL, d->rows.form, 0, d->nonzeros, &unused);
}

bool fold_open(fold *f, comm *c, const data *d, uint64_t outputs, bda_error *err)
{
    *f = (fold){.comm = c};
    const uint64_t at_least = d->rows_all > LEAST_COLUMNS ? d->rows_all : LEAST_COLUMNS;
    if (!pays(d, at_least, outputs)) /* whatever the counts are */
        return true;
    arena memory = {0};
    uint64_t *bucket = ARENA_TAKE(&memory, uint64_t, FREQUENCY_BUCKETS, err);
    f->place = ARENA_TAKE(&f->memory, uint32_t, d->features + d->features % 2, err);
    uint64_t *word = ARENA_TAKE(&memory, uint64_t, comm_small_words(c, d->features), err);
    bool ok = comm_agree(c, bucket && f->place && word, err);
    if (ok) {
        count_columns(c, d, f->place, word);
        const uint64_t kept = frequency_places(f->place, d->features, 2, bucket);
        f->folded = pays(d, kept + d->rows_all, outputs);
        ok = !f->folded || comm_agree(c, copy_rows(f, d, kept, err), err);
    }
    if (ok && f->folded) {
        f->nonzeros = f->rows.start[f->rows.count];
        comm_sum_counts(c, &f->nonzeros, 1);
    }
    arena_free(&memory);
    if (!ok || !f->folded)
        fold_close(f);
    return ok;
}

void fold_close(fold *f)
{
    arena_free(&f->memory);
    *f = (fold){0};
}

/* Weights of the features that this rank's rows alone have. */
ROWS_INLINE void tell_own(const fold *f, const rows *r, const double *w, uint64_t outputs, double *full,
                          rows_form form)
{
    for (uint64_t i = 0; i < r->count; i++) {
        const double *u = w + (f->rows.own_first + i) * outputs;
        if (f->rows.own[i] == 0)
            continue;
        for (uint64_t j = r->start[i]; j < r->start[i + 1]; j++) {
            const uint64_t column = rows_column(r, form, j);
            const double x = rows_value(r, form, i, j) / f->rows.own[i];
            if (f->place[column] == FOLD_AWAY)
                for (uint64_t k = 0; k < outputs; k++)
                    full[column * outputs + k] = x * u[k];
        }
    }
}

void fold_weights(const fold *f, const data *d, const double *w, uint64_t outputs, double *full)
{
    const uint64_t size = outputs * sizeof *full;
    memset(full, 0, d->features * size);
#define CALL(form) tell_own(f, &d->rows, w, outputs, full, form)
    ROWS_DISPATCH(d->rows.form, CALL);
#undef CALL
    uint64_t away = 0; /* what not all ranks know gathers at the front, and goes back from there */
    for (uint64_t j = 0; j < d->features; j++)
        if (f->place[j] == FOLD_AWAY)
            memmove(full + away++ * outputs, full + j * outputs, size);
    comm_sum_long(f->comm, full, away * outputs);
    for (uint64_t j = d->features; j-- > 0;)
        if (f->place[j] == FOLD_AWAY)
            memmove(full + j * outputs, full + --away * outputs, size);
        else
            memcpy(full + j * outputs, w + f->place[j] * outputs, size);
}

/* u_i = sum over O_i of x_ij w_j / own_i, of this rank's rows. */
ROWS_INLINE void take_own(const fold *f, const rows *r, const double *full, uint64_t outputs, double *w,
                          rows_form form)
{
    for (uint64_t i = 0; i < r->count; i++) {
        double *u = w + (f->rows.own_first + i) * outputs;
        for (uint64_t j = r->start[i]; f->rows.own[i] != 0 && j < r->start[i + 1]; j++) {
            const uint64_t column = rows_column(r, form, j);
            const double x = rows_value(r, form, i, j) / f->rows.own[i];
            if (f->place[column] == FOLD_AWAY)
                for (uint64_t k = 0; k < outputs; k++)
                    u[k] += x * full[column * outputs + k];
        }
    }
}

void fold_take_weights(const fold *f, const data *d, const double *full, uint64_t outputs, double *w)
{
    const uint64_t kept = f->rows.columns - d->rows_all;
    memset(w, 0, f->rows.columns * outputs * sizeof *w);
    for (uint64_t j = 0; j < d->features; j++)
        if (f->place[j] != FOLD_AWAY)
            memcpy(w + f->place[j] * outputs, full + j * outputs, outputs * sizeof *w);
#define CALL(form) take_own(f, &d->rows, full, outputs, w, form)
    ROWS_DISPATCH(d->rows.form, CALL);
#undef CALL
    comm_sum_long(f->comm, w + kept * outputs, d->rows_all * outputs); /* each is 0 on all ranks but one */
}
