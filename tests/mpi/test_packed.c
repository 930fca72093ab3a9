/* test_packed.c - vectors in messages of half and a third the size: as far off as comm_sum_packed says and no further,
 * the same bits on any number of ranks, the bytes that were promised; and trainings that use them end with a
 * certificate that holds, as another training with whole messages shows. */
#include "base/memory.h"
#include "base/random.h"
#include "bda.h"
#include "comm/comm.h"
#include "comm/operations.h"
#include "mpi/check.h"
#include "problem/problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BLOCKS 16

static bda_comm *c, *single;
static int rank, size;

/* Columns in falling magnitude with some zeros, as those of text are. */
static double number(rng *r, uint64_t j)
{
    const double u = rng_uniform(r) - 0.5;
    return rng_below(r, 4) == 0 ? 0 : u * ldexp(1, -(int)(j / 700));
}

static void check_sum(int fields, uint64_t blocks, uint64_t n, int threads)
{
    double *data = malloc((blocks + 2) * (n + 1) * sizeof *data), *sum = data + blocks * n, *expected = sum + n;
    const double *part[MOST_BLOCKS];
    double largest = 0;
    for (uint64_t b = 0; b < blocks; b++) {
        rng r;
        rng_open(&r, 1, n, b);
        for (uint64_t j = 0; j < n; j++) {
            data[b * n + j] = number(&r, j);
            largest = fmax(largest, fabs(data[b * n + j]));
        }
        part[b] = data + b * n;
    }
    const uint64_t first = comm_first_block(blocks, rank, size);
    const int parts = (int)(comm_first_block(blocks, rank + 1, size) - first);
    const double said = comm_sum_packed(single, fields, blocks, largest, part, (int)blocks, n, expected, 1);
    const comm_stats before = *comm_said(c);
    const double off = comm_sum_packed(c, fields, blocks, largest, part + first, parts, n, sum, threads);
    CHECK(off == said && memcmp(sum, expected, n * sizeof *sum) == 0);
    CHECK(comm_said(c)->vectors == before.vectors + 1);
    if (n > 50000 && blocks > 1) /* a few words more for the units, and for what fills the last chunk */
        CHECK((double)(comm_said(c)->bytes - before.bytes) < 8.0 * (double)n / fields * 1.03);
    double most = 0, mean = 0;
    for (uint64_t j = 0; j < n; j++) {
        double exact = 0;
        for (uint64_t b = 0; b < blocks; b++)
            exact += part[b][j];
        most = fmax(most, fabs(sum[j] - exact));
        mean += fabs(sum[j] - exact) / (double)n;
    }
    const double rounding = 1e-15 * (double)blocks * largest;
    CHECK(most <= off + rounding);
    if (blocks > 1 && n > 0) { /* neither more than it should be, nor none at all */
        CHECK(off <= (double)blocks * (double)blocks * largest * (fields == 3 ? 0x1p-19 : fields == 2 ? 0x1p-30 : 0));
        CHECK(fields == 1 || n < 10 || mean > 1e-3 * off / (double)blocks || n > 5000);
    }
    double *last = parts > 0 ? data + (first + (uint64_t)parts - 1) * n : sum; /* in place of a part */
    comm_sum_packed(c, fields, blocks, largest, part + first, parts, n, last, threads);
    CHECK(memcmp(last, expected, n * sizeof *sum) == 0);
    free(data);
}

static void test_sums(void)
{
    static const uint64_t blocks[] = {1, 2, 5, 16}, lengths[] = {0, 1, 1023, 1025, 3073, 140001, 500000};
    for (int fields = 1; fields <= COMM_MOST_PACKED; fields++)
        for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
            for (size_t j = 0; j < sizeof lengths / sizeof *lengths; j++)
                if (lengths[j] < 400000 || blocks[i] == 2)
                    check_sum(fields, blocks[i], lengths[j], 1 + (int)(i + j) % 2);
    comm_test_limit(13);
    check_sum(3, 5, 3073, 1);
    comm_test_limit(0);
}

/* All blocks at their largest, with both signs: the fields must not run into each other. */
static void test_extremes(void)
{
    enum { N = 5000 };
    static double same[N], sum[N];
    const double *part[MOST_BLOCKS];
    for (uint64_t j = 0; j < N; j++)
        same[j] = j % 3 == 0 ? -0x1.fffffffffffffp0 : 0x1.fffffffffffffp0;
    for (int b = 0; b < MOST_BLOCKS; b++)
        part[b] = same;
    const uint64_t first = comm_first_block(MOST_BLOCKS, rank, size);
    const int parts = (int)(comm_first_block(MOST_BLOCKS, rank + 1, size) - first);
    for (int fields = 2; fields <= COMM_MOST_PACKED; fields++) {
        const double off =
            comm_sum_packed(c, fields, MOST_BLOCKS, 0x1.fffffffffffffp0, part + first, parts, N, sum, 1);
        for (uint64_t j = 0; j < N; j++)
            CHECK(fabs(sum[j] - MOST_BLOCKS * same[j]) <= off);
        comm_sum_packed(c, fields, MOST_BLOCKS, 0, part + first, parts, N, sum, 1);
        CHECK(sum[0] == 0 && sum[N - 1] == 0);
        comm_sum_packed(c, fields, MOST_BLOCKS, (double)NAN, part + first, parts, N, sum, 1);
        CHECK(isnan(sum[0]) && isnan(sum[N - 1]));
    }
}

