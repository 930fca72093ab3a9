/* structured_chain.c - tags of the tokens of a sentence: row t of a unit is token t, its class the tag.
 *
 * w is [columns][T] and then [T+1][T] transitions, by previous tag, row T: start of the sentence. A table is
 * [length][stride] scores of tags and then [T+1][stride] transitions; stride is T, padded (structure/chain.h). */
#include <math.h>
#include <string.h>

#include "data/rows_math.h"
#include "problem/chain_image.h"
#include "problem/emission.h"
#include "problem/kinds.h"
#include "problem/structured.h"
#include "structure/chain_lattice.h"

#define KERNEL_LONGEST 512 /* tokens of a sentence whose products x_t'x_s are kept */

static uint64_t chain_table(const structured *s, uint32_t length)
{
    return ((uint64_t)length + (uint64_t)s->tags + 1) * (uint64_t)chain_stride(s->tags);
}

static uint64_t chain_work(const structured *s, uint32_t length)
{
    const uint64_t best = chain_best_work((int)length, s->tags);
    if (s->p->loss->kind != LOSS_LOGISTIC)
        return best;
    const uint64_t sizes[] = {best, chain_sum_work((int)length, s->tags), chain_divergence_work(s->tags),
                              chain_sum_along_work((int)length, s->tags)};
    uint64_t most = 0;
    for (int k = 0; k < 4; k++)
        most = sizes[k] > most ? sizes[k] : most;
    return most;
}

static uint32_t chain_length(uint64_t rows)
{
    return rows <= INT32_MAX ? (uint32_t)rows : 0;
}

static bool chain_gold(const structured *s, uint64_t row, uint32_t length, uint16_t *y)
{
    for (uint32_t t = 0; t < length; t++)
        y[t] = (uint16_t)s->p->data->target.class[row + t];
    return s->tags <= CHAIN_TAGS;
}

static bool chain_open(structured *s, arena *memory, bda_error *err)
{
    s->stride = chain_stride(s->tags);
    return (s->factors = ARENA_TAKE(memory, double, chain_factors_size(s->tags), err)) &&
           (s->kernel = ARENA_TAKE(memory, float *, s->count + 1, err)) &&
           (s->kernel_bytes = ARENA_TAKE(memory, uint64_t, s->count + 1, err));
}

static chain chain_of(const structured *s, uint32_t i, const double *S)
{
    const uint32_t length = structured_length(s, i);
    return (chain){(int)length, s->tags, S, S + (uint64_t)length * (uint64_t)s->stride};
}

static void copy_transitions(const structured *s, uint32_t i, const double *u, double *S)
{
    const uint64_t T = (uint64_t)s->tags, stride = (uint64_t)s->stride;
    const double *from = u + s->p->rows.columns * T;
    double *to = S + structured_length(s, i) * stride;
    for (uint64_t k = 0; k <= T; k++)
        memcpy(to + k * stride, from + k * T, T * sizeof *to);
}

static uint64_t chain_score_all(const structured *s, uint32_t i, const double *u, double *S)
{
    const rows *r = &s->p->rows;
    const uint64_t first = structured_row(s, i), length = structured_length(s, i);
    if (s->tags > 1)
        emission_scores(r, first, length, u, s->tags, s->stride, S);
    else { /* one weight a column: there are too few numbers behind the last */
#define CALL(form)                                                                                                   \
    for (uint64_t t = 0; t < length; t++)                                                                            \
    S[t * (uint64_t)s->stride] = rows_dot(r, form, first + t, u)
        ROWS_DISPATCH(r->form, CALL);
#undef CALL
    }
    copy_transitions(s, i, u, S);
    return r->start[first + length] - r->start[first];
}

