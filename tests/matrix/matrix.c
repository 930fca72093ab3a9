/* matrix.c - losses (of two, three and five classes) x regularisers x methods x threads x blocks x kinds of data, on
 * any number of ranks. What must hold in every round is in judge.c, how a training is watched in trial.c, the
 * problems are from made.c.
 *
 * Methods come from the table; a case is left out only where method_serves refuses it, and then the sentence is
 * checked. Every case is trained by rank 0 alone with one thread, which gets its rows from memory, and by all ranks
 * with one and two threads each, which read them from a file: all must end with the same bits in w and alpha, but
 * where blocks share their u without locks.
 *
 * Arguments: --small-sizes, so that small problems go the ways of large ones (base/sizes.h); and, for the hunt, the
 * methods to run, and no others. A failing case prints a line; the last line is a count.
 * Exit status 1 where something failed. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sizes.h"
#include "matrix/trial.h"

static const char *const extra_names[] = {"plain", "bias", "class weights"};
static const char *const penalty_names[] = {"squared norm", "weighted norm", "elastic net", "weighted elastic net"};
static const char *const form_names[] = {"ones", "constant", "float", "double"};

static int passed, failed, refused;
static bool small_sizes;
static char **wanted; /* names of methods, NULL-terminated; none: all */

static bool is_wanted(const method *m)
{
    char **name = wanted;
    while (*name && strcmp(*name, m->name) != 0)
        name++;
    return *name || !*wanted;
}

