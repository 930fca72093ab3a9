/* test_pool.c - copies and views of one vector: what blocks change in theirs comes to all others once, at the times
 * planned, or at once where there is no copy; and who has copies alone knows its own part. Changes are whole numbers,
 * so that sums are exact in any order. */
#include "problem/pool.h"

#include "unit/fold_support.h"

enum { MOST_BLOCKS = 3, MOST_N = (FEATURES + 1) * 3 };

typedef struct pooling {
    pool pool;
    arena memory;
    uint64_t blocks, width;
    double from[MOST_N], start[MOST_N], room[MOST_BLOCKS][MOST_N], own[MOST_BLOCKS][MOST_N];
    double *copy[MOST_BLOCKS];              /* there, or a view */
    uint64_t count[FEATURES + ROWS + 1];    /* rows that have a column, own cells left out */
    uint64_t times[MOST_N / POOL_PAGE + 1]; /* that a page is due while the rarest is once */
} pooling;

static pooling f;
static bool viewing; /* with copies of one page, in the order of w */

/* As they were made, or folded. */
static void open_pooling(const char *loss, rows_form form, uint64_t labels, double bias, uint64_t blocks, bool folded)
{
    bda_error err = {0};
    memset(&f, 0, sizeof f);
    if (folded) {
        open_with(loss, form, labels, bias, blocks);
    } else {
        problem_request request = request_for(loss, bias);
        request.l1_ratio = 0.1;
        draw_rows(form, FEATURES, SHARED, SINGLE);
        copy_data(labels, blocks);
        assert_true(problem_open(&b.p, alone, b.d, &request, &err));
        assert_false(b.p.fold.folded);
    }
    pool_test_copies(viewing ? POOL_PAGE : POOL_USUAL);
    assert_true(pool_open(&f.pool, &b.p, false, &f.memory, &err));
    pool_test_copies(POOL_USUAL);
    assert_true(f.pool.u && f.pool.n == b.p.n && b.p.n <= MOST_N);
    assert_true(!viewing || (f.pool.copied == POOL_PAGE && f.pool.n > 2 * POOL_PAGE));
    assert_true(blocks <= MOST_BLOCKS);
    for (uint64_t k = 0; k < b.p.rows.start[ROWS]; k++)
        f.count[support_column(&b.p.rows, k)]++;
    if (b.p.rows.bias != 0)
        f.count[b.p.rows.columns - 1] = ROWS;
    f.blocks = blocks;
    f.width = labels > 2 ? labels : 1;
}

static void close_pooling(void)
{
    pool_close(&f.pool);
    arena_free(&f.memory);
    close_bench();
}

static uint64_t place_of(uint64_t k)
{
    return f.pool.order ? f.pool.order[k] : k;
}

/* Of rows that have the number's column. */
static uint64_t count_at(uint64_t k)
{
    return f.count[place_of(k) / f.width];
}

/* Every number of u has its place, and what rows have more often comes first. */
static void check_order(void)
{
    static bool seen[MOST_N];
    memset(seen, 0, sizeof seen);
    assert_true((f.pool.order == NULL) == (b.p.fold.folded || viewing));
    for (uint64_t k = 0; k < f.pool.n; k++) {
        assert_true(place_of(k) < f.pool.n && !seen[place_of(k)]);
        seen[place_of(k)] = true;
        assert_true(!f.pool.order || k == 0 || count_at(k - 1) >= count_at(k));
    }
}

/* Rows that have a column of the page, on average over its numbers, times POOL_PAGE. */
static double changes_in(uint64_t page)
{
    const uint64_t first = page * POOL_PAGE, end = first + POOL_PAGE < f.pool.n ? first + POOL_PAGE : f.pool.n;
    uint64_t sum = 0;
    for (uint64_t k = first; k < end; k++)
        sum += count_at(k);
    return (double)(sum * POOL_PAGE) / (double)(end - first);
}

/* Pages that rows have are due every 2^tier looks, those with more to bring more often, and no others are. */
static void check_tiers(void)
{
    const int tiers = f.pool.tiers;
    double most = INFINITY;
    assert_true(tiers > 0 && f.pool.first[0] == 0);
    memset(f.times, 0, sizeof f.times);
    for (int t = 0; t < tiers; t++) {
        double least = most;
        assert_true(t == 0 || f.pool.first[t] == f.pool.end[0][t - 1]);
        for (uint64_t k = f.pool.first[t]; k < f.pool.end[0][t]; k++) {
            const uint64_t page = f.pool.page[k];
            assert_true((k < f.pool.end[1][t]) == (page * POOL_PAGE < f.pool.copied));
            assert_true(changes_in(page) > 0 && changes_in(page) <= most);
            least = fmin(least, changes_in(page));
            assert_true(f.times[page] == 0);
            f.times[page] = (uint64_t)1 << (tiers - 1 - t);
        }
        most = least;
    }
    for (uint64_t page = 0; page * POOL_PAGE < f.pool.n; page++)
        assert_true((f.times[page] > 0) == (changes_in(page) > 0));
}

