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

#include "base/clock.h"
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

/* X alpha into r->dv; returns the largest number that a block adds. */
static double sum_images(dual_run *r)
{
    problem *p = r->p;
    FOR_BLOCKS (k, r->local, p->threads) {
        block_image(r->blocks[k], r->dv_block[k]);
        r->local_direction[k].largest = vec_largest(r->dv_block[k], p->n, 1);
    }
    double largest = 0;
    for (uint64_t k = 0; k < r->local; k++)
        largest = fmax(largest, r->local_direction[k].largest);
    comm_max_reals(p->comm, &largest, 1);
    const int fields = p->fields > 2 ? 2 : 1; /* finer than the rounds */
    r->sum_error = comm_sum_packed(p->comm, fields, r->K, largest, (const double *const *)r->dv_block, (int)r->local,
                                   p->n, r->dv, p->threads);
    dual_add_centre(r, r->dv);
    return largest;
}

static double largest_difference(const dual_run *r, const double *v)
{
    double most = 0;
    for (uint64_t j = 0; j < r->p->n; j++)
        most = fmax(most, fabs(v[j] - r->dv[j]));
    return most;
}

/* X alpha into r->dv, and what is said of v, which is off by `rounding` at most if nothing was lost. */
static void look_at(dual_run *r, const double *v, double rounding, round_report *to)
{
    const double largest = sum_images(r), off = largest_difference(r, v);
    to->anew = true;
    to->for_end = !is_regular(r);
    to->dual_before = to->dual;
    to->gap_before = to->gap;
    const double scale = fmax(largest, r->largest_added);
    to->repaired = off <= ROUNDING * scale + rounding + r->sum_error ? 0 : off / fmax(scale, 1e-300);
    assert(to->repaired == 0 || to->interrupted || data_lost(r->p->data)); /* zeros may stand for rows */
}

/* Vectors, bytes and seconds since `begin`. */
static void count_costs(dual_run *r, double begin, double comm_before, round_report *to)
{
    const comm_stats *said = comm_said(r->p->comm);
    to->vectors_sent = said->vectors;
    to->bytes_sent = said->bytes;
    to->comm_seconds += said->seconds - comm_before;
    to->eval_seconds += clock_now() - begin - (said->seconds - comm_before);
}

void dual_certify(dual_run *r, const double *w, double terms)
{
    if (!is_due(r))
        return;
    problem *p = r->p;
    round_report *to = &r->report;
    const regulariser *g = p->penalty.kind;
    const double begin = clock_now(), comm_before = comm_said(p->comm)->seconds;
    look_at(r, r->v, r->rounding, to);
    const double before = g->conjugate(&p->penalty, r->v), now = g->conjugate(&p->penalty, r->dv);
    to->dual = r->f - before + now;
    if (to->stretch == 0)
        to->gap = terms + g->distance(&p->penalty, w, r->dv);
    else { /* (t - 1)^2 g*(v) of choose_length is g(t w) + g*(v) - t w'v */
        const double turned = vec_dot(w, r->dv, p->n, p->threads) - vec_dot(w, r->v, p->n, p->threads);
        to->gap = fmax(0, to->gap + (now - before) - (1 + to->stretch) * turned);
    }
    count_costs(r, begin, comm_before, to);
}

void dual_certify_kept(dual_run *r, const double *v, double separable, round_report *to)
{
    const double begin = clock_now(), comm_before = comm_said(r->p->comm)->seconds;
    look_at(r, v, r->rounding, to);
    to->for_end = true;
    to->dual = separable + r->p->penalty.kind->conjugate(&r->p->penalty, r->dv);
    to->gap = fmax(0, to->primal + to->dual);
    count_costs(r, begin, comm_before, to);
}

/* v becomes the X alpha that there is now. */
static void take_image(dual_run *r)
{
    const regulariser *g = r->p->penalty.kind;
    double squares = 0;
    for (uint64_t j = 0; j < r->p->n; j++)
        squares += (r->v[j] - r->dv[j]) * (r->v[j] - r->dv[j]);
    r->travelled += sqrt(squares) / r->p->penalty.convexity; /* of w, which follows v */
    memcpy(r->v, r->dv, r->p->n * sizeof *r->v);
    r->f = r->report.dual;
    g->gradient(&r->p->penalty, r->w, r->v);
    r->rounding = r->sum_error;
}

/* Where the run ends here and is resumed one day, it is to go on as if it had not ended. */
bool dual_repair(dual_run *r, bool stop)
{
    const bool repaired = r->report.repaired > 0;
    const bool in_passing = r->report.anew && !(stop && r->report.for_end) && r->rounding > r->sum_error;
    if (repaired || in_passing)
        take_image(r);
    if (repaired)
        r->idle_rounds = 0;
    return repaired;
}
