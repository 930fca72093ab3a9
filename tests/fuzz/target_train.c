/* target_train.c - a first line of settings, "name=value" with blanks between, then the data: a training of a few rounds is
 * refused, fails with a sentence, or ends with a model of finite numbers that labels the same data. Settings that name
 * files or ask for much time or memory are left out. */
#include "fuzz/target.h"

#include <math.h>

#define MOST_FEATURES 20000 /* training takes memory for all of them */
#define MOST_INSTANCES 200

static bool is_allowed(const char *name, const char *value)
{
    static const char *const of_files[] = {"log",      "output",     "validate", "weights",    "feature-penalty",
                                           "template", "checkpoint", "resume",   "max-rounds", "max-time"};
    static const struct {
        const char *name;
        double most;
    } limited[] = {{"blocks", 8}, {"threads", 2}, {"local-epochs", 3}, {"learning-epochs", 3}, {"history", 8}};
    for (size_t i = 0; i < sizeof of_files / sizeof *of_files; i++)
        if (strncmp(of_files[i], name, strlen(name)) == 0)
            return false;
    for (size_t i = 0; i < sizeof limited / sizeof *limited; i++)
        if (strcmp(limited[i].name, name) == 0)
            return !(strtod(value, NULL) > limited[i].most);
    return true;
}

/* False: a setting is refused. */
static bool set_all(bda_settings *s, char *line)
{
    for (char *rest = line, *word; (word = strsep(&rest, " "));) {
        char *value = strchr(word, '=');
        bda_error err = {0};
        if (!value)
            continue;
        *value++ = 0;
        if (!is_allowed(word, value))
            return false;
        if (!bda_set(s, word, value, &err)) {
            target_sentence(false, &err);
            return false;
        }
    }
    return true;
}

static void label_again(const bda_model *m, const char *task, bda_error *err)
{
    bda_settings *p = target_settings("predict");
    data *d = bda_data_read_for(alone, m, p, "d", err);
    /* indices from 0, which prediction was not told of, are refused */
    target_sentence(d != NULL, err);
    if (d)
        target_sentence(bda_predict(alone, m, d, p, "out", NULL, err), err);
    (void)task;
    bda_data_free(d);
    bda_settings_free(p);
}

static void train(const bda_settings *s, const data *d)
{
    bda_error err = {0};
    bda_outcome outcome = {.size = sizeof outcome};
    bda_model *m = bda_train(alone, d, s, NULL, &outcome, &err);
    target_sentence(m != NULL, &err);
    if (!m)
        return;
    bda_model_summary about = {.size = sizeof about};
    bda_model_summarise(m, &about);
    target_require(isfinite(about.primal) && about.primal >= 0, "an objective that is none");
    target_require(!outcome.last.has_dual || outcome.last.relative_gap >= 0, "a gap that is none");
    for (uint64_t j = 0; j < about.features * about.outputs; j++)
        target_require(isfinite(about.weights[j]), "a weight that is none");
    label_again(m, about.task, &err);
    bda_model_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const uint8_t *end = memchr(bytes, '\n', size);
    if (!end || end - bytes > 300)
        return 0;
    target_put("d", end + 1, size - (size_t)(end + 1 - bytes));
    target_put("out", "", 0);
    char line[301] = "";
    memcpy(line, bytes, (size_t)(end - bytes));
    bda_error err = {0};
    bda_settings *s = target_settings("train");
    if (set_all(s, line)) {
        target_set(s, "max-rounds", "3");
        const bool ok = bda_check(s, &err);
        target_sentence(ok, &err);
        data *d = ok ? bda_data_read(alone, s, "d", &err) : NULL;
        target_sentence(!ok || d, &err);
        if (d && d->features <= MOST_FEATURES && d->instances <= MOST_INSTANCES)
            train(s, d);
        bda_data_free(d);
    }
    bda_settings_free(s);
    return 0;
}
