/* test_structured.c - tags and trees trained on blocks over ranks, by every method that takes them. In each round the
 * primal is held against all outputs of all sentences; primal and dual must meet, the dual may not rise, and the
 * numbers have the same bits as on one rank. */
#include <stdio.h>
#include <stdlib.h>

#include "checker/outputs.h"
#include "methods/table.h"
#include "mpi/check.h"

enum { K = 5 };

typedef struct trial {
    watch watch;
    const corpus *corpus;
    const char *method;
    bool squared, logistic, monotone, certified;
    double C, gap;
    double dual, primal; /* of the last round */
    uint64_t rounds, most;
} trial;

static double no_time(watch *self)
{
    (void)self;
    return 0;
}

static bool nobody(watch *self)
{
    (void)self;
    return false;
}

static long double loss_of_unit(const corpus *t, int i, const trial *f, const long double *w)
{
    uint16_t y[LONGEST];
    long double most = 0, all = 0;
    for (bool more = next_output(t, i, y, true); more; more = next_output(t, i, y, false)) {
        const long double phi = margin(t, i, y, w);
        most = fmaxl(most, wrong_parts(t, i, y) - phi);
        all += expl(-phi);
    }
    return f->C * (f->logistic ? logl(all) : f->squared ? most * most : most);
}

static bool look_at_round(watch *self, const round_report *report, const double *w)
{
    trial *f = (trial *)self;
    const corpus *t = f->corpus;
    long double at[WEIGHTS_MOST] = {0}, primal = 0;
    const int n = t->trees ? COLUMNS : WEIGHTS_MOST;
    for (int j = 0; j < n; j++) {
        at[j] = (1 + report->stretch) * w[j];
        primal += 0.5L * at[j] * at[j];
    }
    for (int i = 0; i < UNITS; i++)
        primal += loss_of_unit(t, i, f, at);
    if (!(fabsl(primal - report->primal) < 1e-9L * (1 + primal)))
        fprintf(stderr, "%s, %s, round %llu: primal %.17g, wanted %.17Lg\n", t->kind->name, f->method,
                (unsigned long long)report->round, report->primal, primal);
    CHECK(fabsl(primal - report->primal) < 1e-9L * (1 + primal));
    if (f->certified) {
        CHECK(report->gap >= 0);
        CHECK(fabs(report->gap - (report->primal + report->dual)) < 1e-9 * (1 + report->primal));
        CHECK(!f->monotone || report->round == 0 || report->dual <= f->dual + 1e-11 * (1 + fabs(f->dual)));
    }
    f->dual = report->dual;
    f->primal = report->primal;
    f->rounds = report->round;
    self->to_go = f->certified ? report->gap / (f->gap * report->primal) : INFINITY;
    return report->round >= f->most || self->to_go <= 1;
}

typedef struct choice {
    const char *method;
    bool monotone, certified, of_trees; /* of_trees: with the logistic loss, too */
    double gap;
    uint64_t most;
} choice;

static const choice choices[] = {
    {"auto", true, true, true, 1e-3, 2000},       {"bda", true, true, true, 1e-2, 2000},
    {"momentum", true, true, false, 1e-3, 2000},  {"disdca", true, true, true, 1e-2, 2000},
    {"admm", false, true, false, 1e-2, 2000},     {"average", false, true, false, 1, 1},
    {"perceptron", false, false, true, 1e-2, 20},
};

