/* momentum.c - safe block models with momentum, for tags and trees on several blocks.
 *
 * Feature j occurs in nu_j of the K blocks, so |sum_k d_k|^2 <= sum_j nu_j sum_k d_kj^2: with a1 = 1 and the diagonal
 * nu in place of the Hessian, the model of a round is never below the dual, and its minimum is a good step as it is.
 * That is a proximal gradient step in a norm of its own, and takes Nesterov's extrapolation (FISTA: Beck and Teboulle
 * 2009):
 *
 *     y   = alpha + beta (alpha - alpha_prev)          w_y = v + beta (v - v_prev)       nothing to send
 *     z_k ~ argmin of block k's model at y, which begins at y moved into the domain
 *     v   = w_y + sum_k X_k (z_k - y_k)                the one vector of the round
 *
 * Safe models are timid: alpha is too short for many rounds. Where every t alpha is feasible (squared hinge), f(t alpha)
 * is a parabola known from three sums, and alpha and v are taken times its t: what a step towards all past points would
 * be if 0 were the only one.
 *
 * beta = (t - 1) / t_next, t_next = (1 + sqrt(1 + 4 t^2)) / 2, at most BETA_MOST. Where the dual has risen, the round is
 * taken back and momentum begins anew, so it never rises. */
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/vector.h"
#include "data/rows_math.h"
#include "dual/dual.h"

#define BETA_MOST 0.95
#define EPOCHS 3 /* of a round, unless the person says how many */

typedef struct momentum_run {
    dual_run base;
    watch watch; /* what dual_evaluate reports to */
    struct watch *outer;
    double *nu;                        /* [n] blocks in which the feature of a weight occurs */
    double *v_before;                  /* [n] of the round before */
    double *ahead;                     /* [n] w_y */
    double t;                          /* of the formula */
    double least;                      /* the least f so far, that of v_before */
    double f;                          /* of the round reported */
    double separable, least_separable; /* what of f and least is not v'v/2 */
    double rounding;                   /* what packed messages may have taken from a |v_j - v_before_j| */
    bool stretches;                    /* alpha may be any multiple of itself */
} momentum_run;

static void take_back_blocks(momentum_run *r);

static momentum_run *of(watch *self)
{
    return (momentum_run *)((char *)self - offsetof(momentum_run, watch));
}

static double seconds(watch *self)
{
    return of(self)->outer->seconds(of(self)->outer);
}

static bool interrupted(watch *self)
{
    return of(self)->outer->interrupted(of(self)->outer);
}

/* With v also v_before and the least f may be wrong: nothing but alpha is kept, and momentum begins anew. */
static void forget_before(momentum_run *r)
{
    r->least = INFINITY;
    r->t = 1;
}

/* The dual point is the best so far. */
static round_report as_told(const momentum_run *r, const round_report *report)
{
    round_report told = *report;
    if (report->dual > r->least) {
        told.dual = r->least;
        told.gap = fmax(0, report->gap - (report->dual - r->least));
    }
    return told;
}

/* X alpha is that of r->v. Where the point told of is that of the round before, report_round sees to it. */
static bool round_ends(watch *self, const round_report *report, double *to_go)
{
    momentum_run *r = of(self);
    const round_report told = as_told(r, report);
    return stage_ends(r->outer, &told, to_go) && report->dual <= r->least;
}

/* The point of the round before is told of, and with it the run may end. */
static void certify_before(momentum_run *r, round_report *told)
{
    take_back_blocks(r);
    dual_certify_kept(&r->base, r->v_before, r->least_separable, told);
    if (told->certificate.repaired == 0)
        return;
    memcpy(r->v_before, r->base.direction.dv, r->base.p->n * sizeof *r->v_before);
    r->least = told->dual;
    r->f = INFINITY; /* whatever it is, the blocks have gone back */
}

static bool report_round(watch *self, const round_report *report, const double *w)
{
    momentum_run *r = of(self);
    double to_go;
    if (report->certificate.repaired > 0)
        forget_before(r);
    if (report->certificate.anew &&
        !report->certificate.for_end) /* r->base.v will be that X alpha, v_before stays as it is */
        r->rounding += r->base.drift.rounding;
    round_report told = as_told(r, report);
    const double *v = report->certificate.anew ? r->base.direction.dv : r->base.v;
    r->f = report->dual;
    r->separable = r->f - 0.5 * vec_dot(v, v, r->base.p->n, r->base.p->threads);
    if (r->f > r->least && stage_ends(r->outer, &told, &to_go))
        certify_before(r, &told);
    bool stop = stage_report(r->outer, &told, w);
    self->to_go = r->outer->to_go;
    return stop;
}

