/* descent.c - see descent.h. */
#include "methods/descent.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/parallel.h"
#include "base/vector.h"
#include "problem/separable.h"
#include "problem/stage.h"

/* ---- messages ----------------------------------------------------------------------------------------------- */

void descent_gather(descent *r, int columns)
{
    const span messages = span_begin(r->p->comm);
    scalars_gather(&r->scalars, columns);
    span_end(&messages, &r->report, SPENT_MESSAGES);
}

static void sum_parts(descent *r, double largest, double *const *part, uint64_t length, double *to)
{
    problem *p = r->p;
    const span messages = span_begin(p->comm);
    comm_sum_packed(p->comm, p->fields, r->K, largest, (const double *const *)part, (int)r->local, length, to,
                    p->threads);
    span_end(&messages, &r->report, SPENT_MESSAGES);
}

void descent_sum_long(descent *r, double *const *part, uint64_t length, double *to)
{
    double largest = 0; /* with one block nobody needs to know it */
    if (r->K > 1) {
        memcpy(r->scalars.mine, r->largest, r->local * sizeof *r->scalars.mine);
        descent_gather(r, 1);
        largest = scalars_max(&r->scalars, 0);
    }
    sum_parts(r, largest, part, length, to);
}

void descent_sum(descent *r, double *to)
{
    descent_sum_long(r, r->part_sum, r->p->n, to);
}

/* ---- a round ------------------------------------------------------------------------------------------------ */

/* The columns of the message that goes with a gradient. */
enum { LOSS, CONJUGATE, GAP, LARGEST, SECONDS, INTERRUPTED, COLUMNS };

/* What the margins and s say of block k. Where s is s(w), -s is in the subdifferential, and the losses have no gap.
 */
static void look(descent *r, uint64_t k, double *to)
{
    const instances *b = &r->part[k];
    to[GAP] = 0;
    if (!r->own_dual) {
        point_sums at = instances_point(b, r->z[k], r->s[k]);
        to[LOSS] = at.loss;
        to[CONJUGATE] = at.conjugate;
        return;
    }
    instances_along(b, r->z[k], 0, NULL, NULL, &to[LOSS], NULL, NULL);
    to[CONJUGATE] = instances_conjugate(b, r->s[k]);
    to[GAP] = instances_gap(b, r->z[k], r->s[k]);
}

/* One pass over the margins and one over the rows; a message of scalars, and one of n numbers. */
static void take_gradient(descent *r)
{
    problem *p = r->p;
    const penalty *g = &p->penalty;
    const rank_view view = report_begin(r->watch);
    FOR_BLOCKS (k, r->local, p->threads) {
        const instances *b = &r->part[k];
        double *to = r->scalars.mine + k * COLUMNS;
        look(r, k, to);
        to[LARGEST] = instances_image(b, r->s[k], r->part_sum[k]);
        report_put(view, to + SECONDS);
    }
    descent_gather(r, COLUMNS);
    report_end(&r->report, &r->scalars, SECONDS); /* before another message takes its place */
    r->loss = scalars_sum(&r->scalars, LOSS);
    r->primal = g->kind->value(g, r->w) + r->loss;
    sum_parts(r, scalars_max(&r->scalars, LARGEST), r->part_sum, p->n, r->image);
    g->kind->slope(g, r->gradient, r->w);
    vec_add(r->gradient, -1, r->image, p->n, p->threads);
    r->norm = sqrt(vec_dot(r->gradient, r->gradient, p->n, p->threads));
}

/* With g = sum_j f_j |w_j| alone, g* is 0 where all |v_j| <= f_j and infinite elsewhere. s is made feasible by a factor:
 * all xi* are convex, and finite at 0. Returns the factor; *dual is f(s) of the new s. One message of scalars. */
