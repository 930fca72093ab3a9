/* softmax_points.c - kept points of softmax blocks: beta = C e_y - alpha of all classes. The conjugate is the sum of
 * beta log(beta / C). Its slope is taken without the constant 1: the betas of an instance keep their sum. */
#include "problem/softmax.h"

#include <string.h>

#include "base/vector.h"
#include "problem/loss_math.h"

static uint64_t variables(const block *b)
{
    return b->count * b->p->classes;
}

static bool points_open(block *base, arena *memory, int points, bda_error *err)
{
    softmax *b = (softmax *)base;
    for (int a = 0; a < points; a++) {
        if (!(b->point[a] = arena_take(memory, base->count, base->p->classes * sizeof(double), "kept points", err)))
            return false;
        memcpy(b->point[a], b->now, variables(base) * sizeof(double));
    }
    return true;
}

static bool points_keep(block *base, int point, double eta)
{
    softmax *b = (softmax *)base;
    for (uint64_t k = 0; k < variables(base); k++)
        b->point[point][k] = eta == 1 ? b->now[k] : fmax(0, b->start[k] + eta * (b->now[k] - b->start[k]));
    memcpy(b->now, b->start, variables(base) * sizeof(double));
    return true;
}

static bool points_keep_image(block *base, int point, const double *s)
{
    softmax *b = (softmax *)base;
    const uint64_t classes = base->p->classes;
    for (uint32_t i = 0; i < base->count; i++)
        for (uint64_t k = 0; k < classes; k++) {
            double C = k == b->m.y[i] ? multiclass_cost(&b->m, i) : 0;
            b->point[point][i * classes + k] = fmax(0, C - s[i * classes + k]);
        }
    return true;
}

static void points_combine(const block *base, int count, const int *points, const double *theta, double reach,
                           double *change, double *gradient, double *hessian)
{
    const softmax *b = (const softmax *)base;
    const uint64_t classes = base->p->classes;
    sum changes = {0, 0}, slopes[POINTS_MOST] = {{0, 0}};
    double toward[POINTS_MOST], bends[POINTS_MOST * POINTS_MOST] = {0};
    for (uint32_t i = 0; i < base->count; i++) {
        double C = multiclass_cost(&b->m, i);
        for (uint64_t k = i * classes; k < (i + 1) * classes; k++) {
            double beta = b->now[k], most = 0;
            for (int a = 0; a < count; a++) {
                toward[a] = b->point[points[a]][k] - b->now[k];
                beta += theta[a] * toward[a];
                most = fmax(most, fabs(toward[a]));
            }
            if (most == 0)
                continue;
            beta = fmax(beta, 0);
            sum_add(&changes, entropy_term(beta, C) - entropy_term(b->now[k], C));
            if (!gradient)
                continue;
            beta = fmax(beta, 1e-290);
            double slope = log_ratio(beta, C), bend = 1 / fmax(beta + reach * most, 1e-290);
            for (int a = 0; a < count; a++) {
                sum_add(&slopes[a], slope * toward[a]);
                for (int c = 0; hessian && c <= a; c++)
                    bends[a * count + c] += bend * toward[a] * toward[c];
            }
        }
    }
    *change = sum_value(&changes);
    for (int a = 0; gradient && a < count; a++)
        gradient[a] = sum_value(&slopes[a]);
    if (hessian)
        memcpy(hessian, bends, (size_t)(count * count) * sizeof *bends);
}

static bool points_blend(block *base, int count, const int *points, const double *theta)
{
    softmax *b = (softmax *)base;
    for (uint64_t k = 0; k < variables(base); k++) {
        double beta = b->start[k];
        for (int a = 0; a < count; a++)
            beta += theta[a] * (b->point[points[a]][k] - b->start[k]);
        b->now[k] = b->start[k] = fmax(beta, 0);
    }
    return true;
}

/* Not onto the ends, where the slope is infinite. */
static void points_advance(block *base, int point, double ahead, double *beyond, double *moved)
{
    softmax *b = (softmax *)base;
    const uint64_t classes = base->p->classes;
    for (uint32_t i = 0; i < base->count; i++) {
        double *now = b->now + i * classes, *start = b->start + i * classes, *old = b->point[point] + i * classes;
        double C = multiclass_cost(&b->m, i), total = 0;
        for (uint64_t k = 0; k < classes; k++) {
            now[k] = fmax(start[k] + ahead * (start[k] - old[k]), POINT_KEPT_OF_ENDS * start[k]);
            total += now[k];
        }
        for (uint64_t k = 0; k < classes; k++) { /* alpha = C e_y - beta */
            now[k] *= C / total;
            moved[i * classes + k] = start[k] - now[k];
            beyond[i * classes + k] = start[k] + ahead * (start[k] - old[k]) - now[k];
        }
    }
}

static double points_gap(const block *base, const double *z)
{
    const softmax *b = (const softmax *)base;
    const uint64_t classes = base->p->classes;
    sum gap = {0, 0};
    for (uint32_t i = 0; i < base->count; i++, z += classes) {
        const double *beta = b->now + i * classes;
        double C = multiclass_cost(&b->m, i), log_total = softmax_log_total(z, classes);
        for (uint64_t k = 0; k < classes; k++) {
            double share = beta[k] / C, log_share = share > 0 ? log(share) : 0;
            sum_add(&gap, C * softmax_gap_term(share, log_share, z[k] - log_total));
        }
    }
    return sum_value(&gap);
}

const point_kind softmax_points = {
    .open = points_open,
    .keep = points_keep,
    .keep_image = points_keep_image,
    .combine = points_combine,
    .blend = points_blend,
    .advance = points_advance,
    .gap = points_gap,
};
