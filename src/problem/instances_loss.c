/* instances_loss.c - what follows from the margins of a block's instances: losses, slopes, second derivatives, the
 * conjugate of the dual image. Nothing here looks at a row.
 *
 * One margin: the losses of loss_math.h, a chunk of instances at once (jets.h). More than two classes, with scores z and
 * C the cost of class y:
 *
 *     softmax          C (log sum_k exp(z_k) - z_y),                       s = C (e_y - p), p the probabilities
 *     Crammer-Singer   C M or C M^2, M = max(0, max_{j != y} 1 + z_j - z_y), s = r (e_y - e_j) for a j that has the
 *                      maximum, r = C or 2 C M, 0 where M = 0
 *
 * Sums over rows are added up plainly in chunks, and the chunks with compensation. */
#include "problem/instances.h"

#include <math.h>
#include <string.h>

#include "base/vector.h"
#include "problem/jets.h"
#include "problem/loss_math.h"

#define CHUNK 256
#define MOST INSTANCES_DIRECTIONS

/* ---- one margin an instance, or several that have nothing to do with each other ------------------------------ */

/* Label and cost of a margin. */
typedef struct target {
    double y, c;
} target;

LOSS_INLINE target target_of(const instances *b, bool real, uint64_t i)
{
    const problem *p = b->p;
    if (real)
        return (target){p->data->target.real[b->first_row + i], problem_cost(p, 0, b->first_row + i)};
    if (b->width > 1) { /* a label against the rest */
        const uint64_t row = b->first_row + i / b->width, class = p->data->target.class[row];
        return (target){i % b->width == class ? 1 : -1, problem_cost(p, class, row)};
    }
    bool positive = p->data->target.class[b->first_row + i];
    return (target){positive ? 1 : -1, problem_cost(p, positive, b->first_row + i)};
}

static bool has_numbers(const instances *b)
{
    return b->p->loss->kind >= LOSS_EPSILON_INSENSITIVE;
}

/* How many margins the chunk from `first` on has. */
static int chunk_of(const instances *b, uint64_t first)
{
    return b->size - first < JETS ? (int)(b->size - first) : JETS;
}

/* The losses of a chunk of margins, which are in x. */
static void take_chunk(const instances *b, uint64_t first, int count, jets *x)
{
    const bool real = has_numbers(b);
    for (int i = 0; i < count; i++) {
        target t = target_of(b, real, first + (uint64_t)i);
        x->y[i] = t.y;
        x->c[i] = t.c;
    }
    jets_take(x, b->p->loss->kind, count, b->p->epsilon);
}

static void take_chunk_at(const instances *b, const double *z, uint64_t first, int count, jets *x)
{
    memcpy(x->z, z + first, (size_t)count * sizeof *z);
    take_chunk(b, first, count, x);
}

static void linear_slopes(const instances *b, const double *z, double *s)
{
    jets x;
    for (uint64_t first = 0; first < b->size; first += JETS) {
        const int count = chunk_of(b, first);
        take_chunk_at(b, z, first, count, &x);
        for (int i = 0; i < count; i++)
            s[first + (uint64_t)i] = -x.slope[i];
    }
}

static void linear_curvature(const instances *b, const double *z, double *bend)
{
    jets x;
    for (uint64_t first = 0; first < b->size; first += JETS) {
        const int count = chunk_of(b, first);
        take_chunk_at(b, z, first, count, &x);
        memcpy(bend + first, x.curve, (size_t)count * sizeof *bend);
    }
}

static point_sums linear_point(const instances *b, const double *z, double *s)
{
    sum values = {0, 0}, conjugates = {0, 0};
    jets x;
    for (uint64_t first = 0; first < b->size; first += JETS) {
        const int count = chunk_of(b, first);
        double value = 0, conjugate = 0;
        take_chunk_at(b, z, first, count, &x);
        for (int i = 0; i < count; i++) {
            s[first + (uint64_t)i] = -x.slope[i];
            value += x.value[i];
            conjugate += x.conjugate[i];
        }
        sum_add(&values, value);
        sum_add(&conjugates, conjugate);
    }
    return (point_sums){sum_value(&values), sum_value(&conjugates)};
}

