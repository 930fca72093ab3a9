/* path.c - see path.h. */
#include "run/path.h"

#include <math.h>
#include <string.h>

void path_close(path *p)
{
    arena_free(&p->memory);
}

/* Local; without memory the path leads nowhere. */
static bool take_memory(path *p, const problem *of)
{
    bda_error ignored = {0};
    if (p->guess)
        return p->rows == of->rows.count && p->outputs == of->outputs;
    p->rows = of->rows.count;
    p->outputs = of->outputs;
    for (int k = 0; k < 2; k++)
        p->alpha[k] = ARENA_TAKE(&p->memory, double, p->rows + 1, &ignored);
    p->intercept = ARENA_TAKE(&p->memory, double, p->outputs, &ignored);
    p->guess = ARENA_TAKE(&p->memory, double, p->rows + 1, &ignored);
    return p->alpha[0] && p->alpha[1] && p->intercept && p->guess;
}

static void guess(path *p)
{
    const double *last = p->alpha[0], *before = p->alpha[1];
    const double most = p->next_cost / p->cost[0];
    const double power = p->known > 1 ? log(most) / log(p->cost[0] / p->cost[1]) : 0;
    for (uint64_t i = 0; i < p->rows; i++) {
        double factor = 1;
        if (p->known > 1 && last[i] != 0)
            factor = last[i] / before[i] > 0 ? fmin(pow(last[i] / before[i], power), most) : 1;
        p->guess[i] = factor * last[i];
    }
}

const dual_point *path_point(path *p, const problem *of, const training *t)
{
    if (!p)
        return NULL;
    p->next_cost = t->cost;
    p->next_ratio = of->penalty.l1_ratio;
    const bool serves =
        !of->start && of->task->single && of->task->dual->begin && !t->options.gap_of_start && !t->options.accelerate;
    bool leads =
        serves && take_memory(p, of) && p->known > 0 && p->next_cost > p->cost[0] && p->next_ratio == p->l1_ratio;
    bda_error ignored = {0};
    if (!comm_agree(of->comm, leads, &ignored)) {
        p->known = 0;
        return NULL;
    }
    guess(p);
    p->point = (dual_point){.alpha = p->guess, .intercept = p->intercept};
    return &p->point;
}

void path_keep(path *p, const problem *of, block *const *blocks)
{
    if (!blocks || !p->guess || !of->task->dual->begin || p->outputs != 1) {
        p->known = 0;
        return;
    }
    double *last = p->alpha[1];
    for (block *const *b = blocks; *b; b++)
        block_alpha(*b, last + (*b)->first_row);
    p->alpha[1] = p->alpha[0];
    p->alpha[0] = last;
    p->cost[1] = p->cost[0];
    p->cost[0] = p->next_cost;
    p->l1_ratio = p->next_ratio;
    p->known = p->known > 0 ? 2 : 1;
}

void path_keep_intercept(path *p, const problem *of, const double *w)
{
    if (p->known > 0)
        memcpy(p->intercept, w + of->n - of->penalty.free, of->penalty.free * sizeof *w);
}
