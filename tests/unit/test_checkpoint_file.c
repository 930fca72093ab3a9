/* test_checkpoint_file.c - walks over a state, and the file that holds one: whole, cut off anywhere, with any bit turned
 * over, and with bytes that nobody wrote. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/archive.h"
#include "base/random.h"
#include "comm/comm.h"
#include "run/checkpoint_file.h"
#include "unit/cmocka_all.h"

/* ---- walks ----------------------------------------------------------------------------------------------------- */

typedef struct thing {
    uint32_t round;
    double v[7];
    uint64_t count;
    char text[9];
} thing;

static void name_thing(archive *a, thing *x)
{
    ARCHIVE(a, x->round);
    ARCHIVE(a, x->count);
    if (!archive_has(a, "x->text", x->count, 1))
        return;
    ARCHIVE_ARRAY(a, x->text, x->count);
    ARCHIVE_ARRAY(a, x->v, 7);
}

static const thing some = {.round = 41, .v = {1, -0.0, 1e-310, 4, 5, 6, 1e300}, .count = 5, .text = "hello"};

static uint64_t save(thing x, unsigned char *to, uint64_t first, uint64_t end)
{
    archive count = archive_counting(), a = archive_saving(to, first, end);
    name_thing(&count, &x);
    name_thing(&a, &x);
    assert_int_equal(count.at, a.at);
    return a.at;
}

static void a_walk_reads_what_it_wrote(void **unused)
{
    (void)unused;
    unsigned char all[400], part[400];
    const uint64_t n = save(some, all, 0, sizeof all);
    thing back = {0};
    archive a = archive_loading(all, n);
    name_thing(&a, &back);
    assert_true(archive_ended(&a));
    assert_memory_equal(&back, &some, sizeof back);
    for (uint64_t first = 0; first < n; first += 13) /* any window of it */
        for (uint64_t end = first; end <= n; end += 7) {
            save(some, part, first, end);
            assert_memory_equal(part, all + first, end - first);
        }
}

static void a_walk_refuses_what_is_not_its_own(void **unused)
{
    (void)unused;
    unsigned char all[400];
    const uint64_t n = save(some, all, 0, sizeof all);
    for (uint64_t end = 0; end < n; end++) {
        thing back = {0};
        archive a = archive_loading(all, end);
        name_thing(&a, &back);
        assert_false(archive_ended(&a));
    }
    rng random;
    rng_open(&random, 3, 0, 0);
    for (int k = 0; k < 20000; k++) { /* never beyond its fields, whatever the bytes are */
        unsigned char other[400];
        thing back = {0};
        memcpy(other, all, n);
        for (uint32_t j = rng_below(&random, 4); j < 4; j++)
            other[rng_below(&random, (uint32_t)n)] = (unsigned char)rng_u32(&random);
        archive a = archive_loading(other, n);
        archive_bytes(&a, "x->round", &back.round, 1, sizeof back.round);
        name_thing(&a, &back); /* the first field twice: never right */
        assert_false(archive_ended(&a));
    }
}

/* ---- the file -------------------------------------------------------------------------------------------------- */

#define PIECES 2
#define BLOCKS 3
#define PARTS (PIECES + BLOCKS)

static const uint64_t lengths[PARTS] = {10, 0, 33, 8, 1};

static unsigned char byte_of(uint64_t part, uint64_t i)
{
    return (unsigned char)(part * 31 + i * 7 + 1);
}

static void make_head(checkpoint_head *h, checkpoint_trait *trait)
{
    bda_error err = {0};
    *h = (checkpoint_head){
        .number = 9, .tag = 0x1234567, .pieces = PIECES, .blocks = BLOCKS, .round = 17, .traits = 2};
    trait[0] = (checkpoint_trait){"cost", "2"};
    trait[1] = (checkpoint_trait){" digest of the data", ""};
    h->trait = trait;
    h->length = ARENA_TAKE(&h->memory, uint64_t, PARTS, &err);
    memcpy(h->length, lengths, sizeof lengths);
    assert_true(checkpoint_lay_out(h, &err));
}

