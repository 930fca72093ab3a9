/* admm.c - the alternating direction method of multipliers in its consensus form (Boyd, Parikh, Chu, Peleato and
 * Eckstein 2011, chapter 7): every block k has weights w_k of its own, which are to agree with z.
 *
 *     w_k <- argmin  sum_{i in k} xi_i(x_i'w) + rho/2 |w - (z - u_k)|^2
 *     r_k  = relaxation w_k + (1 - relaxation) z                             (3.19)
 *     z   <- argmin  g(z) + rho/2 sum_k |z - r_k - u_k|^2
 *     u_k <- u_k + r_k - z
 *
 * The first line is solved on its dual, by the coordinate descent of all dual methods: w_k = z - u_k + X_k alpha_k /
 * rho. Put into the others, that leaves little to keep and one vector to send. Let s_k follow X_k alpha_k,
 *
 *     s_k <- s_k + relaxation m_k,   m_k = X_k alpha_k - s_k,
 *
 * then u_k = s_k / rho + c with one c for all blocks, m_k = rho (w_k - (z - c)), and with M = sum_k m_k, the message,
 *
 *     z <- argmin  g(z) - (sum_k s_k)'z + K rho/2 |z - y|^2,   y = z + (1 - relaxation) c,   c <- y - z.
 *
 * Without relaxation s_k = X_k alpha_k, and a block sees nothing but the point z - c = 2 z - (the z before).
 *
 * X alpha = sum_k s_k + M comes with the message, so that every round has its certificate. The dual need not fall
 * from round to round, and z is not grad g*(X alpha) before the end.
 *
 * Where a loss has a kink at the margin, P(z) is late: most of the support vectors fall short of it by a little, and
 * each adds to P. There the model is w = t z with the t at which P(t z) is least, which the margins X'z give by
 * scalars alone; it takes no part in the above, and t goes to 1.
 *
 * Left out: penalties of their own for each block, and stopping by residuals; the gap is the better judge. */
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/vector.h"
#include "methods/blockwise.h"
#include "methods/rivals.h"
#include "problem/instances.h"
#include "problem/stage.h"
#include "problem/start.h"

#define EPOCHS_MOST 10     /* of a local problem in a round, unless the person said how many */
#define EPOCHS_ENOUGH 0.1  /* or once a pass moves w_k by no more than this part of what the first one did */
#define BALANCE_APART 10.0 /* how many times larger one residual may be (mu of 3.4.1) */
#define BALANCE_FACTOR 2.0 /* what rho is multiplied or divided by then (tau) */
#define BALANCE_ROUNDS 100 /* after which rho stays: convergence is proved for a rho that ends up fixed */
#define IDLE_ROUNDS 10     /* in a row in which nothing moved but by rounding */
#define TRIALS (BLOCKWISE_COLUMNS / 2) /* lengths t that are tried in one message */
#define TRIAL_MESSAGES 2               /* of a round */

typedef struct admm_run {
    blockwise base;
    double rho, relaxation;
    bool balance;
    int64_t epochs; /* 0: by the rule above */
    uint64_t seed;

    double *z, *before;         /* [n] the consensus, and the last one */
    double *y, *c;              /* [n] */
    double *point;              /* [n] z - c */
    double *s;                  /* [n] sum_k s_k */
    double *v;                  /* [n] X alpha; without relaxation s itself */
    double *sum;                /* [n] M */
    double **part;              /* [local][n] w_k, then m_k */
    double **step;              /* [local][n] what a pass adds to X_k alpha_k */
    double **behind;            /* [local][n] X_k alpha_k - s_k; NULL without relaxation */
    block_direction *direction; /* [local] of the passes of a round */

    double *w;        /* [n] the model t z */
    double scale;     /* t */
    instances *rows;  /* [local] the blocks as primal methods see them */
    double **margins; /* [local][count * width] X'z; NULL where the loss is differentiable, and t = 1 */

    double norms;     /* sum_k |m_k|^2 */
    double travelled; /* sum of |w - w'| over the rounds so far */
    int idle_rounds;
} admm_run;

