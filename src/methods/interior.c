/* interior.c - the primal-dual interior point method for losses with kinks and few features: Newton's method on the
 * optimality conditions, with the n x n matrix of newton.c.
 *
 * A kinked loss is a sum of hinges C max(u, 0): one for the hinge itself, u = 1 - yz; two for the epsilon-insensitive
 * loss, u = y - e - z and u = z - y - e. In general u = offset - sign z, and the problem is
 *
 *     min g(w) + C sum xi   with   xi - s = u,   xi >= 0,   s >= 0
 *
 * with the dual variable b in (0, C) of each hinge, alpha = sum of sign b over the hinges of an instance. On the way
 * to the optimum b s = mu and (C - b) xi = mu for a mu that goes to 0. A Newton step on these equations, for targets
 * t of b s and t' of (C - b) xi:
 *
 *     db = theta (u + t/b - t'/(C-b) - sign dz),   theta = 1 / (s/b + xi/(C-b))
 *     (Hessian of g + X Theta X') dw = -(grad g(w) - X alpha) + X (sign theta (u + t/b - t'/(C-b)))
 *
 * Mehrotra's predictor aims at 0; how far it gets tells how much smaller mu may be, and its second-order error is
 * corrected in the second solve with the same factors (Mehrotra 1992; for support vector machines Ferris and Munson
 * 2002, Woodsend and Gondzio 2009). A round sends (n+1)/2 + 3 vectors: the matrix, the two right sides, and the image
 * of alpha, which is feasible and certifies. xi - s = u holds throughout; the point starts inside and stays there. */
#include <math.h>
#include <string.h>

#include "base/dense.h"
#include "base/parallel.h"
#include "base/vector.h"
#include "methods/newton.h"

#define STAY_INSIDE 0.995 /* of the way to the boundary */
#define CENTRINGS 3       /* at most; each costs a vector, and two passes */
#define ENOUGH 0.9        /* a step of this length needs none */
#define WORTH_IT 0.01     /* a step must become longer by that much */

/* One hinge of an instance. What a step changes in s and xi follows from db, see s_change. */
typedef struct hinge {
    double b, rest; /* b and C - b, both positive and each precise */
    double s, xi;
    double per_b, per_rest; /* 1/b, 1/(C - b) */
    double theta, sign;
    double aim, aim_rest;           /* what b s and (C - b) xi shall become: t, t' */
    double db;                      /* of the step under way */
    double kept_aim, kept_aim_rest; /* of the step before this one */
} hinge;

typedef struct interior {
    newton *x;
    hinge **hinges; /* [local][count * sides] */
    double *kept_d; /* [n] the direction before this one, and its margins */
    double **kept_q;
    double **pull;    /* [local][count] what of the right side belongs to an instance */
    uint64_t sides;   /* hinges of an instance */
    double mu, total; /* average of b s and (C - b) xi; how many these are, over all blocks */
    double scale;     /* average size of the offsets */
} interior;

/* u = offset - sign z */
typedef struct shape {
    double offset, sign;
} shape;

static inline shape shape_of(const problem *p, uint64_t row, uint64_t side)
{
    if (!p->loss->regression)
        return (shape){1, p->data->target.class[row] ? 1 : -1};
    const double label = p->data->target.real[row];
    return side == 0 ? (shape){label - p->epsilon, 1} : (shape){-label - p->epsilon, -1};
}

static inline double cost_at(const problem *p, uint64_t row)
{
    return problem_cost(p, !p->loss->regression && p->data->target.class[row] == 1, row);
}

/* w = 0, b = C/2, and xi and s of the size of the offsets. alpha goes to the point that certifies. */
static void start(interior *in)
{
    descent *r = &in->x->r;
    const problem *p = r->p;
    for (uint64_t k = 0; k < r->local; k++) {
        sum size = {0, 0};
        for (uint64_t i = 0; i < r->part[k].count; i++)
            for (uint64_t j = 0; j < in->sides; j++)
                sum_add(&size, fabs(shape_of(p, r->part[k].first_row + i, j).offset));
        r->scalars.mine[2 * k] = sum_value(&size);
        r->scalars.mine[2 * k + 1] = (double)(r->part[k].count * in->sides);
    }
    descent_gather(r, 2);
    double hinges = scalars_sum(&r->scalars, 1), margin = scalars_sum(&r->scalars, 0) / hinges;
    in->total = 2 * hinges;
    in->scale = margin = margin > 0 ? margin : 1;
    for (uint64_t k = 0; k < r->local; k++)
        for (uint64_t i = 0; i < r->part[k].count; i++) {
            uint64_t row = r->part[k].first_row + i;
            r->s[k][i] = 0;
            for (uint64_t j = 0; j < in->sides; j++) {
                hinge *h = &in->hinges[k][i * in->sides + j];
                shape u = shape_of(p, row, j);
                h->b = h->rest = 0.5 * cost_at(p, row);
                h->xi = fmax(u.offset, 0) + margin;
                h->s = h->xi - u.offset;
                h->sign = u.sign;
                r->s[k][i] += u.sign * h->b;
            }
        }
}

