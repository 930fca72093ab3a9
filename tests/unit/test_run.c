/* test_run.c - the public interface from settings to predictions, on one rank: settings, training from memory,
 * models, metrics, numbers as text; and every request for memory failing in turn. */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/output.h"
#include "bda.h"
#include "run/metrics.h"
#include "run/model.h"
#include "run/text.h"
#include "unit/cmocka_all.h"

/* Four rows, three features. */
static const uint64_t start[] = {0, 2, 3, 5, 6};
static const uint32_t column[] = {0, 2, 1, 0, 1, 2};
static const double value[] = {1, 0.5, -1, 0.25, -2, -3}, label[] = {4, 2, 2, 4};

static bda_settings *settings_of(const char *command, const char *name, const char *text)
{
    bda_error err;
    bda_settings *s = bda_settings_new(command, &err);
    assert_non_null(s);
    if (name && !bda_set(s, name, text, &err))
        fail_msg("%s", err.text);
    return s;
}

static void options_have_defaults_and_take_values(void **state)
{
    (void)state;
    bda_error err;
    static const char *const commands[] = {"train", "predict", "convert", "generate", "export", "info"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        bda_settings *s = settings_of(commands[i], NULL, NULL);
        for (const bda_option *o = bda_options(commands[i]); o->name; o++) {
            assert_string_equal(bda_get(s, o->name), o->preset);
            assert_non_null(o->help);
            assert_true(o->type == BDA_TEXT || (o->type == BDA_CHOICE) == (o->choices != NULL));
            assert_true((o->type == BDA_FLAG) == (o->argument == NULL));
            if (o->preset[0])
                assert_true(bda_set(s, o->name, o->preset, &err));
        }
        bda_settings_free(s);
    }
    assert_null(bda_options("frobnicate"));
    assert_null(bda_settings_new("frobnicate", &err));
    assert_int_equal(err.status, BDA_USAGE);
    bda_settings *s = settings_of("train", "local_epochs", "7");
    assert_string_equal(bda_get(s, "local-epochs"), "7");
    assert_null(bda_get(s, "frobnicate"));
    assert_false(bda_set(s, "frobnicate", "1", &err));
    assert_int_equal(err.status, BDA_USAGE);
    assert_true(bda_set(s, "class-weight", "1:2", &err) && bda_set(s, "class-weight", "3:4", &err));
    assert_string_equal(bda_get(s, "class-weight"), "1:2\n3:4");
    bda_settings_free(s);
    bda_settings_free(NULL);
}

static void checks_need_no_data(void **state)
{
    (void)state;
    bda_error err;
    bda_settings *s = settings_of("train", "task", "regress");
    assert_true(bda_check(s, &err));
    assert_true(bda_set(s, "loss", "logistic", &err));
    assert_false(bda_check(s, &err));
    assert_int_equal(err.status, BDA_USAGE);
    assert_non_null(strstr(err.text, "squared-error"));
    bda_settings_free(s);
    assert_non_null(strstr(bda_method_list(), "cocoa+"));
    assert_string_equal(bda_version(), BDA_VERSION);
}

static void settings_of_another_command_are_refused(void **state)
{
    (void)state;
    bda_error err;
    bda_comm *c = bda_comm_single(&err);
    bda_settings *train = settings_of("train", NULL, NULL), *predict = settings_of("predict", NULL, NULL);
    bda_data *d = bda_data_rows(c, train, 4, start, column, value, label, &err);
    assert_non_null(d);
    bda_outcome outcome = {.size = sizeof outcome};
    assert_null(bda_train(c, d, predict, NULL, &outcome, &err));
    assert_int_equal(err.status, BDA_USAGE);
    bda_model *m = bda_train(c, d, train, NULL, &outcome, &err);
    assert_non_null(m);
    assert_false(bda_predict(c, m, d, train, NULL, NULL, &err));
    assert_int_equal(err.status, BDA_USAGE);
    assert_false(bda_generate(c, train, "x", &err));
    bda_model_free(m);
    bda_data_free(d);
    bda_settings_free(train);
    bda_settings_free(predict);
    bda_comm_free(c);
}

static const double three_labels[] = {4, 2, 2, -1};

