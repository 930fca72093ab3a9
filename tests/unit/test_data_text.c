/* test_data_text.c - LIBSVM text: what is accepted and as what, what is refused and with which words, forms, packing,
 * threads, and memory that runs out at any moment. */
#include "base/random.h"
#include "unit/cmocka_all.h"
#include "unit/data_support.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <zlib.h>
#include <zstd.h>

static data *read_text(const char *text, bool zero_based, bda_error *err)
{
    support_write("d", text, strlen(text));
    data_request request = {.path = "d", .zero_based = zero_based, .blocks = 1, .threads = 1};
    data *d = data_read(alone, &request, err);
    unlink("d");
    return d;
}

static void check_good(const char *text, bool zero_based, rows_form form, uint64_t features, bool reordered,
                       const char *expected)
{
    bda_error err = {0};
    data *d = read_text(text, zero_based, &err);
    if (!d)
        fail_msg("'%s': %s", text, err.text);
    char *seen = support_show(d);
    assert_string_equal(seen, expected);
    assert_int_equal(d->rows.form, form);
    assert_int_equal(d->features, features);
    assert_int_equal(d->rows.columns, features);
    assert_int_equal(d->reordered, reordered);
    assert_int_equal(d->instances, d->rows.count);
    assert_int_equal(d->nonzeros, d->rows.start[d->rows.count]);
    assert_string_equal(d->format, "LIBSVM text");
    free(seen);
    data_free(d);
}

static void good_text(void **state)
{
    (void)state;
    check_good("+1 1:1 2:0.5\r\n-1 1:-1\r\n", false, ROWS_FLOAT, 2, false, "1 0:1 1:0.5;-1 0:-1;");
    check_good("+1 1:1\n-1 2:1", false, ROWS_ONES, 2, false, "1 0:1;-1 1:1;");
    check_good("# head\n+1 1:1 # a comment 5:5\n  # more\n-1 2:1\n", false, ROWS_ONES, 2, false, "1 0:1;-1 1:1;");
    check_good("+1#c\n-1 2:1#c\n1 3:2#", false, ROWS_CONSTANT, 3, false, "1;-1 1:1;1 2:2;");
    check_good("+1\n-1 2:1\n\n \n\t\n\r\n+1 1:1\n", false, ROWS_ONES, 2, false, "1;-1 1:1;1 0:1;");
    check_good("+1 3:1 1:2\n-1 2:1\n", false, ROWS_FLOAT, 3, true, "1 0:2 2:1;-1 1:1;");
    check_good("+1 0:1 2:1\n-1 1:1\n", true, ROWS_ONES, 3, false, "1 0:1 2:1;-1 1:1;");
    check_good("  +1   1:1 \t  2:1  \n\t-1\t2:1 \n", false, ROWS_ONES, 2, false, "1 0:1 1:1;-1 1:1;");
    check_good("1e1 1:1e-3 2:2.5E+2\n-.5 2:-.5 3:5.\n", false, ROWS_DOUBLE, 3, false,
               "10 0:0.001 1:250;-0.5 1:-0.5 2:5;");
    check_good("5 1:0.1 2:0.1\n7 2:1\n8\n", false, ROWS_CONSTANT, 2, false,
               "5 0:0.10000000000000001 1:0.10000000000000001;7 1:1;8;");
    check_good("1 00000000001:1 4294967294:1\n2 12345678:1\n", false, ROWS_ONES, 4294967294u, false,
               "1 0:1 4294967293:1;2 12345677:1;");
    check_good("1 4294967294:1\n2 0:1\n", true, ROWS_ONES, 4294967295u, false, "1 4294967294:1;2 0:1;");
    check_good("-0 1:1 2:0 3:-0\n1 9:0\n", false, ROWS_ONES, 9, false, "0 0:1;1;");
    check_good("1 5:0 3:0 4:1\n", false, ROWS_ONES, 5, true, "1 3:1;");
    check_good("1 1:3.7e-208 2:1\n2 1:1e-400\n", false, ROWS_DOUBLE, 2, false, "1 0:3.7000000000000002e-208 1:1;2;");
    check_good("1 1:1.0 2:1e0\n", false, ROWS_ONES, 2, false, "1 0:1 1:1;");
    check_good("1 1:1e300\n", false, ROWS_CONSTANT, 1, false, "1 0:1.0000000000000001e+300;");
    check_good("1\n", false, ROWS_ONES, 0, false, "1;");
}

