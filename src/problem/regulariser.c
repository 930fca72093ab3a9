/* regulariser.c - the squared norm: g(w) = w'w/2, g*(v) = v'v/2, w = v. */
#include "problem/regulariser.h"

#include <string.h>

#include "base/vector.h"

static double squared_norm_value(const double *w, uint64_t n, int threads)
{
    return 0.5 * vec_dot(w, w, n, threads);
}

static void squared_norm_gradient(double *w, const double *v, uint64_t n, int threads)
{
    (void)threads;
    if (w != v)
        memcpy(w, v, n * sizeof *w);
}

const regulariser squared_norm = {
    .name = "squared-norm",
    .identity = true,
    .value = squared_norm_value,
    .conjugate = squared_norm_value, /* its own conjugate */
    .gradient = squared_norm_gradient,
};