/* Prints the first complaint of the lowest rank that has one. */
static void conclude(const setup *s, trial *t)
{
    int mine = t->why[0] ? rank : size, lowest;
    MPI_Allreduce(&mine, &lowest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (lowest == size) {
        passed++;
        refused += t->refused;
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

/* Over all ranks, against rank 0 alone with 1 thread, which got its rows from memory. */
static void run_case(comm *all, comm *single, setup s)
{
    static unsigned count;
    if (!is_wanted(s.method))
        return;
    made *g = made_new(&s);
    trial *solo = trial_new(g, &s, true);
    if (rank == 0) {
        made_write(g, text_path);
        made_find_optimum(g);
        trial_run(solo, single);
    }
    wait_for_judge();
    conclude(&s, solo);
    s.threads = 1 + (int)(count++ % 2);
    trial *t = trial_new(g, &s, false);
    trial_run(t, all);
    bool by_the_clock = s.options.hull == HULL_DEFAULT; /* hull looks at it, and auto may take hull */
    bool sharing = s.options.sharing == SHARE_MEMORY || /* without locks */
                   (small_sizes && strcmp(s.method->name, "auto") == 0);
    expect(t, rank > 0 || by_the_clock || sharing || trial_hash(t) == trial_hash(solo),
           "other bits than one rank alone");
    conclude(&s, t);
    trial_free(t);
    trial_free(solo);
    made_free(g);
}

static method_options default_options(void)
{
    return (method_options){
        .a1 = NAN, .a2 = NAN, .step = NAN, .tau = 0.01, .beta = 0.5, .seed = 1, .penalty = 1, .relaxation = 1};
}

/* What can be learned: a loss with one score an instance, or with one for each class. */
typedef struct goal {
    const loss *loss;
    uint64_t classes;
} goal;

static unsigned turn; /* so that what is taken in turn is not the same for every task */

static setup setup_of(const goal *task, const method *m, uint64_t instances, uint64_t blocks)
{
    setup s = {.loss = task->loss,
               .classes = task->classes,
               .method = m,
               .instances = instances,
               .blocks = blocks,
               .cost = 0.5,
               .options = default_options()};
    bool open = strcmp(m->name, "auto") == 0 && turn % 2; /* it decides what else to take */
    s.options.hull = open ? HULL_DEFAULT : (hull_form)(1 + turn % 3);
    return s;
}

/* Every method and every number of blocks (many classes: one of them in turn); data of all kinds in turn, all of
 * them for bda, all forms at least. */
static void run_table(comm *all, comm *single, const goal *task)
{
    uint64_t blocks[] = {(uint64_t)size, 6, 1};
    for (const method *const *m = methods; *m; m++, turn++)
        for (unsigned k = 0, pick = turn % 3; k < 3; k++) {
            setup s = setup_of(task, *m, 60, blocks[k]);
            if (task->classes && k != pick)
                continue;
            bool every = k == 1 && strcmp((*m)->name, "bda") == 0;
            for (unsigned kind = 0; kind < (!every ? 1 : task->classes ? 4 : 12); kind++, turn++) {
                s.form = (rows_form)((every ? kind : turn) % 4);
                s.extra = (extra)(((unsigned)s.form + kind / 4) % 3);
                run_case(all, single, s);
            }
        }
}

/* The elastic net with every method, with and without factors in turn, and all regularisers with bda. */
static void run_penalties(comm *all, comm *single, const goal *task)
{
    uint64_t blocks[] = {(uint64_t)size, 6, 1};
    for (const method *const *m = methods; *m; m++)
        for (int penalty = 1; penalty < 4; penalty++, turn++) {
            setup s = setup_of(task, *m, 60, blocks[turn % 3]);
            bool chosen = penalty == 2 + (int)(turn / 3 % 2) || strcmp((*m)->name, "bda") == 0;
            if (!chosen)
                continue;
            s.penalty = penalty;
            s.extra = (extra)(penalty % 3); /* the checker's solver is slow: few problems, many methods */
            s.form = (rows_form)penalty;
            run_case(all, single, s);
        }
}

/* The options of single methods. */
static void run_options(comm *all, comm *single, const goal *task)
{
    const method_options usual = default_options();
    method_options epochs = usual, exact = usual, backtracking = usual, damped = usual, seed = usual, fixed = usual;
    method_options two = usual, short_memory = usual, stiff = usual, balanced = usual, accelerated = usual;
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
    two.a1 = 2;
    short_memory.history = 1;
    stiff.penalty = 3;
    stiff.relaxation = 1.6;
    balanced.penalty = 0.01;
    balanced.balance = true;
    balanced.local_epochs = 5;
    accelerated.accelerate = true;
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
        {"history=1", "l-commdir", short_memory},
        {"history=1", "lbfgs", short_memory},
        {"penalty=3, relaxation=1.6", "admm", stiff},
        {"penalty=0.01, balance, local-epochs=5", "admm", balanced},
        {"accelerate", "bda", accelerated},
        {"accelerate", "cocoa+", accelerated},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        setup s = setup_of(task, method_find(cases[k].method), 60, 6);
        s.penalty = task->classes ? (int)(turn++ % 4) : 0;
        s.form = (rows_form)(task->classes ? (unsigned)s.penalty : k % 4);
        s.note = cases[k].note;
        s.options = cases[k].options;
        s.options.hull = HULL_FUSED;
        run_case(all, single, s);
    }
    for (int form = HULL_FUSED; form <= HULL_MOMENTUM; form++)
        for (int blocks = 1; blocks <= 6; blocks += 5) {
            setup s = setup_of(task, method_find("hull"), 60, (uint64_t)blocks);
            s.options.hull = (hull_form)form;
            s.options.local_epochs = 1 + form % 2;
            s.penalty = (int)(turn++ % 4);
            s.form = (rows_form)s.penalty;
            s.extra = (extra)(s.penalty % 3);
            s.note = form == HULL_FUSED ? "fused" : form == HULL_ONE_VECTOR ? "one-vector" : "momentum";
            run_case(all, single, s);
        }
}

/* All blocks of all ranks share one u: whatever each knows of the others when, what holds in every round holds. Ranks
 * that are kept apart have one each, and hull no momentum. */
static void run_sharing(comm *all, comm *single, const goal *task)
{
    const char *sharing = getenv("BDA_SHARED_MEMORY");
    const unsigned forms = sharing && strcmp(sharing, "off") == 0 ? HULL_ONE_VECTOR : HULL_MOMENTUM;
    static const char *const names[] = {"hull", "bda", "auto"};
    for (int form = HULL_FUSED; form <= HULL_MOMENTUM; form++, turn++) {
        setup s = setup_of(task, method_find(names[form - 1]), 60, turn % 2 ? 6 : (uint64_t)size);
        s.options.hull = (hull_form)(1 + turn % forms);
        s.options.sharing = SHARE_MEMORY;
        s.options.local_epochs = form == HULL_FUSED ? 2 : EPOCHS_AS_NEEDED;
        s.penalty = (int)(turn % 4);
        s.form = (rows_form)(turn / 2 % 4);
        s.note = "lock-free";
        run_case(all, single, s);
    }
}

/* The rounds of a method without dual blocks do not depend on how the instances are shared out: as many of them, and
 * the same w up to rounding. */
static void run_partitions(comm *all, const goal *task)
{
    static const uint64_t blocks[] = {1, 2, 4};
    for (const method *const *m = methods; *m; m++) {
        setup s = setup_of(task, *m, 60, 1);
        if (!is_wanted(*m))
            continue;
        s.threads = 1;
        s.form = ROWS_DOUBLE;
        s.note = "(partitions)";
        made *g = made_new(&s);
        if (rank == 0) {
            made_write(g, text_path);
            made_find_optimum(g);
        }
        wait_for_judge();
        trial *t[3];
        for (int k = 0; k < 3; k++) {
            s.blocks = blocks[k];
            t[k] = trial_new(g, &s, false);
            trial_run(t[k], all);
            bool alike = !t[k]->has_blocks && !t[k]->refused && !(*m)->uncertified;
            for (uint64_t j = 0; k > 0 && alike && j < check_length(&g->check); j++)
                expect(t[k], fabs(t[k]->w[j] - t[0]->w[j]) <= 1e-8 * (1 + fabs(t[0]->w[j])),
                       "w[%llu] = %.17g, with one block %.17g", (unsigned long long)j, t[k]->w[j], t[0]->w[j]);
            if (k > 0 && alike)
                expect(t[k], t[k]->rounds == t[0]->rounds, "%llu rounds with one block",
                       (unsigned long long)t[0]->rounds);
            conclude(&s, t[k]);
        }
        for (int k = 0; k < 3; k++)
            trial_free(t[k]);
        made_free(g);
    }
}

/* Fewer instances than blocks or ranks, blocks of unequal size, and costs far from 1: some in turn, and all
 * for bda and hull. */
static void run_edges(comm *all, comm *single, const goal *task)
{
    const struct {
        uint64_t instances, blocks;
        double cost;
    } cases[] = {{3, 6, 1}, {5, 5, 1}, {61, 7, 1}, {60, 60, 1}, {60, 6, 1e-4}, {24, 3, 100}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (const method *const *m = methods; *m; m++, turn++) {
            setup s = setup_of(task, *m, cases[k].instances, cases[k].blocks);
            bool every = strcmp((*m)->name, "bda") == 0 || strcmp((*m)->name, "hull") == 0;
            if (!every && turn % 3)
                continue;
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
    small_sizes = argc > 1 && strcmp(argv[1], "--small-sizes") == 0;
    sizes_shrink(small_sizes);
    wanted = argv + 1 + small_sizes;
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
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
            const goal task = {f, classes};
            run_table(all, single, &task);
            run_penalties(all, single, &task);
            if (classes < 5)
                run_options(all, single, &task);
            run_edges(all, single, &task);
            run_sharing(all, single, &task);
            if (classes < 5)
                run_partitions(all, &task);
        }
    if (rank == 0) {
        unlink(text_path);
        printf("%d passed, %d of them by a refusal, %d failed\n", passed, refused, failed);
    }
    bda_comm_free(all);
    bda_comm_free(single);
    MPI_Finalize();
    return failed > 0 || passed == 0;
}