/* mu, theta and their sum for each instance. */
static void measure(interior *in)
{
    descent *r = &in->x->r;
    FOR_BLOCKS (k, r->local, r->p->threads) {
        sum products = {0, 0};
        for (uint64_t i = 0; i < r->part[k].count; i++) {
            double bend = 0;
            for (uint64_t j = 0; j < in->sides; j++) {
                hinge *h = &in->hinges[k][i * in->sides + j];
                sum_add(&products, h->b * h->s + h->rest * h->xi);
                h->per_b = 1 / h->b;
                h->per_rest = 1 / h->rest;
                h->theta = 1 / (h->s * h->per_b + h->xi * h->per_rest);
                bend += h->theta;
            }
            in->x->bend[k][i] = bend;
        }
        r->scalars.mine[k] = sum_value(&products);
    }
    descent_gather(r, 1);
    in->mu = scalars_sum(&r->scalars, 0) / in->total;
}

/* Sets the targets of all products. PREDICT: 0. CORRECT: mu, less the second-order error of the predictor's step.
 * CENTRE: a step somewhat longer than t is tried in thought, and products that it would leave far from mu, which are
 * what cuts steps short, are pulled back (Gondzio 1996). */
typedef enum aim { PREDICT, CORRECT, CENTRE } aim;

#define CENTRALITY 5 /* a product between mu/CENTRALITY and CENTRALITY mu is left alone */

static inline double pull_back(double product, double mu)
{
    double change = product < mu / CENTRALITY   ? mu / CENTRALITY - product
                    : product > CENTRALITY * mu ? CENTRALITY * mu - product
                                                : 0;
    return change < -CENTRALITY * mu ? -CENTRALITY * mu : change;
}

/* ds and dxi by the linearised b s = t and (C - b) xi = t' */
static inline double s_change(const hinge *h)
{
    return (h->aim - h->s * h->db) * h->per_b - h->s;
}

static inline double xi_change(const hinge *h)
{
    return (h->aim_rest + h->xi * h->db) * h->per_rest - h->xi;
}

static inline void set_target(hinge *h, aim what, double mu, double longer)
{
    const double ds = s_change(h), dxi = xi_change(h);
    if (what == CENTRE) {
        h->kept_aim = h->aim, h->kept_aim_rest = h->aim_rest;
        h->aim += pull_back((h->b + longer * h->db) * (h->s + longer * ds), mu);
        h->aim_rest += pull_back((h->rest - longer * h->db) * (h->xi + longer * dxi), mu);
        return;
    }
    h->aim = what == PREDICT ? 0 : mu - h->db * ds;
    h->aim_rest = what == PREDICT ? 0 : mu + h->db * dxi;
}

/* theta (u + t/b - t'/(C-b)) */
static inline double force(const hinge *h)
{
    return h->theta * ((h->xi - h->s) + h->aim * h->per_b - h->aim_rest * h->per_rest);
}

static void set_targets(interior *in, aim what, double mu, double t)
{
    descent *r = &in->x->r;
    const double longer = fmin(1, 1.5 * t + 0.1);
    FOR_BLOCKS (k, r->local, r->p->threads)
        for (uint64_t i = 0; i < r->part[k].count; i++) {
            double pull = 0;
            for (uint64_t j = 0; j < in->sides; j++) {
                hinge *h = &in->hinges[k][i * in->sides + j];
                set_target(h, what, mu, longer);
                pull += h->sign * force(h);
            }
            in->pull[k][i] = pull;
        }
}

