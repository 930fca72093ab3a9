/* test_tree.c - inference on dependency trees against every tree of up to six tokens, one after another.
 *
 * Longer sentences are checked against slow algorithms of another kind: spanning trees with each token forced to be
 * the root, headed spans in O(n^5), differences of log Z, and numbers of trees that are known. What must not be read,
 * the scores of tokens as their own heads, is NaN.
 */
#include <stdlib.h>
#include <string.h>

#include "checker/draw.h"
#include "structure/tree.h"
#include "unit/cmocka_all.h"

enum { MOST = 6, TREES = 7776 }; /* n^(n-1) */

static struct forest {
    int any, projective;
    uint16_t heads[TREES][MOST]; /* the projective ones first */
} forests[MOST + 1];

static double *numbers(uint64_t n)
{
    return malloc((n ? n : 1) * sizeof(double));
}

static double *draw_scores(int n, double scale, bool whole)
{
    double *S = numbers((uint64_t)n * (uint64_t)(n + 1));
    for (int c = 0; c < n; c++)
        for (int h = 0; h <= n; h++) {
            double x = uniform(-scale, scale);
            S[c * (n + 1) + h] = h == c + 1 ? NAN : whole ? floor(x + 0.5) : x;
        }
    return S;
}

static void draw_heads(int n, uint16_t *heads)
{
    int first = 1 + (int)uniform(0, n);
    for (int c = 0; c < n; c++) /* a path through all tokens, so that everything is a tree */
        heads[c] = (uint16_t)(c + 1 == first ? 0 : c + 1 > first ? c : c + 2);
}

/* By definition: at most n steps up from each token reach the root, and one token has it as its head. */
static bool slow_descends(int n, const uint16_t *heads, int token, int from)
{
    for (int steps = 0; steps <= n; steps++) {
        if (token == from)
            return true;
        if (token == 0)
            return false;
        token = heads[token - 1];
    }
    return false;
}

static bool slow_is_tree(int n, const uint16_t *heads)
{
    int roots = 0;
    for (int c = 0; c < n; c++) {
        if (heads[c] > n)
            return false;
        roots += heads[c] == 0;
    }
    for (int c = 0; c < n; c++)
        if (!slow_descends(n, heads, c + 1, 0))
            return false;
    return roots == 1;
}

static int slow_crossings(int n, const uint16_t *heads)
{
    int crossings = 0;
    for (int c = 1; c <= n; c++) {
        int h = heads[c - 1], low = h < c ? h : c, high = h < c ? c : h, outside = 0;
        for (int k = low + 1; k < high; k++)
            outside += !slow_descends(n, heads, k, h);
        crossings += outside > 0;
    }
    return crossings;
}

static bool next(uint16_t *heads, int n, int most)
{
    for (int c = 0; c < n; c++) {
        if (++heads[c] <= most)
            return true;
        heads[c] = 0;
    }
    return false;
}

static int plant(void **unused)
{
    (void)unused;
    for (int n = 1; n <= MOST; n++) {
        struct forest *f = &forests[n];
        for (int projective = 1; projective >= 0; projective--) {
            uint16_t heads[MOST] = {0};
            do {
                if (slow_is_tree(n, heads) && (slow_crossings(n, heads) == 0) == projective)
                    memcpy(f->heads[f->any++], heads, sizeof heads);
            } while (next(heads, n, n));
            f->projective = projective ? f->any : f->projective;
        }
    }
    return 0;
}

static void checks_know_trees(void **unused)
{
    (void)unused;
    const int any[] = {0, 1, 2, 9, 64, 625, 7776}, projective[] = {0, 1, 2, 7, 30, 143, 728};
    for (int n = 1; n <= MOST; n++) {
        assert_int_equal(forests[n].any, any[n]);
        assert_int_equal(forests[n].projective, projective[n]);
        for (int k = 0; k < any[n]; k++) {
            assert_int_equal(tree_crossings(n, forests[n].heads[k]), slow_crossings(n, forests[n].heads[k]));
            assert_true(tree_is_projective(n, forests[n].heads[k]) == (k < projective[n]));
        }
    }
    for (int n = 1; n <= 5; n++) {
        uint16_t heads[MOST] = {0}, work[MOST];
        do {
            int token = -1, roots = 0;
            tree_fault fault = tree_check(n, heads, &token, work);
            assert_true((fault == TREE_FINE) == slow_is_tree(n, heads));
            assert_in_range(token, 0, n - 1);
            for (int c = 0; c < n; c++)
                roots += heads[c] == 0;
            switch (fault) {
            case TREE_NO_SUCH_HEAD:
                assert_true(heads[token] > n);
                break;
            case TREE_SECOND_ROOT:
                assert_true(roots > 1 && heads[token] == 0);
                break;
            case TREE_NO_ROOT:
                fail_msg("heads without a root always have a cycle");
                break;
            case TREE_CYCLE:
                assert_false(slow_descends(n, heads, token + 1, 0));
                assert_true(slow_descends(n, heads, heads[token], token + 1));
                break;
            case TREE_FINE:
                break;
            }
        } while (next(heads, n, n + 1));
    }
}

