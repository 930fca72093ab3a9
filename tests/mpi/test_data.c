/* test_data.c - all ranks together read what one rank reads alone: the same instances, blocks, form and labels, for
 * every format and for rows of very different lengths; and an error on one rank is an error on all. Every rank makes
 * the expectation itself, by reading the file alone. */
#include "data/data.h"
#include "data/digest.h"
#include "data/schema.h"
#include "mpi/check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PARTS 6

static bda_comm *c, *single;
static int rank, size;

static data *load(bda_comm *who, const char *path, uint64_t blocks, int threads, bda_error *err)
{
    data_request request = {.path = path, .blocks = blocks, .threads = threads};
    return data_read(who, &request, err);
}

static bool same_cells(const data *a, uint64_t i, const data *b, uint64_t j)
{
    const rows *x = &a->rows, *y = &b->rows;
    uint64_t cells = x->start[i + 1] - x->start[i], k = x->start[i], m = y->start[j];
    if (y->start[j + 1] - m != cells)
        return false;
    if (x->form == ROWS_FLOAT)
        return memcmp(x->pair + k, y->pair + m, cells * sizeof *x->pair) == 0;
    if (cells > 0 && memcmp(x->column + k, y->column + m, cells * sizeof *x->column) != 0)
        return false;
    if (x->form == ROWS_CONSTANT)
        return x->value[i] == y->value[j];
    return x->form != ROWS_DOUBLE || cells == 0 || memcmp(x->value + k, y->value + m, cells * sizeof *x->value) == 0;
}

/* mine: this rank's part; all: the whole file. */
static void check_part(const data *mine, const data *all, uint64_t blocks)
{
    CHECK(mine->instances == all->instances && mine->features == all->features && mine->nonzeros == all->nonzeros);
    CHECK(mine->rows.form == all->rows.form && mine->reordered == all->reordered && mine->blocks == blocks);
    CHECK(mine->labels.count == all->labels.count && mine->label_least == all->label_least &&
          mine->label_most == all->label_most);
    CHECK((mine->labels.name == NULL) == (all->labels.count > DATA_LABELS_COUNTED));
    for (uint64_t k = 0; mine->labels.name && k < all->labels.count; k++)
        CHECK(mine->labels.number[k] == all->labels.number[k] &&
              strcmp(mine->labels.name[k], all->labels.name[k]) == 0);
    CHECK(strcmp(mine->format, all->format) == 0);
    CHECK(mine->first_block == comm_first_block(blocks, rank, size));
    CHECK(mine->local_blocks == comm_first_block(blocks, rank + 1, size) - mine->first_block);
    CHECK(mine->block_start[0] == 0 && mine->block_start[mine->local_blocks] == mine->rows.count);
    for (uint64_t k = 0; k <= mine->local_blocks; k++)
        CHECK(mine->first_instance + mine->block_start[k] == (mine->first_block + k) * all->instances / blocks);
    for (uint64_t i = 0; i < mine->rows.count; i++) {
        uint64_t j = mine->first_instance + i;
        CHECK(mine->target.real[i] == all->target.real[j]);
        CHECK(!mine->target.class || mine->target.class[i] == all->target.class[j]);
        CHECK(!mine->target.class || mine->labels.number[mine->target.class[i]] == mine->target.real[i]);
        CHECK(same_cells(mine, i, all, j));
    }
    CHECK(data_digest(c, mine, 2) == data_digest(single, all, 1));
}

/* The same rows in several files. */
static void check_parts(const char *pattern, const char *whole, const char *format)
{
    static const uint64_t blocks[] = {3, 16};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        bda_error err = {0};
        data *mine = load(c, pattern, blocks[i], 1 + (int)i % 2, &err),
             *all = load(single, whole, blocks[i], 1, &err);
        if (!mine || !all)
            fprintf(stderr, "%s: %s\n", pattern, err.text);
        CHECK(mine && all && mine->files == PARTS && strcmp(mine->format, format) == 0);
        all->format = mine->format;
        check_part(mine, all, blocks[i]);
        data_free(mine);
        data_free(all);
    }
}

static void check_file(const char *path)
{
    static const uint64_t blocks[] = {1, 2, 3, 7, 16, 1000};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        bda_error err = {0};
        int threads = 1 + (int)i % 2;
        data *mine = load(c, path, blocks[i], threads, &err), *all = load(single, path, blocks[i], 1, &err);
        if (!mine || !all)
            fprintf(stderr, "%s: %s\n", path, err.text);
        CHECK(mine && all);
        check_part(mine, all, blocks[i]);
        data_free(mine);
        data_free(all);
    }
}

