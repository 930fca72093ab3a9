/* test_vectors.c - docs/methods.md says how many vectors a round of each method sends. Every row of its table is put
 * to the test: the reductions of at least n numbers are counted where MPI gets them, and vectors_sent must agree with
 * both the count and the page. Every method has a row. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/data.h"
#include "methods/table.h"

enum { N = 600, L = 240, PER_ROW = 8, ROUNDS = 8 };

static int size, rank, failed;

#define EXPECT(condition, ...)                                                                                       \
    do {                                                                                                             \
        if (!(condition)) {                                                                                          \
            failed++;                                                                                                \
            if (rank == 0)                                                                                           \
                printf(__VA_ARGS__), printf("\n");                                                                   \
        }                                                                                                            \
    } while (0)

static uint64_t words; /* in messages long enough to be vectors, since the last round */

int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    if (count >= N)
        words += (uint64_t)count;
    return PMPI_Allreduce(from, to, count, type, op, comm);
}

/* ---- the page ------------------------------------------------------------------------------------------------ */

typedef struct row {
    char method[200]; /* the cell: names in `...`, and conditions */
    char first[100], each[100];
} row;

static void copy_cell(const char *line, int column, char *to, size_t room)
{
    const char *start = line;
    for (int k = 0; k <= column && start; k++)
        start = strchr(start, '|') ? strchr(start, '|') + 1 : NULL;
    const char *end = start ? strchr(start, '|') : NULL;
    to[0] = 0;
    if (!end)
        return;
    while (*start == ' ')
        start++;
    while (end > start && end[-1] == ' ')
        end--;
    snprintf(to, room, "%.*s", (int)(end - start), start);
}

/* One term of a sum. */
static double term(const char *text, size_t length, double products)
{
    if (length == 8 && strncmp(text, "products", 8) == 0)
        return products;
    if (length == 7 && strncmp(text, "(n+1)/2", 7) == 0)
        return ceil((N + 1) / 2.0);
    char *end;
    double x = strtod(text, &end);
    return end == text + length ? x : NAN;
}

static double sum_of(const char *text, const char *end, double products)
{
    double all = 0;
    while (text < end) {
        const char *plus = strstr(text, " + ");
        const char *stop = plus && plus < end ? plus : end;
        all += term(text, (size_t)(stop - text), products);
        text = stop + (stop < end ? 3 : 0);
    }
    return all;
}

/* Does the cell ("1", "1 or 2", "3 + (n+1)/2 to 6 + (n+1)/2", "2 + products") allow so many? */
static bool allows(const char *cell, double vectors, double products)
{
    const char *end = strchr(cell, 0), * or = strstr(cell, " or "), *to = strstr(cell, " to ");
    if (to)
        return vectors >= sum_of(cell, to, products) && vectors <= sum_of(to + 4, end, products);
    if (or)
        return vectors == sum_of(cell, or, products) || vectors == sum_of(or +4, end, products);
    return vectors == sum_of(cell, end, products);
}

/* ---- a training ---------------------------------------------------------------------------------------------- */

typedef struct counting {
    watch watch;
    const row *row;
    const char *what;
    uint64_t before;
    double first_gap;
    uint64_t rounds;
    int anew; /* how often X alpha was */
} counting;

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

static bool ends(const counting *c, const round_report *r)
{
    return r->finished || r->stalled || r->round >= ROUNDS || r->gap <= 1e-9 * (r->round ? c->first_gap : r->gap);
}

static bool round_ends(watch *self, const round_report *r, double *to_go)
{
    *to_go = INFINITY;
    return ends((counting *)self, r);
}

