/* test_hull.c - the primal-dual hull on small problems, each round held against the checker, and threads that share
 * one u without locks.
 *
 * What the method promises: f never rises, and falls at least as far as by the step of Algorithm 2 from the same
 * alpha; the best primal point never gets worse; v stays X alpha; each form sends the vectors that it says it sends.
 */
#include "base/memory.h"
#include "dual/hull.h"
#include "unit/rival_support.h"

static recorder record;

static watch watch_with(bool (*round)(watch *self, const round_report *report, const double *w))
{
    return (watch){.seconds = recorder_seconds, .interrupted = recorder_interrupted, .round = round};
}

static const hull_form forms[] = {HULL_FUSED, HULL_ONE_VECTOR, HULL_MOMENTUM};
enum { FORMS = sizeof forms / sizeof *forms };

static method_options options_of(hull_form form)
{
    method_options options = usual_options();
    options.hull = form;
    return options;
}

/* Every loss, with and without classes, every regulariser, one block and more. */
static void for_hull_shapes(void (*test)(const shape *))
{
    for (const loss *f = losses; f->name; f++)
        for (uint64_t classes = 0; classes <= (f->regression ? 0 : CLASSES); classes += CLASSES)
            for (uint64_t blocks = 1; blocks <= 5; blocks += 2)
                for (int penalty = 0; penalty < 3; penalty++)
                    test(&(const shape){.loss = f,
                                        .classes = classes,
                                        .blocks = blocks,
                                        .l1_ratio = penalty == 2 ? 0.3 : 0,
                                        .factors = penalty > 0});
}

/* ---- every round ---------------------------------------------------------------------------------------------- */

static double size_of(const round_report *first)
{
    return first->primal + fabs(first->dual);
}

static void expect_descent(const shape *s, hull_form form, uint64_t rounds)
{
    const double rounding = 1e-13 * size_of(&record.report[0]);
    for (uint64_t t = 1; t <= rounds; t++) {
        const round_report *now = &record.report[t], *last = now - 1;
        if (!(now->dual <= last->dual + rounding))
            fail_msg("%s, %d blocks, form %d, round %d: the dual rose by %g", s->loss->name, (int)s->blocks,
                     (int)form, (int)t, now->dual - last->dual);
        assert_true(now->primal <= last->primal);
        uint64_t sent = now->vectors_sent - last->vectors_sent - now->certificate.anew;
        assert_true(sent == 1 || (sent == 2 && form != HULL_ONE_VECTOR));
        assert_string_equal(now->choice, form == HULL_FUSED        ? "fused"
                                         : form == HULL_ONE_VECTOR ? "one-vector"
                                                                   : "momentum");
    }
}

/* The loss of Crammer and Singer with labels at random: a dual that coordinate descent creeps along. */
static double target_of(const shape *s, hull_form form)
{
    return s->classes && s->loss->kind != LOSS_LOGISTIC && form != HULL_MOMENTUM ? 1e-4 : 1e-8;
}

static void reaches_the_optimum(const shape *s)
{
    const uint64_t seed = state;
    for (int k = 0; k < FORMS; k++) {
        bench t;
        state = seed;
        bench_open(&t, s);
        method_options options = options_of(forms[k]);
        const double target = target_of(s, forms[k]);
        uint64_t rounds = train(&hull_method, &t, &options, target, MOST_ROUNDS, &record);
        if (!(record.report[rounds].gap <= target * record.report[0].gap))
            fail_msg("%s, %d classes, %d blocks, l1 %g, form %d: gap %g after %d rounds", s->loss->name,
                     (int)s->classes, (int)s->blocks, s->l1_ratio, (int)forms[k],
                     record.report[rounds].gap / record.report[0].gap, (int)rounds);
        expect_descent(s, forms[k], rounds);
        bench_close(&t);
    }
}

static void test_optimum(void **unused)
{
    (void)unused;
    state = 1;
    for_hull_shapes(reaches_the_optimum);
}

/* Every instance a block, and blocks without instances. */
static void test_many_blocks(void **unused)
{
    (void)unused;
    state = 2;
    for (const loss *f = losses; f->name; f++)
        for (uint64_t classes = 0; classes <= (f->regression ? 0 : CLASSES); classes += CLASSES)
            for (uint64_t blocks = ROWS; blocks <= ROWS + 5; blocks += 5)
                reaches_the_optimum(&(const shape){.loss = f, .classes = classes, .blocks = blocks});
}