static bool is_copied(uint64_t at)
{
    return !f.pool.seat[0].viewing || at < f.pool.copied;
}

/* All copies begin with `from`, and that of each with a little more, as hull.c has it. */
static void begin_round(bool apart)
{
    const int64_t passes = f.pool.least_passes - (viewing ? 0 : 1);
    for (uint64_t j = 0; j < f.pool.n; j++)
        f.from[j] = floor(uniform(-99, 99));
    pool_fill(&f.pool, f.from);
    for (uint64_t k = 0; k < f.blocks && k < MOST_BLOCKS; k++) {
        memcpy(f.start, f.from, sizeof f.from);
        memset(f.own[k], 0, sizeof f.own[k]);
        for (uint64_t j = 0; apart && j < f.pool.n; j += 1 + k)
            f.start[j] += (double)(k + 1);
        f.copy[k] = pool_begin(&f.pool.seat[k], passes, f.from, f.start, f.room[k]);
        assert_true(f.pool.seat[k].viewing == viewing && (f.copy[k] == f.room[k]) == !viewing);
        for (uint64_t j = 0; !f.pool.in_turn && j < f.pool.n; j++)
            assert_true(!is_copied(j) || f.copy[k][j] == f.start[j]);
    }
}

/* A copy that is one more at every look says in u how often its pages came. */
static void check_looks(void)
{
    pool_seat *s = &f.pool.seat[0];
    begin_round(false);
    for (uint64_t look = 0; look < (uint64_t)1 << (f.pool.tiers - 1); look++) {
        for (uint64_t k = 0; k < f.pool.n && is_copied(k); k++)
            f.copy[0][place_of(k)] = s->seen[k] + 1;
        pool_look(s, f.copy[0]);
    }
    for (uint64_t k = 0; k < f.pool.n; k++)
        assert_true(f.pool.u[k] == f.from[place_of(k)] + (is_copied(k) ? (double)f.times[k / POOL_PAGE] : 0));
}

static void change(uint64_t k, uint64_t j, double by)
{
    f.copy[k][j] += by;
    f.own[k][j] += by;
}

static void look_at_all(uint64_t k)
{
    for (uint64_t look = 0; look < (uint64_t)1 << f.pool.tiers; look++)
        pool_look(&f.pool.seat[k], f.copy[k]);
}

/* Once nothing changes any more, all have everything that is due, and each its own part. */
static void end_round(bool apart)
{
    for (int round = 0; round < 2; round++)
        for (uint64_t k = 0; k < f.blocks; k++)
            look_at_all(k);
    for (uint64_t at = 0; at < f.pool.n; at++) {
        const uint64_t j = place_of(at);
        double wanted = f.from[j];
        for (uint64_t k = 0; k < f.blocks; k++)
            wanted += f.own[k][j] + (apart && j % (1 + k) == 0 ? (double)(k + 1) : 0);
        for (uint64_t k = 0; k < f.blocks && (f.times[at / POOL_PAGE] > 0 || !is_copied(at)); k++)
            assert_true(f.copy[k][j] == wanted && f.pool.u[at] == wanted);
    }
    for (uint64_t k = 0; k < f.blocks; k++) {
        pool_end(&f.pool.seat[k], f.room[k]);
        assert_true(viewing || memcmp(f.room[k], f.own[k], f.pool.n * sizeof(double)) == 0);
    }
}

static void check_rounds(void)
{
    for (int round = 0; round < 4; round++) {
        begin_round(round % 2);
        for (int step = 0; step < 3000; step++) {
            const uint64_t k = (uint64_t)uniform(0, (double)f.blocks);
            change(k, (uint64_t)uniform(0, (double)f.pool.n), floor(uniform(-9, 9)));
            if (step % 7 == 0)
                pool_look(&f.pool.seat[k], f.copy[k]);
        }
        end_round(round % 2);
    }
}

static void all_hear_of_it(rows_form form, uint64_t labels, bool folded)
{
    const bool hinge =
        form % 2 && (labels == 2 || viewing || !folded); /* that of classes has views alone if folded */
    open_pooling(hinge ? "hinge" : "logistic", form, labels, form < 2 ? 1.5 : -1, 1 + (form + folded) % MOST_BLOCKS,
                 folded);
    check_order();
    check_tiers();
    assert_true(f.pool.in_turn); /* so few cells */
    check_looks();
    check_rounds();
    f.pool.in_turn = !f.pool.in_turn;
    check_rounds();
    close_pooling();
}