static bool count_round(watch *self, const round_report *r, const double *w)
{
    (void)w;
    counting *c = (counting *)self;
    uint64_t vectors = r->vectors_sent - c->before, counted = (words + N - 1) / N;
    /* What tron does in a round: 2 passes, one for each step tried, 2 for each product. */
    double products = (r->epochs - 2 - (double)r->line_search_steps) / 2;
    const char *cell = r->round == 0 ? c->row->first : c->row->each;
    bool zero = (r->round == 0 || r->finished) && counted == 0; /* a vector known to be 0 is not sent */
    EXPECT(size == 1 || counted == vectors || zero, "%s, round %llu: vectors_sent says %llu, MPI got %llu", c->what,
           (unsigned long long)r->round, (unsigned long long)vectors, (unsigned long long)counted);
    /* X alpha computed anew in the last round, and only there: the page says which methods do so */
    EXPECT(!r->certificate.anew || r->round == 0 || ends(c, r), "%s, round %llu: X alpha was computed anew", c->what,
           (unsigned long long)r->round);
    c->anew += r->certificate.anew;
    EXPECT(allows(cell, (double)vectors - r->certificate.anew, products),
           "%s, round %llu: %llu vectors, methods.md says %s", c->what, (unsigned long long)r->round,
           (unsigned long long)vectors, cell);
    words = 0;
    c->before = r->vectors_sent;
    c->rounds = r->round;
    if (r->round == 0)
        c->first_gap = r->gap;
    return ends(c, r);
}

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

/* The same rows on every rank, of which each keeps those of its blocks. */
static data *made(comm *c, bool regression, bda_error *err)
{
    static uint64_t start[L + 1];
    static uint32_t column[L * PER_ROW];
    static double value[L * PER_ROW], label[L];
    uint64_t state = 7, blocks = (uint64_t)size + 1, kept = 0, cells = 0;
    uint64_t first = comm_first_block(blocks, bda_comm_rank(c), size) * L / blocks;
    uint64_t end = comm_first_block(blocks, bda_comm_rank(c) + 1, size) * L / blocks;
    for (uint64_t i = 0; i < L; i++) {
        bool mine = i >= first && i < end;
        double z = uniform(&state) - 0.5;
        for (uint32_t k = 0; k < PER_ROW; k++) {
            uint32_t j = (uint32_t)((N / PER_ROW) * k + uniform(&state) * (N / PER_ROW));
            double x = 2 * uniform(&state) - 1;
            z += x;
            column[cells] = i + 1 == L && k + 1 == PER_ROW ? N - 1 : j;
            value[cells] = x;
            cells += mine;
        }
        label[kept] = regression ? z : z > 0 ? 1 : -1;
        kept += mine;
        start[kept] = cells;
    }
    return data_copy(c, blocks, kept, start, column, value, label, err);
}

/* Sentences of three tokens, for methods that learn nothing else. With two tags there are six transitions beside the
 * weights of the features: n is N again. */
static data *made_sentences(comm *c, bda_error *err)
{
    enum { TOKENS = 3, UNITS = L / TOKENS, FEATURES = (N - 6) / 2 };
    static uint64_t unit_row[UNITS + 1], start[L + 1];
    static uint32_t column[L], class[L];
    static const char *const label[] = {"A", "B"};
    uint64_t state = 7, blocks = (uint64_t)size + 1, first, end, kept = 0;
    data_share(UNITS, blocks, bda_comm_rank(c), size, &first, &end);
    for (uint64_t i = 0; i < L; i++) {
        column[kept] = (uint32_t)(uniform(&state) * FEATURES);
        class[kept] = (column[kept] + (uniform(&state) < 0.1)) % 2;
        kept += i >= first * TOKENS && i < end * TOKENS;
        start[kept] = kept;
    }
    for (uint64_t i = 0; i <= end - first; i++)
        unit_row[i] = i * TOKENS;
    return data_copy_units(c, blocks,
                           &(const data_units){.units = end - first,
                                               .unit_row = unit_row,
                                               .start = start,
                                               .column = column,
                                               .class = class,
                                               .labels = 2,
                                               .label = label,
                                               .name = "sentences",
                                               .format = "memory",
                                               .features = FEATURES,
                                               .shared = true},
                           err);
}

static method_options options_for(const char *cell)
{
    method_options o = {
        .a1 = NAN, .a2 = NAN, .step = NAN, .tau = 0.01, .beta = 0.5, .seed = 1, .penalty = 1, .relaxation = 1};
    o.hull = strstr(cell, "--hull=fused")        ? HULL_FUSED
             : strstr(cell, "--hull=one-vector") ? HULL_ONE_VECTOR
             : strstr(cell, "--hull=momentum")   ? HULL_MOMENTUM
                                                 : HULL_DEFAULT;
    return o;
}

