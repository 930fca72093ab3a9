/* export.c - models in other tools' formats. LIBLINEAR: text, a line of weights for each feature; of two labels the
 * positive one comes first and has the weights, of more each has its column. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/output.h"
#include "run/model.h"
#include "run/text.h"

/* What liblinear-predict looks at is whether a model is one of classes, of probabilities, or of numbers. */
static const char *liblinear_solver(const bda_model *m)
{
    if (m->classes > 2)
        return m->loss->kind == LOSS_LOGISTIC ? "L2R_LR" : "MCSVM_CS";
    switch (m->loss->kind) {
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
    for (uint64_t i = 0; i < m->classes; i++) {
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
    out_printf(out, "solver_type %s\nnr_class %d\n", liblinear_solver(m), m->classes > 2 ? (int)m->classes : 2);
    if (m->classes)
        out_printf(out, "label");
    for (uint64_t k = 0; k < m->classes; k++)
        out_printf(out, " %d%s", (int)m->labels[k], k + 1 == m->classes ? "\n" : "");
    text_real(number, m->bias);
    out_printf(out, "nr_feature %llu\nbias %s\nw\n", (unsigned long long)m->features, number);
    for (uint64_t j = 0; j < m->n; j++) {
        int length = text_real(number, m->w[j]);
        number[length++] = (j + 1) % m->outputs ? ' ' : '\n';
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