/* The tags of a token that are wanted; gold is the first. */
static uint32_t wanted_tags(uint32_t t, const uint16_t *gold, uint32_t count, const uint16_t *const *y, uint32_t *tag)
{
    uint32_t wanted = 1;
    tag[0] = gold[t];
    for (uint32_t k = 0; k < count; k++) {
        uint32_t at = 0;
        while (at < wanted && tag[at] != y[k][t])
            at++;
        if (at == wanted && wanted < 4)
            tag[wanted++] = y[k][t];
        else if (at == wanted)
            return UINT32_MAX;
    }
    return wanted;
}

/* Tokens where all outputs agree with gold do not matter. */
static uint64_t chain_score_of(const structured *s, uint32_t i, const double *u, uint32_t count,
                               const uint16_t *const *y, double *S)
{
    const rows *r = &s->p->rows;
    const uint64_t first = structured_row(s, i), length = structured_length(s, i), T = (uint64_t)s->tags;
    const uint16_t *gold = structured_gold(s, i);
    uint64_t cells = 0;
    uint32_t tag[4];
    for (uint64_t t = 0; t < length; t++) {
        const uint32_t wanted = wanted_tags((uint32_t)t, gold, count, y, tag);
        if (wanted == 1)
            continue;
        double *to = S + t * (uint64_t)s->stride;
#define CALL(form)                                                                                                   \
    if (wanted <= 4)                                                                                                 \
        rows_scores_of(r, form, first + t, u, T, wanted, tag, to);                                                   \
    else                                                                                                             \
        rows_scores(r, form, first + t, u, T, to)
        ROWS_DISPATCH(r->form, CALL);
#undef CALL
        cells += r->start[first + t + 1] - r->start[first + t];
    }
    copy_transitions(s, i, u, S);
    return cells;
}

static double chain_best_output(const structured *s, uint32_t i, const double *S, const uint16_t *gold, uint16_t *y)
{
    const chain c = chain_of(s, i, S);
    return chain_best(&c, gold, y, s->work);
}

static double chain_total(const structured *s, uint32_t i, const double *S, const uint16_t *y)
{
    const chain c = chain_of(s, i, S);
    return chain_score(&c, y, NULL);
}

static double chain_sum_all(const structured *s, uint32_t i, const double *S, double *mu)
{
    const chain c = chain_of(s, i, S);
    chain_factors f;
    chain_factors_make(&f, s->tags, c.transition, s->factors);
    return chain_sum(&c, &f, mu, mu ? mu + (uint64_t)c.length * (uint64_t)s->stride : NULL, s->work);
}

static uint64_t chain_marginals(const structured *s, uint32_t length)
{
    return (length + (length - (uint64_t)1) * (uint64_t)s->tags) * (uint64_t)s->stride;
}

/* Nodes, and edges summed over the pairs of neighbours. */
static void chain_expect(const structured *s, uint32_t i, double scale, const double *mu, double *x)
{
    const uint64_t length = structured_length(s, i), T = (uint64_t)s->tags, stride = (uint64_t)s->stride;
    const double *edge = mu + length * stride;
    double *pair = x + length * stride;
    for (uint64_t j = 0; j < length * stride; j++)
        x[j] = scale * mu[j];
    for (uint64_t t = 0; t + 1 < length; t++)
        for (uint64_t j = 0; j < T * stride; j++)
            pair[j] += edge[t * T * stride + j];
    for (uint64_t j = 0; j < T * stride; j++)
        pair[j] *= scale;
    for (uint64_t j = 0; j < stride; j++)
        pair[T * stride + j] = scale * mu[j];
}

static void chain_add(const structured *s, uint32_t i, double step, const uint16_t *y, double *x)
{
    const uint64_t length = structured_length(s, i), stride = (uint64_t)s->stride;
    double *transition = x + length * stride;
    for (uint64_t t = 0; t < length; t++) {
        x[t * stride + y[t]] += step;
        transition[(t ? y[t - 1] : (uint64_t)s->tags) * stride + y[t]] += step;
    }
}