static double shrink(descent *r, double *dual)
{
    const penalty *g = &r->p->penalty;
    double factor = 1;
    for (uint64_t j = 0; j < bound_of(g); j++) {
        const double most = factor_of(g, j);
        if (fabs(r->image[j]) > most)
            factor = fmin(factor, most / fabs(r->image[j]));
    }
    FOR_BLOCKS (k, r->local, r->p->threads) {
        for (uint64_t i = 0; i < r->part[k].count * r->part[k].width; i++)
            r->s[k][i] *= factor;
        r->scalars.mine[k] = instances_conjugate(&r->part[k], r->s[k]);
    }
    descent_gather(r, 1);
    *dual = scalars_sum(&r->scalars, 0);
    return factor;
}

/* The dual of s, or of a multiple of it, and the gap between that and w. */
static void bound(descent *r, double *dual, double *gap)
{
    const penalty *g = &r->p->penalty;
    const uint64_t free = g->n - g->free;
    intercept *c = &r->intercept;
    double factor = 1;
    if (g->l1_ratio < 1) {
        *dual = g->kind->conjugate(g, r->image) + scalars_sum(&r->scalars, CONJUGATE);
        *gap = g->kind->distance(g, r->w, r->image) + scalars_sum(&r->scalars, GAP);
    } else {
        factor = shrink(r, dual);
        *gap = r->primal + *dual;
    }
    for (uint64_t m = 0; m < g->free; m++) {
        c->sum[m] = factor * r->image[free + m];
        *gap += g->l1_ratio < 1 ? 0 : c->sum[m] * r->w[free + m];
    }
    if (g->free > 0) {
        intercept_look(c, r->z, 1);
        intercept_certify(c, c->sum, r->w + free, r->primal, dual, gap);
    }
}

/* What s proves. The dual point 0 has f = 0 and the gap P(0): what every dual method starts with at w = 0, and what
 * --gap-of=start is relative to. So round 0 reports that, though s(0) may be better. */
static void certify(descent *r, uint64_t t)
{
    round_report *report = &r->report;
    double dual, gap;
    bound(r, &dual, &gap);
    /* The gap of a point and its own s is exact where the difference of both objectives drowns in rounding. */
    const bool told = t > 0 || r->p->start;
    const bool best = told && dual - r->best_dual < 4 * DBL_EPSILON * fabs(r->best_dual);
    report->primal = r->primal;
    report->dual = told ? fmin(dual, r->best_dual) : r->best_dual;
    report->gap = best ? gap : fmax(0, r->primal + r->best_dual);
    r->best_dual = fmin(r->best_dual, dual);
}

bool descent_evaluate(descent *r, uint64_t t)
{
    problem *p = r->p;
    round_report *report = &r->report;
    double *spent = report->spent;
    const double begin = clock_now(), waited = spent[SPENT_MESSAGES];
    spent[SPENT_LOCAL] = fmax(0, begin - r->since - waited - spent[SPENT_LINE_SEARCH]);
    take_gradient(r);
    certify(r, t);
    report->round = t;
    report->vectors_sent = comm_said(p->comm)->vectors + r->extra_vectors;
    report->bytes_sent = comm_said(p->comm)->bytes;
    spent[SPENT_EVALUATION] = clock_now() - begin - (spent[SPENT_MESSAGES] - waited);
    bool stop = stage_report(r->watch, report, r->w);
    *report = (round_report){0};
    r->since = clock_now();
    return stop;
}

bool descent_look(descent *r, const method_state *state, uint64_t *t)
{
    bool stop;
    if (stage_resume(r->watch, state, t, &stop))
        return stop;
    return stage_keep(r->watch, state, *t, descent_evaluate(r, *t));
}

void descent_whole(archive *a, void *run)
{
    descent *r = run;
    const uint64_t n = r->p->n;
    ARCHIVE(a, r->primal);
    ARCHIVE(a, r->loss);
    ARCHIVE(a, r->best_dual);
    ARCHIVE(a, r->norm);
    intercept_state(a, &r->intercept);
    ARCHIVE_ARRAY(a, r->w, n);
    ARCHIVE_ARRAY(a, r->image, n);
    ARCHIVE_ARRAY(a, r->gradient, n);
}

