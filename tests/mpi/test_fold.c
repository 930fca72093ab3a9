/* test_fold.c - training on folded rows over several ranks: what comes back is a model of the rows as they were
 * given.
 *
 * Every rank makes all rows, gives its share of them to bda_data_rows, and computes the primal of the model that it
 * gets by the checker, which knows nothing of folds. */
#include "bda.h"
#include "checker.h"
#include "checker/draw.h"
#include "data/data.h"
#include "mpi/check.h"
#include "problem/problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    ROWS = 300,
    FEATURES = 12400,
    SHARED = 9000, /* features of several rows */
    SINGLE = 3200, /* of one row; the others are in none */
    BLOCKS = 5,
    MOST_CELLS = 40000
};

typedef enum values { ONES, REALS } values;

/* The raw rows, and the same with a constant feature for the checker. */
typedef struct rows_made {
    uint64_t start[ROWS + 1];
    uint32_t column[MOST_CELLS];
    double value[MOST_CELLS], label[ROWS];
    uint64_t check_start[ROWS + 1], check_column[MOST_CELLS];
    double check_value[MOST_CELLS], y[ROWS], cost[ROWS];
    check_problem check;
} rows_made;

/* What is learnt. */
static const struct learnt {
    const char *task, *loss;
    uint64_t classes; /* 0: regression */
    bool smooth;
    const char *bias;
    values values;
} learnt[] = {
    {"classify", "hinge", 2, false, "1", REALS},     {"classify", "squared-hinge", 2, true, "-1", ONES},
    {"classify", "logistic", 2, true, "0.5", REALS}, {"regress", "squared-error", 0, true, "1", REALS},
    {"classify", "hinge", 3, false, "-1", REALS},    {"classify", "logistic", 3, true, "1", ONES},
};
enum { LEARNT = sizeof learnt / sizeof *learnt };

static bda_comm *all, *single;
static int rank, size;
static rows_made made;
static long double at_zero; /* the primal of w = 0, which is the gap there too */

/* ---- data ---------------------------------------------------------------------------------------------------- */

/* Rows that look a little like text: few features are frequent, most rows have some that no other row has, and the
 * labels follow from the frequent ones. The rows 0, 149 and 299 are empty. */
static void make_rows(const struct learnt *p)
{
    static bool has[ROWS][FEATURES];
    memset(has, 0, sizeof has);
    memset(&made, 0, sizeof made);
    state = 3 + p->classes;
    for (uint64_t j = 0; j < FEATURES; j++) {
        const uint64_t order = j * 7919 % FEATURES;
        uint64_t times = order < SHARED ? 2 + 400 / (order + 3) : order < SHARED + SINGLE;
        while (times > 0) {
            const uint64_t i = (uint64_t)uniform(0, ROWS);
            if (has[i][j] || i == 0 || i == 149 || i == 299 || (times == 1 && order >= SHARED && i % 5 == 3))
                continue;
            has[i][j] = true;
            times--;
        }
    }
    const double bias = atof(p->bias);
    uint64_t cells = 0, checked = 0;
    for (uint64_t i = 0; i < ROWS; i++) {
        double score = 0;
        for (uint32_t j = 0; j < FEATURES; j++)
            if (has[i][j]) {
                made.column[cells] = j;
                made.value[cells] = p->values == ONES ? 1 : uniform(-0.5, 0.5);
                score += made.value[cells] * sin((double)j);
                made.check_column[checked] = j;
                made.check_value[checked++] = made.value[cells++];
            }
        if (bias > 0) {
            made.check_column[checked] = FEATURES;
            made.check_value[checked++] = bias;
        }
        made.start[i + 1] = cells;
        made.check_start[i + 1] = checked;
        made.cost[i] = 1;
        made.label[i] = p->classes == 0   ? score
                        : p->classes == 2 ? (score > 0 ? 1 : -1)
                                          : (score > 0.7) + (score > -0.7);
        made.y[i] = made.label[i];
    }
    made.check = (check_problem){.loss = check_loss_named(p->loss),
                                 .l = ROWS,
                                 .n = FEATURES + (bias > 0),
                                 .start = made.check_start,
                                 .column = made.check_column,
                                 .value = made.check_value,
                                 .y = made.y,
                                 .cost = made.cost,
                                 .epsilon = 0.1,
                                 .classes = p->classes > 2 ? p->classes : 0};
    double *zero = calloc(check_length(&made.check), sizeof *zero);
    CHECK(zero);
    at_zero = check_primal(&made.check, zero);
    free(zero);
}