/* Trains, writes, reads, predicts. False where some step failed, with its sentence. y: [4] */
static bool whole_life(const char *path, const double *y, bda_metrics **metrics, bda_error *err)
{
    bda_comm *c = bda_comm_single(err);
    bda_settings *train = c ? bda_settings_new("train", err) : NULL;
    bda_settings *predict = train ? bda_settings_new("predict", err) : NULL;
    bda_data *d = NULL;
    bda_model *m = NULL, *again = NULL;
    bda_outcome outcome = {.size = sizeof outcome};
    bool ok = predict && bda_set(train, "gap", "1e-6", err) && bda_set(train, "log", "/dev/null", err) &&
              bda_set(train, "class-weight", "balanced", err) && bda_set(predict, "scores", "1", err) &&
              (d = bda_data_rows(c, train, 4, start, column, value, y, err)) &&
              (m = bda_train(c, d, train, NULL, &outcome, err)) && bda_model_write(m, path, err) &&
              (again = bda_model_read(path, err)) && bda_predict(c, again, d, predict, "/dev/null", metrics, err);
    if (ok) {
        bda_model_summary one = {.size = sizeof one}, two = {.size = sizeof two};
        bda_model_summarise(m, &one);
        bda_model_summarise(again, &two);
        assert_int_equal(outcome.reason, BDA_REACHED_GAP);
        assert_true(one.features == 3 && two.features == 3);
        assert_true(one.classes == two.classes && one.outputs == two.outputs);
        assert_memory_equal(one.weights, two.weights, 3 * one.outputs * sizeof(double));
        assert_memory_equal(one.labels, two.labels, one.classes * sizeof(double));
        assert_true(one.primal == two.primal && two.primal == outcome.last.best_primal);
        assert_true(two.instances == 4);
        assert_string_equal(two.loss, "squared-hinge");
    }
    bda_model_free(again);
    bda_model_free(m);
    bda_data_free(d);
    bda_settings_free(predict);
    bda_settings_free(train);
    bda_comm_free(c);
    return ok;
}

static void model_survives_its_file(void **state)
{
    const char *path = *state;
    bda_error err;
    bda_metrics *metrics = NULL;
    if (!whole_life(path, label, &metrics, &err))
        fail_msg("%s", err.text);
    assert_true(bda_metric(metrics, "instances") == 4);
    assert_true(bda_metric(metrics, "accuracy") == 1 && bda_metric(metrics, "auc") == 1 &&
                bda_metric(metrics, "f1") == 1 && isnan(bda_metric(metrics, "log_loss")));
    bda_metrics_free(metrics);
    bda_model *m = bda_model_read(path, &err);
    bda_model_summary two = {.size = sizeof two}, three = {.size = sizeof three};
    bda_model_summarise(m, &two);
    assert_true(two.classes == 2 && two.outputs == 1 && two.labels[0] == 4 && two.labels[1] == 2);
    bda_model_free(m);
    if (!whole_life(path, three_labels, &metrics, &err))
        fail_msg("%s", err.text);
    assert_true(bda_metric(metrics, "accuracy") == 1 && bda_metric(metrics, "macro_f1") == 1 &&
                isnan(bda_metric(metrics, "auc")) && isnan(bda_metric(metrics, "f1")));
    bda_metrics_free(metrics);
    m = bda_model_read(path, &err);
    bda_model_summarise(m, &three);
    assert_true(three.classes == 3 && three.outputs == 3 && three.labels[0] == -1 && three.labels[2] == 4);
    bda_model_free(m);
    assert_true(bda_is_model(path));
    assert_false(bda_is_model("/dev/null"));
}

/* Where the k-th request fails, the whole fails with a sentence, and nothing leaks (the address sanitizer looks). */
static void every_request_for_memory_may_fail(void **state)
{
    const char *path = *state;
    for (int many = 0; many < 2; many++) {
        uint64_t k = 1;
        for (;; k++) {
            bda_error err = {0};
            bda_metrics *metrics = NULL;
            mem_fail_at(k);
            bool ok = whole_life(path, many ? three_labels : label, &metrics, &err);
            mem_fail_at(0);
            bda_metrics_free(metrics);
            if (ok)
                break;
            assert_int_equal(err.status, BDA_FAILED);
            assert_non_null(strstr(err.text, "memory"));
            assert_true(k < 1000);
        }
        assert_true(k > 5);
    }
}

