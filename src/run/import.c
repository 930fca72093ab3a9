/* import.c - models of other tools. LIBLINEAR's text: header lines of a word and values, then "w" and a line of weights
 * for each feature, a column for each label but for two labels, whose one column speaks for the first of them.
 *
 * Of two labels ours has the larger one first, of more they are in increasing order: weights change sign or place with
 * their labels. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/number.h"
#include "run/model.h"

typedef struct solver {
    const char *name, *loss;
    bool regression, direct; /* direct: two labels have a column each, too */
} solver;

static const solver solvers[] = {
    {"L2R_LR", "logistic", false, false},
    {"L2R_LR_DUAL", "logistic", false, false},
    {"L1R_LR", "logistic", false, false},
    {"L2R_L2LOSS_SVC_DUAL", "squared-hinge", false, false},
    {"L2R_L2LOSS_SVC", "squared-hinge", false, false},
    {"L1R_L2LOSS_SVC", "squared-hinge", false, false},
    {"L2R_L1LOSS_SVC_DUAL", "hinge", false, false},
    {"MCSVM_CS", "hinge", false, true},
    {"L2R_L2LOSS_SVR", "squared-epsilon-insensitive", true, false},
    {"L2R_L2LOSS_SVR_DUAL", "squared-epsilon-insensitive", true, false},
    {"L2R_L1LOSS_SVR_DUAL", "epsilon-insensitive", true, false},
    {NULL, NULL, false, false},
};

/* The text between blanks, read from front to back. */
typedef struct words {
    const char *at, *path;
    char word[64]; /* the last one, cut off where it is longer */
    uint64_t line;
} words;

typedef struct foreign {
    const solver *solver;
    uint64_t classes, features, columns; /* columns of weights in the file */
    double bias;
    double *label;    /* [classes] as in the file */
    uint64_t *column; /* [classes] of the k-th label of ours */
    arena memory;
} foreign;

static bool refuse(const words *w, const char *expected, bda_error *err)
{
    return err_set(err, BDA_FAILED, "%.400s, line %llu: '%s' where %s is expected in a model of LIBLINEAR", w->path,
                   (unsigned long long)w->line, w->word, expected);
}

static bool next_word(words *w)
{
    for (; *w->at == ' ' || *w->at == '\n' || *w->at == '\r' || *w->at == '\t'; w->at++)
        w->line += *w->at == '\n';
    const size_t length = strcspn(w->at, " \t\r\n"), kept = length < sizeof w->word ? length : sizeof w->word - 1;
    memcpy(w->word, w->at, kept);
    w->word[kept] = 0;
    return length > 0;
}

static void skip_word(words *w)
{
    w->at += strcspn(w->at, " \t\r\n");
}

static bool take_real(words *w, double *x, bda_error *err)
{
    const char *end = next_word(w) ? number_read_any(w->at, x) : NULL;
    if (!end || !strchr(" \t\r\n", *end) || !isfinite(*x))
        return refuse(w, "a number", err);
    w->at = end;
    return true;
}

static bool take_count(words *w, uint64_t *count, bda_error *err)
{
    double x;
    if (!take_real(w, &x, err))
        return false;
    if (x < 0 || x > INT_MAX || x != floor(x))
        return refuse(w, "a whole number", err);
    *count = (uint64_t)x;
    return true;
}

static bool take_solver(words *w, foreign *f, bda_error *err)
{
    next_word(w);
    for (const solver *s = solvers; s->name; s++)
        if (strcmp(s->name, w->word) == 0)
            f->solver = s;
    skip_word(w);
    return f->solver || refuse(w, "a solver of classification or regression", err);
}

static bool take_labels(words *w, foreign *f, bda_error *err)
{
    if (f->classes < 2 || f->classes > BDA_MOST_CLASSES || f->label)
        return refuse(w, "nr_class with a number from 2 on before one line of labels", err);
    f->label = ARENA_TAKE(&f->memory, double, f->classes, err);
    for (uint64_t k = 0; f->label && k < f->classes; k++)
        if (!take_real(w, &f->label[k], err))
            return false;
    return f->label;
}

static bool take_header(words *w, foreign *f, bda_error *err)
{
    bool counted = false;
    for (f->bias = -1;;) {
        if (!next_word(w))
            return refuse(w, "a line of weights", err);
        const char *name = w->word;
        const bool solver = strcmp(name, "solver_type") == 0, classes = strcmp(name, "nr_class") == 0,
                   label = strcmp(name, "label") == 0, features = strcmp(name, "nr_feature") == 0,
                   bias = strcmp(name, "bias") == 0, end = strcmp(name, "w") == 0;
        if (!solver && !classes && !label && !features && !bias && !end)
            return refuse(w, "a word of the header", err);
        skip_word(w);
        if (end)
            break;
        counted = counted || features;
        if (classes && f->label)
            return refuse(w, "one nr_class, before the labels", err);
        if ((solver && !take_solver(w, f, err)) || (classes && !take_count(w, &f->classes, err)) ||
            (label && !take_labels(w, f, err)) || (features && !take_count(w, &f->features, err)) ||
            (bias && !take_real(w, &f->bias, err)))
            return false;
    }
    if (!f->solver || !counted || f->solver->regression != !f->label)
        return refuse(w, "a header with solver_type, nr_feature and, for classes, label", err);
    if (f->solver->regression)
        f->classes = 0;
    f->columns = f->classes > 2 || (f->classes == 2 && f->solver->direct) ? f->classes : 1;
    return true;
}

