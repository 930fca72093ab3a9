/* test_path.c - trainings along a path of costs: each ends at the objective of one that begins at 0, and all of them
 * together take fewer rounds. */
#include <math.h>
#include <string.h>

#include "run/path.h"
#include "unit/cmocka_all.h"

#define ROWS 400
#define COLUMNS 60
#define CELLS 6
#define COSTS 6

static const double cost[COSTS] = {0.01, 0.03, 0.1, 0.4, 1, 3};

/* Noisy labels of a planted model. */
static bda_data *make_data(bda_comm *comm, bool numbers)
{
    static uint64_t start[ROWS + 1];
    static uint32_t column[ROWS * CELLS];
    static double value[ROWS * CELLS], label[ROWS];
    uint32_t state = 1;
    bda_error err = {0};
    for (uint32_t i = 0; i < ROWS; i++) {
        double sum = 0;
        for (uint32_t j = 0; j < CELLS; j++) {
            state = state * 1664525u + 1013904223u;
            column[i * CELLS + j] = j * (COLUMNS / CELLS) + (state >> 16) % (COLUMNS / CELLS);
            value[i * CELLS + j] = 0.1 + (state >> 8) % 100 / 100.0;
            sum += (column[i * CELLS + j] % 3 - 1.0) * value[i * CELLS + j];
        }
        const double noise = ((state >> 4) % 1000 - 500.0) / 400;
        start[i + 1] = start[i] + CELLS;
        label[i] = numbers ? sum + noise : sum + noise > 0 ? 1 : -1;
    }
    bda_settings *s = bda_settings_new("train", &err);
    bda_data *d = bda_data_rows(comm, s, ROWS, start, column, value, label, &err);
    assert_non_null(d);
    bda_settings_free(s);
    return d;
}

typedef struct run {
    double objective, gap;
    uint64_t rounds;
} run;

static run train(path *p, bda_comm *comm, const bda_data *d, const bda_settings *s)
{
    bda_error err = {0};
    bda_outcome outcome = {.size = sizeof outcome};
    bda_model *m = path_train(p, comm, d, s, NULL, &outcome, &err);
    if (!m)
        fail_msg("%s", err.text);
    bda_model_free(m);
    if (!outcome.complete)
        fail_msg("%s with %s at cost %s ended after %llu rounds at a gap of %g", bda_get(s, "method"),
                 bda_get(s, "loss"), bda_get(s, "cost"), (unsigned long long)outcome.last.round,
                 outcome.last.relative_gap);
    return (run){outcome.last.best_primal, outcome.last.relative_gap, outcome.last.round};
}

static void set(bda_settings *s, const char *name, const char *value)
{
    bda_error err = {0};
    if (!bda_set(s, name, value, &err))
        fail_msg("%s", err.text);
}

static void set_cost(bda_settings *s, double x)
{
    char text[40];
    snprintf(text, sizeof text, "%.17g", x);
    set(s, "cost", text);
}

/* Rounds along the path, and of the same trainings from 0. */
static void compare(const char *loss, const char *const *options, uint64_t rounds[2])
{
    bda_error err = {0};
    bda_comm *comm = bda_comm_single(&err);
    bda_settings *s = bda_settings_new("train", &err);
    const bool numbers = strstr(loss, "epsilon") || strcmp(loss, "squared-error") == 0;
    bda_data *d = make_data(comm, numbers);
    path p = {0};
    if (numbers)
        set(s, "task", "regress");
    set(s, "loss", loss);
    set(s, "gap", "1e-5");
    set(s, "max-rounds", "20000");
    for (; *options; options += 2)
        set(s, options[0], options[1]);
    rounds[0] = rounds[1] = 0;
    for (int k = 0; k < COSTS; k++) {
        set_cost(s, cost[k]);
        const run warm = train(&p, comm, d, s), cold = train(NULL, comm, d, s);
        assert_true(warm.gap <= 1e-5);
        assert_true(fabs(warm.objective - cold.objective) <= 1e-5 * cold.objective);
        rounds[0] += warm.rounds;
        rounds[1] += cold.rounds;
    }
    path_close(&p);
    bda_data_free(d);
    bda_settings_free(s);
    bda_comm_free(comm);
}

static void paths_lead_to_the_same_models(void **state)
{
    (void)state;
    static const char *const losses[] = {
        "hinge", "squared-hinge", "logistic", "epsilon-insensitive", "squared-epsilon-insensitive", "squared-error"};
    static const char *const options[][7] = {
        {"method", "bda"},
        {"method", "hull", "blocks", "3"},
        {"method", "hull", "intercept", "free"},
        {"method", "bda", "l1-ratio", "0.3"},
        {"method", "auto"},
        {"method", "tron"},
    };
    uint64_t rounds[2];
    for (size_t k = 0; k < sizeof losses / sizeof *losses; k++)
        for (size_t o = 0; o < sizeof options / sizeof *options; o++) {
            const bool kinked = strcmp(losses[k], "hinge") == 0 || strcmp(losses[k], "epsilon-insensitive") == 0;
            if (!kinked || strcmp(options[o][1], "tron") != 0)
                compare(losses[k], options[o], rounds);
        }
}

static void rounds_are_saved(void **state)
{
    (void)state;
    static const char *const options[] = {"method", "bda", NULL};
    uint64_t rounds[2];
    compare("squared-hinge", options, rounds);
    assert_true(rounds[0] < 0.9 * (double)rounds[1]);
}

/* Other data of other lengths, lower costs and other ratios begin at 0. */
static void paths_that_lead_nowhere(void **state)
{
    (void)state;
    bda_error err = {0};
    bda_comm *comm = bda_comm_single(&err);
    bda_settings *s = bda_settings_new("train", &err);
    bda_data *d = make_data(comm, false);
    path p = {0};
    set(s, "method", "bda");
    static const char *const steps[][2] = {{"1", "0"}, {"0.1", "0"}, {"1", "0.5"}, {"2", "0.5"}};
    for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
        set(s, "cost", steps[k][0]);
        set(s, "l1-ratio", steps[k][1]);
        const run warm = train(&p, comm, d, s), cold = train(NULL, comm, d, s);
        if (k < 3) { /* the very same training */
            assert_true(warm.objective == cold.objective);
            assert_int_equal(warm.rounds, cold.rounds);
        }
    }
    assert_int_equal(p.known, 2);
    path_close(&p);
    bda_data_free(d);
    bda_settings_free(s);
    bda_comm_free(comm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_lead_to_the_same_models),
        cmocka_unit_test(rounds_are_saved),
        cmocka_unit_test(paths_that_lead_nowhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
