/* sections.c - see sections.h.
 *
 *     file      magic[8]  version u32  0 u32  section...  the section "end" of no bytes
 *     section   kind[24]  needed u64  count u64  bytes[count]  zeros up to a multiple of 8  checksum u64
 *
 * The checksum is XXH3 (64 bits, seed 0) of the section before it. */
#include "base/sections.h"

#include <inttypes.h>
#include <string.h>
#include <xxhash.h>

#define HEAD ((uint64_t)(SECTIONS_MAGIC + 8))
#define SECTION_HEAD ((uint64_t)(SECTION_KIND + 16))
#define CHECKSUM ((uint64_t)8)
#define MOST_BYTES ((uint64_t)1 << 60)

static const char last_kind[] = "end";

static unsigned padding_of(uint64_t count)
{
    return (unsigned)(-count & 7);
}

/* ---- writing ------------------------------------------------------------------------------------------------- */

bool sections_begin(section_writer *w, section_put put, void *self, const char magic[SECTIONS_MAGIC],
                    uint32_t version, bda_error *err)
{
    unsigned char head[HEAD] = {0};
    *w = (section_writer){.put = put, .self = self, .hash = XXH3_createState()};
    if (!w->hash)
        return err_memory(err, 1 << 10, "a checksum");
    memcpy(head, magic, SECTIONS_MAGIC);
    bytes_encode_u32(head + SECTIONS_MAGIC, version);
    put(self, head, sizeof head);
    return true;
}

static void add(section_writer *w, const void *bytes, uint64_t count)
{
    XXH3_64bits_update(w->hash, bytes, count);
    w->put(w->self, bytes, count);
}

void section_begin(section_writer *w, const char *kind, bool needed, uint64_t count)
{
    unsigned char head[SECTION_HEAD] = {0};
    XXH3_64bits_reset(w->hash);
    memcpy(head, kind, strnlen(kind, SECTION_KIND - 1));
    bytes_encode_u64(head + SECTION_KIND, needed);
    bytes_encode_u64(head + SECTION_KIND + 8, count);
    add(w, head, sizeof head);
    w->padding = padding_of(count);
}

void section_add(section_writer *w, const void *bytes, uint64_t count)
{
    if (count > 0)
        add(w, bytes, count);
}

void section_end(section_writer *w)
{
    static const unsigned char zeros[8];
    unsigned char checksum[CHECKSUM];
    section_add(w, zeros, w->padding);
    bytes_encode_u64(checksum, XXH3_64bits_digest(w->hash));
    w->put(w->self, checksum, sizeof checksum);
}

void section_write(section_writer *w, const char *kind, bool needed, const void *bytes, uint64_t count)
{
    section_begin(w, kind, needed, count);
    section_add(w, bytes, count);
    section_end(w);
}

void sections_end(section_writer *w)
{
    if (w->hash)
        section_write(w, last_kind, true, NULL, 0);
    XXH3_freeState(w->hash);
    w->hash = NULL;
}

/* ---- reading ------------------------------------------------------------------------------------------------- */

static bool cut_off(const byte_source *from, bda_error *err)
{
    return err_set(err, BDA_FAILED, "'%.400s' is cut off: it ends after %" PRIu64 " bytes", from->name, from->count);
}

static bool damaged(const byte_source *from, const char *how, bda_error *err)
{
    return err_set(err, BDA_FAILED, "'%.400s' is damaged: %s", from->name, how);
}

uint32_t sections_version(byte_source *from, const char magic[SECTIONS_MAGIC], const char *what, bda_error *err)
{
    if (!byte_source_want(from, HEAD, err))
        return 0;
    if (from->count < SECTIONS_MAGIC || memcmp(from->at, magic, SECTIONS_MAGIC) != 0) {
        err_set(err, BDA_FAILED, "'%.400s' is not %s: it does not begin with '%.8s'", from->name, what, magic);
        return 0;
    }
    if (from->count < HEAD) {
        cut_off(from, err);
        return 0;
    }
    const uint32_t version = bytes_decode_u32(from->at + SECTIONS_MAGIC);
    if (version == 0)
        damaged(from, "it has no version", err);
    return version;
}

/* Letters, digits and dashes, then zeros only. */
static bool is_kind(const unsigned char *kind)
{
    const size_t length = strnlen((const char *)kind, SECTION_KIND);
    for (size_t k = 0; k < SECTION_KIND; k++)
        if (k < length ? !((kind[k] >= 'a' && kind[k] <= 'z') || (kind[k] >= '0' && kind[k] <= '9') || kind[k] == '-')
                       : kind[k] != 0)
            return false;
    return length > 0 && length < SECTION_KIND;
}