/* So many that their roundings could fill a field: the sum is exact, and no rank has said otherwise. */
static void test_very_many_blocks(void)
{
    enum { MANY = (1 << 16) + 1 };
    static const double *part[MANY];
    static const double one[] = {1, -1, 0x1p-30};
    double sum[3];
    for (int b = 0; b < MANY; b++)
        part[b] = one;
    const int parts = (int)(comm_first_block(MANY, rank + 1, size) - comm_first_block(MANY, rank, size));
    CHECK(comm_sum_packed(c, 3, MANY, 1, part, parts, 3, sum, 1) == 0);
    for (int j = 0; j < 3; j++)
        CHECK(sum[j] == MANY * one[j]);
}

/* ---- trainings ------------------------------------------------------------------------------------------------ */

#define ROWS 240
#define CELLS 8
#define COLUMNS 700

typedef struct trained {
    bda_outcome outcome;
    void *bytes;
    size_t count;
} trained;

static trained train(bda_comm *on, const char *method, const char *loss, const char *gap)
{
    static uint64_t start[ROWS + 1];
    static uint32_t column[ROWS * CELLS];
    static double value[ROWS * CELLS], label[ROWS];
    bda_error err = {0};
    const int me = bda_comm_rank(on), all = bda_comm_size(on);
    const uint64_t blocks = 5, begin = comm_first_block(blocks, me, all) * (ROWS / blocks);
    const uint64_t end = comm_first_block(blocks, me + 1, all) * (ROWS / blocks);
    uint64_t cells = 0;
    for (uint64_t i = begin; i < end; i++) {
        rng r;
        rng_open(&r, 7, i, 0);
        for (uint64_t k = 0; k < CELLS; k++, cells++) {
            column[cells] = (uint32_t)(k * (COLUMNS / CELLS) + rng_below(&r, COLUMNS / CELLS) / (1 + k));
            value[cells] = rng_uniform(&r) + 0.1;
        }
        label[i - begin] = rng_below(&r, 3) == 0 || i % 2 ? 1 : -1;
        start[i - begin + 1] = cells;
    }
    bda_settings *s = bda_settings_new("train", &err);
    CHECK(s && bda_set(s, "method", method, &err) && bda_set(s, "loss", loss, &err) && bda_set(s, "gap", gap, &err) &&
          bda_set(s, "blocks", "5", &err) && bda_set(s, "max-rounds", "4000", &err));
    bda_data *d = bda_data_rows(on, s, end - begin, start, column, value, label, &err);
    trained t = {.outcome = {.size = sizeof t.outcome}};
    bda_model *m = d ? bda_train(on, d, s, NULL, &t.outcome, &err) : NULL;
    if (!m)
        fprintf(stderr, "%s %s: %s\n", method, loss, err.text);
    CHECK(m && bda_model_pack(m, &t.bytes, &t.count, &err));
    bda_model_free(m);
    bda_data_free(d);
    bda_settings_free(s);
    return t;
}

/* -dual of the one bounds P of the other from below. */
static void check_training(const char *method, const char *loss, const char *gap, double best)
{
    const trained mine = train(c, method, loss, gap), alone = train(single, method, loss, gap);
    const bda_progress *last = &mine.outcome.last;
    CHECK(mine.outcome.complete && mine.outcome.repaired == 0);
    CHECK(mine.count == alone.count && memcmp(mine.bytes, alone.bytes, mine.count) == 0);
    CHECK(-last->dual <= best * (1 + 1e-9) && last->primal >= best * (1 - 2e-9));
    CHECK(last->primal + last->dual <= atof(gap) * last->primal * (1 + 1e-9));
    free(mine.bytes);
    free(alone.bytes);
}

static void test_trainings(void)
{
    static const char *const losses[] = {"squared-hinge", "logistic", "hinge"};
    static const char *const methods[] = {"tron", "l-commdir", "lbfgs", "hull", "bda", "disdca"};
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
        problem_test_packed(0);
        const trained whole = train(single, "hull", losses[i], "1e-9");
        free(whole.bytes);
        problem_test_packed(1);
        for (size_t k = i == 2 ? 3 : 0; k < sizeof methods / sizeof *methods; k++) {
            check_training(methods[k], losses[i], "1e-3", whole.outcome.last.primal);
            if (k < 4)
                check_training(methods[k], losses[i], "1e-6", whole.outcome.last.primal);
        }
    }
    problem_test_packed(0);
}

int main(int argc, char **argv)
{
    bda_error err = {0};
    MPI_Init(&argc, &argv);
    CHECK((c = bda_comm_mpi(&(MPI_Comm){MPI_COMM_WORLD}, &err)) && (single = bda_comm_single(&err)));
    rank = bda_comm_rank(c), size = bda_comm_size(c);
    test_sums();
    test_extremes();
    test_very_many_blocks();
    test_trainings();
    bda_comm_free(single);
    bda_comm_free(c);
    MPI_Finalize();
    return 0;
}
