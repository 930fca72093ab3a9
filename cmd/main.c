/* main.c - the program `bda`: finds the command and hands over.
 *
 * The communicator comes first, because only who knows its rank knows whether to print. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"

const command *const commands[] = {
    &train_command,
    &predict_command,
    &info_command,
    &export_command,
    &import_command,
    &convert_command,
    &generate_command,
    &report_command,
    &bench_command,
    &select_command,
    NULL,
};

static bda_comm *launched;

/* Whatever ends the program, options_parse's own exits among them: what could not be printed is a failure. */
static void finish(void)
{
    bda_comm_free(launched);
    launched = NULL;
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror("bda: cannot write to standard output");
        _exit(EXIT_FAILED);
    }
}

static const command *find_command(const char *name)
{
    for (const command *const *c = commands; *c; c++)
        if (strcmp((*c)->name, name) == 0)
            return *c;
    return NULL;
}

bool has_command(const char *name)
{
    return find_command(name) != NULL;
}

static bool is_one_of(const char *word, const char *a, const char *b, const char *c)
{
    return word && (strcmp(word, a) == 0 || strcmp(word, b) == 0 || strcmp(word, c) == 0);
}

/* Words that are no command: true where that was all, and *status is set. */
static bool answer(const invocation *v, const char *word, const char *next, int *status)
{
    *status = EXIT_DONE;
    if (is_one_of(word, "--help", "-h", "-?") || (is_one_of(word, "help", "help", "help") && !next)) {
        if (v->first)
            print_overview(stdout);
        return true;
    }
    if (is_one_of(word, "--version", "-V", "version")) {
        if (v->first)
            puts("bda " BDA_VERSION);
        return true;
    }
    if (is_one_of(word, "--describe", "--describe", "--describe")) {
        if (v->first)
            describe(stdout);
        return true;
    }
    if (is_one_of(word, "help", "help", "help") && has_command(next)) {
        print_help(v->first ? stdout : NULL, find_command(next), true);
        return true;
    }
    *status = EXIT_USAGE;
    if (!word && v->first)
        print_overview(stderr);
    if (!word || has_command(word))
        return !word;
    const char *wanted = strcmp(word, "help") == 0 ? next : word, *near = hint_command(wanted);
    if (v->first && near)
        fprintf(stderr, "bda: there is no command '%s'; did you mean `bda %s'?\n", wanted, near);
    else if (v->first)
        fprintf(stderr, "bda: there is no %s '%s'; `bda --help' lists the commands\n",
                wanted[0] == '-' ? "option" : "command", wanted);
    return true;
}

#define PATIENCE 9.0 /* seconds: whatever happens to a rank, all end within ten */

/* From a thread of the library: the others wait in MPI, and would do so for ever. */
static void lose(void *self, int rank, bool first)
{
    const double *patience = self;
    const char *advice = "BDA_PATIENCE=60 would wait for a minute, BDA_PATIENCE=0 for ever";
    if (first && rank >= 0)
        fprintf(stderr, "bda: rank %d has not been heard of for %g s, and the others cannot go on without it; %s\n",
                rank, *patience, advice);
    else if (first && may_speak())
        fprintf(stderr, "bda: MPI has started, but %g s later some rank has not been heard of; %s\n", *patience,
                advice);
    bda_discard_outputs();
    _exit(EXIT_FAILED);
}

static double patience = PATIENCE;

/* BDA_PATIENCE is for launchers, which hand it to all ranks; it says nothing about what is computed. */
static bool read_patience(bda_error *err)
{
    const char *given = getenv("BDA_PATIENCE");
    char *end = NULL;
    const double value = given ? strtod(given, &end) : PATIENCE;
    if (given && !(end > given && *end == 0 && value >= 0 && value <= 1e9)) {
        err->status = BDA_USAGE;
        snprintf(err->text, sizeof err->text, "BDA_PATIENCE must be a number of seconds, or 0, not '%.100s'", given);
        return false;
    }
    patience = value;
    return true;
}

static int run(bda_comm *comm, int argc, char **argv)
{
    invocation v = {.comm = comm, .first = bda_comm_rank(comm) == 0};
    int status;
    if (answer(&v, argc > 1 ? argv[1] : NULL, argc > 2 ? argv[2] : NULL, &status))
        return status;
    v.command = find_command(argv[1]);
    options_parse(&v, argc - 1, argv + 1);
    warn_if_alone(bda_comm_size(comm));
    status = v.command->run(&v);
    bda_settings_free(v.settings);
    free(v.argument);
    return status;
}

/* Threads that wait for work by spinning take the core from other ranks of the machine, which is many times slower
 * than one thread where ranks and threads are more than cores. OpenMP reads its policy before main, so that it must
 * be set for a new start of the program; whoever has set it is left alone. */
static void wait_without_spinning(int argc, char **argv)
{
    bool threads = false;
    for (int i = 1; i < argc; i++)
        threads |= strncmp(argv[i], "--thr", 5) == 0;
    if (threads && !getenv("OMP_WAIT_POLICY") && setenv("OMP_WAIT_POLICY", "passive", 1) == 0)
        execv("/proc/self/exe", argv); /* where that fails, all is as it was, only slower */
}

int main(int argc, char **argv)
{
    wait_without_spinning(argc, argv);
    signals_begin();
    bda_error err = {0}, of_patience = {0};
    const bool patient = read_patience(&of_patience);
    launched = bda_comm_launch_watched(patience, lose, &patience, &err);
    if (!launched) {
        if (may_speak())
            fprintf(stderr, "bda: %s\n", err.text);
        else
            sleep(1); /* a launcher ends all ranks as soon as one has failed: the first is to speak before */
        return EXIT_FAILED;
    }
    atexit(finish);
    /* Ranks that disagree on what to do would wait for each other for ever. */
    bool ok = bda_comm_same_words(launched, argc - 1, argv + 1, &err);
    if (ok) {
        err = of_patience;
        ok = bda_comm_agree(launched, patient, &err);
    }
    if (!ok) {
        if (bda_comm_rank(launched) == 0)
            fprintf(stderr, "bda: %s\n", err.text);
        return err.status == BDA_USAGE ? EXIT_USAGE : EXIT_FAILED;
    }
    return run(launched, argc, argv);
}
