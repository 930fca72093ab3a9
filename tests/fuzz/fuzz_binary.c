/* fuzz_binary.c - binary data with random changes, half of them with checksums made right again: it is refused with a
 * sentence, or what was loaded keeps every promise that loops rely on. usage: fuzz_binary [SEED [CASES]] */
#include "fuzz/forge.h"
#include "fuzz/fuzz_data.h"

static const char *const texts[] = {
    "1\n-1 1:1 5:1\n1 2:1\n-1\n",
    "1\n-1 1:0.1 5:0.1\n1 2:1\n3 1:2\n-1\n",
    "1\n-1 1:0.5 5:2\n1 2:-1\n-1\n",
    "1\n-1 1:0.1 5:2\n1 2:-1e-300 3:4\n-1\n",
};

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

static char *original[4];
static size_t sizes[4];

static bool one_case(rng *r, uint64_t i, bool *accepted)
{
    size_t size = sizes[i % 4];
    char *bytes = malloc(size);
    if (!bytes)
        return false;
    memcpy(bytes, original[i % 4], size);
    mutate(r, bytes, size);
    if (rng_below(r, 4) == 0)
        size -= rng_below(r, (uint32_t)size);
    if (rng_below(r, 2) && size > BINARY_HEADER)
        forge_binary(bytes, size);
    support_write("d", bytes, size);
    free(bytes);
    bda_error err = {0};
    data *d = support_read(alone, "d", 1, 1, &err);
    bool right = d ? forge_sound(d) : strncmp(err.text, "d", 1) == 0;
    if (!right)
        fprintf(stderr, "%s\n", d ? "what was read breaks a promise" : err.text);
    *accepted = d != NULL;
    data_free(d);
    return right;
}

int main(int argc, char **argv)
{
    bda_error err = {0};
    if (support_open(NULL) != 0)
        return 1;
    for (int form = 0; form < 4; form++) {
        support_write("d", texts[form], strlen(texts[form]));
        data *d = support_read(alone, "d", 1, 1, &err);
        if (!d || !data_write(alone, d, "d", false, false, &err))
            return 1;
        original[form] = support_load("d", &sizes[form]);
        data_free(d);
    }
    int status = fuzz_run(argc, argv, 40000, 100, one_case);
    for (int form = 0; form < 4; form++)
        free(original[form]);
    unlink("d");
    return support_close(NULL) == 0 ? status : 1;
}
