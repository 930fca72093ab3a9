/* generate.c - the shapes that `generate --like` knows, and writing them from all ranks.
 *
 * The ranks make rows in turns: chunk after chunk of consecutive rows, dealt out in rank order, which rank 0 collects
 * and writes. So the file is the same for any number of ranks, and no rank holds more than a chunk.
 *
 * The numbers of the shapes are those of the public data sets of these names; the exponents and the noise are ours.
 */
#include <string.h>

#include "base/output.h"
#include "data/binary.h"
#include "data/number.h"
#include "data/packer.h"
#include "data/synthetic.h"

const data_shape data_shapes[] = {
    {"webspam", 350000, 16609143, 3728, 1.1, ROWS_FLOAT, 0.61, 0.01},
    {"url", 2396130, 3231961, 115.6, 1.15, ROWS_ONES, 0.33, 0.02},
    {"kddb", 19264097, 29890095, 29.4, 1.1, ROWS_CONSTANT, 0.86, 0.05},
    {"rcv1", 677399, 47236, 73.2, 0.9, ROWS_FLOAT, 0.524, 0.02},
    {"news20", 19996, 1355191, 455, 1.1, ROWS_FLOAT, 0.5, 0.02},
    {0},
};

#define CHUNK_CELLS ((uint64_t)1 << 18) /* that a rank makes at a time, about */
#define CELL_TEXT 40                    /* at most: a blank, an index of 10 digits, a colon, a value of up to 20 */

/* What a rank has made of the chunk at hand, and what makes it. */
typedef struct maker {
    comm *comm;
    synthetic rows;
    synthetic_row row;
    arena memory;
    uint64_t chunk; /* rows a rank makes in a turn */
    char *bytes;
    uint64_t used, room;
} maker;

typedef bool (*put_row)(maker *m, bda_error *err);

static bool reserve(maker *m, uint64_t more, bda_error *err)
{
    if (m->used + more <= m->room)
        return true;
    uint64_t room = 2 * (m->used + more);
    char *bytes = mem_resize(m->bytes, m->room, room, "generated data", err);
    if (!bytes)
        return false;
    m->bytes = bytes;
    m->room = room;
    return true;
}

/* All rows in order, in the form that `put` gives them, to take(self) on rank 0. Collective. */
static bool make_rows(maker *m, bool sorted, put_row put, comm_take take, void *self, bda_error *err)
{
    uint64_t ranks = (uint64_t)bda_comm_size(m->comm), rank = (uint64_t)bda_comm_rank(m->comm);
    uint64_t l = m->rows.instances;
    bool ok = true;
    for (uint64_t first = 0; ok && first < l; first += m->chunk * ranks) {
        uint64_t begin = first + m->chunk * rank, end = begin + m->chunk < l ? begin + m->chunk : l;
        m->used = 0;
        for (uint64_t i = begin; ok && i < end; i++) {
            (sorted ? synthetic_make : synthetic_draw)(&m->rows, i, &m->row);
            ok = put(m, err);
        }
        ok = comm_agree(m->comm, ok, err);
        if (ok)
            comm_collect(m->comm, m->bytes, m->used, take, self);
    }
    return ok;
}

/* ---- text ---------------------------------------------------------------------------------------------------- */

/* ticks * unit / 10^decimals, without zeros at the end */
static char *put_value(char *to, const synthetic *s, uint32_t ticks)
{
    uint64_t one = number_ten_whole[s->decimals], number = ticks * s->unit;
    to = number_write_whole(to, number / one);
    if (number % one == 0)
        return to;
    /* A one in front of the fraction keeps its leading zeros; the point takes its place. */
    char *point = to;
    to = number_write_whole(to, one + number % one);
    *point = '.';
    while (to[-1] == '0')
        to--;
    return to;
}

static bool put_text_row(maker *m, bda_error *err)
{
    const synthetic *s = &m->rows;
    const synthetic_row *row = &m->row;
    if (!reserve(m, 4 + row->count * CELL_TEXT, err))
        return false;
    char same[CELL_TEXT], *to = m->bytes + m->used;
    uint64_t length = (uint64_t)(put_value(same, s, row->ticks) - same);
    memcpy(to, row->label > 0 ? "+1" : "-1", 2);
    to += 2;
    for (uint64_t i = 0; i < row->count; i++) {
        *to++ = ' ';
        to = number_write_whole(to, (uint64_t)synthetic_column(row->cell[i]) + 1);
        *to++ = ':';
        if (s->form == ROWS_FLOAT) {
            to = put_value(to, s, (uint32_t)row->cell[i]);
        } else {
            memcpy(to, same, length);
            to += length;
        }
    }
    *to++ = '\n';
    m->used = (uint64_t)(to - m->bytes);
    return true;
}

static bool write_text(maker *m, const char *path, bda_error *err)
{
    bool writer = bda_comm_rank(m->comm) == 0;
    packer *p = writer ? packer_open(path, err) : NULL;
    bool ok = comm_agree(m->comm, p || !writer, err) && make_rows(m, true, put_text_row, packer_put, p, err);
    if (ok && p)
        ok = packer_commit(p, err);
    else
        packer_abandon(p);
    return comm_agree(m->comm, ok, err);
}

/* ---- binary -------------------------------------------------------------------------------------------------- */

/* The binary format begins with the starts of all rows. So the rows are made twice: for this of each row, which rank
 * 0 keeps, and for their cells. */
typedef struct outline_row {
    uint32_t count_and_label; /* 2 * count, + 1 for the label +1 */
    uint32_t features;        /* the last column + 1 */
} outline_row;

