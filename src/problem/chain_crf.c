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
 * chain: mu + g d stands for the one of largest entropy with these marginals, which is at least as good.
 *
 * A model is nearly sure of most tags, so mu is held on a lattice of few tags (chain_held.h), and p is that of the strings
 * in it. A visit takes up the tags whose probability is no longer negligible against what the tags of a token still
 * move by: what p loses by that is a small part of what the visit gains, and mu becomes as exact as is asked.
 * Every mu on a lattice is a feasible one, so the certificate knows nothing of all this. */
#include "problem/chain_crf.h"

#include <math.h>
#include <string.h>

#include "base/vector.h"
#include "problem/chain_line.h"
#include "problem/kinds.h"
#include "problem/structured.h"
#include "structure/lanes.h"

#define STEP_FIRST 0.1      /* g of a unit's first search */
#define STEP_LEAST 0.02     /* where a search begins at least */
#define NUMBERS_OF_TOKEN 40 /* marginals that a token has, about */
#define NEGLIGIBLE 1e-6     /* of the square of a token's movement: smaller d are left out of searches */
/* What a tag must have to be taken up, in parts of what the tags of a token move by: a little at first, and less where they
 * move by little, for what a visit gains falls faster than the way it goes. */
#define IMPROBABLE 0.01
#define IMPROBABLE_NEAR 0.02 /* times the root of the way */
#define IMPROBABLE_ALL 0.2   /* of all tags together, so that one of those left out is always taken up in the end */
#define SURELY_APART 1e-6    /* of its terms: a divergence above that has digits enough as their difference */
#define AHEAD_KEEPS 0.3      /* of every probability, when a block begins ahead of alpha */

typedef struct chain_crf {
    block base;
    structured s;
    double C;
    bool starved;          /* there was no memory for marginals, and the next epoch says so */
    chain_held *now;       /* [count] as the epochs leave them */
    chain_held *start;     /* [count] at the start of the round, of tags that now has as well; node NULL: as now */
    double *entropy;       /* [count] of now, where it is known, else NAN */
    double *entropy_start; /* [count] of start, likewise */
    double *step;          /* [count] g of the last visit */
    uint32_t *order;       /* [count] of the visits */
    double *node;          /* [longest][stride] marginals of the model over all tags */
    uint16_t *size, *tag;  /* [longest], [longest * tags] the lattice at hand */
    double *direction;     /* [room] marginals of the model, then d */
    double *before;        /* [room] marginals of the start in the layout of now */
    uint64_t room;         /* numbers in each */
} chain_crf;

static chain_crf *of(block *b)
{
    return (chain_crf *)b;
}

static chain chain_of(const chain_crf *b, uint32_t i, const double *S)
{
    const uint32_t length = structured_length(&b->s, i);
    return (chain){(int)length, b->s.tags, S, S + length * (uint64_t)b->s.stride};
}

static uint64_t bytes_of_work(uint64_t room)
{
    return 2 * room * sizeof(double);
}

/* Work space for so many numbers. False: no memory. */
static bool reserve(chain_crf *b, uint64_t numbers)
{
    if (numbers <= b->room)
        return true;
    const uint64_t room = numbers + numbers / 2, bytes = bytes_of_work(room);
    bda_error ignored = {0};
    double *piece = mem_resize(NULL, 0, bytes, "marginals", &ignored);
    if (!piece)
        return false;
    mem_free(b->direction, bytes_of_work(b->room));
    b->direction = piece;
    b->before = piece + room;
    b->room = room;
    return true;
}

static bool has_moved(const chain_crf *b, uint32_t i)
{
    return b->start[i].node != NULL;
}

/* The marginals at the start of the round, in the layout of now: all of their tags are among those of now. */
static const double *start_of(chain_crf *b, uint32_t i)
{
    const chain_held *now = &b->now[i], *start = &b->start[i];
    if (!has_moved(b, i))
        return now->node;
    chain_lattice_widen(&start->lattice, start->node, start->edge, &now->lattice, b->before, b->before + now->nodes);
    return b->before;
}

