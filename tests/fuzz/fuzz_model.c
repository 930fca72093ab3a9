/* fuzz_model.c - model files that were changed at random, their checksums made right again: the reader must refuse
 * them or come back with a model that makes sense. usage: fuzz_model SEED [CASES] */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/random.h"
#include "bda.h"
#include "fuzz/forge.h"
#include "run/model.h"

#define MOST 4096
#define BASES 40 /* models that the cases are made from */

static bool write_bytes(const char *path, const unsigned char *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    bool ok = file && fwrite(bytes, 1, count, file) == count;
    return file && fclose(file) == 0 && ok;
}

static size_t make_model(const char *path, rng *random, unsigned char bytes[MOST])
{
    static const char *const names[] = {"hinge", "logistic", "squared-error"};
    bda_error err = {0};
    uint64_t features = 1 + rng_below(random, 60);
    const loss *l = loss_find(names[rng_below(random, 3)]);
    uint64_t classes = l->regression ? 0 : 2 + rng_below(random, 2) * rng_below(random, 4);
    double label[8];
    for (uint64_t k = 0; k < classes; k++)
        label[k] = classes == 2 ? 1 - (double)k : (double)k - 1.5;
    const label_table labels = {.count = classes, .number = label};
    const model_shape shape = {
        .features = features, .outputs = classes > 2 ? classes : 1, .bias = rng_below(random, 2) ? 1 : -1};
    bda_model *m = model_new(&shape, &labels, &err);
    if (!m)
        return 0;
    m->task = model_task(l->regression ? "regress" : "classify");
    m->loss = l;
    m->record.method = "bda";
    m->record.cost = 1;
    m->record.primal = 10;
    m->record.relative_gap = 1e-3;
    uint32_t dense = rng_below(random, 2);
    for (uint64_t j = 0; j < m->n; j++)
        m->w[j] = dense || rng_below(random, 10) == 0 ? rng_normal(random) : 0;
    bool ok = bda_model_write(m, path, &err);
    bda_model_free(m);
    FILE *file = ok ? fopen(path, "rb") : NULL;
    size_t count = file ? fread(bytes, 1, MOST, file) : 0;
    if (file)
        fclose(file);
    return count;
}

/* Bytes, words of 8 with telling values, and sometimes the length. */
static size_t change(rng *random, unsigned char *bytes, size_t count)
{
    static const uint64_t telling[] = {0,
                                       1,
                                       2,
                                       0x7ff0000000000000u,
                                       0x7ff8000000000000u,
                                       0x8000000000000000u,
                                       UINT64_MAX,
                                       UINT32_MAX,
                                       (uint64_t)UINT32_MAX + 1,
                                       INT64_MAX,
                                       40};
    for (uint32_t k = 0, changes = 1 + rng_below(random, 3); k < changes; k++) {
        uint32_t at = rng_below(random, (uint32_t)(count - 8));
        if (rng_below(random, 2)) {
            bytes[at] = (unsigned char)rng_u32(random);
        } else {
            uint64_t word = telling[rng_below(random, sizeof telling / sizeof *telling)];
            memcpy(bytes + at / 8 * 8, &word, sizeof word);
        }
    }
    if (rng_below(random, 8) == 0)
        count = 8 + rng_below(random, (uint32_t)count - 7);
    forge_sections(bytes, count);
    return count;
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1,
             cases = argc > 2 ? strtoull(argv[2], NULL, 10) : 20000;
    uint64_t accepted = 0, senseless = 0, silent = 0;
    char path[64], disk[] = "/tmp/bda-fuzz-model-XXXXXX";
    int fd = mkstemp(disk), memory = memfd_create("model", 0); /* cases never see a disk */
    if (fd < 0 || memory < 0)
        return 1;
    close(fd);
    snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
    static unsigned char base[BASES][MOST];
    size_t size[BASES];
    for (uint64_t k = 0; k < BASES; k++) {
        rng random;
        rng_open(&random, seed, 0, k);
        size[k] = make_model(disk, &random, base[k]);
        if (size[k] < 100 || size[k] == MOST)
            return 1;
    }
    for (uint64_t i = 0; i < cases; i++) {
        rng random;
        unsigned char bytes[MOST];
        rng_open(&random, seed, i + 1, 0);
        memcpy(bytes, base[i % BASES], size[i % BASES]);
        if (!write_bytes(path, bytes, change(&random, bytes, size[i % BASES])))
            return 1;
        bda_error err = {0};
        bda_model *m = bda_model_read(path, &err);
        accepted += m != NULL;
        senseless += m && !forge_makes_sense(m);
        silent += !m && (err.status != BDA_FAILED || (!strstr(err.text, path) && !strstr(err.text, "memory")));
        bda_model_free(m);
    }
    unlink(disk);
    printf("%" PRIu64 " cases, %" PRIu64 " accepted, %" PRIu64 " of them senseless, %" PRIu64
           " refused without a word\n",
           cases, accepted, senseless, silent);
    return senseless || silent || accepted == 0 || accepted == cases;
}
