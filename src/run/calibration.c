/* calibration.c - see calibration.h. */
#include "run/calibration.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {[CALIBRATION_PLATT] = "platt", [CALIBRATION_ISOTONIC] = "isotonic"};

bool calibration_kind_of(const char *name, calibration_kind *kind)
{
    for (int k = 0; k < 2; k++)
        if (strcmp(names[k], name) == 0) {
            *kind = (calibration_kind)k;
            return true;
        }
    return false;
}

const char *calibration_name(calibration_kind kind)
{
    return names[kind];
}

/* ---- Platt ----------------------------------------------------------------------------------------------------
 *
 * With f = slope s + offset and the target t, an instance costs  log(1 + exp(-f)) + t f  (p = 1 / (1 + exp(f))): a
 * convex function of two variables, minimised by Newton's method with steps halved until they pay. */

#define PLATT_STEPS 100
#define PLATT_HALVINGS 60
#define PLATT_SLOPE 1e-10 /* of the objective, for each unit of weight: then it is done */

typedef struct platt {
    const calibration_point *point;
    uint64_t count;
    double scale;     /* the largest score is 1 in these units */
    double high, low; /* targets of those that have the label, and of the others */
    double weight;    /* of all */
} platt;

typedef struct platt_state {
    double value, slope[2], hessian[3]; /* by slope and offset; slope slope, slope offset, offset offset */
} platt_state;

static double platt_value(const platt *p, double slope, double offset)
{
    double value = 0;
    for (uint64_t i = 0; i < p->count; i++) {
        const calibration_point *x = &p->point[i];
        const double f = slope * (x->score / p->scale) + offset, t = x->target > 0 ? p->high : p->low;
        value += x->weight * (f >= 0 ? t * f + log1p(exp(-f)) : (t - 1) * f + log1p(exp(f)));
    }
    return value;
}

static platt_state platt_derivatives(const platt *p, double slope, double offset)
{
    platt_state d = {.value = platt_value(p, slope, offset)};
    for (uint64_t i = 0; i < p->count; i++) {
        const calibration_point *x = &p->point[i];
        const double s = x->score / p->scale, f = slope * s + offset, t = x->target > 0 ? p->high : p->low;
        const double e = exp(-fabs(f)), probability = f >= 0 ? e / (1 + e) : 1 / (1 + e);
        const double g = x->weight * (t - probability), h = x->weight * e / ((1 + e) * (1 + e));
        d.slope[0] += g * s;
        d.slope[1] += g;
        d.hessian[0] += h * s * s;
        d.hessian[1] += h * s;
        d.hessian[2] += h;
    }
    return d;
}

static void platt_fit(const calibration_point *point, uint64_t count, calibration_map *to)
{
    double with = 0, without = 0, most = 0;
    for (uint64_t i = 0; i < count; i++) {
        *(point[i].target > 0 ? &with : &without) += point[i].weight;
        most = fmax(most, fabs(point[i].score));
    }
    const platt p = {.point = point,
                     .count = count,
                     .scale = most > 0 ? most : 1,
                     .high = (with + 1) / (with + 2),
                     .low = 1 / (without + 2),
                     .weight = with + without};
    double slope = 0, offset = log((without + 1) / (with + 1));
    for (int step = 0; step < PLATT_STEPS; step++) {
        const platt_state d = platt_derivatives(&p, slope, offset);
        if (fmax(fabs(d.slope[0]), fabs(d.slope[1])) <= PLATT_SLOPE * p.weight)
            break;
        const double ridge = 1e-12 * (d.hessian[0] + d.hessian[2]), a = d.hessian[0] + ridge, b = d.hessian[1],
                     c = d.hessian[2] + ridge, determinant = a * c - b * b;
        const double to_slope = -(c * d.slope[0] - b * d.slope[1]) / determinant,
                     to_offset = -(a * d.slope[1] - b * d.slope[0]) / determinant,
                     promised = d.slope[0] * to_slope + d.slope[1] * to_offset;
        double part = 1;
        int halvings = 0;
        while (halvings < PLATT_HALVINGS && !(platt_value(&p, slope + part * to_slope, offset + part * to_offset) <
                                              d.value + 1e-4 * part * promised)) {
            part /= 2;
            halvings++;
        }
        if (halvings == PLATT_HALVINGS)
            break; /* as far as doubles can tell */
        slope += part * to_slope;
        offset += part * to_offset;
    }
    to->slope = slope / p.scale;
    to->offset = offset;
}

