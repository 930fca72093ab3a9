/* test_library.c - what programs use the library for: matrices of all types, scores in memory, models from and to
 * memory, structures of other versions. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/data.h"
#include "data/digest.h"
#include "run/model.h"
#include "unit/cmocka_all.h"

enum { ROWS = 5, COLUMNS = 4 };

static const double dense[ROWS][COLUMNS] = {
    {1, 0, 0.5, 0}, {0, 2, 0, 0}, {-1.25, 0, 0, 3}, {0, 0, 0, 0}, {0.5, 1, 1, 0}};
static const double label[ROWS] = {1, -1, -1, 1, 1};
static bda_comm *alone;
static bda_settings *settings;

static int open_all(void **state)
{
    (void)state;
    bda_error err;
    alone = bda_comm_single(&err);
    settings = bda_settings_new("train", &err);
    return !alone || !settings;
}

static int close_all(void **state)
{
    (void)state;
    bda_settings_free(settings);
    bda_comm_free(alone);
    return 0;
}

static bda_data *take(const bda_matrix *m)
{
    bda_error err;
    bda_data *d = bda_data_matrix(alone, settings, m, &err);
    if (!d)
        fail_msg("%s", err.text);
    return d;
}

static uint64_t digest_of(const bda_matrix *m)
{
    bda_data *d = take(m);
    const uint64_t digest = data_digest(alone, d, 1);
    assert_int_equal(d->features, m->columns);
    bda_data_free(d);
    return digest;
}

static void matrices_of_all_types_are_the_same_data(void **state)
{
    (void)state;
    float narrow[COLUMNS][ROWS]; /* by columns */
    uint32_t start32[ROWS + 1] = {0}, column32[ROWS * COLUMNS];
    uint64_t start64[ROWS + 1] = {0}, column64[ROWS * COLUMNS], cells = 0;
    float value32[ROWS * COLUMNS];
    double value64[ROWS * COLUMNS];
    for (uint32_t i = 0; i < ROWS; i++) {
        for (uint32_t j = 0; j < COLUMNS; j++) {
            narrow[j][i] = (float)dense[i][j];
            if (dense[i][j] == 0)
                continue;
            column64[cells] = column32[cells] = j;
            value32[cells] = (float)dense[i][j];
            value64[cells++] = dense[i][j];
        }
        start64[i + 1] = start32[i + 1] = (uint32_t)cells;
    }
    bda_matrix m = {.size = sizeof m, .rows = ROWS, .columns = COLUMNS, .label = label};
    m.value = dense, m.value_bytes = 8, m.row_stride = sizeof *dense, m.column_stride = sizeof **dense;
    const uint64_t expected = digest_of(&m);
    m.value = narrow, m.value_bytes = 4, m.row_stride = sizeof **narrow, m.column_stride = sizeof *narrow;
    assert_true(digest_of(&m) == expected);
    m.value = &dense[ROWS - 1], m.value_bytes = 8, m.row_stride = -(int64_t)sizeof *dense, m.column_stride = 8;
    assert_true(digest_of(&m) != expected); /* from the last row to the first */
    for (int form = 0; form < 8; form++) {
        m.start = form & 1 ? (void *)start32 : (void *)start64, m.start_bytes = form & 1 ? 4 : 8;
        m.column = form & 2 ? (void *)column32 : (void *)column64, m.column_bytes = form & 2 ? 4 : 8;
        m.value = form & 4 ? (void *)value32 : (void *)value64, m.value_bytes = form & 4 ? 4 : 8;
        assert_true(digest_of(&m) == expected);
    }
}

static void bad_matrices_are_refused(void **state)
{
    (void)state;
    static const uint64_t start[] = {0, 2, 3}, backwards[] = {0, 2, 1};
    static const uint32_t column[] = {0, 2, 1}, unsorted[] = {2, 0, 1}, twice[] = {1, 1, 0};
    static const double value[] = {1, NAN, 1}, good[] = {1, 2, 3};
    static const bda_matrix whole = {.size = sizeof whole,
                                     .rows = 2,
                                     .columns = 3,
                                     .start = start,
                                     .column = column,
                                     .value = good,
                                     .start_bytes = 8,
                                     .column_bytes = 4,
                                     .value_bytes = 8,
                                     .label = label};
    bda_matrix bad[8] = {whole, whole, whole, whole, whole, whole, whole, whole};
    bad[0].value = value;
    bad[1].column = unsorted;
    bad[2].column = twice;
    bad[3].columns = 2;
    bad[4].start = backwards;
    bad[5].column_bytes = 2;
    bad[6].column = NULL;
    bad[7].label = value;
    bda_data_free(take(&whole));
    for (int k = 0; k < 8; k++) {
        bda_error err;
        bda_data *d = bda_data_matrix(alone, settings, &bad[k], &err);
        if (d || err.status == BDA_OK || !err.text[0])
            fail_msg("matrix %d was accepted", k);
    }
}

