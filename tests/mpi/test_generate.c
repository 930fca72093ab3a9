/* test_generate.c - the ranks generate together what one rank generates alone, byte for byte, as text and as binary.
 */
#include "data/data.h"
#include "mpi/check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *read_whole(const char *path, long *size)
{
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    CHECK(fseek(file, 0, SEEK_END) == 0);
    *size = ftell(file);
    CHECK(*size > 0);
    rewind(file);
    char *bytes = malloc((size_t)*size);
    CHECK(bytes && fread(bytes, 1, (size_t)*size, file) == (size_t)*size);
    fclose(file);
    return bytes;
}

static bool same_files(const char *one, const char *other)
{
    long size[2];
    char *bytes[2] = {read_whole(one, &size[0]), read_whole(other, &size[1])};
    bool same = size[0] == size[1] && memcmp(bytes[0], bytes[1], (size_t)size[0]) == 0;
    free(bytes[0]);
    free(bytes[1]);
    return same;
}

static void compare(bda_comm *c, bda_comm *single, const data_shape *shape, double scale, bool text)
{
    bda_error err = {0};
    CHECK(data_generate(c, shape, scale, 11, "together", text, &err));
    if (bda_comm_rank(c) == 0) {
        CHECK(data_generate(single, shape, scale, 11, "alone", text, &err));
        CHECK(same_files("together", "alone"));
        CHECK(unlink("together") == 0 && unlink("alone") == 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 0 alone knows that it cannot write; all hear of it. */
static void hopeless_path(bda_comm *c)
{
    bda_error err = {0};
    CHECK(!data_generate(c, data_shapes, 1e-5, 1, "no/such/directory/x", true, &err));
    CHECK(err.status == BDA_FAILED && strstr(err.text, "no/such/directory") != NULL);
}

int main(void)
{
    bda_error err = {0};
    bda_comm *c = bda_comm_launch(&err), *single = bda_comm_single(&err);
    char home[] = "/tmp/bda-test-generate-XXXXXX";
    if (!c || !single) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    if (bda_comm_rank(c) == 0)
        CHECK(mkdtemp(home) && chdir(home) == 0);
    for (const data_shape *shape = data_shapes; shape->name; shape++)
        for (int text = 0; text <= 1; text++) {
            /* Some turns of all ranks, the last one short; and fewer rows than ranks. */
            if (shape->nonzeros_per_row < 200)
                compare(c, single, shape, 1.5e6 / ((double)shape->instances * shape->nonzeros_per_row), text);
            compare(c, single, shape, 1e-12, text);
        }
    hopeless_path(c);
    if (bda_comm_rank(c) == 0)
        CHECK(chdir("/") == 0 && rmdir(home) == 0);
    bda_comm_free(single);
    bda_comm_free(c);
    return 0;
}