static void chain_bend(const structured *s, uint32_t i, const double *S, const double *mu, const double *q,
                       double *room, double *x)
{
    (void)S;
    const uint64_t nodes = structured_length(s, i) * (uint64_t)s->stride;
    const chain along = chain_of(s, i, q);
    chain_sum_along(&along, mu, mu + nodes, room, room + nodes, s->work);
    chain_expect(s, i, 1, room, x);
}

static double chain_score_difference(const structured *s, uint32_t i, const double *S, const uint16_t *a,
                                     const uint16_t *b)
{
    const chain c = chain_of(s, i, S);
    return chain_difference(&c, a, b);
}

static void chain_count(const structured *s, uint32_t i, double step, const uint16_t *a, const uint16_t *b, double *x)
{
    const uint64_t length = structured_length(s, i), stride = (uint64_t)s->stride;
    double *transition = x + length * stride;
    uint64_t from_a = (uint64_t)s->tags, from_b = from_a;
    for (uint64_t t = 0; t < length; t++) {
        if (a[t] != b[t]) {
            x[t * stride + a[t]] += step;
            x[t * stride + b[t]] -= step;
        }
        if (a[t] != b[t] || from_a != from_b) {
            transition[from_a * stride + a[t]] += step;
            transition[from_b * stride + b[t]] -= step;
        }
        from_a = a[t];
        from_b = b[t];
    }
}

/* u += h x for the transitions. */
static void spread_transitions(const structured *s, double *x, const double *h, double *u)
{
    const uint64_t T = (uint64_t)s->tags, at = s->p->rows.columns * T;
    for (uint64_t k = 0; k <= T; k++)
        for (uint64_t j = 0; j < T; j++) {
            double *from = &x[k * (uint64_t)s->stride + j];
            const uint64_t to = at + k * T + j;
            if (*from != 0)
                u[to] += *from * (h ? h[to] : 1);
            *from = 0;
        }
}

static void chain_spread(const structured *s, uint32_t i, double *x, const double *h, double *u)
{
    const rows *r = &s->p->rows;
    const uint64_t first = structured_row(s, i), length = structured_length(s, i), T = (uint64_t)s->tags;
    for (uint64_t t = 0; t < length; t++) {
        double *from = x + t * (uint64_t)s->stride, step[4];
        uint32_t tag[4], changed = 0;
        for (uint64_t j = 0; j < T && changed <= 4; j++)
            if (from[j] != 0) {
                if (changed < 4) {
                    tag[changed] = (uint32_t)j;
                    step[changed] = from[j];
                }
                changed++;
            }
        if (changed == 0)
            continue;
#define CALL(form)                                                                                                   \
    if (changed <= 4)                                                                                                \
        rows_add_classes(r, form, first + t, changed, tag, step, h, T, u);                                           \
    else                                                                                                             \
        rows_add_scores(r, form, first + t, from, h, T, u)
        ROWS_DISPATCH(r->form, CALL);
#undef CALL
        memset(from, 0, T * sizeof *from);
    }
    spread_transitions(s, x + length * (uint64_t)s->stride, h, u);
}

/* ---- products ------------------------------------------------------------------------------------------------ */

/* Where the columns of the cells gone through were seen last: chains of cells with the same column, found through a
 * hash table. */
typedef struct cell_chains {
    uint32_t *last;   /* [slots] cell, counted from 1; 0: none */
    uint32_t *before; /* [cells + 1] of the same column, or 0 */
    uint32_t *token;  /* [cells + 1] */
    uint32_t slots;
    int shift;
} cell_chains;

ROWS_INLINE uint32_t slot_of(const cell_chains *m, const rows *r, rows_form form, uint64_t first_cell,
                             uint32_t column)
{
    uint32_t slot = (uint32_t)(column * 0x9e3779b97f4a7c15u >> m->shift);
    while (m->last[slot] != 0 && rows_column(r, form, first_cell + m->last[slot] - 1) != column)
        slot = (slot + 1) & (m->slots - 1);
    return slot;
}