static void observe(void *self, const bda_progress *progress)
{
    uint64_t *rounds = self;
    assert_true(progress->round == *rounds && progress->relative_gap >= 0);
    ++*rounds;
}

static void observers_see_every_round_and_can_stop(void **state)
{
    (void)state;
    bda_error err;
    bda_comm *c = bda_comm_single(&err);
    bda_settings *s = settings_of("train", "gap", "1e-9");
    bda_data *d = bda_data_rows(c, s, 4, start, column, value, label, &err);
    uint64_t rounds = 0;
    volatile sig_atomic_t stop = 0;
    bda_observer observer = {.size = sizeof observer, .round = observe, .self = &rounds, .interrupt = &stop};
    bda_outcome outcome = {.size = sizeof outcome};
    bda_model *m = bda_train(c, d, s, &observer, &outcome, &err);
    assert_non_null(m);
    assert_int_equal(rounds, outcome.last.round + 1);
    bda_model_free(m);
    stop = 15;
    rounds = 0;
    m = bda_train(c, d, s, &observer, &outcome, &err);
    assert_non_null(m);
    assert_int_equal(outcome.reason, BDA_INTERRUPTED);
    assert_int_equal(outcome.interrupt, 15);
    assert_int_equal(rounds, 1);
    bda_model_free(m);
    bda_data_free(d);
    bda_settings_free(s);
    bda_comm_free(c);
}

static void labels_are_counted(void **state)
{
    (void)state;
    bda_error err;
    bda_comm *c = bda_comm_single(&err);
    bda_settings *s = settings_of("info", NULL, NULL);
    bda_data *d = bda_data_rows(c, s, 4, start, column, NULL, label, &err);
    double found[5];
    uint64_t count[5];
    assert_int_equal(bda_data_labels(c, d, 5, found, count), 2);
    assert_true(found[0] == 2 && found[1] == 4 && count[0] == 2 && count[1] == 2);
    assert_int_equal(bda_data_labels(c, d, 1, found, count), 1);
    bda_data_summary summary = {.size = sizeof summary};
    bda_data_summarise(d, &summary);
    assert_string_equal(summary.values, "ones");
    assert_true(summary.instances == 4 && summary.features == 3 && summary.nonzeros == 6 && summary.labels == 2);
    bda_data_free(d);
    bda_settings_free(s);
    bda_comm_free(c);
}

/* The forecast falls with more ranks, and grows with blocks by a vector each, by three where they share their model.
 */
static void forecast_follows_the_settings(void **state)
{
    (void)state;
    bda_error err;
    bda_data_summary big = {
        .size = sizeof big, .instances = 1000000, .features = 2000000, .nonzeros = 50000000, .values = "ones"};
    bda_settings *s = settings_of("train", "intercept", "none");
    uint64_t one = bda_forecast(&big, s, 1), two = bda_forecast(&big, s, 2);
    assert_true(one > 4 * big.nonzeros + 3 * 8 * big.features);
    assert_true(two < one && two > one / 2);
    assert_true(bda_set(s, "threads", "5", &err));
    assert_int_equal(bda_forecast(&big, s, 1) - one, (4 * 3 + 3) * 8 * big.features);
    assert_true(bda_set(s, "threads-mode", "blocks", &err));
    assert_int_equal(bda_forecast(&big, s, 1) - one, 4 * 8 * big.features);
    bda_settings_free(s);
    s = settings_of("train", "blocks", "5");
    assert_true(bda_set(s, "intercept", "none", &err));
    assert_int_equal(bda_forecast(&big, s, 1) - one, 4 * 8 * big.features);
    big.values = "float";
    assert_int_equal(bda_forecast(&big, s, 1) - one, 4 * 8 * big.features + 4 * big.nonzeros);
    assert_true(bda_set(s, "l1-ratio", "0.5", &err)); /* w and the Hessian of g* */
    assert_int_equal(bda_forecast(&big, s, 1) - one, 6 * 8 * big.features + 4 * big.nonzeros);
    assert_true(bda_set(s, "feature-penalty", "x", &err));
    assert_int_equal(bda_forecast(&big, s, 1) - one, 7 * 8 * big.features + 4 * big.nonzeros);
    big.labels = 10;
    assert_true(bda_forecast(&big, s, 1) - one > 10 * 9 * 8 * big.features);
    bda_settings_free(s);
}

