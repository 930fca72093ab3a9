/* test_base_output.c - files that are complete or absent, and JSON lines. Works in a directory of its own. */
#include "base/json.h"
#include "base/memory.h"
#include "base/output.h"
#include "unit/cmocka_all.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char home[] = "/tmp/bda-test-output-XXXXXX";

static int enter(void **state)
{
    (void)state;
    return !mkdtemp(home) || chdir(home) != 0;
}

static int files_here(void)
{
    int count = 0;
    DIR *here = opendir(".");
    for (struct dirent *entry; (entry = readdir(here));)
        count += entry->d_name[0] != '.';
    closedir(here);
    return count;
}

static void clear_directory(void)
{
    DIR *here = opendir(".");
    for (struct dirent *entry; (entry = readdir(here));)
        if (entry->d_name[0] != '.')
            assert_true(unlink(entry->d_name) == 0 || rmdir(entry->d_name) == 0);
    closedir(here);
}

static int leave(void **state)
{
    (void)state;
    clear_directory();
    return chdir("/") != 0 || rmdir(home) != 0;
}

/* Each test ends with a clean directory: nothing temporary is left but what it knows of. */
static int tidy(void **state)
{
    (void)state;
    clear_directory();
    return 0;
}

static char *content(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    char *bytes = malloc(1 << 22);
    *length = fread(bytes, 1, (1 << 22) - 1, file);
    bytes[*length] = 0;
    fclose(file);
    return bytes;
}

static void assert_content(const char *path, const char *expected)
{
    size_t length;
    char *bytes = content(path, &length);
    assert_non_null(bytes);
    assert_string_equal(bytes, expected);
    assert_int_equal(length, strlen(expected));
    free(bytes);
}

static void put(const char *path, const char *text)
{
    bda_error err = {0};
    output *o = out_open(path, &err);
    assert_non_null(o);
    out_printf(o, "%s", text);
    assert_true(out_commit(o, &err));
}

static void appears_when_committed(void **state)
{
    (void)state;
    bda_error err = {0};
    put("a", "old");
    output *o = out_open("a", &err);
    out_printf(o, "%d %s\n", 12, "new");
    assert_int_equal(out_offset(o), 7);
    assert_true(out_flush(o, &err));
    assert_content("a", "old");
    assert_int_equal(files_here(), 2);
    assert_true(out_commit(o, &err));
    assert_content("a", "12 new\n");
    assert_int_equal(files_here(), 1);

    o = out_open("a", &err);
    out_write(o, "lost", 4);
    out_abandon(o);
    out_abandon(NULL);
    assert_content("a", "12 new\n");
    assert_int_equal(files_here(), 1);
}

static void two_writers_do_not_meet(void **state)
{
    (void)state;
    bda_error err = {0};
    output *first = out_open("a", &err), *second = out_open("a", &err);
    out_write(first, "first", 5);
    out_write(second, "second", 6);
    assert_true(out_commit(second, &err));
    assert_content("a", "second");
    assert_true(out_commit(first, &err));
    assert_content("a", "first");
    assert_int_equal(files_here(), 1);
}

static unsigned mode_of(const char *path)
{
    struct stat s;
    assert_int_equal(stat(path, &s), 0);
    return s.st_mode & 0777;
}

static void permissions_are_the_usual(void **state)
{
    (void)state;
    mode_t before = umask(027);
    put("a", "x");
    assert_int_equal(mode_of("a"), 0640);
    umask(022);
    put("b", "x");
    assert_int_equal(mode_of("b"), 0644);
    assert_int_equal(chmod("b", 0600), 0);
    put("b", "y");
    assert_int_equal(mode_of("b"), 0600);
    umask(before);
}

