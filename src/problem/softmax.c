/* softmax.c - dual blocks of multinomial logistic regression.
 *
 *     xi_i(W) = C (log sum_k exp(w_k'x) - w_y'x)
 *     alpha_i = C e_y - beta_i,   beta_ik >= 0,   sum_k beta_ik = C
 *     xi_i*(-alpha_i) = sum_k beta_ik log(beta_ik / C)
 *
 * A visit solves the instance's own sub-problem: with A_k = a1 x'H_k x + a2 and
 * c_k = -u_k'x - (A_k - a2) beta_k - a2 beta0_k,
 *
 *     min sum_k beta_k log beta_k + c_k beta_k + A_k/2 beta_k^2   over the simplex,
 *
 * whose solution is A_k beta_k = omega(lambda - c_k + log A_k) for one multiplier lambda, omega Wright's function. */
#include <math.h>
#include <string.h>

#include "base/vector.h"
#include "data/rows_math.h"
#include "problem/loss_math.h"
#include "problem/softmax.h"

static softmax *of(block *b)
{
    return (softmax *)b;
}

/* ---- the sub-problem of an instance -------------------------------------------------------------------------- */

/* The w with w + log w = q (Wright's omega function), by the iteration of Fritsch, Shafer and Crowley, which turns an
 * error into its fourth power. near: a guess, or 0. */
static double wright_omega(double q, double near)
{
    if (q < -40)
        return exp(q);
    double w = near;
    if (!(w > 0) || fabs(q - w - log(w)) > 1)
        w = q < -1 ? exp(q) : q < 3 ? 0.57 * exp(0.5 * q) : q - log(q);
    for (int k = 0; k < 10; k++) {
        double r = q - w - log(w), s = 1 + w, m = s * (s + 2 * r / 3);
        if (fabs(r) <= 1e-14 * (1 + fabs(q)))
            break;
        w *= 1 + r / s * (m - 0.5 * r) / (m - r);
    }
    return w;
}

/* The same by Newton's method on all log(beta_k) and lambda together, from the last beta: a logarithm and a few
 * exponentials for each class. Where some beta is 0, as at the start, from what the scores alone make it. False: it
 * was too far off. */
static bool solve_jointly(softmax *b, double C, const double *last)
{
    const uint64_t classes = b->m.base.p->classes;
    const double *A = b->m.A, *c = b->c;
    double *beta = b->beta, *u = b->logs, worst = INFINITY, least = INFINITY;
    for (uint64_t k = 0; k < classes; k++)
        least = fmin(least, last[k]);
    const bool anew = !(least > 1e-280);
    const double log_share = anew ? log(C) - softmax_log_total(b->m.score, classes) : 0;
    for (uint64_t k = 0; k < classes; k++) {
        u[k] = anew ? b->m.score[k] + log_share : log(last[k]);
        beta[k] = anew ? exp(u[k]) : last[k];
    }
    for (int step = 0; worst > 1e-6; step++) {
        double weight = 0, excess = -C;
        if (step == 12)
            return false;
        for (uint64_t k = 0; k < classes; k++) {
            double flat = beta[k] / (1 + A[k] * beta[k]);
            weight += flat;
            excess += beta[k] - flat * (u[k] + A[k] * beta[k] + c[k]);
        }
        double lambda = -excess / weight;
        worst = 0;
        for (uint64_t k = 0; k < classes; k++) {
            double move = (lambda - (u[k] + A[k] * beta[k] + c[k])) / (1 + A[k] * beta[k]);
            move = fmin(fmax(move, -4), 2);
            worst = fmax(worst, fabs(move));
            u[k] += move;
            beta[k] = exp(u[k]);
        }
    }
    double total = 0;
    for (uint64_t k = 0; k < classes; k++)
        total += beta[k];
    for (uint64_t k = 0; k < classes; k++)
        beta[k] *= C / total;
    return true;
}

