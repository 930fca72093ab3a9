/* binary.c - reading the binary format. Arrays of cells are mapped and used where they are: no copy, no parsing, and
 * the pages of the file are the memory. What is mapped is checked first, block by block while it is in the cache: the
 * checksum against accidents, and then what loops rely on (rows in order, columns that increase and are below n,
 * finite numbers) against files that were made up. A file that shrinks or is written to in place while it is in use
 * is outside of what this can promise; programs that replace files by renaming do no harm. */
#include "data/binary.h"

#include "base/memory.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <xxhash.h>

_Static_assert(sizeof(binary_header) == BINARY_HEADER, "the header has no gaps");
_Static_assert(sizeof(rows_pair) == 8, "pairs are written as they are");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the format is little-endian, and used in place");

bool binary_is(const source *s)
{
    return s->heads >= 8 && memcmp(s->head, BINARY_MAGIC, 8) == 0;
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

/* Maps pages in one go instead of one fault each, where the kernel knows how. */
static bool populate(const file *f, uint64_t from, uint64_t to, bda_error *err)
{
#ifdef MADV_POPULATE_READ
    uint64_t page = from & ~(uint64_t)4095;
    if (to > from && madvise((char *)f->map + page, to - page, MADV_POPULATE_READ) != 0 &&
        (errno == EFAULT || errno == EIO))
        return err_set(err, BDA_FAILED, "%s: cannot be read", f->path);
#endif
    (void)f, (void)from, (void)to, (void)err;
    return true;
}

/* Rows that follow one another, copied so that this rank's begin with 0. */
static bool take_starts(const file *f, builder *b, uint64_t *first_cell, bda_error *err)
{
    uint64_t from = f->layout.start + f->first * sizeof(uint64_t), count = f->end - f->first;
    uint64_t to = from + (count + 1) * sizeof(uint64_t);
    if (!populate(f, from, to, err) || !check_bytes(f, from, to, NULL, NULL, err))
        return false;
    memcpy(b->start, f->map + from, to - from);
    *first_cell = b->start[0];
    bool sound = f->first > 0 || *first_cell == 0;
    for (uint64_t i = 0; i < count; i++)
        sound &= b->start[i] <= b->start[i + 1];
    uint64_t last = b->start[count];
    if (!sound || last > f->header.nonzeros || (f->end == f->header.instances && last != f->header.nonzeros))
        return damaged(f, "its rows make no sense", err);
    for (uint64_t i = 0; i <= count; i++)
        b->start[i] -= *first_cell;
    b->count = count;
    b->cells = b->start[count];
    return true;
}

static bool all_finite(const double *x, uint64_t count)
{
    uint64_t bad = 0;
    for (uint64_t i = 0; i < count; i++)
        bad += !(fabs(x[i]) <= 1.7976931348623157e308);
    return bad == 0;
}

static bool inspect_reals(void *self, uint64_t offset, uint64_t bytes)
{
    const file *f = self;
    return all_finite((const double *)(const void *)(f->map + offset), bytes / sizeof(double));
}

static bool take_labels(file *f, builder *b, bda_error *err)
{
    uint64_t from = f->layout.label + f->first * sizeof(double), to = from + b->count * sizeof(double);
    if (!populate(f, from, to, err) || !check_bytes(f, from, to, inspect_reals, f, err))
        return false;
    if (b->count > 0)
        memcpy(b->label, f->map + from, to - from);
    for (uint64_t i = 0; i < b->count; i++)
        b->label[i] += 0.0;
    return true;
}

/* Columns are in order if every descent from one cell to the next is from one row to the next: both are counted by
 * loops that never branch. */
typedef struct cell_check {
    const file *file;
    const builder *rows;
    const char *cells; /* the first of this rank's */
    uint64_t descents;
    uint32_t largest;
    uint64_t bad_values;
} cell_check;

static bool inspect_columns(void *self, uint64_t offset, uint64_t bytes)
{
    cell_check *s = self;
    const uint32_t *column = (const uint32_t *)(const void *)(s->file->map + offset);
    uint64_t count = bytes / sizeof *column;
    uint32_t largest = s->largest, descents = 0; /* a block has fewer than 2^32 */
    if ((const char *)column > s->cells)
        descents += column[-1] >= column[0];
    for (uint64_t k = 0; k < count; k++)
        largest = column[k] > largest ? column[k] : largest;
    for (uint64_t k = 1; k < count; k++)
        descents += column[k - 1] >= column[k];
    s->largest = largest;
    s->descents += descents;
    return true;
}

static bool inspect_pairs(void *self, uint64_t offset, uint64_t bytes)
{
    cell_check *s = self;
    const rows_pair *pair = (const rows_pair *)(const void *)(s->file->map + offset);
    uint64_t count = bytes / sizeof *pair;
    uint32_t largest = s->largest, descents = 0, bad = 0;
    if ((const char *)pair > s->cells)
        descents += pair[-1].column >= pair[0].column;
    for (uint64_t k = 0; k < count; k++) {
        largest = pair[k].column > largest ? pair[k].column : largest;
        bad += !(fabsf(pair[k].value) <= 3.40282346638528859812e38f);
    }
    for (uint64_t k = 1; k < count; k++)
        descents += pair[k - 1].column >= pair[k].column;
    s->largest = largest;
    s->descents += descents;
    return bad == 0;
}

static uint32_t column_at(const builder *b, uint64_t k)
{
    return b->form == ROWS_FLOAT ? b->pair[k].column : b->column[k];
}

static bool take_cells(file *f, builder *b, uint64_t first_cell, bda_error *err)
{
    uint64_t size = b->form == ROWS_FLOAT ? sizeof *b->pair : sizeof *b->column;
    uint64_t from = f->layout.cell + first_cell * size, to = from + b->cells * size;
    cell_check s = {.file = f, .rows = b, .cells = f->map + from};
    inspector inspect = b->form == ROWS_FLOAT ? inspect_pairs : inspect_columns;
    if (!populate(f, from, to, err) || !check_bytes(f, from, to, inspect, &s, err))
        return false;
    builder_borrow(b, f->map + from, to - from, NULL, 0);
    uint64_t between = 0;
    for (uint64_t i = 1; i < b->count; i++) {
        uint64_t k = b->start[i];
        if (k > b->start[i - 1] && k < b->cells)
            between += column_at(b, k - 1) >= column_at(b, k);
    }
    bool sound = s.descents == between && (b->cells == 0 || s.largest < f->header.features);
    return sound || damaged(f, "its columns make no sense", err);
}

static bool take_values(file *f, builder *b, uint64_t first_cell, bda_error *err)
{
    bool per_row = b->form == ROWS_CONSTANT;
    if (!per_row && b->form != ROWS_DOUBLE)
        return true;
    uint64_t from = f->layout.value + (per_row ? f->first : first_cell) * sizeof(double);
    uint64_t to = from + (per_row ? b->count : b->cells) * sizeof(double);
    if (!populate(f, from, to, err) || !check_bytes(f, from, to, inspect_reals, f, err))
        return false;
    builder_borrow(b, NULL, 0, f->map + from, to - from);
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

bool binary_read(source *s, uint64_t blocks, int rank, int size, shard *to, bda_error *err)
{
    if (!s->seekable)
        return err_set(err, BDA_FAILED, "%s: binary data must be a regular file", s->path);
    void *map = mmap(NULL, s->size, PROT_READ, MAP_PRIVATE, s->fd, 0);
    if (map == MAP_FAILED)
        return err_set(err, BDA_FAILED, "%s: cannot be mapped: %s", s->path, strerror(errno));
    to->map = map;
    to->map_bytes = s->size;
    file f = {.path = s->path, .map = map};
    builder *b = &to->rows;
    uint64_t first_cell;
    if (!check_header(&f, s, err))
        return false;
    shard_range(f.header.instances, blocks, rank, size, &f.first, &f.end);
    if (!builder_reserve(b, f.end - f.first, 0, err) || !take_starts(&f, b, &first_cell, err) ||
        !take_labels(&f, b, err))
        return false;
    b->form = (rows_form)f.header.form;
    if (!take_cells(&f, b, first_cell, err) || !take_values(&f, b, first_cell, err))
        return false;
    b->facts = facts_of(b);
    to->features = f.header.features;
    to->bytes_read = BINARY_HEADER + builder_bytes(b);
    return true;
}
