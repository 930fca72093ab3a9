/* judge.c - what must hold in a round. The checker knows the problem from its raw rows alone.
 *
 * Of every method: the primal is P(model), for the model w or a longer w that is no worse, the gap is not negative,
 * primal + dual is the gap, and the optimum that the checker's own solver found lies between the bounds. Where it
 * reports its dual point: that is feasible, and the dual is f of it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "matrix/trial.h"

static const promises promised[] = {
    {.method = "bda", .linked = true, .dual_falls = true},
    {.method = "disdca", .linked = true, .dual_falls = true, .target = 1e-2},
    {.method = "disdca-basic", .linked = true, .dual_falls = true, .target = 0.1},
    {.method = "cocoa+", .linked = true, .dual_falls = true, .target = 1e-2},
    {.method = "dsvm-ave", .linked = true, .dual_falls = true, .target = 1e-2},
    {.method = "prox-grad", .linked = true, .dual_falls = true, .target = 0.1},
    {.method = "hull", .dual_falls = true, .primal_falls = true},
    {.method = "auto", .dual_falls = true},
    {.method = "newton", .dual_falls = true},
    {.method = "tron", .dual_falls = true, .primal_falls = true},
    {.method = "l-commdir", .dual_falls = true, .primal_falls = true},
    {.method = "lbfgs", .dual_falls = true, .primal_falls = true},
    {.method = "average", .ends_by_itself = true},
    {.method = "perceptron", .ends_by_itself = true},
    {.method = NULL},
};

/* Accelerated, a method keeps no promise of its own. */
const promises *promises_of(const setup *s)
{
    const promises *p = promised;
    while (p->method && (s->options.accelerate || strcmp(p->method, s->method->name) != 0))
        p++;
    return p;
}

static void judge_dual_point(trial *t, const round_report *r, const double *model, const double *w)
{
    check_verdict truth = check_points(&t->problem->check, model, t->alpha);
    long double near = 1e-9L * truth.primal;
    expect(t, truth.feasible, "alpha is not feasible");
    expect(t, fabsl(r->dual - truth.dual) <= near, "dual %.17g, expected %.20Lg", r->dual, truth.dual);
    expect(t, fabsl(r->gap - truth.gap) <= near, "gap %.17g, expected %.20Lg", r->gap, truth.gap);
    if (!t->promises->linked)
        return;
    check_verdict at_w = check_points(&t->problem->check, w, t->alpha);
    expect(t, at_w.drift <= 1e-10L * sqrtl(2 * truth.primal + 1), "w is not grad g*(X alpha): off by %Lg",
           at_w.drift);
    expect(t, truth.primal <= at_w.primal + near, "the model has %.20Lg, w %.20Lg", truth.primal, at_w.primal);
}

void judge_round(trial *t, const round_report *r, const double *model, const double *w)
{
    const made *g = t->problem;
    long double primal = check_primal(&g->check, model), near = 1e-9L * primal;
    expect(t, fabsl(r->primal - primal) <= near, "primal %.17g, expected %.20Lg", r->primal, primal);
    expect(t, primal >= g->optimum - g->slack, "primal %.20Lg is below the optimum %.20Lg", primal, g->optimum);
    if (t->setup->method->uncertified) {
        expect(t, isnan(r->dual) && isnan(r->gap), "dual %g, gap %g where there should be none", r->dual, r->gap);
        return;
    }
    expect(t, r->gap >= 0, "gap %.17g is negative", r->gap);
    expect(t, fabsl(primal + r->dual - r->gap) <= near, "gap %.17g, expected %.20Lg", r->gap, primal + r->dual);
    expect(t, -r->dual <= g->optimum * (1 + 1e-14L), "dual %.20g is beyond the optimum %.20Lg", r->dual, g->optimum);
    if (r->blocks)
        judge_dual_point(t, r, model, w);
    if (r->round == 0)
        return;
    if (t->promises->dual_falls)
        expect(t, r->dual <= t->last_dual + 1e-13 * r->primal, "the dual rose from %.17g to %.17g", t->last_dual,
               r->dual);
    if (t->promises->primal_falls)
        expect(t, r->primal <= t->last_primal * (1 + 1e-13), "the primal rose from %.17g to %.17g", t->last_primal,
               r->primal);
}

/* The sentence ends "...; --method=a, b or c would do". */
void judge_refusal(trial *t, const problem *p, const bda_error *err)
{
    char option[80], names[600];
    snprintf(option, sizeof option, "--method=%s ", t->setup->method->name);
    expect(t, err->status == BDA_USAGE && strncmp(err->text, option, strlen(option)) == 0, "refused by: %s",
           err->text);
    const char *others = strstr(err->text, "; --method=");
    snprintf(names, sizeof names, "%s", others ? others + strlen("; --method=") : "");
    char *end = strstr(names, " would do"), *rest = NULL;
    expect(t, end != NULL, "no method is named: %s", err->text);
    if (end)
        *end = 0;
    for (char *name = strtok_r(names, ", ", &rest); name; name = strtok_r(NULL, ", ", &rest)) {
        bda_error ignored = {0};
        const method *m = strcmp(name, "or") == 0 ? NULL : method_find(name);
        expect(t, m || strcmp(name, "or") == 0, "there is no method '%s'", name);
        expect(t, !m || method_serves(m, p, &ignored), "%s is named, but does not serve", name);
    }
}
