/* test_feed.c - what one block tells, the others add to their u once, and only that; and where there is no feed. */
#include "unit/fold_support.h"

enum { TELLERS = 2 };

typedef struct feeding {
    feed feed;
    feed_seat *seat;
    arena memory;
    double u[TELLERS][FOLDED + 1], wanted[TELLERS][FOLDED + 1];
} feeding;

static feeding f;

static void open_feeding(rows_form form, double bias, bool one_machine)
{
    bda_error err = {0};
    memset(&f, 0, sizeof f);
    open_with("hinge", form, 2, bias, TELLERS);
    assert_true(feed_open(&f.feed, &f.seat, &b.p, one_machine, &f.memory, &err));
    assert_non_null(f.seat);
    assert_int_equal(f.feed.members, TELLERS);
}

static void close_feeding(void)
{
    feed_close(&f.feed);
    arena_free(&f.memory);
    close_bench();
}

/* Before that visit of a pass over 99 rows. */
static void look_at_visit(int seat, uint64_t visit)
{
#define CALL(form) feed_look(&f.seat[seat], visit, 99, form, f.u[seat])
    ROWS_DISPATCH(b.p.rows.form, CALL);
#undef CALL
}

static void look(int seat)
{
    look_at_visit(seat, 0);
}

/* What the other seat should add, if it is `heard`, in the same order and so with the same bits: the stored cells and
 * the constant feature, not the row's own cell. */
static void tell(int seat, uint64_t row, double change, bool heard)
{
    const rows *r = &b.p.rows;
    double *wanted = f.wanted[!seat];
    feed_tell(&f.seat[seat], row, change);
    for (uint64_t k = r->start[row]; heard && k < r->start[row + 1]; k++)
        wanted[support_column(r, k)] += change * support_value(r, row, k);
    if (heard)
        wanted[FOLDED] += change * b.p.rows.bias;
}

static bool has_heard_all(int seat)
{
    return memcmp(f.u[seat], f.wanted[seat], sizeof f.u[seat]) == 0;
}

static bool has_heard_nothing(int seat)
{
    static const double none[sizeof f.u[0] / sizeof(double)];
    return memcmp(f.u[seat], none, sizeof none) == 0;
}

static void begin_round(void)
{
    memset(f.u, 0, sizeof f.u);
    memset(f.wanted, 0, sizeof f.wanted);
    feed_begin(&f.seat[0]);
    feed_begin(&f.seat[1]);
}

static void check_round(uint64_t row)
{
    begin_round();
    for (int k = 0; k < 3; k++)
        look(k % 2);
    assert_true(has_heard_nothing(0) && has_heard_nothing(1)); /* of the last round */
    tell(0, row, 0.5, true);
    look(1);
    look(1);
    look(1);
    assert_true(has_heard_nothing(1)); /* the teller did not show it yet */
    look(0);
    look(1);
    assert_true(has_heard_nothing(1)); /* its row was called for */
    look(1);
    assert_true(!has_heard_nothing(1) && has_heard_all(1) && has_heard_nothing(0));
    for (int k = 0; k < 200; k++) { /* both, with looks in between, and no step twice */
        tell(k % 3 == 0, (uint64_t)uniform(0, ROWS), uniform(-1, 1), true);
        if (k % 5 == 0)
            look(k % 2);
    }
    for (int k = 0; k < 6; k++)
        look(k % 2);
    assert_true(has_heard_all(0) && has_heard_all(1));
    tell(0, 2, 1, false); /* shown, and of the next round no part */
    tell(1, 152, 1, false);
    look(0);
    look(1);
}

static void steps_are_heard(void **unused)
{
    (void)unused;
    for (int form = ROWS_ONES; form <= ROWS_DOUBLE; form++)
        for (int one_machine = 0; one_machine < 2; one_machine++) {
            open_feeding((rows_form)form, form % 2 ? 1.5 : -1, one_machine);
            assert_true((b.p.fold.all != NULL) == (one_machine == 1)); /* the rows are where all see them */
            for (uint64_t round = 0; round < 5; round++)
                check_round(1 + round);
            close_feeding();
        }
}

