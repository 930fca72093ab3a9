/* target_lines.c - the small text files beside the data: penalties of features, weights of instances, models of LIBLINEAR
 * and run logs. The first byte says which. */
#include "fuzz/target.h"
#include "run/factors.h"
#include "run/model.h"

#include <math.h>

static void read_factors(bool zero_based)
{
    double factor[16];
    bda_error err = {0};
    const bool ok = factors_read(alone, "d", zero_based, 16, factor, &err);
    target_sentence(ok, &err);
    for (int j = 0; ok && j < 16; j++)
        target_require(factor[j] > 0 && isfinite(factor[j]), "a factor that is none");
}

static void read_weights(void)
{
    static const char text[] = "1 1:1\n-1 2:1\n1 1:2\n";
    bda_error err = {0};
    target_put("rows", text, sizeof text - 1);
    bda_settings *s = target_settings("train");
    target_set(s, "weights", "d");
    data *d = bda_data_read(alone, s, "rows", &err);
    target_sentence(d != NULL, &err);
    for (uint64_t i = 0; d && d->weight && i < d->rows.count; i++)
        target_require(d->weight[i] >= 0 && isfinite(d->weight[i]), "a weight that is none");
    bda_data_free(d);
    bda_settings_free(s);
}

static void import(void)
{
    bda_error err = {0};
    bda_model *m = bda_model_import("liblinear", "d", &err);
    target_sentence(m != NULL, &err);
    bda_model_free(m);
}

static void read_log(void)
{
    static const char *const logs[] = {"d"};
    bda_error err = {0};
    bda_settings *s = target_settings("report");
    bda_report *report = bda_report_read(logs, 1, s, &err);
    target_sentence(report != NULL, &err);
    if (report)
        target_sentence(bda_report_write(report, "/dev/null", &err), &err);
    bda_report_free(report);
    bda_settings_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < 1)
        return 0;
    target_put("d", bytes + 1, size - 1);
    switch (bytes[0] % 5) {
    case 0:
    case 1:
        read_factors(bytes[0] % 5);
        break;
    case 2:
        read_weights();
        break;
    case 3:
        import();
        break;
    default:
        read_log();
    }
    return 0;
}