void descent_margins_state(archive *a, const descent *r, const char *name, double *const *q, uint64_t k)
{
    archive_bytes(a, name, q[k], r->part[k].size, sizeof *q[k]);
}

void descent_block(archive *a, void *run, uint64_t k)
{
    descent *r = run;
    descent_margins_state(a, r, "z", r->z, k);
    descent_margins_state(a, r, "s", r->s, k);
}

void descent_margins(const descent *r, const double *d, double *const *q)
{
    FOR_BLOCKS (k, r->local, r->p->threads)
        instances_margins(&r->part[k], d, q[k]);
}

void descent_move(descent *r, double t, const double *d, double *const *q)
{
    vec_add(r->w, t, d, r->p->n, r->p->threads);
    FOR_BLOCKS (k, r->local, r->p->threads)
        vec_add(r->z[k], t, q[k], r->part[k].size, 1);
}

/* ---- along directions --------------------------------------------------------------------------------------- */

/* How g changes along the directions, where it is quadratic but for kinks: the slopes grad g(w)'d_k [m], and the
 * second derivatives d_j'H d_k [m][m], H the diagonal `curve`. Chunk by chunk, so that each direction is read once.
 */
typedef struct incline {
    double slope[DESCENT_DIRECTIONS], curve[DESCENT_DIRECTIONS][DESCENT_DIRECTIONS];
} incline;

#define CHUNK 1024

static void incline_of(const descent *r, const double *slope, int m, const double *const *d, incline *g)
{
    const uint64_t n = r->p->n;
    sum slopes[DESCENT_DIRECTIONS] = {{0, 0}}, curves[DESCENT_DIRECTIONS][DESCENT_DIRECTIONS] = {{{0, 0}}};
    double bent[CHUNK];
    for (uint64_t first = 0; first < n; first += CHUNK) {
        uint64_t length = n - first < CHUNK ? n - first : CHUNK;
        for (int k = 0; k < m; k++) {
            const double *of = d[k] + first;
            sum_add(&slopes[k], vec_dot(slope + first, of, length, 1));
            for (uint64_t j = 0; r->curve && j < length; j++)
                bent[j] = r->curve[first + j] * of[j];
            for (int i = 0; i <= k; i++)
                sum_add(&curves[k][i], vec_dot(r->curve ? bent : of, d[i] + first, length, 1));
        }
    }
    for (int k = 0; k < m; k++) {
        g->slope[k] = sum_value(&slopes[k]);
        for (int i = 0; i <= k; i++)
            g->curve[k][i] = g->curve[i][k] = sum_value(&curves[k][i]);
    }
}

/* What g adds at the point t: change, gradient [m], Hessian [m][m]. */
static void add_quadratic(int m, const incline *g, const double *t, double *change, double *gradient, double *hessian)
{
    for (int k = 0; k < m; k++) {
        double bend = 0;
        for (int j = 0; j < m; j++)
            bend += g->curve[k][j] * t[j];
        *change += t[k] * (g->slope[k] + 0.5 * bend);
        if (gradient)
            gradient[k] += g->slope[k] + bend;
        for (int j = 0; hessian && j < m; j++)
            hessian[k * m + j] += g->curve[k][j];
    }
}

/* The same where g has kinks: from the point itself. */
static void add_kinked(descent *r, int m, const double *const *d, const incline *g, const double *t, double *change,
                       double *gradient, double *hessian)
{
    const penalty *p = &r->p->penalty;
    memcpy(r->moved, r->w, p->n * sizeof *r->moved);
    for (int k = 0; k < m; k++)
        vec_add(r->moved, t[k], d[k], p->n, p->threads);
    *change += p->kind->value(p, r->moved) - p->kind->value(p, r->w);
    if (gradient)
        p->kind->slope(p, r->moved, r->moved);
    for (int k = 0; gradient && k < m; k++)
        gradient[k] += vec_dot(r->moved, d[k], p->n, p->threads);
    for (int k = 0; hessian && k < m; k++)
        for (int j = 0; j < m; j++)
            hessian[k * m + j] += g->curve[k][j];
}

