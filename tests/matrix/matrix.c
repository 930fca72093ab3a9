/* matrix.c - losses (of two, three and five classes) x regularisers x methods x threads x blocks x kinds of data, on
 * any number of ranks, each round under the eyes of the checker (tests/checker), which knows the problem from its raw
 * rows alone.
 *
 * In every round of every case: primal, dual and gap agree with the checker's to 1e-9 of the primal, the gap is not
 * negative, alpha is feasible, w = grad g*(X alpha), the dual has not risen (all these methods promise that), the
 * optimum known from the checker's own solver lies between the bounds, and all ranks were told the same bits. At the
 * end: the gap asked for was reached, and one rank alone with one thread ends with the same bits in w and alpha.
 *
 * Instances of more than two classes come sorted by label, so that most ranks miss some.
 *
 * A failing case prints a line; the last line is a count. Exit status 1 where something failed. */
#include <math.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "checker.h"
#include "comm/comm.h"
#include "data/data.h"
#include "methods/table.h"
#include "problem/block.h"

enum { FEATURES = 24, MOST_PER_ROW = 7, MOST_CLASSES = 5 };

typedef enum extra { EXTRA_NONE, EXTRA_BIAS, EXTRA_WEIGHTS } extra;

static const char *const extra_names[] = {"plain", "bias", "class weights"};
static const char *const penalty_names[] = {"squared norm", "weighted norm", "elastic net", "weighted elastic net"};
static const char *const form_names[] = {"ones", "constant", "float", "double"};

/* One cell of the matrix. */
typedef struct setup {
    const loss *loss;
    const method *method;
    uint64_t classes; /* more than 2; 0 for two labels or regression */
    int penalty;      /* of penalty_names */
    uint64_t instances, blocks;
    int threads;
    extra extra;
    rows_form form;
    double cost;
    method_options options;
    const char *note; /* what is special about the options */
} setup;

/* A generated problem, twice: as the program gets it, and as the checker sees it. */
typedef struct generated {
    uint64_t l, n; /* n without the constant feature */
    uint64_t *start;
    uint32_t *column;
    double *value, *label;
    double bias, cost_factor[MOST_CLASSES];
    double *penalty_factor; /* [n + 1], NULL for 1 */
    double l1_ratio;
    check_problem check;
    long double optimum; /* what the checker's solver reached */
    long double slack;   /* and how far off that may be */
} generated;

static int rank, size, passed, failed;
static char text_path[] = "/tmp/bda-matrix-XXXXXX"; /* the problem at hand, on rank 0's machine */

/* ---- generated problems -------------------------------------------------------------------------------------- */

static double uniform(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    uint64_t x = *state;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return (double)((x ^ (x >> 31)) >> 11) * 0x1p-53;
}

static void *take(uint64_t count, size_t bytes)
{
    void *p = calloc(count + 1, bytes);
    if (!p)
        abort();
    return p;
}

static double draw_value(uint64_t *state, rows_form form, double constant)
{
    double x = 2 * uniform(state) - 1;
    return form == ROWS_ONES ? 1 : form == ROWS_CONSTANT ? constant : form == ROWS_FLOAT ? (float)x : x;
}

static const double class_labels[MOST_CLASSES] = {-7, -2, 0, 3, 1000000};

/* Rows of up to MOST_PER_ROW cells, every ninth row empty; labels from a planted model with noise. Of more than two
 * classes each has features that it likes. */