/* why: NULL, or what the method is refused with */
static void train(comm *c, const corpus *t, const char *loss, const choice *choice, double l1_ratio, const char *why,
                  trial *f)
{
    static const char *const names[] = {"0", "1", "2"};
    bda_error err = {0};
    uint64_t first, end;
    data_share(UNITS, K, bda_comm_rank(c), bda_comm_size(c), &first, &end);
    const uint64_t row = t->unit_row[first], cell = t->start[row];
    uint64_t unit_row[UNITS + 1], start[ROWS_MOST + 1];
    for (uint64_t u = first; u <= end; u++)
        unit_row[u - first] = t->unit_row[u] - row;
    for (uint64_t i = 0; i <= t->unit_row[end] - row; i++)
        start[i] = t->start[row + i] - cell;
    const data_units from = {.units = end - first,
                             .unit_row = unit_row,
                             .start = start,
                             .column = t->column + cell,
                             .value = t->trees ? NULL : t->value + cell,
                             .class = t->class + row,
                             .labels = t->trees ? 2 : TAGS,
                             .label = names,
                             .name = "corpus",
                             .format = "made",
                             .features = COLUMNS,
                             .shared = true};
    data *d = data_copy_units(c, K, &from, &err);
    CHECK(d);
    problem p;
    const problem_request request = {
        .loss = loss_find(loss), .structure = t->kind, .cost = f->C, .l1_ratio = l1_ratio, .bias = -1, .threads = 1};
    CHECK(problem_open(&p, c, d, &request, &err));
    const method_options options = {.a1 = NAN,
                                    .a2 = NAN,
                                    .step = NAN,
                                    .tau = 0.01,
                                    .beta = 0.5,
                                    .penalty = 1,
                                    .relaxation = 1,
                                    .gap = 1e-3,
                                    .seed = 7};
    const method *m = method_find(choice->method);
    const bool ok = method_serves(m, &p, &err) && m->train(m, &p, &options, &f->watch, &err);
    if (ok == (why != NULL) || (why && !strstr(err.text, why)))
        fprintf(stderr, "%s, %s: %s\n", choice->method, loss, err.text);
    CHECK(why ? !ok && strstr(err.text, why) : ok);
    problem_close(&p);
    data_free(d);
}

static void compare(comm *c, comm *single, const corpus *t, const char *loss, const choice *choice)
{
    trial f = {.watch = {.to_go = INFINITY, .seconds = no_time, .interrupted = nobody, .round = look_at_round},
               .corpus = t,
               .method = choice->method,
               .squared = strcmp(loss, "squared-hinge") == 0,
               .logistic = strcmp(loss, "logistic") == 0,
               .monotone = choice->monotone,
               .certified = choice->certified,
               .C = 0.4,
               .gap = choice->gap,
               .most = choice->most};
    trial alone = f;
    train(c, t, loss, choice, 0, NULL, &f);
    train(single, t, loss, choice, 0, NULL, &alone);
    CHECK(f.rounds == alone.rounds && f.primal == alone.primal);
    CHECK(!choice->certified || f.dual == alone.dual);
    if (choice->most > 100 && f.rounds >= choice->most)
        fprintf(stderr, "%s, %s, %s: primal %g dual %g\n", t->kind->name, loss, choice->method, f.primal, f.dual);
    CHECK(choice->most <= 100 || f.rounds < choice->most);
}

int main(void)
{
    static const structure *const structures[] = {&chain_structure, &tree_any_structure, &tree_projective_structure};
    static const char *const names[] = {"hinge", "squared-hinge", "logistic"};
    bda_error err = {0};
    comm *c = bda_comm_launch(&err), *single = bda_comm_single(&err);
    CHECK(c && single);
    for (int kind = 0; kind < 3; kind++) {
        static corpus t;
        corpus_draw(&t, structures[kind]);
        for (int loss = 0; loss < 3; loss++)
            for (size_t m = 0; m < sizeof choices / sizeof *choices; m++)
                if (!t.trees || loss < 2 || choices[m].of_trees)
                    compare(c, single, &t, names[loss], &choices[m]);
    }
    static corpus trees;
    trial unused = {.watch = {.to_go = INFINITY, .seconds = no_time, .interrupted = nobody, .round = look_at_round},
                    .corpus = &trees,
                    .C = 1,
                    .logistic = true};
    corpus_draw(&trees, &tree_any_structure);
    train(c, &trees, "logistic", &(choice){.method = "momentum"}, 0, "--method=momentum is for", &unused);
    train(c, &trees, "logistic", &(choice){.method = "prox-grad"}, 0, "whole steps", &unused);
    train(c, &trees, "logistic", &(choice){.method = "dsvm-ave"}, 0, "whole steps", &unused);
    train(c, &trees, "hinge", &(choice){.method = "bda"}, 0.5, "squared norm alone", &unused);
    bda_comm_free(single);
    bda_comm_free(c);
    return 0;
}