/* beta at the solution, in b->beta, from the last one: the multiplier by Newton's method on log(sum beta) - log C,
 * which rises with a slope of at most 1, so that a step is never too long where it is too far to the right; from the
 * left it is kept within the bracket. */
static void solve_instance(softmax *b, double C, const double *last)
{
    const uint64_t classes = b->m.base.p->classes;
    double least = INFINITY, most = 0, lambda = 0, sum;
    for (uint64_t k = 0; k < classes; k++) {
        least = fmin(least, b->c[k]);
        b->beta[k] = last[k];
        if (last[k] > 0)
            lambda += last[k] / C * (log(last[k]) + b->m.A[k] * last[k] + b->c[k]);
        most = fmax(most, b->m.A[k]);
    }
    double low = least + log(C) - log((double)classes); /* all together have at most C */
    double high = least + log(C) + most * C;            /* the best class alone would have C */
    lambda = fmin(fmax(lambda, low), high);
    for (int step = 0; step < 100; step++) {
        double slope = 0;
        sum = 0;
        for (uint64_t k = 0; k < classes; k++) {
            double A = b->m.A[k], w = A > 0 ? wright_omega(lambda - b->c[k] + b->log_A[k], A * b->beta[k]) : 0;
            b->beta[k] = A > 0 ? w / A : exp(lambda - b->c[k]);
            sum += b->beta[k];
            slope += b->beta[k] / (1 + w);
        }
        double off = log(sum / C);
        if (off > 0)
            high = lambda;
        else
            low = lambda;
        if (fabs(off) <= 1e-9)
            break;
        double next = lambda - off * sum / slope;
        lambda = next > low && next < high ? next : 0.5 * (low + high);
    }
    for (uint64_t k = 0; k < classes; k++)
        b->beta[k] *= C / sum;
}

#define AHEAD 4

ROWS_INLINE uint64_t epoch(softmax *b, const subproblem *s, const double *from, double *to, rows_form form)
{
    const problem *p = b->m.base.p;
    const rows *r = &p->rows;
    const uint64_t classes = p->classes;
    const double scale = from == to ? s->a1 : 1;
    uint64_t cells = 0;
    for (uint32_t q = 0; q < b->m.base.count; q++) {
        if (s->seat)
            pool_visit(s->seat, to);
        if (q + AHEAD < b->m.base.count)
            rows_prefetch(r, form, b->m.base.first_row + b->m.order[q + AHEAD]);
        uint32_t i = b->m.order[q];
        uint64_t row = b->m.base.first_row + i;
        double *now = b->now + i * classes, *start = b->start + i * classes;
        double C = multiclass_cost(&b->m, i), common = s->a1 * b->m.norm[i] + s->a2, log_common = log(common);
        rows_scores(r, form, row, from, classes, b->m.score);
        if (s->h)
            rows_bends(r, form, row, s->h, classes, b->m.A);
        for (uint64_t k = 0; k < classes; k++) {
            b->m.A[k] = s->h ? s->a1 * b->m.A[k] + s->a2 : common;
            b->log_A[k] = s->h ? log(b->m.A[k]) : log_common;
            b->c[k] = -b->m.score[k] - (b->m.A[k] - s->a2) * now[k] - s->a2 * start[k];
        }
        if (!solve_jointly(b, C, now))
            solve_instance(b, C, now);
        for (uint64_t k = 0; k < classes; k++) {
            b->m.step[k] = scale * (now[k] - b->beta[k]); /* alpha = C e_y - beta */
            now[k] = b->beta[k];
        }
        rows_add_scores(r, form, row, b->m.step, from == to ? s->h : NULL, classes, to);
        cells += r->start[row + 1] - r->start[row];
    }
    return cells;
}

