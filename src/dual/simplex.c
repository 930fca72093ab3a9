/* simplex.c - convex quadratics in a few variables over the simplex, by moving weight between pairs.
 *
 * The slack 1 - sum x is one more variable, of slope 0. In each step the variable with the least slope takes weight
 * from the one that gains most by giving it, as much as the quadratic along the pair wants: no step makes it worse,
 * and G may be singular. */
#include "dual/simplex.h"

#include <math.h>

/* The pair for which the step  gain = (slope_from - slope_to)^2 / 2 curve , cut at x_from, is best for the `to` with
 * the least slope. */
static int choose_from(int m, const double (*H)[SIMPLEX_MOST], const double *slope, const double *x, int to)
{
    int best = -1;
    double most = 0;
    for (int k = 0; k < m; k++) {
        double difference = slope[k] - slope[to];
        if (k == to || x[k] <= 0 || difference <= 0)
            continue;
        double curve = H[k][k] + H[to][to] - 2 * H[k][to], step = curve > 0 ? difference / curve : INFINITY;
        step = step < x[k] ? step : x[k];
        double gain = step * (difference - 0.5 * step * fmax(curve, 0));
        if (gain > most) {
            most = gain;
            best = k;
        }
    }
    return best;
}

double simplex_minimise(int m, const double *G, const double *c, const double *at, double *x)
{
    double H[SIMPLEX_MOST][SIMPLEX_MOST] = {{0}}, slope[SIMPLEX_MOST], y[SIMPLEX_MOST], total = 0, decrease = 0;
    for (int a = 0; a < m; a++) {
        for (int b = 0; b <= a; b++)
            H[a][b] = H[b][a] = G[a * m + b];
        y[a] = x[a];
        total += x[a];
    }
    y[m] = total < 1 ? 1 - total : 0; /* the slack */
    for (int a = 0; a <= m; a++) {
        slope[a] = a < m ? c[a] : 0;
        for (int b = 0; b < m; b++)
            slope[a] += H[a][b] * (x[b] - at[b]);
    }
    for (int step = 0; step < 3000; step++) {
        int to = 0;
        for (int k = 1; k <= m; k++)
            if (slope[k] < slope[to])
                to = k;
        int from = choose_from(m + 1, (const double(*)[SIMPLEX_MOST])H, slope, y, to);
        if (from < 0)
            break;
        double difference = slope[from] - slope[to], curve = H[from][from] + H[to][to] - 2 * H[from][to];
        double move = curve > 0 && difference < curve * y[from] ? difference / curve : y[from];
        double gain = move * (difference - 0.5 * move * fmax(curve, 0));
        y[to] += move;
        y[from] = move == y[from] ? 0 : y[from] - move;
        for (int k = 0; k <= m; k++)
            slope[k] += move * (H[k][to] - H[k][from]);
        decrease += gain;
        if (gain <= 1e-12 * decrease)
            break;
    }
    for (int a = 0; a < m; a++)
        x[a] = y[a];
    return decrease;
}
