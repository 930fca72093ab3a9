/* calibrate.c - how fast a machine is at the units of work of problem/machine.h: the loops of training themselves, on
 * made-up rows, and messages. Each is the best of a few trials: others may use the machine, too.
 *
 * A loop takes several units. Long rows show what a cell takes, in order and in the random order of a dual pass; short
 * ones then what a row does; with several classes, the difference between many and few is what a class takes. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/dense.h"
#include "base/memory.h"
#include "base/random.h"
#include "problem/block.h"
#include "problem/instances.h"
#include "problem/machine.h"

enum {
    TRIALS = 9,
    CELLS = 1 << 20, /* of all rows */
    LONG = 128,      /* cells of a row */
    SHORT = 4,
    COLUMNS = 1 << 16,    /* 512 kB of weights: more than the nearest cache, as mostly */
    FEW_COLUMNS = 1 << 9, /* for matrices */
    FEW_CLASSES = 4,
    MANY_CLASSES = 16,
    SHORT_MESSAGES = 200,
    LONG_VECTOR = 1 << 20 /* numbers */
};

/* ---- made-up rows -------------------------------------------------------------------------------------------------- */

typedef struct rows_made {
    const char *loss;
    uint64_t cells;   /* of a row */
    uint64_t columns; /* that they are spread over */
    uint64_t classes;
    uint64_t rows;
} rows_made;

typedef struct made {
    rows_made shape;
    arena memory;
    comm *comm;
    data *data;
    problem problem;
    block **block;
    instances part;
    double *w, *out; /* [n] */
    double *z, *s;   /* [rows][classes] */
    double *bend;    /* likewise */
    double *matrix;  /* [n][n] where columns are few */
} made;

static void made_close(made *m)
{
    if (m->block)
        blocks_close(m->block);
    problem_close(&m->problem);
    data_free(m->data);
    bda_comm_free(m->comm);
    arena_free(&m->memory);
}

/* Row i has one cell in each of as many equal parts of the columns, in a place of its own. */
static bool make_rows(made *m, bda_error *err)
{
    const rows_made *s = &m->shape;
    const uint64_t all = s->rows * s->cells, part = s->columns / s->cells;
    uint64_t *start = ARENA_TAKE(&m->memory, uint64_t, s->rows + 1, err);
    uint32_t *column = ARENA_TAKE(&m->memory, uint32_t, all, err);
    double *value = ARENA_TAKE(&m->memory, double, all, err), *label = ARENA_TAKE(&m->memory, double, s->rows, err);
    if (!start || !column || !value || !label)
        return false;
    rng random;
    rng_open(&random, 1, s->cells, s->classes);
    for (uint64_t i = 0; i < s->rows; i++) {
        start[i + 1] = start[i] + s->cells;
        label[i] = (double)rng_below(&random, (uint32_t)s->classes);
        for (uint64_t k = 0; k < s->cells; k++) {
            column[start[i] + k] = (uint32_t)(k * part + rng_below(&random, (uint32_t)part));
            value[start[i] + k] = (1 + (double)(k % 7)) / (8 * sqrt((double)s->cells)); /* a float, not all alike */
        }
    }
    m->data = data_copy(m->comm, 1, s->rows, start, column, value, label, err);
    return m->data != NULL;
}

static bool made_open(made *m, rows_made shape, bda_error *err)
{
    *m = (made){.shape = shape};
    const problem_request request = {
        .loss = loss_find(shape.loss), .cost = 1, .epsilon = 0.1, .bias = -1, .threads = 1};
    m->comm = bda_comm_single(err);
    if (!m->comm || !make_rows(m, err) || !problem_open(&m->problem, m->comm, m->data, &request, err))
        return false;
    const uint64_t n = m->problem.n, margins = shape.rows * m->problem.outputs;
    m->part = instances_of(&m->problem, 0);
    return (m->block = blocks_open(&m->memory, &m->problem, err)) &&
           (m->part.work = ARENA_TAKE(&m->memory, double, m->part.width, err)) &&
           (m->w = ARENA_TAKE(&m->memory, double, n, err)) && (m->out = ARENA_TAKE(&m->memory, double, n, err)) &&
           (m->z = ARENA_TAKE(&m->memory, double, margins, err)) &&
           (m->s = ARENA_TAKE(&m->memory, double, margins, err)) &&
           (m->bend = ARENA_TAKE(&m->memory, double, margins, err)) &&
           (shape.columns > FEW_COLUMNS || (m->matrix = ARENA_TAKE(&m->memory, double, n *n, err)));
}

/* ---- loops --------------------------------------------------------------------------------------------------------- */

static void primal_pass(made *m) /* two, in fact */
{
    instances_margins(&m->part, m->w, m->z);
    instances_point(&m->part, m->z, m->s);
    instances_image(&m->part, m->s, m->out);
}

static void dual_pass(made *m)
{
    block_direction direction;
    const subproblem s = {.w = m->w, .a1 = 1, .epochs = 1, .seed = 1};
    block_solve(m->block[0], &s, m->out, &direction);
}

static void hessian_product(made *m)
{
    instances_hessian_times(&m->part, m->bend, m->w, m->out);
}

/* Nanoseconds, the best of some trials. */
static double time_loop(made *m, void (*loop)(made *))
{
    double best = INFINITY;
    for (int trial = 0; trial < TRIALS; trial++) {
        const double begin = clock_now();
        loop(m);
        best = fmin(best, clock_now() - begin);
    }
    return 1e9 * best;
}

