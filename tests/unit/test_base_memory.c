/* test_base_memory.c - the arena, growing arrays, and failure of the k-th request. */
#include "base/memory.h"
#include "unit/cmocka_all.h"

#include <string.h>

#define MB ((uint64_t)1 << 20)

static void pieces_are_zeroed_and_aligned(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {0, 1, 7, 64, 1000, MB - 1, MB, 2 * MB + 1, 5 * MB};
    bda_error err = {0};
    arena a = {0};
    uint64_t total = 0;
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            unsigned char *p = arena_take(&a, sizes[i], 1, "test", &err);
            assert_non_null(p);
            assert_int_equal((uintptr_t)p % (sizes[i] >= MB ? 2 * MB : 64), 0);
            for (uint64_t j = 0; j < sizes[i]; j++)
                assert_int_equal(p[j], 0);
            memset(p, 255, sizes[i]);
            total += sizes[i];
        }
    assert_int_equal(a.bytes, total);
    assert_int_equal(err.status, BDA_OK);
    arena_free(&a);
    assert_int_equal(a.bytes, 0);
    arena_free(&a);
}

static void too_much_is_refused_with_a_sentence(void **state)
{
    (void)state;
    bda_error err = {0};
    arena a = {0};
    assert_null(arena_take(&a, UINT64_MAX / 2, 8, "the moon", &err));
    assert_string_equal(err.text, "out of memory: needed 18.4 EB for the moon");
    err_clear(&err);
    assert_null(arena_take(&a, (uint64_t)1 << 60, 1, "the earth", &err));
    assert_non_null(strstr(err.text, "1.2 EB for the earth"));
    err_clear(&err);
    assert_null(mem_resize(NULL, 0, UINT64_MAX, "the sun", &err));
    assert_non_null(strstr(err.text, "the sun"));
    assert_int_equal(a.bytes, 0);
    arena_free(&a);
}

static void fill(uint64_t *x, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++)
        x[i] = i * 0x9e3779b97f4a7c15u;
}

static void growing_keeps_the_content(void **state)
{
    (void)state;
    static const uint64_t counts[] = {1,  10,     1000,   MB / 8 - 1, MB / 8, MB / 4, MB / 4 + 1,
                                      MB, 3 * MB, 2 * MB, MB / 8,     100,    5 * MB, 0};
    bda_error err = {0};
    uint64_t *x = NULL, held = 0, *neighbour = NULL;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        uint64_t *bigger = mem_resize(x, held * 8, counts[i] * 8, "test", &err);
        assert_non_null(bigger);
        x = bigger;
        uint64_t common = held < counts[i] ? held : counts[i];
        for (uint64_t j = 0; j < common; j++)
            if (x[j] != j * 0x9e3779b97f4a7c15u)
                fail_msg("content lost at %llu", (unsigned long long)j);
        if (counts[i] * 8 >= MB)
            assert_int_equal((uintptr_t)x % (2 * MB), 0);
        fill(x, common, counts[i]);
        held = counts[i];
        /* Something behind the array, so that the next growth cannot always be in place. */
        mem_free(neighbour, 4 * MB);
        neighbour = mem_resize(NULL, 0, 4 * MB, "test", &err);
    }
    mem_free(neighbour, 4 * MB);
    mem_free(x, held * 8);
    mem_free(NULL, 0);
}

static void growth_that_fails_leaves_the_old(void **state)
{
    (void)state;
    bda_error err = {0};
    static const uint64_t sizes[] = {800, 4 * MB};
    for (int i = 0; i < 2; i++) {
        uint64_t *x = mem_resize(NULL, 0, sizes[i], "test", &err);
        fill(x, 0, sizes[i] / 8);
        mem_fail_at(1);
        assert_null(mem_resize(x, sizes[i], 2 * sizes[i], "more", &err));
        assert_int_equal(err.status, BDA_FAILED);
        err_clear(&err);
        for (uint64_t j = 0; j < sizes[i] / 8; j++)
            assert_true(x[j] == j * 0x9e3779b97f4a7c15u);
        mem_free(x, sizes[i]);
    }
}

static bool take_three(bda_error *err)
{
    arena a = {0};
    bool ok = ARENA_TAKE(&a, double, 10, err) && ARENA_TAKE(&a, double, MB, err) && ARENA_TAKE(&a, int, 3, err);
    arena_free(&a);
    return ok;
}

static void the_kth_request_fails_once(void **state)
{
    (void)state;
    for (uint64_t k = 1; k <= 4; k++) {
        bda_error err = {0};
        mem_fail_at(k);
        assert_int_equal(take_three(&err), k > 3);
        assert_int_equal(err.status != BDA_OK, k <= 3);
        if (k == 2)
            assert_string_equal(err.text, "out of memory: needed 8.4 MB for double array");
        if (k <= 3)
            assert_true(take_three(&(bda_error){0}));
        mem_fail_at(0);
    }
}

static void the_machine_tells_its_memory(void **state)
{
    (void)state;
    bda_error err = {0};
    uint64_t before = mem_peak_bytes(), size = 64 * MB;
    assert_true(before > 100000);
    char *p = mem_resize(NULL, 0, size, "test", &err);
    memset(p, 1, size);
    mem_free(p, size);
    assert_true(mem_peak_bytes() >= size);
    uint64_t available = mem_available_bytes();
    assert_true(available > MB);
    assert_true(available == UINT64_MAX || available < (uint64_t)1 << 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_zeroed_and_aligned), cmocka_unit_test(too_much_is_refused_with_a_sentence),
        cmocka_unit_test(growing_keeps_the_content),     cmocka_unit_test(growth_that_fails_leaves_the_old),
        cmocka_unit_test(the_kth_request_fails_once),    cmocka_unit_test(the_machine_tells_its_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
