/* binary.c - reading the binary format. Arrays of cells are mapped and used where they are: no copy, no parsing, and
 * the pages of the file are the memory. What is mapped is checked first, block by block while it is in the cache: the
 * checksum against accidents, and then what loops rely on (rows in order, columns that increase and are below n,
 * finite numbers) against files that were made up. A file that shrinks or is written to in place while it is in use
 * is noticed later (mapping.h); programs that replace files by renaming do no harm. */
#include "data/binary.h"

#include "base/memory.h"
#include "data/mapping.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <string.h>
#include <xxhash.h>

_Static_assert(sizeof(binary_header) == BINARY_HEADER, "the header has no gaps");
_Static_assert(sizeof(rows_pair) == 8, "pairs are written as they are");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the format is little-endian, and used in place");

bool binary_starts(const char *head, uint64_t length)
{
    return length >= 8 && memcmp(head, BINARY_MAGIC, 8) == 0;
}

/* *offset moves behind a section of `items`; false on overflow. */
static bool pass(uint64_t *offset, uint64_t items, uint64_t size)
{
    uint64_t bytes;
    return !__builtin_mul_overflow(items, size, &bytes) && !__builtin_add_overflow(*offset, bytes, offset) &&
           !__builtin_add_overflow(*offset, BINARY_ALIGNMENT - 1, offset) &&
           (*offset &= ~(BINARY_ALIGNMENT - 1), true);
}

bool binary_lay_out(rows_form form, uint64_t instances, uint64_t nonzeros, binary_layout *layout)
{
    uint64_t at = BINARY_HEADER;
    uint64_t values = form == ROWS_CONSTANT ? instances : form == ROWS_DOUBLE ? nonzeros : 0;
    layout->start = at;
    if (instances == UINT64_MAX || !pass(&at, instances + 1, sizeof(uint64_t)))
        return false;
    layout->label = at;
    if (!pass(&at, instances, sizeof(double)))
        return false;
    layout->cell = at;
    if (!pass(&at, nonzeros, form == ROWS_FLOAT ? sizeof(rows_pair) : sizeof(uint32_t)))
        return false;
    layout->value = at;
    if (!pass(&at, values, sizeof(double)))
        return false;
    layout->checksum = at;
    layout->blocks = (at - BINARY_HEADER + BINARY_BLOCK - 1) / BINARY_BLOCK;
    layout->size = at + (layout->blocks + 1) * sizeof(uint64_t);
    return layout->size <= INT64_MAX;
}

typedef struct file {
    const char *path;
    const char *map;
    uint64_t map_bytes;
    binary_header header;
    binary_layout layout;
    uint64_t first, end; /* rows of this rank */
} file;

static bool damaged(const file *f, const char *what, bda_error *err)
{
    return err_set(err, BDA_FAILED, "%s: is damaged: %s", f->path, what);
}

static bool check_header(file *f, const source *s, bda_error *err)
{
    const binary_header *h = &f->header;
    if (s->size < BINARY_HEADER)
        return err_set(err, BDA_FAILED, "%s: is truncated: its header is incomplete", f->path);
    memcpy(&f->header, f->map, sizeof f->header);
    /* A newer version may have another header; its number is all that is certain. */
    if (h->version != BINARY_VERSION)
        return err_set(err, BDA_FAILED, "%s: is of version %u of the binary format; this program reads version %u",
                       f->path, h->version, BINARY_VERSION);
    if (XXH3_64bits(h, offsetof(binary_header, checksum)) != h->checksum)
        return damaged(f, "the checksum of its header does not match", err);
    if (h->form > ROWS_DOUBLE || h->block != BINARY_BLOCK || h->features > UINT32_MAX || h->instances == 0 ||
        !binary_lay_out((rows_form)h->form, h->instances, h->nonzeros, &f->layout) || f->layout.size != h->size)
        return damaged(f, "its header makes no sense", err);
    if (s->size != h->size)
        return err_set(err, BDA_FAILED, "%s: is %s: it has %llu bytes instead of %llu", f->path,
                       s->size < h->size ? "truncated" : "damaged", (unsigned long long)s->size,
                       (unsigned long long)h->size);
    const char *sums = f->map + f->layout.checksum;
    uint64_t bytes = f->layout.blocks * sizeof(uint64_t), own;
    memcpy(&own, sums + bytes, sizeof own);
    return XXH3_64bits(sums, bytes) == own || damaged(f, "the checksum of its checksums does not match", err);
}