typedef struct outline {
    outline_row *row; /* [rows] on rank 0 */
    uint64_t rows;
    uint64_t bytes; /* of row that are known */
    uint64_t nonzeros, features;
} outline;

static uint64_t outline_count(const outline *o, uint64_t i)
{
    return o->row[i].count_and_label >> 1;
}

static bool put_outline(maker *m, bda_error *err)
{
    outline_row row = {.count_and_label = (uint32_t)m->row.count << 1 | (m->row.label > 0)};
    if (!reserve(m, sizeof row, err))
        return false;
    for (uint64_t i = 0; i < m->row.count; i++)
        if (synthetic_column(m->row.cell[i]) >= row.features)
            row.features = synthetic_column(m->row.cell[i]) + 1;
    memcpy(m->bytes + m->used, &row, sizeof row);
    m->used += sizeof row;
    return true;
}

static void take_outline(void *self, const void *bytes, uint64_t count)
{
    outline *o = self;
    memcpy((char *)o->row + o->bytes, bytes, count);
    o->bytes += count;
}

static void sum_outline(outline *o)
{
    for (uint64_t i = 0; i < o->rows; i++) {
        o->nonzeros += outline_count(o, i);
        o->features = o->row[i].features > o->features ? o->row[i].features : o->features;
    }
}

static bool put_cells(maker *m, bda_error *err)
{
    const synthetic_row *row = &m->row;
    bool pairs = m->rows.form == ROWS_FLOAT;
    uint64_t size = pairs ? sizeof(rows_pair) : sizeof(uint32_t);
    if (!reserve(m, row->count * size, err))
        return false;
    char *to = m->bytes + m->used;
    for (uint64_t i = 0; i < row->count; i++, to += size) {
        rows_pair pair = {.column = synthetic_column(row->cell[i])};
        if (pairs)
            pair.value = (float)synthetic_value(&m->rows, (uint32_t)row->cell[i]);
        memcpy(to, &pair, size);
    }
    m->used += row->count * size;
    return true;
}

static void put_starts_and_labels(binary_stream *s, const outline *o, const binary_layout *layout)
{
    uint64_t start = 0;
    for (uint64_t i = 0; i < o->rows; i++) {
        binary_stream_put(s, &start, sizeof start);
        start += outline_count(o, i);
    }
    binary_stream_put(s, &start, sizeof start);
    binary_stream_pad(s, layout->label);
    for (uint64_t i = 0; i < o->rows; i++) {
        double label = o->row[i].count_and_label & 1 ? 1 : -1;
        binary_stream_put(s, &label, sizeof label);
    }
    binary_stream_pad(s, layout->cell);
}

static void put_row_values(binary_stream *s, const synthetic *rows, const outline *o)
{
    for (uint64_t i = 0; i < o->rows; i++) {
        double value = synthetic_value(rows, synthetic_row_ticks(rows, outline_count(o, i)));
        binary_stream_put(s, &value, sizeof value);
    }
}

static bool write_sections(maker *m, output *out, outline *o, bda_error *err)
{
    rows_form form = m->rows.form;
    binary_layout layout = {0};
    binary_stream s = {0};
    bool ok = true;
    if (out) {
        sum_outline(o);
        ok = binary_lay_out(form, o->rows, o->nonzeros, &layout) ||
             err_set(err, BDA_FAILED, "%llu nonzeros are too many for the binary format",
                     (unsigned long long)o->nonzeros);
        ok = ok && binary_stream_open(&s, out, layout.blocks, err);
        if (ok) {
            binary_stream_header(&s, form, o->rows, o->features, o->nonzeros, &layout);
            put_starts_and_labels(&s, o, &layout);
        }
    }
    ok = comm_agree(m->comm, ok, err) && make_rows(m, true, put_cells, binary_stream_put, &s, err);
    if (ok && out) {
        binary_stream_pad(&s, layout.value);
        if (form == ROWS_CONSTANT)
            put_row_values(&s, &m->rows, o);
        binary_stream_pad(&s, layout.checksum);
        binary_stream_end(&s);
    }
    binary_stream_close(&s);
    return ok;
}

static bool write_binary(maker *m, const char *path, bda_error *err)
{
    bool writer = bda_comm_rank(m->comm) == 0, ok = true;
    outline o = {.rows = m->rows.instances};
    output *out = NULL;
    if (writer)
        ok = (o.row = ARENA_TAKE(&m->memory, outline_row, o.rows, err)) && (out = out_open(path, err));
    ok = comm_agree(m->comm, ok, err) && make_rows(m, false, put_outline, take_outline, &o, err) &&
         write_sections(m, out, &o, err);
    if (ok && out)
        ok = out_commit(out, err);
    else
        out_abandon(out);
    return comm_agree(m->comm, ok, err);
}

bool data_generate(comm *c, const data_shape *shape, double scale, uint64_t seed, const char *path, bool text,
                   bda_error *err)
{
    maker m = {.comm = c};
    bool ok = synthetic_open(&m.rows, shape, scale, seed, err) && synthetic_row_open(&m.row, &m.rows, &m.memory, err);
    if (comm_agree(c, ok, err)) {
        m.chunk = CHUNK_CELLS / ((uint64_t)m.rows.rate + 1) + 1;
        ok = text || packer_wanted(path) ? write_text(&m, path, err) : write_binary(&m, path, err);
    } else {
        ok = false;
    }
    mem_free(m.bytes, m.room);
    arena_free(&m.memory);
    return ok;
}
