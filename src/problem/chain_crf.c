/* chain_crf.c - dual blocks of conditional random fields over tags: a distribution over tag strings for each sentence,
 * held as its marginals mu.
 *
 *     xi_i(w) = C (log sum_y exp(w'Phi(y)) - w'Phi(gold))
 *     v = sum_i C (Phi(gold) - E_mu Phi),     xi_i*(-alpha_i) = -C H(mu_i)
 *
 * The entropy H is that of the chain with these marginals (structure/chain.h). A visit goes from mu towards the
 * marginals p of the model at the current u, d = p - mu: mu + g d is feasible for 0 <= g <= 1, and
 *
 *     phi'(g) / C = sum over edges d log(mu + g d) - sum over inner nodes d log(mu + g d) - S'd + g a1 C |X d|^2
 *
 * rises in g: its zero is found by Newton's method in a bracket. At mu = gold, where training begins, the slope is
 * infinite, so the search never begins at 0; it begins where the unit's last one ended. Two chains mixed are not a
 * chain: mu + g d stands for the one of largest entropy with these marginals, which is at least as good. */
#include "problem/chain_crf.h"

#include <math.h>
#include <string.h>

#include "base/vector.h"
#include "problem/kinds.h"
#include "problem/structured.h"
#include "structure/chain.h"
#include "structure/lanes.h"

#define STEP_FIRST 0.1  /* g of a unit's first search */
#define STEP_LEAST 0.02 /* where a search begins at least */
#define STEP_EXACT 0.1  /* relative change of g at which a search ends */
#define STEPS_MOST 8
#define NEGLIGIBLE 1e-6   /* of the square of a token's movement: smaller d are left out of searches */
#define SURELY_APART 1e-6 /* of its terms: a divergence above that has digits enough as their difference */
#define AHEAD_KEEPS 0.3   /* of every probability, when a block begins ahead of alpha */

/* Marginals of a unit: nodes [length][stride], edges [length - 1][T][stride]. */
typedef struct chain_crf {
    block base;
    structured s;
    double C;
    uint64_t *at;          /* [count + 1] where a unit's marginals begin */
    double *now;           /* as the epochs leave them */
    double *start;         /* at the start of the round */
    double *entropy;       /* [count] of now, where it is known, else NAN */
    double *entropy_start; /* [count] of start, likewise */
    double *step;          /* [count] g of the last visit */
    uint32_t *order;       /* [count] of the visits */
    double *direction;     /* [largest] marginals of the model, then d */
} chain_crf;

static chain_crf *of(block *b)
{
    return (chain_crf *)b;
}

static uint64_t nodes_of(const chain_crf *b, uint32_t i)
{
    return structured_length(&b->s, i) * (uint64_t)b->s.stride;
}

static uint64_t marginals_of(const chain_crf *b, uint32_t i)
{
    return b->at[i + 1] - b->at[i];
}

const double *chain_crf_nodes(const block *b, uint32_t i)
{
    return ((const chain_crf *)b)->now + ((const chain_crf *)b)->at[i];
}

const double *chain_crf_edges(const block *b, uint32_t i)
{
    return chain_crf_nodes(b, i) + nodes_of((const chain_crf *)b, i);
}

static chain chain_of(const chain_crf *b, uint32_t i, const double *S)
{
    return (chain){(int)structured_length(&b->s, i), b->s.tags, S, S + nodes_of(b, i)};
}

/* ---- the search along d ---------------------------------------------------------------------------------------- */

/* Is no |d| of the lanes above `least`? */
LANES_INLINE bool is_still(const double *d, double least)
{
    double most = 0;
    for (int k = 0; k < LANES; k++) {
        const double size = fabs(d[k]);
        most = size > most ? size : most;
    }
    return most <= least;
}

/* sum of d log(mu + g d) and of d^2 / (mu + g d) over n numbers, whole lanes, but for those where |d| <= least: most
 * pairs of tags are next to impossible, and stay so */
LANES_INLINE void entropy_along(const double *mu, const double *d, uint64_t n, double g, double least, double *slope,
                                double *bend)
{
    double a[LANES] = {0}, b[LANES] = {0};
    for (uint64_t j = 0; j < n; j += LANES) {
        if (is_still(d + j, least))
            continue;
        for (int k = 0; k < LANES; k++) {
            const double x = mu[j + k] + g * d[j + k], at = x < DBL_MIN ? DBL_MIN : x;
            a[k] += d[j + k] * lanes_log(at);
            b[k] += d[j + k] * d[j + k] / at;
        }
    }
    *slope += lanes_add(a);
    *bend += lanes_add(b);
}

