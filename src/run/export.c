/* export.c - models in other tools' formats. LIBLINEAR: text, a line of weights for each feature; of two labels the
 * positive one comes first and has the weights, of more each has its column. */
#include "run/export.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "run/text.h"
#include "run/train_sentences.h"

/* What liblinear-predict looks at is whether a model is one of classes, of probabilities, or of numbers. */
static const struct {
    const char *one, *several; /* scores of a row */
} liblinear_solvers[] = {
    [LOSS_HINGE] = {"L2R_L1LOSS_SVC_DUAL", "MCSVM_CS"},
    [LOSS_SQUARED_HINGE] = {"L2R_L2LOSS_SVC", "MCSVM_CS"},
    [LOSS_LOGISTIC] = {"L2R_LR", "L2R_LR"},
    [LOSS_EPSILON_INSENSITIVE] = {.one = "L2R_L1LOSS_SVR_DUAL"},
    [LOSS_SQUARED_EPSILON_INSENSITIVE] = {.one = "L2R_L2LOSS_SVR"},
    [LOSS_SQUARED_ERROR] = {.one = "L2R_L2LOSS_SVR"}, /* the tube has no width */
};

static const char *liblinear_solver(const bda_model *m)
{
    const loss_kind kind = m->loss->kind;
    return m->outputs > 1 && !m->apart ? liblinear_solvers[kind].several : liblinear_solvers[kind].one;
}

/* LIBLINEAR reads labels and the number of features as int. */
static bool fits_liblinear(const bda_model *m, bda_error *err)
{
    for (uint64_t i = 0; i < m->classes; i++) {
        if (!m->labels.number)
            return err_set(err, BDA_FAILED,
                           "LIBLINEAR's labels are whole numbers, and the model has the label '%.80s'",
                           m->labels.name[i]);
        double label = m->labels.number[i];
        if (label != rint(label) || fabs(label) > INT_MAX)
            return err_set(err, BDA_FAILED, "LIBLINEAR's labels are whole numbers, and the model has the label %.17g",
                           label);
    }
    if (!liblinear_solver(m))
        return err_set(err, BDA_FAILED, "LIBLINEAR has no solver for the loss '%s'", m->loss->name);
    if (m->features >= INT_MAX)
        return err_set(err, BDA_FAILED, "LIBLINEAR takes fewer than %d features, and the model has %llu", INT_MAX,
                       (unsigned long long)m->features);
    return true;
}

static void write_liblinear(const bda_model *m, output *out)
{
    char number[TEXT_REAL];
    out_printf(out, "solver_type %s\nnr_class %d\n", liblinear_solver(m), m->outputs > 1 ? (int)m->outputs : 2);
    if (m->classes)
        out_printf(out, "label");
    for (uint64_t k = 0; k < m->classes; k++)
        out_printf(out, " %d%s", (int)m->labels.number[k], k + 1 == m->classes ? "\n" : "");
    text_real(number, m->bias);
    out_printf(out, "nr_feature %llu\nbias %s\nw\n", (unsigned long long)m->features, number);
    for (uint64_t j = 0; j < m->n; j++) {
        int length = text_real(number, m->w[j]);
        number[length++] = (j + 1) % m->outputs ? ' ' : '\n';
        out_write(out, number, (uint64_t)length);
    }
}

const export_format export_formats[] = {
    {"liblinear", fits_liblinear, write_liblinear},
    {"json", NULL, export_json},
    {"c", NULL, export_c},
    {NULL, NULL, NULL},
};

bool bda_model_export(const bda_model *m, const char *format, const char *path, bda_error *err)
{
    err_clear(err);
    if (is_sentence_task(m->task))
        return err_set(err, BDA_USAGE, "a model of --task=%s has its features in text, which no other format knows",
                       m->task);
    const export_format *f = export_formats;
    while (f->name && strcmp(f->name, format) != 0)
        f++;
    if (!f->name)
        return err_set(err, BDA_USAGE, "--format must be liblinear, json or c, not '%.80s'", format);
    if (m->unit_rows && strcmp(format, "json") != 0)
        return err_set(
            err, BDA_USAGE,
            "the model was trained with --scale=unit-rows, and --format=%s has no place for that: train on rows "
            "that are of length 1 already",
            format);
    output *out = !f->fits || f->fits(m, err) ? out_open(path, err) : NULL;
    if (!out)
        return false;
    f->write(m, out);
    return out_commit(out, err);
}