/* ---- against the paper's step --------------------------------------------------------------------------------- */

/* From alpha = 0 all methods solve the same sub-problems: the hull contains the ray of Algorithm 2. */
static void first_round_is_no_worse(const shape *s)
{
    bench t;
    bench_open(&t, s);
    method_options options = usual_options();
    train(&bda_method, &t, &options, 0, 1, &record);
    const double paper = record.report[1].dual;
    for (int k = 0; k < FORMS; k++) {
        options = options_of(forms[k]);
        options.local_epochs = 1;
        train(&hull_method, &t, &options, 0, 1, &record);
        assert_true(record.report[1].dual <= paper + 1e-14 * size_of(&record.report[0]));
    }
    bench_close(&t);
}

static void test_first_round(void **unused)
{
    (void)unused;
    state = 3;
    for_hull_shapes(first_round_is_no_worse);
}

enum { STEPS = 12 };

/* A training of so many rounds that remembers alpha of each. */
typedef struct trail {
    recorder *record;
    double alpha[STEPS + 1][ROWS * CLASSES];
} trail;

typedef struct inspector {
    watch watch;
    recorder *record;
    void (*look)(const hull_run *r, const round_report *report, void *with);
    void *with;
} inspector;

/* The report that a watch sees is a part of the run. */
static bool inspector_round(watch *self, const round_report *report, const double *w)
{
    inspector *i = (inspector *)self;
    const hull_run *r = (const hull_run *)((const char *)report - offsetof(hull_run, d.report));
    assert_ptr_equal(r->d.watch, self);
    assert_ptr_equal(r->d.blocks, report->blocks);
    i->look(r, report, i->with);
    return recorder_round(&i->record->watch, report, w);
}

static uint64_t inspect(bench *t, const method_options *options, double target, uint64_t most,
                        void (*look)(const hull_run *, const round_report *, void *), void *with)
{
    bda_error err = {0};
    inspector i = {watch_with(inspector_round), &record, look, with};
    record = (recorder){.bench = t, .target = target, .most = most};
    assert_true(hull_method.train(&hull_method, &t->problem, options, &i.watch, &err));
    return record.rounds - 1;
}

static void read_alpha(const bench *t, struct block *const *blocks, double *alpha)
{
    const uint64_t width = t->shape.classes ? t->shape.classes : 1;
    for (uint64_t k = 0; k < t->data->local_blocks; k++)
        block_alpha(blocks[k], alpha + blocks[k]->first * width);
}

static void remember_alpha(const hull_run *r, const round_report *report, void *with)
{
    trail *to = with;
    read_alpha(to->record->bench, r->d.blocks, to->alpha[report->round]);
}

/* f after one step of Algorithm 2 from alpha, its sub-problems solved to the end. */
static double dual_after_step(bench *t, const method_options *options, const double *alpha)
{
    bda_error err = {0};
    dual_run d;
    recorder unused = {.bench = t};
    unused.watch = watch_with(recorder_round);
    const uint64_t width = t->shape.classes ? t->shape.classes : 1;
    const double all = 1;
    const int point = 0;
    long double v[COLUMNS * CLASSES];
    double after[ROWS * CLASSES], w[COLUMNS * CLASSES];
    assert_true(dual_open(&d, bda_method.preset, &t->problem, options, &unused.watch, &err));
    check_combine(&t->check, alpha, v);
    for (uint64_t j = 0; j < t->problem.n; j++)
        d.v[j] = (double)v[j];
    t->problem.penalty.kind->gradient(&t->problem.penalty, d.w, d.v);
    for (uint64_t k = 0; k < d.local; k++) {
        block_value value;
        assert_true(block_points(d.blocks[k], &d.memory, 1, &err));
        assert_true(block_keep_image(d.blocks[k], 0, alpha + d.blocks[k]->first * width));
        assert_true(block_blend(d.blocks[k], 1, &point, &all));
        block_evaluate(d.blocks[k], d.w, INFINITY, &value);
    }
    dual_solve(&d, 0);
    assert_true(dual_sum(&d, &err));
    dual_move(&d, dual_step(&d));
    read_alpha(t, d.blocks, after);
    dual_close(&d);
    check_weights(&t->check, after, w);
    return (double)check_points(&t->check, w, after).dual;
}

