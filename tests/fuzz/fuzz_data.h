/* fuzz_data.h - the loop of the programs that feed readers of data with changed files. */
#ifndef FUZZ_DATA_H
#define FUZZ_DATA_H

#include "base/random.h"
#include "unit/data_support.h"

/* Makes case i with its random numbers and reads it. Returns whether the reader did right; what it says about a case
 * that it did not goes to stderr. accepted: whether the file was read. */
typedef bool fuzz_case(rng *random, uint64_t i, bool *accepted);

/* main: program [SEED [CASES]]. Of the cases, more than one in `rarest` must be accepted, and not all. */
static inline int fuzz_run(int argc, char **argv, uint64_t cases, uint64_t rarest, fuzz_case *one)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, accepted = 0;
    if (argc > 2)
        cases = strtoull(argv[2], NULL, 10);
    for (uint64_t i = 0; i < cases; i++) {
        rng random;
        bool read = false;
        rng_open(&random, seed, i, 0);
        if (!one(&random, i, &read)) {
            fprintf(stderr, "seed %llu, case %llu\n", (unsigned long long)seed, (unsigned long long)i);
            return 1;
        }
        accepted += read;
    }
    printf("%llu cases, %llu accepted\n", (unsigned long long)cases, (unsigned long long)accepted);
    return accepted > cases / rarest && accepted < cases ? 0 : 1;
}

#endif