/* K[t][k] for k <= t, each pair of cells with the same column adding its part. */
ROWS_INLINE void add_products(const structured *s, cell_chains *m, uint64_t first, uint32_t length, float *K,
                              rows_form form)
{
    const rows *r = &s->p->rows;
    const uint64_t first_cell = r->start[first];
    for (uint32_t t = 0; t < length; t++)
        for (uint64_t j = r->start[first + t]; j < r->start[first + t + 1]; j++) {
            const uint32_t column = rows_column(r, form, j), cell = (uint32_t)(j - first_cell) + 1;
            const uint32_t slot = slot_of(m, r, form, first_cell, column);
            const double x = rows_value(r, form, first + t, j) * (s->h ? s->h[column * (uint64_t)s->tags] : 1);
            m->token[cell] = t;
            m->before[cell] = m->last[slot];
            m->last[slot] = cell;
            for (uint32_t other = cell; other != 0; other = m->before[other]) {
                const uint32_t k = m->token[other];
                K[t * length + k] += (float)(x * rows_value(r, form, first + k, first_cell + other - 1));
            }
        }
}

/* Memory: that of the table goes with the sentence. */
static bool fill_kernel(const structured *s, uint32_t i, float *K)
{
    const rows *r = &s->p->rows;
    const uint64_t first = structured_row(s, i), T = (uint64_t)s->tags;
    const uint32_t length = structured_length(s, i), cells = (uint32_t)(r->start[first + length] - r->start[first]);
    cell_chains m = {.slots = 2, .shift = 63};
    for (; m.slots < 2 * cells; m.slots *= 2)
        m.shift--;
    arena memory = {0};
    bda_error ignored = {0};
    const bool ok = (m.last = ARENA_TAKE(&memory, uint32_t, m.slots, &ignored)) &&
                    (m.before = ARENA_TAKE(&memory, uint32_t, cells + 1, &ignored)) &&
                    (m.token = ARENA_TAKE(&memory, uint32_t, cells + 1, &ignored));
    const double bias = r->bias * r->bias * (s->h && r->bias != 0 ? s->h[(r->columns - 1) * T] : 1);
    for (uint64_t k = 0; k < (uint64_t)length * length; k++)
        K[k] = (float)bias;
#define CALL(form) add_products(s, &m, first, length, K, form)
    if (ok)
        ROWS_DISPATCH(r->form, CALL);
#undef CALL
    for (uint32_t t = 0; ok && t < length; t++)
        for (uint32_t k = 0; k < t; k++)
            K[k * length + t] = K[t * length + k];
    arena_free(&memory);
    return ok;
}

static bool make_kernel(structured *s, uint32_t i)
{
    const uint32_t length = structured_length(s, i);
    if (s->kernel[i] || length > KERNEL_LONGEST)
        return true;
    bda_error ignored = {0};
    s->kernel_bytes[i] = (uint64_t)length * length * sizeof(float);
    s->kernel[i] = mem_resize(NULL, 0, s->kernel_bytes[i], "products of tokens", &ignored);
    return s->kernel[i] && fill_kernel(s, i, s->kernel[i]);
}

static uint32_t wrong_tokens(uint32_t length, const uint16_t *y, const uint16_t *gold, uint32_t *token)
{
    uint32_t wrong = 0;
    for (uint32_t t = 0; t < length; t++)
        if (y[t] != gold[t])
            token[wrong++] = t;
    return wrong;
}

/* phi_y'phi_z, but for transitions, from the products of the wrong tokens of both. */
static double product_by_kernel(const structured *s, uint32_t i, const uint16_t *y, uint32_t wrong, const uint16_t *z)
{
    const uint32_t length = structured_length(s, i), *mine = s->token, *theirs = s->token + s->longest;
    const uint16_t *g = structured_gold(s, i);
    const float *K = s->kernel[i];
    const uint32_t other = wrong_tokens(length, z, g, s->token + s->longest);
    double all = 0;
    for (uint32_t a = 0; a < wrong; a++)
        for (uint32_t b = 0; b < other; b++) {
            const uint32_t t = mine[a], k = theirs[b];
            const int alike = (g[t] == g[k]) - (g[t] == z[k]) - (y[t] == g[k]) + (y[t] == z[k]);
            if (alike != 0)
                all += alike * (double)K[(uint64_t)t * length + k];
        }
    return all;
}