/* Which label of the file is the k-th of ours: the larger of two first, more in increasing order. */
static bool order_labels(const words *w, foreign *f, bda_error *err)
{
    const uint64_t T = f->classes;
    f->column = ARENA_TAKE(&f->memory, uint64_t, T + 1, err);
    if (!f->column)
        return false;
    for (uint64_t k = 0; k < T; k++) {
        uint64_t at = k;
        for (; at > 0 &&
               (T == 2 ? f->label[k] > f->label[f->column[at - 1]] : f->label[k] < f->label[f->column[at - 1]]);
             at--)
            f->column[at] = f->column[at - 1];
        f->column[at] = k;
    }
    for (uint64_t k = 1; k < T; k++)
        if (f->label[f->column[k]] == f->label[f->column[k - 1]])
            return err_set(err, BDA_FAILED, "%.400s has the label %.17g twice", w->path, f->label[f->column[k]]);
    return true;
}

/* One line of the file's weights. row: [columns] */
static bool take_weights(words *w, const foreign *f, double *row, double *to, uint64_t outputs, bda_error *err)
{
    for (uint64_t k = 0; k < f->columns; k++)
        if (!take_real(w, &row[k], err))
            return false;
    if (f->classes == 2 && f->columns == 2)
        to[0] = row[f->column[0]] - row[f->column[1]];
    else if (f->classes == 2)
        to[0] = f->column[0] == 0 ? row[0] : -row[0];
    else
        for (uint64_t k = 0; k < outputs; k++)
            to[k] = f->classes ? row[f->column[k]] : row[k];
    return true;
}

static bda_model *new_model(const words *w, const foreign *f, bda_error *err)
{
    double label[2], *many = NULL;
    arena memory = {0};
    const uint64_t T = f->classes, outputs = T > 2 ? T : 1;
    const model_shape shape = {.features = f->features, .outputs = outputs, .bias = f->bias};
    if (strlen(w->at) / 2 < (f->features + (f->bias >= 0)) * f->columns) {
        err_set(err, BDA_FAILED, "%.400s is cut off: it has fewer weights than nr_feature says", w->path);
        return NULL;
    }
    double *ours = T <= 2 ? label : (many = ARENA_TAKE(&memory, double, T, err));
    for (uint64_t k = 0; ours && k < T; k++)
        ours[k] = f->label[f->column[k]];
    bda_model *m = ours ? model_new(&shape, &(label_table){T, NULL, T ? ours : NULL}, err) : NULL;
    arena_free(&memory);
    if (!m)
        return NULL;
    model_set_task(m, model_task(T ? "classify" : "regress"), loss_find(f->solver->loss));
    return m;
}

static bda_model *take_model(words *w, foreign *f, bda_error *err)
{
    if (!take_header(w, f, err) || !order_labels(w, f, err))
        return NULL;
    double *row = ARENA_TAKE(&f->memory, double, f->columns, err);
    bda_model *m = row ? new_model(w, f, err) : NULL;
    bool ok = m;
    for (uint64_t j = 0; ok && j < f->features + (f->bias >= 0); j++)
        ok = take_weights(w, f, row, m->w + j * m->outputs, m->outputs, err);
    if (ok && next_word(w))
        ok = refuse(w, "the end", err);
    if (ok)
        return m;
    bda_model_free(m);
    return NULL;
}

/* The whole file as a string, with the room around it that number_read_any wants. */
static char *read_text(const char *path, arena *memory, bda_error *err)
{
    byte_source from;
    char *text = NULL;
    if (byte_source_open(&from, path, err) && byte_source_want(&from, UINT64_MAX, err)) {
        char *room = ARENA_TAKE(memory, char, NUMBER_BEFORE + from.count + NUMBER_PADDING + 1, err);
        if (room && from.count > 0)
            memcpy(room + NUMBER_BEFORE, from.at, from.count);
        text = room ? room + NUMBER_BEFORE : NULL;
    }
    byte_source_close(&from);
    return text;
}

bda_model *bda_model_import(const char *format, const char *path, bda_error *err)
{
    err_clear(err);
    if (strcmp(format, "liblinear") != 0) {
        err_set(err, BDA_USAGE, "--format must be liblinear, not '%.80s'", format);
        return NULL;
    }
    foreign f = {0};
    const char *text = read_text(path, &f.memory, err);
    words w = {.at = text, .path = path, .line = 1};
    bda_model *m = text ? take_model(&w, &f, err) : NULL;
    arena_free(&f.memory);
    return m;
}