/* Settings that bda_set accepts one by one need not fit together: then there is nothing to forecast. */
static void forecast_of_settings_that_do_not_fit(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"loss", "no-such-loss"}, {"loss", "squared-error"}, {"method", "no-such-method"}, {"a1", "x"}};
    const bda_data_summary data = {
        .size = sizeof data, .instances = 10, .features = 10, .nonzeros = 10, .values = "ones", .labels = 2};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        bda_settings *s = settings_of("train", wrong[i][0], wrong[i][1]);
        assert_int_equal(bda_forecast(&data, s, 1), 0);
        bda_settings_free(s);
    }
    bda_settings *s = settings_of("train", NULL, NULL), *other = settings_of("info", NULL, NULL);
    assert_true(bda_forecast(&data, s, 1) > 0);
    assert_int_equal(bda_forecast(&data, s, 0), 0);
    assert_int_equal(bda_forecast(&data, other, 1), 0);
    bda_settings_free(s);
    bda_settings_free(other);
}

static void numbers_read_back(void **state)
{
    (void)state;
    static const struct {
        double x;
        const char *text;
    } cases[] = {{1, "1"},
                 {-1, "-1"},
                 {0.1, "0.1"},
                 {1e-300, "1e-300"},
                 {5e-324, "4.94065645841247e-324"},
                 {1.0 / 3, "0.3333333333333333"},
                 {1e22, "1e+22"},
                 {123456789, "123456789"}};
    char text[TEXT_REAL];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(text_real(text, cases[i].x), (int)strlen(cases[i].text));
        assert_string_equal(text, cases[i].text);
    }
    uint64_t bits = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
        double x;
        memcpy(&x, &bits, sizeof x);
        if (!isfinite(x))
            continue;
        int length = text_real(text, x);
        assert_int_equal(length, (int)strlen(text));
        assert_true(strtod(text, NULL) == x);
    }
    /* A host program may have another decimal point; where no such locale is installed there is nothing to see. */
    if (setlocale(LC_NUMERIC, "de_DE.UTF-8")) {
        assert_int_equal(text_real(text, 0.25), 4);
        assert_string_equal(text, "0.25");
        setlocale(LC_NUMERIC, "C");
    }
}

/* pairs of a score and a label */
static void measure(const bda_model *m, const double (*pair)[2], uint64_t count, bda_metrics *x)
{
    const decision_kind *kind = decision_of(m);
    scored all[8];
    assert_true(count <= 8);
    for (uint64_t i = 0; i < count; i++)
        all[i] = (scored){.score = pair[i][0],
                          .label = pair[i][1],
                          .truth = label_of_number(&m->labels, pair[i][1]),
                          .guess = (uint32_t)bda_class_of(m, pair[i])};
    x->count = 0;
    kind->measure(m, NULL, all, count, count, x);
}

static void metrics_of_ties_and_lone_labels(void **state)
{
    (void)state;
    bda_metrics x;
    double labels[] = {1, -1};
    bda_model m = {.classes = 2, .labels = {2, NULL, labels}, .outputs = 1};
    model_set_task(&m, "classify", loss_find("logistic"));
    measure(&m, (const double[][2]){{0.5, 1}, {0.5, -1}, {-1, -1}, {2, 1}, {0.5, 7}}, 5, &x);
    assert_true(bda_metric(&x, "auc") == 3.5 / 4 && bda_metric(&x, "unknown_labels") == 1);
    assert_true(bda_metric(&x, "accuracy") == 3.0 / 5 && bda_metric(&x, "f1") == 4.0 / 6);
    measure(&m, (const double[][2]){{1e4, 1}, {-1e4, -1}, {-1e4, 1}}, 3, &x);
    assert_true(fabs(bda_metric(&x, "log_loss") - 1e4 / 3) < 1e-9);
    measure(&m, (const double[][2]){{1, 1}, {-1, 1}}, 2, &x);
    assert_true(isnan(bda_metric(&x, "auc")) && bda_metric(&x, "accuracy") == 0.5);
    m = (bda_model){.outputs = 1};
    model_set_task(&m, "regress", loss_find("squared-error"));
    measure(&m, (const double[][2]){{1, 3}, {5, 3}}, 2, &x);
    assert_true(bda_metric(&x, "mse") == 4 && bda_metric(&x, "mae") == 2);
    assert_true(isnan(bda_metric(&x, "r2")) && isnan(bda_metric(&x, "accuracy")));
}

