/* inference.c - times the kernels of src/structure on random scores, one core.
 *
 *     inference [SECONDS]      a line for each kernel and size: the least time of a call over SECONDS (0.2)
 *
 * Chains: nanoseconds a token, sentences of 20 tokens. Trees: microseconds a sentence of n tokens. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "structure/chain_lattice.h"
#include "structure/tree.h"

enum { TOKENS = 20, MANY = 64 };

static double seconds_a_kernel = 0.2;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double *drawn(size_t n, double scale)
{
    double *x = malloc((n ? n : 1) * sizeof *x);
    if (!x)
        exit(1);
    for (size_t k = 0; k < n; k++)
        x[k] = scale * (2 * drand48() - 1);
    return x;
}

typedef struct trial {
    chain c[MANY];
    chain_factors factors;
    chain_lattice all;
    int n, stride;
    double *S[MANY], *node, *edge, *mu, *work;
    uint16_t gold[1024], out[1024];
} trial;

typedef double (*kernel)(trial *t, int k);

static double viterbi(trial *t, int k)
{
    return chain_best(&t->c[k], NULL, t->out, t->work);
}
static double augmented(trial *t, int k)
{
    return chain_best(&t->c[k], t->gold, t->out, t->work);
}
static double log_z(trial *t, int k)
{
    return chain_sum(&t->c[k], &t->factors, NULL, NULL, t->work);
}
static double nodes(trial *t, int k)
{
    return chain_sum(&t->c[k], &t->factors, t->node, NULL, t->work);
}
static double edges(trial *t, int k)
{
    return chain_sum(&t->c[k], &t->factors, t->node, t->edge, t->work);
}
static double factors(trial *t, int k)
{
    chain_factors_make(&t->factors, t->n, t->c[k].transition, t->factors.forward);
    return t->factors.shift;
}
static double entropy(trial *t, int k)
{
    (void)k;
    return chain_entropy(&t->all, t->node, t->edge);
}
static double divergence(trial *t, int k)
{
    return chain_divergence(&t->c[k], &t->all, t->node, t->edge, t->work);
}
static double any(trial *t, int k)
{
    return tree_best_any(t->n, t->S[k], NULL, t->out, t->work);
}
static double projective(trial *t, int k)
{
    return tree_best_projective(t->n, t->S[k], NULL, t->out, t->work);
}
static double sum_any(trial *t, int k)
{
    return tree_sum_any(t->n, t->S[k], t->mu, t->work);
}
static double sum_projective(trial *t, int k)
{
    return tree_sum_projective(t->n, t->S[k], t->mu, t->work);
}

static void measure(const char *name, kernel f, trial *t, double unit, double units)
{
    double least = 1e9, used = 0, check = 0;
    while (used < seconds_a_kernel) {
        double start = now();
        for (int k = 0; k < MANY; k++)
            check += f(t, k);
        double took = now() - start;
        used += took;
        least = took < least ? took : least;
    }
    printf("%-16s %4d %10.2f%s\n", name, t->n, least / MANY / units / unit, check == check ? "" : " (not a number)");
}

static void chains(int tags)
{
    static trial t;
    int stride = chain_stride(tags);
    double *tr = drawn((size_t)((tags + 1) * stride), 3);
    t.n = tags;
    for (int k = 0; k < MANY; k++)
        t.c[k] = (chain){TOKENS, tags, drawn((size_t)(TOKENS * stride), 3), tr};
    t.node = drawn((size_t)(TOKENS * stride), 1);
    t.edge = drawn((size_t)(TOKENS * tags * stride), 1);
    t.work = drawn(chain_sum_work(TOKENS, tags) + chain_best_work(TOKENS, tags) + chain_divergence_work(tags), 1);
    static uint16_t size[TOKENS], tag[TOKENS * 45];
    for (int j = 0; j < TOKENS * tags; j++) {
        size[j / tags] = (uint16_t)tags;
        tag[j] = (uint16_t)(j % tags);
    }
    t.all = (chain_lattice){TOKENS, size, tag};
    chain_factors_make(&t.factors, tags, tr, drawn(chain_factors_size(tags), 1));
    measure("viterbi", viterbi, &t, 1e-9, TOKENS);
    measure("augmented", augmented, &t, 1e-9, TOKENS);
    measure("log-z", log_z, &t, 1e-9, TOKENS);
    measure("nodes", nodes, &t, 1e-9, TOKENS);
    measure("edges", edges, &t, 1e-9, TOKENS);
    measure("factors", factors, &t, 1e-9, TOKENS);
    measure("entropy", entropy, &t, 1e-9, TOKENS);
    measure("divergence", divergence, &t, 1e-9, TOKENS);
}

static void trees(int n)
{
    static trial t;
    size_t cells = (size_t)n * (size_t)(n + 1);
    t.n = n;
    for (int k = 0; k < MANY; k++)
        t.S[k] = drawn(cells, 3);
    t.mu = drawn(cells, 1);
    t.work = drawn(tree_sum_projective_work(n) + tree_sum_any_work(n), 1);
    measure("any", any, &t, 1e-6, 1);
    measure("projective", projective, &t, 1e-6, 1);
    measure("sum-any", sum_any, &t, 1e-6, 1);
    measure("sum-projective", sum_projective, &t, 1e-6, 1);
    for (int k = 0; k < MANY; k++)
        free(t.S[k]);
    free(t.mu);
    free(t.work);
}

int main(int argc, char **argv)
{
    seconds_a_kernel = argc > 1 ? atof(argv[1]) : seconds_a_kernel;
    const int tags[] = {17, 22, 45}, lengths[] = {10, 20, 40, 80, 160};
    for (int k = 0; k < 3; k++)
        chains(tags[k]);
    for (int k = 0; k < 5; k++)
        trees(lengths[k]);
    return 0;
}