ROWS_INLINE void evaluate(softmax *b, const double *w, block_value *value, rows_form form)
{
    const problem *p = b->m.base.p;
    const uint64_t classes = p->classes;
    sum loss_sum = {0, 0}, conjugate = {0, 0}, gap = {0, 0};
    for (uint32_t i = 0; i < b->m.base.count; i++) {
        const double *beta = b->now + i * classes;
        double C = multiclass_cost(&b->m, i), *z = b->m.score;
        multiclass_scores(&b->m, i, w, z, form);
        if (b->m.base.margins)
            memcpy(b->m.base.margins + i * classes, z, classes * sizeof *z);
        double log_total = softmax_log_total(z, classes);
        sum_add(&loss_sum, C * (log_total - z[b->m.y[i]]));
        for (uint64_t k = 0; k < classes; k++) {
            double share = beta[k] / C, log_share = share > 0 ? log(share) : 0;
            sum_add(&conjugate, beta[k] * log_share);
            sum_add(&gap, C * softmax_gap_term(share, log_share, z[k] - log_total));
        }
        b->m.order[i] = i;
    }
    const uint64_t *start = p->rows.start + b->m.base.first_row;
    *value = (block_value){.cells = w ? (double)(start[b->m.base.count] - start[0]) : 0,
                           .loss = sum_value(&loss_sum),
                           .conjugate = sum_value(&conjugate),
                           .gap = sum_value(&gap)};
}

static uint64_t softmax_epoch(block *base, const subproblem *s, rng *random, const double *from, double *to)
{
    softmax *b = of(base);
    uint64_t cells = 0;
    rng_shuffle(random, b->m.order, base->count);
#define CALL(form) cells = epoch(b, s, from, to, form)
    ROWS_DISPATCH(base->p->rows.form, CALL);
#undef CALL
    return cells;
}

static void softmax_whole_image(const block *base, double *v)
{
    const softmax *b = (const softmax *)base;
    const rows *r = &base->p->rows;
    const uint64_t classes = base->p->classes;
    for (uint32_t i = 0; i < base->count; i++) {
        for (uint64_t k = 0; k < classes; k++)
            b->m.step[k] = (k == b->m.y[i] ? multiclass_cost(&b->m, i) : 0) - b->now[i * classes + k];
#define CALL(form) rows_add_scores(r, form, base->first_row + i, b->m.step, NULL, classes, v)
        ROWS_DISPATCH(r->form, CALL);
#undef CALL
    }
}

static void softmax_image(const block *base, double *dv)
{
    const softmax *b = (const softmax *)base;
    const rows *r = &base->p->rows;
    const uint64_t classes = base->p->classes;
    for (uint32_t i = 0; i < base->count; i++) {
        for (uint64_t k = 0; k < classes; k++)
            b->m.step[k] = b->start[i * classes + k] - b->now[i * classes + k]; /* alpha = C e_y - beta */
#define CALL(form) rows_add_scores(r, form, base->first_row + i, b->m.step, NULL, classes, dv)
        ROWS_DISPATCH(r->form, CALL);
#undef CALL
    }
}

static void softmax_evaluate(block *base, const double *w, double travelled, block_value *value)
{
    (void)travelled; /* no instance is ever without loss */
    softmax *b = of(base);
#define CALL(form) evaluate(b, w, value, form)
    ROWS_DISPATCH(base->p->rows.form, CALL);
#undef CALL
}

/* ---- along the ray ----------------------------------------------------------------------------------------- */

static void softmax_describe(const block *base, block_direction *d)
{
    const softmax *b = (const softmax *)base;
    const uint64_t count = base->count * base->p->classes;
    double limit = INFINITY;
    for (uint64_t k = 0; k < count; k++) {
        double da = b->now[k] - b->start[k];
        if (da < 0)
            limit = fmin(limit, b->start[k] / -da);
    }
    d->limit = limit;
}