/* Where xi* is strongly convex the solution of a sub-problem is one point, whatever the order of the visits: so in
 * every round of the fused form f falls at least as far as by the paper's step from the same alpha. */
static void every_round_is_no_worse(const shape *s)
{
    static trail path;
    if (!s->loss->smooth || (s->classes && s->loss->kind != LOSS_LOGISTIC))
        return;
    bench t;
    bench_open(&t, s);
    method_options options = options_of(HULL_FUSED);
    options.local_epochs = 300;
    path.record = &record;
    uint64_t rounds = inspect(&t, &options, 1e-9, STEPS, remember_alpha, &path);
    for (uint64_t k = 0; k < rounds; k++) {
        double paper = dual_after_step(&t, &options, path.alpha[k]);
        double dual = record.report[k + 1].dual;
        if (!(dual <= paper + 1e-9 * (record.report[k].dual - paper) + 1e-13 * size_of(&record.report[0])))
            fail_msg("%s, %d classes, %d blocks, l1 %g, round %d: %.17g, the paper's step %.17g", s->loss->name,
                     (int)s->classes, (int)s->blocks, s->l1_ratio, (int)k, dual, paper);
    }
    bench_close(&t);
}

static void test_every_round(void **unused)
{
    (void)unused;
    state = 4;
    for_hull_shapes(every_round_is_no_worse);
}

/* ---- what a run keeps ----------------------------------------------------------------------------------------- */

static int uphill; /* rounds of momentum whose direction did not lead down */

/* v and the products of the kept points are never computed anew: they must not drift from what they stand for. After a
 * direction that did not lead down momentum begins anew. */
static void expect_no_drift(const hull_run *r, const round_report *report, void *with)
{
    const bench *t = with;
    const problem *p = &t->problem;
    double alpha[ROWS * CLASSES];
    long double v[COLUMNS * CLASSES];
    read_alpha(t, report->blocks, alpha);
    check_combine(&t->check, alpha, v);
    for (uint64_t j = 0; j < p->n; j++)
        assert_true(fabsl(r->d.v[j] - v[j]) <= 1e-12L);
    assert_true(r->momentum.a1 >= 1 && r->momentum.a1 <= (double)t->shape.blocks);
    assert_true(r->d.model.a1 >= 1 && r->d.model.a1 <= (double)t->shape.blocks);
    assert_true(r->form == HULL_MOMENTUM || (r->momentum.a1 == 1 && r->d.model.a1 == 1));
    if (r->form == HULL_MOMENTUM && report->round > 0) {
        assert_true((report->step > 0) == (r->momentum.t > 1));
        uphill += report->step <= 0;
    }
    for (int a = 0; p->penalty.kind->identity && a < r->points.count; a++)
        for (int b = 0; b < r->points.count; b++) {
            int i = r->points.used[a], j = r->points.used[b];
            double product = 0, part, linear;
            for (uint64_t c = 0; c < p->n; c++)
                product += r->points.image[i][c] * r->points.image[j][c];
            for (uint64_t k = 0; k < r->d.local && p->loss->quadratic_dual; k++, product += part)
                block_products(r->d.blocks[k], i, 1, &j, &part, &linear);
            double told = r->points.product[i][j];
            assert_true(fabs(told - product) <=
                        1e-13 * (fabs(r->points.product[i][i]) + fabs(r->points.product[j][j])));
        }
}

static void nothing_drifts(const shape *s)
{
    for (int k = 0; k < FORMS; k++) {
        bench t;
        bench_open(&t, s);
        method_options options = options_of(forms[k]);
        uint64_t rounds = inspect(&t, &options, 1e-10, 60, expect_no_drift, &t);
        assert_true(rounds > 0);
        bench_close(&t);
    }
}

static void test_drift(void **unused)
{
    (void)unused;
    state = 5;
    uphill = 0;
    for_hull_shapes(nothing_drifts);
    assert_true(uphill > 0);
}

/* The a1 of each round beside alpha. */
typedef struct adapting {
    trail trail;
    double a1[STEPS + 1];
} adapting;

static void remember_a1(const hull_run *r, const round_report *report, void *with)
{
    adapting *to = with;
    remember_alpha(r, report, &to->trail);
    assert_string_equal(report->choice, "bda");
    to->a1[report->round] = r->d.model.a1;
}