static void draw_rows(generated *g, const setup *s)
{
    uint64_t state = 1000 * (uint64_t)s->form + s->loss->regression + s->instances, cells = 0;
    double planted[FEATURES];
    for (int j = 0; j < FEATURES; j++)
        planted[j] = 2 * uniform(&state) - 1;
    for (uint64_t i = 0; i < g->l; i++) {
        double z = 0, constant = 0.25 + uniform(&state);
        uint64_t most = i % 9 == 4 ? 0 : 1 + (uint64_t)(uniform(&state) * MOST_PER_ROW), here = 0;
        uint64_t class = s->classes * i / g->l;
        for (uint32_t j = 0; j < FEATURES && here < most; j++)
            if (uniform(&state) < (s->classes && j % s->classes == class ? 0.6 : 0.3)) {
                g->column[cells] = j;
                g->value[cells] = draw_value(&state, s->form, constant);
                z += planted[j] * g->value[cells++];
                here++;
            }
        g->start[i + 1] = cells;
        double noisy = z + 0.5 * (uniform(&state) - 0.5);
        bool positive = i < 2 ? i == 0 : noisy > 0; /* both labels occur in any case */
        g->label[i] = s->loss->regression ? 3 * noisy : positive ? 7 : -2;
        if (s->classes)
            g->label[i] = class_labels[class];
    }
    g->n = 0;
    for (uint64_t k = 0; k < cells; k++)
        g->n = g->column[k] + 1u > g->n ? g->column[k] + 1u : g->n;
}

/* The same in the checker's terms: the constant feature is a column, class weights are costs. */
static void tell_checker(generated *g, const setup *s)
{
    check_problem *p = &g->check;
    bool bias = g->bias >= 0;
    p->loss = check_loss_named(s->loss->name);
    p->l = g->l;
    p->n = g->n + bias;
    p->epsilon = 0.1;
    p->classes = s->classes;
    p->l1_ratio = g->l1_ratio;
    p->factor = g->penalty_factor;
    uint64_t to = 0;
    for (uint64_t i = 0; i < g->l; i++) {
        for (uint64_t k = g->start[i]; k < g->start[i + 1]; k++, to++) {
            p->column[to] = g->column[k];
            p->value[to] = g->value[k];
        }
        if (bias) {
            p->column[to] = g->n;
            p->value[to++] = g->bias;
        }
        p->start[i + 1] = to;
        uint64_t class = s->classes ? s->classes * i / g->l : g->label[i] == 7;
        p->y[i] = s->loss->regression ? g->label[i] : s->classes ? (double)class : class ? 1 : -1;
        p->cost[i] = s->cost * g->cost_factor[class];
    }
}

static generated *generated_new(const setup *s)
{
    generated *g = take(1, sizeof *g);
    uint64_t l = g->l = s->instances, cells = l * (MOST_PER_ROW + 1);
    g->start = take(l + 1, sizeof *g->start);
    g->column = take(cells, sizeof *g->column);
    g->value = take(cells, sizeof *g->value);
    g->label = take(l, sizeof *g->label);
    g->check.start = take(l + 1, sizeof *g->check.start);
    g->check.column = take(cells, sizeof *g->check.column);
    g->check.value = take(cells, sizeof *g->check.value);
    g->check.y = take(l, sizeof *g->check.y);
    g->check.cost = take(l, sizeof *g->check.cost);
    g->bias = s->extra == EXTRA_BIAS ? 0.7 : -1;
    bool weighted = s->extra == EXTRA_WEIGHTS && !s->loss->regression;
    for (int m = 0; m < MOST_CLASSES; m++)
        g->cost_factor[m] = !weighted ? 1 : m % 2 ? 0.3 : 2.5;
    g->l1_ratio = s->penalty >= 2 ? 0.3 : 0;
    draw_rows(g, s);
    if (s->penalty % 2) {
        g->penalty_factor = take(g->n + 1, sizeof *g->penalty_factor);
        for (uint64_t j = 0; j <= g->n; j++) /* the constant feature has 1 */
            g->penalty_factor[j] = j < g->n ? 0.25 * (double)(1 + j % 7) : 1;
    }
    tell_checker(g, s);
    return g;
}

static uint64_t hash_doubles(uint64_t h, const double *x, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        h = (h ^ bits) * 0x100000001b3u;
        h ^= h >> 29;
    }
    return h;
}

