/* options_data.c - the options of the commands that turn one file into another, or describe it. */
#include "run/options.h"

static const char *const shape_names[] = {"webspam", "url", "kddb", "rcv1", NULL};
static const char *const data_formats[] = {"binary", "text", NULL};
static const char *const model_formats[] = {"liblinear", "json", "c", NULL}, *const foreign_formats[] = {"liblinear",
                                                                                                         NULL};
static const char *const line_formats[] = {"text", "csv", "json", NULL};

const bda_option predict_options[] = {
    {.name = "format",
     .group = "output",
     .type = BDA_CHOICE,
     .argument = "FORMAT",
     .preset = "text",
     .choices = line_formats,
     .help = "of OUTPUT: text, csv with the names of the columns in front, or json, an object a line",
     AT(format)},
    {.name = "scores",
     .group = "output",
     .type = BDA_FLAG,
     .preset = "0",
     .help =
         "add the decision value to each line, with more than two labels one for each; a first line names the labels",
     AT(scores)},
    {.name = "probability",
     .group = "output",
     .type = BDA_FLAG,
     .preset = "0",
     .help = "add the probabilities of the labels, which a first line names; of the logistic loss, or calibrated by "
             "bda select",
     AT(probability)},
    {.name = "metrics",
     .group = "output",
     .file = true,
     .type = BDA_TEXT,
     .argument = "FILE",
     .preset = "",
     .help = "write one JSON object: accuracy, log_loss, and auc and f1 of two labels, macro_f1 and confusion of "
             "more; or mse, mae, r2",
     AT(metrics)},
    {FORCE},
    {THREADS, .help = "threads of each rank; auto: as many as it has processors for itself"},
    {ZERO_BASED},
    {QUIET, .help = "print no summary"},
    {.name = NULL},
};

const bda_option convert_options[] = {
    {.name = "format",
     .group = "output",
     .type = BDA_CHOICE,
     .argument = "FORMAT",
     .preset = "",
     .choices = data_formats,
     .help =
         "what to write; default: as the name of OUTPUT ends (.bda, .bin: binary; .txt, .svm, .libsvm, .gz, .zst: "
         "text), else what DATA is not",
     AT(format)},
    {FORCE},
    {THREADS, .help = "threads of each rank; auto: as many as it has processors for itself"},
    {ZERO_BASED},
    {QUIET, .help = "print no summary"},
    {.name = NULL},
};

const bda_option generate_options[] = {
    {.name = "like",
     .type = BDA_TEXT,
     .argument = "NAME",
     .preset = "",
     .choices = shape_names,
     .help = "the data set to imitate: webspam, url, kddb or rcv1",
     AT(like)},
    {.name = "scale",
     .type = BDA_REAL,
     .argument = "X",
     .preset = "1",
     .least = 0,
     .most = 1000,
     .above_least = true,
     .help = "multiplies the numbers of instances and features",
     AT(scale)},
    {SEED, .help = "the same seed makes the same bytes"},
    {.name = "format",
     .group = "output",
     .type = BDA_CHOICE,
     .argument = "FORMAT",
     .preset = "",
     .choices = data_formats,
     .help = "what to write; default: binary where the name of OUTPUT ends in .bda or .bin, else text",
     AT(format)},
    {FORCE},
    {QUIET, .help = "print no summary"},
    {.name = NULL},
};

const bda_option export_options[] = {
    {.name = "format",
     .group = "output",
     .type = BDA_CHOICE,
     .argument = "FORMAT",
     .preset = "liblinear",
     .choices = model_formats,
     .help = "whose model file to write",
     AT(format)},
    {FORCE},
    {.name = NULL},
};

const bda_option import_options[] = {
    {.name = "format",
     .group = "output",
     .type = BDA_CHOICE,
     .argument = "FORMAT",
     .preset = "liblinear",
     .choices = foreign_formats,
     .help = "whose model file FILE is",
     AT(format)},
    {FORCE},
    {QUIET, .help = "print no note"},
    {.name = NULL},
};

const bda_option info_options[] = {
    {.name = "json", .group = "output", .type = BDA_FLAG, .preset = "0", .help = "write one JSON object", AT(json)},
    {.name = "top",
     .group = "output",
     .type = BDA_INTEGER,
     .argument = "N",
     .preset = "10",
     .least = 0,
     .most = 1000000,
     .help = "show the N largest weights of a model",
     AT(top)},
    {THREADS, .help = "threads of each rank, for reading data and for the forecast"},
    {ZERO_BASED},
    {.name = NULL},
};
