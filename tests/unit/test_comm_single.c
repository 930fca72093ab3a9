/* test_comm_single.c - a communicator without MPI, and how blocks are shared out. */
#include "base/memory.h"
#include "comm/comm.h"
#include "unit/cmocka_all.h"

#include <math.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static void blocks_are_shared_out_in_order(void **state)
{
    (void)state;
    static const uint64_t blocks[] = {0, 1, 2, 5, 6, 7, 16, 1000003, UINT32_MAX, UINT64_MAX};
    static const int sizes[] = {1, 2, 3, 5, 64, 100000, INT32_MAX};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        for (size_t j = 0; j < sizeof sizes / sizeof sizes[0]; j++) {
            int size = sizes[j];
            assert_int_equal(comm_first_block(blocks[i], 0, size), 0);
            assert_true(comm_first_block(blocks[i], size, size) == blocks[i]);
            for (int64_t r = 0; r <= size; r += size > 1000 ? size / 997 : 1) {
                unsigned __int128 exact = (unsigned __int128)blocks[i] * (uint64_t)r / (uint64_t)size;
                assert_true(comm_first_block(blocks[i], (int)r, size) == (uint64_t)exact);
            }
        }
}

static void one_rank_needs_no_launcher(void **state)
{
    (void)state;
    static const char *const names[] = {
        "OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE", "PMI_FD", "PMI_PORT"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unsetenv(names[i]);
    bda_error err = {0};
    bda_comm *c = bda_comm_launch(&err);
    assert_non_null(c);
    assert_int_equal(bda_comm_rank(c), 0);
    assert_int_equal(bda_comm_size(c), 1);
    int started = 1;
    MPI_Initialized(&started);
    assert_false(started);
    bda_comm_free(c);
    bda_comm_free(NULL);
    MPI_Comm world = MPI_COMM_WORLD;
    assert_null(bda_comm_mpi(&world, &err));
    assert_non_null(strstr(err.text, "MPI_Init"));
}

static void every_operation_works_alone(void **state)
{
    (void)state;
    bda_error err = {0};
    bda_comm *c = bda_comm_single(&err);
    assert_true(bda_comm_agree(c, true, &err));
    assert_false(bda_comm_agree(c, false, &err));
    assert_string_equal(err.text, "rank 0 failed and did not say why");
    err_clear(&err);
    err_set(&err, BDA_USAGE, "my sentence");
    assert_false(comm_agree(c, false, &err));
    assert_string_equal(err.text, "my sentence");
    assert_int_equal(err.status, BDA_USAGE);

    double part[2][3] = {{1, -2, 0.1}, {2, 5, 0.2}}, sum[3], all[6];
    const double *parts[] = {part[0], part[1]};
    comm_sum_vectors(c, 2, 5, parts, 2, 3, sum, 1);
    assert_true(sum[0] == 3 && sum[1] == 3 && fabs(sum[2] - 0.3) < 1e-15);
    comm_gather_blocks(c, 2, part[0], 3, all);
    assert_memory_equal(all, part, sizeof all);
    uint64_t counts[] = {7, UINT64_MAX}, each;
    comm_sum_counts(c, counts, 2);
    assert_true(counts[0] == 7 && counts[1] == UINT64_MAX);
    assert_int_equal(comm_count_before(c, 9), 0);
    comm_gather_counts(c, 9, &each);
    assert_int_equal(each, 9);
    double reals[] = {-1, -0.0, 5e-324, -INFINITY, NAN};
    comm_max_reals(c, reals, 5);
    assert_true(reals[0] == -1 && reals[1] == 0 && reals[2] == 5e-324 && reals[3] == -INFINITY && isnan(reals[4]));
    assert_int_equal(comm_said(c)->vectors, 1);
    bda_comm_free(c);
}

static void no_memory_no_communicator(void **state)
{
    (void)state;
    for (uint64_t k = 1; k <= 4; k++) {
        bda_error err = {0};
        mem_fail_at(k);
        bda_comm *c = bda_comm_single(&err);
        mem_fail_at(0);
        assert_int_equal(c != NULL, k > 3);
        assert_int_equal(err.status != BDA_OK, k <= 3);
        bda_comm_free(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_shared_out_in_order), cmocka_unit_test(one_rank_needs_no_launcher),
        cmocka_unit_test(every_operation_works_alone), cmocka_unit_test(no_memory_no_communicator)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