LOSS_INLINE double gap_sum(const instances *b, const double *z, const double *s, loss_kind kind)
{
    const bool real = has_numbers(b);
    sum all = {0, 0};
    for (uint64_t i = 0; i < b->size; i++) {
        target t = target_of(b, real, i);
        sum_add(&all, loss_gap(kind, z[i], s[i], positive_part(t.c - t.y * s[i]), t.y, t.c, b->p->epsilon));
    }
    return sum_value(&all);
}

LOSS_INLINE double conjugate(const instances *b, const double *s, loss_kind kind)
{
    const bool real = has_numbers(b);
    sum all = {0, 0};
    for (uint64_t i = 0; i < b->size; i++) {
        target t = target_of(b, real, i);
        sum_add(&all, loss_conjugate(kind, s[i], positive_part(t.c - t.y * s[i]), t.y, t.c, b->p->epsilon));
    }
    return sum_value(&all);
}

static double linear_gap(const instances *b, const double *z, const double *s)
{
    double all = NAN;
#define CALL(kind) all = gap_sum(b, z, s, kind)
    KIND_DISPATCH(b->p->loss->kind, CALL);
#undef CALL
    return all;
}

static double linear_conjugate(const instances *b, const double *s)
{
    double all = NAN;
#define CALL(kind) all = conjugate(b, s, kind)
    KIND_DISPATCH(b->p->loss->kind, CALL);
#undef CALL
    return all;
}

/* ---- sums along directions ---------------------------------------------------------------------------------- */

/* What instances_along adds up: plainly within a chunk, then with compensation. */
typedef struct along_sums {
    int m;
    bool first, second; /* derivatives wanted */
    double value, gradient[MOST], hessian[MOST][MOST];
    sum all_value, all_gradient[MOST], all_hessian[MOST][MOST]; /* of the latter the lower triangle */
} along_sums;

static void sums_open(along_sums *a, int m, bool first, bool second)
{
    *a = (along_sums){.m = m, .first = first, .second = second};
}

static void end_chunk(along_sums *a)
{
    sum_add(&a->all_value, a->value);
    a->value = 0;
    for (int k = 0; k < a->m; k++) {
        if (a->first)
            sum_add(&a->all_gradient[k], a->gradient[k]);
        a->gradient[k] = 0;
        for (int j = 0; a->second && j <= k; j++) {
            sum_add(&a->all_hessian[k][j], a->hessian[k][j]);
            a->hessian[k][j] = 0;
        }
    }
}

static void sums_write(const along_sums *a, double *value, double *gradient, double *hessian)
{
    if (value)
        *value = sum_value(&a->all_value);
    for (int k = 0; k < a->m; k++) {
        if (gradient)
            gradient[k] = sum_value(&a->all_gradient[k]);
        for (int j = 0; hessian && j <= k; j++)
            hessian[k * a->m + j] = hessian[j * a->m + k] = sum_value(&a->all_hessian[k][j]);
    }
}

/* The margin `at` of the point z + sum_k t_k q_k */
LOSS_INLINE double moved(const double *z, int m, const double *const *q, const double *t, uint64_t at)
{
    double x = z[at];
    for (int k = 0; k < m; k++)
        x += t[k] * q[k][at];
    return x;
}

/* A rank-one term of the second derivatives: curve times the outer product of dir. */
LOSS_INLINE void add_outer(along_sums *a, double curve, const double *dir)
{
    for (int k = 0; k < a->m; k++) {
        double scale = curve * dir[k];
        for (int j = 0; j <= k; j++)
            a->hessian[k][j] += scale * dir[j];
    }
}