/* ---- isotonic ------------------------------------------------------------------------------------------------- */

static int by_score(const void *a, const void *b)
{
    const calibration_point *x = a, *y = b;
    return (x->score > y->score) - (x->score < y->score);
}

/* Instances of the same score become one, with their mean target. Returns how many are left. */
static uint64_t join_ties(calibration_point *point, uint64_t count)
{
    uint64_t kept = 0;
    for (uint64_t i = 0; i < count;) {
        calibration_point one = {.score = point[i].score};
        for (; i < count && point[i].score == one.score; i++) {
            one.weight += point[i].weight;
            one.target += point[i].weight * point[i].target;
        }
        one.target /= one.weight;
        point[kept++] = one;
    }
    return kept;
}

/* A stretch of points that share their value. */
typedef struct stretch {
    double first, last; /* scores */
    double weight, sum; /* of the targets, by weight */
} stretch;

static bool isotonic_fit(calibration_point *point, uint64_t count, calibration_map *to, arena *memory, bda_error *err)
{
    qsort(point, count, sizeof *point, by_score);
    count = join_ties(point, count);
    arena room = {0};
    stretch *pool = ARENA_TAKE(&room, stretch, count + 1, err);
    uint64_t pools = 0;
    for (uint64_t i = 0; pool && i < count; i++) {
        stretch now = {point[i].score, point[i].score, point[i].weight, point[i].weight * point[i].target};
        /* a sum over its weight is a mean: the one before must be below */
        for (; pools > 0 && pool[pools - 1].sum * now.weight >= now.sum * pool[pools - 1].weight; pools--) {
            now.first = pool[pools - 1].first;
            now.weight += pool[pools - 1].weight;
            now.sum += pool[pools - 1].sum;
        }
        pool[pools++] = now;
    }
    to->score = pool ? ARENA_TAKE(memory, double, 2 * pools + 1, err) : NULL;
    to->probability = to->score ? ARENA_TAKE(memory, double, 2 * pools + 1, err) : NULL;
    for (uint64_t k = 0; to->probability && k < pools; k++) {
        const double ends[2] = {pool[k].first, pool[k].last};
        for (int end = 0; end < (ends[0] < ends[1] ? 2 : 1); end++) {
            to->score[to->knots] = ends[end];
            to->probability[to->knots++] = fmin(pool[k].sum / pool[k].weight, 1);
        }
    }
    arena_free(&room);
    return to->probability != NULL;
}

bool calibration_fit(calibration_kind kind, calibration_point *point, uint64_t count, calibration_map *to,
                     arena *memory, bda_error *err)
{
    *to = (calibration_map){0};
    if (kind == CALIBRATION_ISOTONIC)
        return isotonic_fit(point, count, to, memory, err);
    platt_fit(point, count, to);
    return true;
}

/* ---- probabilities --------------------------------------------------------------------------------------------- */

static double between_knots(const calibration_map *m, double s)
{
    uint64_t low = 0, high = m->knots - 1;
    if (!(s > m->score[low]))
        return m->probability[low];
    if (s >= m->score[high])
        return m->probability[high];
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        *(m->score[middle] <= s ? &low : &high) = middle;
    }
    const double part = (s - m->score[low]) / (m->score[high] - m->score[low]);
    return m->probability[low] + part * (m->probability[high] - m->probability[low]);
}

