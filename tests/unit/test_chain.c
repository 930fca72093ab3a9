/* test_chain.c - inference on chains against every tag string, one after another, in long double.
 *
 * The padding of all inputs is NaN: whoever reads it is found out. Larger chains, whose strings cannot be counted,
 * are checked by differences of log Z, and the two ways to sum against each other.
 */
#include <stdlib.h>
#include <string.h>

#include "checker/draw.h"
#include "structure/chain_lattice.h"
#include "structure/lanes.h"
#include "unit/cmocka_all.h"

enum { LONGEST = 6, STRINGS = 4096 };

typedef struct made {
    chain c;
    int stride;
    double *emission, *transition, *node, *edge, *work, *memory;
    uint16_t *gold, *tags;
    chain_factors factors;
    chain_lattice all; /* of all tags */
} made;

/* All tags, or each with a probability of one half, but at least one of each token. */
static chain_lattice draw_lattice(int length, int tags, bool all)
{
    uint16_t *size = malloc((size_t)length * (size_t)(tags + 1) * sizeof *size), *tag = size + length;
    for (int t = 0; t < length; t++) {
        const int sure = all ? 0 : (int)uniform(0, tags);
        size[t] = 0;
        for (int j = 0; j < tags; j++)
            if (all || j == sure || uniform(0, 1) < 0.5) {
                *tag++ = (uint16_t)j;
                size[t]++;
            }
    }
    return (chain_lattice){length, size, size + length};
}

static void free_lattice(chain_lattice *l)
{
    free((void *)(uintptr_t)l->size);
}

static double draw_score(double scale, bool whole)
{
    double x = uniform(-scale, scale);
    return whole ? floor(x + 0.5) : x;
}

static double *rows_of(int rows, int tags, double emission, bool whole)
{
    int stride = chain_stride(tags);
    double *x = malloc((size_t)rows * (size_t)stride * sizeof *x);
    for (int t = 0; t < rows; t++)
        for (int j = 0; j < stride; j++)
            x[t * stride + j] = j < tags ? draw_score(emission, whole) : NAN;
    return x;
}

static double *numbers(uint64_t n)
{
    return malloc((n ? n : 1) * sizeof(double));
}

static void make(made *m, int length, int tags, double emission, double transition, bool whole)
{
    m->stride = chain_stride(tags);
    m->emission = rows_of(length, tags, emission, whole);
    m->transition = rows_of(tags + 1, tags, transition, whole);
    m->c = (chain){length, tags, m->emission, m->transition};
    m->node = numbers((uint64_t)(length * m->stride));
    m->edge = numbers((uint64_t)(length - 1) * (uint64_t)(tags * m->stride));
    uint64_t most = chain_best_work(length, tags), sums = chain_sum_work(length, tags);
    most = sums > most ? sums : most;
    m->work = numbers(most > chain_divergence_work(tags) ? most : chain_divergence_work(tags));
    m->memory = numbers(chain_factors_size(tags));
    m->gold = malloc((size_t)length * sizeof *m->gold);
    m->tags = malloc((size_t)length * sizeof *m->tags);
    for (int t = 0; t < length; t++)
        m->gold[t] = (uint16_t)uniform(0, tags);
    chain_factors_make(&m->factors, tags, m->transition, m->memory);
    m->all = draw_lattice(length, tags, true);
}

static void unmake(made *m)
{
    free_lattice(&m->all);
    free(m->emission);
    free(m->transition);
    free(m->node);
    free(m->edge);
    free(m->work);
    free(m->memory);
    free(m->gold);
    free(m->tags);
}

/* The next string, the first tag fastest: among equals chain_best wants the earliest in this order. */
static bool next(uint16_t *y, int length, int tags)
{
    for (int t = 0; t < length; t++) {
        if (++y[t] < tags)
            return true;
        y[t] = 0;
    }
    return false;
}