/* At the weights that the training begins at all agree: w_k = z, and s_k = X_k alpha_k. */
static bool begin_at(admm_run *r, bda_error *err)
{
    const blockwise *b = &r->base;
    const problem *p = b->p;
    double unused = 0;
    if (!comm_agree(p->comm, start_prepare(p, b->blocks, &r->base.memory, err), err))
        return false;
    if (b->watch->keeper && b->watch->keeper->resuming)
        return true;
    if (!start_dual(p, b->blocks, r->s, &unused, &unused, err))
        return false;
    memcpy(r->v, r->s, p->n * sizeof *r->v);
    memcpy(r->z, p->start, p->n * sizeof *r->z);
    memcpy(r->point, p->start, p->n * sizeof *r->point);
    return true;
}

static bool admm_open(admm_run *r, problem *p, const method_options *options, watch *watch, bda_error *err);
static bool look(admm_run *r, uint64_t *t);
static void find_model(admm_run *r);
static bool evaluate(admm_run *r, uint64_t t);
static void solve_blocks(admm_run *r, uint64_t t);
static bool sum_parts(admm_run *r, bda_error *err);
static void agree(admm_run *r);
static double residuals(admm_run *r, uint64_t t);
static void multiply_penalty(admm_run *r, double factor);

static bool admm_train(const method *self, problem *p, const method_options *options, watch *watch, bda_error *err)
{
    (void)self;
    admm_run r;
    bool ok = admm_open(&r, p, options, watch, err); /* alpha, z and all u_k are 0 */
    for (uint64_t t = 0; ok; t++) {
        if (look(&r, &t)) /* w = t z; P(w), f(alpha), their gap; stop? */
            break;
        solve_blocks(&r, t);     /* w_k through alpha_k */
        ok = sum_parts(&r, err); /* M: the one vector of the round */
        if (!ok)
            break;
        agree(&r);                              /* s, X alpha, z */
        multiply_penalty(&r, residuals(&r, t)); /* rho, c */
    }
    blockwise_close(&r.base);
    return ok;
}

/* ---- the lines of the loop ---------------------------------------------------------------------------------- */

/* The block is asked about w, which says nothing about its own point: so that no variable counts as settled there,
 * its last violation is forgotten. */
static bool evaluate(admm_run *r, uint64_t t)
{
    for (uint64_t k = 0; k < r->base.local; k++)
        r->base.blocks[k]->violation = INFINITY;
    r->base.report.stalled = r->idle_rounds >= IDLE_ROUNDS;
    return blockwise_evaluate(&r->base, t, r->w, r->v, r->travelled);
}

/* What is held after an evaluation; before, y and sum are work space. */
static void name_whole(archive *a, void *run)
{
    admm_run *r = run;
    const uint64_t n = r->base.p->n;
    ARCHIVE(a, r->rho);
    ARCHIVE(a, r->scale);
    ARCHIVE(a, r->travelled);
    ARCHIVE(a, r->idle_rounds);
    ARCHIVE_ARRAY(a, r->z, n);
    ARCHIVE_ARRAY(a, r->c, n);
    ARCHIVE_ARRAY(a, r->point, n);
    ARCHIVE_ARRAY(a, r->s, n);
    ARCHIVE_ARRAY(a, r->v, n);
    ARCHIVE_ARRAY(a, r->w, n);
}

static void name_block(archive *a, void *run, uint64_t k)
{
    admm_run *r = run;
    if (r->behind)
        ARCHIVE_ARRAY(a, r->behind[k], r->base.p->n);
    block_state(r->base.blocks[k], a);
}

static bool look(admm_run *r, uint64_t *t)
{
    const method_state state = {r, name_whole, name_block};
    bool stop;
    if (stage_resume(r->base.watch, &state, t, &stop))
        return stop;
    find_model(r);
    return stage_keep(r->base.watch, &state, *t, evaluate(r, *t));
}

