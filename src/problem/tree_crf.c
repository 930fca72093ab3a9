/* tree_crf.c - dual blocks of conditional random fields over dependency trees: a distribution over trees for each
 * sentence.
 *
 *     xi_i(w) = C (log sum_y exp(w'Phi(y)) - w'Phi(gold))
 *     v = sum_i C (Phi(gold) - E_mu Phi),     xi_i*(-alpha_i) = -C H(mu_i)
 *
 * The entropy of given marginals of edges has no closed form, but that of p_theta, the distribution with scores theta,
 * has: H = log Z(theta) - theta'mu(theta). So theta is what is held. A visit mixes it with the scores s at the
 * current u,
 *
 *     theta' = (1 - g) theta + g s,     dv = C X (mu - mu(theta')),
 *
 * and stays if the model, u'dv + a1 |dv|^2 / 2 - C (H' - H), does not rise; otherwise g is halved. g = 1 is the
 * minimum where a1 = 0. A move by a part of the way has no known theta, so a step of the outer loop is 0 or 1. At
 * alpha = 0, where training begins, mu is the gold tree, H is 0 and theta would be infinite on gold edges: until the
 * first visit it is some number in its place. */
#include "problem/tree_crf.h"

#include <math.h>
#include <string.h>

#include "base/vector.h"
#include "problem/kinds.h"
#include "problem/structured.h"

#define THETA_FIRST 8.0 /* of gold edges, for infinity; others have 0 */
#define MIX_GROWS 1.5   /* g after a visit whose first trial was good */
#define TRIALS_MOST 30

typedef struct tree_crf {
    block base;
    structured s;
    double C;
    uint64_t *at;                               /* [count + 1] where a unit's tables begin */
    double *theta, *mu, *entropy;               /* as the epochs leave them; [count] entropy */
    double *theta_0, *mu_0, *entropy_0;         /* at the start of the round */
    double *mix;                                /* [count] g of the next visit */
    uint32_t *order;                            /* [count] of the visits */
    double *theta_next, *mu_next, *scores_next; /* [largest] of a trial */
} tree_crf;

static tree_crf *of(block *b)
{
    return (tree_crf *)b;
}

const double *tree_crf_theta(const block *b, uint32_t i)
{
    return ((const tree_crf *)b)->theta + ((const tree_crf *)b)->at[i];
}

const double *tree_crf_marginals(const block *b, uint32_t i)
{
    return ((const tree_crf *)b)->mu + ((const tree_crf *)b)->at[i];
}

static uint64_t edges_of(const tree_crf *b, uint32_t i)
{
    return b->at[i + 1] - b->at[i];
}

/* sum_k a_k b_k over edges: those from a token to itself are 0 in one of them */
static double dot(const double *a, const double *b, uint64_t n)
{
    sum all = {0, 0};
    for (uint64_t k = 0; k < n; k++)
        if (b[k] != 0)
            sum_add(&all, a[k] * b[k]);
    return sum_value(&all);
}

/* mu(theta); returns the entropy. */
static double find_marginals(const tree_crf *b, uint32_t i, const double *theta, double *mu)
{
    const double log_z = b->s.kind->sum(&b->s, i, theta, mu);
    return fmax(log_z - dot(theta, mu, edges_of(b, i)), 0);
}

/* ---- the solver ------------------------------------------------------------------------------------------------ */

/* u += scale X (a - b) */
static void spread_difference(tree_crf *b, uint32_t i, double scale, const double *mu_a, const double *mu_b,
                              const double *h, double *u)
{
    for (uint64_t k = 0; k < edges_of(b, i); k++)
        b->s.x[k] = scale * (mu_a[k] - mu_b[k]);
    b->s.kind->spread(&b->s, i, b->s.x, h, u);
}

/* The change of the model by a trial that `u` has already: scores S before, b->scores_next now. */
static double model_change(const tree_crf *b, uint32_t i, const double *S, double entropy)
{
    const double *mu = b->mu + b->at[i];
    sum all = {0, 0};
    for (uint64_t k = 0; k < edges_of(b, i); k++) {
        const double d = mu[k] - b->mu_next[k];
        if (d != 0)
            sum_add(&all, d * (S[k] + 0.5 * (b->scores_next[k] - S[k])));
    }
    sum_add(&all, b->entropy[i] - entropy);
    return b->C * sum_value(&all);
}