static long double slow_score(const made *m, const uint16_t *y)
{
    long double s = 0;
    for (int t = 0; t < m->c.length; t++)
        s += (long double)m->emission[t * m->stride + y[t]] +
             m->transition[(t ? y[t - 1] : m->c.tags) * m->stride + y[t]];
    return s;
}

static void assert_close(double x, long double right, double relative, double absolute)
{
    if (!(fabsl(x - right) <= relative * fabsl(right) + absolute))
        print_error("%.17g instead of %.17Lg\n", x, right);
    assert_true(fabsl(x - right) <= relative * fabsl(right) + absolute);
}

static void check_best(made *m, const uint16_t *gold)
{
    uint16_t y[LONGEST] = {0}, best[LONGEST] = {0};
    double most = -INFINITY;
    do {
        double score = chain_score(&m->c, y, gold);
        long double slow = slow_score(m, y) + (gold ? chain_wrong(m->c.length, y, gold) : 0);
        assert_true(fabsl(score - slow) <= 1e-14L * (1 + 300));
        assert_true(fabsl(chain_difference(&m->c, y, m->gold) - (slow_score(m, y) - slow_score(m, m->gold))) <=
                    1e-12L);
        if (score > most) {
            most = score;
            memcpy(best, y, sizeof y);
        }
    } while (next(y, m->c.length, m->c.tags));
    double score = chain_best(&m->c, gold, m->tags, m->work);
    assert_true(score == most);
    assert_memory_equal(m->tags, best, (size_t)m->c.length * sizeof *best);
}

static void best_is_the_best_of_all(void **unused)
{
    (void)unused;
    state = 1;
    for (int k = 0; k < 600; k++) {
        made m;
        int length = 1 + k % 5, tags = 1 + k / 5 % 5;
        make(&m, length, tags, k % 3 ? 2 : 40, k % 7 ? 2 : 15, k % 2);
        check_best(&m, NULL);
        check_best(&m, m.gold);
        unmake(&m);
    }
}

/* The difference of two scores that share almost everything, where the scores themselves have no such digits */
static void differences_do_not_cancel(void **unused)
{
    (void)unused;
    state = 2;
    made m;
    make(&m, 50, 5, 1e12, 1, false);
    memcpy(m.tags, m.gold, 50 * sizeof *m.tags);
    m.tags[20] = (uint16_t)((m.gold[20] + 1) % 5);
    m.emission[20 * m.stride + m.tags[20]] = 1e-3;
    m.emission[20 * m.stride + m.gold[20]] = 2e-3;
    double d = -1e-3;
    d += m.transition[m.gold[19] * m.stride + m.tags[20]] - m.transition[m.gold[19] * m.stride + m.gold[20]];
    d += m.transition[m.tags[20] * m.stride + m.gold[21]] - m.transition[m.gold[20] * m.stride + m.gold[21]];
    assert_close(chain_difference(&m.c, m.tags, m.gold), d, 0, 1e-15);
    assert_true(chain_difference(&m.c, m.gold, m.gold) == 0);
    assert_int_equal(chain_wrong(50, m.tags, m.gold), 1);
    unmake(&m);
}

typedef struct sums {
    long double log_z, entropy;
    long double node[LONGEST][8], edge[LONGEST][8][8];
    long double p[STRINGS];
} sums;

static void slow_sums(const made *m, sums *s)
{
    uint16_t y[LONGEST] = {0};
    long double most = -INFINITY, total = 0;
    int k = 0;
    memset(s, 0, sizeof *s);
    do {
        s->p[k] = slow_score(m, y);
        most = s->p[k] > most ? s->p[k] : most;
        k++;
    } while (next(y, m->c.length, m->c.tags));
    for (int a = 0; a < k; a++)
        total += expl(s->p[a] - most);
    s->log_z = most + logl(total);
    k = 0;
    do {
        long double log_p = s->p[k] - s->log_z, p = expl(log_p);
        s->entropy -= p * log_p;
        s->p[k++] = p;
        for (int t = 0; t < m->c.length; t++) {
            s->node[t][y[t]] += p;
            if (t)
                s->edge[t - 1][y[t - 1]][y[t]] += p;
        }
    } while (next(y, m->c.length, m->c.tags));
}