/* Passes go on from where the last one ended: the model of block_solve with a1 = 1/rho is the local dual itself. */
static void solve_block(admm_run *r, uint64_t k, uint64_t t)
{
    const uint64_t n = r->base.p->n;
    const int64_t most = r->epochs > 0 ? r->epochs : EPOCHS_MOST;
    double *w = r->part[k], first = 0, cells = 0;
    block_direction *d = &r->direction[k];
    memcpy(w, r->point, n * sizeof *w);
    if (r->behind)
        vec_add(w, 1 / r->rho, r->behind[k], n, 1);
    for (int64_t pass = 0; pass < most && !(pass > 0 && problem_late(r->base.p)); pass++) {
        subproblem s = {
            .w = w, .a1 = 1 / r->rho, .epochs = 1, .seed = r->seed, .round = t * (uint64_t)most + (uint64_t)pass};
        block_solve(r->base.blocks[k], &s, r->step[k], d);
        block_move(r->base.blocks[k], 1);
        vec_add(w, 1 / r->rho, r->step[k], n, 1);
        cells += d->cells;
        first = pass == 0 ? d->largest : first;
        if (d->failed || d->largest == 0 || (r->epochs == 0 && d->largest <= EPOCHS_ENOUGH * first))
            break;
    }
    d->cells = cells;
    d->largest = vec_difference(w, r->point, 1 / r->rho, n, 1); /* m_k */
}

static void solve_blocks(admm_run *r, uint64_t t)
{
    const int threads = r->base.p->threads;
    const span span = span_begin(r->base.p->comm);
    FOR_BLOCKS (k, r->base.local, threads)
        solve_block(r, k, t);
    span_end(&span, &r->base.report, SPENT_LOCAL);
}

/* A small message first, with the largest element, which sets the grid of the vector; then the vector. */
static bool sum_parts(admm_run *r, bda_error *err)
{
    enum { LARGEST, NORM, CELLS, FAILED, COLUMNS };
    blockwise *b = &r->base;
    problem *p = b->p;
    const span messages = span_begin(p->comm);
    for (uint64_t k = 0; k < b->local; k++) {
        double *to = b->scalars.mine + k * COLUMNS;
        to[LARGEST] = r->direction[k].largest;
        to[NORM] = vec_dot(r->part[k], r->part[k], p->n, p->threads);
        to[CELLS] = r->direction[k].cells;
        to[FAILED] = r->direction[k].failed;
    }
    scalars_gather(&b->scalars, COLUMNS);
    if (scalars_max(&b->scalars, FAILED) > 0)
        return err_set(err, BDA_FAILED, "out of memory for dual variables; more ranks on more machines would help");
    r->norms = scalars_sum(&b->scalars, NORM);
    double cells = scalars_sum(&b->scalars, CELLS);
    comm_sum_vectors(p->comm, b->K, scalars_max(&b->scalars, LARGEST), (const double *const *)r->part, (int)b->local,
                     p->n, r->sum, p->threads);
    span_end(&messages, &b->report, SPENT_MESSAGES);
    b->report.epochs = p->nonzeros ? cells / (double)p->nonzeros : 1;
    b->report.step = r->relaxation;
    return true;
}

/* From M to the new z. */
static void agree(admm_run *r)
{
    const problem *p = r->base.p;
    const uint64_t n = p->n;
    if (r->behind) {
        memcpy(r->v, r->s, n * sizeof *r->v);
        vec_add(r->v, 1, r->sum, n, p->threads);
        for (uint64_t k = 0; k < r->base.local; k++)
            for (uint64_t j = 0; j < n; j++)
                r->behind[k][j] = (1 - r->relaxation) * r->part[k][j];
    }
    vec_add(r->s, r->relaxation, r->sum, n, p->threads);
    memcpy(r->before, r->z, n * sizeof *r->z);
    memcpy(r->y, r->z, n * sizeof *r->y);
    vec_add(r->y, 1 - r->relaxation, r->c, n, p->threads);
    penalty near_y = penalty_shifted(&p->penalty, (double)r->base.K * r->rho, r->y);
    near_y.kind->gradient(&near_y, r->z, r->s);
}