/* What is looked for in a part of a section, once its bytes are known to be those that were written. */
typedef bool (*inspector)(void *self, uint64_t offset, uint64_t bytes);

/* Bytes [from, to) of the file, block by block. */
static bool check_bytes(const file *f, uint64_t from, uint64_t to, inspector inspect, void *self, bda_error *err)
{
    while (from < to) {
        uint64_t block = (from - BINARY_HEADER) / BINARY_BLOCK, begin = BINARY_HEADER + block * BINARY_BLOCK;
        uint64_t end = begin + BINARY_BLOCK < f->layout.checksum ? begin + BINARY_BLOCK : f->layout.checksum, sum;
        memcpy(&sum, f->map + f->layout.checksum + block * sizeof sum, sizeof sum);
        if (XXH3_64bits(f->map + begin, end - begin) != sum)
            return err_set(err, BDA_FAILED, "%s: is damaged: the checksum of bytes %llu to %llu does not match",
                           f->path, (unsigned long long)begin, (unsigned long long)end - 1);
        uint64_t stop = end < to ? end : to;
        if (inspect && !inspect(self, from, stop - from))
            return damaged(f, "its rows make no sense", err);
        from = stop;
    }
    return true;
}

static const void *at(const file *f, uint64_t offset)
{
    return f->map + offset;
}

/* Rows that follow one another. They are copied where this rank's would not begin with 0. */
static bool take_starts(const file *f, builder *b, uint64_t *first_cell, bda_error *err)
{
    uint64_t from = f->layout.start + f->first * sizeof(uint64_t), count = f->end - f->first;
    uint64_t to = from + (count + 1) * sizeof(uint64_t);
    if (!check_bytes(f, from, to, NULL, NULL, err))
        return false;
    const uint64_t *start = at(f, from);
    const uint64_t first = start[0], last = start[count];
    bool sound = f->first > 0 || first == 0;
    for (uint64_t i = 0; i < count; i++)
        sound &= start[i] <= start[i + 1];
    if (!sound || last > f->header.nonzeros || (f->end == f->header.instances && last != f->header.nonzeros))
        return damaged(f, "its rows make no sense", err);
    if (first == 0) {
        b->start = (uint64_t *)start;
    } else {
        b->start = mem_resize(NULL, 0, (count + 1) * sizeof *start, "rows", err);
        if (!b->start)
            return false;
        b->start_bytes = (count + 1) * sizeof *start;
        for (uint64_t i = 0; i <= count; i++)
            b->start[i] = start[i] - first;
    }
    *first_cell = first;
    b->count = count;
    b->cells = last - first;
    return true;
}

static bool inspect_reals(void *self, uint64_t offset, uint64_t bytes)
{
    const double *x = at(self, offset);
    uint64_t bad = 0;
    for (uint64_t i = 0; i < bytes / sizeof *x; i++)
        bad += !(fabs(x[i]) <= DBL_MAX);
    return bad == 0;
}

static bool take_labels(file *f, builder *b, bda_error *err)
{
    uint64_t from = f->layout.label + f->first * sizeof(double), to = from + b->count * sizeof(double);
    if (!check_bytes(f, from, to, inspect_reals, f, err))
        return false;
    b->label = (double *)at(f, from);
    return true;
}

/* Columns increase within rows if every descent from one cell to the next is from one row to the next: both are
 * counted, cells by loops that never branch, ends of rows behind them while the cells are in the cache. Then the last
 * column of a row is its largest. */
typedef struct cell_check {
    const file *file;
    const builder *rows; /* with the cells in place */
    uint64_t passed;     /* cells */
    uint64_t row;        /* the first that ends behind these */
    uint64_t descents;   /* from any cell to the next */
    uint64_t between;    /* from the last cell of a row to the next */
    uint64_t beyond;     /* rows with a column that is not below n */
} cell_check;

static uint32_t column_at(const builder *b, uint64_t k)
{
    return b->form == ROWS_FLOAT ? b->pair[k].column : b->column[k];
}