/* The derivatives of -H(mu + g d) by g. */
WIDE_VECTORS
static void negative_entropy_along(uint64_t length, uint64_t T, uint64_t stride, const double *mu, const double *d,
                                   double g, double least, double *slope, double *bend)
{
    const uint64_t nodes = length * stride;
    double inner_slope = 0, inner_bend = 0;
    *slope = *bend = 0;
    entropy_along(mu, d, stride, g, least, slope, bend);
    entropy_along(mu, d, nodes - stride, g, least, &inner_slope, &inner_bend);
    entropy_along(mu + nodes, d + nodes, (length - 1) * T * stride, g, least, slope, bend);
    *slope -= inner_slope;
    *bend -= inner_bend;
}

WIDE_VECTORS
static void add_scaled(double *restrict to, double g, const double *restrict d, uint64_t n)
{
    for (uint64_t j = 0; j < n; j++) {
        const double x = to[j] + g * d[j];
        to[j] = x < 0 ? 0 : x;
    }
}

WIDE_VECTORS
static void subtract(double *restrict from, const double *restrict x, uint64_t n)
{
    for (uint64_t j = 0; j < n; j++)
        from[j] -= x[j];
}

typedef struct line {
    const double *mu, *d;
    uint64_t length, T, stride;
    double least; /* d that matters */
    double slope; /* of what is linear in g */
    double curve; /* of what is quadratic */
} line;

static double slope_at(const line *l, double g, double *bend)
{
    double slope;
    negative_entropy_along(l->length, l->T, l->stride, l->mu, l->d, g, l->least, &slope, bend);
    *bend += l->curve;
    return slope + l->slope + g * l->curve;
}

/* The zero of the rising slope in (0, 1]. */
static double search_line(const line *l, double g)
{
    double low = 0, high = 1;
    for (int k = 0; k < STEPS_MOST; k++) {
        double bend, slope = slope_at(l, g, &bend);
        if (slope <= 0)
            low = g;
        else
            high = g;
        double next = bend > 0 ? g - slope / bend : slope < 0 ? 1 : 0;
        next = fmin(next, 1);
        if (!(next > low && next <= high))
            next = slope <= 0 && high == 1 ? 1 : 0.5 * (low + high);
        const double change = fabs(next - g);
        g = next;
        if (change <= STEP_EXACT * g)
            break;
    }
    return g;
}

/* ---- the solver ------------------------------------------------------------------------------------------------ */

/* a2 damps the way from the marginals of nodes at the start of the round. */
static void add_damping(const chain_crf *b, uint32_t i, double a2, const double *d, line *l)
{
    const double *mu = b->now + b->at[i], *start = b->start + b->at[i];
    double slope = 0, curve = 0;
    for (uint64_t j = 0; a2 > 0 && j < nodes_of(b, i); j++) {
        slope += d[j] * (mu[j] - start[j]);
        curve += d[j] * d[j];
    }
    l->slope += a2 * b->C * slope;
    l->curve += a2 * b->C * curve;
}

/* Nearer to the optimum slopes fall with the square of d, and so does what may be left out. */
static double least_of(const chain_crf *b, uint32_t i, const double *d)
{
    double all = 0;
    for (uint64_t j = 0; j < nodes_of(b, i); j++)
        all += fabs(d[j]);
    all /= structured_length(&b->s, i);
    return NEGLIGIBLE * all * all;
}

/* S'd: by what the model would have it rise. */
static double score_along(const chain_crf *b, uint32_t i, const double *S, const double *x)
{
    const uint64_t T = (uint64_t)b->s.tags, stride = (uint64_t)b->s.stride;
    const uint64_t rows = structured_length(&b->s, i) + T + 1;
    sum all = {0, 0};
    for (uint64_t k = 0; k < rows; k++) {
        double row = 0;
        for (uint64_t j = 0; j < T; j++)
            row += S[k * stride + j] * x[k * stride + j];
        sum_add(&all, row);
    }
    return sum_value(&all);
}

