/* test_units.c - data whose instances have several rows, put together in memory: every rank count and number of
 * blocks has the units, rows and class numbers of the same sentences, blocks hold whole units, and folded rows get a
 * column of their own a row. */
#include "data/data.h"
#include "data/fold.h"
#include "mpi/check.h"

#include <stdlib.h>
#include <string.h>

#define UNITS 41
#define MOST_ROWS (UNITS * 4)
#define COMMON 9000 /* columns that several rows have */
#define OWN 60      /* columns that a row alone has */
#define CELLS 400

static bda_comm *c;
static int rank, size;

static const char *const names[] = {"A", "D", "N", "P", "V", "X"}; /* X occurs nowhere */

/* Lengths of 0 to 4. */
static uint64_t length_of(uint64_t unit)
{
    return unit * 7 % 5;
}

static uint64_t first_row_of(uint64_t unit)
{
    uint64_t rows = 0;
    for (uint64_t u = 0; u < unit; u++)
        rows += length_of(u);
    return rows;
}

static uint32_t class_of(uint64_t row)
{
    return (uint32_t)(row * row % 5);
}

/* Column of the k-th cell of a row; every fifth row has none. */
static uint32_t column_of(uint64_t row, uint64_t k)
{
    if (k >= CELLS)
        return (uint32_t)(COMMON + row * OWN + (k - CELLS));
    return (uint32_t)((row * 17 + k * (COMMON / CELLS)) % (COMMON / CELLS) + k * (COMMON / CELLS));
}

static uint64_t cells_of(uint64_t row)
{
    return row % 5 == 4 ? 0 : CELLS + OWN;
}

typedef struct text {
    uint64_t unit_row[UNITS + 1], start[MOST_ROWS + 1];
    uint32_t class[MOST_ROWS], column[MOST_ROWS * (CELLS + OWN)];
} text;

/* The units first .. end - 1 of all. */
static data_units put_together(text *t, uint64_t first, uint64_t end)
{
    uint64_t rows = 0, cells = 0;
    for (uint64_t u = first; u < end; u++) {
        t->unit_row[u - first] = rows;
        for (uint64_t i = 0; i < length_of(u); i++, rows++) {
            uint64_t row = first_row_of(u) + i;
            t->class[rows] = class_of(row);
            t->start[rows] = cells;
            for (uint64_t k = 0; k < cells_of(row); k++)
                t->column[cells++] = column_of(row, k);
        }
    }
    t->unit_row[end - first] = rows;
    t->start[rows] = cells;
    return (data_units){.units = end - first,
                        .unit_row = t->unit_row,
                        .start = t->start,
                        .column = t->column,
                        .class = t->class,
                        .labels = 6,
                        .label = names,
                        .name = "sentences",
                        .format = "test",
                        .bytes_read = 10,
                        .shared = true};
}

static void check_rows(const data *d)
{
    for (uint64_t u = 0; u < d->units; u++) {
        const uint64_t unit = d->first_instance + u, first = data_unit_row(d, u);
        CHECK(data_unit_row(d, u + 1) - first == length_of(unit));
        CHECK(d->first_row + first == first_row_of(unit));
        for (uint64_t i = first; i < data_unit_row(d, u + 1); i++) {
            const uint64_t row = d->first_row + i, at = d->rows.start[i];
            CHECK(d->target.class[i] == class_of(row));
            CHECK(d->rows.start[i + 1] - at == cells_of(row));
            for (uint64_t k = 0; k < cells_of(row); k++)
                CHECK(d->rows.column[at + k] == column_of(row, k));
        }
    }
}

static void all_have_the_same(uint64_t blocks, bool shared)
{
    static text t;
    bda_error err = {0};
    uint64_t first, end, block_first, block_end;
    data_share(UNITS, shared ? blocks : (uint64_t)size, rank, size, &first, &end);
    data_units u = put_together(&t, first, end);
    u.shared = shared;
    data *d = data_copy_units(c, blocks, &u, &err);
    CHECK(d);
    CHECK(d->instances == UNITS && d->rows_all == first_row_of(UNITS) && d->units == end - first);
    CHECK(d->rows.count == first_row_of(end) - first_row_of(first) && d->rows.form == ROWS_ONES);
    CHECK(d->first_instance == first && d->first_row == first_row_of(first));
    CHECK(d->labels.count == 6 && strcmp(d->labels.name[5], "X") == 0 && !d->labels.number && !d->target.real);
    CHECK(strcmp(d->format, "test") == 0 && d->bytes_read == 10 * (uint64_t)size);
    CHECK(d->block_start[0] == 0 && d->block_start[d->local_blocks] == d->units);
    for (uint64_t k = 0; k < d->local_blocks; k++) {
        if (shared)
            CHECK(d->first_instance + d->block_start[k] == (d->first_block + k) * UNITS / blocks);
        data_block_rows(d, k, &block_first, &block_end);
        CHECK(d->first_row + block_first == first_row_of(d->first_instance + d->block_start[k]));
        CHECK(d->first_row + block_end == first_row_of(d->first_instance + d->block_start[k + 1]));
    }
    check_rows(d);
    data_free(d);
}

static void rows_have_columns_of_their_own(void)
{
    static text t;
    bda_error err = {0};
    fold f;
    uint64_t first, end;
    data_share(UNITS, 6, rank, size, &first, &end);
    const data_units u = put_together(&t, first, end);
    data *d = data_copy_units(c, 6, &u, &err);
    CHECK(d && fold_open(&f, c, d, 1, &err) && f.folded);
    CHECK(f.rows.columns - d->rows_all <= COMMON && f.rows.columns - d->rows_all > COMMON / 2);
    CHECK(f.rows.own_first == f.rows.columns - d->rows_all + d->first_row);
    for (uint64_t i = 0; i < d->rows.count; i++)
        CHECK((f.rows.own[i] > 0) == (cells_of(d->first_row + i) > 0));
    fold_close(&f);
    data_free(d);
}

static void refused(data_units u, uint64_t blocks, const char *sentence)
{
    bda_error err = {0};
    data *d = data_copy_units(c, blocks, &u, &err);
    CHECK(!d);
    if (!strstr(err.text, sentence))
        printf("said: %s\n", err.text);
    CHECK(strstr(err.text, sentence));
}

static void errors_reach_all(void)
{
    static text t;
    static const char *const unordered[] = {"A", "D", "P", "N", "V", "X"};
    data_units good = put_together(&t, 0, 3), u = good;
    good.shared = false;
    u = good;
    u.label = unordered;
    refused(u, (uint64_t)size, "sentences: the labels 'P' and 'N' are not in increasing order");
    u = good;
    if (rank == size - 1)
        u.labels = 1;
    refused(u, (uint64_t)size, "is beyond the 1 labels");
    if (size > 1)
        refused(good, 1, "1 blocks are too few");
    u = good;
    u.units = 0;
    refused(u, (uint64_t)size, "sentences is empty");
    if (rank == size - 1)
        t.unit_row[1] = 5;
    refused(good, (uint64_t)size, "sentences: unit 1 ends before it begins");
}

int main(void)
{
    bda_error err = {0};
    c = bda_comm_launch(&err);
    CHECK(c);
    rank = bda_comm_rank(c);
    size = bda_comm_size(c);
    for (uint64_t blocks = 1; blocks <= 9; blocks++) {
        all_have_the_same(blocks, true);
        if (blocks >= (uint64_t)size)
            all_have_the_same(blocks, false);
    }
    rows_have_columns_of_their_own();
    errors_reach_all();
    bda_comm_free(c);
    return 0;
}
