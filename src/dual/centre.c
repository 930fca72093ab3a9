/* centre.c - free intercepts in methods that work on the dual: problem/intercept.h says what for.
 *
 * v and the images of points have the centre beside X alpha, so that products of them are those of f_c, up to a
 * constant; nothing else of a round knows of it. */
#include <math.h>

#include "base/vector.h"
#include "dual/hull.h"

void dual_add_centre(const dual_run *r, double *v)
{
    const penalty *g = &r->p->penalty;
    for (uint64_t m = 0; m < g->free; m++)
        v[g->n - g->free + m] += r->intercept.centre[m];
}

double dual_turned(const dual_run *r)
{
    const penalty *g = &r->p->penalty;
    double turned = 0;
    for (uint64_t m = 0; m < g->free; m++) {
        const uint64_t j = g->n - g->free + m;
        turned += r->w[j] * (r->v[j] - r->intercept.centre[m]);
    }
    return turned;
}

double dual_price(dual_run *r, double *const *z, const double *w, double scale)
{
    const penalty *g = &r->p->penalty;
    intercept *c = &r->intercept;
    round_report *report = &r->report;
    if (g->free == 0)
        return 0;
    const double *v = r->v + g->n - g->free, before = report->gap;
    for (uint64_t m = 0; m < g->free; m++) {
        c->sum[m] = v[m] - c->centre[m];
        c->b[m] = scale * w[g->n - g->free + m];
    }
    intercept_look(c, z, scale);
    intercept_certify(c, c->sum, c->b, report->primal, &report->dual, &report->gap);
    return report->gap - before;
}

const double *dual_recentre(dual_run *r)
{
    const penalty *g = &r->p->penalty;
    intercept *c = &r->intercept;
    double squares = 0;
    if (g->free == 0)
        return NULL;
    double *v = r->v + g->n - g->free, *w = r->w + g->n - g->free;
    for (uint64_t m = 0; m < g->free; m++) {
        const double moved = v[m] - c->centre[m];
        c->sum[m] = moved;
        c->centre[m] = v[m];
        w[m] = v[m] += moved;
        squares += moved * moved;
    }
    r->travelled += sqrt(squares);
    return c->sum;
}

/* The images of points have the centre that v has; their products follow. */
void hull_recentre(hull_run *r)
{
    dual_run *d = &r->d;
    const uint64_t T = d->p->penalty.free, first = d->p->n - T;
    const double *moved = dual_recentre(d);
    for (int i = 0; moved && i < r->points.count; i++)
        for (int j = 0; j <= i; j++) {
            const int a = r->points.used[i], b = r->points.used[j];
            double more = 0;
            for (uint64_t m = 0; m < T; m++)
                more += moved[m] * (r->points.image[a][first + m] + r->points.image[b][first + m] + moved[m]);
            r->points.product[b][a] = r->points.product[a][b] += more;
        }
    for (uint64_t m = 0; moved && m < T; m++) {
        for (int i = 0; i < r->points.count; i++)
            r->points.image[r->points.used[i]][first + m] += moved[m];
        if (r->momentum.v_before)
            r->momentum.v_before[first + m] += moved[m];
    }
}