/* ---- the lattice of a visit --------------------------------------------------------------------------------- */

/* The probability up to which a tag is left out. */
static double improbable(const chain_crf *b, uint32_t i)
{
    const double way = chain_held_distance(&b->now[i], b->s.stride, b->node);
    return way * fmin(fmin(IMPROBABLE, IMPROBABLE_ALL / b->s.tags), IMPROBABLE_NEAR * sqrt(way));
}

/* The tags of now, and those that are more probable than `least`. */
static chain_lattice choose_lattice(const chain_crf *b, uint32_t i, double least)
{
    const chain_held *h = &b->now[i];
    const int T = b->s.tags;
    const uint16_t *tag = h->lattice.tag;
    const double *p = b->node;
    uint16_t *to = b->tag;
    for (int t = 0; t < h->lattice.length; t++, p += b->s.stride) {
        const uint16_t *end = tag + h->lattice.size[t], *first = to;
        for (int j = 0; j < T; j++) {
            const bool held = tag < end && *tag == j;
            *to = (uint16_t)j;
            to += held || p[j] > least;
            tag += held;
        }
        b->size[t] = (uint16_t)(to - first);
    }
    return (chain_lattice){h->lattice.length, b->size, b->tag};
}

static chain_lattice all_tags(const chain_crf *b, uint32_t i)
{
    const int length = b->now[i].lattice.length, T = b->s.tags;
    for (int t = 0; t < length; t++) {
        b->size[t] = (uint16_t)T;
        for (int j = 0; j < T; j++)
            b->tag[(int64_t)t * T + j] = (uint16_t)j;
    }
    return (chain_lattice){length, b->size, b->tag};
}

void chain_crf_marginals(const block *base, uint32_t i, double *node, double *edge)
{
    chain_crf *b = of((block *)base); /* the work space alone changes */
    const chain_lattice l = all_tags(b, i);
    chain_lattice_widen(&b->now[i].lattice, b->now[i].node, b->now[i].edge, &l, node, edge);
}

/* now gets room for the lattice, and a copy is left to start where this is the first change of the round. */
static bool take_up(chain_crf *b, uint32_t i, const chain_lattice *l)
{
    chain_held *now = &b->now[i];
    const bool first = !has_moved(b, i);
    if (!first && !chain_held_misses(now, l))
        return true;
    chain_held more;
    if (!chain_held_open(&more, l))
        return false;
    chain_lattice_widen(&now->lattice, now->node, now->edge, &more.lattice, more.node, more.edge);
    if (first)
        b->start[i] = *now;
    else
        chain_held_close(now);
    *now = more;
    return true;
}

typedef enum found { FOUND, FOUND_NONE, FOUND_NO_MEMORY } found;

/* The marginals of the model with scores S to b->direction, on a lattice that now has from here on. */
static found find_model(chain_crf *b, uint32_t i, const double *S)
{
    const chain c = chain_of(b, i, S);
    chain_factors f;
    chain_factors_make(&f, c.tags, c.transition, b->s.factors);
    chain_sum(&c, &f, b->node, NULL, b->s.work);
    const chain_lattice l = f.wide ? all_tags(b, i) : choose_lattice(b, i, improbable(b, i));
    const uint64_t nodes = chain_lattice_nodes(&l);
    if (!reserve(b, nodes + chain_lattice_edges(&l)) || !take_up(b, i, &l))
        return FOUND_NO_MEMORY;
    double *node = b->direction, *edge = node + nodes;
    if (f.wide)
        chain_sum(&c, &f, node, edge, b->s.work);
    else if (!chain_sum_within(&c, &f, &l, node, edge, b->s.work))
        return FOUND_NONE;
    return FOUND;
}

/* ---- the solver ------------------------------------------------------------------------------------------------ */

