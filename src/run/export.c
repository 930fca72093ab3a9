/* export.c - models in other tools' formats. LIBLINEAR: text, one weight a line, the positive label first. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/output.h"
#include "run/model.h"
#include "run/text.h"

static const char *liblinear_solver(const loss *l)
{
    switch (l->kind) {
    case LOSS_HINGE:
        return "L2R_L1LOSS_SVC_DUAL";
    case LOSS_SQUARED_HINGE:
        return "L2R_L2LOSS_SVC";
    case LOSS_LOGISTIC:
        return "L2R_LR";
    case LOSS_EPSILON_INSENSITIVE:
        return "L2R_L1LOSS_SVR_DUAL";
    case LOSS_SQUARED_EPSILON_INSENSITIVE:
    case LOSS_SQUARED_ERROR: /* the tube has no width */
        return "L2R_L2LOSS_SVR";
    }
    return NULL;
}

/* LIBLINEAR reads labels and the number of features as int. */
static bool fits_liblinear(const bda_model *m, bda_error *err)
{
    for (int i = 0; i < 2 && !m->loss->regression; i++) {
        double label = m->labels[i];
        if (label != rint(label) || fabs(label) > INT_MAX)
            return err_set(err, BDA_FAILED, "LIBLINEAR's labels are whole numbers, and the model has the label %.17g",
                           label);
    }
    if (m->features >= INT_MAX)
        return err_set(err, BDA_FAILED, "LIBLINEAR takes fewer than %d features, and the model has %llu", INT_MAX,
                       (unsigned long long)m->features);
    return true;
}

static bool write_liblinear(const bda_model *m, const char *path, bda_error *err)
{
    output *out = fits_liblinear(m, err) ? out_open(path, err) : NULL;
    if (!out)
        return false;
    char number[TEXT_REAL];
    out_printf(out, "solver_type %s\nnr_class 2\n", liblinear_solver(m->loss));
    if (!m->loss->regression)
        out_printf(out, "label %d %d\n", (int)m->labels[0], (int)m->labels[1]);
    text_real(number, m->bias);
    out_printf(out, "nr_feature %llu\nbias %s\nw\n", (unsigned long long)m->features, number);
    for (uint64_t j = 0; j < m->n; j++) {
        int length = text_real(number, m->w[j]);
        number[length++] = '\n';
        out_write(out, number, (uint64_t)length);
    }
    return out_commit(out, err);
}

bool bda_model_export(const bda_model *m, const char *format, const char *path, bda_error *err)
{
    err_clear(err);
    if (strcmp(format, "liblinear") == 0)
        return write_liblinear(m, path, err);
    return err_set(err, BDA_USAGE, "--format must be liblinear, not '%.80s'", format);
}