static void softmax_ray(const block *base, int trials, const double *eta, double *change, double *slope)
{
    const softmax *b = (const softmax *)base;
    const uint64_t classes = base->p->classes;
    sum changes[BLOCK_TRIALS] = {{0, 0}}, slopes[BLOCK_TRIALS] = {{0, 0}};
    for (uint32_t i = 0; i < base->count; i++) {
        double C = multiclass_cost(&b->m, i);
        for (uint64_t k = i * classes; k < (i + 1) * classes; k++) {
            double da = b->now[k] - b->start[k];
            if (da == 0)
                continue;
            double before = entropy_term(b->start[k], C);
            for (int j = 0; j < trials; j++) {
                double beta = b->start[k] + eta[j] * da;
                sum_add(&changes[j], entropy_term(beta, C) - before);
                if (slope) /* the betas' sum does not change: a constant in the slope would cancel */
                    sum_add(&slopes[j], da * log(beta / C));
            }
        }
    }
    for (int j = 0; j < trials; j++) {
        change[j] = sum_value(&changes[j]);
        if (slope)
            slope[j] = sum_value(&slopes[j]);
    }
}

static void softmax_move(block *base, double eta)
{
    softmax *b = of(base);
    const uint64_t count = base->count * base->p->classes;
    if (eta != 1)
        for (uint64_t k = 0; k < count; k++)
            b->now[k] = fmax(0, b->start[k] + eta * (b->now[k] - b->start[k]));
    memcpy(b->start, b->now, count * sizeof *b->now);
}

/* ---- opening ------------------------------------------------------------------------------------------------ */

static block *softmax_open(arena *memory, const block *base, bda_error *err)
{
    const uint64_t count = base->count, classes = base->p->classes;
    softmax *b = ARENA_TAKE(memory, softmax, 1, err);
    if (!b || !multiclass_open(&b->m, memory, base, err) ||
        !(b->now = arena_take(memory, count, classes * sizeof(double), "dual variables", err)) ||
        !(b->start = arena_take(memory, count, classes * sizeof(double), "dual variables", err)) ||
        !(b->c = ARENA_TAKE(memory, double, classes, err)) || !(b->beta = ARENA_TAKE(memory, double, classes, err)) ||
        !(b->log_A = ARENA_TAKE(memory, double, classes, err)) ||
        !(b->logs = ARENA_TAKE(memory, double, classes, err)))
        return NULL;
    for (uint32_t i = 0; i < count; i++) /* alpha = 0 is beta = C e_y */
        b->now[i * classes + b->m.y[i]] = b->start[i * classes + b->m.y[i]] = multiclass_cost(&b->m, i);
    return &b->m.base;
}

static void softmax_alpha(const block *base, double *alpha)
{
    const softmax *b = (const softmax *)base;
    const uint64_t classes = base->p->classes;
    for (uint32_t i = 0; i < base->count; i++)
        for (uint64_t k = 0; k < classes; k++)
            alpha[i * classes + k] = (k == b->m.y[i] ? multiclass_cost(&b->m, i) : 0) - b->now[i * classes + k];
}

static void softmax_state(block *base, archive *a)
{
    softmax *b = of(base);
    const uint64_t count = base->count * base->p->classes;
    ARCHIVE_PLACES(a, b->m.order, base->count);
    ARCHIVE_ARRAY(a, b->now, count);
    ARCHIVE_ARRAY(a, b->start, count);
    for (int k = 0; k < POINTS_MOST && b->point[k]; k++)
        ARCHIVE_ARRAY(a, b->point[k], count);
}

static uint64_t softmax_bytes(const task *t, uint64_t outputs)
{
    (void)t;
    return MULTICLASS_BYTES + 2 * sizeof(double) * outputs;
}

const block_kind softmax_blocks = {
    .open = softmax_open,
    .epoch = softmax_epoch,
    .image = softmax_image,
    .whole_image = softmax_whole_image,
    .describe = softmax_describe,
    .ray = softmax_ray,
    .move = softmax_move,
    .evaluate = softmax_evaluate,
    .largest_norm = multiclass_largest_norm,
    .alpha = softmax_alpha,
    .bytes = softmax_bytes,
    .state = softmax_state,
    .points = &softmax_points,
};