/* As two ranks would; returns the file's bytes. */
static void write_file(const checkpoint_head *h, const char *path)
{
    bda_error err = {0};
    bytes head = {0};
    const int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0 && ftruncate(file, (off_t)h->bytes) == 0);
    assert_true(checkpoint_encode(h, &head, &err) && checkpoint_write(file, head.at, head.count, 0, path, &err));
    bytes_free(&head);
    for (uint64_t rank = 0; rank < PIECES; rank++) {
        uint64_t first, end;
        checkpoint_region(h, rank, &first, &end);
        unsigned char *region = calloc(end - first, 1);
        assert_non_null(region);
        const uint64_t begin = comm_first_block(BLOCKS, (int)rank, PIECES),
                       last = comm_first_block(BLOCKS, (int)rank + 1, PIECES);
        for (uint64_t k = 0; k < PARTS; k++) {
            if (k != rank && (k < PIECES + begin || k >= PIECES + last))
                continue;
            unsigned char *at = region + (h->place[k] - first);
            for (uint64_t i = 0; i < lengths[k]; i++)
                at[CHECKPOINT_PART + i] = byte_of(k, i);
            checkpoint_seal(h, k, at);
        }
        assert_true(checkpoint_write(file, region, end - first, first, path, &err));
        free(region);
    }
    close(file);
}

/* Every part as it was written? False, with a sentence, where it is seen that they are not. */
static bool read_file(const char *path)
{
    bda_error err = {0};
    checkpoint_head h;
    bool missing, ok = checkpoint_read_head(&h, path, &missing, &err);
    const int file = open(path, O_RDONLY);
    assert_true(file >= 0);
    assert_false(missing);
    for (uint64_t k = 0; ok && k < PARTS; k++) {
        unsigned char *part = malloc(h.length[k] + 1);
        assert_non_null(part);
        ok = checkpoint_read_part(&h, file, k, part, &err);
        for (uint64_t i = 0; ok && i < lengths[k]; i++)
            assert_int_equal(part[i], byte_of(k, i));
        free(part);
    }
    assert_true(ok || err.text[0]);
    close(file);
    checkpoint_head_free(&h);
    return ok;
}

static void damage_is_seen(void **unused)
{
    (void)unused;
    char path[] = "/tmp/bda-test-XXXXXX";
    checkpoint_trait trait[2];
    checkpoint_head h;
    close(mkstemp(path));
    make_head(&h, trait);
    write_file(&h, path);
    assert_true(read_file(path));
    const int file = open(path, O_RDWR);
    for (uint64_t at = 0; at < h.bytes; at++) { /* holes between parts mean nothing, and may be anything */
        unsigned char byte, other;
        assert_int_equal(pread(file, &byte, 1, (off_t)at), 1);
        for (int bit = 0; bit < 8; bit += byte || at < 600 ? 1 : 8) {
            other = byte ^ (unsigned char)(1u << bit);
            assert_int_equal(pwrite(file, &other, 1, (off_t)at), 1);
            const bool unseen = read_file(path);
            assert_true(!unseen || byte == 0);
        }
        assert_int_equal(pwrite(file, &byte, 1, (off_t)at), 1);
    }
    for (uint64_t end = h.bytes; end-- > 0;) {
        assert_int_equal(ftruncate(file, (off_t)end), 0);
        assert_false(read_file(path));
    }
    close(file);
    unlink(path);
    checkpoint_head_free(&h);
}

/* Heads of any bytes, with a checksum that fits: nothing is read or taken that is not there. */
static void heads_may_be_anything(void **unused)
{
    (void)unused;
    checkpoint_trait trait[2];
    checkpoint_head h, back;
    bda_error err = {0};
    bytes good = {0};
    rng random;
    make_head(&h, trait);
    assert_true(checkpoint_encode(&h, &good, &err));
    assert_true(checkpoint_decode(&back, good.at, good.count, &err));
    assert_string_equal(checkpoint_trait_of(&back, "cost"), "2");
    assert_null(checkpoint_trait_of(&back, "epsilon"));
    assert_memory_equal(back.place, h.place, sizeof lengths);
    checkpoint_head_free(&back);
    for (uint64_t end = 0; end < good.count; end++) {
        err = (bda_error){0};
        assert_false(checkpoint_decode(&back, good.at, end, &err));
        assert_true(err.text[0]);
        checkpoint_head_free(&back);
    }
    rng_open(&random, 1, 2, 3);
    for (int k = 0; k < 20000; k++) {
        bytes other = {0};
        bytes_put(&other, good.at, good.count);
        assert_false(other.failed);
        for (uint32_t j = rng_below(&random, 4); j < 4; j++)
            other.at[24 + rng_below(&random, (uint32_t)good.count - 32)] = (unsigned char)rng_u32(&random);
        checkpoint_test_checksum(other.at, other.count);
        err = (bda_error){0};
        if (!checkpoint_decode(&back, other.at, other.count, &err))
            assert_true(err.text[0]);
        checkpoint_head_free(&back);
        bytes_free(&other);
    }
    bytes_free(&good);
    checkpoint_head_free(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_walk_reads_what_it_wrote),
        cmocka_unit_test(a_walk_refuses_what_is_not_its_own),
        cmocka_unit_test(damage_is_seen),
        cmocka_unit_test(heads_may_be_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