/* Options as "name=value name=value". */
static bda_settings *settings_for(const struct learnt *p, const char *options)
{
    bda_error err = {0};
    char text[400], *rest = NULL;
    bda_settings *s = bda_settings_new("train", &err);
    snprintf(text, sizeof text, "task=%s loss=%s bias=%s %s", p->task, p->loss, p->bias, options);
    for (char *name = strtok_r(text, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
        char *value = strchr(name, '=');
        CHECK(value);
        *value++ = 0;
        CHECK(bda_set(s, name, value, &err));
    }
    return s;
}

/* Whole blocks of BLOCKS to each rank; alone: all of them. `lonely`: the first rank has them all, others none. */
static bda_data *give_rows(bda_comm *c, const bda_settings *s, bool lonely)
{
    bda_error err = {0};
    const uint64_t me = (uint64_t)bda_comm_rank(c), ranks = (uint64_t)bda_comm_size(c), each = ROWS / BLOCKS;
    uint64_t first = me * BLOCKS / ranks * each, end = (me + 1) * BLOCKS / ranks * each;
    if (lonely) {
        first = me == 0 ? 0 : ROWS;
        end = ROWS;
    }
    bda_data *d =
        bda_data_rows(c, s, end - first, made.start + first, made.column, made.value, made.label + first, &err);
    if (!d)
        fprintf(stderr, "%s\n", err.text);
    CHECK(d);
    return d;
}

/* ---- one training -------------------------------------------------------------------------------------------- */

typedef struct result {
    bda_outcome outcome;
    uint64_t length;
    double *w; /* [length] to be freed; NULL: the method does not serve */
    double primal;
} result;

static result train(bda_comm *c, const struct learnt *p, const char *options, bool lonely)
{
    bda_error err = {0};
    bda_model_summary m = {.size = sizeof m};
    result r = {.outcome = {.size = sizeof r.outcome}};
    bda_settings *s = settings_for(p, options);
    bda_data *d = give_rows(c, s, lonely);
    bda_model *model = bda_train(c, d, s, NULL, &r.outcome, &err);
    CHECK(model || err.status == BDA_USAGE);
    if (model) {
        bda_model_summarise(model, &m);
        CHECK(m.features == FEATURES && m.outputs == (p->classes > 2 ? p->classes : 1));
        r.length = check_length(&made.check);
        r.primal = m.primal;
        r.w = malloc(r.length * sizeof *r.w);
        CHECK(r.w);
        memcpy(r.w, m.weights, r.length * sizeof *r.w);
    }
    bda_model_free(model);
    bda_data_free(d);
    bda_settings_free(s);
    return r;
}

/* The primal is that of the raw rows, and the model is the same on all ranks. */
static void check_model(const result *r, const char *what)
{
    const long double primal = check_primal(&made.check, r->w);
    if (!(fabsl(r->primal - primal) <= 1e-9L * primal))
        fprintf(stderr, "%s: primal %.17g, expected %.20Lg\n", what, r->primal, primal);
    CHECK(fabsl(r->primal - primal) <= 1e-9L * primal);
    CHECK(r->primal == r->outcome.last.best_primal);
    double *first = malloc(r->length * sizeof *first);
    CHECK(first);
    memcpy(first, r->w, r->length * sizeof *first);
    MPI_Bcast(first, (int)r->length, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    CHECK(memcmp(first, r->w, r->length * sizeof *first) == 0);
    free(first);
}

static bool reached(const result *r)
{
    return r->outcome.reason == BDA_REACHED_GAP && r->outcome.complete;
}

/* ---- tests --------------------------------------------------------------------------------------------------- */

/* Nothing below says much about folds unless the rows are folded, and are not with --feature-penalty. */
static void test_is_folded(const struct learnt *p)
{
    bda_error err = {0};
    bda_settings *s = settings_for(p, "blocks=5");
    bda_data *d = give_rows(all, s, false);
    problem at = {0};
    problem_request request = {.loss = loss_find(p->loss), .cost = 1, .epsilon = 0.1, .bias = -1, .threads = 1};
    CHECK(problem_open(&at, all, d, &request, &err));
    CHECK(at.fold.folded && at.rows.columns == SHARED + ROWS);
    CHECK(at.rows.own_first == SHARED + d->first_instance);
    CHECK(at.nonzeros == made.start[ROWS] - SINGLE);
    problem_close(&at);
    bda_data_free(d);
    bda_settings_free(s);
}

/* Every method; gaps are small enough that the weights are no longer those of the start. */
static void test_methods(const struct learnt *p)
{
    static const struct {
        const char *name, *options;
        bool smooth_only, labels_only, has_gap;
    } methods[] = {
        {"bda", "", false, false, true},
        {"hull", "", false, false, true},
        {"auto", "", false, false, true},
        {"tron", "", true, false, true},
        {"l-commdir", "", true, false, true},
        {"lbfgs", "", true, false, true},
        {"admm", "max-rounds=20", false, false, false},
        {"disdca", "max-rounds=20", false, false, false},
        {"perceptron", "max-rounds=3", false, true, false},
    };
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        char options[200];
        snprintf(options, sizeof options, "method=%s %s %s", methods[k].name, methods[k].options,
                 methods[k].labels_only ? "" : "gap=1e-2");
        result r = train(all, p, options, false);
        const bool serves = (p->smooth || !methods[k].smooth_only) && (p->classes > 0 || !methods[k].labels_only);
        CHECK((r.w != NULL) == serves);
        if (!serves)
            continue;
        check_model(&r, options);
        CHECK(reached(&r) || !methods[k].has_gap);
        free(r.w);
    }
}

/* The bits depend on the number of blocks, not on who has them. */
static void test_bits(const struct learnt *p, const char *method)
{
    char options[200];
    snprintf(options, sizeof options, "method=%s blocks=5 threads-mode=blocks gap=1e-3", method);
    result many = train(all, p, options, false);
    check_model(&many, options);
    CHECK(reached(&many));
    if (rank == 0) {
        result one = train(single, p, options, false);
        CHECK(one.outcome.last.round == many.outcome.last.round && one.primal == many.primal);
        CHECK(memcmp(one.w, many.w, one.length * sizeof *one.w) == 0);
        free(one.w);
    }
    free(many.w);
}

/* Factors of 1 change nothing but that the rows are not folded. Returns the optimum, or a bit more. */
static double test_optimum(const struct learnt *p, const char *factors)
{
    const char *method = p->smooth ? "tron" : "hull";
    char options[200];
    snprintf(options, sizeof options, "method=%s gap=1e-7", method);
    result folded = train(all, p, options, false);
    check_model(&folded, options);
    CHECK(reached(&folded));
    snprintf(options, sizeof options, "method=%s gap=1e-7 feature-penalty=%s", method, factors);
    result plain = train(all, p, options, false);
    check_model(&plain, options);
    CHECK(reached(&plain));
    CHECK(fabs(folded.primal - plain.primal) <= 2e-6 * plain.primal);
    CHECK(fabsl(folded.primal - plain.primal) <= 1e-7L * at_zero);
    long double distance = 0, length = 0;
    for (uint64_t j = 0; j < plain.length; j++) {
        distance += powl(folded.w[j] - plain.w[j], 2);
        length += powl(plain.w[j], 2);
    }
    CHECK(distance <= 8e-7L * at_zero); /* P is 1-strongly convex: |w - w*|^2 / 2 <= P(w) - P(w*) */
    CHECK(length > 1e-2L * at_zero);
    const double least = fmin(folded.primal, plain.primal);
    free(folded.w);
    free(plain.w);
    return least;
}

/* Blocks that share one model; on one machine, as here, all of them. */
static void test_lock_free(const struct learnt *p, double optimum)
{
    static const char *const ways[] = {
        "method=bda threads=1",
        "method=bda threads=2",
        "method=hull threads=1",
        "method=hull threads=2",
        "method=auto threads=2",
        "method=hull threads=2 blocks=4", /* of which some begin when others have ended */
        "method=bda threads=2 blocks=40", /* in turn, a few rows each */
        "method=bda threads=1 local-epochs=3",
    };
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        char options[200];
        if (size > 4 && strstr(ways[k], "blocks=4") && !strstr(ways[k], "blocks=40"))
            continue; /* each rank has one at least */
        snprintf(options, sizeof options, "%s threads-mode=lock-free gap=1e-4", ways[k]);
        result r = train(all, p, options, false);
        check_model(&r, options);
        if (!reached(&r))
            fprintf(stderr, "%s: stopped in round %llu at a gap of %g\n", options,
                    (unsigned long long)r.outcome.last.round, r.outcome.last.relative_gap);
        CHECK(reached(&r));
        CHECK(r.primal <= optimum + 1e-4L * at_zero && r.primal >= optimum - 1e-6L * at_zero);
        free(r.w);
    }
}