static void links_are_followed(void **state)
{
    (void)state;
    put("real", "old");
    assert_int_equal(symlink("real", "link"), 0);
    assert_int_equal(symlink("link", "far"), 0);
    put("far", "new");
    assert_content("real", "new");
    struct stat s;
    assert_int_equal(lstat("far", &s), 0);
    assert_true(S_ISLNK(s.st_mode));

    assert_int_equal(mkdir("there", 0777), 0);
    assert_int_equal(symlink("there/none", "dangling"), 0);
    put("dangling", "made");
    assert_content("there/none", "made");
    assert_int_equal(unlink("there/none"), 0);

    bda_error err = {0};
    assert_int_equal(symlink("loop", "loop"), 0);
    assert_null(out_open("loop", &err));
    assert_string_equal(err.text, "cannot write 'loop': Too many levels of symbolic links");
}

static void what_cannot_be_opened_is_told(void **state)
{
    (void)state;
    static const char *const cases[][2] = {{"none/a", "cannot write 'none/a': No such file or directory"},
                                           {".", "cannot write '.': Is a directory"},
                                           {"a/b", "cannot write 'a/b': Not a directory"},
                                           {"new/", "cannot write 'new/': Is a directory"},
                                           {"", "cannot write '': No such file or directory"}};
    put("a", "x");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bda_error err = {0};
        assert_null(out_open(cases[i][0], &err));
        assert_string_equal(err.text, cases[i][1]);
        assert_int_equal(err.status, BDA_FAILED);
    }
    char name[5000];
    memset(name, 'n', sizeof name);
    static const size_t lengths[] = {256, 4095, 4999};
    for (int i = 0; i < 3; i++) {
        bda_error err = {0};
        name[lengths[i]] = 0;
        assert_null(out_open(name, &err));
        assert_non_null(strstr(err.text, "File name too long"));
        name[lengths[i]] = 'n';
    }
    name[255] = 0;
    put(name, "the longest name");
    assert_content(name, "the longest name");
    assert_int_equal(files_here(), 2);
}

static void a_full_disk_is_told_once(void **state)
{
    (void)state;
    char block[100000] = {0};
    for (int blocks = 0; blocks < 10; blocks += 3) {
        bda_error err = {0};
        output *o = out_open("/dev/full", &err);
        assert_non_null(o);
        out_printf(o, "x");
        for (int i = 0; i < blocks; i++)
            out_write(o, block, sizeof block);
        assert_false(out_commit(o, &err));
        assert_string_equal(err.text, "cannot write '/dev/full': No space left on device");
    }
    bda_error err = {0};
    output *o = out_open_log("/dev/full", &err);
    out_printf(o, "x");
    assert_false(out_flush(o, &err));
    assert_non_null(strstr(err.text, "No space left"));
    out_abandon(o);
}

static void a_directory_that_vanishes_is_told(void **state)
{
    (void)state;
    bda_error err = {0};
    assert_int_equal(mkdir("d", 0777), 0);
    output *o = out_open("d/a", &err);
    out_write(o, "x", 1);
    assert_int_equal(rename("d", "e"), 0);
    assert_false(out_commit(o, &err));
    assert_string_equal(err.text, "cannot write 'd/a': No such file or directory");
    DIR *moved = opendir("e");
    for (struct dirent *entry; (entry = readdir(moved));)
        unlinkat(dirfd(moved), entry->d_name, 0);
    closedir(moved);
}

static void pipes_are_written_directly(void **state)
{
    (void)state;
    bda_error err = {0};
    assert_int_equal(mkfifo("pipe", 0666), 0);
    int reader = open("pipe", O_RDONLY | O_NONBLOCK);
    output *o = out_open("pipe", &err);
    assert_non_null(o);
    out_write(o, "through", 7);
    assert_true(out_commit(o, &err));
    char bytes[10] = {0};
    assert_int_equal(read(reader, bytes, 9), 7);
    assert_string_equal(bytes, "through");
    close(reader);
    assert_int_equal(files_here(), 1);
}

