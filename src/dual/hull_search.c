/* hull_search.c - the least value of the dual over the convex hull of alpha and the kept points.
 *
 *     phi(theta) = f(alpha + sum_a theta_a (point_a - alpha)) - f(alpha),   theta >= 0, sum theta <= 1
 *
 * Where f is quadratic on its domain, phi follows from the products of the points' images and of the points, of which
 * only those of new points and of alpha are computed in a round. Otherwise a few steps of sequential quadratic
 * programming: slope and Hessian of phi at theta in one message, the quadratic over the simplex, and a step back
 * where phi did not fall. */
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/vector.h"
#include "dual/hull.h"
#include "dual/simplex.h"

#define ALPHA HULL_POINTS
#define CHUNK 1024
#define REACH 0.2 /* of the first step, see block_combine; less in each one after it */

static const double *image_of(const hull_run *r, int point)
{
    return point == ALPHA ? r->d.v : r->points.image[point];
}

void hull_columns(const hull_run *r, uint64_t k, uint64_t *first, uint64_t *end)
{
    const int block = (int)(r->d.p->data->first_block + k), K = (int)r->d.K;
    *first = comm_first_block(r->d.p->n, block, K);
    *end = comm_first_block(r->d.p->n, block + 1, K);
}

/* out[c][k] = changed_c' other_k over a share of the columns */
static void image_products(const hull_run *r, uint64_t first, uint64_t end, int changed, const int *which, int others,
                           const int *other, double *out)
{
    sum total[3 * (HULL_POINTS + 1)] = {{0, 0}};
    for (uint64_t at = first; at < end; at += CHUNK) {
        uint64_t length = end - at < CHUNK ? end - at : CHUNK;
        for (int c = 0; c < changed; c++)
            for (int k = 0; k < others; k++)
                sum_add(&total[c * others + k],
                        vec_dot(image_of(r, which[c]) + at, image_of(r, other[k]) + at, length, 1));
    }
    for (int c = 0; c < changed * others; c++)
        out[c] = sum_value(&total[c]);
}

void hull_products(hull_run *r, int changed, const int *which)
{
    int other[HULL_POINTS + 1], block_other[HULL_POINTS + 1], others = 0;
    for (int k = 0; k < r->points.count; k++)
        other[others++] = r->points.used[k];
    other[others++] = ALPHA;
    for (int k = 0; k < others; k++)
        block_other[k] = other[k] == ALPHA ? POINT_ALPHA : other[k];
    dual_run *d = &r->d;
    const bool quadratic = d->p->loss->quadratic_dual;
    const int columns = changed * (quadratic ? 2 * others + 1 : others);
    FOR_BLOCKS (k, d->local, d->p->threads) {
        double *to = d->scalars.mine + k * (uint64_t)columns;
        uint64_t first, end;
        hull_columns(r, k, &first, &end);
        image_products(r, first, end, changed, which, others, other, to);
        for (int c = 0; quadratic && c < changed; c++)
            block_products(d->blocks[k], which[c] == ALPHA ? POINT_ALPHA : which[c], others, block_other,
                           to + changed * others + c * others, to + 2 * changed * others + c);
    }
    scalars_gather(&d->scalars, columns);
    for (int c = 0; c < changed; c++) {
        for (int k = 0; k < others; k++)
            r->points.product[which[c]][other[k]] = r->points.product[other[k]][which[c]] =
                scalars_sum(&d->scalars, c * others + k) +
                (quadratic ? scalars_sum(&d->scalars, changed * others + c * others + k) : 0);
        r->points.linear[which[c]] = quadratic ? scalars_sum(&d->scalars, 2 * changed * others + c) : 0;
    }
}

/* ---- quadratic duals ----------------------------------------------------------------------------------------- */