/* The section at `at`, which is moved on; its bytes are given by their offset, for the source may still move. */
static bool read_section(byte_source *from, uint64_t *at, section *s, uint64_t *offset, bda_error *err)
{
    if (!byte_source_want(from, *at + SECTION_HEAD, err))
        return false;
    if (from->count - *at < SECTION_HEAD)
        return cut_off(from, err);
    const unsigned char *head = from->at + *at;
    const uint64_t needed = bytes_decode_u64(head + SECTION_KIND), count = bytes_decode_u64(head + SECTION_KIND + 8);
    if (!is_kind(head) || needed > 1 || count > MOST_BYTES)
        return damaged(from, "a section of it begins with impossible values", err);
    const uint64_t whole = SECTION_HEAD + count + padding_of(count);
    if (!byte_source_want(from, *at + whole + CHECKSUM, err))
        return false;
    if (from->count - *at < whole + CHECKSUM)
        return cut_off(from, err);
    head = from->at + *at;
    if (XXH3_64bits(head, whole) != bytes_decode_u64(head + whole))
        return damaged(from, "a checksum in it is wrong", err);
    *s = (section){.needed = needed, .count = count};
    *offset = *at + SECTION_HEAD;
    *at += whole + CHECKSUM;
    return true;
}

/* All but the last; offset: [SECTIONS_MOST] */
static bool read_all(sections *s, byte_source *from, uint64_t *offset, bda_error *err)
{
    uint64_t at = HEAD;
    for (;; s->count++) {
        if (s->count == SECTIONS_MOST)
            return damaged(from, "it has too many sections", err);
        if (!read_section(from, &at, &s->list[s->count], &offset[s->count], err))
            return false;
        if (strcmp((const char *)from->at + offset[s->count] - SECTION_HEAD, last_kind) == 0)
            break;
    }
    if (s->list[s->count].count > 0)
        return damaged(from, "its end is no end", err);
    if (!byte_source_want(from, at + 1, err))
        return false;
    return from->count == at ||
           err_set(err, BDA_FAILED, "'%.400s' is too long: it should have %" PRIu64 " bytes", from->name, at);
}

bool sections_read(sections *s, byte_source *from, bda_error *err)
{
    *s = (sections){0};
    arena memory = {0};
    uint64_t *offset = ARENA_TAKE(&memory, uint64_t, SECTIONS_MOST, err);
    s->list = ARENA_TAKE(&s->memory, section, SECTIONS_MOST, err);
    bool ok = offset && s->list && byte_source_want(from, HEAD, err) &&
              (bytes_decode_u32(from->at + SECTIONS_MAGIC + 4) == 0 ||
               damaged(from, "its head has impossible values", err)) &&
              read_all(s, from, offset, err);
    for (uint64_t k = 0; ok && k < s->count; k++) {
        section *one = &s->list[k];
        one->bytes = from->at + offset[k];
        one->kind = (const char *)one->bytes - SECTION_HEAD;
        for (uint64_t before = 0; ok && before < k; before++)
            if (strcmp(s->list[before].kind, one->kind) == 0)
                ok = err_set(err, BDA_FAILED, "'%.400s' is damaged: it has two sections '%s'", from->name, one->kind);
    }
    arena_free(&memory);
    if (!ok)
        sections_free(s);
    return ok;
}

bool sections_keep(sections *s, const char *kind, bool needed, const void *bytes, uint64_t count, bda_error *err)
{
    if (!s->list)
        s->list = ARENA_TAKE(&s->memory, section, SECTIONS_MOST, err);
    section *one = (section *)(uintptr_t)(s->list ? sections_find(s, kind) : NULL);
    if (s->list && !one && s->count == SECTIONS_MOST)
        return err_set(err, BDA_FAILED, "a file has room for %d sections, and '%s' is one more", SECTIONS_MOST, kind);
    const size_t length = strnlen(kind, SECTION_KIND - 1);
    char *name = ARENA_TAKE(&s->memory, char, SECTION_KIND, err);
    unsigned char *copy = arena_take(&s->memory, count, 1, "a section of a file", err);
    if (!s->list || !name || !copy)
        return false;
    memcpy(name, kind, length);
    if (count > 0)
        memcpy(copy, bytes, count);
    if (!one)
        one = &s->list[s->count++];
    *one = (section){name, needed, copy, count};
    return true;
}

const section *sections_find(const sections *s, const char *kind)
{
    for (uint64_t k = 0; k < s->count; k++)
        if (strcmp(s->list[k].kind, kind) == 0)
            return &s->list[k];
    return NULL;
}

byte_reader section_reader(const section *s)
{
    return s ? (byte_reader){.at = s->bytes, .left = s->count} : (byte_reader){0};
}

void sections_free(sections *s)
{
    arena_free(&s->memory);
    *s = (sections){0};
}