static void check_bad(const char *text, size_t length, bool zero_based, const char *message)
{
    bda_error err = {0};
    support_write("d", text, length);
    data_request request = {.path = "d", .zero_based = zero_based, .blocks = 1, .threads = 1};
    assert_null(data_read(alone, &request, &err));
    assert_int_equal(err.status, BDA_FAILED);
    assert_string_equal(err.text, message);
    unlink("d");
}

static void bad_text(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "d is empty: there are no instances in it"},
        {"\n# only this\n\n", "d is empty: there are no instances in it"},
        {"+1 1:nan\n", "d, line 1: value 'nan' is not a finite number"},
        {"1 1:1\n\n-1 2:-INF\n", "d, line 3: value '-INF' is not a finite number"},
        {"1 1:Infinity\n", "d, line 1: value 'Infinity' is not a finite number"},
        {"1 1:infinite\n", "d, line 1: value 'infinite' is not a number"},
        {"1 1:1e400\n", "d, line 1: value '1e400' is too large for a double"},
        {"1 1:1\n1 1:2 2:-1e309 3:4\n", "d, line 2: value '-1e309' is too large for a double"},
        {"nan 1:1\n", "d, line 1: label 'nan' is not a finite number"},
        {"1e999 1:1\n", "d, line 1: label '1e999' is too large for a double"},
        {"hello world\n", "d, line 1: label 'hello' is not a number"},
        {"1x 1:1\n", "d, line 1: label '1x' is not a number"},
        {"1,2 1:1\n",
         "d, line 1: label '1,2' is not a number; tables are read by `bda train --format=csv --label=NAME'"},
        {"1:1 2:1\n", "d, line 1: label missing: the line begins with '1:1'"},
        {" 1:1 2:1\n", "d, line 1: label missing: the line begins with '1:1'"},
        {"1 0:1\n", "d, line 1: index 0, but indices count from 1 unless --zero-based is given"},
        {"1 -3:1\n", "d, line 1: negative index '-3'"},
        {"1 +3:1\n", "d, line 1: index '+3' is not a whole number"},
        {"1 1.5:1\n", "d, line 1: index '1.5' is not a whole number"},
        {"1 a:1\n", "d, line 1: index 'a' is not a whole number"},
        {"1 :1\n", "d, line 1: index missing before ':'"},
        {"1 4294967295:1\n", "d, line 1: index 4294967295 is beyond 4294967294, the largest allowed"},
        {"1 99999999999999999999:1\n",
         "d, line 1: index 99999999999999999999 is beyond 4294967294, the largest allowed"},
        {"1 7:1 7:2\n", "d, line 1: duplicate index 7"},
        {"1 9:1 7:1 8:1 7:0\n", "d, line 1: duplicate index 7"},
        {"1 1 2:3\n", "d, line 1: '1' has no colon; expected index:value"},
        {"1 1:1\n2 2:\n", "d, line 2: index 2 has no value"},
        {"1 2: 3:1\n", "d, line 1: index 2 has no value"},
        {"1 2:x\n", "d, line 1: value 'x' is not a number"},
        {"1 2:1:2\n", "d, line 1: value '1:2' is not a number"},
        {"1 2:0x10\n", "d, line 1: value '0x10' is not a number"},
        {"1 2:1,5\n", "d, line 1: value '1,5' is not a number"},
        {"1 2:1e\n", "d, line 1: value '1e' is not a number"},
        {"1 2:-\n", "d, line 1: value '-' is not a number"},
        {"1 qid:3 1:1\n", "d, line 1: 'qid:3': ranking data with qid is not supported"},
        {"1 1:1\v2:1\n", "d, line 1: value '1?2:1' is not a number"},
        {"1 2:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n",
         "d, line 1: value 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...' is not a number"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_bad(cases[i].text, strlen(cases[i].text), false, cases[i].message);
    check_bad("1 1:1\n2 2:1\0\n", 13, false, "d, line 2: a NUL byte; this is not LIBSVM text");
    check_bad("\0", 1, false, "d, line 1: a NUL byte; this is not LIBSVM text");
    check_bad("1 1\0:1\n", 7, false, "d, line 1: a NUL byte; this is not LIBSVM text");
    check_bad("1 -0:1\n", 7, true, "d, line 1: negative index '-0'");
    check_bad("1 0:1 0:1\n", 10, true, "d, line 1: duplicate index 0");
}

