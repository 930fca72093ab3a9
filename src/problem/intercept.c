/* intercept.c - see intercept.h. */
#include "problem/intercept.h"

#include <math.h>

#include "base/vector.h"
#include "data/rows_math.h"
#include "problem/separable.h"

static uint64_t class_of(const problem *p, uint64_t row)
{
    return p->loss->regression ? 0 : p->data->target.class[row];
}

/* Sums over the rows of a block: C, C times the target, C |x|^2 without the constant feature; three for each class. */
ROWS_INLINE void sum_classes(const problem *p, uint64_t first, uint64_t end, double *to, rows_form form)
{
    const double constant = p->rows.bias * p->rows.bias;
    for (uint64_t i = first; i < end; i++) {
        const uint64_t k = class_of(p, i);
        const double C = problem_cost(p, k, i);
        to[3 * k] += C;
        to[3 * k + 1] += p->loss->regression ? C * p->data->target.real[i] : 0;
        to[3 * k + 2] += C * fmax(0, rows_norm(&p->rows, form, i) - constant);
    }
}

static void measure(intercept *c)
{
    const problem *p = c->p;
    const int columns = 3 * (int)c->classes;
    for (uint64_t k = 0; k < p->data->local_blocks; k++) {
        double *to = c->mine + k * (uint64_t)columns;
        uint64_t first, end;
        for (int j = 0; j < columns; j++)
            to[j] = 0;
        data_block_rows(p->data, k, &first, &end);
#define CALL(form) sum_classes(p, first, end, to, form)
        ROWS_DISPATCH(p->rows.form, CALL);
#undef CALL
    }
    comm_gather_blocks(p->comm, p->data->blocks, c->mine, columns, c->all);
    for (uint64_t k = 0; k < c->classes; k++) {
        const double W = c->weight[k] = comm_column_sum(c->all, p->data->blocks, 3 * (int)k, columns);
        c->target = comm_column_sum(c->all, p->data->blocks, 3 * (int)k + 1, columns) / W;
        c->length[k] = sqrt(comm_column_sum(c->all, p->data->blocks, 3 * (int)k + 2, columns) / W) * (1 + 1e-9);
    }
}

bool intercept_open(intercept *c, const problem *p, bda_error *err)
{
    *c = (intercept){0};
    if (p->penalty.free == 0)
        return true;
    c->p = p;
    c->classes = p->classes;
    c->outputs = p->outputs;
    const uint64_t columns = c->classes * (c->outputs > 3 ? c->outputs : 3);
    arena *m = &c->memory;
    const bool ok = (c->weight = ARENA_TAKE(m, double, c->classes, err)) &&
                    (c->length = ARENA_TAKE(m, double, c->classes, err)) &&
                    (c->mean = ARENA_TAKE(m, double, c->classes * c->outputs, err)) &&
                    (c->centre = ARENA_TAKE(m, double, c->outputs, err)) &&
                    (c->sum = ARENA_TAKE(m, double, c->outputs, err)) &&
                    (c->b = ARENA_TAKE(m, double, c->outputs, err)) &&
                    (c->mine = ARENA_TAKE(m, double, (p->data->local_blocks + 1) * columns, err)) &&
                    (c->all = ARENA_TAKE(m, double, p->data->blocks *columns, err));
    if (!comm_agree(p->comm, ok, err)) {
        intercept_close(c);
        return false;
    }
    measure(c);
    c->least_factor = INFINITY;
    for (uint64_t j = 0; j < bound_of(&p->penalty); j++)
        c->least_factor = fmin(c->least_factor, factor_of(&p->penalty, j));
    return true;
}

void intercept_close(intercept *c)
{
    arena_free(&c->memory);
}

void intercept_state(archive *a, intercept *c)
{
    if (!c->p)
        return;
    ARCHIVE(a, c->least_dual);
    ARCHIVE_ARRAY(a, c->centre, c->outputs);
}

void intercept_look(intercept *c, double *const *z, double scale)
{
    const problem *p = c->p;
    const uint64_t T = c->outputs;
    const int columns = (int)(c->classes * T);
    for (uint64_t k = 0; k < p->data->local_blocks; k++) {
        double *to = c->mine + k * (uint64_t)columns;
        uint64_t first, end;
        for (int j = 0; j < columns; j++)
            to[j] = 0;
        data_block_rows(p->data, k, &first, &end);
        for (uint64_t i = first; i < end; i++) {
            const uint64_t class = class_of(p, i);
            const double C = problem_cost(p, class, i);
            for (uint64_t m = 0; m < T; m++)
                to[class * T + m] += C * z[k][(i - first) * T + m];
        }
    }
    comm_gather_blocks(p->comm, p->data->blocks, c->mine, columns, c->all);
    for (uint64_t k = 0; k < c->classes; k++)
        for (uint64_t m = 0; m < T; m++)
            c->mean[k * T + m] =
                scale * comm_column_sum(c->all, p->data->blocks, (int)(k * T + m), columns) / c->weight[k];
}