static void a_dash_is_standard_output(void **state)
{
    (void)state;
    bda_error err = {0};
    fflush(stdout);
    int kept = dup(STDOUT_FILENO), file = open("stdout", O_WRONLY | O_CREAT | O_APPEND, 0666);
    assert_true(dup2(file, STDOUT_FILENO) >= 0);
    bool ok = true;
    for (int i = 0; i < 2; i++) {
        output *o = out_open(i == 0 ? "-" : "/dev/stdout", &err);
        out_printf(o, "line %d\n", i);
        ok = ok && out_commit(o, &err);
    }
    dup2(kept, STDOUT_FILENO);
    close(kept);
    close(file);
    assert_true(ok);
    assert_content("stdout", "line 0\nline 1\n");
}

static void patches_reach_file_and_buffer(void **state)
{
    (void)state;
    const size_t size = 700000;
    char *expected = malloc(size);
    for (size_t i = 0; i < size; i++)
        expected[i] = (char)('a' + i % 26);
    static const size_t places[] = {0, 10, 262140, 524280, 524286, 600000, 699997};
    bda_error err = {0};
    output *o = out_open("a", &err);
    for (size_t i = 0; i < size; i += 1000)
        out_write(o, expected + i, 1000);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        out_patch(o, places[i], "XYZ", 3);
        memcpy(expected + places[i], "XYZ", 3);
    }
    /* One that begins in the file and ends in the buffer, wherever that begins. */
    memset(expected + 100, '-', 650000);
    out_patch(o, 100, expected + 100, 650000);
    assert_int_equal(out_offset(o), size);
    out_write(o, "end", 3);
    assert_true(out_commit(o, &err));
    size_t length;
    char *bytes = content("a", &length);
    assert_int_equal(length, size + 3);
    assert_memory_equal(bytes, expected, size);
    free(bytes);
    free(expected);

    o = out_open("b", &err);
    out_write(o, "abc", 3);
    out_patch(o, 2, "xy", 2);
    assert_false(out_commit(o, &err));
    assert_int_equal(files_here(), 1);
}

static void long_texts_pass(void **state)
{
    (void)state;
    const size_t size = 1000000;
    char *text = malloc(size + 1);
    for (size_t i = 0; i < size; i++)
        text[i] = (char)('a' + i % 17);
    text[size] = 0;
    bda_error err = {0};
    output *o = out_open("a", &err);
    out_printf(o, "1");
    out_printf(o, "%s", text);
    out_write(o, text, size);
    out_write(o, text, 0);
    out_printf(o, "2");
    assert_true(out_commit(o, &err));
    size_t length;
    char *bytes = content("a", &length);
    assert_int_equal(length, 2 * size + 2);
    assert_int_equal(bytes[0], '1');
    assert_memory_equal(bytes + 1, text, size);
    assert_memory_equal(bytes + 1 + size, text, size);
    assert_int_equal(bytes[length - 1], '2');
    free(bytes);
    free(text);
}

static void a_log_is_there_while_it_grows(void **state)
{
    (void)state;
    bda_error err = {0};
    output *o = out_open_log("log", &err);
    out_printf(o, "one\n");
    assert_true(out_flush(o, &err));
    assert_content("log", "one\n");
    out_printf(o, "two\n");
    assert_true(out_commit(o, &err));
    assert_content("log", "one\ntwo\n");
}

static void no_memory_no_file(void **state)
{
    (void)state;
    bda_error err = {0};
    mem_fail_at(1);
    assert_null(out_open("a", &err));
    mem_fail_at(0);
    assert_non_null(strstr(err.text, "out of memory"));
    assert_int_equal(files_here(), 0);
}

