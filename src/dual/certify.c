/* certify.c - v = X alpha, computed anew.
 *
 * v follows alpha by increments. Were one of them ever lost, g*(v) + sum_i xi_i*(-alpha_i) would bound nothing. So what
 * a run ends with, and what it says every DUAL_CERTIFY rounds, is of an X alpha made from nothing but alpha and the
 * rows. P(w) holds for w whatever v is, and with u = X alpha
 *
 *     f(alpha) = g*(u) + sum_i xi_i*,    P(w) + f(alpha) = [g(w) + g*(u) - w'u] + sum_i [xi_i + xi_i* + alpha_i x_i'w]  */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/vector.h"
#include "dual/dual.h"

/* How far v may be from X alpha:
 *
 * - What packed messages took. It is a bound: a message is off by at most sum_error, and v takes eta of it.
 * - What doubles round, 2^-53 of what is added, in this round or an earlier one: v keeps the rounding of numbers that
 *   have cancelled since, so it goes by the largest number that a block ever added. A number of v is the sum of as many
 *   roundings as its column has cells, in every epoch of every round, of either sign; on all that was tried, to C = 1e4
 *   and thousands of rounds, that came to 1e-14 of the largest. ROUNDING is 1e7 times as much, while an increment that
 *   is lost is of the order of the largest itself. */
#define ROUNDING 1e-7

static bool is_regular(const dual_run *r)
{
    const uint64_t t = r->report.round;
    return t > 0 && t % DUAL_CERTIFY == 0;
}

static bool is_due(dual_run *r)
{
    double to_go;
    return blocks_have_image(r->p) && (stage_ends(r->watch, &r->report, &to_go) || is_regular(r));
}

/* X alpha into r->direction.dv; returns the largest number that a block adds. */
static double sum_images(dual_run *r)
{
    problem *p = r->p;
    FOR_BLOCKS (k, r->local, p->threads) {
        block_image(r->blocks[k], r->direction.dv_block[k]);
        r->direction.of_block[k].largest = vec_largest(r->direction.dv_block[k], p->n, 1);
    }
    double largest = 0;
    for (uint64_t k = 0; k < r->local; k++)
        largest = fmax(largest, r->direction.of_block[k].largest);
    comm_max_reals(p->comm, &largest, 1);
    const int fields = p->fields > 2 ? 2 : 1; /* finer than the rounds */
    r->drift.sum_error = comm_sum_packed(p->comm, fields, r->K, largest, (const double *const *)r->direction.dv_block,
                                         (int)r->local, p->n, r->direction.dv, p->threads);
    dual_add_centre(r, r->direction.dv);
    return largest;
}

static double largest_difference(const dual_run *r, const double *v)
{
    double most = 0;
    for (uint64_t j = 0; j < r->p->n; j++)
        most = fmax(most, fabs(v[j] - r->direction.dv[j]));
    return most;
}

/* X alpha into r->direction.dv, and what is said of v, which is off by `rounding` at most if nothing was lost. */
static void look_at(dual_run *r, const double *v, double rounding, round_report *to)
{
    const double largest = sum_images(r), off = largest_difference(r, v);
    to->certificate.anew = true;
    to->certificate.for_end = !is_regular(r);
    to->certificate.dual_before = to->dual;
    to->certificate.gap_before = to->gap;
    const double scale = fmax(largest, r->drift.largest_added);
    to->certificate.repaired =
        off <= ROUNDING * scale + rounding + r->drift.sum_error ? 0 : off / fmax(scale, 1e-300);
    assert(to->certificate.repaired == 0 || to->interrupted || data_lost(r->p->data)); /* zeros may stand for rows */
}

static void count_costs(const dual_run *r, const span *since, round_report *to)
{
    to->vectors_sent = comm_said(r->p->comm)->vectors;
    to->bytes_sent = comm_said(r->p->comm)->bytes;
    span_end(since, to, SPENT_EVALUATION);
}

void dual_certify(dual_run *r, const double *w, double terms)
{
    if (!is_due(r))
        return;
    problem *p = r->p;
    round_report *to = &r->report;
    const regulariser *g = p->penalty.kind;
    const span span = span_begin(p->comm);
    look_at(r, r->v, r->drift.rounding, to);
    const double before = g->conjugate(&p->penalty, r->v), now = g->conjugate(&p->penalty, r->direction.dv);
    to->dual = r->f - before + now;
    if (to->stretch == 0)
        to->gap = terms + g->distance(&p->penalty, w, r->direction.dv);
    else { /* (t - 1)^2 g*(v) of choose_length is g(t w) + g*(v) - t w'v */
        const double turned = vec_dot(w, r->direction.dv, p->n, p->threads) - vec_dot(w, r->v, p->n, p->threads);
        to->gap = fmax(0, to->gap + (now - before) - (1 + to->stretch) * turned);
        if (to->certificate.repaired > 0) /* by less than is seen at once */
            to->primal -= (1 + to->stretch) * turned;
    }
    count_costs(r, &span, to);
}

void dual_certify_kept(dual_run *r, const double *v, double separable, round_report *to)
{
    const span span = span_begin(r->p->comm);
    look_at(r, v, r->drift.rounding, to);
    to->certificate.for_end = true;
    to->dual = separable + r->p->penalty.kind->conjugate(&r->p->penalty, r->direction.dv);
    to->gap = fmax(0, to->primal + to->dual);
    count_costs(r, &span, to);
}

/* v becomes the X alpha that there is now. */
static void take_image(dual_run *r)
{
    const regulariser *g = r->p->penalty.kind;
    double squares = 0;
    for (uint64_t j = 0; j < r->p->n; j++)
        squares += (r->v[j] - r->direction.dv[j]) * (r->v[j] - r->direction.dv[j]);
    r->travelled += sqrt(squares) / r->p->penalty.convexity; /* of w, which follows v */
    memcpy(r->v, r->direction.dv, r->p->n * sizeof *r->v);
    r->f = r->report.dual;
    g->gradient(&r->p->penalty, r->w, r->v);
    r->drift.rounding = r->drift.sum_error;
}

/* Where the run ends here and is resumed one day, it is to go on as if it had not ended. */
bool dual_repair(dual_run *r, bool stop)
{
    const bool repaired = r->report.certificate.repaired > 0;
    const bool in_passing = r->report.certificate.anew && !(stop && r->report.certificate.for_end) &&
                            r->drift.rounding > r->drift.sum_error;
    if (repaired || in_passing)
        take_image(r);
    if (repaired)
        r->search.idle_rounds = 0;
    return repaired;
}