/* The largest x with xi(-x) <= loss for classes, where x is minus a margin, and xi(y + x) <= loss for numbers; C = 1. */
static double farthest(const problem *p, double loss)
{
    switch (p->loss->kind) {
    case LOSS_HINGE:
        return loss - 1;
    case LOSS_SQUARED_HINGE:
        return sqrt(loss) - 1;
    case LOSS_LOGISTIC: /* log(e^loss - 1) */
        return loss > 1 ? loss + log1p(-exp(-loss)) : log(expm1(loss));
    case LOSS_EPSILON_INSENSITIVE:
        return p->epsilon + loss;
    case LOSS_SQUARED_EPSILON_INSENSITIVE:
        return p->epsilon + sqrt(loss);
    case LOSS_SQUARED_ERROR:
        return sqrt(loss);
    }
    return INFINITY;
}

/* The interval of what all b may change by, for one output: low <= 0 <= high but for rounding. way: |w - w'| */
static void bound_one(const intercept *c, double U, double way, double *low, double *high)
{
    const problem *p = c->p;
    if (p->loss->regression) {
        const double reach = farthest(p, U / c->weight[0]) + c->length[0] * way;
        *low = c->target - c->mean[0] - reach;
        *high = c->target - c->mean[0] + reach;
        return;
    }
    *low = -farthest(p, U / c->weight[1]) - c->mean[1] - c->length[1] * way;
    *high = farthest(p, U / c->weight[0]) - c->mean[0] + c->length[0] * way;
}

/* The same of the m-th of outputs that are learnt apart: positive are the instances of class m, and any other class bounds
 * from above. */
static void bound_apart(const intercept *c, double U, double way, uint64_t m, double *low, double *high)
{
    const problem *p = c->p;
    const uint64_t T = c->outputs;
    *low = -farthest(p, U / c->weight[m]) - c->mean[m * T + m] - c->length[m] * way;
    *high = INFINITY;
    for (uint64_t k = 0; k < c->classes; k++)
        if (k != m)
            *high = fmin(*high, farthest(p, U / c->weight[k]) - c->mean[k * T + m] + c->length[k] * way);
}

static double price_apart(const intercept *c, const double *sum, double U, double way)
{
    double price = 0;
    for (uint64_t m = 0; m < c->outputs; m++) {
        double low, high;
        bound_apart(c, U, way, m, &low, &high);
        price += sum[m] == 0 ? 0 : fmax(0, sum[m] / c->p->rows.bias * (sum[m] > 0 ? high : low));
    }
    return price;
}

/* How much the b of class `more` may rise against that of class `less`, which is bounded by the instances of the
 * latter. The difference of two columns of w moves by sqrt(2) |w - w'| at most. */
static double bound_pair(const intercept *c, double U, double way, uint64_t more, uint64_t less)
{
    const double *mean = c->mean + less * c->outputs;
    return farthest(c->p, U / c->weight[less]) + (mean[less] - mean[more]) + sqrt(2) * c->length[less] * way;
}

/* The largest (b - b')'sum over what is known of b. With several outputs the sum over them is 0, as that of each
 * alpha_i is, so it is made of differences of two: as many as it takes, in order. */
static double price_of(const intercept *c, const double *sum, double U, double way)
{
    const double B = c->p->rows.bias;
    const uint64_t T = c->outputs;
    if (T == 1) {
        double low, high;
        bound_one(c, U, way, &low, &high);
        return sum[0] == 0 ? 0 : fmax(0, sum[0] / B * (sum[0] > 0 ? high : low));
    }
    if (c->p->task->apart)
        return price_apart(c, sum, U, way);
    double price = 0, have = 0, want = 0;
    for (uint64_t p = 0, q = 0; p < T && q < T;) {
        if (have <= 0) {
            have = fmax(0, sum[p]);
            p += have <= 0;
            continue;
        }
        if (want <= 0) {
            want = fmax(0, -sum[q]);
            q += want <= 0;
            continue;
        }
        const double both = fmin(have, want);
        price += both / B * bound_pair(c, U, way, p, q);
        have -= both, want -= both;
        p += have <= 0, q += want <= 0;
    }
    return fmax(0, price);
}

void intercept_certify(intercept *c, const double *sum, const double *b, double primal, double *dual, double *gap)
{
    const double sigma = c->p->penalty.convexity;
    const double way = sigma > 0 ? sqrt(2 * fmax(0, primal + c->least_dual) / sigma) : 2 * primal / c->least_factor;
    const double price = price_of(c, sum, primal, way);
    double turned = 0;
    for (uint64_t m = 0; m < c->outputs; m++)
        turned += b[m] * sum[m];
    *dual += turned + price;
    *gap += price;
    c->least_dual = fmin(c->least_dual, *dual);
}