/* The data of `weight` are those of the rows that it keeps, and nothing changes where it is refused. */
static void rows_of_weight_0_are_not_there(void **state)
{
    (void)state;
    bda_error err;
    const double weight[ROWS] = {2, 0, 1, 0.5, 0}, ones[ROWS] = {1, 1, 1, 1, 1};
    const double bad[][ROWS] = {{0}, {1, -1, 1, 1, 1}, {1, 1, NAN, 1, 1}, {1, 1, 1, INFINITY, 1}};
    const bda_matrix m = {.size = sizeof m,
                          .rows = ROWS,
                          .columns = COLUMNS,
                          .value = dense,
                          .value_bytes = 8,
                          .row_stride = sizeof *dense,
                          .column_stride = sizeof **dense,
                          .label = label};
    bda_data *d = take(&m);
    const uint64_t before = data_digest(alone, d, 1);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        assert_false(bda_data_weigh(alone, d, bad[k], &err));
        assert_int_equal(err.status, BDA_FAILED);
    }
    assert_true(bda_data_weigh(alone, d, ones, &err));
    assert_true(data_digest(alone, d, 1) == before);
    assert_true(bda_data_weigh(alone, d, weight, &err));
    assert_int_equal(d->instances, 3);
    assert_int_equal(d->features, COLUMNS);
    assert_int_equal(d->block_start[d->local_blocks], 3);
    for (int k = 0, i = 0; i < ROWS; i++) {
        if (weight[i] == 0)
            continue;
        assert_true(d->weight[k] == weight[i]);
        assert_true(d->target.real[k++] == label[i]);
    }
    assert_false(bda_data_weigh(alone, d, weight, &err)); /* once */
    bda_data_free(d);
}

static void rows_without_labels_are_for_prediction(void **state)
{
    (void)state;
    bda_error err;
    bda_matrix m = {.size = sizeof m,
                    .rows = ROWS,
                    .columns = COLUMNS,
                    .value = dense,
                    .value_bytes = 8,
                    .row_stride = sizeof *dense,
                    .column_stride = sizeof **dense};
    bda_data *d = take(&m);
    bda_data_summary s = {.size = sizeof s};
    bda_outcome outcome = {.size = sizeof outcome};
    double found[ROWS];
    bda_data_summarise(d, &s);
    bda_data_label(d, found);
    assert_true(s.unlabelled && s.own_rows == ROWS && isnan(found[0]));
    assert_null(bda_train(alone, d, settings, NULL, &outcome, &err));
    assert_non_null(strstr(err.text, "label"));
    bda_data_free(d);
}

static void read_lines(const char *path, char *text, size_t room)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    const size_t count = fread(text, 1, room - 1, file);
    text[count] = 0;
    fclose(file);
    unlink(path);
}

/* Labels that are names, some of which need quotes; and rows without any. */
static void names_are_predicted(void **state)
{
    (void)state;
    static const char *const names[ROWS] = {"a,\"b\"", "no", "no", "a,\"b\"", "a,\"b\""};
    static const struct {
        const char *format, *said;
    } cases[] = {
        {"text", "a,\"b\"\nno\nno\na,\"b\"\na,\"b\"\n"},
        {"csv", "label\n\"a,\"\"b\"\"\"\nno\nno\n\"a,\"\"b\"\"\"\n\"a,\"\"b\"\"\"\n"},
        {"json", "{\"label\":\"a,\\\"b\\\"\"}\n{\"label\":\"no\"}\n{\"label\":\"no\"}\n"
                 "{\"label\":\"a,\\\"b\\\"\"}\n{\"label\":\"a,\\\"b\\\"\"}\n"},
    };
    bda_matrix matrix = {.size = sizeof matrix,
                         .rows = ROWS,
                         .columns = COLUMNS,
                         .value = dense,
                         .value_bytes = 8,
                         .row_stride = sizeof *dense,
                         .column_stride = sizeof **dense,
                         .label_name = names};
    bda_error err;
    bda_data *d = take(&matrix);
    bda_outcome outcome = {.size = sizeof outcome};
    assert_true(bda_set(settings, "bias", "-1", &err) && bda_set(settings, "cost", "100", &err));
    /* "no" is the larger name, and so a row without cells, whose score is 0, is the other. */
    bda_model *m = bda_train(alone, d, settings, NULL, &outcome, &err);
    if (!m)
        fail_msg("%s", err.text);
    bda_settings *predict = bda_settings_new("predict", &err);
    bda_metrics *metrics;
    char path[] = "/tmp/bda-test-library-XXXXXX", text[500];
    const int fd = mkstemp(path);
    assert_true(fd >= 0 && predict);
    close(fd);
    for (int k = 0; k < 3; k++) {
        assert_true(bda_set(predict, "format", cases[k].format, &err));
        if (!bda_predict(alone, m, d, predict, path, &metrics, &err))
            fail_msg("%s", err.text);
        read_lines(path, text, sizeof text);
        assert_string_equal(text, cases[k].said);
        assert_true(bda_metric(metrics, "accuracy") == 1 && bda_metric(metrics, "auc") == 1);
        bda_metrics_free(metrics);
    }
    bda_data_free(d);
    matrix.label_name = NULL;
    d = take(&matrix);
    assert_true(bda_predict(alone, m, d, predict, path, &metrics, &err));
    read_lines(path, text, sizeof text);
    assert_string_equal(text, cases[2].said);
    assert_true(bda_metric(metrics, "instances") == ROWS && !bda_metric_name(metrics, 1));
    bda_metrics_free(metrics);
    bda_data_free(d);
    bda_model_free(m);
    bda_settings_free(predict);
    assert_true(bda_set(settings, "cost", "1", &err));
}