static void refuse_path(const char *path, const char *message, const char *command)
{
    bda_error err = {0};
    assert_int_equal(system(command), 0);
    assert_null(support_read(alone, path, 1, 1, &err));
    assert_string_equal(err.text, message);
    assert_int_equal(system("rm -rf d"), 0);
}

static void files_that_cannot_be_read(void **state)
{
    (void)state;
    bda_error err = {0};
    assert_null(support_read(alone, "nothere", 1, 1, &err));
    assert_string_equal(err.text, "nothere: cannot be opened: No such file or directory");
    refuse_path("d/", "d/: is a directory without data files", "mkdir d && touch d/.hidden");
    refuse_path("d", "d/e: is a directory, not a data file", "mkdir -p d/e");
    refuse_path("nothere*", "nothere*: no file has such a name", "true");
}

static void files_that_are_no_data(void **state)
{
    (void)state;
    static const struct {
        const char *begin, *message;
    } cases[] = {
        {"BZh91AY&SY", "d: is packed by bzip2; unpack it first, or pack it as .gz or .zst"},
        {"\xfd"
         "7zXZ\0\0",
         "d: is packed by xz; unpack it first, or pack it as .gz or .zst"},
        {"PK\x03\x04----", "d: is a zip archive; unpack it first, or pack it as .gz or .zst"},
        {"\x93NUMPY\x01\x00", "d: is an array of NumPy (.npy); write it as LIBSVM text or CSV first"},
        {"PAR1----", "d: is a Parquet file; write it as LIBSVM text or CSV first"},
        {"BDAMODEL", "d: is a model of bda, not data"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_bad(cases[i].begin, 8, false, cases[i].message);
}

/* As a pattern, as a directory and by name, and with a mark of byte order in each file, packed or not. */
static void several_files_are_one(void **state)
{
    (void)state;
    bda_error err = {0};
    assert_int_equal(system("mkdir d; printf '\\357\\273\\277+1 1:1\\n-1 2:1' > d/b; : > d/a; touch d/.no d/_SUCCESS;"
                            "printf '\\357\\273\\2771 3:2\\n' | gzip > d/c"),
                     0);
    const char *const others[] = {"d/c", "d/b"};
    const data_request requests[] = {
        {.path = "d", .blocks = 2, .threads = 2},
        {.path = "d/", .blocks = 2, .threads = 1},
        {.path = "d/[abc]", .blocks = 2, .threads = 1},
        {.path = "d/b", .others = others, .other_count = 2, .blocks = 1, .threads = 1},
    };
    for (int i = 0; i < 4; i++) {
        data *d = data_read(alone, &requests[i], &err);
        assert_non_null(d);
        char *seen = support_show(d);
        assert_string_equal(seen, i < 3 ? "1 0:1;-1 1:1;1 2:2;" : "1 0:1;-1 1:1;1 2:2;1 0:1;-1 1:1;");
        assert_int_equal(d->files, 3);
        assert_string_equal(d->name, i < 3 ? requests[i].path : "d/b and 2 more files");
        free(seen);
        data_free(d);
    }
    assert_null(
        data_read(alone, &(data_request){.path = "{rank}", .others = others, .other_count = 1, .blocks = 1}, &err));
    assert_string_equal(err.text, "'{rank}' and 'd/c': {rank} has to be in all names of data files or in none");
    assert_int_equal(system("printf '1 x:1' >> d/c && cat d/b > d/d && printf ' 7' >> d/d"), 0);
    err = (bda_error){0};
    assert_null(support_read(alone, "d/d", 1, 1, &err));
    assert_string_equal(err.text, "d/d, line 2: '7' has no colon; expected index:value");
    assert_int_equal(system("rm -r d"), 0);
}

static void standard_input(void **state)
{
    (void)state;
    bda_error err = {0};
    int ends[2], kept = dup(STDIN_FILENO);
    for (int bad = 0; bad < 2; bad++) {
        const char *text = bad ? "1 1:1\n2 1:x\n" : "1 1:1\n2 2:1\n";
        assert_int_equal(pipe(ends), 0);
        assert_int_equal(write(ends[1], text, strlen(text)), (ssize_t)strlen(text));
        close(ends[1]);
        assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
        data *d = support_read(alone, "-", 1, 2, &err);
        if (bad)
            assert_string_equal(err.text, "standard input, line 2: value 'x' is not a number");
        else
            assert_true(d && d->instances == 2 && d->bytes_read == strlen(text));
        data_free(d);
        close(ends[0]);
    }
    dup2(kept, STDIN_FILENO);
    close(kept);
}

/* Many rows, also longer ones than a block of text, against what was put in. */
#define MANY 30000

static char *many_rows(bool long_row, size_t *length)
{
    char *text;
    FILE *to = open_memstream(&text, length);
    for (int i = 0; i < MANY; i++) {
        fprintf(to, "%d", i % 7);
        for (int k = 0; k < i % 13; k++)
            fprintf(to, " %d:%d", k * 1000 + i % 1000 + 1, k + 1);
        fputs(i % 11 ? "\n" : "   \r\n\n# nothing\n", to);
        for (int k = 0; long_row && i == 1234 && k == 0; k++) {
            fprintf(to, "9");
            for (int j = 0; j < 300000; j++)
                fprintf(to, " %d:1", j + 1);
            fputs("\n", to);
        }
    }
    fclose(to);
    return text;
}

static void check_many(const data *d, bool long_row)
{
    uint64_t i = 0;
    assert_int_equal(d->rows.count, MANY + long_row);
    for (uint64_t at = 0; at < d->rows.count; at++) {
        uint64_t begin = d->rows.start[at], cells = d->rows.start[at + 1] - begin;
        if (long_row && at == 1235) {
            assert_int_equal(cells, 300000);
            for (uint64_t k = 0; k < cells; k++)
                if (support_column(&d->rows, begin + k) != k || support_value(&d->rows, at, begin + k) != 1)
                    fail();
            continue;
        }
        assert_int_equal(cells, i % 13);
        if (d->target.real[at] != (double)(i % 7))
            fail();
        for (uint64_t k = 0; k < cells; k++)
            if (support_column(&d->rows, begin + k) != k * 1000 + i % 1000 ||
                support_value(&d->rows, at, begin + k) != (double)(k + 1))
                fail();
        i++;
    }
}

static void blocks_of_text_and_threads(void **state)
{
    (void)state;
    for (int long_row = 0; long_row < 2; long_row++) {
        size_t length;
        char *text = many_rows(long_row, &length);
        support_write("d", text, length);
        for (int threads = 1; threads <= 3; threads++) {
            bda_error err = {0};
            data *d = support_read(alone, "d", 5, threads, &err);
            assert_non_null(d);
            check_many(d, long_row);
            assert_int_equal(d->rows.form, ROWS_FLOAT);
            assert_int_equal(d->labels.count, long_row ? 8 : 7);
            assert_int_equal(d->local_blocks, 5);
            for (uint64_t k = 0; k <= 5; k++)
                assert_int_equal(d->block_start[k], k * d->instances / 5);
            data_free(d);
        }
        free(text);
    }
    unlink("d");
}

static void lines_are_numbered_anywhere(void **state)
{
    (void)state;
    size_t length;
    char *text = many_rows(true, &length), *bad = text;
    uint64_t line = 1;
    for (int i = 0; i < 30000; i++, line++)
        bad = strchr(bad, '\n') + 1;
    *bad = 'x';
    char expected[64];
    snprintf(expected, sizeof expected, "d, line %llu: label 'x'", (unsigned long long)line);
    support_write("d", text, length);
    for (int threads = 1; threads <= 3; threads++) {
        bda_error err = {0};
        assert_null(support_read(alone, "d", 1, threads, &err));
        assert_memory_equal(err.text, expected, strlen(expected) - 1);
    }
    free(text);
    unlink("d");
}

static void gzip_to(const char *path, const char *mode, const char *text, size_t length)
{
    gzFile file = gzopen(path, mode);
    assert_true(file && gzwrite(file, text, (unsigned)length) == (int)length && gzclose(file) == Z_OK);
}

static void packed_text(void **state)
{
    (void)state;
    size_t length, half;
    char *text = many_rows(true, &length);
    half = length / 2;
    gzip_to("d.gz", "wb", text, half);
    gzip_to("d.gz", "ab", text + half, length - half); /* a second member */
    size_t room = ZSTD_compressBound(length), used = 0;
    char *packed = malloc(2 * room);
    ZSTD_CCtx *zstd = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
    used += ZSTD_compress2(zstd, packed, room, text, half);
    used += ZSTD_compress2(zstd, packed + used, room, text + half, length - half);
    ZSTD_freeCCtx(zstd);
    support_write("d", packed, used); /* known by its bytes, not by its name */
    static const char *const paths[] = {"d.gz", "d"}, *const formats[] = {"LIBSVM text, gzip", "LIBSVM text, zstd"};
    for (int i = 0; i < 2; i++) {
        bda_error err = {0};
        data *d = support_read(alone, paths[i], 1, 2, &err);
        assert_non_null(d);
        check_many(d, true);
        assert_string_equal(d->format, formats[i]);
        data_free(d);
        size_t size;
        char *bytes = support_load(paths[i], &size);
        support_write("cut", bytes, size - 10);
        assert_null(support_read(alone, "cut", 1, 1, &err));
        assert_string_equal(err.text, "cut: is truncated: its packed text ends in the middle");
        bytes[size / 2] ^= 16; /* both carry a checksum */
        support_write("cut", bytes, size);
        err = (bda_error){0};
        assert_null(support_read(alone, "cut", 1, 1, &err));
        assert_memory_equal(err.text, "cut", 3);
        free(bytes);
    }
    gzip_to("d.gz", "wb", "1 1:1\n2 2:x\n", 12);
    bda_error err = {0};
    assert_null(support_read(alone, "d.gz", 1, 1, &err));
    assert_string_equal(err.text, "d.gz, line 2: value 'x' is not a number");
    unlink("d.gz"), unlink("d"), unlink("cut");
    free(packed);
    free(text);
}

static void pipes_can_be_read_once(void **state)
{
    (void)state;
    static const char *const texts[] = {"1 1:1\n2 2:2\n", "1 1:1\n\n2 2:x\n"};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(mkfifo("pipe", 0600), 0);
        pid_t child = fork();
        if (child == 0) {
            int fd = open("pipe", O_WRONLY);
            for (const char *p = texts[i]; *p; p++) /* byte by byte */
                if (write(fd, p, 1) != 1)
                    _exit(1);
            _exit(0);
        }
        bda_error err = {0};
        data *d = support_read(alone, "pipe", 1, 2, &err);
        if (i == 0)
            assert_int_equal(d->instances, 2);
        else
            assert_string_equal(err.text, "pipe, line 3: value 'x' is not a number");
        data_free(d);
        assert_int_equal(waitpid(child, NULL, 0), child);
        unlink("pipe");
    }
}

/* The k-th request for memory fails, for every k: a sentence, no crash, no leak (under the address sanitizer). */
static void memory_may_run_out(void **state)
{
    (void)state;
    static const char *const texts[] = {"1 1:1\n2 3:1 2:1\n1 1:2 3:2\n2 1:1 2:2\n1 1:0.1 2:3\n", "1 1:0.1\n2 2:1\n"};
    for (int i = 0; i < 2; i++) {
        support_write("d", texts[i], strlen(texts[i]));
        gzip_to("d.gz", "wb", texts[i], strlen(texts[i]));
        for (int packed = 0; packed < 2; packed++) {
            support_reading r = {packed ? "d.gz" : "d", 1, 1, NULL};
            assert_true(support_run_short(support_try_reading, &r) > 9);
            data_free(r.read);
        }
    }
    size_t length;
    char *text = many_rows(false, &length);
    support_write("d", text, length);
    support_reading r = {"d", 1, 3, NULL};
    assert_true(support_run_short(support_try_reading, &r) > 1);
    check_many(r.read, false);
    data_free(r.read);
    free(text);
    unlink("d"), unlink("d.gz");
}

/* Of every length and sign, and behind indices of every length. */
static void values_are_read_as_strtod_does(void **state)
{
    (void)state;
    enum { VALUES = 60000 };
    double *expected = malloc(VALUES * sizeof *expected);
    char *text;
    size_t length;
    FILE *to = open_memstream(&text, &length);
    rng r;
    rng_open(&r, 4, 0, 0);
    for (int i = 0; i < VALUES; i++) {
        static const char *const signs[] = {"", "", "", "-", "+"};
        char value[64];
        int places = (int)rng_below(&r, i % 2 ? 20 : 12), at = 0;
        at += sprintf(value, "%s%.*s.", signs[rng_below(&r, 5)], i % 3 ? 1 : 1 + (int)rng_below(&r, 9), "987654321");
        value[at - 2] = (char)('0' + rng_below(&r, 10));
        for (int k = 0; k < places; k++)
            value[at++] = (char)('0' + rng_below(&r, 10));
        value[at++] = '7'; /* zeros would not be stored */
        value[at] = 0;
        expected[i] = strtod(value, NULL);
        fprintf(to, "1 %.*s:%s%s\n", 1 + (int)rng_below(&r, 9), "123456789", value, i % 7 ? "" : " # end");
    }
    fclose(to);
    bda_error err = {0};
    data *d = read_text(text, false, &err);
    assert_int_equal(d->rows.form, ROWS_CONSTANT);
    for (int i = 0; i < VALUES; i++)
        assert_memory_equal(&d->rows.value[i], &expected[i], sizeof *expected);
    data_free(d);
    free(text);
    free(expected);
}

static void labels_are_listed(void **state)
{
    (void)state;
    static const int counts[] = {1, 40, 1000, DATA_LABELS_COUNTED, DATA_LABELS_COUNTED + 1, 70000};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        const int distinct = counts[k], listed = distinct <= DATA_LABELS_COUNTED ? distinct : 0;
        char *text;
        size_t length;
        FILE *to = open_memstream(&text, &length);
        for (int64_t i = 0; i < 80000; i++) /* 10007 is prime: all of them come up */
            fprintf(to, "%d 1:1\n", (int)(i * 10007 % distinct) - 5);
        fclose(to);
        bda_error err = {0};
        data *d = read_text(text, false, &err);
        assert_int_equal(d->labels.count, listed ? distinct : DATA_LABELS_COUNTED + 1);
        assert_true(listed || (!d->labels.name && !d->target.class));
        for (int i = 0; i < listed; i++)
            assert_true(d->labels.number[i] == i - 5);
        assert_true(d->label_least == -5 && d->label_most == distinct - 6);
        data_free(d);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_text),
        cmocka_unit_test(bad_text),
        cmocka_unit_test(files_that_cannot_be_read),
        cmocka_unit_test(files_that_are_no_data),
        cmocka_unit_test(several_files_are_one),
        cmocka_unit_test(standard_input),
        cmocka_unit_test(blocks_of_text_and_threads),
        cmocka_unit_test(lines_are_numbered_anywhere),
        cmocka_unit_test(packed_text),
        cmocka_unit_test(pipes_can_be_read_once),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(values_are_read_as_strtod_does),
        cmocka_unit_test(labels_are_listed),
    };
    return cmocka_run_group_tests(tests, support_open, support_close);
}