static long double square_of_image(const bench *t, const double *da)
{
    long double v[COLUMNS * CLASSES], sum = 0;
    check_combine(&t->check, da, v);
    for (uint64_t j = 0; j < t->problem.n; j++)
        sum += v[j] * v[j];
    return sum;
}

/* |X da|^2 over sum_k |X_k da_k|^2, by what alpha has moved: the length of the step plays no part. */
static double overlap_of_move(const bench *t, const double *before, const double *after)
{
    const uint64_t width = t->shape.classes ? t->shape.classes : 1, *start = t->data->block_start;
    double all[ROWS * CLASSES] = {0};
    long double apart = 0;
    for (uint64_t k = 0; k < t->data->local_blocks; k++) {
        double own[ROWS * CLASSES] = {0};
        for (uint64_t i = start[k] * width; i < start[k + 1] * width; i++)
            all[i] = own[i] = after[i] - before[i];
        apart += square_of_image(t, own);
    }
    const double ratio = (double)(square_of_image(t, all) / apart);
    return fmin(fmax(ratio, 1), (double)t->shape.blocks);
}

/* auto's rounds of several blocks: a1 is what the move before showed, and at least 2 with the logistic loss. */
static void a1_fits_the_last_move(const shape *s)
{
    static adapting path;
    bench t;
    bench_open(&t, s);
    method_options options = usual_options();
    options.local_epochs = EPOCHS_AS_NEEDED;
    path.trail.record = &record;
    if (s->blocks > 1) {
        uint64_t rounds = inspect(&t, &options, 1e-3, STEPS, remember_a1, &path);
        assert_true(rounds > 1 && path.a1[0] == 2);
        for (uint64_t k = 1; k <= rounds; k++) {
            const double shown = overlap_of_move(&t, path.trail.alpha[k - 1], path.trail.alpha[k]);
            const double wanted = s->loss->kind == LOSS_LOGISTIC ? fmax(shown, 2) : shown;
            if (!(fabs(path.a1[k] - wanted) <= 1e-9))
                fail_msg("%s, %d classes, %d blocks, l1 %g, round %d: a1 %.17g, expected %.17g", s->loss->name,
                         (int)s->classes, (int)s->blocks, s->l1_ratio, (int)k, path.a1[k], wanted);
        }
    }
    bench_close(&t);
}

static void test_adapts(void **unused)
{
    (void)unused;
    state = 12;
    for_hull_shapes(a1_fits_the_last_move);
}

static long double best_before;                /* P of the best point, a round ago */
static double point_before[COLUMNS * CLASSES]; /* that point */
static double gap_before;

/* Where P has kinks: the best point is that of the ray from the one before through w, but for a part of the gap. */
static void expect_search_of_the_ray(const hull_run *r, const bench *t, long double best)
{
    double other[COLUMNS * CLASSES];
    for (double step = 0; step <= 4; step += step < 1 ? 0.04 : 0.2) {
        for (uint64_t j = 0; j < t->problem.n; j++)
            other[j] = point_before[j] + step * (r->d.w[j] - point_before[j]);
        const long double there = check_primal(&t->check, other);
        if (!(best <= there + 0.1L * gap_before + 1e-12L * (1 + best)))
            fail_msg("%s, %d blocks, form %d: P %.15Lg, at step %g %.15Lg, where %g was to be gained",
                     t->shape.loss->name, (int)t->shape.blocks, (int)r->form, best, step, there, gap_before);
    }
}

/* Where P is differentiable, no point of the line through the best one and w is better, but for a thousandth of what
 * the search has gained: both are in the subspace over which it went. Whatever P is, the best point is no worse than
 * w.
 */
static void expect_best_on_the_line(const hull_run *r, const round_report *report, void *with)
{
    const bench *t = with;
    const uint64_t n = t->problem.n;
    long double best = check_primal(&t->check, r->primal.best), now = check_primal(&t->check, r->d.w);
    const long double rounding = 1e-12L * (1 + best);
    const long double gained = report->round == 0 ? 0 : best_before - best;
    best_before = best;
    assert_true(best <= now + rounding);
    if (!r->primal.smooth && report->round > 0)
        expect_search_of_the_ray(r, t, best);
    memcpy(point_before, r->primal.best, n * sizeof *r->primal.best);
    gap_before = report->gap;
    for (int k = 0; r->primal.smooth && k < 6; k++) {
        const double step = (k % 2 ? 1 : -1) * pow(10, -k / 2);
        double other[COLUMNS * CLASSES];
        for (uint64_t j = 0; j < n; j++)
            other[j] = r->primal.best[j] + step * (r->d.w[j] - r->primal.best[j]);
        long double there = check_primal(&t->check, other);
        if (!(best <= there + 1e-3L * (now - best + gained) + rounding))
            fail_msg("%s, %d blocks, form %d, round %d: P %.15Lg, at step %g %.15Lg, at w %.15Lg",
                     t->shape.loss->name, (int)t->shape.blocks, (int)r->form, (int)report->round, best, step, there,
                     now);
    }
}

