/* checkpoint_file.c - see checkpoint_file.h.
 *
 *     head    magic[8]  version u32  0 u32  bytes of the head u64
 *             number  tag  pieces  blocks  round  round of the method  stopped u64   seconds  objective  gap f64
 *             traits u64, each two texts; length u64 of each part; checksum u64 of all before it
 *     part    tag u64  number u64  length u64  checksum u64 of its bytes, seed number  bytes[length]
 *
 * Parts begin at multiples of 8, the first of each rank at one of PAGE: two ranks never write the same page. */
#include "run/checkpoint_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "comm/comm.h"

#define PAGE 4096
#define LEAST_HEAD 24
#define MOST_HEAD ((uint64_t)1 << 30)
#define MOST_PARTS ((uint64_t)1 << 24)
#define MOST_LENGTH ((uint64_t)1 << 56)

static uint64_t rounded(uint64_t x, uint64_t to)
{
    return (x + to - 1) / to * to;
}

static uint64_t text_bytes(const char *text)
{
    return 8 + strlen(text);
}

static uint64_t head_bytes(const checkpoint_head *h)
{
    uint64_t count = LEAST_HEAD + 10 * 8 + 8 + 8 * (h->pieces + h->blocks) + 8;
    for (uint64_t i = 0; i < h->traits; i++)
        count += text_bytes(h->trait[i].name) + text_bytes(h->trait[i].value);
    return count;
}

bool checkpoint_lay_out(checkpoint_head *h, bda_error *err)
{
    uint64_t at = head_bytes(h);
    if (!h->place && !(h->place = ARENA_TAKE(&h->memory, uint64_t, h->pieces + h->blocks + 1, err)))
        return false;
    for (uint64_t r = 0; r < h->pieces; r++) {
        at = rounded(at, PAGE);
        h->place[r] = at;
        at += CHECKPOINT_PART + rounded(h->length[r], 8);
        const uint64_t end = comm_first_block(h->blocks, (int)r + 1, (int)h->pieces);
        for (uint64_t k = comm_first_block(h->blocks, (int)r, (int)h->pieces); k < end; k++) {
            h->place[h->pieces + k] = at;
            at += CHECKPOINT_PART + rounded(h->length[h->pieces + k], 8);
        }
    }
    h->bytes = at;
    return true;
}

void checkpoint_region(const checkpoint_head *h, uint64_t rank, uint64_t *first, uint64_t *end)
{
    const uint64_t next = comm_first_block(h->blocks, (int)rank + 1, (int)h->pieces);
    const uint64_t last = next > comm_first_block(h->blocks, (int)rank, (int)h->pieces) ? h->pieces + next - 1 : rank;
    *first = h->place[rank];
    *end = h->place[last] + CHECKPOINT_PART + rounded(h->length[last], 8);
}

/* ---- the head -------------------------------------------------------------------------------------------------- */

bool checkpoint_encode(const checkpoint_head *h, bytes *to, bda_error *err)
{
    const uint64_t fields[] = {h->number, h->tag, h->pieces, h->blocks, h->round, h->method_round, h->stopped};
    const double reals[] = {h->seconds, h->primal, h->gap};
    const uint64_t begin = to->count;
    bytes_put(to, CHECKPOINT_MAGIC, 8);
    bytes_put_u32(to, CHECKPOINT_VERSION);
    bytes_put_u32(to, 0);
    bytes_put_u64(to, head_bytes(h));
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        bytes_put_u64(to, fields[i]);
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        bytes_put_real(to, reals[i]);
    bytes_put_u64(to, h->traits);
    for (uint64_t i = 0; i < h->traits; i++) {
        bytes_put_text(to, h->trait[i].name);
        bytes_put_text(to, h->trait[i].value);
    }
    for (uint64_t i = 0; i < h->pieces + h->blocks; i++)
        bytes_put_u64(to, h->length[i]);
    if (!to->failed)
        bytes_put_u64(to, XXH3_64bits(to->at + begin, to->count - begin));
    return bytes_done(to, "the head of a checkpoint", err);
}

