/* packer.c - see packer.h. */
#include "data/packer.h"

#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/memory.h"
#include "base/output.h"
#include "data/source.h"

#define PIECE ((uint64_t)1 << 20) /* what a packing library gets at a time: its counts may be 32 bits */

struct packer {
    output *out;
    const char *path; /* the caller's */
    source_packing packing;
    bool started; /* the packing library */
    z_stream gzip;
    ZSTD_CStream *zstd;
    const char *failure; /* of the packing library; the file is abandoned */
    char window[1 << 16];
};

static bool ends_with(const char *path, const char *ending)
{
    size_t length = strlen(path), tail = strlen(ending);
    return length > tail && strcmp(path + length - tail, ending) == 0;
}

static source_packing packing_of(const char *path)
{
    return ends_with(path, ".gz") ? SOURCE_GZIP : ends_with(path, ".zst") ? SOURCE_ZSTD : SOURCE_PLAIN;
}

bool packer_wanted(const char *path)
{
    return packing_of(path) != SOURCE_PLAIN;
}

packer *packer_open(const char *path, bda_error *err)
{
    packer *p = mem_resize(NULL, 0, sizeof *p, "a packer", err);
    if (!p)
        return NULL;
    memset(p, 0, sizeof *p);
    p->path = path;
    p->packing = packing_of(path);
    if (p->packing == SOURCE_GZIP)
        p->started =
            deflateInit2(&p->gzip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK;
    else if (p->packing == SOURCE_ZSTD)
        p->started = (p->zstd = ZSTD_createCStream()) != NULL &&
                     !ZSTD_isError(ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_checksumFlag, 1));
    if (p->packing != SOURCE_PLAIN && !p->started)
        err_set(err, BDA_FAILED, "%s: cannot be packed: out of memory", path);
    else if ((p->out = out_open(path, err)))
        return p;
    packer_abandon(p);
    return NULL;
}

static void packer_free(packer *p)
{
    if (p->packing == SOURCE_GZIP && p->started)
        deflateEnd(&p->gzip);
    ZSTD_freeCStream(p->zstd);
    mem_free(p, sizeof *p);
}

static void put_gzip(packer *p, const char *bytes, uInt count, bool end)
{
    p->gzip.next_in = (Bytef *)bytes; /* zlib only reads it */
    p->gzip.avail_in = count;
    do {
        p->gzip.next_out = (Bytef *)p->window;
        p->gzip.avail_out = sizeof p->window;
        if (deflate(&p->gzip, end ? Z_FINISH : Z_NO_FLUSH) == Z_STREAM_ERROR)
            p->failure = "gzip failed";
        out_write(p->out, p->window, sizeof p->window - p->gzip.avail_out);
    } while (p->gzip.avail_out == 0 && !p->failure);
}

static void put_zstd(packer *p, const char *bytes, uint64_t count, bool end)
{
    ZSTD_inBuffer in = {bytes, count, 0};
    size_t left;
    do {
        ZSTD_outBuffer out = {p->window, sizeof p->window, 0};
        left = ZSTD_compressStream2(p->zstd, &out, &in, end ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left))
            p->failure = ZSTD_getErrorName(left);
        out_write(p->out, p->window, out.pos);
    } while (!p->failure && (end ? left > 0 : in.pos < in.size));
}

void packer_put(void *self, const void *bytes, uint64_t count)
{
    packer *p = self;
    const char *at = bytes;
    if (p->packing == SOURCE_PLAIN)
        out_write(p->out, at, count);
    for (uint64_t part; p->packing != SOURCE_PLAIN && count > 0 && !p->failure; at += part, count -= part) {
        part = count < PIECE ? count : PIECE;
        if (p->packing == SOURCE_GZIP)
            put_gzip(p, at, (uInt)part, false);
        else
            put_zstd(p, at, part, false);
    }
}

bool packer_commit(packer *p, bda_error *err)
{
    if (p->packing == SOURCE_GZIP)
        put_gzip(p, NULL, 0, true);
    else if (p->packing == SOURCE_ZSTD)
        put_zstd(p, NULL, 0, true);
    if (p->failure) {
        err_set(err, BDA_FAILED, "%s: cannot be packed: %s", p->path, p->failure);
        packer_abandon(p);
        return false;
    }
    bool ok = out_commit(p->out, err);
    packer_free(p);
    return ok;
}

void packer_abandon(packer *p)
{
    if (!p)
        return;
    out_abandon(p->out);
    packer_free(p);
}
