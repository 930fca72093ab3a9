/* trial.c - see trial.h. */
#include "matrix/trial.h"

#include <math.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problem/block.h"

static const char *const form_names[] = {"ones", "constant", "float", "double"};

int rank, size;
char text_path[32] = "/tmp/bda-matrix-XXXXXX";

void expect(trial *t, bool ok, const char *format, ...)
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
                     r->stretch,
                     r->step,
                     (double)r->line_search_steps,
                     r->epochs,
                     (double)r->vectors_sent,
                     (double)r->bytes_sent,
                     r->seconds,
                     r->stalled,
                     r->finished};
    return hash_doubles(hash_doubles(17, told, sizeof told / sizeof *told), w, n);
}

/* On the judge: alpha of all ranks in instance order, and whether all were told the same. One message. */
static void collect(trial *t, const round_report *r, const double *w)
{
    const uint64_t held = t->local * t->width;
    double *mine = take(held + 1, sizeof *mine), *all = take(t->problem->l * t->width + (uint64_t)size, sizeof *all);
    uint64_t hash = report_hash(r, w, check_length(&t->problem->check)), count = 0;
    for (uint64_t k = 0; r->blocks && k < t->local_blocks; k++) {
        expect(t, count + block_count(r->blocks[k]) <= t->local, "the blocks hold too many instances");
        if (!t->why[0])
            block_alpha(r->blocks[k], mine + count * t->width);
        count += block_count(r->blocks[k]);
    }
    expect(t, count == t->local || !r->blocks, "the blocks hold %llu instances, expected %llu",
           (unsigned long long)count, (unsigned long long)t->local);
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

static bool watch_round(watch *self, const round_report *r, const double *w)
{
    trial *t = (trial *)self;
    t->rounds = r->round;
    collect(t, r, w);
    for (uint64_t j = 0; j < check_length(&t->problem->check); j++)
        t->w[j] = (1 + r->stretch) * w[j];
    if (rank == 0)
        judge_round(t, r, t->w, w);
    if (r->round == 0)
        t->first_gap = r->gap;
    t->last_dual = r->dual;
    t->last_gap = r->gap;
    t->last_primal = r->primal;
    t->finished = r->finished;
    t->has_blocks = r->blocks != NULL;
    return r->gap <= t->target * t->first_gap || r->stalled || r->finished || r->round >= t->most_rounds;
}

/* Where the rows of a rank begin: blocks are of equal numbers of instances, as data.h says. */
static uint64_t first_row(const setup *s, int of_rank, int ranks)
{
    uint64_t k = comm_first_block(s->blocks, of_rank, ranks);
    return k * s->instances / s->blocks;
}

/* One rank alone gets the rows from memory, many ranks read them from one file. */
static data *data_of(comm *c, const trial *t, bda_error *err)
{
    const made *g = t->problem;
    if (t->alone)
        return data_copy(c, t->setup->blocks, g->l, g->start, g->column, g->value, g->label, err);
    data_request request = {.path = text_path, .blocks = t->setup->blocks, .threads = t->setup->threads};
    return data_read(c, &request, err);
}

static void share_out(trial *t)
{
    const setup *s = t->setup;
    int ranks = t->alone ? 1 : size, me = t->alone ? 0 : rank;
    for (int r = 0; r < ranks; r++) {
        t->offsets[r] = (int)(first_row(s, r, ranks) * t->width) + r;
        t->counts[r] = (int)((first_row(s, r + 1, ranks) - first_row(s, r, ranks)) * t->width) + 1;
    }
    t->local = first_row(s, me + 1, ranks) - first_row(s, me, ranks);
    t->local_blocks = comm_first_block(s->blocks, me + 1, ranks) - comm_first_block(s->blocks, me, ranks);
}

/* Was the method's last word what it promised? */
static void judge_end(trial *t)
{
    if (t->promises->ends_by_itself)
        expect(t, t->finished || (t->setup->method->uncertified && t->rounds == t->most_rounds),
               "it did not end by itself");
    else
        expect(t, t->last_gap <= t->target * t->first_gap, "stopped at a relative gap of %g, expected %g",
               t->last_gap / t->first_gap, t->target);
}

void trial_run(trial *t, comm *c)
{
    const setup *s = t->setup;
    const made *g = t->problem;
    share_out(t);
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
        t->refused = !method_serves(s->method, &p, &err);
        if (t->refused)
            judge_refusal(t, &p, &err);
        else if ((ok = s->method->train(s->method, &p, &s->options, &t->watch, &err)))
            judge_end(t);
    }
    expect(t, ok, "%s", err.text);
    problem_close(&p);
    data_free(d);
}

trial *trial_new(const made *g, const setup *s, bool alone)
{
    trial *t = take(1, sizeof *t);
    t->watch = (watch){.seconds = no_seconds, .interrupted = not_interrupted, .round = watch_round};
    t->problem = g;
    t->setup = s;
    t->alone = alone;
    t->promises = promises_of(s);
    t->target = t->promises->target > 0 ? t->promises->target : s->cost > 10 ? 0.1 : 1e-3;
    t->most_rounds = s->method->uncertified ? 10 : 5000;
    t->width = s->classes ? s->classes : 1;
    t->alpha = take(g->l * t->width, sizeof *t->alpha);
    t->w = take(check_length(&g->check), sizeof *t->w);
    t->counts = take((uint64_t)size, sizeof *t->counts);
    t->offsets = take((uint64_t)size, sizeof *t->offsets);
    return t;
}

void trial_free(trial *t)
{
    void *all[] = {t->alpha, t->w, t->counts, t->offsets, t};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        free(all[k]);
}

uint64_t trial_hash(const trial *t)
{
    double rounds = (double)t->rounds;
    uint64_t h = hash_doubles(3, &rounds, 1);
    h = hash_doubles(h, t->w, check_length(&t->problem->check));
    return hash_doubles(h, t->alpha, t->problem->l * t->width);
}