/* Direction and its margins for the targets that are set; one vector. False: not finite. */
static bool solve(interior *in)
{
    newton *x = in->x;
    descent *r = &x->r;
    const uint64_t n = r->p->n;
    FOR_BLOCKS (k, r->local, r->p->threads)
        r->largest[k] = instances_image(&r->part[k], in->pull[k], r->part_sum[k]);
    descent_sum(r, x->d);
    vec_add(x->d, -1, r->gradient, n, r->p->threads);
    if (!dense_solve(x->matrix, n, x->d))
        return false;
    descent_margins(r, x->d, x->q);
    r->report.epochs += 2;
    return true;
}

/* Sums over the hinges of a block, plainly over a few and these with compensation. */
typedef struct course {
    double fastest; /* relative fall of what must stay positive */
    sum first, second;
} course;

#define FEW 64

static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

static course complete_block(interior *in, hinge *hinges, const double *q, uint64_t count)
{
    course c = {0};
    for (uint64_t from = 0, end; from < count; from = end) {
        double first = 0, second = 0;
        end = count - from < FEW ? count : from + FEW;
        for (uint64_t i = from; i < end; i++)
            for (uint64_t j = 0; j < in->sides; j++) {
                hinge *h = &hinges[i * in->sides + j];
                h->db = force(h) - h->theta * h->sign * q[i];
                double ds = s_change(h), dxi = xi_change(h);
                double of_b = larger(-h->db * h->per_b, h->db * h->per_rest);
                double of_s = larger(-ds / h->s, -dxi / h->xi);
                c.fastest = larger(larger(of_b, of_s), c.fastest);
                first += h->b * ds + h->s * h->db + h->rest * dxi - h->xi * h->db;
                second += h->db * ds - h->db * dxi;
            }
        sum_add(&c.first, first);
        sum_add(&c.second, second);
    }
    return c;
}

/* db from dz; the longest step inside, and the average product that t times the step leads to:
 * mu + t bend[0] + t^2 bend[1]. */
static double complete(interior *in, double bend[2])
{
    descent *r = &in->x->r;
    FOR_BLOCKS (k, r->local, r->p->threads) {
        course c = complete_block(in, in->hinges[k], in->x->q[k], r->part[k].count);
        r->scalars.mine[3 * k] = c.fastest;
        r->scalars.mine[3 * k + 1] = sum_value(&c.first);
        r->scalars.mine[3 * k + 2] = sum_value(&c.second);
    }
    descent_gather(r, 3);
    bend[0] = scalars_sum(&r->scalars, 1) / in->total;
    bend[1] = scalars_sum(&r->scalars, 2) / in->total;
    return 1 / scalars_max(&r->scalars, 0);
}

static void move(interior *in, double t)
{
    descent *r = &in->x->r;
    descent_move(r, t, in->x->d, in->x->q);
    FOR_BLOCKS (k, r->local, r->p->threads) {
        for (uint64_t i = 0; i < r->part[k].count; i++) {
            double alpha = 0;
            for (uint64_t j = 0; j < in->sides; j++) {
                hinge *h = &in->hinges[k][i * in->sides + j];
                h->s += t * s_change(h);
                h->xi += t * xi_change(h);
                h->b += t * h->db;
                h->rest -= t * h->db;
                alpha += h->sign * h->b;
            }
            r->s[k][i] = alpha;
        }
    }
}

static void swap_directions(interior *in)
{
    newton *x = in->x;
    double *d = x->d, **q = x->q;
    x->d = in->kept_d, x->q = in->kept_q;
    in->kept_d = d, in->kept_q = q;
}

/* Back to the direction that was pulled back in vain. */
static void take_back(interior *in, double bend[2])
{
    descent *r = &in->x->r;
    swap_directions(in);
    for (uint64_t k = 0; k < r->local; k++)
        for (uint64_t i = 0; i < r->part[k].count * in->sides; i++) {
            hinge *h = &in->hinges[k][i];
            h->aim = h->kept_aim, h->aim_rest = h->kept_aim_rest;
        }
    complete(in, bend);
}

/* Longer steps by pulling products back, as long as that helps. Returns how long, 0 for none. */
static double centre(interior *in, double mu, double t)
{
    double bend[2];
    for (int k = 0; k < CENTRINGS && t < ENOUGH; k++) {
        set_targets(in, CENTRE, mu, t);
        swap_directions(in);
        double longer = solve(in) ? fmin(1, complete(in, bend)) : 0;
        in->x->r.report.line_search_steps++;
        if (longer < t + WORTH_IT) {
            take_back(in, bend);
            break;
        }
        t = longer;
    }
    return t;
}

