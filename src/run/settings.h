/* settings.h - what the options of a command mean. The tables themselves are in options_*.c. */
#ifndef RUN_SETTINGS_H
#define RUN_SETTINGS_H

#include "base/options.h"
#include "data/data.h"
#include "data/scale.h"
#include "data/schema.h"
#include "problem/loss.h"
#include "problem/method.h"

/* One structure for all commands; each table points into it. The members of its groups are named directly. */
struct bda_settings {
    const char *command;
    const bda_option *options;
    char **given; /* [options] the text of those numbers and flags that were set; NULL for the others */

    struct { /* what is learnt */
        char task[OPTION_TEXT], loss[OPTION_TEXT], class_weight[OPTION_TEXT], start[OPTION_TEXT];
        char feature_penalty[OPTION_TEXT], weights[OPTION_TEXT];
        double cost, epsilon, l1_ratio, bias;
        char intercept[OPTION_TEXT], scaling[OPTION_TEXT], multiclass[OPTION_TEXT];
    };
    struct { /* from sentences */
        char column[OPTION_TEXT], template_file[OPTION_TEXT], trees[OPTION_TEXT], labels[OPTION_TEXT];
        char inference[OPTION_TEXT];
        int64_t min_count, learning_epochs;
    };
    struct { /* when training stops, and what is kept of it */
        double gap, max_time;
        char gap_of[OPTION_TEXT], validate[OPTION_TEXT];
        int64_t max_rounds, patience;
        char checkpoint[OPTION_TEXT], checkpoint_every[OPTION_TEXT];
        bool resume;
    };
    struct { /* how it is trained */
        char method[OPTION_TEXT], machine[OPTION_TEXT], a1[OPTION_TEXT];
        int64_t local_epochs, history;
        double a2, step, tau, beta, penalty, relaxation;
        char line_search[OPTION_TEXT], hull[OPTION_TEXT];
        bool accelerate, balance, no_scaling;
    };
    struct { /* where */
        int64_t blocks, seed, threads;
        char threads_mode[OPTION_TEXT];
    };
    struct { /* files, and what is told; of several commands */
        char output[OPTION_TEXT], log[OPTION_TEXT], progress[OPTION_TEXT];
        double progress_every;
        char format[OPTION_TEXT], label[OPTION_TEXT], missing[OPTION_TEXT];
        bool quiet, zero_based, force, json;
    };
    struct { /* predict */
        bool scores, probability;
        char metrics[OPTION_TEXT];
    };
    struct { /* generate */
        char like[OPTION_TEXT];
        double scale;
    };
    struct { /* bench: lists with commas between */
        char methods[OPTION_TEXT], losses[OPTION_TEXT], block_list[OPTION_TEXT], rank_list[OPTION_TEXT];
        char thread_list[OPTION_TEXT], cost_list[OPTION_TEXT], with[OPTION_TEXT];
        int64_t repeat;
        bool calibrate, no_reference;
    };
    struct { /* select */
        int64_t folds;
        char costs[OPTION_TEXT], l1_ratios[OPTION_TEXT], score[OPTION_TEXT], groups[OPTION_TEXT];
        char calibration[OPTION_TEXT];
        bool one_standard_error;
    };
    struct { /* info */
        int64_t top;
    };
    struct { /* report */
        char csv[OPTION_TEXT], svg[OPTION_TEXT], network[OPTION_TEXT];
        double optimum;
        bool follow;
    };
};

#define CLASS_WEIGHTS (OPTION_TEXT / 4) /* no text holds more of "L:W" and what ends them */

#define UNCERTIFIED_ROUNDS 10 /* unless --max-rounds says otherwise */

/* A training that fits together. */
typedef struct training {
    const loss *loss;
    const method *method;
    bool left_open; /* --method=auto: `method` is what it chooses once the problem is known */
    method_options options;
    /* That `options` names, once the file of --machine is read. */
    bda_machine machine;
    double cost, gap; /* asked for, or the task's own */
    uint64_t max_rounds;
    double bias; /* of a penalised intercept; < 0: none */
    bool free_intercept;
    scale_kind scale;
    bool balanced; /* --class-weight=balanced */
    int weights;   /* --class-weight=LABEL:W */
    struct {
        double label, weight;
    } weight[CLASS_WEIGHTS];
} training;

/* Reads the settings of "train"; BDA_USAGE and a sentence where they do not fit together. */
bool settings_training(const bda_settings *s, training *t, bda_error *err);

/* Text of --checkpoint-every: rounds, or seconds where it has a unit; the other becomes 0. */
bool settings_every(const char *text, uint64_t *rounds, double *seconds, bda_error *err);

/* Is DATA a table (--format=csv or tsv)? Then fills `table`, which points into s. */
bool settings_table(const bda_settings *s, table_request *table);

/* Reads data as those of training were read: tables by their schema, where that is not NULL. Collective. */
data *data_read_known(comm *c, const data_schema *schema, bool may_lack_labels, const bda_settings *s, uint64_t count,
                      const char *const *path, bda_error *err);

/* Are these the settings of `command`? BDA_USAGE and a sentence if not. */
bool settings_are_of(const bda_settings *s, const char *command, bda_error *err);

/* K: --blocks, or a block for each thread of `ranks` ranks. */
uint64_t settings_blocks(const bda_settings *s, int ranks);

/* Was the option set, rather than left at its default? */
bool settings_given(const bda_settings *s, const char *name);

/* Of training: many labels that are no whole numbers are rather something to regress on. They are classes only where
 * --task=classify was said. */
bool settings_suit_labels(const bda_settings *s, const data *d, bda_error *err);

/* Does the file get LIBSVM text? --format decides, then the ending of the name (.bda and .bin: binary); `otherwise`
 * where neither says. */
bool settings_text(const bda_settings *s, const char *path, bool otherwise);

#endif