/* The sums of a chunk, in registers where m is a constant. */
LOSS_INLINE void along_chunk(const jets *x, uint64_t first, int count, const double *const *q, along_sums *a, int m)
{
    double value = 0, gradient[MOST] = {0};
    for (int i = 0; i < count; i++) {
        value += x->value[i];
        for (int k = 0; k < m; k++)
            gradient[k] += x->slope[i] * q[k][first + (uint64_t)i];
        if (a->second && x->curve[i] != 0) {
            double dir[MOST];
            for (int k = 0; k < m; k++)
                dir[k] = q[k][first + (uint64_t)i];
            add_outer(a, x->curve[i], dir);
        }
    }
    a->value = value;
    memcpy(a->gradient, gradient, sizeof gradient);
    end_chunk(a);
}

static void linear_along(const instances *b, const double *z, int m, const double *const *q, const double *t,
                         double *value, double *gradient, double *hessian)
{
    along_sums a;
    jets x;
    sums_open(&a, m, gradient, hessian);
    for (uint64_t first = 0; first < b->size; first += JETS) {
        const int count = chunk_of(b, first);
        memcpy(x.z, z + first, (size_t)count * sizeof *z);
        for (int k = 0; k < m; k++)
            for (int i = 0; i < count; i++)
                x.z[i] += t[k] * q[k][first + (uint64_t)i];
        take_chunk(b, first, count, &x);
        if (m == 1) /* the searches of losses with kinks go along one direction */
            along_chunk(&x, first, count, q, &a, 1);
        else
            along_chunk(&x, first, count, q, &a, m);
    }
    sums_write(&a, value, gradient, hessian);
}

/* ---- more than two classes ---------------------------------------------------------------------------------- */

static uint32_t class_of(const instances *b, uint64_t i)
{
    return b->p->data->target.class[b->first_row + i];
}

static double cost_of(const instances *b, uint64_t i)
{
    return problem_cost(b->p, class_of(b, i), b->first_row + i);
}

/* C times the probabilities of the classes */
static void softmax_bend(const double *z, uint64_t classes, double C, double *bend)
{
    double most = -INFINITY, total = 0;
    for (uint64_t k = 0; k < classes; k++)
        most = fmax(most, z[k]);
    for (uint64_t k = 0; k < classes; k++)
        total += bend[k] = exp(z[k] - most);
    for (uint64_t k = 0; k < classes; k++)
        bend[k] *= C / total;
}

/* The worst rival of class y and its violation M. */
typedef struct rival {
    uint64_t class;
    double M;
} rival;

static rival worst_rival(uint64_t classes, uint64_t y, double score_y, uint64_t base, const double *z, int m,
                         const double *const *q, const double *t)
{
    rival worst = {y, 0};
    for (uint64_t k = 0; k < classes; k++) {
        double M = k == y ? 0 : 1 + moved(z, m, q, t, base + k) - score_y;
        if (M > worst.M)
            worst = (rival){k, M};
    }
    return worst;
}

static void softmax_slopes(const instances *b, const double *z, double *s)
{
    const uint64_t T = b->width;
    for (uint64_t i = 0; i < b->count; i++, z += T, s += T) {
        uint32_t y = class_of(b, i);
        softmax_bend(z, T, cost_of(b, i), s);
        double others = 0;
        for (uint64_t k = 0; k < T; k++) {
            others += k == y ? 0 : s[k];
            s[k] = -s[k];
        }
        s[y] = others; /* C - C p_y, without cancellation; they add up to 0 */
    }
}

static void svm_slopes(const instances *b, const double *z, double *s)
{
    const uint64_t T = b->width;
    const bool squared = b->p->loss->kind != LOSS_HINGE;
    for (uint64_t i = 0; i < b->count; i++, z += T, s += T) {
        uint32_t y = class_of(b, i);
        double C = cost_of(b, i);
        memset(s, 0, T * sizeof *s);
        rival worst = worst_rival(T, y, z[y], 0, z, 0, NULL, NULL);
        double r = squared ? 2 * C * worst.M : worst.M > 0 ? C : 0;
        s[worst.class] -= r;
        s[y] += r;
    }
}