/* The rows that end within the next `count` cells. */
static void pass_cells(cell_check *s, uint64_t count)
{
    const builder *b = s->rows;
    s->passed += count;
    for (; s->row < b->count && b->start[s->row + 1] <= s->passed; s->row++) {
        uint64_t end = b->start[s->row + 1];
        if (end == b->start[s->row])
            continue;
        uint32_t last = column_at(b, end - 1);
        s->beyond += last >= s->file->header.features;
        s->between += end < b->cells && last >= column_at(b, end);
    }
}

static bool inspect_columns(void *self, uint64_t offset, uint64_t bytes)
{
    cell_check *s = self;
    const uint32_t *column = at(s->file, offset);
    uint64_t count = bytes / sizeof *column;
    uint32_t descents = s->passed > 0 && column[-1] >= column[0]; /* a block has fewer than 2^32 */
    for (uint64_t k = 1; k < count; k++)
        descents += column[k - 1] >= column[k];
    s->descents += descents;
    pass_cells(s, count);
    return true;
}

static bool inspect_pairs(void *self, uint64_t offset, uint64_t bytes)
{
    cell_check *s = self;
    const rows_pair *pair = at(s->file, offset);
    uint64_t count = bytes / sizeof *pair;
    uint32_t descents = s->passed > 0 && pair[-1].column >= pair[0].column, bad = 0;
    for (uint64_t k = 1; k < count; k++)
        descents += pair[k - 1].column >= pair[k].column;
    for (uint64_t k = 0; k < count; k++)
        bad += !(fabsf(pair[k].value) <= FLT_MAX);
    s->descents += descents;
    pass_cells(s, count);
    return bad == 0;
}

static bool take_cells(file *f, builder *b, uint64_t first_cell, bda_error *err)
{
    uint64_t size = b->form == ROWS_FLOAT ? sizeof *b->pair : sizeof *b->column;
    uint64_t from = f->layout.cell + first_cell * size, to = from + b->cells * size;
    if (b->form == ROWS_FLOAT)
        b->pair = (rows_pair *)at(f, from);
    else
        b->column = (uint32_t *)at(f, from);
    cell_check s = {.file = f, .rows = b};
    if (!check_bytes(f, from, to, b->form == ROWS_FLOAT ? inspect_pairs : inspect_columns, &s, err))
        return false;
    return (s.descents == s.between && s.beyond == 0) || damaged(f, "its columns make no sense", err);
}

static bool take_values(file *f, builder *b, uint64_t first_cell, bda_error *err)
{
    bool per_row = b->form == ROWS_CONSTANT;
    if (!per_row && b->form != ROWS_DOUBLE)
        return true;
    uint64_t from = f->layout.value + (per_row ? f->first : first_cell) * sizeof(double);
    uint64_t to = from + (per_row ? b->count : b->cells) * sizeof(double);
    if (!check_bytes(f, from, to, inspect_reals, f, err))
        return false;
    b->value = (double *)at(f, from);
    return true;
}

/* As reading the same rows from text would have found them. */
static builder_facts facts_of(const builder *b)
{
    builder_facts facts = {b->form >= ROWS_CONSTANT, b->form >= ROWS_FLOAT, b->form == ROWS_DOUBLE};
    if (b->form == ROWS_CONSTANT)
        for (uint64_t i = 0; i < b->count; i++)
            facts.inexact |= (double)(float)b->value[i] != b->value[i];
    return facts;
}

/* Of the file, by this rank's rows. */
static uint64_t used_bytes(const builder *b)
{
    uint64_t cell = b->form == ROWS_FLOAT ? sizeof *b->pair : sizeof *b->column;
    uint64_t values = b->form == ROWS_CONSTANT ? b->count : b->form == ROWS_DOUBLE ? b->cells : 0;
    return (b->count + 1) * sizeof *b->start + b->count * sizeof *b->label + b->cells * cell +
           values * sizeof *b->value;
}

static bool open_file(file *f, const source *s, bda_error *err)
{
    *f = (file){.path = s->path};
    if (!s->seekable)
        return err_set(err, BDA_FAILED, "%s: binary data must be a regular file", s->path);
    void *map = mapping_open(s->fd, s->path, s->size);
    if (!map)
        return err_set(err, BDA_FAILED, "%s: cannot be mapped: %s", s->path, strerror(errno));
    f->map = map;
    f->map_bytes = s->size;
    return check_header(f, s, err);
}