static void check_marginals(const made *m, const sums *s, double relative, double tiny)
{
    int length = m->c.length, tags = m->c.tags, stride = m->stride;
    for (int t = 0; t < length; t++)
        for (int j = 0; j < stride; j++) {
            assert_close(m->node[t * stride + j], j < tags ? s->node[t][j] : 0, relative, tiny);
            for (int i = 0; t && i < tags; i++)
                assert_close(m->edge[((t - 1) * tags + i) * stride + j], j < tags ? s->edge[t - 1][i][j] : 0,
                             relative, tiny);
        }
}

static void check_sums(made *m, const sums *s, double relative, double tiny)
{
    assert_close(chain_sum(&m->c, &m->factors, m->node, m->edge, m->work), s->log_z, relative, relative);
    check_marginals(m, s, relative, tiny);
    assert_close(chain_entropy(&m->all, m->node, m->edge), s->entropy, 1e-11, 1e-11);
    assert_true(chain_sum(&m->c, &m->factors, NULL, NULL, m->work) ==
                chain_sum(&m->c, &m->factors, m->node, NULL, m->work));
}

static void sums_are_those_of_all_strings(void **unused)
{
    (void)unused;
    const double scales[] = {0.1, 2, 15, 40};
    static sums s;
    state = 3;
    for (int k = 0; k < 480; k++) {
        made m;
        int length = 1 + k % LONGEST, tags = 1 + k / 6 % (length < 6 ? 5 : 4);
        make(&m, length, tags, scales[k % 4], scales[k / 4 % 4], k % 5 == 0);
        slow_sums(&m, &s);
        assert_false(m.factors.wide);
        check_sums(&m, &s, 1e-12, 1e-300); /* relative accuracy for all that is not below e^-690 */
        m.factors.wide = true;
        check_sums(&m, &s, 1e-12, 1e-300);
        unmake(&m);
    }
}

static void large_scores_are_summed_by_logarithms(void **unused)
{
    (void)unused;
    static sums s;
    state = 4;
    for (int k = 0; k < 200; k++) {
        made m;
        int length = 1 + k % 5, tags = 2 + k % 4;
        make(&m, length, tags, k % 2 ? 1e3 : 1, k % 3 ? 1e3 : 100, k % 5 == 0);
        slow_sums(&m, &s);
        check_sums(&m, &s, 2e-12, 2e-12);
        unmake(&m);
    }
    made m;
    make(&m, 4, 3, 1, 1e3, false);
    m.transition[0] = 1000;
    m.transition[1] = -1000;
    chain_factors_make(&m.factors, 3, m.transition, m.memory);
    assert_true(m.factors.wide);
    unmake(&m);
}

/* KL(mu | p) against its definition over all strings, mu being the chain of other scores */
static void divergence_is_that_of_all_strings(void **unused)
{
    (void)unused;
    const double scales[] = {0.1, 2, 15};
    static sums mu, p;
    state = 5;
    for (int k = 0; k < 300; k++) {
        made a, b;
        int length = 1 + k % LONGEST, tags = 1 + k / 6 % 4;
        make(&a, length, tags, scales[k % 3], scales[k / 3 % 3], k % 5 == 0);
        make(&b, length, tags, scales[k % 3], scales[k / 3 % 3], k % 5 == 0);
        slow_sums(&a, &mu);
        slow_sums(&b, &p);
        chain_sum(&a.c, &a.factors, a.node, a.edge, a.work);
        long double kl = 0;
        int n = (int)lround(pow(tags, length));
        for (int y = 0; y < n; y++)
            kl += mu.p[y] * logl(mu.p[y] / p.p[y]);
        assert_close(chain_divergence(&b.c, &a.all, a.node, a.edge, b.work), kl, 1e-11, 1e-13);
        double own = chain_divergence(&a.c, &a.all, a.node, a.edge, a.work);
        assert_true(own >= 0 && own < 1e-20);
        unmake(&a);
        unmake(&b);
    }
}