static double decode(bool projective, int n, const double *S, const uint16_t *gold, uint16_t *heads)
{
    double *work = numbers(projective ? tree_best_projective_work(n) : tree_best_any_work(n));
    double score = (projective ? tree_best_projective : tree_best_any)(n, S, gold, heads, work);
    free(work);
    assert_true(score == tree_score(n, S, heads, gold));
    return score;
}

static void check_best(int n, const double *S, const uint16_t *gold, bool projective, bool whole)
{
    const struct forest *f = &forests[n];
    uint16_t heads[MOST], work[MOST];
    int token;
    double most = -INFINITY, score = decode(projective, n, S, gold, heads);
    for (int k = 0; k < (projective ? f->projective : f->any); k++) {
        double x = tree_score(n, S, f->heads[k], gold);
        most = x > most ? x : most;
        assert_true(fabs(tree_difference(n, S, f->heads[k], heads) + (gold ? tree_wrong(n, f->heads[k], gold) : 0) -
                         (gold ? tree_wrong(n, heads, gold) : 0) - (x - score)) <= 1e-12);
    }
    assert_true(whole ? score == most : fabs(score - most) <= 1e-13 * 40);
    assert_int_equal(tree_check(n, heads, &token, work), TREE_FINE);
    assert_true(!projective || tree_is_projective(n, heads));
}

static void best_is_the_best_of_all(void **unused)
{
    (void)unused;
    state = 11;
    for (int k = 0; k < 1500; k++) {
        int n = 1 + k % MOST;
        bool whole = k / 6 % 2;
        double *S = draw_scores(n, k % 5 ? 2 : 40, whole);
        uint16_t gold[MOST];
        memcpy(gold, forests[n].heads[(int)uniform(0, forests[n].any)], sizeof gold);
        for (int projective = 0; projective < 2; projective++) {
            check_best(n, S, NULL, projective, whole);
            check_best(n, S, gold, projective, whole);
        }
        free(S);
    }
}

/* Among equals the lower head: with all scores the same the decision is known. */
static void ties_are_decided(void **unused)
{
    (void)unused;
    const uint16_t star[] = {0, 1, 1, 1, 1};
    uint16_t heads[5];
    double *S = draw_scores(5, 0, true);
    decode(false, 5, S, NULL, heads);
    assert_memory_equal(heads, star, sizeof star);
    decode(true, 5, S, NULL, heads);
    uint16_t again[5];
    decode(true, 5, S, NULL, again);
    assert_memory_equal(heads, again, sizeof heads);
    assert_int_equal(heads[0], 0);
    free(S);
}

/* One edge that every good tree has, with a score that dwarfs the others: none of their digits may be lost to it, as
 * they would be if the single root were enforced by subtracting more than all scores together. */
static void large_scores_cost_no_digits(void **unused)
{
    (void)unused;
    state = 12;
    for (int k = 0; k < 300; k++) {
        int n = 3 + k % 4, fixed = (int)uniform(0, n), head = (fixed + 1 + (int)uniform(0, n - 1)) % n + 1;
        double *S = draw_scores(n, 1, false);
        S[fixed * (n + 1) + head] = 0x1p52;
        uint16_t heads[MOST];
        decode(false, n, S, NULL, heads);
        assert_int_equal(heads[fixed], head);
        S[fixed * (n + 1) + head] = 0;
        double most = -INFINITY;
        for (int t = 0; t < forests[n].any; t++)
            if (forests[n].heads[t][fixed] == head)
                most = fmax(most, tree_score(n, S, forests[n].heads[t], NULL));
        assert_true(fabs(tree_score(n, S, heads, NULL) - most) <= 1e-15 * n);
        free(S);
    }
}