static void json_lines_are_valid(void **state)
{
    (void)state;
    bda_error err = {0};
    output *o = out_open("a", &err);
    json j;
    json_open(&j, o);
    json_text(&j, "quote", "a\"b\\c\n\t\x7f");
    json_text(&j, "utf-8", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    json_text(&j, "not utf-8", "a\xff\xc3(\xed\xa0\x80\xc0\xaf\xf4\x90\x80\x80\xe2\x82");
    json_real(&j, "tenth", 0.1);
    json_real(&j, "small", 5e-324);
    json_real(&j, "large", -1e300);
    json_real(&j, "whole", 3);
    json_real(&j, "nan", NAN);
    json_real(&j, "inf", -INFINITY);
    json_count(&j, "count", UINT64_MAX);
    json_close(&j);
    json_open(&j, o);
    json_close(&j);
    assert_true(out_commit(o, &err));
#define ODD "\xef\xbf\xbd"
    assert_content(
        "a", "{\"quote\":\"a\\\"b\\\\c\\u000a\\u0009\\u007f\",\"utf-8\":\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\","
             "\"not utf-8\":\"a" ODD ODD "(" ODD ODD ODD ODD ODD ODD ODD ODD ODD ODD ODD "\","
             "\"tenth\":0.10000000000000001,\"small\":4.9406564584124654e-324,"
             "\"large\":-1.0000000000000001e+300,\"whole\":3,\"nan\":null,\"inf\":null,"
             "\"count\":18446744073709551615}\n{}\n");
}

/* For a signal that ends the program: what is complete stays, what is not goes. */
static void unfinished_files_are_discarded(void **state)
{
    (void)state;
    bda_error err = {0};
    output *done = out_open("done", &err), *first = out_open("first", &err), *second = out_open("second", &err);
    assert_true(done && first && second && out_commit(done, &err));
    assert_int_equal(files_here(), 3);
    bda_discard_outputs();
    assert_int_equal(files_here(), 1);
    assert_content("done", "");
    out_abandon(first);
    out_abandon(second);
    output *next = out_open("next", &err);
    assert_true(next && out_commit(next, &err));
    bda_discard_outputs();
    assert_int_equal(files_here(), 2);
}

static void trying_leaves_no_trace(void **state)
{
    (void)state;
    bda_error err = {0};
    put("there", "content");
    assert_true(out_try("new", false, &err) && out_try("there", false, &err) && out_try("there", true, &err));
    assert_true(out_try("new", true, &err) && out_try("-", false, &err) && out_try("/dev/null", true, &err));
    assert_content("there", "content");
    assert_int_equal(files_here(), 1);
    assert_false(out_try("no/where", false, &err));
    assert_non_null(strstr(err.text, "no/where"));
    assert_false(out_try(".", false, &err));
    assert_int_equal(files_here(), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(appears_when_committed, tidy),
                                       cmocka_unit_test_teardown(two_writers_do_not_meet, tidy),
                                       cmocka_unit_test_teardown(permissions_are_the_usual, tidy),
                                       cmocka_unit_test_teardown(links_are_followed, tidy),
                                       cmocka_unit_test_teardown(what_cannot_be_opened_is_told, tidy),
                                       cmocka_unit_test_teardown(a_full_disk_is_told_once, tidy),
                                       cmocka_unit_test_teardown(a_directory_that_vanishes_is_told, tidy),
                                       cmocka_unit_test_teardown(pipes_are_written_directly, tidy),
                                       cmocka_unit_test_teardown(a_dash_is_standard_output, tidy),
                                       cmocka_unit_test_teardown(patches_reach_file_and_buffer, tidy),
                                       cmocka_unit_test_teardown(long_texts_pass, tidy),
                                       cmocka_unit_test_teardown(a_log_is_there_while_it_grows, tidy),
                                       cmocka_unit_test_teardown(unfinished_files_are_discarded, tidy),
                                       cmocka_unit_test_teardown(trying_leaves_no_trace, tidy),
                                       cmocka_unit_test_teardown(no_memory_no_file, tidy),
                                       cmocka_unit_test_teardown(json_lines_are_valid, tidy)};
    return cmocka_run_group_tests(tests, enter, leave);
}