static bool is_damaged(bda_error *err, const char *how)
{
    return err_set(err, BDA_FAILED, "%s", how);
}

#define ENDS_EARLY "it ends too early"
#define NOT_WRITTEN "its head is not as it was written"

/* How long the head is, from its first bytes; 0 and a reason where there is none. */
static uint64_t announced(const unsigned char *from, uint64_t count, bda_error *err)
{
    if (count < LEAST_HEAD || memcmp(from, CHECKPOINT_MAGIC, 8) != 0) {
        is_damaged(err, count < LEAST_HEAD ? ENDS_EARLY : "it is no checkpoint");
        return 0;
    }
    const uint32_t version = bytes_decode_u32(from + 8);
    const uint64_t length = bytes_decode_u64(from + 16);
    if (version != CHECKPOINT_VERSION) {
        err_set(err, BDA_FAILED, "it is a checkpoint of version %u, and this program reads version %d", version,
                CHECKPOINT_VERSION);
        return 0;
    }
    if (length < LEAST_HEAD + 8 || length > MOST_HEAD) {
        is_damaged(err, NOT_WRITTEN);
        return 0;
    }
    return length;
}

static bool take_parts(checkpoint_head *h, byte_reader *r, bda_error *err)
{
    if (h->pieces == 0 || h->pieces > MOST_PARTS || h->blocks == 0 || h->blocks > MOST_PARTS ||
        h->pieces + h->blocks != r->left / 8)
        return is_damaged(err, NOT_WRITTEN);
    h->length = ARENA_TAKE(&h->memory, uint64_t, h->pieces + h->blocks, err);
    if (!h->length)
        return false;
    bool fits = true;
    for (uint64_t i = 0; i < h->pieces + h->blocks; i++) {
        h->length[i] = bytes_get_u64(r);
        fits = fits && h->length[i] < MOST_LENGTH;
    }
    return (fits && bytes_ended(r)) || is_damaged(err, NOT_WRITTEN);
}

bool checkpoint_decode(checkpoint_head *h, const unsigned char *from, uint64_t count, bda_error *err)
{
    *h = (checkpoint_head){0};
    const uint64_t length = announced(from, count, err);
    if (length == 0)
        return false;
    if (count < length)
        return is_damaged(err, ENDS_EARLY);
    if (bytes_decode_u64(from + length - 8) != XXH3_64bits(from, length - 8))
        return is_damaged(err, NOT_WRITTEN);
    byte_reader r = {.at = from + LEAST_HEAD, .left = length - LEAST_HEAD - 8};
    uint64_t *const fields[] = {&h->number, &h->tag,          &h->pieces, &h->blocks,
                                &h->round,  &h->method_round, &h->stopped};
    double *const reals[] = {&h->seconds, &h->primal, &h->gap};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        *fields[i] = bytes_get_u64(&r);
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        *reals[i] = bytes_get_real(&r);
    const uint64_t traits = bytes_get_u64(&r);
    if (traits > length / 16)
        return is_damaged(err, NOT_WRITTEN);
    if (!(h->trait = ARENA_TAKE(&h->memory, checkpoint_trait, traits + 1, err)))
        return false;
    for (h->traits = 0; h->traits < traits; h->traits++) {
        checkpoint_trait *t = &h->trait[h->traits];
        if (!(t->name = bytes_get_text(&r, &h->memory, err)) || !(t->value = bytes_get_text(&r, &h->memory, err)))
            return is_damaged(err, NOT_WRITTEN);
    }
    return take_parts(h, &r, err) && checkpoint_lay_out(h, err);
}

void checkpoint_test_checksum(unsigned char *head, uint64_t count)
{
    bytes_encode_u64(head + count - 8, XXH3_64bits(head, count - 8));
}

static bool read_at(int file, void *to, uint64_t count, uint64_t place)
{
    for (uint64_t got = 0; got < count;) {
        const uint64_t piece = count - got < (1u << 30) ? count - got : 1u << 30;
        const ssize_t now = pread(file, (char *)to + got, piece, (off_t)(place + got));
        if (now < 0 && errno == EINTR)
            continue;
        if (now <= 0)
            return false;
        got += (uint64_t)now;
    }
    return true;
}