static void all_hear_of_all(void **unused)
{
    (void)unused;
    for (int form = ROWS_ONES; form <= ROWS_DOUBLE; form++)
        for (int folded = 0; folded < 2; folded++)
            for (uint64_t labels = 2; labels <= 3; labels++)
                for (int views = 0; views < 2; views++) {
                    viewing = views;
                    all_hear_of_it((rows_form)form, labels, folded);
                }
    viewing = false;
}

/* Times that pages come while the rarest could once, all together. */
static uint64_t times_due(double stiffness)
{
    bda_error err = {0};
    arena memory = {0};
    pool l;
    uint64_t times = 0;
    b.p.stiffness = stiffness;
    assert_true(pool_open(&l, &b.p, false, &memory, &err));
    for (int t = 0; t < l.tiers; t++)
        times += (l.end[0][t] - l.first[t]) << (POOL_TIERS - 1 - t);
    pool_close(&l);
    arena_free(&memory);
    return times;
}

/* The less blocks disturb each other, the more seldom; a quarter as often at least. */
static void soft_ones_come_seldom(void **unused)
{
    (void)unused;
    open_with("squared-hinge", ROWS_DOUBLE, 2, -1, 2);
    b.d->rows_all = 1000 * ROWS; /* so that none is rare */
    const uint64_t usual = times_due(1);
    assert_true(times_due(0.11) == usual);
    assert_true(times_due(0.05) < usual);
    assert_true(times_due(0.02) < times_due(0.05));
    assert_true(times_due(0) == times_due(0.02));
    assert_true(4 * times_due(0) >= usual);
    b.d->rows_all = ROWS;
    close_bench();
}

/* A page that somebody is at stays as it is, and comes the next time. */
static void nobody_waits(void **unused)
{
    (void)unused;
    open_pooling("hinge", ROWS_ONES, 2, -1, 2, true);
    begin_round(false);
    f.pool.busy[0] = 1;
    change(0, 3, 5);
    look_at_all(0);
    assert_true(f.pool.u[3] == f.from[3] && f.pool.busy[0] == 1);
    f.pool.busy[0] = 0;
    look_at_all(0);
    assert_true(f.pool.u[3] == f.from[3] + 5 && f.pool.busy[0] == 0 && f.copy[1][3] == f.from[3]);
    look_at_all(1);
    assert_true(f.copy[1][3] == f.from[3] + 5);
    close_pooling();
}

/* Where blocks wait for a thread, those that begin know all that those which have ended did. */
static void late_ones_hear_of_early_ones(void **unused)
{
    (void)unused;
    for (int in_turn = 0; in_turn < 2; in_turn++) {
        open_pooling("hinge", ROWS_ONES, 2, -1, 2, true);
        f.pool.in_turn = in_turn;
        check_tiers();
        begin_round(false);
        for (uint64_t j = 0; j < f.pool.n; j++)
            change(0, j, (double)(j + 1));
        pool_end(&f.pool.seat[0], f.copy[0]);
        assert_memory_equal(f.copy[0], f.own[0], f.pool.n * sizeof(double));
        memcpy(f.start, f.from, sizeof f.from);
        f.start[5] += 7;
        f.copy[1] = pool_begin(&f.pool.seat[1], 1, f.from, f.start, f.room[1]);
        for (uint64_t j = 0; j < f.pool.n; j++) {
            const bool heard = in_turn && f.times[j / POOL_PAGE] > 0;
            assert_true(f.copy[1][j] == f.start[j] + (heard ? (double)(j + 1) : 0));
        }
        pool_end(&f.pool.seat[1], f.copy[1]);
        for (uint64_t j = 0; j < f.pool.n; j++)
            assert_true(f.copy[1][j] == 0);
        close_pooling();
    }
}

static bool try_pooling(void *what, bda_error *err)
{
    (void)what;
    arena memory = {0};
    pool any;
    const problem_request request = request_for("logistic", 1);
    problem p = {0};
    const bool opened = problem_open(&p, alone, b.d, &request, err);
    bool ok = opened && pool_open(&any, &p, false, &memory, err);
    if (ok && !any.u) /* no room for what ranks share is no failure */
        ok = err_set(err, BDA_FAILED, "out of memory");
    if (opened)
        pool_close(&any);
    arena_free(&memory);
    problem_close(&p);
    return ok;
}

static void memory_runs_out(void **unused)
{
    (void)unused;
    draw_rows(ROWS_FLOAT, FEATURES, SHARED, SINGLE);
    copy_data(2, 2);
    assert_true(support_run_short(try_pooling, NULL) > 10);
    data_free(b.d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_hear_of_all), cmocka_unit_test(soft_ones_come_seldom),
        cmocka_unit_test(nobody_waits),    cmocka_unit_test(late_ones_hear_of_early_ones),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, support_open, support_close);
}