/* phi(theta) = slope'theta + theta'H theta/2 from the products. */
static void quadratic_model(const hull_run *r, double *slope, double *H)
{
    const int m = r->points.count;
    for (int a = 0; a < m; a++) {
        int i = r->points.used[a];
        slope[a] = r->points.product[i][ALPHA] - r->points.product[ALPHA][ALPHA] +
                   (r->points.linear[i] - r->points.linear[ALPHA]);
        for (int b = 0; b <= a; b++) {
            int j = r->points.used[b];
            H[a * m + b] = (r->points.product[i][j] - r->points.product[i][ALPHA]) -
                           (r->points.product[j][ALPHA] - r->points.product[ALPHA][ALPHA]);
        }
    }
}

/* ---- other duals --------------------------------------------------------------------------------------------- */

/* Of g* along the hull: from the images' products where it is v'v/2, else by passes over the vectors. */
static void smooth_at(hull_run *r, const double *theta, double *change, double *slope, double *H)
{
    const problem *p = r->d.p;
    const int m = r->points.count;
    if (p->penalty.kind->identity) { /* the products are those of the images alone */
        double model[HULL_POINTS], full[HULL_POINTS * HULL_POINTS];
        quadratic_model(r, model, full);
        *change = 0;
        for (int a = 0; a < m; a++) {
            slope[a] = model[a];
            for (int b = 0; b < m; b++)
                slope[a] += full[a >= b ? a * m + b : b * m + a] * theta[b];
            *change += 0.5 * theta[a] * (model[a] + slope[a]);
        }
        memcpy(H, full, (size_t)(m * m) * sizeof *H);
        return;
    }
    double *moved = r->scratch, *w = r->d.direction.dv, *h = r->d.model.h; /* dv and h are free between rounds */
    const double *v = r->d.v;
    for (uint64_t j = 0; j < p->n; j++) {
        moved[j] = 0;
        for (int a = 0; a < m; a++)
            moved[j] += theta[a] * (r->points.image[r->points.used[a]][j] - v[j]);
    }
    *change = p->penalty.kind->ray_change(&p->penalty, v, moved, 1);
    vec_add(moved, 1, v, p->n, p->threads);
    p->penalty.kind->gradient(&p->penalty, w, moved);
    p->penalty.kind->curvature(&p->penalty, h, moved, false);
    sum slopes[HULL_POINTS] = {{0, 0}};
    memset(H, 0, (size_t)(m * m) * sizeof *H);
    for (uint64_t j = 0; j < p->n; j++) {
        double toward[HULL_POINTS];
        for (int a = 0; a < m; a++) {
            toward[a] = r->points.image[r->points.used[a]][j] - v[j];
            sum_add(&slopes[a], w[j] * toward[a]);
            for (int b = 0; b <= a; b++)
                H[a * m + b] += h[j] * toward[a] * toward[b];
        }
    }
    for (int a = 0; a < m; a++)
        slope[a] = sum_value(&slopes[a]);
}

/* phi, its slope and Hessian at theta: one message. */
static double value_at(hull_run *r, const double *theta, double reach, double *slope, double *H)
{
    const int m = r->points.count, columns = 1 + m + m * m;
    dual_run *d = &r->d;
    double change;
    FOR_BLOCKS (k, d->local, d->p->threads) {
        double *to = d->scalars.mine + k * (uint64_t)columns;
        block_combine(d->blocks[k], m, r->points.used, theta, reach, to, to + 1, to + 1 + m);
    }
    scalars_gather(&d->scalars, columns);
    smooth_at(r, theta, &change, slope, H);
    for (int a = 0; a < m; a++) {
        slope[a] += scalars_sum(&d->scalars, 1 + a);
        for (int b = 0; b <= a; b++)
            H[a * m + b] += scalars_sum(&d->scalars, 1 + m + a * m + b);
    }
    d->report.line_search_steps++;
    return change + scalars_sum(&d->scalars, 0);
}