/* What was found for a problem is kept: methods and numbers of blocks share it. */
static void find_optimum(generated *g)
{
    static struct known {
        uint64_t key;
        long double optimum, slack;
    } known[1000];
    static int count;
    const check_problem *p = &g->check;
    double rest[] = {(double)p->loss, (double)p->l, (double)p->classes, p->l1_ratio, p->factor != NULL, g->bias};
    uint64_t key = hash_doubles(hash_doubles(5, p->y, p->l), p->cost, p->l);
    key = hash_doubles(hash_doubles(key, p->value, p->start[p->l]), rest, sizeof rest / sizeof *rest);
    int k = 0;
    while (k < count && known[k].key != key)
        k++;
    if (k == count) {
        double *alpha = take(g->l * MOST_CLASSES, sizeof *alpha), *w = take(check_length(p), sizeof *w);
        bool slow = p->classes || p->l1_ratio > 0;
        check_solve(p, slow ? 1e-7 : 1e-10, slow ? 100 : 3000, alpha, w);
        check_verdict best = check_points(p, w, alpha);
        known[k] = (struct known){key, best.primal, best.gap + 1e-14L * best.primal};
        count += count < 999;
        free(alpha);
        free(w);
    }
    g->optimum = known[k].optimum;
    g->slack = known[k].slack;
}

static void generated_free(generated *g)
{
    void *all[] = {
        g->start,   g->column,     g->value,          g->label, g->check.column, g->check.start, g->check.value,
        g->check.y, g->check.cost, g->penalty_factor, g};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        free(all[k]);
}

/* ---- one training under watch -------------------------------------------------------------------------------- */

typedef struct training {
    watch watch; /* first: the methods hand it back */
    const generated *problem;
    const setup *setup;
    bool alone; /* rank 0 by itself */
    uint64_t local, local_blocks, most_rounds;
    double target;         /* of the relative gap */
    uint64_t width;        /* dual variables of an instance */
    double *alpha;         /* [l][width] of all ranks; on rank 0 */
    double *w;             /* of the last round */
    int *counts, *offsets; /* [size] of what rank 0 collects: alpha and a hash from each */
    double first_gap, last_gap, last_dual;
    uint64_t rounds;
    char why[400]; /* the first thing that was wrong, "" if none */
} training;

__attribute__((format(printf, 3, 4))) static void expect(training *t, bool ok, const char *format, ...)
{
    if (ok || t->why[0])
        return;
    int used = snprintf(t->why, sizeof t->why, "round %llu: ", (unsigned long long)t->rounds);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(t->why + used, sizeof t->why - (size_t)used, format, arguments);
    va_end(arguments);
}

static double no_seconds(watch *self)
{
    (void)self;
    return 0;
}

static bool not_interrupted(watch *self)
{
    (void)self;
    return false;
}

/* Everything in a report that must be the same on every rank. */
static uint64_t report_hash(const round_report *r, const double *w, uint64_t n)
{
    double told[] = {(double)r->round,
                     r->primal,
                     r->dual,
                     r->gap,
                     r->step,
                     (double)r->line_search_steps,
                     r->epochs,
                     (double)r->vectors_sent,
                     (double)r->bytes_sent,
                     r->seconds,
                     r->stalled};
    return hash_doubles(hash_doubles(17, told, sizeof told / sizeof *told), w, n);
}

