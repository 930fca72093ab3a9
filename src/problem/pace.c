/* pace.c - see pace.h. */
#include "problem/pace.h"

#include <math.h>

void pace_observe(pace *p, double to_go, double work)
{
    const double before = p->to_go > 0 ? p->to_go : INFINITY;
    const double fall = log(before / to_go) / work; /* since the last observation */
    if (isfinite(fall))
        p->rate = p->rate > 0 ? 0.5 * (p->rate + fmax(fall, 0)) : fmax(fall, 0);
    p->left = p->rate > 0 ? fmax(log(to_go), 0) / p->rate : 0;
    p->left_worst = fall > 0 ? fmax(p->left, log(to_go) / (2 * fall)) : p->left;
    p->to_go = to_go;
    p->work += work;
}