/* sum_k |w_k - z|^2 and K rho^2 |z - z before|^2, by scalars: with a = (z - c) - z, the c of the round before,
 *     sum_k |w_k - z|^2 = K |a|^2 + 2 a'M / rho + sum_k |m_k|^2 / rho^2 .
 * Returns what rho should be multiplied with. */
static double residuals(admm_run *r, uint64_t t)
{
    const problem *p = r->base.p;
    round_report *report = &r->base.report;
    const double K = (double)r->base.K, rho = r->rho;
    vec_difference(r->point, r->z, 1, p->n, p->threads);
    vec_difference(r->before, r->z, 1, p->n, p->threads);
    double cross, all, length = vec_dot(r->z, r->z, p->n, p->threads);
    vec_dots(r->sum, r->point, p->n, p->threads, &cross, &all);
    double apart = K * all + 2 * cross / rho + r->norms / (rho * rho);
    double moved = vec_dot(r->before, r->before, p->n, p->threads);
    report->primal_residual = sqrt(fmax(0, apart));
    report->dual_residual = rho * sqrt(K * moved);
    r->idle_rounds = fmax(apart / K, moved) <= 1e-32 * length ? r->idle_rounds + 1 : 0;
    if (!r->balance || t >= BALANCE_ROUNDS)
        return 1;
    return report->primal_residual > BALANCE_APART * report->dual_residual   ? BALANCE_FACTOR
           : report->dual_residual > BALANCE_APART * report->primal_residual ? 1 / BALANCE_FACTOR
                                                                             : 1;
}

/* c = y - z in terms of the new rho: rho u_k stays what it is. */
static void multiply_penalty(admm_run *r, double factor)
{
    for (uint64_t j = 0; j < r->base.p->n; j++) {
        r->c[j] = (r->y[j] - r->z[j]) / factor;
        r->point[j] = r->z[j] - r->c[j];
    }
    r->rho *= factor;
}

/* ---- the model ----------------------------------------------------------------------------------------------- */

/* P(t z) and its derivative by t at TRIALS points, in one message; g(t z) = a t^2 + b t. */
static void try_scales(admm_run *r, double a, double b, const double *t, double *value, double *slope)
{
    enum { COLUMNS = 2 * TRIALS };
    blockwise *base = &r->base;
    const int threads = base->p->threads;
    FOR_BLOCKS (k, base->local, threads)
        for (int i = 0; i < TRIALS; i++) {
            const double *z = r->margins[k], beyond = t[i] - 1;
            double *to = base->scalars.mine + k * COLUMNS + 2 * i;
            instances_along(&r->rows[k], z, 1, &z, &beyond, to, to + 1, NULL);
        }
    scalars_gather(&base->scalars, COLUMNS);
    for (int i = 0; i < TRIALS; i++) {
        value[i] = (a * t[i] + b) * t[i] + scalars_sum(&base->scalars, 2 * i);
        slope[i] = 2 * a * t[i] + b + scalars_sum(&base->scalars, 2 * i + 1);
    }
}

/* The best t that was tried, 1 among them. P being convex, the slopes bracket the minimum; trials begin around the
 * last t, as close as it is to 1, where t ends up, and then divide the bracket. */
