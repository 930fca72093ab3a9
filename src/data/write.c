/* write.c - data to a file: rank 0 writes what all ranks send, in the order of the instances. Nobody holds more than
 * its own rows and a piece of text. The bytes do not depend on how many ranks there are. */
#include "base/memory.h"
#include "data/binary.h"
#include "data/number.h"
#include "data/packer.h"

#include <string.h>

#define PIECE ((uint64_t)1 << 20)    /* of text that is sent at a time, about */
#define CELL_TEXT (NUMBER_TEXT + 12) /* at most: a blank, an index of 10 digits, a colon, a value */

typedef struct page {
    char *bytes;
    uint64_t used, room;
} page;

static bool page_reserve(page *t, uint64_t more, bda_error *err)
{
    if (t->used + more <= t->room)
        return true;
    uint64_t room = 2 * (t->used + more);
    char *bytes = mem_resize(t->bytes, t->room, room, "text", err);
    if (!bytes)
        return false;
    t->bytes = bytes;
    t->room = room;
    return true;
}

static bool page_row(page *t, const data *d, uint64_t i, bool zero_based, bda_error *err)
{
    const rows *r = &d->rows;
    uint64_t begin = r->start[i], end = r->start[i + 1];
    if (!page_reserve(t, NUMBER_TEXT + 1 + (end - begin) * CELL_TEXT, err))
        return false;
    char same[NUMBER_TEXT], *to = number_write(t->bytes + t->used, d->label[i]);
    uint64_t length = (uint64_t)(number_write(same, r->form == ROWS_CONSTANT ? r->value[i] : 1) - same);
    for (uint64_t k = begin; k < end; k++) {
        uint64_t column = r->form == ROWS_FLOAT ? r->pair[k].column : r->column[k];
        *to++ = ' ';
        to = number_write_whole(to, column + !zero_based);
        *to++ = ':';
        if (r->form == ROWS_FLOAT || r->form == ROWS_DOUBLE) {
            to = number_write(to, r->form == ROWS_FLOAT ? (double)r->pair[k].value : r->value[k]);
        } else {
            memcpy(to, same, length);
            to += length;
        }
    }
    *to++ = '\n';
    t->used = (uint64_t)(to - t->bytes);
    return true;
}

/* Pieces are ranges of instances, so that every rank knows when its turn is. A rank that fails sends nothing more,
 * and goes on taking part. */
static bool write_text(comm *c, const data *d, packer *p, bool zero_based, bda_error *err)
{
    uint64_t row_bytes = 16 * (d->nonzeros / d->instances + 1), piece = PIECE / row_bytes + 1;
    uint64_t first = d->first_instance, end = first + d->rows.count;
    page t = {0};
    bool ok = true;
    for (uint64_t at = 0; at < d->instances; at += piece) {
        uint64_t stop = d->instances - at > piece ? at + piece : d->instances;
        t.used = 0;
        for (uint64_t i = at > first ? at : first; ok && i < stop && i < end; i++)
            ok = page_row(&t, d, i - first, zero_based, err);
        comm_collect(c, t.bytes, ok ? t.used : 0, packer_put, p);
    }
    mem_free(t.bytes, t.room);
    return ok;
}

static bool write_text_file(comm *c, const data *d, const char *path, bool zero_based, bda_error *err)
{
    packer *p = bda_comm_rank(c) == 0 ? packer_open(path, err) : NULL;
    bool ok = comm_agree(c, p || bda_comm_rank(c) != 0, err) && write_text(c, d, p, zero_based, err);
    ok = comm_agree(c, ok, err);
    if (ok && p)
        ok = packer_commit(p, err);
    else
        packer_abandon(p);
    return comm_agree(c, ok, err);
}

static bool write_binary_file(comm *c, const data *d, const char *path, bda_error *err)
{
    output *out = bda_comm_rank(c) == 0 ? out_open(path, err) : NULL;
    bool ok = comm_agree(c, out || bda_comm_rank(c) != 0, err) && binary_write(c, d, out, err);
    ok = comm_agree(c, ok, err);
    if (ok && out)
        ok = out_commit(out, err);
    else
        out_abandon(out);
    return comm_agree(c, ok, err);
}

bool data_write(comm *c, const data *d, const char *path, bool text, bool zero_based, bda_error *err)
{
    if (text || packer_wanted(path))
        return write_text_file(c, d, path, zero_based, err);
    return write_binary_file(c, d, path, err);
}