static void best_is_searched_for(const shape *s)
{
    for (int k = 0; k < FORMS; k++) {
        bench t;
        bench_open(&t, s);
        method_options options = options_of(forms[k]);
        uint64_t rounds = inspect(&t, &options, 1e-6, 12, expect_best_on_the_line, &t);
        assert_true(rounds > 0);
        bench_close(&t);
    }
}

static void test_primal(void **unused)
{
    (void)unused;
    state = 12;
    for_hull_shapes(best_is_searched_for);
}

/* ---- threads, memory ------------------------------------------------------------------------------------------ */

static void set_threads(bench *t, int threads)
{
    t->problem.threads = t->problem.penalty.threads = threads;
}

/* Blocks on several threads: the same bits. */
static void threads_change_nothing(const shape *s)
{
    static recorder alone;
    for (int k = 0; k < FORMS; k++) {
        bench t;
        bench_open(&t, s);
        method_options options = options_of(forms[k]);
        uint64_t rounds = train(&hull_method, &t, &options, 0, 5, &alone);
        set_threads(&t, 3);
        assert_int_equal(train(&hull_method, &t, &options, 0, 5, &record), rounds);
        for (uint64_t i = 0; i <= rounds; i++) {
            const round_report *one = &alone.report[i], *three = &record.report[i];
            assert_true(one->primal == three->primal && one->dual == three->dual && one->gap == three->gap);
            assert_memory_equal(alone.w[i], record.w[i], t.problem.n * sizeof(double));
        }
        bench_close(&t);
    }
}

static void test_threads(void **unused)
{
    (void)unused;
    state = 6;
    for_hull_shapes(threads_change_nothing);
}

/* Memory that runs out, wherever it does, is a sentence. */
static void test_no_memory(void **unused)
{
    (void)unused;
    state = 7;
    for (const loss *f = losses; f->name; f++)
        for (uint64_t classes = 0; classes <= (f->regression ? 0 : CLASSES); classes += CLASSES)
            for (int k = 0; k < FORMS; k++) {
                bench t;
                bench_open(&t, &(const shape){.loss = f, .classes = classes, .blocks = 2, .l1_ratio = k * 0.1});
                method_options options = options_of(forms[k]);
                uint64_t request = 1;
                for (bool ok = false; !ok; request++) {
                    bda_error err = {0};
                    record = (recorder){.bench = &t, .target = 0, .most = 3};
                    record.watch = watch_with(recorder_round);
                    mem_fail_at(request);
                    ok = hull_method.train(&hull_method, &t.problem, &options, &record.watch, &err);
                    mem_fail_at(0);
                    assert_true(ok || strstr(err.text, "memory"));
                    assert_true(request < 500);
                }
                assert_true(request > 10);
                bench_close(&t);
            }
}

/* ---- lock-free ------------------------------------------------------------------------------------------------ */

static int common; /* all on one u without copies */