/* Half the capacity is heard, one step more is skipped, and the list goes round. */
static void who_is_late_skips(void **unused)
{
    (void)unused;
    open_feeding(ROWS_FLOAT, 1, false);
    const uint64_t half = f.feed.capacity / 2;
    assert_true(half >= ROWS && (half & (half - 1)) == 0);
    for (int late = 0; late < 2; late++) {
        begin_round();
        for (uint64_t k = 0; k < half + (uint64_t)late; k++)
            tell(0, k % 3, 0x1p-10, !late);
        look(0);
        look(1);
        look(1);
        assert_true(has_heard_nothing(1) == (late == 1));
        assert_true(has_heard_all(1));
        for (uint64_t k = 0; k < 5; k++) {
            for (uint64_t j = 0; j < half / 2 + 1; j++)
                tell(0, (j + k) % 5, 0x1p-10, true);
            look(0);
            look(1);
            look(1);
        }
        assert_true(has_heard_all(1));
    }
    close_feeding();
}

/* Steps that were called for, but not added before too many more came, are skipped with these. */
static void calls_are_skipped_too(void **unused)
{
    (void)unused;
    open_feeding(ROWS_ONES, 1, false);
    begin_round();
    tell(0, 1, 1, false);
    look(0);
    look(1);
    for (uint64_t k = 0; k < f.feed.capacity; k++)
        tell(0, 2, 1, false);
    look(0);
    look(1);
    look(1);
    assert_true(has_heard_nothing(1));
    tell(0, 4, 1, true);
    look(0);
    look(1);
    look(1);
    assert_true(!has_heard_nothing(1) && has_heard_all(1));
    close_feeding();
}

/* Who is more than FEED_AHEAD visits ahead waits, and after it was in vain not again before the next round. */
static void who_is_ahead_waits(void **unused)
{
    (void)unused;
    open_feeding(ROWS_ONES, -1, false);
    for (int round = 0; round < 3; round++) {
        begin_round();
        look_at_visit(0, 90);
        assert_true(f.seat[0].waits); /* not yet: the other has not begun */
        look_at_visit(1, 3);
        look_at_visit(0, FEED_AHEAD + 2);
        assert_true(f.seat[0].waits && f.seat[1].waits);
        if (round == 1) {
            feed_end(&f.seat[1]); /* nobody to wait for */
            look_at_visit(0, 90);
            f.seat[0].passes += 2;
            look_at_visit(0, 90);
            assert_true(f.seat[0].waits);
        } else {
            look_at_visit(0, FEED_AHEAD + 4);
            assert_true(!f.seat[0].waits && f.seat[1].waits);
            look_at_visit(1, 2 * FEED_AHEAD + 3);
            assert_true(f.seat[1].waits);
            look_at_visit(1, 2 * FEED_AHEAD + 5);
            assert_false(f.seat[1].waits);
        }
    }
    close_feeding();
}

static void check_opens(const char *loss, uint64_t features, uint64_t labels, double l1_ratio, uint64_t blocks,
                        bool opens)
{
    for (int one_machine = 0; one_machine < 2; one_machine++) {
        bda_error err = {0};
        arena memory = {0};
        feed any;
        feed_seat *seat = (feed_seat *)&any;
        problem_request request = request_for(loss, -1);
        request.l1_ratio = l1_ratio;
        draw_rows(ROWS_ONES, features, features * 3 / 4, features / 4);
        copy_data(labels, blocks);
        assert_true(problem_open(&b.p, alone, b.d, &request, &err));
        assert_true(feed_open(&any, &seat, &b.p, one_machine, &memory, &err));
        assert_true((seat != NULL) == opens);
        for (uint64_t k = 0; opens && k < blocks; k++)
            assert_true(seat[k].of == &any && seat[k].me == k);
        feed_close(&any);
        arena_free(&memory);
        close_bench();
    }
}

static void some_have_no_feed(void **unused)
{
    (void)unused;
    check_opens("hinge", FEATURES, 2, 0, 2, true);
    check_opens("logistic", FEATURES, 2, 0, FEED_MOST, true);
    check_opens("hinge", FEATURES, 3, 0, 3, false);
    check_opens("logistic", FEATURES, 3, 0, 2, false);
    check_opens("hinge", FEATURES, 2, 0.2, 2, false);
    check_opens("hinge", FEATURES, 2, 0, 1, false);
    check_opens("hinge", FEATURES, 2, 0, FEED_MOST + 1, false);
    check_opens("hinge", 100, 2, 0, 2, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_heard),       cmocka_unit_test(who_is_late_skips),
        cmocka_unit_test(calls_are_skipped_too), cmocka_unit_test(who_is_ahead_waits),
        cmocka_unit_test(some_have_no_feed),
    };
    return cmocka_run_group_tests(tests, support_open, support_close);
}