static double probability_of(const calibration *c, uint64_t k, double score)
{
    const calibration_map *m = &c->map[k];
    if (c->kind == CALIBRATION_ISOTONIC)
        return between_knots(m, score);
    return 1 / (1 + exp(m->slope * score + m->offset));
}

void calibration_apply(const calibration *c, const double *score, double *p)
{
    if (c->maps == 1) {
        p[0] = probability_of(c, 0, score[0]);
        p[1] = 1 - p[0];
        return;
    }
    double total = 0;
    for (uint64_t k = 0; k < c->maps; k++)
        total += p[k] = probability_of(c, k, score[k]);
    for (uint64_t k = 0; k < c->maps; k++)
        p[k] = total > 0 ? p[k] / total : 1 / (double)c->maps;
}

double calibration_loss(const calibration *c, const double *score, uint64_t truth)
{
    double of_truth = 0, total = 0;
    if (c->maps == 1) {
        const double p = probability_of(c, 0, score[0]);
        of_truth = truth == 0 ? p : 1 - p;
        total = 1;
    }
    for (uint64_t k = 0; k < c->maps && c->maps > 1; k++) {
        const double p = probability_of(c, k, score[k]);
        total += p;
        of_truth = k == truth ? p : of_truth;
    }
    return -log(fmax(total > 0 ? of_truth / total : 1 / (double)c->maps, DBL_EPSILON));
}

/* ---- the section ------------------------------------------------------------------------------------------------ */

void calibration_pack(const calibration *c, bytes *to)
{
    bytes_put_text(to, names[c->kind]);
    bytes_put_u64(to, c->instances);
    bytes_put_u64(to, c->maps);
    for (uint64_t k = 0; k < c->maps; k++) {
        const calibration_map *m = &c->map[k];
        bytes_put_real(to, m->slope);
        bytes_put_real(to, m->offset);
        bytes_put_u64(to, m->knots);
        for (uint64_t i = 0; i < m->knots; i++)
            bytes_put_real(to, m->score[i]);
        for (uint64_t i = 0; i < m->knots; i++)
            bytes_put_real(to, m->probability[i]);
    }
}

static bool unpack_knots(calibration_map *m, byte_reader *from, arena *memory, bda_error *err)
{
    if (m->knots > from->left / 16)
        return false;
    m->score = ARENA_TAKE(memory, double, m->knots, err);
    m->probability = m->score ? ARENA_TAKE(memory, double, m->knots, err) : NULL;
    if (!m->probability)
        return false;
    for (uint64_t i = 0; i < m->knots; i++) {
        m->score[i] = bytes_get_real(from);
        if (!isfinite(m->score[i]) || (i > 0 && !(m->score[i] > m->score[i - 1])))
            return false;
    }
    for (uint64_t i = 0; i < m->knots; i++) {
        m->probability[i] = bytes_get_real(from);
        if (!(m->probability[i] >= (i ? m->probability[i - 1] : 0) && m->probability[i] <= 1))
            return false;
    }
    return true;
}

bool calibration_unpack(calibration *c, byte_reader *from, uint64_t outputs, arena *memory, bda_error *err)
{
    const char *name = bytes_get_text(from, memory, err);
    c->instances = bytes_get_u64(from);
    c->maps = bytes_get_u64(from);
    if (from->failed || !name || !calibration_kind_of(name, &c->kind) || c->maps != outputs ||
        !(c->map = ARENA_TAKE(memory, calibration_map, c->maps, err)))
        return false;
    for (uint64_t k = 0; k < c->maps; k++) {
        calibration_map *m = &c->map[k];
        m->slope = bytes_get_real(from);
        m->offset = bytes_get_real(from);
        m->knots = bytes_get_u64(from);
        if (from->failed || !isfinite(m->slope) || !isfinite(m->offset) ||
            (m->knots > 0) != (c->kind == CALIBRATION_ISOTONIC) || !unpack_knots(m, from, memory, err))
            return false;
    }
    return bytes_ended(from);
}