static uint64_t visit(chain_crf *b, uint32_t i, const subproblem *s, const double *from, double *to)
{
    structured *units = &b->s;
    const bool coupled = from == to;
    double *mu = b->now + b->at[i], *d = b->direction, *x = units->x;
    const uint64_t cells = units->kind->score(units, i, from, units->S);
    units->kind->sum(units, i, units->S, d);
    subtract(d, mu, marginals_of(b, i));
    units->kind->expect(units, i, 1, d, x);
    line l = {mu, d, structured_length(units, i), (uint64_t)units->tags, (uint64_t)units->stride, least_of(b, i, d),
              0,  0};
    l.slope = -score_along(b, i, units->S, x);
    l.curve = s->a1 > 0 ? s->a1 * b->C * structured_chain_norm(units, i, x) : 0;
    if (isnan(l.curve))
        return BLOCK_FAILED;
    add_damping(b, i, s->a2, d, &l);
    const double g = b->step[i] = search_line(&l, fmax(b->step[i], STEP_LEAST));
    add_scaled(mu, g, d, marginals_of(b, i));
    b->entropy[i] = NAN;
    const uint64_t table = units->kind->table(units, structured_length(units, i));
    const double scale = -b->C * g * (coupled ? s->a1 : 1);
    for (uint64_t j = 0; j < table; j++)
        x[j] *= scale;
    units->kind->spread(units, i, x, coupled ? s->h : NULL, to);
    return cells;
}

static uint64_t chain_crf_epoch(block *base, const subproblem *s, rng *random, const double *from, double *to)
{
    chain_crf *b = of(base);
    uint64_t cells = 0;
    structured_weigh(&b->s, s->h);
    rng_shuffle(random, b->order, base->count);
    for (uint32_t j = 0; j < base->count; j++) {
        const uint64_t here = visit(b, b->order[j], s, from, to);
        if (here == BLOCK_FAILED)
            return BLOCK_FAILED;
        cells += here;
    }
    return cells;
}

/* d = now - start; false: nothing has changed */
static bool changes(chain_crf *b, uint32_t i)
{
    const double *now = b->now + b->at[i], *start = b->start + b->at[i];
    bool any = false;
    for (uint64_t j = 0; j < marginals_of(b, i); j++) {
        b->direction[j] = now[j] - start[j];
        any |= now[j] != start[j];
    }
    return any;
}

static void chain_crf_image(const block *base, double *dv)
{
    chain_crf *b = of((block *)base); /* the work space alone changes */
    for (uint32_t i = 0; i < base->count; i++)
        if (changes(b, i)) {
            b->s.kind->expect(&b->s, i, -b->C, b->direction, b->s.x);
            b->s.kind->spread(&b->s, i, b->s.x, NULL, dv);
        }
}

/* C X (gold - mu) */
static void chain_crf_whole_image(const block *base, double *v)
{
    chain_crf *b = of((block *)base); /* the work space alone changes */
    structured *s = &b->s;
    for (uint32_t i = 0; i < base->count; i++) {
        s->kind->expect(s, i, -b->C, b->now + b->at[i], s->x);
        s->kind->add(s, i, b->C, structured_gold(s, i), s->x);
        s->kind->spread(s, i, s->x, NULL, v);
    }
}

static double entropy_of(const chain_crf *b, uint32_t i, const double *mu)
{
    return chain_entropy((int)structured_length(&b->s, i), b->s.tags, mu, mu + nodes_of(b, i));
}

static double entropy_now(chain_crf *b, uint32_t i)
{
    if (isnan(b->entropy[i]))
        b->entropy[i] = entropy_of(b, i, b->now + b->at[i]);
    return b->entropy[i];
}

static double entropy_start(chain_crf *b, uint32_t i)
{
    if (isnan(b->entropy_start[i]))
        b->entropy_start[i] = entropy_of(b, i, b->start + b->at[i]);
    return b->entropy_start[i];
}

/* KL(mu | p) = log Z - S'mu - H as long as that does not cancel, otherwise as a sum of terms that are not negative. */
static double divergence_of(chain_crf *b, uint32_t i, double log_z)
{
    structured *s = &b->s;
    const double *mu = b->now + b->at[i];
    s->kind->expect(s, i, 1, mu, s->x);
    const double score = score_along(b, i, s->S, s->x), entropy = entropy_now(b, i), apart = log_z - score - entropy;
    memset(s->x, 0, s->kind->table(s, structured_length(s, i)) * sizeof *s->x);
    if (apart > SURELY_APART * (fabs(log_z) + fabs(score) + entropy))
        return apart;
    const chain c = chain_of(b, i, s->S);
    return chain_divergence(&c, mu, mu + nodes_of(b, i), s->work);
}

