/* source.c - bytes from files, by pread into the reader's buffer: a file that shrinks while it is read ends early,
 * where a mapped one would kill the process. What is packed goes through a small window. */
#include "data/source.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define WINDOW ((uint64_t)256 << 10) /* packed bytes at a time */
#define READ_AT_ONCE ((uint64_t)1 << 30)

struct source_packed {
    char window[WINDOW];
    uint64_t at, filled; /* bytes of the window that wait: [at, filled) */
    bool ended;          /* the file has no more */
    bool between;        /* at the end of a gzip member or zstd frame, where a file may end */
    z_stream gzip;
    bool gzip_open;
    ZSTD_DStream *zstd;
};

int64_t source_changed(const struct stat *about)
{
    return (int64_t)about->st_mtim.tv_sec * 1000000000 + about->st_mtim.tv_nsec;
}

static bool raw_read(source *s, char *to, uint64_t want, uint64_t *got, bda_error *err)
{
    *got = 0;
    if (!s->seekable && s->file_offset < s->heads) {
        *got = s->heads - s->file_offset < want ? s->heads - s->file_offset : want;
        memcpy(to, s->head + s->file_offset, *got);
    }
    while (*got < want) {
        uint64_t ask = want - *got < READ_AT_ONCE ? want - *got : READ_AT_ONCE;
        ssize_t n =
            s->seekable ? pread(s->fd, to + *got, ask, (off_t)(s->file_offset + *got)) : read(s->fd, to + *got, ask);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_set(err, BDA_FAILED, "%s: cannot be read: %s", s->path, strerror(errno));
        if (n == 0)
            break;
        *got += (uint64_t)n;
    }
    s->file_offset += *got;
    s->bytes_read += *got;
    return true;
}

static bool begin_packed(source *s, bda_error *err)
{
    if (!s->packed) {
        s->packed = mem_resize(NULL, 0, sizeof(struct source_packed), "unpacking", err);
        if (!s->packed)
            return false;
        memset(s->packed, 0, sizeof *s->packed);
    }
    struct source_packed *p = s->packed;
    p->at = p->filled = 0;
    p->ended = false;
    p->between = true;
    bool ok;
    if (s->packing == SOURCE_GZIP) {
        ok = p->gzip_open ? inflateReset(&p->gzip) == Z_OK : inflateInit2(&p->gzip, 15 + 16) == Z_OK;
        p->gzip_open = ok;
    } else {
        p->zstd = p->zstd ? p->zstd : ZSTD_createDStream();
        ok = p->zstd && !ZSTD_isError(ZSTD_initDStream(p->zstd));
    }
    return ok || err_set(err, BDA_FAILED, "%s: no memory to unpack it", s->path);
}

bool source_open(source *s, const char *path, bda_error *err)
{
    const bool standard_input = strcmp(path, "-") == 0;
    *s = (source){.path = standard_input ? "standard input" : path,
                  .fd = standard_input ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)};
    path = s->path;
    struct stat about;
    if (s->fd < 0 || fstat(s->fd, &about) != 0)
        return err_set(err, BDA_FAILED, "%s: cannot be opened: %s", path, strerror(errno));
    if (S_ISDIR(about.st_mode))
        return err_set(err, BDA_FAILED, "%s: is a directory, not a data file", path);
    s->seekable = S_ISREG(about.st_mode) && !standard_input; /* which may have been read from before */
    s->size = s->seekable ? (uint64_t)about.st_size : 0;
    s->changed = s->seekable ? source_changed(&about) : 0;
    if (!raw_read(s, s->head, SOURCE_HEAD, &s->heads, err))
        return false;
    s->file_offset = 0;
    s->bytes_read = 0;
    if (s->heads >= 2 && memcmp(s->head, "\x1f\x8b", 2) == 0)
        s->packing = SOURCE_GZIP;
    else if (s->heads >= 4 && memcmp(s->head, "\x28\xb5\x2f\xfd", 4) == 0)
        s->packing = SOURCE_ZSTD;
    return s->packing == SOURCE_PLAIN || begin_packed(s, err);
}

