/* matrix.c - data from a matrix in memory: dense or of compressed rows, of several types. Its numbers are made uint32_t
 * and double a row at a time, and checked as those of files are. */
#include "base/clock.h"
#include "data/shard.h"

#include <math.h>
#include <string.h>

/* A row under construction. */
typedef struct row {
    uint32_t *column;
    double *value;
    uint64_t cells;
} row;

static inline uint64_t whole_at(const void *p, uint8_t bytes, uint64_t k)
{
    return bytes == 4 ? ((const uint32_t *)p)[k] : ((const uint64_t *)p)[k];
}

static inline double real_at(const void *p, uint8_t bytes)
{
    if (bytes == 4) {
        float x;
        memcpy(&x, p, sizeof x);
        return (double)x;
    }
    double x;
    memcpy(&x, p, sizeof x);
    return x;
}

static bool not_finite(uint64_t i, double x, bda_error *err)
{
    return err_set(err, BDA_FAILED, "row %llu: value %g is not a finite number", (unsigned long long)i, x);
}

static inline bool take_dense_cells(const bda_matrix *m, uint8_t bytes, uint64_t i, row *to, bda_error *err)
{
    const char *at = (const char *)m->value + (int64_t)i * m->row_stride;
    for (uint64_t j = 0; j < m->columns; j++, at += m->column_stride) {
        const double x = real_at(at, bytes);
        if (x == 0)
            continue;
        if (!isfinite(x))
            return not_finite(i, x, err);
        to->column[to->cells] = (uint32_t)j;
        to->value[to->cells++] = x;
    }
    return true;
}

static inline bool take_compressed_cells(const bda_matrix *m, uint8_t column_bytes, uint64_t i, uint64_t first,
                                         uint64_t end, row *to, bda_error *err)
{
    const char *value = m->value;
    for (uint64_t k = first, next = 0; k < end; k++) {
        const uint64_t column = whole_at(m->column, column_bytes, k);
        const double x = value ? real_at(value + k * m->value_bytes, m->value_bytes) : 1;
        if (column < next || column >= m->columns)
            return err_set(err, BDA_FAILED, "row %llu: column %llu is %s", (unsigned long long)i,
                           (unsigned long long)column,
                           column < next ? "not above the one before it" : "beyond those of the matrix");
        if (!isfinite(x))
            return not_finite(i, x, err);
        next = column + 1;
        if (x == 0)
            continue;
        to->column[to->cells] = (uint32_t)column;
        to->value[to->cells++] = x;
    }
    return true;
}

static bool take_row(const bda_matrix *m, uint64_t i, row *to, bda_error *err)
{
    to->cells = 0;
    if (!m->start) /* the types are told apart outside of the loops */
        return m->value_bytes == 4 ? take_dense_cells(m, 4, i, to, err) : take_dense_cells(m, 8, i, to, err);
    const uint64_t first = whole_at(m->start, m->start_bytes, i), end = whole_at(m->start, m->start_bytes, i + 1);
    return m->column_bytes == 4 ? take_compressed_cells(m, 4, i, first, end, to, err)
                                : take_compressed_cells(m, 8, i, first, end, to, err);
}

static bool take_label(shard *s, const bda_matrix *m, uint64_t i, double *label, bda_error *err)
{
    uint32_t place = 0;
    *label = m->label ? m->label[i] + 0.0 : 0; /* a zero is +0 */
    if (!isfinite(*label))
        return err_set(err, BDA_FAILED, "row %llu: label %g is not a finite number", (unsigned long long)i, *label);
    if (!m->label_name)
        return true;
    const bool ok = names_add(&s->names, m->label_name[i], strlen(m->label_name[i]), &place, err);
    *label = place;
    return ok;
}

static bool is_width(uint8_t bytes)
{
    return bytes == 4 || bytes == 8;
}

static bool check_matrix(const bda_matrix *m, bda_error *err)
{
    const bool dense = !m->start;
    if (m->columns > UINT32_MAX)
        return err_set(err, BDA_USAGE, "a matrix has at most %u columns, not %llu", UINT32_MAX,
                       (unsigned long long)m->columns);
    if (m->label && m->label_name)
        return err_set(err, BDA_USAGE, "the rows of a matrix have numbers or names for labels, not both");
    if (dense ? m->column != NULL : !m->column && m->rows > 0)
        return err_set(err, BDA_USAGE, "a matrix has both start and column, or none of them where it is dense");
    if (dense && !m->value && m->rows > 0)
        return err_set(err, BDA_USAGE, "a dense matrix needs its values");
    if ((!dense && (!is_width(m->start_bytes) || !is_width(m->column_bytes))) ||
        (m->value && !is_width(m->value_bytes)))
        return err_set(err, BDA_USAGE, "the numbers of a matrix have 4 or 8 bytes");
    return true;
}

/* The cells of the longest row; no row ends before it begins. */
static bool longest_row(const bda_matrix *m, uint64_t *most, bda_error *err)
{
    *most = m->start ? 0 : m->columns;
    for (uint64_t i = 0; m->start && i < m->rows; i++) {
        const uint64_t first = whole_at(m->start, m->start_bytes, i), end = whole_at(m->start, m->start_bytes, i + 1);
        if (end < first)
            return err_set(err, BDA_FAILED, "row %llu: ends before it begins", (unsigned long long)i);
        *most = end - first > *most ? end - first : *most;
    }
    return true;
}

/* Values that are not 0 of a dense matrix. */
static inline uint64_t dense_cells(const bda_matrix *m, uint8_t bytes)
{
    uint64_t cells = 0;
    for (uint64_t i = 0; i < m->rows; i++) {
        const char *at = (const char *)m->value + (int64_t)i * m->row_stride;
        for (uint64_t j = 0; j < m->columns; j++, at += m->column_stride)
            cells += real_at(at, bytes) != 0;
    }
    return cells;
}

static uint64_t count_cells(const bda_matrix *m)
{
    if (!m->start)
        return m->value_bytes == 4 ? dense_cells(m, 4) : dense_cells(m, 8);
    return m->rows ? whole_at(m->start, m->start_bytes, m->rows) - whole_at(m->start, m->start_bytes, 0) : 0;
}

static bool take_matrix(shard *s, const bda_matrix *m, bda_error *err)
{
    uint64_t most;
    if (!check_matrix(m, err) || !longest_row(m, &most, err))
        return false;
    arena memory = {0};
    row to = {ARENA_TAKE(&memory, uint32_t, most + 1, err), ARENA_TAKE(&memory, double, most + 1, err), 0};
    bool ok = to.column && to.value && builder_reserve(&s->rows, m->rows, count_cells(m), err);
    for (uint64_t i = 0; i < m->rows && ok; i++) {
        double label;
        ok = take_label(s, m, i, &label, err) && take_row(m, i, &to, err) &&
             builder_add(&s->rows, label, to.column, to.value, to.cells, err);
    }
    s->features = m->columns;
    arena_free(&memory);
    return ok;
}

data *data_copy_matrix(comm *c, uint64_t blocks, const bda_matrix *m, bda_error *err)
{
    const double began = clock_now();
    shard s = {.format = "memory", .named = m->label_name != NULL, .unlabelled = !m->label && !m->label_name};
    bool ok = blocks >= (uint64_t)bda_comm_size(c) ||
              err_set(err, BDA_USAGE, "%llu blocks are too few for %d ranks that each bring rows",
                      (unsigned long long)blocks, bda_comm_size(c));
    ok = ok && take_matrix(&s, m, err);
    return shard_finish(c, &s, ok, false, "the data in memory", blocks, began, err);
}