/* The gap of a unit is C times the divergence of mu from the model: a sum of terms that cannot be negative. */
static void chain_crf_evaluate(block *base, const double *w, double travelled, block_value *value)
{
    (void)travelled;
    chain_crf *b = of(base);
    structured *s = &b->s;
    sum loss = {0, 0}, conjugate = {0, 0}, gap = {0, 0};
    uint64_t cells = 0;
    for (uint32_t i = 0; i < base->count; i++) {
        if (w)
            cells += s->kind->score(s, i, w, s->S);
        else
            memset(s->S, 0, s->kind->table(s, structured_length(s, i)) * sizeof *s->S);
        const double log_z = s->kind->sum(s, i, s->S, NULL);
        sum_add(&loss, b->C * (log_z - s->kind->total(s, i, s->S, structured_gold(s, i))));
        sum_add(&conjugate, -b->C * entropy_now(b, i));
        sum_add(&gap, b->C * divergence_of(b, i, log_z));
    }
    *value = (block_value){
        .cells = (double)cells, .loss = sum_value(&loss), .conjugate = sum_value(&conjugate), .gap = sum_value(&gap)};
}

/* ---- along the ray --------------------------------------------------------------------------------------------- */

static void chain_crf_describe(const block *base, block_direction *d)
{
    (void)base;
    d->limit = 1;
}

static void chain_crf_ray(const block *base, int trials, const double *eta, double *change, double *slope)
{
    chain_crf *b = of((block *)base); /* the work space alone changes */
    double *mu = b->direction;
    sum all[BLOCK_TRIALS] = {{0, 0}}, along[BLOCK_TRIALS] = {{0, 0}};
    for (uint32_t i = 0; i < base->count; i++) {
        const double *start = b->start + b->at[i], *now = b->now + b->at[i];
        const uint64_t n = marginals_of(b, i), length = structured_length(&b->s, i);
        const double before = entropy_start(b, i);
        for (int k = 0; k < trials; k++) {
            double unused, at = 0;
            if (slope) {
                changes(b, i);
                negative_entropy_along(length, (uint64_t)b->s.tags, (uint64_t)b->s.stride, start, b->direction,
                                       eta[k], 0, &at, &unused);
            }
            for (uint64_t j = 0; j < n && eta[k] != 1; j++)
                mu[j] = fmax(start[j] + eta[k] * (now[j] - start[j]), 0);
            sum_add(&all[k], b->C * (before - (eta[k] == 1 ? entropy_now(b, i) : entropy_of(b, i, mu))));
            sum_add(&along[k], b->C * at);
        }
    }
    for (int k = 0; k < trials; k++) {
        change[k] = sum_value(&all[k]);
        if (slope)
            slope[k] = sum_value(&along[k]);
    }
}

static void chain_crf_move(block *base, double eta)
{
    chain_crf *b = of(base);
    const uint64_t n = b->at[base->count];
    for (uint64_t j = 0; j < n && eta != 1; j++)
        b->now[j] = fmax(b->start[j] + eta * (b->now[j] - b->start[j]), 0);
    memcpy(b->start, b->now, n * sizeof *b->now);
    for (uint32_t i = 0; i < base->count; i++)
        b->entropy_start[i] = b->entropy[i] = eta == 1 ? b->entropy[i] : NAN;
}

/* The largest beta' <= beta for which mu + beta' (mu - mu before) keeps a part of every probability: slopes are
 * infinite at 0. */
static double shortened(const chain_crf *b, uint32_t i, double beta)
{
    const double *mu = b->now + b->at[i], *before = b->start + b->at[i];
    for (uint64_t j = 0; j < marginals_of(b, i); j++)
        if (beta * (before[j] - mu[j]) > (1 - AHEAD_KEEPS) * mu[j])
            beta = (1 - AHEAD_KEEPS) * mu[j] / (before[j] - mu[j]);
    return beta;
}

static void chain_crf_advance(block *base, double beta, const double *h, double *u)
{
    chain_crf *b = of(base);
    for (uint32_t i = 0; i < base->count; i++) {
        double *mu = b->now + b->at[i], *before = b->start + b->at[i];
        const bool moved = changes(b, i);
        const double own = shortened(b, i, beta);
        memcpy(before, mu, marginals_of(b, i) * sizeof *mu);
        b->entropy_start[i] = b->entropy[i];
        if (!moved || beta == 0)
            continue;
        add_scaled(mu, own, b->direction, marginals_of(b, i));
        b->entropy[i] = NAN;
        b->s.kind->expect(&b->s, i, -b->C * (own - beta), b->direction, b->s.x);
        b->s.kind->spread(&b->s, i, b->s.x, h, u);
    }
}