/* Each block's dv is its own X_k da_k, whatever it took over from the others, and wherever it began. */
static void own_part_is_kept(const shape *s)
{
    bench t;
    arena memory = {0};
    bda_error err = {0};
    const uint64_t width = s->classes ? s->classes : 1, n = COLUMNS * width;
    bench_open(&t, s);
    block **blocks = blocks_open(&memory, &t.problem, &err);
    double w[COLUMNS * CLASSES], h[COLUMNS * CLASSES], start[COLUMNS * CLASSES], dv[COLUMNS * CLASSES];
    double alpha[ROWS * CLASSES];
    pool pool;
    assert_true(pool_open(&pool, &t.problem, true, &memory, &err) && pool.n == n);
    assert_true(pool.copied == (common ? 0 : n));
    for (uint64_t j = 0; j < n; j++) {
        w[j] = uniform(-0.1, 0.1);
        start[j] = w[j] + uniform(-0.01, 0.01);
        h[j] = s->factors ? uniform(0.5, 2) : 1;
    }
    pool_fill(&pool, w);
    for (uint64_t k = 0; k < t.data->local_blocks; k++) {
        block_value value;
        block_direction d;
        subproblem model = {.h = s->factors ? h : NULL, .a1 = 1.5, .a2 = 0.1, .epochs = 2, .seat = &pool.seat[k]};
        model.pool = w;
        model.w = k % 2 ? start : w;
        model.trial = (const double[BLOCK_TRIALS]){1, 0.5, 0.25, 0.125};
        model.trials = BLOCK_TRIALS;
        block_evaluate(blocks[k], w, INFINITY, &value);
        block_solve(blocks[k], &model, dv, &d);
        read_alpha(&t, blocks, alpha);
        long double image[COLUMNS * CLASSES] = {0}, largest = 0;
        for (uint64_t i = blocks[k]->first; i < blocks[k]->first + blocks[k]->count; i++)
            for (uint64_t j = 0; j < n; j++)
                image[j] += (long double)alpha[i * width + j % width] * t.value[i * COLUMNS + j / width];
        for (uint64_t j = 0; j < n; j++) {
            assert_true(fabsl(dv[j] - image[j]) <= 1e-13L);
            largest = fmaxl(largest, fabs(dv[j]));
        }
        assert_true(d.largest == largest && d.cells > 0);
    }
    bool told = false;
    for (uint64_t j = 0; j < n; j++)
        told |= pool.u[j] != w[pool.order ? pool.order[j] : j];
    assert_true(told);
    pool_close(&pool);
    blocks_close(blocks);
    arena_free(&memory);
    bench_close(&t);
}

static void test_own_part(void **unused)
{
    (void)unused;
    for (common = 0; common < 2; common++) {
        state = 8;
        pool_test_copies(common ? 0 : POOL_USUAL);
        for_hull_shapes(own_part_is_kept);
    }
    pool_test_copies(POOL_USUAL);
}

/* Four threads on one u: no two runs are alike, but each round says the truth, and f falls. */
static void lock_free_reaches_the_optimum(const shape *s)
{
    for (int k = HULL_DEFAULT; k <= HULL_MOMENTUM; k++) { /* the first: bda */
        bench t;
        bench_open(&t, s);
        set_threads(&t, 4);
        method_options options = options_of((hull_form)k);
        options.sharing = SHARE_MEMORY;
        const method *m = k ? &hull_method : &bda_method;
        const double target = k ? 1e-6 : 1e-3;
        uint64_t rounds = train(m, &t, &options, target, MOST_ROUNDS, &record);
        if (!(record.report[rounds].gap <= target * record.report[0].gap))
            fail_msg("%s %d, %s of %d classes, %d blocks, common %d, factors %d, l1 %g: gap %g after %d rounds",
                     m->name, k, s->loss->name, (int)s->classes, (int)s->blocks, common, (int)s->factors, s->l1_ratio,
                     record.report[rounds].gap / record.report[0].gap, (int)rounds);
        for (uint64_t i = 1; i <= rounds; i++)
            assert_true(record.report[i].dual <= record.report[i - 1].dual + 1e-13 * size_of(&record.report[0]));
        bench_close(&t);
    }
}

static void test_lock_free(void **unused)
{
    (void)unused;
    for (common = 0; common < 2; common++) {
        state = 9;
        pool_test_copies(common ? 0 : POOL_USUAL);
        for_hull_shapes(lock_free_reaches_the_optimum);
    }
    pool_test_copies(POOL_USUAL);
}

/* Enough rows that threads meet: sparse ones, so that many of them hold the few columns that all want. */
enum { CROWD = 3000, WIDE = 40, WIDEST = 1200, CELLS = 8 };

typedef struct crowd {
    watch watch;
    uint64_t start[CROWD + 1], check_column[CROWD * CELLS];
    uint32_t column[CROWD * CELLS];
    double value[CROWD * CELLS], y[CROWD], cost[CROWD], alpha[CROWD], w[WIDEST];
    uint64_t wide; /* columns */
    check_problem check;
    round_report first, last;
} crowd;