void source_close(source *s)
{
    if (s->packed) {
        if (s->packed->gzip_open)
            inflateEnd(&s->packed->gzip);
        ZSTD_freeDStream(s->packed->zstd);
        mem_free(s->packed, sizeof *s->packed);
    }
    if (s->path && s->fd >= 0)
        close(s->fd);
    *s = (source){.fd = -1};
}

/* One call of zlib; a file may hold several members, one after the other. */
static bool step_gzip(source *s, char *to, uint64_t want, uint64_t *got, bda_error *err)
{
    struct source_packed *p = s->packed;
    if (p->between && inflateReset(&p->gzip) != Z_OK)
        return err_set(err, BDA_FAILED, "%s: no memory to unpack it", s->path);
    p->gzip.next_in = (Bytef *)(p->window + p->at);
    p->gzip.avail_in = (uInt)(p->filled - p->at);
    p->gzip.next_out = (Bytef *)to;
    p->gzip.avail_out = (uInt)want;
    int code = inflate(&p->gzip, Z_NO_FLUSH);
    p->at = p->filled - p->gzip.avail_in;
    *got = want - p->gzip.avail_out;
    p->between = code == Z_STREAM_END;
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
        return err_set(err, BDA_FAILED, "%s: is damaged: gzip cannot unpack it (%s)", s->path,
                       p->gzip.msg ? p->gzip.msg : zError(code));
    return true;
}

static bool step_zstd(source *s, char *to, uint64_t want, uint64_t *got, bda_error *err)
{
    struct source_packed *p = s->packed;
    ZSTD_inBuffer in = {p->window, p->filled, p->at};
    ZSTD_outBuffer out = {to, want, 0};
    size_t code = ZSTD_decompressStream(p->zstd, &out, &in);
    p->at = in.pos;
    *got = out.pos;
    p->between = code == 0;
    if (ZSTD_isError(code))
        return err_set(err, BDA_FAILED, "%s: is damaged: zstd cannot unpack it (%s)", s->path,
                       ZSTD_getErrorName(code));
    return true;
}

static bool unpack(source *s, char *to, uint64_t want, uint64_t *got, bda_error *err)
{
    struct source_packed *p = s->packed;
    *got = 0;
    while (*got < want) {
        if (p->at == p->filled && !p->ended) {
            p->at = 0;
            if (!raw_read(s, p->window, WINDOW, &p->filled, err))
                return false;
            p->ended = p->filled < WINDOW;
        }
        if (p->at == p->filled && p->between)
            return true;
        uint64_t before = p->at, more = 0;
        uint64_t ask = want - *got < READ_AT_ONCE ? want - *got : READ_AT_ONCE;
        if (!(s->packing == SOURCE_GZIP ? step_gzip : step_zstd)(s, to + *got, ask, &more, err))
            return false;
        *got += more;
        if (p->at == p->filled && p->ended && !p->between && more == 0 && p->at == before)
            return err_set(err, BDA_FAILED, "%s: is truncated: its packed text ends in the middle", s->path);
    }
    return true;
}

bool source_read(source *s, void *to, uint64_t want, uint64_t *got, bda_error *err)
{
    bool ok = s->packing == SOURCE_PLAIN ? raw_read(s, to, want, got, err) : unpack(s, to, want, got, err);
    s->offset += *got;
    return ok;
}

bool source_seek(source *s, uint64_t offset, bda_error *err)
{
    if (offset == s->offset)
        return true;
    if (!s->seekable)
        return err_set(err, BDA_FAILED, "%s: is not a regular file, so it can be read only once, by a single rank",
                       s->path);
    if (s->packing == SOURCE_PLAIN) {
        s->file_offset = s->offset = offset;
        return true;
    }
    if (offset < s->offset) {
        s->file_offset = s->offset = 0;
        if (!begin_packed(s, err))
            return false;
    }
    char nowhere[16384];
    while (s->offset < offset) {
        uint64_t rest = offset - s->offset, got;
        if (!source_read(s, nowhere, rest < sizeof nowhere ? rest : sizeof nowhere, &got, err))
            return false;
        if (got == 0)
            break;
    }
    return true;
}
