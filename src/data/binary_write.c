/* binary_write.c - writing the binary format as one stream of bytes: every size is known before the first byte, and
 * checksums come last, so nothing is ever gone back to. The file is handed to the system in pieces of a huge page, at
 * multiples of one: file systems then keep it in large pages, which are mapped several times as fast. */
#include "base/memory.h"
#include "data/binary.h"

#include <string.h>
#include <xxhash.h>

#define PIECE ((uint64_t)2 << 20)

bool binary_stream_open(binary_stream *s, output *out, uint64_t blocks, bda_error *err)
{
    *s = (binary_stream){.out = out, .checksum_bytes = (blocks + 1) * sizeof *s->checksum};
    if (!out)
        return true;
    s->checksum = mem_resize(NULL, 0, s->checksum_bytes, "checksums", err);
    s->piece = s->checksum ? mem_resize(NULL, 0, PIECE, "writing", err) : NULL;
    if (!s->piece)
        return false;
    s->state = XXH3_createState();
    if (!s->state)
        return err_memory(err, 576, "a checksum");
    XXH3_64bits_reset(s->state);
    return true;
}

void binary_stream_close(binary_stream *s)
{
    if (s->state)
        XXH3_freeState(s->state);
    mem_free(s->checksum, s->checksum_bytes);
    mem_free(s->piece, PIECE);
}

static void write_piece(binary_stream *s)
{
    out_write(s->out, s->piece, s->held);
    s->held = 0;
}

static void put_bytes(binary_stream *s, const void *bytes, uint64_t count)
{
    const char *p = bytes;
    s->offset += count;
    while (count > 0) {
        uint64_t room = PIECE - s->held, part = room < count ? room : count;
        memcpy(s->piece + s->held, p, part);
        s->held += part;
        if (s->held == PIECE)
            write_piece(s);
        p += part;
        count -= part;
    }
}

static void end_block(binary_stream *s)
{
    s->checksum[s->blocks++] = XXH3_64bits_digest(s->state);
    XXH3_64bits_reset(s->state);
    s->in_block = 0;
}

void binary_stream_put(void *self, const void *bytes, uint64_t count)
{
    binary_stream *s = self;
    const char *p = bytes;
    while (count > 0) {
        uint64_t room = BINARY_BLOCK - s->in_block, part = room < count ? room : count;
        XXH3_64bits_update(s->state, p, part);
        put_bytes(s, p, part);
        s->in_block += part;
        if (s->in_block == BINARY_BLOCK)
            end_block(s);
        p += part;
        count -= part;
    }
}

void binary_stream_pad(binary_stream *s, uint64_t next)
{
    static const char zeros[BINARY_ALIGNMENT];
    binary_stream_put(s, zeros, next - s->offset);
}

/* Every rank's part of an array, up to where the next section begins. */
static void put_section(comm *c, binary_stream *s, const void *mine, uint64_t bytes, uint64_t next)
{
    comm_collect(c, mine, bytes, binary_stream_put, s);
    if (s->out)
        binary_stream_pad(s, next);
}

void binary_stream_header(binary_stream *s, rows_form form, uint64_t instances, uint64_t features, uint64_t nonzeros,
                          const binary_layout *layout)
{
    binary_header h = {.magic = BINARY_MAGIC,
                       .version = BINARY_VERSION,
                       .form = form,
                       .instances = instances,
                       .features = features,
                       .nonzeros = nonzeros,
                       .block = BINARY_BLOCK,
                       .size = layout->size};
    h.checksum = XXH3_64bits(&h, offsetof(binary_header, checksum));
    put_bytes(s, &h, sizeof h);
}

void binary_stream_end(binary_stream *s)
{
    if (s->in_block > 0)
        end_block(s);
    uint64_t bytes = s->blocks * sizeof *s->checksum;
    s->checksum[s->blocks] = XXH3_64bits(s->checksum, bytes);
    put_bytes(s, s->checksum, bytes + sizeof *s->checksum);
    write_piece(s);
}

bool binary_write(comm *c, const data *d, output *out, bda_error *err)
{
    const rows *r = &d->rows;
    uint64_t first = r->start[0], cells = r->start[r->count] - first, before = comm_count_before(c, cells);
    bool last = d->first_row + r->count == d->rows_all && r->count > 0;
    binary_layout layout = {0};
    binary_stream s = {0};
    arena memory = {0};
    uint64_t *start = ARENA_TAKE(&memory, uint64_t, r->count + 1, err);
    bool ok = start && (binary_lay_out(r->form, d->rows_all, d->nonzeros, &layout) ||
                        err_set(err, BDA_FAILED, "%s: too large for the binary format", d->name));
    ok = ok && binary_stream_open(&s, out, layout.blocks, err);
    ok = comm_agree(c, ok, err);
    if (ok) {
        for (uint64_t i = 0; i <= r->count; i++)
            start[i] = r->start[i] - first + before;
        if (out)
            binary_stream_header(&s, r->form, d->rows_all, d->features, d->nonzeros, &layout);
        put_section(c, &s, start, (r->count + last) * sizeof *start, layout.label);
        put_section(c, &s, d->target.real, r->count * sizeof(double), layout.cell);
        if (r->form == ROWS_FLOAT)
            put_section(c, &s, r->pair ? r->pair + first : NULL, cells * sizeof *r->pair, layout.value);
        else
            put_section(c, &s, r->column ? r->column + first : NULL, cells * sizeof *r->column, layout.value);
        if (r->form == ROWS_CONSTANT)
            put_section(c, &s, r->value, r->count * sizeof *r->value, layout.checksum);
        else if (r->form == ROWS_DOUBLE)
            put_section(c, &s, r->value ? r->value + first : NULL, cells * sizeof *r->value, layout.checksum);
        if (out)
            binary_stream_end(&s);
    }
    binary_stream_close(&s);
    arena_free(&memory);
    return ok;
}