/* The weight of the best spanning tree below `root`, w[c][h] in tokens 0 .. m-1, by contracting all cycles at once
 * until there are none. Overwrites w. */
static double slow_spanning(int m, double *w, int stride, int root)
{
    double total = 0;
    int *head = malloc((size_t)m * sizeof *head), *group = malloc((size_t)m * sizeof *group);
    double *best = numbers((uint64_t)m);
    for (;;) {
        int groups = 0;
        for (int c = 0; c < m; c++) {
            head[c] = -1;
            for (int h = 0; h < m && c != root; h++)
                if (h != c && (head[c] < 0 || w[c * stride + h] > w[c * stride + head[c]]))
                    head[c] = h;
            best[c] = c == root ? 0 : w[c * stride + head[c]];
            total += best[c];
            group[c] = -1;
        }
        int cycles = 0;
        for (int c = 0; c < m; c++) {
            int at = c;
            for (int steps = 0; steps < m && at != root; steps++)
                at = head[at];
            if (at == root || group[at] >= 0)
                continue;
            cycles++; /* m steps up from c and not at the root: `at` is in a cycle */
            for (int x = at; group[x] < 0; x = head[x])
                group[x] = groups;
            groups++;
        }
        if (cycles == 0)
            break;
        for (int c = 0; c < m; c++)
            group[c] = group[c] < 0 ? groups++ : group[c];
        double *next_w = numbers((uint64_t)groups * (uint64_t)groups);
        for (int k = 0; k < groups * groups; k++)
            next_w[k] = -INFINITY;
        for (int c = 0; c < m; c++)
            for (int h = 0; h < m; h++)
                if (c != root && group[c] != group[h])
                    next_w[group[c] * groups + group[h]] =
                        fmax(next_w[group[c] * groups + group[h]], w[c * stride + h] - best[c]);
        for (int c = 0; c < groups; c++)
            memcpy(w + c * stride, next_w + c * groups, (size_t)groups * sizeof *w);
        free(next_w);
        root = group[root];
        m = groups;
    }
    free(head);
    free(group);
    free(best);
    return total;
}

static double slow_with_root(int n, const double *S, const uint16_t *gold, int root, double *w)
{
    for (int c = 0; c < n; c++)
        for (int h = 0; h < n; h++)
            w[c * n + h] = S[c * (n + 1) + h + 1] + (gold && gold[c] != h + 1);
    return S[root * (n + 1)] + (gold && gold[root] != 0) + slow_spanning(n, w, n, root);
}

static void check_long(int n, double scale, int every)
{
    double *S = draw_scores(n, scale, true), *w = numbers((uint64_t)n * (uint64_t)n);
    uint16_t *heads = malloc((size_t)n * sizeof *heads), *gold = malloc((size_t)n * sizeof *gold);
    uint16_t *work = malloc((size_t)n * sizeof *work);
    draw_heads(n, gold);
    for (int augmented = 0; augmented < 2; augmented++) {
        const uint16_t *given = augmented ? gold : NULL;
        double score = decode(false, n, S, given, heads), most = -INFINITY;
        int token;
        assert_int_equal(tree_check(n, heads, &token, work), TREE_FINE);
        for (int r = 0; r < n; r++)
            if (r % every == 0 || heads[r] == 0)
                most = fmax(most, slow_with_root(n, S, given, r, w));
        assert_true(score == most);
        double projective = decode(true, n, S, given, heads);
        assert_true(projective <= score);
        assert_int_equal(tree_check(n, heads, &token, work), TREE_FINE);
        assert_true(tree_is_projective(n, heads));
    }
    free(S);
    free(w);
    free(heads);
    free(gold);
    free(work);
}

static void long_sentences_agree_with_forced_roots(void **unused)
{
    (void)unused;
    state = 13;
    for (int k = 0; k < 60; k++)
        check_long(2 + k, k % 2 ? 3 : 1000, 1);
    check_long(150, 1000, 1);
    check_long(150, 2, 5);
    check_long(500, 100000, 40);
}