/* The same chain without the tags that the lattice does not have: their scores are so low that nothing of them is left. */
static void forbid_others(made *m, const chain_lattice *l)
{
    const uint16_t *tag = l->tag;
    for (int t = 0; t < l->length; tag += l->size[t++])
        for (int j = 0, k = 0; j < m->c.tags; j++)
            if (k < l->size[t] && tag[k] == j)
                k++;
            else
                m->emission[t * m->stride + j] = -1e5;
}

static void check_expectation(const made *m, const chain_lattice *l, const double *node, const double *edge,
                              const sums *s)
{
    const int length = m->c.length, tags = m->c.tags, stride = m->stride;
    double *token = calloc((size_t)((length + tags + 1) * stride), sizeof *token), *pair = token + length * stride;
    chain_lattice_expect(l, tags, 3, node, edge, token, pair);
    for (int j = 0; j < tags; j++) {
        for (int t = 0; t < length; t++)
            assert_close(token[t * stride + j], 3 * s->node[t][j], 1e-12, 0);
        assert_close(pair[tags * stride + j], 3 * s->node[0][j], 1e-12, 0);
        for (int i = 0; i < tags; i++) {
            long double all = 0;
            for (int t = 0; t + 1 < length; t++)
                all += s->edge[t][i][j];
            assert_close(pair[i * stride + j], 3 * all, 1e-12, 0);
        }
    }
    free(token);
}

/* p given that the string is one of a lattice: its marginals, their sums, entropy, and divergence from p */
static void lattices_are_parts_of_chains(void **unused)
{
    (void)unused;
    const double scales[] = {0.1, 2, 15};
    static sums p, q;
    state = 7;
    for (int k = 0; k < 300; k++) {
        made m;
        const int length = 1 + k % LONGEST, tags = 1 + k / 6 % 4;
        make(&m, length, tags, scales[k % 3], scales[k / 3 % 3], k % 5 == 0);
        slow_sums(&m, &p);
        chain_lattice l = draw_lattice(length, tags, false);
        double *node = numbers(chain_lattice_nodes(&l)), *edge = numbers(chain_lattice_edges(&l));
        chain_sum(&m.c, &m.factors, m.node, NULL, m.work);
        assert_true(chain_sum_within(&m.c, &m.factors, &l, node, edge, m.work));
        const double divergence = chain_divergence(&m.c, &l, node, edge, m.work);
        forbid_others(&m, &l);
        slow_sums(&m, &q);
        long double kl = 0;
        for (int y = 0, n = (int)lround(pow(tags, length)); y < n; y++)
            kl += q.p[y] > 0 ? q.p[y] * logl(q.p[y] / p.p[y]) : 0;
        assert_close(divergence, kl, 1e-10, 1e-12);
        assert_close(chain_entropy(&l, node, edge), q.entropy, 1e-11, 1e-11);
        check_expectation(&m, &l, node, edge, &q);
        chain_lattice_widen(&l, node, edge, &m.all, m.node, m.edge);
        check_marginals(&m, &q, 1e-12, 0);
        free(node);
        free(edge);
        free_lattice(&l);
        unmake(&m);
    }
}

/* One token with two tags, p = (1/2, 1/2): KL = ((1 + x) log(1 + x) + (1 - x) log(1 - x)) / 2 = x^2/2 + x^4/12 + ...
 */