/* ---- before ---------------------------------------------------------------------------------------------------- */

/* 1 for the weights of the columns that the block's rows have, and for shared ones. */
ROWS_INLINE void mark_columns(const problem *p, uint64_t k, double *mark, rows_form form)
{
    const rows *r = &p->rows;
    uint64_t first, end;
    memset(mark, 0, p->n * sizeof *mark);
    data_block_rows(p->data, k, &first, &end);
    for (uint64_t i = first; i < end; i++) {
        ROWS_UNSTORED(r, i, mark[c * p->outputs] = x != 0);
        for (uint64_t j = r->start[i]; j < r->start[i + 1]; j++)
            mark[(uint64_t)rows_column(r, form, j) * p->outputs] = 1;
    }
    for (uint64_t c = 0; c < r->columns; c++)
        for (uint64_t m = 1; m < p->outputs && mark[c * p->outputs] != 0; m++)
            mark[c * p->outputs + m] = 1;
    for (uint64_t j = p->n - p->shared; j < p->n; j++)
        mark[j] = 1;
}

/* One vector. */
static void count_blocks(momentum_run *r)
{
    dual_run *base = &r->base;
    const problem *p = base->p;
    for (uint64_t k = 0; k < base->local; k++) {
#define CALL(form) mark_columns(p, k, base->direction.dv_block[k], form)
        ROWS_DISPATCH(p->rows.form, CALL);
#undef CALL
    }
    comm_sum_vectors(p->comm, base->K, 1, (const double *const *)base->direction.dv_block, (int)base->local, p->n,
                     r->nu, p->threads);
    for (uint64_t j = 0; j < p->n; j++)
        r->nu[j] = fmax(r->nu[j], 1);
}

static bool blocks_go_ahead(const dual_run *r, bda_error *err)
{
    for (uint64_t k = 0; k < r->local; k++)
        if (!r->blocks[k]->kind->advance)
            return err_set(err, BDA_USAGE,
                           "--method=momentum is for --task=tag, and for --task=parse with hinge or squared-hinge; "
                           "--method=auto would do");
    return true;
}

static bool momentum_open(momentum_run *r, const method *self, problem *p, const method_options *options,
                          watch *watch, bda_error *err)
{
    *r = (momentum_run){.outer = watch, .t = 1, .least = INFINITY};
    r->watch =
        (struct watch){.seconds = seconds, .interrupted = interrupted, .round = report_round, .ends = round_ends};
    if (!dual_open(&r->base, self->preset, p, options, &r->watch, err))
        return false;
    if (!comm_agree(p->comm, blocks_go_ahead(&r->base, err), err))
        return false;
    arena *m = &r->base.memory;
    bool ok = (r->nu = ARENA_TAKE(m, double, p->n, err)) && (r->v_before = ARENA_TAKE(m, double, p->n, err)) &&
              (r->ahead = ARENA_TAKE(m, double, p->n, err));
    if (!comm_agree(p->comm, ok, err))
        return false;
    r->base.epochs.count = options->local_epochs > 0 ? options->local_epochs : EPOCHS;
    count_blocks(r);
    dual_begin_lengths(&r->base, options);
    r->stretches = p->task->dual->along_itself && p->loss->kind == LOSS_SQUARED_HINGE;
    return true;
}

/* ---- the rounds ------------------------------------------------------------------------------------------------ */

static void take_back_blocks(momentum_run *r)
{
    for (uint64_t k = 0; k < r->base.local; k++)
        block_take_back(r->base.blocks[k]);
}

/* Where f has risen, alpha and v of the round before. */
static void take_back(momentum_run *r)
{
    dual_run *base = &r->base;
    take_back_blocks(r);
    memcpy(base->v, r->v_before, base->p->n * sizeof *base->v);
    r->t = 1;
}

/* beta and w_y; v becomes v_before. */
static double look_ahead(momentum_run *r)
{
    const uint64_t n = r->base.p->n;
    const double next = 0.5 * (1 + sqrt(1 + 4 * r->t * r->t)), beta = fmin((r->t - 1) / next, BETA_MOST);
    const double *v = r->base.v;
    for (uint64_t j = 0; j < n; j++) {
        r->ahead[j] = v[j] + beta * (v[j] - r->v_before[j]);
        r->v_before[j] = v[j];
    }
    r->t = next;
    return beta;
}