/* The same of a long sentence, from the image of phi_y. */
static double product_by_image(const structured *s, uint32_t i, const chain_image *image, const uint16_t *z)
{
    const uint64_t first = structured_row(s, i);
    const uint32_t length = structured_length(s, i);
    const uint16_t *g = structured_gold(s, i);
    double all = 0;
    for (uint32_t t = 0; t < length; t++)
        if (z[t] != g[t])
            all += chain_image_times(image, first + t, g[t]) - chain_image_times(image, first + t, z[t]);
    return all;
}

static bool make_image(const structured *s, uint32_t i, const uint16_t *y, chain_image *image)
{
    const rows *r = &s->p->rows;
    const uint64_t first = structured_row(s, i);
    const uint32_t length = structured_length(s, i);
    const uint16_t *g = structured_gold(s, i);
    uint64_t entries = 0;
    for (uint32_t t = 0; t < length; t++)
        entries += y[t] != g[t] ? 2 * chain_image_entries(r, first + t) : 0;
    if (!chain_image_open(image, r, (uint64_t)s->tags, s->h, entries))
        return false;
    for (uint32_t t = 0; t < length; t++)
        if (y[t] != g[t]) {
            chain_image_add(image, first + t, g[t], 1);
            chain_image_add(image, first + t, y[t], -1);
        }
    return true;
}

/* The transitions of phi_y, which pair has, times those of phi_z. */
static double product_of_transitions(const structured *s, uint32_t i, const double *pair, const uint16_t *z)
{
    const uint64_t T = (uint64_t)s->tags, stride = (uint64_t)s->stride;
    const uint16_t *g = structured_gold(s, i);
    const double *h = s->h ? s->h + s->p->rows.columns * T : NULL;
    uint64_t from_g = T, from_z = T;
    double all = 0;
    for (uint32_t t = 0; t < structured_length(s, i); t++) {
        if (g[t] != z[t] || from_g != from_z)
            all += pair[from_g * stride + g[t]] * (h ? h[from_g * T + g[t]] : 1) -
                   pair[from_z * stride + z[t]] * (h ? h[from_z * T + z[t]] : 1);
        from_g = g[t];
        from_z = z[t];
    }
    return all;
}

/* With phi_y = sum over wrong tokens t of x_t (e_gold - e_y), and transitions. */
static bool chain_products(structured *s, uint32_t i, const uint16_t *y, uint32_t count,
                           const uint16_t *const *others, double *product)
{
    const uint32_t length = structured_length(s, i);
    const uint16_t *g = structured_gold(s, i);
    chain_image image = {0};
    if (!make_kernel(s, i) || (!s->kernel[i] && !make_image(s, i, y, &image)))
        return false;
    const uint32_t wrong = wrong_tokens(length, y, g, s->token);
    chain_count(s, i, 1, g, y, s->x);
    for (uint32_t o = 0; o < count; o++)
        product[o] = (s->kernel[i] ? product_by_kernel(s, i, y, wrong, others[o])
                                   : product_by_image(s, i, &image, others[o])) +
                     product_of_transitions(s, i, s->x + (uint64_t)length * (uint64_t)s->stride, others[o]);
    chain_count(s, i, -1, g, y, s->x); /* they are whole numbers: 0 again */
    chain_image_close(&image);
    return true;
}

/* sum_j a_j b_j over whole lanes */
static double lanes_dot(const double *a, const double *b, uint64_t n)
{
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (uint64_t j = 0; j < n; j += 4) {
        s0 += a[j] * b[j];
        s1 += a[j + 1] * b[j + 1];
        s2 += a[j + 2] * b[j + 2];
        s3 += a[j + 3] * b[j + 3];
    }
    return (s0 + s1) + (s2 + s3);
}