static void small_divergences_keep_their_digits(void **unused)
{
    (void)unused;
    made m;
    make(&m, 1, 2, 0, 0, false);
    for (double x = 0.5; x > 1e-12; x *= 0.7) {
        double up = 0.5 + x / 2, exact = 2 * (up - 0.5);
        double node[LANES] = {up, 1 - up};
        long double kl = 0, power = 1;
        for (int k = 2; k < 200; k += 2)
            kl += (power *= (long double)exact * exact) / (k * (k - 1));
        assert_close(chain_divergence(&m.c, &m.all, node, NULL, m.work), kl, 1e-10, 0);
    }
    /* mass on one tag, which p hardly has: finite, where p itself underflows */
    m.emission[0] = -1e3;
    m.emission[1] = m.transition[2 * m.stride] = m.transition[2 * m.stride + 1] = 0;
    double node[LANES] = {1, 0};
    assert_close(chain_divergence(&m.c, &m.all, node, NULL, m.work), 1000, 1e-14, 0);
    unmake(&m);
}

/* Gold as a point mass: its divergence is the loss log Z - score(gold), its entropy 0. */
static void divergence_of_gold_is_the_loss(void **unused)
{
    (void)unused;
    state = 6;
    for (int k = 0; k < 50; k++) {
        made m;
        int length = 1 + (int)uniform(0, 30), tags = 1 + (int)uniform(0, 20);
        make(&m, length, tags, 3, 3, false);
        double log_z = chain_sum(&m.c, &m.factors, NULL, NULL, m.work);
        memset(m.node, 0, (size_t)(length * m.stride) * sizeof *m.node);
        memset(m.edge, 0, (size_t)((length - 1) * tags * m.stride) * sizeof *m.edge);
        for (int t = 0; t < length; t++) {
            m.node[t * m.stride + m.gold[t]] = 1;
            if (t)
                m.edge[((t - 1) * tags + m.gold[t - 1]) * m.stride + m.gold[t]] = 1;
        }
        assert_close(chain_divergence(&m.c, &m.all, m.node, m.edge, m.work), log_z - chain_score(&m.c, m.gold, NULL),
                     1e-12, 1e-12);
        assert_true(chain_entropy(&m.all, m.node, m.edge) == 0);
        unmake(&m);
    }
}

/* Marginals of long chains and many tags: derivatives of log Z, sums, consistency, and the sum by logarithms */
static void check_large(int length, int tags, double emission, double transition)
{
    made m;
    make(&m, length, tags, emission, transition, false);
    uint64_t nodes = (uint64_t)(length * m.stride), edges = (uint64_t)(length - 1) * (uint64_t)(tags * m.stride);
    double *node = numbers(nodes), *edge = numbers(edges);
    double log_z = chain_sum(&m.c, &m.factors, m.node, m.edge, m.work);
    m.factors.wide = true;
    assert_close(chain_sum(&m.c, &m.factors, node, edge, m.work), log_z, 1e-13, 0);
    m.factors.wide = false;
    for (uint64_t k = 0; k < nodes; k++)
        assert_close(m.node[k], node[k], 1e-11, 1e-100);
    for (uint64_t k = 0; k < edges; k++)
        assert_close(m.edge[k], edge[k], 1e-11, 1e-100);
    for (int t = 0; t < length; t++)
        assert_close(lanes_sum(m.node + t * m.stride, m.stride), 1, 1e-12, 0);
    for (int k = 0; k < 20; k++) {
        int t = (int)uniform(0, length), j = (int)uniform(0, tags), at = t * m.stride + j;
        double kept = m.emission[at], h = 1e-4, up, down;
        m.emission[at] = kept + h;
        up = chain_sum(&m.c, &m.factors, NULL, NULL, m.work);
        m.emission[at] = kept - h;
        down = chain_sum(&m.c, &m.factors, NULL, NULL, m.work);
        m.emission[at] = kept;
        assert_close((up - down) / (2 * h), m.node[at], 1e-6, 1e-13 * fabs(log_z) / h);
    }
    double best = chain_best(&m.c, NULL, m.tags, m.work);
    assert_true(best == chain_score(&m.c, m.tags, NULL) && best <= log_z + 1e-12 * fabs(log_z));
    double augmented = chain_best(&m.c, m.gold, m.tags, m.work);
    assert_true(augmented == chain_score(&m.c, m.tags, m.gold) && augmented >= chain_score(&m.c, m.gold, NULL));
    free(node);
    free(edge);
    unmake(&m);
}