/* Methods with a v that follows alpha: the presets of the outer loop, hull and momentum. */
static bool certifies(const method *m)
{
    return m->preset != NULL;
}

/* Trains every loss that the row speaks of. Returns how many that were. */
static int try_row(comm *c, const row *r, const method *m)
{
    int tried = 0;
    for (const loss *l = losses; l->name; l++) {
        bool kinks = strstr(r->method, "kinks"), smooth = strstr(r->method, "differentiable");
        bool l1 = strstr(r->method, "--l1-ratio");
        if ((kinks && l->smooth) || (smooth && !l->smooth))
            continue;
        bda_error err = {0};
        problem p = {0};
        if (m->sentences && l->regression)
            continue;
        data *d = m->sentences ? made_sentences(c, &err) : made(c, l->regression, &err);
        problem_request request = {.task = m->sentences ? "tag" : NULL,
                                   .loss = l,
                                   .cost = 1,
                                   .epsilon = 0.1,
                                   .bias = -1,
                                   .threads = 1,
                                   .l1_ratio = l1 ? 0.2 : 0};
        bool ok = d && problem_open(&p, c, d, &request, &err);
        EXPECT(ok, "%s", err.text);
        if (ok && method_serves(m, &p, &err)) {
            char what[300];
            snprintf(what, sizeof what, "%s (%s), %s", m->name, r->method, l->name);
            counting run = {.watch = {.seconds = no_seconds,
                                      .interrupted = not_interrupted,
                                      .round = count_round,
                                      .ends = round_ends},
                            .row = r,
                            .what = what};
            run.before = comm_said(c)->vectors;
            method_options options = options_for(r->method);
            words = 0;
            ok = m->train(m, &p, &options, &run.watch, &err);
            EXPECT(ok && run.rounds > 0, "%s: %s", what, err.text);
            EXPECT(run.anew == (certifies(m) ? 1 : 0), "%s: X alpha was computed anew %d times", what, run.anew);
            tried++;
        }
        problem_close(&p);
        data_free(d);
    }
    return tried;
}

/* Every method in the first cell of a line of the table. */
static void try_line(comm *c, const char *line, bool *covered)
{
    row r;
    copy_cell(line, 0, r.method, sizeof r.method);
    copy_cell(line, 2, r.first, sizeof r.first);
    copy_cell(line, 3, r.each, sizeof r.each);
    for (const char *name = strchr(r.method, '`'); name; name = strchr(name, '`')) {
        const char *end = strchr(++name, '`');
        size_t length = strcspn(name, "` ");
        for (int k = 0; methods[k]; k++)
            if (strlen(methods[k]->name) == length && strncmp(methods[k]->name, name, length) == 0) {
                EXPECT(try_row(c, &r, methods[k]) > 0, "%s: no loss was tried", r.method);
                covered[k] = true;
            }
        name = end ? end + 1 : strchr(name, 0);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Comm_size(world, &size);
    MPI_Comm_rank(world, &rank);
    bda_error err = {0};
    comm *c = bda_comm_mpi(&world, &err);
    FILE *page = fopen(BDA_SOURCE_DIR "/docs/methods.md", "r");
    EXPECT(c && page, "no communicator, or no docs/methods.md");
    char line[1000];
    bool inside = false, covered[100] = {false};
    while (c && page && fgets(line, sizeof line, page)) {
        if (strstr(line, "| vectors of a round |"))
            inside = true;
        else if (line[0] != '|')
            inside = false;
        else if (inside && line[2] != '-')
            try_line(c, line, covered);
    }
    for (int k = 0; methods[k]; k++)
        EXPECT(covered[k] || strcmp(methods[k]->name, "auto") == 0, "%s has no row in methods.md", methods[k]->name);
    if (page)
        fclose(page);
    bda_comm_free(c);
    MPI_Finalize();
    return failed > 0;
}