static void metrics_of_many_classes(void **state)
{
    (void)state;
    bda_error err = {0};
    double labels[] = {-3, 0, 7, 9};
    bda_model m = {.classes = 4, .labels = {4, NULL, labels}, .outputs = 4};
    model_set_task(&m, "classify", loss_find("logistic"));
    static const double scores[][4] = {{1, 0, 0, 0}, {2, 2, -1, 2}, {0, 1e4, 0, 0}, {0, 1, 5, 0}, {0, 3, 0, 0}};
    static const double truth[] = {-3, 0, 7, 7, 8}; /* guesses: -3, -3 (a tie), 0, 7, 0; nobody knows 8 */
    const decision_kind *kind = decision_of(&m);
    scored all[5];
    uint64_t counts[3 * 4 + 16] = {0};
    assert_true(kind->gathers(&m) && kind->counts(&m) == 28);
    for (int i = 0; i < 5; i++) {
        const uint32_t class = label_of_number(&m.labels, truth[i]);
        all[i] = (scored){.score = kind->term(&m, scores[i], class),
                          .truth = class,
                          .guess = (uint32_t)bda_class_of(&m, scores[i])};
        kind->count(&m, &all[i], counts);
    }
    assert_true(all[1].guess == 0 && all[2].guess == 1 && all[2].score == 1e4 && isnan(all[4].score));
    bda_metrics x = {0};
    kind->measure(&m, counts, all, 5, 5, &x);
    assert_true(bda_metric(&x, "unknown_labels") == 1 && bda_metric(&x, "accuracy") == 2.0 / 5);
    assert_true(isnan(bda_metric(&x, "auc")) && isnan(bda_metric(&x, "f1")));
    /* 9 does not occur */
    assert_true(fabs(bda_metric(&x, "macro_f1") - (2.0 / 3 + 0 + 2.0 / 3) / 3) < 1e-15);
    static const uint64_t confusion[] = {1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0};
    assert_memory_equal(metrics_class_counts(&m, counts).confusion, confusion, sizeof confusion);
    double p[4], loss = 0;
    for (int i = 0; i < 2; i++) {
        bda_probabilities(&m, scores[i], p, &err);
        assert_true(fabs(p[0] + p[1] + p[2] + p[3] - 1) < 1e-15);
        loss -= log(p[i]);
    }
    bda_probabilities(&m, scores[3], p, &err);
    loss += 1e4 - log(p[2]);
    assert_true(fabs(bda_metric(&x, "log_loss") - loss / 4) < 1e-12 * loss);
}

int main(void)
{
    char path[] = "/tmp/bda-test-run-XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0)
        return 1;
    close(fd);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_have_defaults_and_take_values),
        cmocka_unit_test(checks_need_no_data),
        cmocka_unit_test(settings_of_another_command_are_refused),
        cmocka_unit_test_prestate(model_survives_its_file, path),
        cmocka_unit_test_prestate(every_request_for_memory_may_fail, path),
        cmocka_unit_test(observers_see_every_round_and_can_stop),
        cmocka_unit_test(labels_are_counted),
        cmocka_unit_test(forecast_follows_the_settings),
        cmocka_unit_test(forecast_of_settings_that_do_not_fit),
        cmocka_unit_test(numbers_read_back),
        cmocka_unit_test(metrics_of_ties_and_lone_labels),
        cmocka_unit_test(metrics_of_many_classes),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
