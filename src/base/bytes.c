/* bytes.c - see bytes.h. */
#include "base/bytes.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#define FIRST_ROOM ((uint64_t)1 << 12)

void bytes_encode_u32(unsigned char to[4], uint32_t x)
{
    x = htole32(x);
    memcpy(to, &x, sizeof x);
}

void bytes_encode_u64(unsigned char to[8], uint64_t x)
{
    x = htole64(x);
    memcpy(to, &x, sizeof x);
}

void bytes_encode_real(unsigned char to[8], double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bytes_encode_u64(to, bits);
}

uint32_t bytes_decode_u32(const unsigned char from[4])
{
    uint32_t x;
    memcpy(&x, from, sizeof x);
    return le32toh(x);
}

uint64_t bytes_decode_u64(const unsigned char from[8])
{
    uint64_t x;
    memcpy(&x, from, sizeof x);
    return le64toh(x);
}

double bytes_decode_real(const unsigned char from[8])
{
    const uint64_t bits = bytes_decode_u64(from);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* ---- writing ------------------------------------------------------------------------------------------------- */

void bytes_put(bytes *b, const void *from, uint64_t count)
{
    if (b->failed || count == 0)
        return;
    if (count > b->room - b->count) {
        uint64_t room = b->room ? b->room : FIRST_ROOM;
        while (room - b->count < count)
            room *= 2;
        bda_error ignored = {0};
        void *at = mem_resize(b->at, b->room, room, "bytes of a file", &ignored);
        if (!at) {
            b->failed = true;
            return;
        }
        b->at = at;
        b->room = room;
    }
    memcpy(b->at + b->count, from, count);
    b->count += count;
}

void bytes_put_u32(bytes *b, uint32_t x)
{
    unsigned char code[4];
    bytes_encode_u32(code, x);
    bytes_put(b, code, sizeof code);
}

void bytes_put_u64(bytes *b, uint64_t x)
{
    unsigned char code[8];
    bytes_encode_u64(code, x);
    bytes_put(b, code, sizeof code);
}

void bytes_put_real(bytes *b, double x)
{
    unsigned char code[8];
    bytes_encode_real(code, x);
    bytes_put(b, code, sizeof code);
}

void bytes_put_text(bytes *b, const char *text)
{
    bytes_put_u64(b, strlen(text));
    bytes_put(b, text, strlen(text));
}

bool bytes_done(const bytes *b, const char *what, bda_error *err)
{
    return !b->failed || err_memory(err, b->room * 2, what);
}

void bytes_free(bytes *b)
{
    if (b->at)
        mem_free(b->at, b->room);
    *b = (bytes){0};
}

/* ---- reading ------------------------------------------------------------------------------------------------- */

const unsigned char *bytes_get(byte_reader *r, uint64_t count)
{
    if (r->failed || count > r->left) {
        r->failed = true;
        return NULL;
    }
    const unsigned char *at = r->at;
    r->at += count;
    r->left -= count;
    return at;
}

uint32_t bytes_get_u32(byte_reader *r)
{
    const unsigned char *at = bytes_get(r, 4);
    return at ? bytes_decode_u32(at) : 0;
}

uint64_t bytes_get_u64(byte_reader *r)
{
    const unsigned char *at = bytes_get(r, 8);
    return at ? bytes_decode_u64(at) : 0;
}

double bytes_get_real(byte_reader *r)
{
    const unsigned char *at = bytes_get(r, 8);
    return at ? bytes_decode_real(at) : 0;
}

const char *bytes_get_text(byte_reader *r, arena *memory, bda_error *err)
{
    const uint64_t length = bytes_get_u64(r);
    const unsigned char *from = bytes_get(r, length);
    if (!from || (length > 0 && memchr(from, 0, length))) {
        r->failed = true;
        return NULL;
    }
    char *text = ARENA_TAKE(memory, char, length + 1, err);
    if (text && length > 0)
        memcpy(text, from, length);
    return text;
}

bool bytes_ended(const byte_reader *r)
{
    return !r->failed && r->left == 0;
}

/* ---- files --------------------------------------------------------------------------------------------------- */

static bool refuse(const byte_source *s, bda_error *err)
{
    return err_set(err, BDA_FAILED, "cannot read '%.400s': %s", s->name, strerror(errno));
}

bool byte_source_open(byte_source *s, const char *path, bda_error *err)
{
    *s = (byte_source){.name = path, .file = fopen(path, "rbe")};
    return s->file || refuse(s, err);
}

bool byte_source_want(byte_source *s, uint64_t count, bda_error *err)
{
    while (s->file && s->count < count) {
        if (s->count == s->room) {
            const uint64_t room = s->room ? s->room * 2 : 1 << 16;
            const void *at = mem_resize((void *)(uintptr_t)s->at, s->room, room, "the content of a file", err);
            if (!at)
                return false;
            s->at = at;
            s->room = room;
        }
        const uint64_t free = s->room - s->count, wanted = count - s->count < free ? count - s->count : free;
        const uint64_t got = fread((char *)(uintptr_t)s->at + s->count, 1, wanted, s->file);
        s->count += got;
        if (got < wanted && ferror(s->file))
            return refuse(s, err);
        if (got < wanted)
            return true;
    }
    return true;
}

void byte_source_close(byte_source *s)
{
    if (s->file)
        fclose(s->file);
    if (s->room)
        mem_free((void *)(uintptr_t)s->at, s->room);
    *s = (byte_source){0};
}