static bool crowd_round(watch *self, const round_report *report, const double *w)
{
    crowd *c = (crowd *)self;
    if (report->round == 0)
        c->first = *report;
    else
        assert_true(report->dual <= c->last.dual + 1e-13 * size_of(&c->first));
    c->last = *report;
    memcpy(c->w, w, c->wide * sizeof *w);
    uint64_t at = 0;
    for (int k = 0; k < 4; at += block_count(report->blocks[k++]))
        block_alpha(report->blocks[k], c->alpha + at);
    return report->gap <= 1e-4 * c->first.gap || report->round >= 300;
}

static void draw_crowd(crowd *c, const loss *f)
{
    for (uint64_t i = 0; i < CROWD; i++) {
        double score = 0;
        for (uint64_t k = 0; k < CELLS; k++) {
            uint64_t cell = i * CELLS + k, step = k < 2 ? 1 : c->wide / CELLS;
            c->check_column[cell] = k * step + (k < 2 ? 0 : (uint64_t)uniform(0, (double)step));
            c->column[cell] = (uint32_t)c->check_column[cell];
            c->value[cell] = uniform(-1, 1);
            score += c->value[cell] * cos((double)c->column[cell]);
        }
        score += 0.3 * uniform(-1, 1);
        c->start[i + 1] = (i + 1) * CELLS;
        c->y[i] = f->regression ? score : score > 0 ? 1 : -1;
        c->cost[i] = 0.1;
    }
    c->check = (check_problem){.loss = check_loss_named(f->name), .l = CROWD, .n = c->wide, .start = c->start};
    c->check.column = c->check_column;
    c->check.value = c->value;
    c->check.y = c->y;
    c->check.cost = c->cost;
    c->check.epsilon = 0.1;
}

static void train_crowd(crowd *c, const loss *f, const method *m)
{
    bda_error err = {0};
    problem p;
    problem_request request = {.loss = f, .cost = 0.1, .epsilon = 0.1, .bias = -1, .threads = 4};
    method_options options = options_of(HULL_FUSED);
    options.sharing = SHARE_MEMORY;
    comm *alone = bda_comm_single(&err);
    data *d = data_copy(alone, 4, CROWD, c->start, c->column, c->value, c->y, &err);
    assert_non_null(d);
    assert_true(problem_open(&p, alone, d, &request, &err));
    c->watch = watch_with(crowd_round);
    assert_true(m->train(m, &p, &options, &c->watch, &err));
    problem_close(&p);
    data_free(d);
    bda_comm_free(alone);
}

static void crowd_reaches_the_optimum(uint64_t wide)
{
    static crowd c;
    c.wide = wide;
    for (const loss *f = losses; f->name; f++)
        for (int k = 0; k < 2; k++) {
            draw_crowd(&c, f);
            train_crowd(&c, f, k ? &hull_method : &bda_method);
            check_verdict truth = check_points(&c.check, c.w, c.alpha);
            const double size = size_of(&c.first);
            assert_true(truth.feasible);
            assert_true(fabsl(truth.primal - c.last.primal) <= 1e-11L * size);
            assert_true(fabsl(truth.dual - c.last.dual) <= 1e-11L * size);
            assert_true(fabsl(truth.gap - c.last.gap) <= 1e-11L * size);
            if (!(truth.gap <= 1.0001e-4L * c.first.gap))
                fail_msg("%s, %s: gap %Lg after %d rounds", k ? "hull" : "bda", f->name, truth.gap / c.first.gap,
                         (int)c.last.round);
        }
}

/* Through copies; through views with copies of the columns that all have; on one u. */
static void test_lock_free_crowd(void **unused)
{
    (void)unused;
    state = 11;
    crowd_reaches_the_optimum(WIDE);
    pool_test_copies(POOL_PAGE);
    crowd_reaches_the_optimum(WIDEST);
    pool_test_copies(0);
    crowd_reaches_the_optimum(WIDE);
    pool_test_copies(POOL_USUAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_optimum),         cmocka_unit_test(test_many_blocks),
        cmocka_unit_test(test_first_round),     cmocka_unit_test(test_every_round),
        cmocka_unit_test(test_drift),           cmocka_unit_test(test_primal),
        cmocka_unit_test(test_threads),         cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_own_part),        cmocka_unit_test(test_lock_free),
        cmocka_unit_test(test_lock_free_crowd), cmocka_unit_test(test_adapts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
