/* calibrate.c - how fast a machine is at what training does: the dot product of a sparse row with weights, exponentials,
 * messages. Each is the best of a few trials: others may use the machine, too. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"
#include "comm/comm.h"

enum {
    TRIALS = 5,
    CELLS = 1 << 21,    /* of a trial: 16 MB of indices and values */
    CACHED = 1 << 13,   /* weights: 64 kB */
    UNCACHED = 1 << 24, /* 128 MB */
    EXPONENTIALS = 1 << 20,
    SHORT_MESSAGES = 200,
    LONG_VECTOR = 1 << 20 /* numbers */
};

typedef struct bench_memory {
    arena memory;
    uint32_t *column; /* [CELLS] */
    float *value;     /* [CELLS] */
    double *weight;   /* [UNCACHED] */
    double *sum;      /* [LONG_VECTOR] */
} bench_memory;

static bool take_memory(bench_memory *m, bda_error *err)
{
    return (m->column = ARENA_TAKE(&m->memory, uint32_t, CELLS, err)) &&
           (m->value = ARENA_TAKE(&m->memory, float, CELLS, err)) &&
           (m->weight = ARENA_TAKE(&m->memory, double, UNCACHED, err)) &&
           (m->sum = ARENA_TAKE(&m->memory, double, LONG_VECTOR, err));
}

/* A compiler that cannot see who reads it must compute it. */
static volatile double result;

/* Nanoseconds of a cell with `weights` weights, in random places. */
static double measure_cells(bench_memory *m, uint32_t weights)
{
    double best = INFINITY;
    rng random;
    rng_open(&random, 1, weights, 0);
    for (uint64_t i = 0; i < CELLS; i++) {
        m->column[i] = rng_below(&random, weights);
        m->value[i] = 1;
    }
    for (uint32_t j = 0; j < weights; j++)
        m->weight[j] = 1;
    for (int trial = 0; trial < TRIALS; trial++) {
        const double begin = clock_now();
        double sum = 0;
        for (uint64_t i = 0; i < CELLS; i++)
            sum += m->weight[m->column[i]] * m->value[i];
        result = sum;
        best = fmin(best, clock_now() - begin);
    }
    return best / CELLS * 1e9;
}

static double measure_exponentials(void)
{
    double best = INFINITY;
    for (int trial = 0; trial < TRIALS; trial++) {
        const double begin = clock_now();
        double sum = 0;
        for (int i = 0; i < EXPONENTIALS; i++)
            sum += exp(-1e-5 * i);
        result = sum;
        best = fmin(best, clock_now() - begin);
    }
    return best / EXPONENTIALS * 1e9;
}

/* Seconds of a short message, the same on all ranks. */
static double measure_latency(comm *c)
{
    double best = INFINITY;
    for (int trial = 0; trial < TRIALS; trial++) {
        double x = 1;
        comm_max_reals(c, &x, 1);
        double seconds = clock_now();
        for (int i = 0; i < SHORT_MESSAGES; i++)
            comm_max_reals(c, &x, 1);
        seconds = clock_now() - seconds;
        comm_max_reals(c, &seconds, 1);
        best = fmin(best, seconds);
    }
    return best / SHORT_MESSAGES;
}

static double measure_bandwidth(comm *c, bench_memory *m)
{
    double best = INFINITY;
    const double *part = m->weight;
    for (int trial = 0; trial < TRIALS; trial++) {
        double seconds = clock_now();
        comm_sum_vectors(c, (uint64_t)bda_comm_size(c), 1, &part, 1, LONG_VECTOR, m->sum, 1);
        seconds = clock_now() - seconds;
        comm_max_reals(c, &seconds, 1);
        best = fmin(best, seconds);
    }
    return sizeof(double) * LONG_VECTOR / best;
}

bool bda_calibrate(bda_comm *c, bda_machine *machine, bda_error *err)
{
    err_clear(err);
    bench_memory m = {0};
    *machine = (bda_machine){0};
    const bool ok = comm_agree(c, take_memory(&m, err), err);
    if (ok) {
        double slowest[3] = {measure_cells(&m, CACHED), measure_cells(&m, UNCACHED), measure_exponentials()};
        comm_max_reals(c, slowest, 3);
        machine->cell_cached = slowest[0];
        machine->cell_uncached = slowest[1];
        machine->exponential = slowest[2];
        if (bda_comm_size(c) > 1) {
            machine->latency = measure_latency(c);
            machine->bandwidth = measure_bandwidth(c, &m);
        }
    }
    arena_free(&m.memory);
    return ok;
}
