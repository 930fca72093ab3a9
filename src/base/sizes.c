/* sizes.c - see sizes.h. */
#include "base/sizes.h"

#define USUAL                                                                                                        \
    {                                                                                                                \
        .far_weights = (uint64_t)1 << 18, .farther_weights = (uint64_t)1 << 22, .unordered_shared = 512,             \
        .timed_weights = 65536, .shared_cells = 60000                                                                \
    }

sizes base_sizes = USUAL;

void sizes_shrink(bool small)
{
    base_sizes = small ? (sizes){1, 1, 1, 1, 1} : (sizes)USUAL;
}
