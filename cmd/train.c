/* train.c - `bda train`: learns a model, shows how it goes, and says how it ended.
 *
 * SIGINT, SIGTERM and SIGHUP end the training after the round under way; the model is written, the exit status is 130,
 * 143 or 129. The same one again ends the program at once. SIGUSR1, which mpirun passes on to its ranks, ends the training the same way
 * as a limit does: exit status 0 or 3 as the gap says. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"

/* Does the method know this option? Asked once training is over, for it sets it. */
static bool takes(const invocation *v, const char *option)
{
    bda_error no;
    return bda_set(v->settings, option, "2", &no) && bda_check(v->settings, &no);
}

#define UNEVEN 1e3 /* factor between the largest magnitudes of two features from which scaling is worth a try */

/* Why training stopped early, and what would help. */
static void say_early_end(const invocation *v, const bda_outcome *o, const char *path)
{
    char why[300], gap[100] = "";
    unsigned long long rounds = o->last.round;
    switch (o->reason) {
    case BDA_MAX_ROUNDS:
        snprintf(why, sizeof why, "--max-rounds above %llu%s would help", rounds,
                 takes(v, "local-epochs") ? " or more --local-epochs" : "");
        break;
    case BDA_FINISHED:
        snprintf(why, sizeof why, "--method=%s does no more than that, so another --method would help",
                 bda_get(v->settings, "method"));
        break;
    case BDA_MAX_TIME:
        snprintf(why, sizeof why, "--max-time above %s would help", bda_get(v->settings, "max-time"));
        break;
    case BDA_STALLED:
        snprintf(why, sizeof why, "nothing moves any more in double precision, so only a larger --gap can be met");
        break;
    default:
        snprintf(why, sizeof why, "%s ended the training", signal_name(o->interrupt));
    }
    const bool of_start = o->last.target_of_start;
    if (o->last.has_dual)
        snprintf(gap, sizeof gap, " at a gap of %.2g of the %s, above the %g asked for",
                 of_start ? o->last.gap_of_start : o->last.relative_gap, of_start ? "start" : "objective",
                 o->last.target);
    char features[140] = "";
    if (o->spread >= UNEVEN)
        snprintf(features, sizeof features,
                 "; features differ by a factor of %.0e, which --scale=standard or max-abs would even out",
                 o->spread);
    say(v, "stopped after %llu round%s and %.1f s%s; %s%s; the best model is in %s", rounds, rounds == 1 ? "" : "s",
        o->last.seconds, gap, why, features, path);
}

static void say_end(const invocation *v, const bda_outcome *o, const char *path)
{
    char gap[80] = ", and no gap as there is no dual";
    if (o->last.has_dual)
        describe_gap(o->last.relative_gap, gap, sizeof gap);
    const char *bits = o->same_bits ? "" : "; not bit-reproducible, as with --threads-mode=blocks it would be";
    say(v, "done in %llu round%s and %.2f s: objective %.10g%s; the model is in %s%s",
        (unsigned long long)o->last.round, o->last.round == 1 ? "" : "s", o->last.seconds, o->last.best_primal, gap,
        path, bits);
}

/* With --patience. */
static void say_score(const invocation *v, const bda_outcome *o)
{
    char name[40];
    snprintf(name, sizeof name, "%s", o->score_name);
    for (char *c = name; *c; c++)
        *c = *c == '_' ? ' ' : *c;
    say(v, "%sthe model is that of round %llu, with the best %s on %s: %.4g",
        o->reason == BDA_VALIDATED ? "scores no longer got better; " : "", (unsigned long long)o->scored_round, name,
        bda_get(v->settings, "validate"), o->score);
}

