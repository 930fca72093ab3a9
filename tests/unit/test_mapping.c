/* test_mapping.c - files that change while they are mapped or read are noticed; pages that are gone become zeros, but for
 * those that loops rely on. */
#include "data/mapping.h"
#include "data/parts.h"
#include "unit/cmocka_all.h"
#include "unit/data_support.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#define PAGES 4
#define PAGE 4096

static char bytes[PAGES * PAGE];
static volatile sig_atomic_t refused;

static void replace(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    if (bda_replace_lost_page(info->si_addr))
        return;
    refused = 1;
    signal(SIGBUS, SIG_DFL);
}

static void listen(void)
{
    struct sigaction action = {.sa_sigaction = replace, .sa_flags = SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}

static const char *map_new(void)
{
    memset(bytes, 'x', sizeof bytes);
    support_write("f", bytes, sizeof bytes);
    const int fd = open("f", O_RDONLY);
    const char *map = mapping_open(fd, "f", sizeof bytes);
    close(fd);
    assert_non_null(map);
    return map;
}

static void test_a_file_that_stays(void **state)
{
    (void)state;
    bda_error err = {0};
    const char *map = map_new();
    assert_true(mapping_intact(map, &err));
    assert_true(mapping_intact(NULL, &err));
    assert_false(bda_data_changed());
    assert_false(mapping_lost(map));
    support_write("g", "y", 1);
    assert_int_equal(rename("g", "f"), 0); /* what is mapped is the old one */
    assert_true(mapping_intact(map, &err));
    assert_int_equal(map[PAGE], 'x');
    unlink("f");
    assert_true(mapping_intact(map, &err));
    mapping_close((void *)map, sizeof bytes);
}

static void test_a_file_that_is_written_to(void **state)
{
    (void)state;
    bda_error err = {0};
    const char *map = map_new();
    const struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    assert_int_equal(utimensat(AT_FDCWD, "f", times, 0), 0);
    assert_false(mapping_intact(map, &err));
    assert_string_equal(err.text, "f: was changed while it was used");
    assert_true(bda_data_changed());
    mapping_close((void *)map, sizeof bytes);
    assert_false(bda_data_changed());
    unlink("f");
}

static void test_a_file_that_is_cut_off(void **state)
{
    (void)state;
    bda_error err = {0};
    const char *map = map_new();
    listen();
    mapping_use((void *)map, PAGE);
    assert_int_equal(truncate("f", 2 * PAGE), 0);
    assert_int_equal(map[PAGE], 'x');
    assert_int_equal(((const volatile char *)map)[3 * PAGE + 5], 0);
    assert_true(mapping_lost(map));
    assert_false(mapping_intact(map, &err));
    assert_string_equal(err.text, "f: became shorter while it was used");
    assert_int_equal(refused, 0);
    assert_false(bda_replace_lost_page((char *)map + 10)); /* among what loops rely on */
    assert_false(bda_replace_lost_page((char *)&err));     /* no file of ours */
    signal(SIGBUS, SIG_DFL);
    mapping_close((void *)map, sizeof bytes);
    unlink("f");
}

static void test_text_that_changes(void **state)
{
    (void)state;
    static const char *const path[] = {"f"};
    bda_error err = {0};
    parts p;
    support_write("f", "1 1:1\n", 6);
    assert_true(parts_open(&p, alone, true, 1, path, &err));
    assert_true(parts_unchanged(&p, &err));
    support_write("f", "1 1:1\n2", 7);
    assert_false(parts_unchanged(&p, &err));
    assert_string_equal(err.text, "f: was changed while it was read");
    parts_close(&p);
    unlink("f");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_file_that_stays),
        cmocka_unit_test(test_a_file_that_is_written_to),
        cmocka_unit_test(test_a_file_that_is_cut_off),
        cmocka_unit_test(test_text_that_changes),
    };
    return cmocka_run_group_tests(tests, support_open, support_close);
}