static double best_scale(admm_run *r, double a, double b)
{
    const double c = r->scale, h = fmax(fabs(c - 1) / 16, 1e-4);
    double t[TRIALS] = {1,         fmax(c / 2, c - 4 * h), fmax(0.75 * c, c - h), c, c + h, c + 4 * h, c + 16 * h,
                        c + 64 * h};
    double value[TRIALS], slope[TRIALS];
    double low = 0, high = INFINITY, best = 1, least = INFINITY;
    for (int message = 0; message < TRIAL_MESSAGES; message++) {
        try_scales(r, a, b, t, value, slope);
        for (int i = 0; i < TRIALS; i++) {
            if (value[i] < least)
                least = value[i], best = t[i];
            if (slope[i] <= 0)
                low = fmax(low, t[i]);
            else
                high = fmin(high, t[i]);
        }
        for (int i = 0; i < TRIALS; i++)
            t[i] = isinf(high) ? ldexp(low, i + 1) : low + (high - low) * (i + 1) / (TRIALS + 1);
    }
    return best;
}

/* For all our regularisers g(t z) = a t^2 + b t, and b = 0 where g is smooth. */
static double find_scale(admm_run *r)
{
    const problem *p = r->base.p;
    const penalty *g = &p->penalty;
    const double once = g->kind->value(g, r->z);
    if (!(once > 0))
        return r->scale;
    FOR_BLOCKS (k, r->base.local, p->threads)
        instances_margins(&r->rows[k], r->z, r->margins[k]);
    for (uint64_t j = 0; j < p->n && !g->kind->smooth; j++)
        r->y[j] = 2 * r->z[j];
    double a = g->kind->smooth ? once : 0.5 * g->kind->value(g, r->y) - once;
    return best_scale(r, a, once - a);
}

static void find_model(admm_run *r)
{
    const problem *p = r->base.p;
    const span span = span_begin(p->comm);
    r->scale = r->margins ? find_scale(r) : 1;
    for (uint64_t j = 0; j < p->n; j++) {
        double next = r->scale * r->z[j];
        r->y[j] = next - r->w[j];
        r->w[j] = next;
    }
    r->travelled += sqrt(vec_dot(r->y, r->y, p->n, p->threads));
    span_end(&span, &r->base.report, SPENT_LINE_SEARCH);
}

/* ---- before and after ---------------------------------------------------------------------------------------- */

static bool take_memory(admm_run *r, problem *p, watch *watch, bda_error *err)
{
    blockwise *b = &r->base;
    const bool relaxed = r->relaxation != 1;
    if (!blockwise_open(b, p, watch, err))
        return false;
    double **const vectors[] = {&r->z, &r->before, &r->y, &r->c, &r->point, &r->s, &r->sum, &r->w, &r->v};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors - !relaxed; i++)
        if (!(*vectors[i] = ARENA_TAKE(&b->memory, double, p->n, err)))
            return false;
    if (!relaxed)
        r->v = r->s;
    if (!(r->rows = ARENA_TAKE(&b->memory, instances, b->local + 1, err)))
        return false;
    for (uint64_t k = 0; k < b->local; k++)
        r->rows[k] = instances_of(p, k);
    if (!p->task->structure && !p->task->smooth &&
        !(r->margins = instances_new_margins(&b->memory, r->rows, b->local, err)))
        return false;
    return (r->part = blockwise_vectors(b, err)) && (r->step = blockwise_vectors(b, err)) &&
           (!relaxed || (r->behind = blockwise_vectors(b, err))) &&
           (r->direction = ARENA_TAKE(&b->memory, block_direction, b->local + 1, err));
}

static bool admm_open(admm_run *r, problem *p, const method_options *options, watch *watch, bda_error *err)
{
    *r = (admm_run){.scale = 1.5, /* not known yet */
                    .rho = options->penalty > 0 ? options->penalty : 1,
                    .relaxation = options->relaxation > 0 ? options->relaxation : 1,
                    .balance = options->balance,
                    .epochs = options->local_epochs,
                    .seed = options->seed};
    watch->facts.local_epochs = options->local_epochs;
    return comm_agree(p->comm, take_memory(r, p, watch, err), err) && (!p->start || begin_at(r, err));
}

const method admm = {
    .name = "admm",
    .summary = "consensus ADMM (Boyd et al. 2011): each block has weights of its own, which are made to agree",
    .needs = "any loss, any regulariser",
    .whole_regulariser = true,
    .train = admm_train,
};