static void close_file(file *f)
{
    if (f->map)
        mapping_close((void *)f->map, f->map_bytes);
    *f = (file){0};
}

/* The rows [first, end) where they are. */
static bool take_rows(file *f, builder *b, bda_error *err)
{
    uint64_t first_cell = 0;
    if (!take_starts(f, b, &first_cell, err) || !take_labels(f, b, err))
        return false;
    b->form = (rows_form)f->header.form;
    if (!take_cells(f, b, first_cell, err) || !take_values(f, b, first_cell, err))
        return false;
    b->facts = facts_of(b);
    return true;
}

static bool read_in_place(const parts *p, uint64_t blocks, int rank, int size, shard *to, bda_error *err)
{
    source own = {.fd = -1}, *s = parts_source(p, 0, &own, err);
    file f = {0};
    bool ok = s && open_file(&f, s, err);
    if (ok) {
        data_share(f.header.instances, blocks, rank, size, &f.first, &f.end);
        ok = take_rows(&f, &to->rows, err);
        to->features = f.header.features;
        to->map_used = used_bytes(&to->rows);
        to->bytes_read = BINARY_HEADER + to->map_used;
        to->map = (void *)f.map;
        to->map_bytes = f.map_bytes;
        mapping_use(to->map, f.layout.label);
    }
    if (!to->map)
        close_file(&f);
    source_close(&own);
    return ok;
}

/* ---- several files, whose rows are copied ------------------------------------------------------------------------ */

static bool copy_rows(builder *to, const builder *from, bda_error *err)
{
    uint64_t longest = 1;
    for (uint64_t i = 0; i < from->count; i++)
        longest = from->start[i + 1] - from->start[i] > longest ? from->start[i + 1] - from->start[i] : longest;
    arena temporary = {0};
    uint32_t *column = ARENA_TAKE(&temporary, uint32_t, longest, err);
    double *value = ARENA_TAKE(&temporary, double, longest, err);
    bool ok = column && value && builder_reserve(to, from->count, from->cells, err);
    for (uint64_t i = 0; ok && i < from->count; i++) {
        const uint64_t begin = from->start[i], cells = from->start[i + 1] - begin;
        for (uint64_t k = 0; k < cells; k++) {
            column[k] = column_at(from, begin + k);
            value[k] = from->form == ROWS_ONES       ? 1
                       : from->form == ROWS_CONSTANT ? from->value[i]
                       : from->form == ROWS_FLOAT    ? (double)from->pair[begin + k].value
                                                     : from->value[begin + k];
        }
        ok = builder_add(to, from->label[i], column, value, cells, err);
    }
    arena_free(&temporary);
    return ok;
}

/* What of a file whose rows are [*before, ...) of all lies in [first, end); with `to` NULL only counts. */
static bool copy_file(const parts *p, uint64_t k, uint64_t first, uint64_t end, uint64_t *before, shard *to,
                      bda_error *err)
{
    source own = {.fd = -1}, *s = parts_source(p, k, &own, err);
    file f = {0};
    builder view = {0};
    bool ok = s && open_file(&f, s, err);
    const uint64_t count = ok ? f.header.instances : 0, behind = *before + count;
    if (ok && to) {
        f.first = first > *before ? first - *before : 0;
        f.end = end < behind ? end - *before : count;
        if (end > *before && first < behind && f.first < f.end)
            ok = take_rows(&f, &view, err) && copy_rows(&to->rows, &view, err);
        to->features = f.header.features > to->features ? f.header.features : to->features;
        to->bytes_read += BINARY_HEADER + used_bytes(&view);
    }
    *before = behind;
    builder_free(&view);
    close_file(&f);
    source_close(&own);
    return ok;
}

bool binary_read(const parts *p, uint64_t blocks, int rank, int size, shard *to, bda_error *err)
{
    if (p->count == 1)
        return read_in_place(p, blocks, rank, size, to, err);
    uint64_t all = 0, before = 0, first, end;
    for (uint64_t k = 0; k < p->count; k++)
        if (!copy_file(p, k, 0, 0, &all, NULL, err))
            return false;
    data_share(all, blocks, rank, size, &first, &end);
    for (uint64_t k = 0; k < p->count; k++)
        if (!copy_file(p, k, first, end, &before, to, err))
            return false;
    return true;
}