static uint64_t visit(tree_crf *b, uint32_t i, const subproblem *s, double *u)
{
    structured *units = &b->s;
    const uint64_t n = edges_of(b, i);
    double *theta = b->theta + b->at[i], *mu = b->mu + b->at[i], g = b->mix[i];
    uint64_t cells = units->kind->score(units, i, u, units->S);
    for (int trial = 0; trial < TRIALS_MOST; trial++) {
        for (uint64_t k = 0; k < n; k++)
            b->theta_next[k] = theta[k] + g * (units->S[k] - theta[k]);
        const double entropy = find_marginals(b, i, b->theta_next, b->mu_next);
        spread_difference(b, i, s->a1 * b->C, mu, b->mu_next, s->h, u);
        cells += units->kind->score(units, i, u, b->scores_next);
        if (model_change(b, i, units->S, entropy) <= 0) {
            memcpy(theta, b->theta_next, n * sizeof *theta);
            memcpy(mu, b->mu_next, n * sizeof *mu);
            b->entropy[i] = entropy;
            b->mix[i] = trial == 0 ? fmin(1, MIX_GROWS * g) : g;
            return cells;
        }
        spread_difference(b, i, s->a1 * b->C, b->mu_next, mu, s->h, u);
        g *= 0.5;
    }
    b->mix[i] = 1;
    return cells;
}

static uint64_t tree_crf_epoch(block *base, const subproblem *s, rng *random, const double *from, double *to)
{
    (void)from; /* `to`: the model is coupled, see whole_steps */
    tree_crf *b = of(base);
    uint64_t cells = 0;
    rng_shuffle(random, b->order, base->count);
    for (uint32_t j = 0; j < base->count; j++)
        cells += visit(b, b->order[j], s, to);
    return cells;
}

static void tree_crf_image(const block *base, double *dv)
{
    tree_crf *b = of((block *)base); /* the work space alone changes */
    for (uint32_t i = 0; i < base->count; i++)
        spread_difference(b, i, b->C, b->mu_0 + b->at[i], b->mu + b->at[i], NULL, dv);
}

/* C X (gold - mu) */
static void tree_crf_whole_image(const block *base, double *v)
{
    tree_crf *b = of((block *)base); /* the work space alone changes */
    structured *s = &b->s;
    for (uint32_t i = 0; i < base->count; i++) {
        s->kind->expect(s, i, -b->C, b->mu + b->at[i], s->x);
        s->kind->add(s, i, b->C, structured_gold(s, i), s->x);
        s->kind->spread(s, i, s->x, NULL, v);
    }
}

/* The gap of a unit is C times the divergence of p_theta from the model,
 * KL = log Z(s) - log Z(theta) - (s - theta)'mu. */
static void tree_crf_evaluate(block *base, const double *w, double travelled, block_value *value)
{
    (void)travelled;
    tree_crf *b = of(base);
    structured *s = &b->s;
    sum loss = {0, 0}, conjugate = {0, 0}, gap = {0, 0};
    uint64_t cells = 0;
    for (uint32_t i = 0; i < base->count; i++) {
        const uint64_t n = edges_of(b, i);
        const double *mu = b->mu + b->at[i];
        if (w)
            cells += s->kind->score(s, i, w, s->S);
        else
            memset(s->S, 0, n * sizeof *s->S);
        const double log_z = s->kind->sum(s, i, s->S, NULL);
        sum_add(&loss, b->C * (log_z - s->kind->total(s, i, s->S, structured_gold(s, i))));
        sum_add(&conjugate, -b->C * b->entropy[i]);
        sum_add(&gap, b->C * fmax(0, log_z - b->entropy[i] - dot(s->S, mu, n)));
    }
    *value = (block_value){
        .cells = (double)cells, .loss = sum_value(&loss), .conjugate = sum_value(&conjugate), .gap = sum_value(&gap)};
}

/* ---- along the ray --------------------------------------------------------------------------------------------- */

static void tree_crf_describe(const block *base, block_direction *d)
{
    (void)base;
    d->limit = 1;
}

/* Between 0 and 1 nothing is known. */
static void tree_crf_ray(const block *base, int trials, const double *eta, double *change, double *slope)
{
    const tree_crf *b = (const tree_crf *)base;
    sum all = {0, 0};
    for (uint32_t i = 0; i < base->count; i++)
        sum_add(&all, b->C * (b->entropy_0[i] - b->entropy[i]));
    for (int k = 0; k < trials; k++) {
        change[k] = eta[k] == 1 ? sum_value(&all) : eta[k] == 0 ? 0 : INFINITY;
        if (slope)
            slope[k] = 0;
    }
}