/* a2 damps the way from the marginals of nodes at the start of the round. */
static void add_damping(chain_crf *b, uint32_t i, double a2, const double *d, chain_line *l)
{
    if (a2 <= 0)
        return;
    const double *mu = b->now[i].node, *start = start_of(b, i);
    double slope = 0, curve = 0;
    for (uint64_t j = 0; j < b->now[i].nodes; j++) {
        slope += d[j] * (mu[j] - start[j]);
        curve += d[j] * d[j];
    }
    l->slope += a2 * b->C * slope;
    l->curve += a2 * b->C * curve;
}

/* Nearer to the optimum slopes fall with the square of d, and so does what may be left out. */
static double least_of(const chain_held *mu, const double *d)
{
    double all = 0;
    for (uint64_t j = 0; j < mu->nodes; j++)
        all += fabs(d[j]);
    all /= mu->lattice.length;
    return NEGLIGIBLE * all * all;
}

/* x, which is 0, = scale (the expected parts of marginals on the lattice of h, or of a change of them) */
static void expect(const chain_crf *b, const chain_held *h, double scale, const double *mu, double *x)
{
    const uint64_t length = (uint64_t)h->lattice.length;
    chain_lattice_expect(&h->lattice, b->s.tags, scale, mu, mu + h->nodes, x, x + length * (uint64_t)b->s.stride);
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

static uint64_t visit(chain_crf *b, uint32_t i, const subproblem *s, const double *from, double *to)
{
    structured *units = &b->s;
    const bool coupled = from == to;
    const uint64_t cells = units->kind->score(units, i, from, units->S);
    const found model = find_model(b, i, units->S);
    if (model != FOUND)
        return model == FOUND_NO_MEMORY ? BLOCK_FAILED : cells;
    chain_held *now = &b->now[i];
    double *d = b->direction, *x = units->x;
    subtract(d, now->node, chain_held_numbers(now));
    expect(b, now, 1, d, x);
    chain_line l = {now, d, least_of(now, d), 0, 0};
    l.slope = -score_along(b, i, units->S, x);
    l.curve = s->a1 > 0 ? s->a1 * b->C * structured_chain_norm(units, i, x) : 0;
    if (isnan(l.curve))
        return BLOCK_FAILED;
    add_damping(b, i, s->a2, d, &l);
    const double g = b->step[i] = chain_line_search(&l, fmax(b->step[i], STEP_LEAST));
    add_scaled(now->node, g, d, chain_held_numbers(now));
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
    if (b->starved)
        return BLOCK_FAILED;
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

/* d = now - start, on the lattice of now */
static void find_change(chain_crf *b, uint32_t i)
{
    const double *start = start_of(b, i);
    for (uint64_t j = 0; j < chain_held_numbers(&b->now[i]); j++)
        b->direction[j] = b->now[i].node[j] - start[j];
}

/* u += scale X x, with x on the lattice of now */
static void spread(chain_crf *b, uint32_t i, double scale, const double *x, const double *h, double *u)
{
    expect(b, &b->now[i], scale, x, b->s.x);
    b->s.kind->spread(&b->s, i, b->s.x, h, u);
}

static void chain_crf_image(const block *base, double *dv)
{
    chain_crf *b = of((block *)base); /* the work space alone changes */
    for (uint32_t i = 0; i < base->count; i++)
        if (has_moved(b, i)) {
            find_change(b, i);
            spread(b, i, -b->C, b->direction, NULL, dv);
        }
}

/* C X (gold - mu) */
static void chain_crf_whole_image(const block *base, double *v)
{
    chain_crf *b = of((block *)base); /* the work space alone changes */
    structured *s = &b->s;
    for (uint32_t i = 0; i < base->count; i++) {
        expect(b, &b->now[i], -b->C, b->now[i].node, s->x);
        s->kind->add(s, i, b->C, structured_gold(s, i), s->x);
        s->kind->spread(s, i, s->x, NULL, v);
    }
}

static double entropy_of(const chain_held *h, const double *mu)
{
    return chain_entropy(&h->lattice, mu, mu + h->nodes);
}

static double entropy_now(chain_crf *b, uint32_t i)
{
    if (isnan(b->entropy[i]))
        b->entropy[i] = entropy_of(&b->now[i], b->now[i].node);
    return b->entropy[i];
}

static double entropy_start(chain_crf *b, uint32_t i)
{
    if (isnan(b->entropy_start[i])) {
        const chain_held *start = has_moved(b, i) ? &b->start[i] : &b->now[i];
        b->entropy_start[i] = entropy_of(start, start->node);
    }
    return b->entropy_start[i];
}

/* KL(mu | p) = log Z - S'mu - H as long as that does not cancel, otherwise as a sum of terms that are not negative. */
static double divergence_of(chain_crf *b, uint32_t i, double log_z)
{
    structured *s = &b->s;
    const chain_held *now = &b->now[i];
    expect(b, now, 1, now->node, s->x);
    const double score = score_along(b, i, s->S, s->x), entropy = entropy_now(b, i), apart = log_z - score - entropy;
    memset(s->x, 0, s->kind->table(s, structured_length(s, i)) * sizeof *s->x);
    if (apart > SURELY_APART * (fabs(log_z) + fabs(score) + entropy))
        return apart;
    const chain c = chain_of(b, i, s->S);
    return chain_divergence(&c, &now->lattice, now->node, now->edge, s->work);
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
    sum all[BLOCK_TRIALS] = {{0, 0}}, along[BLOCK_TRIALS] = {{0, 0}};
    for (uint32_t i = 0; i < base->count; i++) {
        if (!has_moved(b, i))
            continue;
        const chain_held *now = &b->now[i];
        const double *start = start_of(b, i), before = entropy_start(b, i);
        double *mu = b->direction;
        for (int k = 0; k < trials; k++) {
            double unused, at = 0;
            if (slope) {
                find_change(b, i);
                chain_line_entropy(now, start, b->direction, eta[k], 0, &at, &unused);
            }
            for (uint64_t j = 0; j < chain_held_numbers(now) && eta[k] != 1; j++)
                mu[j] = fmax(start[j] + eta[k] * (now->node[j] - start[j]), 0);
            sum_add(&all[k], b->C * (before - (eta[k] == 1 ? entropy_now(b, i) : entropy_of(now, mu))));
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
    for (uint32_t i = 0; i < base->count; i++) {
        if (has_moved(b, i) && eta != 1) {
            double *mu = b->now[i].node;
            const double *start = start_of(b, i);
            for (uint64_t j = 0; j < chain_held_numbers(&b->now[i]); j++)
                mu[j] = fmax(start[j] + eta * (mu[j] - start[j]), 0);
            b->entropy[i] = NAN;
        }
        chain_held_close(&b->start[i]);
        b->entropy_start[i] = b->entropy[i];
    }
}

/* The largest beta' <= beta for which mu + beta' (mu - mu before) keeps a part of every probability: slopes are
 * infinite at 0. d: mu - mu before */
static double shortened(const chain_held *mu, const double *d, double beta)
{
    for (uint64_t j = 0; j < chain_held_numbers(mu); j++)
        if (-beta * d[j] > (1 - AHEAD_KEEPS) * mu->node[j])
            beta = (1 - AHEAD_KEEPS) * mu->node[j] / -d[j];
    return beta;
}

static void chain_crf_advance(block *base, double beta, const double *h, double *u)
{
    chain_crf *b = of(base);
    for (uint32_t i = 0; i < base->count; i++) {
        const bool moved = has_moved(b, i);
        if (moved)
            find_change(b, i);
        chain_held_close(&b->start[i]);
        b->entropy_start[i] = b->entropy[i];
        if (!moved || beta == 0)
            continue;
        const chain_lattice l = b->now[i].lattice;
        if (!take_up(b, i, &l)) {
            b->starved = true;
            return;
        }
        const double own = shortened(&b->now[i], b->direction, beta);
        add_scaled(b->now[i].node, own, b->direction, chain_held_numbers(&b->now[i]));
        b->entropy[i] = NAN;
        spread(b, i, -b->C * (own - beta), b->direction, h, u);
    }
}

static void chain_crf_take_back(block *base)
{
    chain_crf *b = of(base);
    for (uint32_t i = 0; i < base->count; i++)
        if (has_moved(b, i)) {
            chain_held_close(&b->now[i]);
            b->now[i] = b->start[i];
            b->start[i] = (chain_held){0};
            b->entropy[i] = b->entropy_start[i];
        }
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

static void chain_crf_close(block *base)
{
    chain_crf *b = of(base);
    for (uint32_t i = 0; i < base->count; i++) {
        chain_held_close(&b->now[i]);
        chain_held_close(&b->start[i]);
    }
    mem_free(b->direction, bytes_of_work(b->room));
    structured_close(&b->s);
}

static block *chain_crf_open(arena *memory, const block *base, bda_error *err)
{
    chain_crf *b = ARENA_TAKE(memory, chain_crf, 1, err);
    if (!b || !structured_open(&b->s, memory, base->p, base->first, base->count, err))
        return NULL;
    b->base = *base;
    b->C = base->p->cost[0];
    const uint64_t longest = b->s.longest;
    if (!(b->now = ARENA_TAKE(memory, chain_held, base->count + 1, err)) ||
        !(b->start = ARENA_TAKE(memory, chain_held, base->count + 1, err)) ||
        !(b->entropy = ARENA_TAKE(memory, double, base->count + 1, err)) ||
        !(b->entropy_start = ARENA_TAKE(memory, double, base->count + 1, err)) ||
        !(b->step = ARENA_TAKE(memory, double, base->count + 1, err)) ||
        !(b->order = ARENA_TAKE(memory, uint32_t, base->count + 1, err)) ||
        !(b->node = ARENA_TAKE(memory, double, longest *(uint64_t)b->s.stride + 1, err)) ||
        !(b->size = ARENA_TAKE(memory, uint16_t, longest + 1, err)) ||
        !(b->tag = ARENA_TAKE(memory, uint16_t, longest * (uint64_t)b->s.tags + 1, err)))
        return NULL;
    for (uint32_t i = 0; i < base->count; i++) {
        b->order[i] = i;
        b->step[i] = STEP_FIRST;
        if (!chain_held_open_at(&b->now[i], (int)structured_length(&b->s, i), structured_gold(&b->s, i))) {
            err_set(err, BDA_FAILED, "no memory for the marginals of %u sentences", base->count);
            chain_crf_close(&b->base);
            return NULL;
        }
    }
    return &b->base;
}

static void chain_crf_state(block *base, archive *a)
{
    chain_crf *b = of(base);
    ARCHIVE_PLACES(a, b->order, base->count);
    ARCHIVE_ARRAY(a, b->step, base->count);
    for (uint32_t i = 0; i < base->count; i++) {
        const int length = (int)structured_length(&b->s, i);
        bool moved = has_moved(b, i);
        ARCHIVE(a, moved);
        chain_held_state(&b->now[i], length, b->s.tags, a);
        if (moved && !a->wrong)
            chain_held_state(&b->start[i], length, b->s.tags, a);
        if (archive_loads(a) && !a->wrong && !reserve(b, chain_held_numbers(&b->now[i])))
            archive_refuse(a, "marginals, for which there is no memory");
    }
}

/* Marginals of tags and of pairs of them, now and at the start of the round: of few tags as a rule. */
static uint64_t chain_crf_bytes(const task *t, uint64_t outputs)
{
    (void)t;
    (void)outputs;
    return 2 * sizeof(double) * NUMBERS_OF_TOKEN;
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
