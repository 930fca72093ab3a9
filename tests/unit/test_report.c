/* test_report.c - run logs as they are read, and numbers of the report against ones made by hand. */
#include "report/scaling.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/style.h"
#include "unit/cmocka_all.h"

static char path[] = "/tmp/bda-report-XXXXXX";

static int make_file(void **state)
{
    (void)state;
    close(mkstemp(path));
    return 0;
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static void write_log(const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

#define START(method, more)                                                                                          \
    "{\"event\":\"start\",\"task\":\"classify\",\"loss\":\"hinge\",\"method\":\"" method                             \
    "\",\"data\":\"d.svm\",\"weights\":1000,\"load_seconds\":2," more "}\n"
#define ROUND(t, seconds, primal, dual, vectors)                                                                     \
    "{\"event\":\"round\",\"round\":" #t ",\"seconds\":" #seconds ",\"primal\":" #primal ",\"best_primal\":" #primal \
    ",\"dual\":" #dual ",\"vectors_sent\":" #vectors ",\"bytes_sent\":" #vectors "e4,\"local_seconds\":0.5,"         \
    "\"line_search_steps\":3,"                                                                                       \
    "\"comm_seconds\":0.25,\"line_search_seconds\":0.125,\"eval_seconds\":0.0625}\n"
#define END "{\"event\":\"end\",\"reason\":\"gap\",\"peak_rss_bytes\":4096}\n"

static run_list read_runs(const char *const *logs, size_t count)
{
    run_list list = {0};
    bda_error err = {0};
    for (size_t i = 0; i < count; i++) {
        write_log(logs[i]);
        if (!run_list_read(&list, path, false, &err))
            fail_msg("%s", err.text);
    }
    return list;
}

static void a_log_is_read(void **state)
{
    (void)state;
    static const char *const log[] = {
        START("bda", "\"ranks\":1,\"blocks\":4,\"cost\":0.10000000000000001,\"future\":[1,2]")
            ROUND(0, 0, 10, -0, 0) "{\"event\":\"something new\",\"x\":{}}\n" ROUND(
                1, 1.5, 8, -4,
                1) "{\"event\":\"validate\",\"round\":1,\"seconds\":1.5,\"accuracy\":0.75,\"auc\":null}\n" END};
    run_list list = read_runs(log, 1);
    assert_int_equal(list.count, 1);
    const run *r = &list.run[0];
    assert_int_equal(r->round_count, 2);
    assert_string_equal(run_text(r, "cost"), "0.1");
    assert_true(run_number(r, "blocks") == 4);
    assert_true(isnan(run_number(r, "method")));
    assert_string_equal(run_text(r, "nothing"), "");
    assert_true(run_at(r, 1, RUN_SECONDS) == 1.5);
    assert_true(run_at(r, 1, RUN_DUAL) == -4);
    assert_true(isnan(run_at(r, 1, RUN_STEP)));
    assert_int_equal(r->score_count, 1);
    assert_true(r->scores[0].measure[0] == 0.75);
    assert_true(r->ended);
    assert_string_equal(r->reason, "gap");
    assert_true(r->peak_bytes == 4096);
    run_list_free(&list);
}

static void broken_logs_are_refused(void **state)
{
    (void)state;
    static const char start[] = START("bda", "\"ranks\":1,\"blocks\":4");
    static const struct {
        const char *before, *text, *says;
    } bad[] = {
        {"", "", "it is empty"},
        {"", "1 1:2 3:4\n", "does not begin with '{'"},
        {"", "{\"a\":1}\n", "does not begin with \"event\""},
        {"", "{}\n", "\"event\" was expected"},
        {"", "{\"event\":\"round\",\"round\":1}\n", "is not its start"},
        {"", "{\"event\":\"start\",\"task\":\"classify\"}\n", "without \"loss\""},
        {start, "{\"event\":\"round\",\"round\":1,\"sec\n", "line 2 is no JSON object"},
        {start, "{\"event\":\"round\",\"round\":1,\"seconds\":2}", "line 2 has no end: the log was cut off"},
        {start, "{\"event\":\"round\",\"primal\":1}\n", "line 2 is a round without"},
        {start, ROUND(3, 1, 1, 1, 1) ROUND(3, 1, 1, 1, 1), "line 3 goes back to an earlier round"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        run_list list = {0};
        bda_error err = {0};
        char text[4000];
        snprintf(text, sizeof text, "%s%s", bad[i].before, bad[i].text);
        write_log(text);
        assert_false(run_list_read(&list, path, false, &err));
        if (!strstr(err.text, bad[i].says) || !strstr(err.text, path))
            fail_msg("'%s' does not say '%s'", err.text, bad[i].says);
        assert_int_equal(list.count, 0);
        run_list_free(&list);
    }
    run_list list = {0};
    bda_error err = {0};
    assert_false(run_list_read(&list, "/nowhere/at.all", false, &err));
    assert_non_null(strstr(err.text, "/nowhere/at.all"));
    err = (bda_error){0};
    assert_false(run_list_read(&list, "/", false, &err));
}

static void a_growing_log_may_end_anywhere(void **state)
{
    (void)state;
    run_list list = {0};
    bda_error err = {0};
    write_log(START("bda", "\"ranks\":1,\"blocks\":4") ROUND(0, 0, 10, -1, 0) "{\"event\":\"rou");
    assert_true(run_list_read(&list, path, true, &err));
    assert_int_equal(list.run[0].round_count, 1);
    assert_false(list.run[0].ended);
    run_list_free(&list);
    write_log("");
    assert_true(run_list_read(&list, path, true, &err));
    assert_int_equal(list.count, 0);
    run_list_free(&list);
}

/* 10 is certified by both ends: f* = 10, known exactly. */
static const char *const pair[] = {
    START("hull", "\"ranks\":1,\"threads\":1,\"blocks\":4") ROUND(0, 0, 20, 0, 0) ROUND(1, 1, 10.5, -9, 2)
        ROUND(2, 2, 10, -10, 4) END,
    START("bda", "\"ranks\":1,\"threads\":1,\"blocks\":4") ROUND(0, 0, 20, 0, 0) ROUND(1, 4, 11, -8, 1)
        ROUND(2, 8, 10.001, -9.95, 2),
};

static void distances_are_those_of_the_optimum(void **state)
{
    (void)state;
    run_list list = read_runs(pair, 2);
    comparison c;
    bda_error err = {0};
    assert_true(comparison_open(&c, &list, NAN, &err));
    assert_int_equal(c.problems, 1);
    const compared_problem *p = &c.problem[0];
    assert_true(p->optimum == 10 && p->floor == 0 && p->lower == 10 && p->upper == 10);
    assert_string_equal(p->title, "d, hinge");
    assert_string_equal(c.run[0].label, "hull");
    assert_true(compare_primal(p, c.run[1].run, 1) == 0.1);
    assert_true(compare_dual(p, c.run[1].run, 1) == 0.2);
    assert_true(compare_gap(c.run[1].run, 1) == 3.0 / 11);
    /* bda: primal 1, 0.1, 1e-4; dual 1, 0.2, 0.005 */
    const reached *primal = c.run[1].reached[MEASURE_PRIMAL], *dual = c.run[1].reached[MEASURE_DUAL];
    assert_true(primal[0].rounds == 1 && primal[0].seconds == 4 && primal[0].vectors == 1 &&
                primal[0].bytes == 10000);
    assert_true(primal[1].rounds == 2 && primal[2].rounds == 2 && isnan(primal[4].rounds));
    assert_true(dual[0].rounds == 2 && dual[1].seconds == 8 && isnan(dual[2].seconds));
    assert_true(c.run[0].reached[MEASURE_PRIMAL][5].rounds == 2);
    /* three rounds of 0.5, 0.25, 0.125, 0.0625; 8 - 2.8125 is the rest */
    assert_true(c.run[1].share[0] == 1.5 && c.run[1].share[1] == 0.75 && c.run[1].share[4] == 8 - 2.8125);
    comparison_close(&c);
    assert_true(comparison_open(&c, &list, 8, &err));
    assert_true(compare_primal(&c.problem[0], c.run[1].run, 1) == 3.0 / 8);
    comparison_close(&c);
    run_list_free(&list);
}

static void what_is_not_certain_is_not_told(void **state)
{
    (void)state;
    static const char *const log[] = {START("bda", "\"ranks\":1,\"blocks\":4") ROUND(0, 0, 20, 0, 0)
                                          ROUND(1, 1, 10.1, -9.9, 1)};
    run_list list = read_runs(log, 1);
    comparison c;
    bda_error err = {0};
    assert_true(comparison_open(&c, &list, NAN, &err));
    assert_float_equal(c.problem[0].optimum, 10, 1e-12);
    assert_float_equal(c.problem[0].floor, 0.01, 1e-12);
    assert_true(c.run[0].reached[MEASURE_PRIMAL][0].rounds == 1); /* 0.1, known to 0.01 */
    assert_true(isnan(c.run[0].reached[MEASURE_PRIMAL][1].rounds));
    comparison_close(&c);
    run_list_free(&list);
}

static void runs_of_other_problems_stand_apart(void **state)
{
    (void)state;
    static const char *const logs[] = {
        START("bda", "\"ranks\":1,\"blocks\":16,\"cost\":1") ROUND(0, 0, 20, 0, 0),
        START("bda", "\"ranks\":1,\"blocks\":16,\"cost\":10") ROUND(0, 0, 20, 0, 0),
        START("bda", "\"ranks\":1,\"blocks\":2,\"cost\":1") ROUND(0, 0, 20, 0, 0),
        START("hull", "\"ranks\":1,\"blocks\":2,\"cost\":1") ROUND(0, 0, 20, 0, 0),
        START("bda", "\"ranks\":1,\"blocks\":2,\"cost\":1") ROUND(0, 0, 20, 0, 0),
    };
    run_list list = read_runs(logs, 5);
    comparison c;
    bda_error err = {0};
    assert_true(comparison_open(&c, &list, NAN, &err));
    assert_int_equal(c.problems, 2);
    assert_int_equal(c.problem[0].runs, 4);
    assert_string_equal(c.problem[1].title, "d, hinge, cost 10");
    static const char *const labels[] = {"bda, blocks 2", "bda, blocks 2 (2)", "bda, blocks 16", "hull", "bda"};
    for (int i = 0; i < 5; i++)
        assert_string_equal(c.run[i].label, labels[i]);
    comparison_close(&c);
    assert_false(comparison_open(&c, &list, 3, &err));
    assert_int_equal(err.status, BDA_USAGE);
    run_list_free(&list);
}

#define START_OF(data, instances)                                                                                    \
    "{\"event\":\"start\",\"task\":\"classify\",\"loss\":\"hinge\",\"method\":\"bda\",\"ranks\":1,\"blocks\":1,"     \
    "\"data\":\"" data "\",\"instances\":" #instances "}\n" ROUND(0, 0, 20, 0, 0)

/* Sizes are told only where the data have the same name. */
static void titles_are_short(void **state)
{
    (void)state;
    static const char *const logs[] = {START_OF("a.svm", 10), START_OF("b.svm", 20), START_OF("b.svm", 30)};
    static const char *const titles[] = {"a, hinge", "b, hinge, instances 20", "b, hinge, instances 30"};
    run_list list = read_runs(logs, 3);
    comparison c;
    bda_error err = {0};
    assert_true(comparison_open(&c, &list, NAN, &err));
    assert_int_equal(c.problems, 3);
    for (int i = 0; i < 3; i++)
        assert_string_equal(c.problem[i].title, titles[i]);
    comparison_close(&c);
    run_list_free(&list);
}

static void speedups_are_ratios_of_times(void **state)
{
    (void)state;
    static const char *const logs[] = {
        START("bda", "\"ranks\":1,\"threads\":1,\"blocks\":8") ROUND(0, 0, 20, 0, 0) ROUND(1, 6, 10, -10, 1),
        START("bda", "\"ranks\":4,\"threads\":1,\"blocks\":8") ROUND(0, 0, 20, 0, 0) ROUND(1, 2, 10, -10, 1),
        START("bda", "\"ranks\":2,\"threads\":1,\"blocks\":8") ROUND(0, 0, 20, 0, 0) ROUND(1, 3, 10, -10, 1),
        START("bda", "\"ranks\":1,\"threads\":1,\"blocks\":16") ROUND(0, 0, 20, 0, 0) ROUND(1, 6, 10, -10, 1),
    };
    run_list list = read_runs(logs, 4);
    comparison c;
    series_list found;
    bda_error err = {0};
    assert_true(comparison_open(&c, &list, NAN, &err));
    assert_true(series_find(&found, &c, &err));
    assert_int_equal(found.count, 2);
    const series *s = &found.series[0];
    assert_int_equal(s->by, SERIES_WORKERS);
    assert_string_equal(s->label, "bda, 8 blocks");
    assert_int_equal(s->points, 3);
    assert_true(s->x[0] == 1 && s->x[1] == 2 && s->x[2] == 4);
    assert_true(series_speedup(s, &c, MEASURE_DUAL, false, 1, 0) == 1);
    assert_true(series_speedup(s, &c, MEASURE_DUAL, false, 1, 1) == 2);
    assert_true(series_speedup(s, &c, MEASURE_PRIMAL, false, 1, 2) == 3);
    assert_true(series_speedup(s, &c, MEASURE_PRIMAL, true, 1, 2) == 2); /* (6 + 2) / (2 + 2) */
    assert_int_equal(found.series[1].by, SERIES_BLOCKS);
    assert_true(found.series[1].x[0] == 8 && found.series[1].x[1] == 16);
    series_free(&found);
    comparison_close(&c);
    run_list_free(&list);
}

static void networks_are_parsed(void **state)
{
    (void)state;
    network net;
    bda_error err = {0};
    assert_true(network_parse(&net, "10Gbit,50us", &err));
    assert_float_equal(net.bandwidth, 1.25e9, 1);
    assert_float_equal(net.latency, 50e-6, 1e-12);
    assert_true(network_parse(&net, "100Mbit,0.5ms", &err));
    assert_float_equal(net.bandwidth, 12.5e6, 1e-3);
    assert_float_equal(net.latency, 5e-4, 1e-12);
    static const char *const bad[] = {"",           "10",       "10Gbit",      "10Gbit,",   "10Gbit;1us", "0Gbit,1us",
                                      "-1Gbit,1us", "10GB,1us", "10Gbit,1us,", "10Gbit,1h", "nanGbit,1us"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        err = (bda_error){0};
        assert_false(network_parse(&net, bad[i], &err));
        assert_int_equal(err.status, BDA_USAGE);
    }
}

/* bda of `pair` to round 1 (4 seconds): twice 0.25 of messages and 0.125 of search are not work. Round 0 has no time of
 * its own, so its work is not below 0. 1 vector of 8000 bytes, 2000 bytes of scalars. */
static void projections_follow_the_model(void **state)
{
    (void)state;
    run_list list = read_runs(pair, 2);
    comparison c;
    bda_error err = {0};
    const network net = {.bandwidth = 1e6, .latency = 0.01};
    assert_true(comparison_open(&c, &list, NAN, &err));
    const compared *bda = &c.run[1];
    const double work = 4 - 0.25;
    assert_float_equal(network_project(&net, bda, 1, 1), work, 1e-12);
    /* 4 machines: 4 steps of latency, 2 * 3/4 of the bytes; 2 short messages in 1 round, and 3 for trials in each of 2 */
    const double vector = 4 * 0.01 + 1.5 * 8000 / 1e6, scalars = (2 + 2 * 3) * 4 * 0.01 + 1.5 * 2000 / 1e6;
    assert_float_equal(network_project(&net, bda, 1, 4), work / 4 + vector + scalars, 1e-12);
    assert_float_equal(network_project_to(&net, bda, MEASURE_PRIMAL, 0, 4), work / 4 + vector + scalars, 1e-12);
    assert_true(isnan(network_project(&net, bda, 1, 5)));
    assert_true(isnan(network_project_to(&net, bda, MEASURE_PRIMAL, 5, 4)));
    comparison_close(&c);
    run_list_free(&list);
}

static void thinning_keeps_both_ends(void **state)
{
    (void)state;
    uint64_t t[100];
    assert_int_equal(style_thin(0, 100, t), 0);
    assert_int_equal(style_thin(100, 100, t), 100);
    for (uint64_t rounds = 101; rounds < 100000; rounds = rounds * 3 + 1)
        for (uint64_t room = 2; room <= 100; room += 7) {
            const uint64_t count = style_thin(rounds, room, t);
            assert_true(count >= 2 && count <= room);
            assert_int_equal(t[0], 0);
            assert_int_equal(t[count - 1], rounds - 1);
            for (uint64_t i = 1; i < count; i++)
                assert_true(t[i] > t[i - 1]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_is_read),
        cmocka_unit_test(broken_logs_are_refused),
        cmocka_unit_test(a_growing_log_may_end_anywhere),
        cmocka_unit_test(distances_are_those_of_the_optimum),
        cmocka_unit_test(what_is_not_certain_is_not_told),
        cmocka_unit_test(runs_of_other_problems_stand_apart),
        cmocka_unit_test(speedups_are_ratios_of_times),
        cmocka_unit_test(networks_are_parsed),
        cmocka_unit_test(titles_are_short),
        cmocka_unit_test(projections_follow_the_model),
        cmocka_unit_test(thinning_keeps_both_ends),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