static double softmax_conjugate(const instances *b, const double *s)
{
    const uint64_t T = b->width;
    sum all = {0, 0};
    for (uint64_t i = 0; i < b->count; i++, s += T) {
        uint32_t y = class_of(b, i);
        double C = cost_of(b, i);
        for (uint64_t k = 0; k < T; k++)
            if (k != y)
                sum_add(&all, entropy_term(-s[k], C));
        sum_add(&all, s[y] < C ? (C - s[y]) * log1p(-s[y] / C) : 0);
    }
    return sum_value(&all);
}

static double svm_conjugate(const instances *b, const double *s)
{
    const uint64_t T = b->width;
    const bool squared = b->p->loss->kind != LOSS_HINGE;
    sum all = {0, 0};
    for (uint64_t i = 0; i < b->count; i++, s += T) {
        uint32_t y = class_of(b, i);
        double others = 0;
        for (uint64_t k = 0; k < T; k++)
            others -= k == y ? 0 : s[k];
        sum_add(&all, (squared ? others * (others / (4 * cost_of(b, i))) : 0) - others);
    }
    return sum_value(&all);
}

static void softmax_curvature(const instances *b, const double *z, double *bend)
{
    for (uint64_t i = 0; i < b->count; i++)
        softmax_bend(z + i * b->width, b->width, cost_of(b, i), bend + i * b->width);
}

static void softmax_unit_along(const instances *b, uint64_t i, const double *z, const double *const *q,
                               const double *t, along_sums *a)
{
    const uint64_t T = b->width, base = i * T;
    const uint32_t y = class_of(b, i);
    const double C = cost_of(b, i);
    double most = -INFINITY, total = 0, mean[MOST] = {0};
    for (uint64_t k = 0; k < T; k++)
        most = fmax(most, moved(z, a->m, q, t, base + k));
    for (uint64_t k = 0; k < T; k++)
        total += exp(moved(z, a->m, q, t, base + k) - most);
    /* cppcheck-suppress invalidFunctionArg ; the largest score has added 1 */
    a->value += C * (most + log(total) - moved(z, a->m, q, t, base + y));
    if (!a->first && !a->second)
        return;
    for (uint64_t k = 0; k < T; k++) {
        double p = exp(moved(z, a->m, q, t, base + k) - most) / total, dir[MOST];
        for (int j = 0; j < a->m; j++) { /* from class y on, which is what changes the loss */
            dir[j] = q[j][base + k] - q[j][base + y];
            mean[j] += p * dir[j];
        }
        if (a->second)
            add_outer(a, C * p, dir);
    }
    for (int j = 0; j < a->m; j++)
        a->gradient[j] += C * mean[j];
    if (a->second)
        add_outer(a, -C, mean);
}

static void svm_unit_along(const instances *b, uint64_t i, const double *z, const double *const *q, const double *t,
                           along_sums *a)
{
    const uint64_t T = b->width, base = i * T;
    const uint32_t y = class_of(b, i);
    const double C = cost_of(b, i);
    const bool squared = b->p->loss->kind != LOSS_HINGE;
    rival worst = worst_rival(T, y, moved(z, a->m, q, t, base + y), base, z, a->m, q, t);
    if (worst.M == 0)
        return;
    double dir[MOST], r = squared ? 2 * C * worst.M : C;
    a->value += squared ? C * worst.M * worst.M : C * worst.M;
    for (int j = 0; j < a->m; j++) {
        dir[j] = q[j][base + worst.class] - q[j][base + y];
        a->gradient[j] += r * dir[j];
    }
    if (a->second && squared)
        add_outer(a, 2 * C, dir);
}

