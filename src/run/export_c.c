/* export_c.c - a model as C99 source that needs nothing else: its weights, and functions that score a row and say what
 * is predicted, adding in the same order as `bda predict`. */
#include "run/export.h"
#include "run/text.h"

static void write_weights_of(const bda_model *m, uint64_t feature, output *out)
{
    char number[TEXT_REAL];
    for (uint64_t k = 0; k < m->outputs; k++) {
        text_real(number, m->w[feature * m->outputs + k]);
        out_printf(out, "%s%s", k ? ", " : "    {", number);
    }
    out_printf(out, "},\n");
}

/* As a C string; octal escapes end by themselves. */
static void write_string(const char *text, output *out)
{
    out_printf(out, "\"");
    for (const unsigned char *s = (const unsigned char *)text; *s; s++) {
        if (*s < ' ' || *s > 126 || *s == '"' || *s == '\\' || *s == '?')
            out_printf(out, "\\%03o", *s);
        else
            out_printf(out, "%c", *s);
    }
    out_printf(out, "\"");
}

static void write_tables(const bda_model *m, uint64_t used, bool dense, output *out)
{
    const uint64_t rows = (dense ? m->features : used) + (m->bias >= 0);
    if (!dense) {
        out_printf(out,
                   "/* Those with weights, in increasing order. */\nstatic const unsigned model_feature[%llu] = {\n",
                   (unsigned long long)used + 1);
        for (uint64_t j = 0; j < m->features; j++)
            if (export_is_used(m, j))
                out_printf(out, "    %llu,\n", (unsigned long long)j);
        out_printf(out, "};\n\n");
    }
    out_printf(out, "static const double model_weight[%llu][%llu] = {\n", (unsigned long long)rows + (rows == 0),
               (unsigned long long)m->outputs);
    for (uint64_t j = 0; j < m->features; j++)
        if (dense || export_is_used(m, j))
            write_weights_of(m, j, out);
    if (m->bias >= 0)
        write_weights_of(m, m->features, out);
    out_printf(out, "%s};\n\n", rows == 0 ? "    {0},\n" : "");
}

static const char dense_search[] = "static const double *weights_of(unsigned column)\n"
                                   "{\n"
                                   "    return column < MODEL_ROWS ? model_weight[column] : NULL;\n"
                                   "}\n\n";
static const char sparse_search[] =
    "static const double *weights_of(unsigned column)\n"
    "{\n"
    "    size_t low = 0, high = MODEL_ROWS;\n"
    "    while (low < high) {\n"
    "        const size_t middle = low + (high - low) / 2;\n"
    "        if (model_feature[middle] < column)\n"
    "            low = middle + 1;\n"
    "        else\n"
    "            high = middle;\n"
    "    }\n"
    "    return low < MODEL_ROWS && model_feature[low] == column ? model_weight[low] : "
    "NULL;\n"
    "}\n\n";

static void write_scores(const bda_model *m, output *out)
{
    out_printf(out, "/* The scores of a row: cells of column (from 0) and value. score: [MODEL_OUTPUTS] */\n"
                    "void model_scores(size_t cells, const unsigned *column, const double *value, double *score)\n"
                    "{\n"
                    "    for (int k = 0; k < MODEL_OUTPUTS; k++)\n"
                    "        score[k] = 0;\n"
                    "    for (size_t j = 0; j < cells; j++) {\n"
                    "        const double *w = weights_of(column[j]);\n"
                    "        for (int k = 0; w && k < MODEL_OUTPUTS; k++)\n"
                    "            score[k] += value[j] * w[k];\n"
                    "    }\n");
    if (m->bias >= 0) {
        char number[TEXT_REAL];
        text_real(number, m->bias);
        out_printf(out,
                   "    for (int k = 0; k < MODEL_OUTPUTS; k++)\n"
                   "        score[k] += %s * model_weight[MODEL_ROWS][k];\n",
                   number);
    }
    out_printf(out, "}\n");
}

static void write_decision(const bda_model *m, output *out)
{
    if (m->classes == 0)
        return;
    out_printf(out, "\nconst char *const model_label[%llu] = {", (unsigned long long)m->classes);
    for (uint64_t k = 0; k < m->classes; k++) {
        out_printf(out, "%s", k ? ", " : "");
        write_string(m->labels.name[k], out);
    }
    out_printf(out, "};\n\n"
                    "/* The place of the predicted label, from the scores. */\n"
                    "int model_class(const double *score)\n"
                    "{\n");
    out_printf(out, "%s",
               m->classes == 2 ? "    return !(score[0] > 0);\n}\n"
                               : "    int best = 0;\n"
                                 "    for (int k = 1; k < MODEL_OUTPUTS; k++)\n"
                                 "        if (score[k] > score[best])\n"
                                 "            best = k;\n"
                                 "    return best;\n}\n");
}

void export_c(const bda_model *m, output *out)
{
    uint64_t used = 0;
    for (uint64_t j = 0; j < m->features; j++)
        used += export_is_used(m, j);
    const bool dense = m->features < 2 * used;
    out_printf(out, "/* A linear model, task %s, loss %s, written by bda %s. */\n#include <stddef.h>\n\n", m->task,
               m->loss->name, bda_version());
    out_printf(out, "enum { MODEL_ROWS = %llu, MODEL_OUTPUTS = %llu };\n\n",
               (unsigned long long)(dense ? m->features : used), (unsigned long long)m->outputs);
    write_tables(m, used, dense, out);
    out_printf(out, "%s", dense ? dense_search : sparse_search);
    write_scores(m, out);
    write_decision(m, out);
}