static bda_model *trained(const bda_data *d, const char *loss)
{
    bda_error err;
    bda_outcome outcome = {.size = sizeof outcome};
    assert_true(bda_set(settings, "loss", loss, &err) && bda_set(settings, "bias", "1", &err));
    bda_model *m = bda_train(alone, d, settings, NULL, &outcome, &err);
    if (!m)
        fail_msg("%s", err.text);
    return m;
}

static bda_data *labelled(const double *y)
{
    const bda_matrix m = {.size = sizeof m,
                          .rows = ROWS,
                          .columns = COLUMNS,
                          .value = dense,
                          .value_bytes = 8,
                          .row_stride = sizeof *dense,
                          .column_stride = sizeof **dense,
                          .label = y};
    return take(&m);
}

static void scores_are_sums(void **state)
{
    (void)state;
    static const double three[ROWS] = {3, 1, 2, 3, 1}, *const y[] = {label, three};
    static const uint32_t column[] = {0, 1, 2, 3, 77};
    for (int many = 0; many < 2; many++) {
        bda_error err;
        bda_data *d = labelled(y[many]);
        bda_model *m = trained(d, "logistic");
        bda_model_summary s = {.size = sizeof s};
        bda_model_summarise(m, &s);
        const uint64_t T = s.outputs;
        double all[ROWS * 3], one[3], p[3];
        assert_int_equal(T, many ? 3 : 1);
        assert_true(bda_decide(m, d, 2, all, &err));
        for (int i = 0; i < ROWS; i++) {
            double row[] = {dense[i][0], dense[i][1], dense[i][2], dense[i][3], 5};
            bda_score(m, 5, column, row, one);
            double most = -INFINITY, total = 0;
            uint64_t best = 0;
            for (uint64_t k = 0; k < T; k++) {
                double sum = s.weights[4 * T + k];
                for (int j = 0; j < COLUMNS; j++)
                    sum += dense[i][j] * s.weights[(uint64_t)j * T + k];
                assert_true(fabs(sum - one[k]) < 1e-12 && one[k] == all[(uint64_t)i * T + k]);
                best = sum > most ? k : best;
                most = sum > most ? sum : most;
            }
            assert_int_equal(bda_class_of(m, one), many ? best : !(one[0] > 0));
            assert_true(bda_probabilities(m, one, p, &err));
            for (uint64_t k = 0; k < s.classes; k++)
                total += p[k];
            assert_true(fabs(total - 1) < 1e-14 && p[bda_class_of(m, one)] >= 1.0 / (double)s.classes);
        }
        bda_model_free(m);
        bda_data_free(d);
    }
}

static void models_travel_through_memory(void **state)
{
    (void)state;
    bda_error err;
    bda_data *d = labelled(label);
    bda_model *m = trained(d, "hinge"), *back;
    void *bytes, *again;
    size_t count, count_again;
    assert_true(bda_model_pack(m, &bytes, &count, &err));
    back = bda_model_unpack(bytes, count, &err);
    assert_non_null(back);
    assert_true(bda_model_pack(back, &again, &count_again, &err));
    assert_true(count == count_again && memcmp(bytes, again, count) == 0);
    for (size_t size = 0; size < count; size += 13)
        assert_null(bda_model_unpack(bytes, size, &err));
    const char *name, *value;
    bool found = false;
    for (uint64_t k = 0; bda_model_option(back, k, &name, &value); k++)
        found = found || (strcmp(name, "loss") == 0 && strcmp(value, "hinge") == 0);
    assert_true(found);
    free(bytes);
    free(again);
    bda_model_free(back);
    bda_model_free(m);
    bda_data_free(d);
}

