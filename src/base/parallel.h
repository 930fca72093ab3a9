/* parallel.h - loops that the threads of a rank share.
 *
 *     FOR_BLOCKS(k, count, threads)     k = 0 .. count - 1, handed out one by one: few, and of different lengths
 *     FOR_NUMBERS(j, count, threads)    j = 0 .. count - 1 in equal parts: many that take the same time
 *
 * With one thread they are plain loops. The results must not depend on which thread does what. */
#ifndef BASE_PARALLEL_H
#define BASE_PARALLEL_H

#include <stdint.h>

#define PARALLEL_PRAGMA(text) _Pragma(#text)

#define FOR_BLOCKS(k, count, threads)                                                                                \
    PARALLEL_PRAGMA(omp parallel for schedule(dynamic, 1) num_threads(threads) if ((threads) > 1))                   \
    for (uint64_t k = 0; k < (count); k++)

#define FOR_NUMBERS(j, count, threads)                                                                               \
    PARALLEL_PRAGMA(omp parallel for schedule(static) num_threads(threads) if ((threads) > 1))                       \
    for (uint64_t j = 0; j < (count); j++)

#endif