static int conclude(const invocation *v, const bda_outcome *o, const char *path)
{
    if (o->data.status != BDA_OK) {
        say(v, "%s; %s has the best model of what was there before", o->data.text, path);
        return EXIT_FAILED;
    }
    if (!o->complete)
        say_early_end(v, o, path);
    else if (!is_set(v, "quiet"))
        say_end(v, o, path);
    if (o->score_name && !is_set(v, "quiet"))
        say_score(v, o);
    if (o->repaired > 0)
        say(v,
            "note: the dual had drifted from its variables by %.2g, and was computed anew from them; gap and model "
            "are right, but please report it",
            o->repaired);
    if (o->log.status != BDA_OK) {
        say(v, "the run log is incomplete: %s", o->log.text);
        return EXIT_FAILED;
    }
    if (o->reason == BDA_INTERRUPTED && o->interrupt != SIGUSR1)
        return 128 + o->interrupt;
    return o->complete ? EXIT_DONE : EXIT_EARLY;
}

static void note(void *self, bool grave, const char *sentence)
{
    if (grave || !is_set(self, "quiet"))
        say(self, "note: %s", sentence);
}

static int train_and_write(const invocation *v, const bda_data *data, const char *path)
{
    bda_error err = {0};
    bda_outcome outcome = {.size = sizeof outcome};
    progress *line = progress_begin(v, "before the first round");
    bda_observer observer = {.size = sizeof observer,
                             .round = line ? progress_round : NULL,
                             .self = line,
                             .interrupt = &interrupted,
                             .note = note,
                             .note_self = (void *)v};
    signals_catch();
    bda_model *model = bda_train(v->comm, data, v->settings, &observer, &outcome, &err);
    progress_end(line);
    if (!model)
        return fail(v, &err);
    bool written = bda_comm_agree(v->comm, !v->first || bda_model_write(model, path, &err), &err);
    bda_model_free(model);
    return written ? conclude(v, &outcome, path) : fail(v, &err);
}

static int train(invocation *v)
{
    if (strcmp(bda_get(v->settings, "method"), "list") == 0) {
        if (v->first)
            fputs(bda_method_list(), stdout);
        return EXIT_DONE;
    }
    bda_error err = {0};
    if (!bda_check(v->settings, &err))
        return fail(v, &err);
    if (!check_data(v, &err))
        return fail(v, &err);
    char *path = model_name(v, &err);
    if (!path)
        return fail(v, &err);
    const char *checkpoint = bda_get(v->settings, "checkpoint");
    const bool of_ranks = strstr(checkpoint, "{rank"); /* its files are looked at by those who write them */
    bda_output output[] = {{path, BDA_FILE_MODEL},
                           {bda_get(v->settings, "log"), BDA_FILE_LOG},
                           {of_ranks ? "" : checkpoint, BDA_FILE_CHECKPOINT}};
    bda_data *data = can_write_beside(v, output, 3, NULL, &err) ? read_data(v, &err) : NULL;
    int status;
    if (data) {
        note_data(v, data, v->argument[0]);
        status = train_and_write(v, data, path);
    } else {
        status = fail(v, &err);
    }
    bda_data_free(data);
    free(path);
    return status;
}

const command train_command = {
    .name = "train",
    .arguments = "DATA [MODEL]",
    .summary = "learn a model",
    .more =
        "DATA is LIBSVM text (plain, .gz or .zst), the binary format of `bda convert' or, with --format=csv or tsv, "
        "a "
        "table: a file, a directory, a quoted pattern or - for standard input; with -o several of them. All ranks "
        "read "
        "their parts of it; where its name has {rank} in it, or {rank:05} for five digits with zeros in front, every "
        "rank reads its own files, and there must be none for a rank beyond the last. MODEL is by default "
        "the name of DATA with .model behind it, in the current directory.\n\n"
        "Under mpirun or srun the work is shared among all ranks.\n\n"
        "SIGINT (Ctrl-C), SIGTERM and SIGHUP end the training after the round under way; the best model is written "
        "and the exit status is 130, 143 or 129. SIGUSR1 does the same with exit status 3, and 0 where the gap is "
        "reached. The same signal again, but for SIGUSR1, ends the program at once. mpirun leaves its ranks a second "
        "after Ctrl-C; SIGUSR1 "
        "sent to mpirun leaves them all the time they need.",
    .examples = {"bda train data.svm model",
                 "bda train --task=regress --loss=epsilon-insensitive --cost=10 houses.svm model",
                 "mpirun -np 8 bda train --log=run.log data.bda model"},
    .least = 1,
    .most = 100000,
    .run = train,
};