/* Ranks without rows have their part in all messages. */
static void test_lonely(const struct learnt *p, double optimum)
{
    static const char *const ways[] = {"method=bda", "method=hull threads-mode=lock-free", "method=lbfgs"};
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        char options[200];
        snprintf(options, sizeof options, "%s gap=1e-4", ways[k]);
        if (!p->smooth && k == 2)
            continue;
        result r = train(all, p, options, true);
        check_model(&r, options);
        CHECK(reached(&r));
        CHECK(r.primal <= optimum + 1e-4L * at_zero && r.primal >= optimum - 1e-6L * at_zero);
        free(r.w);
    }
}

/* A file that names one feature; the others have the factor 1 as well. */
static void write_factors(char *path)
{
    if (rank == 0) {
        const int file = mkstemp(path);
        CHECK(file >= 0 && write(file, "7 1\n", 4) == 4 && close(file) == 0);
    }
    MPI_Bcast(path, (int)strlen(path), MPI_CHAR, 0, MPI_COMM_WORLD);
}

int main(void)
{
    char factors[] = "/tmp/bda-test-fold-XXXXXX";
    bda_error err = {0};
    all = bda_comm_launch(&err);
    single = bda_comm_single(&err);
    if (!all || !single) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    rank = bda_comm_rank(all);
    size = bda_comm_size(all);
    write_factors(factors);
    for (int k = 0; k < LEARNT; k++) {
        make_rows(&learnt[k]);
        test_is_folded(&learnt[k]);
        test_methods(&learnt[k]);
        test_bits(&learnt[k], "bda");
        test_bits(&learnt[k], "hull");
        const double optimum = test_optimum(&learnt[k], factors);
        test_lock_free(&learnt[k], optimum);
        test_lonely(&learnt[k], optimum);
    }
    if (rank == 0)
        CHECK(unlink(factors) == 0);
    bda_comm_free(single);
    bda_comm_free(all);
    return 0;
}