static void softmax_along(const instances *b, const double *z, int m, const double *const *q, const double *t,
                          double *value, double *gradient, double *hessian)
{
    along_sums a;
    sums_open(&a, m, gradient, hessian);
    for (uint64_t i = 0; i < b->count; i++) {
        softmax_unit_along(b, i, z, q, t, &a);
        if (i % CHUNK == CHUNK - 1)
            end_chunk(&a);
    }
    end_chunk(&a);
    sums_write(&a, value, gradient, hessian);
}

static void svm_along(const instances *b, const double *z, int m, const double *const *q, const double *t,
                      double *value, double *gradient, double *hessian)
{
    along_sums a;
    sums_open(&a, m, gradient, hessian);
    for (uint64_t i = 0; i < b->count; i++) {
        svm_unit_along(b, i, z, q, t, &a);
        if (i % CHUNK == CHUNK - 1)
            end_chunk(&a);
    }
    end_chunk(&a);
    sums_write(&a, value, gradient, hessian);
}

static double loss_at(const instances *b, const double *z)
{
    double loss;
    instances_along(b, z, 0, NULL, NULL, &loss, NULL, NULL);
    return loss;
}

static point_sums softmax_point(const instances *b, const double *z, double *s)
{
    softmax_slopes(b, z, s);
    return (point_sums){loss_at(b, z), softmax_conjugate(b, s)};
}

static point_sums svm_point(const instances *b, const double *z, double *s)
{
    svm_slopes(b, z, s);
    return (point_sums){loss_at(b, z), svm_conjugate(b, s)};
}

const primal_kind softmax_primal = {
    .margins = rows_margins,
    .add_image = rows_add_image,
    .slopes = softmax_slopes,
    .point = softmax_point,
    .conjugate = softmax_conjugate,
    .curvature = softmax_curvature,
    .along = softmax_along,
    .hessian_times = rows_hessian_times,
    .diagonal = rows_diagonal,
    .hessian = rows_hessian,
};

const primal_kind crammer_singer_primal = {
    .margins = rows_margins,
    .add_image = rows_add_image,
    .slopes = svm_slopes,
    .point = svm_point,
    .conjugate = svm_conjugate,
    .along = svm_along,
};

/* ---- kinds ---------------------------------------------------------------------------------------------------- */

const primal_kind linear_primal = {
    .margins = rows_margins,
    .add_image = rows_add_image,
    .slopes = linear_slopes,
    .point = linear_point,
    .conjugate = linear_conjugate,
    .gap = linear_gap,
    .curvature = linear_curvature,
    .along = linear_along,
    .hessian_times = rows_hessian_times,
    .diagonal = rows_diagonal,
    .hessian = rows_hessian,
};

const primal_kind one_vs_rest_primal = {
    .margins = rows_margins,
    .add_image = rows_add_image,
    .slopes = linear_slopes,
    .point = linear_point,
    .conjugate = linear_conjugate,
    .gap = linear_gap,
    .curvature = linear_curvature,
    .along = linear_along,
    .hessian_times = apart_hessian_times,
    .diagonal = apart_diagonal,
};

/* ---- any kind ------------------------------------------------------------------------------------------------ */

void instances_slopes(const instances *b, const double *z, double *s)
{
    b->kind->slopes(b, z, s);
}

point_sums instances_point(const instances *b, const double *z, double *s)
{
    return b->kind->point(b, z, s);
}

double instances_conjugate(const instances *b, const double *s)
{
    return b->kind->conjugate(b, s);
}

double instances_gap(const instances *b, const double *z, const double *s)
{
    return b->kind->gap(b, z, s);
}

void instances_curvature(const instances *b, const double *z, double *bend)
{
    b->kind->curvature(b, z, bend);
}

void instances_along(const instances *b, const double *z, int m, const double *const *q, const double *t,
                     double *value, double *gradient, double *hessian)
{
    b->kind->along(b, z, m, q, t, value, gradient, hessian);
}
