/* write.c - data to a file: rank 0 writes what all ranks send, in their order. Nobody holds more than
 * its own rows and a piece of text. The bytes do not depend on how many ranks there are. */
#include "data/binary.h"
#include "data/format.h"
#include "data/packer.h"

#define PIECE ((uint64_t)1 << 20) /* of text that is sent at a time, about */

/* Pieces are ranges of rows, so that every rank knows when its turn is. A rank that fails sends nothing more,
 * and goes on taking part. */
static bool write_text(comm *c, const data *d, packer *p, bool zero_based, bda_error *err)
{
    uint64_t row_bytes = 16 * (d->nonzeros / d->rows_all + 1), piece = PIECE / row_bytes + 1;
    uint64_t first = d->first_row, end = first + d->rows.count;
    page t = {0};
    bool ok = true;
    for (uint64_t at = 0; at < d->rows_all; at += piece) {
        uint64_t stop = d->rows_all - at > piece ? at + piece : d->rows_all;
        t.used = 0;
        for (uint64_t i = at > first ? at : first; ok && i < stop && i < end; i++)
            ok = libsvm_format.write(&t, d, i - first, zero_based, err);
        comm_collect(c, t.bytes, ok ? t.used : 0, packer_put, p);
    }
    page_free(&t);
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
    ok = comm_agree(c, ok, err) && data_intact(c, d, err);
    if (ok && out)
        ok = out_commit(out, err);
    else
        out_abandon(out);
    return comm_agree(c, ok, err);
}

bool data_write(comm *c, const data *d, const char *path, bool text, bool zero_based, bda_error *err)
{
    if (labels_are_names(&d->labels))
        return err_set(err, BDA_FAILED, "%s: its labels are names, and this format has numbers only", d->name);
    if (text || packer_wanted(path))
        return write_text_file(c, d, path, zero_based, err);
    return write_binary_file(c, d, path, err);
}