/* The best tree over tokens i .. j with head h, by all ways to split one child with its span off: O(n^5) */
static double slow_projective(int n, const double *S)
{
    double(*best)[20][20] = calloc(20, sizeof *best), most = -INFINITY;
    for (int length = 1; length <= n; length++)
        for (int i = 0; i + length <= n; i++) {
            int j = i + length - 1;
            for (int h = i; h <= j; h++) {
                best[i][j][h] = length == 1 ? 0 : -INFINITY;
                for (int k = i; k < j; k++) /* i .. k and k+1 .. j, one of which has h */
                    for (int c = h <= k ? k + 1 : i; c <= (h <= k ? j : k); c++) {
                        double x = h <= k ? best[i][k][h] + best[k + 1][j][c] : best[i][k][c] + best[k + 1][j][h];
                        best[i][j][h] = fmax(best[i][j][h], x + S[c * (n + 1) + h + 1]);
                    }
            }
        }
    for (int r = 0; r < n; r++)
        most = fmax(most, best[0][n - 1][r] + S[r * (n + 1)]);
    free(best);
    return most;
}

static void projective_agrees_with_headed_spans(void **unused)
{
    (void)unused;
    state = 14;
    for (int k = 0; k < 60; k++) {
        int n = 1 + k % 20;
        double *S = draw_scores(n, k % 2 ? 3 : 1000, true);
        uint16_t heads[20];
        assert_true(decode(true, n, S, NULL, heads) == slow_projective(n, S));
        free(S);
    }
}

static void assert_close(double x, long double right, double relative, double absolute)
{
    if (!(fabsl(x - right) <= relative * fabsl(right) + absolute))
        print_error("%.17g instead of %.17Lg\n", x, right);
    assert_true(fabsl(x - right) <= relative * fabsl(right) + absolute);
}

static double sum_of(bool projective, int n, const double *S, double *mu)
{
    double *work = numbers(projective ? tree_sum_projective_work(n) : tree_sum_any_work(n));
    double log_z = (projective ? tree_sum_projective : tree_sum_any)(n, S, mu, work);
    free(work);
    return log_z;
}

static long double slow_score(int n, const double *S, const uint16_t *heads)
{
    long double score = 0;
    for (int c = 0; c < n; c++)
        score += S[c * (n + 1) + heads[c]];
    return score;
}

static void check_sum(int n, const double *S, bool projective, double relative, double tiny)
{
    const struct forest *f = &forests[n];
    const int trees = projective ? f->projective : f->any;
    long double most = -INFINITY, total = 0, right[MOST * (MOST + 1)] = {0};
    double mu[MOST * (MOST + 1)];
    for (int k = 0; k < trees; k++)
        most = fmaxl(most, slow_score(n, S, f->heads[k]));
    for (int k = 0; k < trees; k++)
        total += expl(slow_score(n, S, f->heads[k]) - most);
    for (int k = 0; k < trees; k++)
        for (int c = 0; c < n; c++)
            right[c * (n + 1) + f->heads[k][c]] += expl(slow_score(n, S, f->heads[k]) - most) / total;
    double log_z = sum_of(projective, n, S, mu);
    assert_true(log_z == sum_of(projective, n, S, NULL));
    assert_close(log_z, most + logl(total), 1e-12, 1e-12);
    for (int k = 0; k < n * (n + 1); k++)
        assert_close(mu[k], right[k], relative, tiny);
}

static void sums_are_those_of_all_trees(void **unused)
{
    (void)unused;
    const double scales[] = {0.1, 2, 15, 40, 70, 90};
    state = 15;
    for (int k = 0; k < 360; k++) {
        int n = 1 + k % MOST;
        double *S = draw_scores(n, scales[k / 6 % 6], k % 5 == 0);
        check_sum(n, S, false, 1e-12, 1e-13);
        check_sum(n, S, true, 1e-12, 1e-200); /* nothing is subtracted there */
        free(S);
    }
    for (int k = 0; k < 120; k++) { /* beyond the exponents of doubles */
        int n = 1 + k % MOST;
        double *S = draw_scores(n, 1000, k % 5 == 0);
        for (int c = 0; c < n && k % 3; c++)
            S[c * (n + 1)] = uniform(-1, 1);
        check_sum(n, S, false, 1e-11, 1e-13);
        check_sum(n, S, true, 1e-11, 1e-200);
        free(S);
    }
}

/* All scores 0: log Z counts the trees. */
static void sums_count_trees(void **unused)
{
    (void)unused;
    for (int n = 1; n <= 200; n = n < 8 ? n + 1 : n * 5 / 2) {
        double *S = draw_scores(n, 0, true);
        long double projective = -logl(n); /* binomial(3n-2, n-1) / n */
        for (int k = 1; k < n; k++)
            projective += logl((2.0L * n - 1 + k) / k);
        assert_close(sum_of(false, n, S, NULL), (n - 1) * logl(n), 1e-13, 1e-14);
        assert_close(sum_of(true, n, S, NULL), projective, 1e-13, 1e-14);
        free(S);
    }
}