static void large_chains_agree_with_themselves(void **unused)
{
    (void)unused;
    state = 7;
    check_large(1, 300, 3, 3);
    check_large(7, 300, 5, 5);
    check_large(400, 17, 4, 4);
    check_large(60, 22, 40, 100);
    check_large(300, 1, 4, 4);
    check_large(100, 4, 1e3, 140); /* emissions do not matter to scaling */
}

/* The best string of many tags, against Viterbi with back pointers */
static void best_of_many_tags(void **unused)
{
    (void)unused;
    state = 8;
    enum { L = 20, T = 300 };
    static int back[L][T];
    static double d[L][T];
    for (int k = 0; k < 6; k++) {
        made m;
        make(&m, L, T, 3, 3, k % 2);
        const uint16_t *gold = k % 3 ? m.gold : NULL;
        for (int t = 0; t < L; t++)
            for (int j = 0; j < T; j++) {
                double most = t ? -INFINITY : m.transition[T * m.stride + j];
                for (int i = 0; t && i < T; i++)
                    if (d[t - 1][i] + m.transition[i * m.stride + j] > most) {
                        most = d[t - 1][i] + m.transition[i * m.stride + j];
                        back[t][j] = i;
                    }
                d[t][j] = m.emission[t * m.stride + j] + (gold && gold[t] != j) + most;
            }
        int y = 0;
        for (int j = 0; j < T; j++)
            y = d[L - 1][j] > d[L - 1][y] ? j : y;
        assert_true(chain_best(&m.c, gold, m.tags, m.work) == d[L - 1][y]);
        for (int t = L - 1; t >= 0; t--) {
            assert_int_equal(m.tags[t], y);
            y = back[t][y];
        }
        unmake(&m);
    }
}

/* The polynomials behind the sums, against the C library in long double */
static void exponentials_and_logarithms_are_accurate(void **unused)
{
    (void)unused;
    state = 9;
    for (int k = 0; k < 200000; k++) {
        double x = uniform(-1, 1) * power(-3, 2.849), y = exp(x), near = 1 + uniform(-1, 1) * power(-15, -1);
        assert_close(lanes_exp(x), expl(x), x < -708 ? 1 : 2.3e-16, 1e-307);
        assert_close(lanes_log(y), logl(y), 2.3e-16, 0);
        assert_close(lanes_log(near), logl(near), 2.3e-16, 0);
    }
    assert_true(lanes_exp(0) == 1 && lanes_exp(-709) == 0 && lanes_exp(-INFINITY) == 0 && isnan(lanes_exp(NAN)));
    assert_true(lanes_log(1) == 0 && 0 * lanes_log(0) == 0 && lanes_log(DBL_MIN) < -708 &&
                lanes_log(DBL_MAX) > 709.7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exponentials_and_logarithms_are_accurate),
        cmocka_unit_test(best_is_the_best_of_all),
        cmocka_unit_test(best_of_many_tags),
        cmocka_unit_test(differences_do_not_cancel),
        cmocka_unit_test(sums_are_those_of_all_strings),
        cmocka_unit_test(large_scores_are_summed_by_logarithms),
        cmocka_unit_test(divergence_is_that_of_all_strings),
        cmocka_unit_test(lattices_are_parts_of_chains),
        cmocka_unit_test(small_divergences_keep_their_digits),
        cmocka_unit_test(divergence_of_gold_is_the_loss),
        cmocka_unit_test(large_chains_agree_with_themselves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