typedef enum shape { EVEN, SHORT_FIRST, LONG_FIRST, ONE_LONG, FEW, LATE_VALUES, SHAPES } shape;

static int cells_of(shape s, int i, int count)
{
    switch (s) {
    case SHORT_FIRST:
        return i < count * 9 / 10 ? 0 : 60;
    case LONG_FIRST:
        return i < count / 10 ? 60 : 1;
    case ONE_LONG:
        return i == count / 3 ? 50000 : i % 3;
    default:
        return i % 9;
    }
}

/* Rank 0 writes it; the others wait. */
static void make_file(const char *path, shape s)
{
    if (rank == 0) {
        FILE *to = fopen(path, "w");
        CHECK(to);
        int count = s == FEW ? 2 : 4000;
        for (int i = 0; i < count; i++) {
            fprintf(to, "%d", i % 3);
            for (int k = 0; k < cells_of(s, i, count); k++) {
                if (s == LATE_VALUES && i == count - 1)
                    fprintf(to, " %d:0.%d", k + 1, k + 1);
                else
                    fprintf(to, " %d:1", k + 1 + i % 5);
            }
            fputs(i % 10 == 3 ? "\n\n#\n \t\n" : "\n", to);
        }
        CHECK(fclose(to) == 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void forget(const char *path)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        CHECK(unlink(path) == 0);
}

static void every_format(shape s)
{
    make_file("text", s);
    check_file("text");
    bda_error err = {0};
    data *d = load(c, "text", 7, 1, &err);
    static const char *const paths[] = {"binary", "text.gz", "text.zst", "again"};
    for (int i = 0; i < 4; i++) {
        CHECK(data_write(c, d, paths[i], i == 3, false, &err));
        check_file(paths[i]);
    }
    data_free(d);
    /* The bytes do not depend on the ranks. */
    d = load(single, "text", 1, 1, &err);
    if (rank == 0)
        CHECK(data_write(single, d, "alone", false, false, &err) && system("cmp -s alone binary") == 0 &&
              data_write(single, d, "alone", true, false, &err) && system("cmp -s alone again") == 0 &&
              unlink("alone") == 0);
    data_free(d);
    for (int i = 0; i < 4; i++)
        forget(paths[i]);
    forget("text");
}

/* Part k of the lines of "text", which rank 0 writes: plain, or packed as the name says. The third part is the longest
 * by far, and the fourth is empty; the last line of a part has no newline. */
static void make_part(int k, const char *name)
{
    static const int ends[] = {0, 5, 400, 3900, 3900, 4300, 100000};
    char command[300];
    const char *pack = strstr(name, ".gz") ? "gzip" : strstr(name, ".zst") ? "zstd -q" : "cat";
    snprintf(command, sizeof command, "mkdir -p d && sed -n '%d,%dp' text | head -c -1 | %s > d/%s", ends[k] + 1,
             ends[k + 1], pack, name);
    CHECK(system(ends[k] < ends[k + 1] ? command : strcpy(command, "mkdir -p d && > d/part-3")) == 0);
}

static void several_files(shape s)
{
    static const char *const plain[PARTS] = {"part-0", "part-1", "part-2", "part-3", "part-4", "part-5"};
    static const char *const mixed[PARTS] = {"part-0.gz", "part-1", "part-2.gz", "part-3", "part-4", "part-5.gz"};
    static const char *const packed[PARTS] = {"part-0.gz", "part-1.gz", "part-2.gz",
                                              "part-3",    "part-4.gz", "part-5.gz"};
    static const char *const *const names[] = {plain, mixed, packed};
    make_file("text", s);
    for (int i = 0; i < 3; i++) {
        if (rank == 0) {
            for (int k = 0; k < PARTS; k++)
                make_part(k, names[i][k]);
            CHECK(system("touch d/.hidden d/_SUCCESS") == 0);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        check_parts(i == 0 ? "d" : "d/part-[0-9]*", "text", i == 0 ? "LIBSVM text" : "LIBSVM text, gzip");
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            CHECK(system("rm -r d") == 0);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    forget("text");
}

static void several_binary_files(void)
{
    make_file("text", LATE_VALUES);
    bda_error err = {0};
    for (int k = 0; k < PARTS; k++) {
        char command[100], name[30];
        snprintf(command, sizeof command, "sed -n '%d,%dp' text > piece", k * k * 100 + 1,
                 k == PARTS - 1 ? 100000 : (k + 1) * (k + 1) * 100);
        snprintf(name, sizeof name, "binary-%d", k);
        if (rank == 0) {
            CHECK(system(command) == 0);
            data *piece = load(single, "piece", 1, 1, &err);
            CHECK(piece && data_write(single, piece, name, false, false, &err) && unlink("piece") == 0);
            data_free(piece);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    check_parts("binary-?", "text", "bda binary");
    const char *const others[] = {"text"};
    data_request mixed = {.path = "binary-0", .others = others, .other_count = 1, .blocks = 3, .threads = 1};
    CHECK(!data_read(c, &mixed, &err) && strstr(err.text, "binary-0: is binary, and text is text"));
    for (int k = 0; k < PARTS; k++) {
        char name[30];
        snprintf(name, sizeof name, "binary-%d", k);
        forget(name);
    }
    forget("text");
}

static data *load_table(bda_comm *who, const char *path, uint64_t blocks, int threads, bda_error *err)
{
    const table_request table = {.separator = ',', .label = "y", .missing = SCHEMA_MEAN};
    data_request request = {.path = path, .table = &table, .blocks = blocks, .threads = threads};
    return data_read(who, &request, err);
}

/* A table, as one file, packed, and as several whose columns are in another order: the same rows, and the same schema to
 * the last bit of the means. */
static void tables(void)
{
    bda_error err = {0};
    if (rank == 0) {
        CHECK(mkdir("d", 0777) == 0);
        FILE *to = fopen("table", "w"), *parts[2] = {fopen("d/a", "w"), fopen("d/b", "w")};
        fputs("y,n,colour,m\n", to);
        fputs("y,n,colour,m\n", parts[0]);
        fputs("m,colour,y,n\n", parts[1]);
        for (int i = 0; i < 3000; i++) {
            char n[30] = "", m[30];
            if (i % 7)
                snprintf(n, sizeof n, "%.17g", 1.0 / (i + 3) * (i % 2 ? 1e9 : -1e-9));
            snprintf(m, sizeof m, "%d", i % 11);
            fprintf(to, "%d,%s,c%d,%s\n", i % 3, n, i * i % 101, m);
            if (i < 1000)
                fprintf(parts[0], "%d,%s,c%d,%s\n", i % 3, n, i * i % 101, m);
            else
                fprintf(parts[1], "%s,c%d,%d,%s\n", m, i * i % 101, i % 3, n);
        }
        CHECK(fclose(to) == 0 && fclose(parts[0]) == 0 && fclose(parts[1]) == 0 && system("gzip -k table") == 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    data *all = load_table(single, "table", 7, 1, &err);
    static const char *const paths[] = {"table", "table.gz", "d"};
    for (int i = 0; i < 3; i++) {
        data *mine = load_table(c, paths[i], 7, 1 + i % 2, &err);
        if (!mine)
            fprintf(stderr, "%s: %s\n", paths[i], err.text);
        CHECK(mine && all);
        check_part(mine, all, 7);
        bytes one = {0}, other = {0};
        schema_pack(mine->schema, &one);
        schema_pack(all->schema, &other);
        CHECK(one.count == other.count && memcmp(one.at, other.at, one.count) == 0);
        bytes_free(&one);
        bytes_free(&other);
        data_free(mine);
    }
    data_free(all);
    forget("table");
    forget("table.gz");
    if (rank == 0)
        CHECK(system("echo '1,2' >> d/a; rm d/b") == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(!load_table(c, "d", 7, 1, &err));
    CHECK(strcmp(err.text, "d/a, line 1002: has 2 cells instead of the 4 of the header") == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        CHECK(system("rm -r d") == 0);
}

/* The same sentence on all ranks, about the first bad line of the file. */
static void errors_reach_all(void)
{
    for (int bad = 0; bad < 1000; bad += 111) {
        if (rank == 0) {
            FILE *to = fopen("text", "w");
            for (int i = 0; i < 1000; i++)
                fprintf(to, i == bad || i == 999 ? "1 2:x%d\n" : "1 1:1\n", i);
            CHECK(fclose(to) == 0 && system("gzip -k -f text") == 0);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        for (int packed = 0; packed < 2; packed++) {
            bda_error err = {0};
            char expected[100], *path = packed ? "text.gz" : "text";
            snprintf(expected, sizeof expected, "%s, line %d: value 'x%d' is not a number", path, bad + 1, bad);
            CHECK(!load(c, path, (uint64_t)size, 1, &err));
            CHECK(strcmp(err.text, expected) == 0);
        }
        forget("text");
        forget("text.gz");
    }
    bda_error err = {0};
    CHECK(!load(c, "nothere", 3, 1, &err) && strstr(err.text, "nothere"));
    if (rank == 0)
        CHECK(fclose(fopen("empty", "w")) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    err = (bda_error){0};
    CHECK(!load(c, "empty", 3, 1, &err) && strcmp(err.text, "empty is empty: there are no instances in it") == 0);
    forget("empty");
}

/* Memory that runs out on one rank, at every request: all fail with that rank's sentence, none hangs. */
static void memory_may_run_out_somewhere(void)
{
    make_file("text", LATE_VALUES);
    for (int who = 0; who<size; who += size> 1 ? size - 1 : 1) {
        bool done = false;
        for (uint64_t k = 1; !done; k++) {
            bda_error err = {0};
            mem_fail_at(rank == who ? k : 0);
            data *d = load(c, "text", 4, 1, &err);
            mem_fail_at(0);
            done = d != NULL;
            CHECK(d || strstr(err.text, "out of memory"));
            data_free(d);
            CHECK(k < 1000);
        }
    }
    forget("text");
}

static void own_files(void)
{
    char path[32];
    snprintf(path, sizeof path, "part-%d", rank);
    FILE *to = fopen(path, "w");
    for (int i = 0; i < rank * 5; i++) /* rank 0 has none unless it is alone */
        fprintf(to, "%d 1:1 %d:%s\n", rank, rank + 2, rank == 1 ? "0.5" : "1");
    if (size == 1)
        fprintf(to, "0 1:1\n");
    CHECK(fclose(to) == 0);
    bda_error err = {0};
    data *d = load(c, "part-{rank}", 2 * (uint64_t)size, 1, &err);
    CHECK(d);
    uint64_t all = size == 1 ? 1 : 5 * (uint64_t)size * ((uint64_t)size - 1) / 2;
    CHECK(d->instances == all && d->rows.count == (size == 1 ? 1 : 5 * (uint64_t)rank));
    CHECK(d->features == (size == 1 ? 1 : (uint64_t)size + 1));
    CHECK(d->rows.form == (size == 1 ? ROWS_ONES : ROWS_FLOAT));
    CHECK(d->local_blocks == 2 && d->block_start[1] == d->rows.count / 2 && d->block_start[2] == d->rows.count);
    CHECK(d->labels.count == (uint64_t)(size == 1 ? 1 : size - 1));
    CHECK(d->first_instance == (size == 1 ? 0 : 5 * (uint64_t)rank * ((uint64_t)rank - 1) / 2));
    data_free(d);
    if (size > 1) {
        CHECK(!load(c, "part-{rank}", (uint64_t)size - 1, 1, &err) && err.status == BDA_USAGE);
        err = (bda_error){0};
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == size - 1)
            CHECK(unlink(path) == 0);
        CHECK(!load(c, "part-{rank}", (uint64_t)size, 1, &err));
        char expected[100];
        snprintf(expected, sizeof expected, "part-%d: cannot be opened: No such file or directory", size - 1);
        CHECK(strcmp(err.text, expected) == 0);
    }
    unlink(path);
}

/* Files of different formats and forms: text where the rank is even, binary where it is odd, ones, constant, float
 * and double in turn. The form is the largest that is needed, and values survive. */
static void own_files_of_all_kinds(void)
{
    static const char *const texts[] = {"1 1:1 3:1\n2\n", "1 2:0.1 3:0.1\n2 1:3\n3\n", "1 1:0.5 2:2\n",
                                        "1 1:0.1 2:0.2\n"};
    static const double sums[] = {2, 0.1 + 0.1 + 3, 2.5, 0.1 + 0.2};
    char path[32];
    bda_error err = {0};
    snprintf(path, sizeof path, "kind-%d", rank);
    FILE *to = fopen(path, "w");
    CHECK(to && fputs(texts[rank % 4], to) >= 0 && fclose(to) == 0);
    if (rank % 2 == 1) {
        data *own = load(single, path, 1, 1, &err);
        CHECK(own && data_write(single, own, path, false, false, &err));
        data_free(own);
    }
    data *d = load(c, "kind-{rank}", (uint64_t)size, 1, &err);
    CHECK(d);
    const rows *r = &d->rows;
    CHECK(r->form == (size == 1 ? ROWS_ONES : size == 2 ? ROWS_CONSTANT : ROWS_DOUBLE));
    double sum = 0;
    for (uint64_t i = 0; i < r->count; i++)
        for (uint64_t k = r->start[i]; k < r->start[i + 1]; k++)
            sum += r->form == ROWS_ONES ? 1 : r->form == ROWS_CONSTANT ? r->value[i] : r->value[k];
    CHECK(sum == sums[rank % 4]);
    CHECK(data_write(c, d, "together", false, false, &err));
    data *all = load(single, "together", 1, 1, &err);
    CHECK(all && all->instances == d->instances && all->rows.form == r->form);
    for (uint64_t i = 0; i < r->count; i++)
        CHECK(same_cells(d, i, all, d->first_instance + i));
    data_free(all);
    data_free(d);
    forget("together");
    CHECK(unlink(path) == 0);
}

static void rows_from_memory(void)
{
    uint64_t count = (uint64_t)rank, start[] = {0, 1, 2, 3, 4, 5};
    uint32_t column[] = {0, 1, 2, 3, 4};
    double label[] = {1, 2, 3, 4, 5}, value[] = {1, 1, 1, 1, 0.1};
    bda_error err = {0};
    data *d = data_copy(c, (uint64_t)size, count, start, column, value, label, &err);
    if (size == 1) {
        CHECK(!d && err.status == BDA_FAILED);
        return;
    }
    CHECK(d && d->instances == (uint64_t)size * ((uint64_t)size - 1) / 2 && d->rows.count == count);
    CHECK(d->features == (uint64_t)size - 1 && d->labels.count == (uint64_t)size - 1 && d->rows.form == ROWS_ONES);
    data_free(d);
}

/* Rank r brings "r0" up to "r<r>" and the name "" that all ranks have; without any of its own on rank 0. */
static void labels_may_be_names(void)
{
    char name[6][8] = {""};
    const char *label[6];
    uint64_t count = rank == 0 ? 1 : 1 + (uint64_t)rank % 5, start[] = {0, 1, 2, 3, 4, 5, 6}, together = 1;
    uint32_t column[] = {0, 0, 0, 0, 0, 0};
    bda_error err = {0};
    for (uint64_t i = 0; i < 6; i++) {
        if (i > 0)
            snprintf(name[i], sizeof name[i], "%d-%d", rank, (int)i);
        label[i] = name[i];
    }
    for (int r = 1; r < size; r++)
        together += (uint64_t)r % 5;
    data *d = data_copy_named(c, (uint64_t)size, count, start, column, NULL, label, &err);
    CHECK(d && !d->target.real && !d->labels.number && d->labels.count == together);
    for (uint64_t k = 1; k < d->labels.count; k++)
        CHECK(strcmp(d->labels.name[k - 1], d->labels.name[k]) < 0);
    for (uint64_t i = 0; i < count; i++)
        CHECK(strcmp(d->labels.name[d->target.class[i]], name[i]) == 0);
    CHECK(!data_write(c, d, "named", true, false, &err) && strstr(err.text, "names"));
    data_free(d);
}

int main(void)
{
    bda_error err = {0};
    c = bda_comm_launch(&err);
    single = bda_comm_single(&err);
    CHECK(c && single);
    rank = bda_comm_rank(c);
    size = bda_comm_size(c);
    char home[] = "/tmp/bda-test-data-XXXXXX";
    if (rank == 0)
        CHECK(mkdtemp(home));
    comm_broadcast(c, 0, home, sizeof home);
    CHECK(chdir(home) == 0);
    for (shape s = 0; s < SHAPES; s++)
        every_format(s);
    several_files(SHORT_FIRST);
    several_files(FEW);
    several_binary_files();
    tables();
    errors_reach_all();
    memory_may_run_out_somewhere();
    own_files();
    own_files_of_all_kinds();
    rows_from_memory();
    labels_may_be_names();
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(chdir("/") == 0);
    if (rank == 0)
        CHECK(rmdir(home) == 0);
    bda_comm_free(single);
    bda_comm_free(c);
    return 0;
}
