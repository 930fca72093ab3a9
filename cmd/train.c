/* train.c - `bda train`: learns a model, shows how it goes, and says how it ended.
 *
 * SIGINT and SIGTERM end the training after the round under way; the model is written, the exit status is 130 or 143.
 * A second one ends the program at once. SIGUSR1, which mpirun passes on to its ranks, ends the training the same way
 * as a limit does: exit status 0 or 3 as the gap says. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"

static volatile sig_atomic_t interrupted; /* the signal */

static void on_signal(int number)
{
    if (interrupted == 0 || number != SIGUSR1)
        interrupted = number;
}

/* Signals before this end the program at once: there is nothing to save yet. */
static void catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGUSR1};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction action = {.sa_handler = on_signal};
        sigemptyset(&action.sa_mask);
        action.sa_flags = SA_RESTART | (numbers[i] == SIGUSR1 ? 0 : (int)SA_RESETHAND);
        sigaction(numbers[i], &action, NULL);
    }
}

static bool shows_progress(const invocation *v)
{
    const char *when = bda_get(v->settings, "progress");
    if (!v->first || is_set(v, "quiet") || strcmp(when, "never") == 0)
        return false;
    return strcmp(when, "always") == 0 || isatty(STDERR_FILENO);
}

/* As LIBLINEAR does: DATA's own name with .model behind it, in the current directory. */
static char *choose_model_name(const invocation *v)
{
    if (v->argument[1])
        return strdup(v->argument[1]);
    const char *slash = strrchr(v->argument[0], '/'), *base = slash ? slash + 1 : v->argument[0];
    char *name = NULL;
    return asprintf(&name, "%s.model", base) < 0 ? NULL : name;
}

static const char *signal_name(int number)
{
    return number == SIGINT ? "SIGINT" : number == SIGTERM ? "SIGTERM" : "SIGUSR1";
}

/* Does the method know this option? Asked once training is over, for it sets it. */
static bool takes(const invocation *v, const char *option)
{
    bda_error no;
    return bda_set(v->settings, option, "2", &no) && bda_check(v->settings, &no);
}

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
    if (o->last.has_dual)
        snprintf(gap, sizeof gap, " at a gap of %.2g, above the %g asked for", o->last.relative_gap, o->last.target);
    say(v, "stopped after %llu rounds and %.1f s%s; %s; the best model is in %s", rounds, o->last.seconds, gap, why,
        path);
}

static void say_end(const invocation *v, const bda_outcome *o, const char *path)
{
    char gap[40] = "no dual, so no gap";
    if (o->last.has_dual)
        snprintf(gap, sizeof gap, "gap %.2g", o->last.relative_gap);
    say(v, "done in %llu rounds and %.2f s: objective %.10g, %s; the model is in %s",
        (unsigned long long)o->last.round, o->last.seconds, o->last.best_primal, gap, path);
}

static int conclude(const invocation *v, const bda_outcome *o, const char *path)
{
    if (!o->complete)
        say_early_end(v, o, path);
    else if (!is_set(v, "quiet"))
        say_end(v, o, path);
    if (o->log.status != BDA_OK) {
        say(v, "the run log is incomplete: %s", o->log.text);
        return EXIT_FAILED;
    }
    if (o->reason == BDA_INTERRUPTED && o->interrupt != SIGUSR1)
        return 128 + o->interrupt;
    return o->complete ? EXIT_DONE : EXIT_EARLY;
}

static int train_and_write(const invocation *v, const bda_data *data, const char *path)
{
    bda_error err = {0};
    bda_outcome outcome;
    progress *line = shows_progress(v) ? progress_new() : NULL;
    bda_observer observer = {.round = line ? progress_round : NULL, .self = line, .interrupt = &interrupted};
    catch_signals();
    bda_model *model = bda_train(v->comm, data, v->settings, &observer, &outcome, &err);
    progress_clear(line);
    free(line);
    if (!model)
        return fail(v, &err);
    bool written = bda_comm_agree(v->comm, !v->first || bda_model_write(model, path, &err), &err);
    bda_model_free(model);
    return written ? conclude(v, &outcome, path) : fail(v, &err);
}

static void show_data(const invocation *v, const bda_data *data)
{
    bda_data_summary d;
    bda_data_summarise(data, &d);
    say(v, "%s: %llu instances, %llu features, %llu nonzeros, read in %.2f s", v->argument[0],
        (unsigned long long)d.instances, (unsigned long long)d.features, (unsigned long long)d.nonzeros, d.seconds);
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
    char *path = choose_model_name(v);
    if (!path) {
        say(v, "out of memory");
        return EXIT_FAILED;
    }
    const char *log = bda_get(v->settings, "log");
    bool writable = can_write(v, path, 1, &err) && (!log[0] || can_write(v, log, -1, &err));
    bda_data *data = writable ? bda_data_read(v->comm, v->settings, v->argument[0], &err) : NULL;
    int status;
    if (data) {
        note_data(v, data, v->argument[0]);
        if (shows_progress(v))
            show_data(v, data);
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
        "DATA is LIBSVM text (plain, .gz or .zst) or the binary format of `bda convert', one file that all ranks "
        "read their parts of; where its name has {rank} in it, every rank reads its own file. MODEL is by default "
        "the name of DATA with .model behind it, in the current directory.\n\n"
        "Under mpirun or srun the work is shared among all ranks.\n\n"
        "SIGINT (Ctrl-C) and SIGTERM end the training after the round under way; the best model is written and "
        "the exit status is 130 or 143. SIGUSR1 does the same with exit status 3, and 0 where the gap is reached. "
        "A second SIGINT or SIGTERM ends the program at once. mpirun leaves its ranks a second after Ctrl-C; SIGUSR1 "
        "sent to mpirun leaves them all the time they need.",
    .least = 1,
    .most = 2,
    .run = train,
};