static void tree_crf_move(block *base, double eta)
{
    tree_crf *b = of(base);
    const uint64_t n = b->at[base->count] * sizeof(double), units = base->count * sizeof(double);
    const bool stays = eta == 0;
    memcpy(stays ? b->theta : b->theta_0, stays ? b->theta_0 : b->theta, n);
    memcpy(stays ? b->mu : b->mu_0, stays ? b->mu_0 : b->mu, n);
    memcpy(stays ? b->entropy : b->entropy_0, stays ? b->entropy_0 : b->entropy, units);
}

static double tree_crf_largest_norm(const block *base)
{
    const tree_crf *b = (const tree_crf *)base;
    double largest = 0;
    for (uint32_t i = 0; i < base->count; i++)
        largest = fmax(largest, b->s.kind->largest_norm(&b->s, i));
    return largest;
}

/* ---- opening --------------------------------------------------------------------------------------------------- */

static bool take_tables(tree_crf *b, arena *memory, bda_error *err)
{
    const uint64_t all = b->at[b->base.count] + 1, units = b->base.count + 1, most = b->s.largest + 1;
    return (b->theta = ARENA_TAKE(memory, double, all, err)) && (b->mu = ARENA_TAKE(memory, double, all, err)) &&
           (b->theta_0 = ARENA_TAKE(memory, double, all, err)) && (b->mu_0 = ARENA_TAKE(memory, double, all, err)) &&
           (b->entropy = ARENA_TAKE(memory, double, units, err)) &&
           (b->entropy_0 = ARENA_TAKE(memory, double, units, err)) &&
           (b->mix = ARENA_TAKE(memory, double, units, err)) &&
           (b->order = ARENA_TAKE(memory, uint32_t, units, err)) &&
           (b->theta_next = ARENA_TAKE(memory, double, most, err)) &&
           (b->mu_next = ARENA_TAKE(memory, double, most, err)) &&
           (b->scores_next = ARENA_TAKE(memory, double, most, err));
}

static block *tree_crf_open(arena *memory, const block *base, bda_error *err)
{
    tree_crf *b = ARENA_TAKE(memory, tree_crf, 1, err);
    if (!b || !structured_open(&b->s, memory, base->p, base->first, base->count, err) ||
        !(b->at = ARENA_TAKE(memory, uint64_t, base->count + 1, err)))
        return NULL;
    b->base = *base;
    b->C = base->p->cost[0];
    for (uint32_t i = 0; i < base->count; i++)
        b->at[i + 1] = b->at[i] + b->s.kind->table(&b->s, structured_length(&b->s, i));
    if (!take_tables(b, memory, err))
        return NULL;
    for (uint32_t i = 0; i < base->count; i++) {
        const uint32_t length = structured_length(&b->s, i);
        const uint16_t *gold = structured_gold(&b->s, i);
        double *theta = b->theta + b->at[i];
        b->order[i] = i;
        b->mix[i] = 1;
        for (uint32_t c = 0; c < length; c++) {
            theta[(uint64_t)c * (length + 1) + gold[c]] = THETA_FIRST;
            b->mu[b->at[i] + (uint64_t)c * (length + 1) + gold[c]] = 1;
        }
    }
    tree_crf_move(&b->base, 1);
    return &b->base;
}

static void tree_crf_close(block *base)
{
    structured_close(&of(base)->s);
}

static void tree_crf_state(block *base, archive *a)
{
    tree_crf *b = of(base);
    const uint64_t all = b->at[base->count];
    ARCHIVE_PLACES(a, b->order, base->count);
    ARCHIVE_ARRAY(a, b->mix, base->count);
    ARCHIVE_ARRAY(a, b->theta, all);
    ARCHIVE_ARRAY(a, b->mu, all);
    ARCHIVE_ARRAY(a, b->entropy, base->count);
    ARCHIVE_ARRAY(a, b->theta_0, all);
    ARCHIVE_ARRAY(a, b->mu_0, all);
    ARCHIVE_ARRAY(a, b->entropy_0, base->count);
}

/* Scores and marginals, now and at the start of the round. */
static uint64_t tree_crf_bytes(const task *t, uint64_t outputs)
{
    (void)t;
    (void)outputs;
    return 4 * sizeof(double);
}

const block_kind tree_crf_blocks = {
    .bytes = tree_crf_bytes,
    .open = tree_crf_open,
    .close = tree_crf_close,
    .state = tree_crf_state,
    .epoch = tree_crf_epoch,
    .image = tree_crf_image,
    .whole_image = tree_crf_whole_image,
    .describe = tree_crf_describe,
    .ray = tree_crf_ray,
    .move = tree_crf_move,
    .evaluate = tree_crf_evaluate,
    .largest_norm = tree_crf_largest_norm,
    .whole_steps = true,
};