static void solve(momentum_run *r, uint64_t t, double beta)
{
    dual_run *base = &r->base;
    const span span = span_begin(base->p->comm);
    subproblem s = {.w = r->ahead,
                    .h = r->nu,
                    .a1 = 1,
                    .epochs = base->epochs.count,
                    .learning = base->epochs.learning,
                    .settled_outputs = base->epochs.settled_outputs,
                    .seed = base->seed,
                    .round = t};
    FOR_BLOCKS (k, base->local, base->p->threads)
        block_solve_ahead(base->blocks[k], &s, beta, base->direction.dv_block[k], &base->direction.of_block[k]);
    span_end(&span, &base->report, SPENT_LOCAL);
}

static void name_whole(archive *a, void *run)
{
    momentum_run *r = run;
    ARCHIVE(a, r->t);
    ARCHIVE(a, r->least);
    ARCHIVE(a, r->f);
    ARCHIVE(a, r->separable);
    ARCHIVE(a, r->least_separable);
    ARCHIVE(a, r->rounding);
    ARCHIVE_ARRAY(a, r->v_before, r->base.p->n);
    dual_whole(a, &r->base);
}

static void name_block(archive *a, void *run, uint64_t k)
{
    dual_block(a, &((momentum_run *)run)->base, k);
}

/* alpha and v times the t at which f is least. One message of scalars. */
static void stretch(momentum_run *r)
{
    enum { SLOPE, CURVE, COLUMNS };
    dual_run *base = &r->base;
    const problem *p = base->p;
    for (uint64_t k = 0; k < base->local; k++) {
        double *to = base->scalars.mine + k * COLUMNS;
        base->blocks[k]->kind->along_itself(base->blocks[k], &to[SLOPE], &to[CURVE]);
    }
    scalars_gather(&base->scalars, COLUMNS);
    const double curve = vec_dot(base->v, base->v, p->n, p->threads) + scalars_sum(&base->scalars, CURVE);
    const double t = -scalars_sum(&base->scalars, SLOPE) / curve;
    if (!(t > 0 && t < INFINITY)) /* alpha is 0 */
        return;
    for (uint64_t k = 0; k < base->local; k++)
        base->blocks[k]->kind->stretch(base->blocks[k], t);
    for (uint64_t j = 0; j < p->n; j++)
        base->v[j] *= t;
    r->rounding = t * r->rounding + fabs(t - 1) * base->drift.rounding;
    base->report.step = t;
}

/* v = w_y + dv is off by what v was, by beta times what its last step was, and by what the message took. */
static void take_step(momentum_run *r, double beta)
{
    dual_run *base = &r->base;
    const double before = base->drift.rounding;
    memcpy(base->v, r->ahead, base->p->n * sizeof *base->v);
    vec_add(base->v, 1, base->direction.dv, base->p->n, base->p->threads);
    r->rounding = beta * r->rounding + base->drift.sum_error;
    base->report.step = 1;
    if (r->stretches)
        stretch(r);
    base->drift.rounding = before + r->rounding;
}

static bool momentum_train(const method *self, problem *p, const method_options *options, watch *watch,
                           bda_error *err)
{
    momentum_run r;
    dual_run *base = &r.base;
    bool ok = momentum_open(&r, self, p, options, watch, err); /* alpha = 0, v = 0 */
    const method_state state = {&r, name_whole, name_block};
    for (uint64_t t = 0; ok; t++) {
        if (dual_look(base, watch, &state, &t)) /* through report_round */
            break;
        if (r.f > r.least)
            take_back(&r);
        else {
            r.least = r.f;
            r.least_separable = r.separable;
        }
        double beta = look_ahead(&r);
        solve(&r, t, beta);
        ok = dual_sum(base, err); /* dv = sum_k X_k (z_k - y_k): the one vector of the round */
        if (ok)
            take_step(&r, beta);
    }
    dual_close(base);
    return ok;
}

const method momentum_method = {
    .name = "momentum",
    .summary = "safe models of blocks by how many of them a feature occurs in, with momentum",
    .needs = "--task=tag or parse; of parse hinge or squared-hinge",
    .sentences = true,
    .smooth_regulariser = true,
    .preset = &(const preset){.a1 = A1_ONE, .a2 = A2_ZERO, .search = SEARCH_NONE, .step = STEP_ONE, .safe = true},
    .train = momentum_train,
};