/* |X x|^2 of the tokens from the products of all pairs; those that do not change are left out. */
static double norm_by_kernel(const structured *s, uint32_t i, const double *x)
{
    const uint64_t length = structured_length(s, i), stride = (uint64_t)s->stride;
    const float *K = s->kernel[i];
    double all = 0;
    uint32_t changed = 0;
    for (uint64_t t = 0; t < length; t++) {
        const double own = lanes_dot(x + t * stride, x + t * stride, stride);
        if (own == 0)
            continue;
        all += K[t * length + t] * own;
        for (uint32_t a = 0; a < changed; a++) {
            const uint64_t k = s->token[a];
            all += 2 * K[t * length + k] * lanes_dot(x + t * stride, x + k * stride, stride);
        }
        s->token[changed++] = (uint32_t)t;
    }
    return all;
}

/* The same of a long sentence; NAN: no memory. */
static double norm_by_image(const structured *s, uint32_t i, const double *x)
{
    const rows *r = &s->p->rows;
    const uint64_t first = structured_row(s, i), length = structured_length(s, i), stride = (uint64_t)s->stride;
    uint64_t entries = 0;
    for (uint64_t t = 0; t < length; t++)
        for (int j = 0; j < s->tags; j++)
            entries += x[t * stride + (uint64_t)j] != 0 ? chain_image_entries(r, first + t) : 0;
    chain_image image;
    if (!chain_image_open(&image, r, (uint64_t)s->tags, s->h, entries))
        return NAN;
    for (uint64_t t = 0; t < length; t++)
        for (uint64_t j = 0; j < (uint64_t)s->tags; j++)
            if (x[t * stride + j] != 0)
                chain_image_add(&image, first + t, j, x[t * stride + j]);
    const double all = chain_image_norm(&image);
    chain_image_close(&image);
    return all;
}

double structured_chain_norm(structured *s, uint32_t i, const double *x)
{
    const uint64_t length = structured_length(s, i), stride = (uint64_t)s->stride, T = (uint64_t)s->tags;
    if (!make_kernel(s, i))
        return NAN;
    const double *pair = x + length * stride, *h = s->h ? s->h + s->p->rows.columns * T : NULL;
    double all = s->kernel[i] ? norm_by_kernel(s, i, x) : norm_by_image(s, i, x);
    for (uint64_t k = 0; k <= T; k++)
        for (uint64_t j = 0; j < T; j++)
            all += pair[k * stride + j] * pair[k * stride + j] * (h ? h[k * T + j] : 1);
    return all;
}

/* |phi|^2 <= (2 sum_t |x_t|)^2 + (2 length)^2 */
static double chain_largest_norm(const structured *s, uint32_t i)
{
    const uint64_t first = structured_row(s, i), length = structured_length(s, i);
    double all = 0;
#define CALL(form)                                                                                                   \
    for (uint64_t t = 0; t < length; t++)                                                                            \
    all += sqrt(rows_norm(&s->p->rows, form, first + t))
    ROWS_DISPATCH(s->p->rows.form, CALL);
#undef CALL
    return 4 * all * all + 4 * (double)length * (double)length;
}

const structure chain_structure = {
    .name = "tags",
    .table = chain_table,
    .work = chain_work,
    .length = chain_length,
    .gold = chain_gold,
    .open = chain_open,
    .score = chain_score_all,
    .score_of = chain_score_of,
    .best = chain_best_output,
    .difference = chain_score_difference,
    .count = chain_count,
    .spread = chain_spread,
    .products = chain_products,
    .largest_norm = chain_largest_norm,
    .total = chain_total,
    .sum = chain_sum_all,
    .marginals = chain_marginals,
    .expect = chain_expect,
    .add = chain_add,
    .bend = chain_bend,
    .visits = 1,
};
