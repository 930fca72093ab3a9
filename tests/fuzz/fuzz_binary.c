/* fuzz_binary.c - binary data with random changes, half of them with checksums made right again: it is refused with a
 * sentence, or what was loaded keeps every promise that loops rely on. usage: fuzz_binary [SEED [CASES]] */
#include "base/random.h"
#include "data/binary.h"
#include "unit/data_support.h"

#include <math.h>
#include <xxhash.h>

static const char *const texts[] = {
    "1\n-1 1:1 5:1\n1 2:1\n-1\n",
    "1\n-1 1:0.1 5:0.1\n1 2:1\n3 1:2\n-1\n",
    "1\n-1 1:0.5 5:2\n1 2:-1\n-1\n",
    "1\n-1 1:0.1 5:2\n1 2:-1e-300 3:4\n-1\n",
};

static void forge(char *bytes, size_t size)
{
    binary_header h;
    binary_layout layout;
    memcpy(&h, bytes, sizeof h);
    h.size = size;
    if (h.form <= ROWS_DOUBLE && binary_lay_out((rows_form)h.form, h.instances, h.nonzeros, &layout) &&
        layout.size == size && layout.blocks == 1) {
        uint64_t sum = XXH3_64bits(bytes + BINARY_HEADER, layout.checksum - BINARY_HEADER);
        memcpy(bytes + layout.checksum, &sum, 8);
        sum = XXH3_64bits(bytes + layout.checksum, 8);
        memcpy(bytes + layout.checksum + 8, &sum, 8);
    }
    h.checksum = XXH3_64bits(&h, offsetof(binary_header, checksum));
    memcpy(bytes, &h, sizeof h);
}

static void mutate(rng *r, char *bytes, size_t size)
{
    for (uint32_t changes = 1 + rng_below(r, 3); changes > 0; changes--) {
        uint32_t at = rng_below(r, (uint32_t)size - 8), kind = rng_below(r, 5);
        uint64_t number;
        if (rng_below(r, 2)) /* where the header's and the sections' numbers are */
            at = at / 4 * 4;
        memcpy(&number, bytes + at, 8);
        if (kind == 0)
            bytes[at] ^= (char)(1 << rng_below(r, 8));
        number = kind == 1   ? rng_below(r, 8)
                 : kind == 2 ? UINT64_MAX - rng_below(r, 3)
                             : number + rng_below(r, 3) - 1;
        if (kind > 0)
            memcpy(bytes + at, &number, kind == 3 ? 4 : 8);
    }
}

static bool sound(const data *d)
{
    const rows *r = &d->rows;
    for (uint64_t i = 0; i < r->count; i++) {
        if (!isfinite(d->label[i]) || r->start[i] > r->start[i + 1])
            return false;
        for (uint64_t k = r->start[i]; k < r->start[i + 1]; k++)
            if (support_column(r, k) >= d->features || !isfinite(support_value(r, i, k)) ||
                (k > r->start[i] && support_column(r, k) <= support_column(r, k - 1)))
                return false;
    }
    return r->start[r->count] - r->start[0] == d->nonzeros && r->count == d->instances;
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1,
             cases = argc > 2 ? strtoull(argv[2], NULL, 10) : 40000;
    bda_error err = {0};
    bda_comm *alone = bda_comm_single(&err);
    uint64_t accepted = 0;
    if (!alone || support_open(NULL) != 0)
        return 1;
    char *original[4];
    size_t sizes[4];
    for (int form = 0; form < 4; form++) {
        support_write("d", texts[form], strlen(texts[form]));
        data *d = support_read(alone, "d", 1, 1, &err);
        if (!d || !data_write(alone, d, "d", false, false, &err))
            return 1;
        original[form] = support_load("d", &sizes[form]);
        data_free(d);
    }
    for (uint64_t i = 0; i < cases; i++) {
        size_t size = sizes[i % 4];
        char *bytes = malloc(size);
        if (!bytes)
            return 1;
        memcpy(bytes, original[i % 4], size);
        rng r;
        rng_open(&r, seed, i, 0);
        mutate(&r, bytes, size);
        if (rng_below(&r, 4) == 0)
            size -= rng_below(&r, (uint32_t)size);
        if (rng_below(&r, 2) && size > BINARY_HEADER)
            forge(bytes, size);
        support_write("d", bytes, size);
        free(bytes);
        err = (bda_error){0};
        data *d = support_read(alone, "d", 1, 1, &err);
        if (d ? !sound(d) : strncmp(err.text, "d", 1) != 0) {
            fprintf(stderr, "seed %llu, case %llu: %s\n", (unsigned long long)seed, (unsigned long long)i, err.text);
            return 1;
        }
        accepted += d != NULL;
        data_free(d);
    }
    for (int form = 0; form < 4; form++)
        free(original[form]);
    unlink("d");
    bda_comm_free(alone);
    printf("%llu cases, %llu accepted\n", (unsigned long long)cases, (unsigned long long)accepted);
    return support_close(NULL) == 0 && accepted > cases / 100 && accepted < cases ? 0 : 1;
}