/* The step of a round. 0: none in double precision. */
static double interior_step(interior *in)
{
    double bend[2];
    measure(in);
    if (!newton_factor(in->x))
        return 0;
    set_targets(in, PREDICT, 0, 0);
    if (!solve(in))
        return 0;
    /* How small a mu the predictor would reach says how small a one is sought. */
    double t = fmin(1, complete(in, bend)), left = (in->mu + t * (bend[0] + t * bend[1])) / in->mu;
    double mu = in->mu * left * left * left;
    set_targets(in, CORRECT, mu, t);
    if (!solve(in))
        return 0;
    t = centre(in, mu, fmin(1, complete(in, bend)));
    in->x->r.report.line_search_steps += 2;
    t = fmin(1, STAY_INSIDE * t);
    move(in, t);
    return t;
}

static bool take_memory(interior *in, bda_error *err)
{
    descent *r = &in->x->r;
    if (!(in->hinges = ARENA_TAKE(&r->memory, hinge *, r->local + 1, err)) ||
        !(in->pull = descent_new_margins(r, err)) || !(in->kept_q = descent_new_margins(r, err)) ||
        !(in->kept_d = ARENA_TAKE(&r->memory, double, r->p->n, err)))
        return false;
    for (uint64_t k = 0; k < r->local; k++)
        if (!(in->hinges[k] = ARENA_TAKE(&r->memory, hinge, r->part[k].count * in->sides, err)))
            return false;
    return true;
}

/* The point on the central path of mu that has the margins of w: b s = (C - b) xi = mu with xi - s = u. With
 * k = u C / mu the smaller of b/C and 1 - b/C is 2 / (2 + |k| + sqrt(k^2 + 4)). With too small a mu steps are short
 * at first, with too large a one w was in vain; the constant was found by trial. */
static void start_at(interior *in, const double *w, double gap)
{
    descent *r = &in->x->r;
    const problem *p = r->p;
    const double spread = in->scale * fmin(1, 2 * sqrt(gap));
    memcpy(r->w, w, p->n * sizeof *w);
    descent_margins(r, w, r->z);
    for (uint64_t k = 0; k < r->local; k++)
        for (uint64_t i = 0; i < r->part[k].count; i++) {
            uint64_t row = r->part[k].first_row + i;
            const double C = cost_at(p, row), mu = C * spread;
            r->s[k][i] = 0;
            for (uint64_t j = 0; j < in->sides; j++) {
                hinge *h = &in->hinges[k][i * in->sides + j];
                double u = shape_of(p, row, j).offset - h->sign * r->z[k][i], far = fabs(u) * C / mu;
                double less = 2 * C / (2 + far + sqrt(far * far + 4));
                h->b = u < 0 ? less : C - less;
                h->rest = u < 0 ? C - less : less;
                h->s = mu / h->b;
                h->xi = mu / h->rest;
                r->s[k][i] += h->sign * h->b;
            }
        }
}

static void name_whole(archive *a, void *run)
{
    newton_whole(a, ((interior *)run)->x);
}

static void name_block(archive *a, void *run, uint64_t k)
{
    interior *in = run;
    ARCHIVE_ARRAY(a, in->hinges[k], in->x->r.part[k].count * in->sides);
    descent_block(a, &in->x->r, k);
}

bool interior_train(newton *x, const double *w, double gap, bda_error *err)
{
    descent *r = &x->r;
    interior in = {.x = x, .sides = r->p->loss->regression ? 2 : 1};
    if (!comm_agree(r->p->comm, take_memory(&in, err), err))
        return false;
    start(&in);
    if (w)
        start_at(&in, w, gap);
    r->own_dual = true;
    const method_state state = {&in, name_whole, name_block};
    for (uint64_t t = 0; !descent_look(r, &state, &t); t++) {
        double eta = interior_step(&in);
        r->report.step = eta;
        r->report.epochs += 1;
        x->idle = eta < 1e-3 ? x->idle + 1 : 0;
        r->report.stalled = eta == 0 || x->idle >= 5;
    }
    return true;
}