static void check_slopes(int n, double scale, bool projective)
{
    double *S = draw_scores(n, scale, false), *mu = numbers((uint64_t)n * (uint64_t)(n + 1));
    double log_z = sum_of(projective, n, S, mu), h = 1e-3;
    uint16_t *heads = malloc((size_t)n * sizeof *heads);
    double roots = 0, best = decode(projective, n, S, NULL, heads);
    assert_true(best <= log_z);
    for (int c = 0; c < n; c++) {
        double total = 0;
        for (int k = 0; k <= n; k++) {
            assert_true(mu[c * (n + 1) + k] >= 0 && mu[c * (n + 1) + k] <= 1 + 1e-12);
            total += mu[c * (n + 1) + k];
        }
        assert_close(total, 1, 1e-11, 0);
        roots += mu[c * (n + 1)];
    }
    assert_close(roots, 1, 1e-11, 0);
    for (int k = 0; k < 12; k++) {
        int c = (int)uniform(0, n), at = c * (n + 1) + (k % 3 ? heads[c] : (int)uniform(0, n + 1));
        if (at == c * (n + 1) + c + 1)
            continue;
        double kept = S[at], up, down;
        S[at] = kept + h;
        up = sum_of(projective, n, S, NULL);
        S[at] = kept - h;
        down = sum_of(projective, n, S, NULL);
        S[at] = kept;
        assert_close((up - down) / (2 * h), mu[at], 1e-6, 1e-13 * fabs(log_z) / h + 1e-7);
    }
    free(S);
    free(mu);
    free(heads);
}

static void marginals_are_slopes(void **unused)
{
    (void)unused;
    state = 16;
    for (int n = 2; n <= 40; n += 7)
        for (int k = 0; k < 6; k++)
            check_slopes(n, k / 2 == 0 ? 1 : k / 2 == 1 ? 15 : 100, k % 2);
    check_slopes(120, 3, false);
    check_slopes(90, 3, true);
}

/* The longest that are likely: no more than sanity */
static void very_long_sentences(void **unused)
{
    (void)unused;
    state = 17;
    enum { N = 500 };
    double *S = draw_scores(N, 40, false), *mu = numbers(N * (N + 1));
    double log_z = sum_of(false, N, S, mu);
    uint16_t heads[N];
    assert_true(isfinite(log_z) && log_z >= decode(false, N, S, NULL, heads));
    for (int c = 0; c < N; c++) {
        double total = 0;
        for (int h = 0; h <= N; h++)
            total += mu[c * (N + 1) + h];
        assert_close(total, 1, 1e-10, 0);
    }
    free(S);
    free(mu);
}

/* Scores that are not numbers break the contract, but must not break memory. */
static void nonsense_is_survived(void **unused)
{
    (void)unused;
    state = 18;
    for (int k = 0; k < 400; k++) {
        int n = 1 + k % 9;
        double *S = draw_scores(n, 1, false), mu[90];
        for (int c = 0; c < n * (n + 1); c++)
            if (uniform(0, 1) < 0.4)
                S[c] = k % 3 == 0 ? NAN : k % 3 == 1 ? INFINITY : -INFINITY;
        uint16_t heads[9] = {0}, gold[9];
        draw_heads(n, gold);
        double *work = numbers(tree_best_any_work(n) + tree_best_projective_work(n));
        tree_best_any(n, S, gold, heads, work);
        tree_best_projective(n, S, gold, heads, work);
        sum_of(false, n, S, mu);
        sum_of(true, n, S, mu);
        for (int c = 0; c < n; c++)
            assert_in_range(heads[c], 0, n);
        free(work);
        free(S);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checks_know_trees),
        cmocka_unit_test(best_is_the_best_of_all),
        cmocka_unit_test(ties_are_decided),
        cmocka_unit_test(large_scores_cost_no_digits),
        cmocka_unit_test(long_sentences_agree_with_forced_roots),
        cmocka_unit_test(projective_agrees_with_headed_spans),
        cmocka_unit_test(sums_are_those_of_all_trees),
        cmocka_unit_test(sums_count_trees),
        cmocka_unit_test(marginals_are_slopes),
        cmocka_unit_test(very_long_sentences),
        cmocka_unit_test(nonsense_is_survived),
    };
    return cmocka_run_group_tests(tests, plant, NULL);
}