/* The losses' part, in one message. A point has its value, then gradient and the Hessian's lower triangle if wanted.
 */
static void losses_along(descent *r, int m, double *const *const *q, int trials, const double *t, double *change,
                         double *gradient, double *hessian)
{
    const int triangle = m * (m + 1) / 2, point = 1 + (gradient ? m : 0) + (hessian ? triangle : 0);
    const int columns = trials * point, threads = r->p->threads;
    FOR_BLOCKS (k, r->local, threads) {
        const double *of[DESCENT_DIRECTIONS];
        double full[DESCENT_DIRECTIONS * DESCENT_DIRECTIONS] = {0};
        for (int i = 0; i < m; i++)
            of[i] = q[i][k];
        for (int j = 0; j < trials; j++) {
            double *to = r->scalars.mine + k * (uint64_t)columns + j * point, *rest = to + 1 + (gradient ? m : 0);
            instances_along(&r->part[k], r->z[k], m, of, t + j * m, to, gradient ? to + 1 : NULL,
                            hessian ? full : NULL);
            for (int a = 0; hessian && a < m; a++)
                for (int b = 0; b <= a; b++)
                    *rest++ = full[a * m + b];
        }
    }
    descent_gather(r, columns);
    for (int j = 0; j < trials; j++) {
        int at = j * point;
        change[j] = scalars_sum(&r->scalars, at++) - r->loss;
        for (int a = 0; gradient && a < m; a++)
            gradient[j * m + a] = scalars_sum(&r->scalars, at++);
        double *full = hessian ? hessian + j * m * m : NULL;
        for (int a = 0; hessian && a < m; a++)
            for (int b = 0; b <= a; b++)
                full[a * m + b] = full[b * m + a] = scalars_sum(&r->scalars, at++);
    }
}

void descent_along(descent *r, int m, const double *const *d, double *const *const *q, int trials, const double *t,
                   double *change, double *gradient, double *hessian)
{
    const penalty *p = &r->p->penalty;
    double begin = clock_now(), waited = r->report.spent[SPENT_MESSAGES];
    incline g = {.slope = {0}};
    if (d) {
        p->kind->slope(p, r->moved, r->w);
        incline_of(r, r->moved, m, d, &g);
    }
    losses_along(r, m, q, trials, t, change, gradient, hessian);
    for (int j = 0; d && j < trials; j++) {
        double *first = gradient ? gradient + j * m : NULL, *second = hessian ? hessian + j * m * m : NULL;
        if (p->kind->smooth)
            add_quadratic(m, &g, t + j * m, &change[j], first, second);
        else
            add_kinked(r, m, d, &g, t + j * m, &change[j], first, second);
    }
    r->report.spent[SPENT_LINE_SEARCH] += clock_now() - begin - (r->report.spent[SPENT_MESSAGES] - waited);
}

/* By the sign of the slope, which tells a minimum apart where differences of P drown in rounding. P falls as far as
 * `low`, which is a safe answer; between low and high by the secant and points around it. */