static void models_are_made_from_weights(void **state)
{
    (void)state;
    static const char *const classes[] = {"cat", "dog", "eel"}, *const features[] = {"tail", "legs"};
    static const double w[] = {1, 2, 3, 4, 5, 6, 0.5, 0, -0.5};
    bda_error err;
    bda_model_summary s = {.size = sizeof s,
                           .task = "classify",
                           .loss = "logistic",
                           .features = 2,
                           .bias = 1,
                           .classes = 3,
                           .outputs = 3,
                           .label_names = classes,
                           .weights = w,
                           .feature_names = features};
    bda_model *m = bda_model_make(&s, &err), *back;
    void *bytes;
    size_t count;
    if (!m)
        fail_msg("%s", err.text);
    assert_true(bda_model_pack(m, &bytes, &count, &err));
    back = bda_model_unpack(bytes, count, &err);
    assert_non_null(back);
    assert_string_equal(bda_model_label(back, 2), "eel");
    assert_string_equal(bda_model_feature(back, 1), "legs");
    assert_true(!bda_model_label(back, 3) && !bda_model_feature(back, 2));
    const uint32_t column[] = {1};
    double score[3];
    bda_score(back, 1, column, NULL, score);
    assert_true(score[0] == 4.5 && score[1] == 5 && score[2] == 5.5 && bda_class_of(back, score) == 2);
    free(bytes);
    bda_model_free(back);
    bda_model_free(m);
    const bda_model_summary good = s;
    static const double infinite[9] = {[4] = INFINITY};
    s.outputs = 2;
    assert_null(bda_model_make(&s, &err));
    s = good, s.weights = infinite;
    assert_null(bda_model_make(&s, &err));
    s = good, s.loss = "squared-error";
    assert_null(bda_model_make(&s, &err));
    s = good, s.label_names = NULL;
    assert_null(bda_model_make(&s, &err));
}

/* A caller that was compiled with a shorter structure, and one with a longer one. */
static void structures_of_other_versions(void **state)
{
    (void)state;
    bda_data *d = labelled(label);
    struct {
        bda_data_summary s;
        char more[64];
    } large;
    memset(&large, 0x55, sizeof large);
    large.s.size = sizeof large;
    bda_data_summarise(d, &large.s);
    assert_true(large.s.size == sizeof large.s && large.s.instances == ROWS && large.more[0] == 0x55);
    memset(&large, 0x55, sizeof large);
    large.s.size = offsetof(bda_data_summary, features);
    bda_data_summarise(d, &large.s);
    assert_true(large.s.size == offsetof(bda_data_summary, features) && large.s.instances == ROWS);
    assert_true(large.s.features == 0x5555555555555555u);
    large.s.size = 0;
    bda_data_summarise(d, &large.s);
    assert_int_equal(large.s.size, 0);
    bda_data_free(d);
}

static void tables_are_listed(void **state)
{
    (void)state;
    bda_method_info m = {.size = sizeof m};
    uint64_t count = 0, certified = 0;
    for (; bda_method_get(count, &m); count++) {
        assert_true(m.name[0] && m.summary[0] && m.needs);
        certified += m.has_dual;
    }
    assert_true(count > 10 && certified < count && certified > 0);
    const char *const *command = bda_commands();
    for (count = 0; command[count]; count++)
        assert_non_null(bda_options(command[count]));
    assert_true(count >= 6 && strcmp(command[0], "train") == 0);
}

static void errors_name_the_option(void **state)
{
    (void)state;
    bda_error err;
    assert_false(bda_set(settings, "max_rounds", "x", &err));
    assert_string_equal(err.option, "max-rounds");
    assert_false(bda_set(settings, "bias", "x", &err));
    assert_string_equal(err.option, "bias");
    assert_null(bda_model_unpack("nothing", 7, &err));
    assert_string_equal(err.option, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrices_of_all_types_are_the_same_data),
        cmocka_unit_test(bad_matrices_are_refused),
        cmocka_unit_test(rows_of_weight_0_are_not_there),
        cmocka_unit_test(rows_without_labels_are_for_prediction),
        cmocka_unit_test(names_are_predicted),
        cmocka_unit_test(scores_are_sums),
        cmocka_unit_test(models_travel_through_memory),
        cmocka_unit_test(models_are_made_from_weights),
        cmocka_unit_test(structures_of_other_versions),
        cmocka_unit_test(tables_are_listed),
        cmocka_unit_test(errors_name_the_option),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