static void chain_crf_take_back(block *base)
{
    chain_crf *b = of(base);
    memcpy(b->now, b->start, b->at[base->count] * sizeof *b->now);
    memcpy(b->entropy, b->entropy_start, base->count * sizeof *b->entropy);
}

static double chain_crf_largest_norm(const block *base)
{
    const chain_crf *b = (const chain_crf *)base;
    double largest = 0;
    for (uint32_t i = 0; i < base->count; i++)
        largest = fmax(largest, b->s.kind->largest_norm(&b->s, i));
    return largest;
}

/* ---- opening --------------------------------------------------------------------------------------------------- */

/* mu = gold: alpha = 0. */
static void set_gold(chain_crf *b, uint32_t i)
{
    const uint16_t *gold = structured_gold(&b->s, i);
    const uint64_t length = structured_length(&b->s, i), T = (uint64_t)b->s.tags, stride = (uint64_t)b->s.stride;
    double *node = b->now + b->at[i], *edge = node + nodes_of(b, i);
    for (uint64_t t = 0; t < length; t++) {
        node[t * stride + gold[t]] = 1;
        if (t > 0)
            edge[((t - 1) * T + gold[t - 1]) * stride + gold[t]] = 1;
    }
}

static block *chain_crf_open(arena *memory, const block *base, bda_error *err)
{
    chain_crf *b = ARENA_TAKE(memory, chain_crf, 1, err);
    if (!b || !structured_open(&b->s, memory, base->p, base->first, base->count, err) ||
        !(b->at = ARENA_TAKE(memory, uint64_t, base->count + 1, err)))
        return NULL;
    b->base = *base;
    b->C = base->p->cost[0];
    const uint64_t T = (uint64_t)b->s.tags, stride = (uint64_t)b->s.stride, longest = b->s.longest;
    for (uint32_t i = 0; i < base->count; i++) {
        const uint64_t length = structured_length(&b->s, i);
        b->at[i + 1] = b->at[i] + (length + (length - 1) * T) * stride;
    }
    const uint64_t all = b->at[base->count];
    if (!(b->now = ARENA_TAKE(memory, double, all + 1, err)) ||
        !(b->start = ARENA_TAKE(memory, double, all + 1, err)) ||
        !(b->entropy = ARENA_TAKE(memory, double, base->count + 1, err)) ||
        !(b->entropy_start = ARENA_TAKE(memory, double, base->count + 1, err)) ||
        !(b->step = ARENA_TAKE(memory, double, base->count + 1, err)) ||
        !(b->order = ARENA_TAKE(memory, uint32_t, base->count + 1, err)) ||
        !(b->direction = ARENA_TAKE(memory, double, (longest + longest * T) * stride + 1, err)))
        return NULL;
    for (uint32_t i = 0; i < base->count; i++) {
        b->order[i] = i;
        b->step[i] = STEP_FIRST;
        set_gold(b, i);
    }
    memcpy(b->start, b->now, all * sizeof *b->now);
    return &b->base;
}

static void chain_crf_close(block *base)
{
    structured_close(&of(base)->s);
}

static void chain_crf_state(block *base, archive *a)
{
    chain_crf *b = of(base);
    ARCHIVE_PLACES(a, b->order, base->count);
    ARCHIVE_ARRAY(a, b->step, base->count);
    ARCHIVE_ARRAY(a, b->now, b->at[base->count]);
    ARCHIVE_ARRAY(a, b->start, b->at[base->count]);
}

/* Marginals of tags and of pairs of them, now and at the start of the round. */
static uint64_t chain_crf_bytes(const task *t, uint64_t outputs)
{
    (void)t;
    return 2 * sizeof(double) * (outputs + 1) * outputs;
}

const block_kind chain_crf_blocks = {
    .bytes = chain_crf_bytes,
    .open = chain_crf_open,
    .close = chain_crf_close,
    .state = chain_crf_state,
    .epoch = chain_crf_epoch,
    .image = chain_crf_image,
    .whole_image = chain_crf_whole_image,
    .describe = chain_crf_describe,
    .ray = chain_crf_ray,
    .move = chain_crf_move,
    .evaluate = chain_crf_evaluate,
    .largest_norm = chain_crf_largest_norm,
    .advance = chain_crf_advance,
    .take_back = chain_crf_take_back,
};