double descent_search(descent *r, const double *d, double *const *q, double slope, uint64_t *trials)
{
    enum { TRIALS = DESCENT_TRIALS, MESSAGES = 8 };
    const double small = -0.1 * slope;
    double t[TRIALS] = {1}, change[TRIALS], along[TRIALS];
    double low = 0, high = INFINITY, at_low = slope, at_high = NAN;
    for (int message = 0, count = 1; slope < 0 && message < MESSAGES; message++, count = message < 2 ? 2 : TRIALS) {
        descent_along(r, 1, &d, &q, count, t, change, along, NULL);
        *trials += (uint64_t)count;
        int best = 0;
        for (int j = 0; j < count; j++) {
            best = fabs(along[j]) < fabs(along[best]) ? j : best;
            if (along[j] <= 0 && t[j] > low)
                low = t[j], at_low = along[j];
            if (along[j] > 0 && t[j] < high)
                high = t[j], at_high = along[j];
        }
        if (fabs(along[best]) <= small && (along[best] <= 0 || change[best] < 0))
            return t[best];
        double near = low + (high - low) * at_low / (at_low - at_high);
        const double first[] = {0.25, 0.5}, beyond[TRIALS] = {2 * low, 4 * low, 8 * low, 16 * low};
        const double between[TRIALS] = {low + 0.5 * (near - low), near, near + 0.1 * (high - near),
                                        near + 0.5 * (high - near)};
        memcpy(t, isinf(high) ? beyond : between, sizeof t);
        if (message == 0 && low == 0)
            memcpy(t, first, sizeof first);
    }
    return low;
}

/* ---- before and after ---------------------------------------------------------------------------------------- */

double **descent_new_margins(descent *r, bda_error *err)
{
    return instances_new_margins(&r->memory, r->part, r->local, err);
}

static bool take_parts(descent *r, bda_error *err)
{
    const problem *p = r->p;
    if (!(r->part = ARENA_TAKE(&r->memory, instances, r->local + 1, err)) ||
        !(r->part_sum = ARENA_TAKE(&r->memory, double *, r->local + 1, err)))
        return false;
    for (uint64_t k = 0; k < r->local; k++) {
        uint64_t count = p->data->block_start[k + 1] - p->data->block_start[k];
        if (count >= UINT32_MAX)
            return err_set(err, BDA_FAILED,
                           "a block of %llu instances is too large; use more blocks (--blocks) or ranks",
                           (unsigned long long)count);
        if (!instances_open(&r->part[k], p, k, &r->memory, err) ||
            !(r->part[k].work = ARENA_TAKE(&r->memory, double, r->part[k].width, err)) ||
            !(r->part_sum[k] = ARENA_TAKE(&r->memory, double, p->n, err)))
            return false;
    }
    return true;
}

static bool take_memory(descent *r, bda_error *err)
{
    const uint64_t n = r->p->n;
    arena *m = &r->memory;
    bool identity = r->p->penalty.kind->identity && r->p->penalty.free == 0;
    return take_parts(r, err) && (r->w = ARENA_TAKE(m, double, n, err)) &&
           (r->image = ARENA_TAKE(m, double, n, err)) && (r->gradient = ARENA_TAKE(m, double, n, err)) &&
           (r->moved = ARENA_TAKE(m, double, n, err)) && (identity || (r->curve = ARENA_TAKE(m, double, n, err))) &&
           (r->z = descent_new_margins(r, err)) && (r->s = descent_new_margins(r, err)) &&
           (r->largest = ARENA_TAKE(m, double, r->local + 1, err)) &&
           scalars_take(&r->scalars, m, DESCENT_COLUMNS, err);
}

bool descent_open(descent *r, problem *p, watch *watch, bda_error *err)
{
    *r = (descent){.p = p, .watch = watch, .K = p->data->blocks, .local = p->data->local_blocks};
    r->scalars = (scalars){.comm = p->comm, .blocks = r->K, .local = r->local};
    r->since = clock_now();
    if (!comm_agree(p->comm, take_memory(r, err), err) || !intercept_open(&r->intercept, p, err)) {
        arena_free(&r->memory);
        return false;
    }
    if (r->curve)
        p->penalty.kind->bend(&p->penalty, r->curve);
    if (p->start) {
        memcpy(r->w, p->start, p->n * sizeof *r->w);
        descent_margins(r, r->w, r->z);
    }
    return true;
}

void descent_close(descent *r)
{
    intercept_close(&r->intercept);
    arena_free(&r->memory);
}