/* On the judge: alpha of all ranks in instance order, and whether all were told the same. One message. */
static void collect(training *t, const round_report *r, const double *w)
{
    const uint64_t held = t->local * t->width;
    double *mine = take(held + 1, sizeof *mine), *all = take(t->problem->l * t->width + (uint64_t)size, sizeof *all);
    uint64_t hash = report_hash(r, w, check_length(&t->problem->check)), count = 0;
    for (uint64_t k = 0; k < t->local_blocks; k++) {
        expect(t, count + block_count(r->blocks[k]) <= t->local, "the blocks hold too many instances");
        if (!t->why[0])
            block_alpha(r->blocks[k], mine + count * t->width);
        count += block_count(r->blocks[k]);
    }
    expect(t, count == t->local, "the blocks hold %llu instances, expected %llu", (unsigned long long)count,
           (unsigned long long)t->local);
    memcpy(mine + held, &hash, sizeof hash);
    if (t->alone)
        memcpy(all, mine, (held + 1) * sizeof *mine);
    else
        MPI_Gatherv(mine, (int)held + 1, MPI_DOUBLE, all, t->counts, t->offsets, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    uint64_t to = 0;
    for (int k = 0; rank == 0 && k < (t->alone ? 1 : size); k++) {
        const double *piece = all + t->offsets[k];
        uint64_t length = (uint64_t)t->counts[k] - 1;
        memcpy(t->alpha + to, piece, length * sizeof *piece);
        to += length;
        expect(t, memcmp(piece + length, &hash, sizeof hash) == 0, "rank %d was told other bits than rank 0", k);
    }
    free(mine);
    free(all);
}

/* What the checker says about a round. */
static void judge(training *t, const round_report *r, const double *w)
{
    const generated *g = t->problem;
    check_verdict truth = check_points(&g->check, w, t->alpha);
    long double near = 1e-9L * truth.primal;
    expect(t, truth.feasible, "alpha is not feasible");
    expect(t, fabsl(r->primal - truth.primal) <= near, "primal %.17g, expected %.20Lg", r->primal, truth.primal);
    expect(t, fabsl(r->dual - truth.dual) <= near, "dual %.17g, expected %.20Lg", r->dual, truth.dual);
    expect(t, r->gap >= 0, "gap %.17g is negative", r->gap);
    expect(t, fabsl(r->gap - truth.gap) <= near, "gap %.17g, expected %.20Lg", r->gap, truth.gap);
    expect(t, truth.drift <= 1e-10L * sqrtl(2 * truth.primal + 1), "w is not grad g*(X alpha): off by %Lg",
           truth.drift);
    expect(t, truth.primal >= g->optimum - g->slack, "primal %.20Lg is below the optimum %.20Lg", truth.primal,
           g->optimum);
    expect(t, -truth.dual <= g->optimum * (1 + 1e-14L), "dual %.20Lg is beyond the optimum %.20Lg", truth.dual,
           g->optimum);
    expect(t, r->round == 0 || r->dual <= t->last_dual + 1e-13 * r->primal, "the dual rose from %.17g to %.17g",
           t->last_dual, r->dual);
}

static bool watch_round(watch *self, const round_report *r, const double *w)
{
    training *t = (training *)self;
    t->rounds = r->round;
    collect(t, r, w);
    if (rank == 0)
        judge(t, r, w);
    if (r->round == 0)
        t->first_gap = r->gap;
    t->last_dual = r->dual;
    t->last_gap = r->gap;
    memcpy(t->w, w, check_length(&t->problem->check) * sizeof *w);
    return r->gap <= t->target * t->first_gap || r->stalled || r->round >= t->most_rounds;
}

/* Where the rows of a rank begin: blocks are of equal numbers of instances, as data.h says. */
static uint64_t first_row(const setup *s, int of_rank, int ranks)
{
    uint64_t k = comm_first_block(s->blocks, of_rank, ranks);
    return k * s->instances / s->blocks;
}

static void write_text(const generated *g)
{
    FILE *f = fopen(text_path, "w");
    if (!f)
        abort();
    for (uint64_t i = 0; i < g->l; i++) {
        fprintf(f, "%.17g", g->label[i]);
        for (uint64_t k = g->start[i]; k < g->start[i + 1]; k++)
            fprintf(f, " %u:%.17g", g->column[k] + 1, g->value[k]);
        fprintf(f, "\n");
    }
    if (fclose(f) != 0)
        abort();
}

/* One rank alone gets the rows from memory, many ranks read them from one file. */
static data *data_of(comm *c, const training *t, bda_error *err)
{
    const generated *g = t->problem;
    if (t->alone)
        return data_copy(c, t->setup->blocks, g->l, g->start, g->column, g->value, g->label, err);
    data_request request = {.path = text_path, .blocks = t->setup->blocks, .threads = t->setup->threads};
    return data_read(c, &request, err);
}

/* Trains over all ranks, or alone. False where the program itself reported an error. */
static bool train(training *t, comm *c)
{
    const setup *s = t->setup;
    const generated *g = t->problem;
    int ranks = t->alone ? 1 : size, me = t->alone ? 0 : rank;
    for (int r = 0; r < ranks; r++) {
        t->offsets[r] = (int)(first_row(s, r, ranks) * t->width) + r;
        t->counts[r] = (int)((first_row(s, r + 1, ranks) - first_row(s, r, ranks)) * t->width) + 1;
    }
    t->local = first_row(s, me + 1, ranks) - first_row(s, me, ranks);
    t->local_blocks = comm_first_block(s->blocks, me + 1, ranks) - comm_first_block(s->blocks, me, ranks);
    bda_error err = {0};
    problem p = {0};
    problem_request request = {.loss = s->loss,
                               .cost = s->cost,
                               .cost_factor = s->loss->regression ? NULL : g->cost_factor,
                               .epsilon = g->check.epsilon,
                               .l1_ratio = g->l1_ratio,
                               .factor = g->penalty_factor,
                               .bias = g->bias,
                               .threads = t->alone ? 1 : s->threads};
    data *d = data_of(c, t, &err);
    bool ok = d && problem_open(&p, c, d, &request, &err);
    if (ok) {
        expect(t, d->rows.form == s->form || d->nonzeros == 0, "values are held as %s", form_names[d->rows.form]);
        expect(t, p.n == check_length(&g->check), "n = %llu", (unsigned long long)p.n);
        ok = s->method->train(s->method, &p, &s->options, &t->watch, &err);
    }
    expect(t, ok, "%s", err.text);
    problem_close(&p);
    data_free(d);
    return ok;
}

static training *training_new(const generated *g, const setup *s, bool alone)
{
    training *t = take(1, sizeof *t);
    t->watch = (watch){no_seconds, not_interrupted, watch_round};
    t->problem = g;
    t->setup = s;
    t->alone = alone;
    bool slow = strcmp(s->method->name, "prox-grad") == 0 || strcmp(s->method->name, "disdca-basic") == 0;
    t->target = slow || s->cost > 10 ? 0.1 : 1e-3;
    t->most_rounds = 5000;
    t->width = s->classes ? s->classes : 1;
    t->alpha = take(g->l * t->width, sizeof *t->alpha);
    t->w = take(check_length(&g->check), sizeof *t->w);
    t->counts = take((uint64_t)size, sizeof *t->counts);
    t->offsets = take((uint64_t)size, sizeof *t->offsets);
    return t;
}

static void training_free(training *t)
{
    void *all[] = {t->alpha, t->w, t->counts, t->offsets, t};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        free(all[k]);
}

static uint64_t result_hash(const training *t)
{
    double rounds = (double)t->rounds;
    uint64_t h = hash_doubles(3, &rounds, 1);
    h = hash_doubles(h, t->w, check_length(&t->problem->check));
    return hash_doubles(h, t->alpha, t->problem->l * t->width);
}

/* ---- the matrix ---------------------------------------------------------------------------------------------- */

/* Prints the first complaint of the lowest rank that has one. */
static void conclude(const setup *s, training *t)
{
    int mine = t->why[0] ? rank : size, lowest;
    MPI_Allreduce(&mine, &lowest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (lowest == size) {
        passed++;
        return;
    }
    failed++;
    MPI_Bcast(t->why, sizeof t->why, MPI_CHAR, lowest, MPI_COMM_WORLD);
    if (rank == 0)
        printf("FAIL %s%s, %s, %s%s%s, %llu instances in %llu blocks, %d threads, %s, %s, C=%g: %s\n", s->loss->name,
               s->classes == 3 ? " of 3 classes"
               : s->classes    ? " of 5 classes"
                               : "",
               penalty_names[s->penalty], s->method->name, s->note ? " " : "", s->note ? s->note : "",
               (unsigned long long)s->instances, (unsigned long long)s->blocks, s->threads, extra_names[s->extra],
               form_names[s->form], s->cost, t->why);
}

/* The other ranks wait for rank 0 without keeping its processor busy. */
static void wait_for_judge(void)
{
    MPI_Request request;
    int done = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    for (MPI_Test(&request, &done, MPI_STATUS_IGNORE); !done; MPI_Test(&request, &done, MPI_STATUS_IGNORE))
        usleep(500);
}

/* With 1 and with 2 threads over all ranks, against rank 0 alone with 1 thread, which got its rows from memory. */
static void run_case(comm *all, comm *single, setup s)
{
    generated *g = generated_new(&s);
    training *solo = training_new(g, &s, true);
    if (rank == 0) {
        write_text(g);
        find_optimum(g);
        train(solo, single);
    }
    wait_for_judge();
    conclude(&s, solo);
    for (s.threads = 1; s.threads <= 2; s.threads++) {
        training *t = training_new(g, &s, false);
        if (train(t, all)) {
            expect(t, t->last_gap <= t->target * t->first_gap, "stopped at a relative gap of %g, expected %g",
                   t->last_gap / t->first_gap, t->target);
            expect(t, rank > 0 || result_hash(t) == result_hash(solo), "other bits than one rank alone");
        }
        conclude(&s, t);
        training_free(t);
    }
    training_free(solo);
    generated_free(g);
}

static method_options default_options(void)
{
    return (method_options){
        .a1 = NAN, .a2 = NAN, .step = NAN, .tau = 0.01, .beta = 0.5, .local_epochs = 1, .seed = 1};
}

/* What can be learned: a loss with one score an instance, or with one for each class. */
typedef struct task {
    const loss *loss;
    uint64_t classes;
} task;

static unsigned turn; /* so that what is taken in turn is not the same for every task */

static setup setup_of(const task *task, const method *m, uint64_t instances, uint64_t blocks)
{
    return (setup){.loss = task->loss,
                   .classes = task->classes,
                   .method = m,
                   .instances = instances,
                   .blocks = blocks,
                   .cost = 0.5,
                   .options = default_options()};
}

/* Every method and every number of blocks (five classes: one of them in turn); data of all kinds in turn, all of them
 * for bda, all forms at least. */
static void run_table(comm *all, comm *single, const task *task)
{
    uint64_t blocks[] = {(uint64_t)size, 6, 1};
    for (const method *const *m = methods; *m; m++)
        for (unsigned k = 0; k < 3; k++) {
            setup s = setup_of(task, *m, 60, blocks[k]);
            if (((*m)->smooth_loss && !task->loss->smooth) || (task->classes == 5 && k != turn++ % 3))
                continue;
            bool every = k == 1 && strcmp((*m)->name, "bda") == 0;
            for (unsigned kind = 0; kind < (!every ? 1 : task->classes ? 4 : 12); kind++, turn++) {
                s.extra = (extra)((every ? kind / 4 : turn) % 3);
                s.form = (rows_form)((every ? kind : turn) % 4);
                run_case(all, single, s);
            }
        }
}

/* The elastic net with every method, with and without factors in turn, and all regularisers with bda. */
static void run_penalties(comm *all, comm *single, const task *task)
{
    uint64_t blocks[] = {(uint64_t)size, 6, 1};
    for (const method *const *m = methods; *m; m++)
        for (int penalty = 1; penalty < 4; penalty++, turn++) {
            setup s = setup_of(task, *m, 60, blocks[turn % 3]);
            bool chosen = penalty == 2 + (int)(turn / 3 % 2) || strcmp((*m)->name, "bda") == 0;
            if (!chosen || ((*m)->smooth_loss && !task->loss->smooth))
                continue;
            s.penalty = penalty;
            s.extra = (extra)(turn / 3 % 3);
            s.form = (rows_form)(turn % 4);
            run_case(all, single, s);
        }
}

/* The options of bda and cocoa+. */
static void run_options(comm *all, comm *single, const task *task)
{
    const method_options usual = default_options();
    method_options epochs = usual, exact = usual, backtracking = usual, damped = usual, seed = usual, fixed = usual;
    epochs.local_epochs = 4;
    exact.search = SEARCH_EXACT;
    backtracking.search = SEARCH_BACKTRACKING;
    backtracking.beta = 0.7;
    damped.a2 = 0.5;
    damped.local_epochs = 3;
    seed.seed = 12345678901234567u;
    fixed.search = SEARCH_NONE;
    fixed.a1_is_blocks = true;
    fixed.step = 0.8;
    method_options two = usual;
    two.a1 = 2;
    const struct {
        const char *note, *method;
        method_options options;
    } cases[] = {
        {"local-epochs=4", "bda", epochs},
        {"line-search=exact", "bda", exact},
        {"backtracking, beta=0.7", "bda", backtracking},
        {"a2=0.5, local-epochs=3", "bda", damped},
        {"another seed", "bda", seed},
        {"a1=K, step=0.8", "bda", fixed},
        {"a1=2", "cocoa+", two},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        setup s = setup_of(task, method_find(cases[k].method), 60, 6);
        s.form = (rows_form)(k % 4);
        s.penalty = task->classes ? (int)(turn++ % 4) : 0;
        s.note = cases[k].note;
        s.options = cases[k].options;
        run_case(all, single, s);
    }
}

/* Fewer instances than blocks or ranks, blocks of unequal size, and costs far from 1. */
static void run_edges(comm *all, comm *single, const task *task)
{
    const struct {
        uint64_t instances, blocks;
        double cost;
    } cases[] = {{3, 6, 1}, {5, 5, 1}, {61, 7, 1}, {60, 60, 1}, {60, 6, 1e-4}, {24, 3, 100}};
    const char *const names[] = {"bda", "disdca"};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int m = 0; m < 2; m++) {
            setup s = setup_of(task, method_find(names[m]), cases[k].instances, cases[k].blocks);
            s.note = "(edge)";
            s.form = ROWS_DOUBLE;
            s.cost = cases[k].cost;
            s.classes = task->classes < s.instances ? task->classes : task->classes ? 3 : 0;
            run_case(all, single, s);
        }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm world = MPI_COMM_WORLD;
    bda_error err = {0};
    comm *all = bda_comm_mpi(&world, &err), *single = bda_comm_single(&err);
    if (!all || !single) {
        fprintf(stderr, "%s\n", err.text);
        MPI_Abort(MPI_COMM_WORLD, 1);
        return 1;
    }
    int file = rank == 0 ? mkstemp(text_path) : -1;
    if (rank == 0 && (file < 0 || close(file) != 0))
        abort();
    MPI_Bcast(text_path, sizeof text_path, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (const loss *f = losses; f->name; f++)
        for (uint64_t classes = 0; classes <= (f->regression ? 0 : 5); classes += classes ? 2 : 3) {
            const task task = {f, classes};
            run_table(all, single, &task);
            run_penalties(all, single, &task);
            if (classes < 5)
                run_options(all, single, &task);
            run_edges(all, single, &task);
        }
    if (rank == 0) {
        unlink(text_path);
        printf("%d passed, %d failed\n", passed, failed);
    }
    bda_comm_free(all);
    bda_comm_free(single);
    MPI_Finalize();
    return failed > 0 || passed == 0;
}