/* Nanoseconds of a loop over rows of that shape; 0 and a sentence where there is no memory. */
static double time_rows(rows_made shape, void (*loop)(made *), bda_error *err)
{
    made m;
    shape.rows = CELLS / shape.cells / (shape.classes > 2 ? shape.classes : 1);
    double ns = 0;
    if (made_open(&m, shape, err)) {
        for (uint64_t j = 0; j < m.problem.n; j++)
            m.w[j] = 1e-3 * (double)(j % 11);
        block_value value;
        block_evaluate(m.block[0], NULL, 0, &value); /* a pass visits what it finds unsettled: all of them, at 0 */
        if (m.problem.task->smooth) {                /* the Hessian of a hinge is not asked for */
            instances_margins(&m.part, m.w, m.z);
            instances_curvature(&m.part, m.z, m.bend);
        }
        ns = time_loop(&m, loop) / (double)shape.rows;
    }
    made_close(&m);
    return ns;
}

/* What is left of a row's time; never nothing, whatever the clock says. */
static double rest(double row, double cells)
{
    return fmax(row - cells, 0.1);
}

static void measure_rows(double *speed, bda_error *err)
{
    const rows_made wide = {"squared-hinge", LONG, COLUMNS, 2, 0}, narrow = {"squared-hinge", SHORT, COLUMNS, 2, 0};
    const rows_made logistic = {"logistic", SHORT, COLUMNS, 2, 0};
    const double cell = (time_rows(wide, primal_pass, err) + time_rows(wide, dual_pass, err)) / (4 * LONG);
    speed[UNIT_CELL] = cell;
    speed[UNIT_LOSS] = rest(time_rows(narrow, primal_pass, err), 2 * SHORT * cell) / 2;
    speed[UNIT_STEP] = rest(time_rows(narrow, dual_pass, err), 2 * SHORT * cell);
    /* a step of the logistic loss counts as four */
    speed[UNIT_EXPONENTIAL] = rest(time_rows(logistic, dual_pass, err), 2 * SHORT * cell) / 4;
}

static void measure_classes(double *speed, bda_error *err)
{
    const rows_made many = {"logistic", LONG, COLUMNS, MANY_CLASSES, 0},
                    few = {"logistic", LONG, COLUMNS, FEW_CLASSES, 0};
    const rows_made narrow = {"logistic", SHORT, COLUMNS, MANY_CLASSES, 0};
    const double row_of_many = time_rows(many, hessian_product, err) / 2;
    const double row_of_few = time_rows(few, hessian_product, err) / 2;
    const double per_class = rest(row_of_many, row_of_few) / (MANY_CLASSES - FEW_CLASSES);
    speed[UNIT_CLASS_CELL] = time_rows(many, dual_pass, err) / (2 * LONG * MANY_CLASSES);
    speed[UNIT_WIDE_CLASS] = per_class / LONG;
    speed[UNIT_WIDE_CELL] = rest(row_of_many, MANY_CLASSES * per_class) / LONG;
    const double cells = SHORT * (speed[UNIT_WIDE_CELL] + MANY_CLASSES * speed[UNIT_WIDE_CLASS]);
    speed[UNIT_WIDE_ROW] = rest(time_rows(narrow, hessian_product, err) / 2, cells) / MANY_CLASSES;
}

static void hessian(made *m)
{
    instances_hessian(&m->part, m->bend, 0, m->problem.n, m->matrix);
}

static void factors(made *m)
{
    const uint64_t n = m->problem.n;
    for (uint64_t j = 0; j < n; j++)
        for (uint64_t k = 0; k <= j; k++)
            m->matrix[j * n + k] = j == k ? 2 : 1 / (double)n;
    dense_factor(m->matrix, n);
}

static void measure_matrices(double *speed, bda_error *err)
{
    const double n = FEW_COLUMNS, pairs = LONG * (LONG + 1) / 2.0;
    const rows_made rows = {"squared-hinge", LONG, FEW_COLUMNS, 2, 0};
    speed[UNIT_PAIR] = time_rows(rows, hessian, err) / pairs;
    speed[UNIT_DENSE] = time_rows(rows, factors, err) * (CELLS / LONG) / (n * n * n / 3);
}

/* ---- messages ------------------------------------------------------------------------------------------------------ */

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

/* Bytes a second of a long vector that all ranks sum. part, sum: [LONG_VECTOR] */
static double measure_bandwidth(comm *c, const double *part, double *sum)
{
    double best = INFINITY;
    for (int trial = 0; trial < TRIALS; trial++) {
        double seconds = clock_now();
        comm_sum_vectors(c, (uint64_t)bda_comm_size(c), 1, &part, 1, LONG_VECTOR, sum, 1);
        seconds = clock_now() - seconds;
        comm_max_reals(c, &seconds, 1);
        best = fmin(best, seconds);
    }
    return sizeof(double) * LONG_VECTOR / best;
}

bool bda_calibrate(bda_comm *c, bda_machine *machine, bda_error *err)
{
    err_clear(err);
    arena memory = {0};
    *machine = (bda_machine){0};
    double *part = ARENA_TAKE(&memory, double, LONG_VECTOR, err),
           *sum = ARENA_TAKE(&memory, double, LONG_VECTOR, err);
    if (part && sum) {
        measure_rows(machine->speed, err);
        measure_classes(machine->speed, err);
        measure_matrices(machine->speed, err);
    }
    const bool ok = comm_agree(c, err->status == BDA_OK, err);
    if (ok) {
        comm_max_reals(c, machine->speed, BDA_SPEEDS);
        if (bda_comm_size(c) > 1) {
            machine->speed[UNIT_MESSAGE] = 1e9 * measure_latency(c);
            machine->speed[UNIT_BYTE] = 1e9 / measure_bandwidth(c, part, sum);
        }
    }
    arena_free(&memory);
    return ok;
}