/* From theta = start, which phi must not exceed. */
static double sequential(hull_run *r, double *theta)
{
    const int m = r->points.count;
    double slope[HULL_POINTS], H[HULL_POINTS * HULL_POINTS], aim[HULL_POINTS], trial[HULL_POINTS];
    double trial_slope[HULL_POINTS], trial_H[HULL_POINTS * HULL_POINTS];
    double phi = value_at(r, theta, REACH, slope, H);
    if (!(phi <= 0)) { /* the start was lost in rounding */
        memset(theta, 0, (size_t)m * sizeof *theta);
        phi = value_at(r, theta, REACH, slope, H);
    }
    for (int step = 0; step < 6; step++) {
        memcpy(aim, theta, sizeof aim);
        double promised = simplex_minimise(m, H, slope, theta, aim), along = 0, t = 1, next = phi;
        for (int a = 0; a < m; a++)
            along += slope[a] * (aim[a] - theta[a]);
        if (!(along < 0) || promised <= 1e-15 * fabs(r->d.f) || promised <= -1e-3 * phi)
            break;
        double reach = step < 2 ? REACH * pow(0.2, step + 1) : 0;
        int tries = 0;
        for (; tries < 8; tries++) {
            for (int a = 0; a < m; a++)
                trial[a] = theta[a] + t * (aim[a] - theta[a]);
            next = value_at(r, trial, reach, trial_slope, trial_H);
            if (next <= phi + 1e-4 * t * along)
                break;
            double fitted = -0.5 * along * t * t / (next - phi - along * t); /* the parabola through both ends */
            t = fitted > 0.1 * t && fitted < 0.5 * t ? fitted : fitted >= 0.5 * t ? 0.5 * t : 0.1 * t;
        }
        if (tries == 8)
            break;
        phi = next;
        memcpy(theta, trial, sizeof trial);
        memcpy(slope, trial_slope, sizeof slope);
        memcpy(H, trial_H, sizeof H);
    }
    return phi;
}

/* ---- the move ------------------------------------------------------------------------------------------------ */

static void move_to(hull_run *r, const double *theta)
{
    dual_run *d = &r->d;
    int used = 0, point[HULL_POINTS];
    double weight[HULL_POINTS];
    for (int a = 0; a < r->points.count; a++)
        if (theta[a] > 0) {
            point[used] = r->points.used[a];
            weight[used++] = theta[a];
        }
    if (used == 0)
        return;
    FOR_BLOCKS (k, d->local, d->p->threads)
        if (!block_blend(d->blocks[k], used, point, weight))
            d->direction.of_block[k].failed = true; /* evaluate tells the others */
    const uint64_t n = d->p->n;
    FOR_NUMBERS (j, n, d->p->threads) {
        double moved = 0;
        for (int a = 0; a < used; a++)
            moved += weight[a] * (r->points.image[point[a]][j] - d->v[j]);
        d->v[j] += moved;
    }
}

double hull_minimise(hull_run *r, int newest_solution, double start)
{
    const problem *p = r->d.p;
    const int m = r->points.count;
    double theta[HULL_POINTS], phi, slope[HULL_POINTS], H[HULL_POINTS * HULL_POINTS], zero[HULL_POINTS] = {0};
    for (int a = 0; a < m; a++)
        theta[a] = r->points.used[a] == newest_solution ? start : 0;
    if (p->loss->quadratic_dual && p->penalty.kind->identity) {
        quadratic_model(r, slope, H);
        simplex_minimise(m, H, slope, zero, theta);
        phi = 0;
        for (int a = 0; a < m; a++) {
            double bend = 0;
            for (int b = 0; b < m; b++)
                bend += H[a >= b ? a * m + b : b * m + a] * theta[b];
            phi += theta[a] * (slope[a] + 0.5 * bend);
        }
    } else {
        phi = sequential(r, theta);
    }
    if (!(phi < 0))
        return 0;
    move_to(r, theta);
    return -phi;
}