static bool read_head_of(checkpoint_head *h, int file, bda_error *err)
{
    unsigned char first[LEAST_HEAD] = {0};
    struct stat about;
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode))
        return is_damaged(err, "it is no file");
    const uint64_t size = (uint64_t)about.st_size, got = size < LEAST_HEAD ? size : LEAST_HEAD;
    if (!read_at(file, first, got, 0))
        return is_damaged(err, "it cannot be read");
    const uint64_t length = announced(first, got, err);
    if (length == 0)
        return false;
    if (length > size)
        return is_damaged(err, ENDS_EARLY);
    bytes all = {0};
    all.at = mem_resize(NULL, 0, length, "the head of a checkpoint", err);
    if (!all.at)
        return false;
    bool ok = read_at(file, all.at, length, 0) || is_damaged(err, "it cannot be read");
    ok = ok && checkpoint_decode(h, all.at, length, err);
    mem_free(all.at, length);
    return ok && (h->bytes == size || is_damaged(err, size < h->bytes ? ENDS_EARLY : "it is too long"));
}

bool checkpoint_read_head(checkpoint_head *h, const char *path, bool *missing, bda_error *err)
{
    *h = (checkpoint_head){0};
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    *missing = file < 0 && errno == ENOENT;
    if (file < 0)
        return is_damaged(err, strerror(errno));
    const bool ok = read_head_of(h, file, err);
    close(file);
    return ok;
}

void checkpoint_head_free(checkpoint_head *h)
{
    arena_free(&h->memory);
    *h = (checkpoint_head){0};
}

const char *checkpoint_trait_of(const checkpoint_head *h, const char *name)
{
    for (uint64_t i = 0; i < h->traits; i++)
        if (strcmp(h->trait[i].name, name) == 0)
            return h->trait[i].value;
    return NULL;
}

/* ---- parts ----------------------------------------------------------------------------------------------------- */

void checkpoint_seal(const checkpoint_head *h, uint64_t part, unsigned char *at)
{
    bytes_encode_u64(at, h->tag);
    bytes_encode_u64(at + 8, part);
    bytes_encode_u64(at + 16, h->length[part]);
    bytes_encode_u64(at + 24, XXH3_64bits_withSeed(at + CHECKPOINT_PART, h->length[part], part));
}

static bool read_seal(const checkpoint_head *h, int file, uint64_t part, unsigned char *at)
{
    return read_at(file, at, CHECKPOINT_PART, h->place[part]) && bytes_decode_u64(at) == h->tag &&
           bytes_decode_u64(at + 8) == part && bytes_decode_u64(at + 16) == h->length[part];
}

bool checkpoint_has_part(const checkpoint_head *h, int file, uint64_t part)
{
    unsigned char at[CHECKPOINT_PART];
    return read_seal(h, file, part, at);
}

bool checkpoint_read_part(const checkpoint_head *h, int file, uint64_t part, unsigned char *to, bda_error *err)
{
    unsigned char at[CHECKPOINT_PART];
    const uint64_t count = h->length[part];
    if (!read_seal(h, file, part, at) || !read_at(file, to, count, h->place[part] + CHECKPOINT_PART) ||
        bytes_decode_u64(at + 24) != XXH3_64bits_withSeed(to, count, part))
        return err_set(err, BDA_FAILED, "part %llu is not as it was written", (unsigned long long)part + 1);
    return true;
}

bool checkpoint_write(int file, const void *bytes, uint64_t count, uint64_t place, const char *path, bda_error *err)
{
    for (uint64_t done = 0; done < count;) {
        const uint64_t piece = count - done < (1u << 26) ? count - done : 1u << 26;
        const ssize_t now = pwrite(file, (const char *)bytes + done, piece, (off_t)(place + done));
        if (now < 0 && errno == EINTR)
            continue;
        if (now <= 0)
            return err_set(err, BDA_FAILED, "cannot write '%.300s': %s", path, strerror(now < 0 ? errno : ENOSPC));
        done += (uint64_t)now;
    }
    return true;
}
