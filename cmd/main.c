/* main.c - the program `bda`: finds the command and hands over.
 *
 * The communicator comes first, because only who knows its rank knows whether to print. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"

static const command *const commands[] = {
    &train_command, &predict_command, &info_command, &export_command, &convert_command, &generate_command, NULL,
};

/* argp finds it by name: --version of every command. */
__attribute__((visibility("default"))) const char *argp_program_version = "bda " BDA_VERSION;

static bda_comm *launched;

static void close_comm(void)
{
    bda_comm_free(launched);
    launched = NULL;
}

static void print_help(FILE *to)
{
    fputs("Usage: bda COMMAND [OPTION...] ARGUMENT...\n"
          "Linear models from data of any size, on one machine or on many under mpirun.\n\n",
          to);
    for (const command *const *c = commands; *c; c++) {
        char left[80];
        snprintf(left, sizeof left, "bda %s %s", (*c)->name, (*c)->arguments);
        fprintf(to, "  %-38s %s\n", left, (*c)->summary);
    }
    fputs("\n"
          "`bda COMMAND --help' lists the options of a command, `bda --version' prints the version.\n"
          "Exit status: 0 done; 1 failed; 2 wrong command line; 3 training stopped before the gap was reached;\n"
          "130 or 143 training was stopped by a signal, after the model was saved.\n",
          to);
}

static const command *find_command(const char *name)
{
    for (const command *const *c = commands; *c; c++)
        if (strcmp((*c)->name, name) == 0)
            return *c;
    return NULL;
}

static int run(bda_comm *comm, int argc, char **argv)
{
    invocation v = {.comm = comm, .first = bda_comm_rank(comm) == 0};
    const char *word = argc > 1 ? argv[1] : NULL;
    if (word && (strcmp(word, "--help") == 0 || strcmp(word, "-?") == 0 || strcmp(word, "-h") == 0 ||
                 strcmp(word, "help") == 0)) {
        if (v.first)
            print_help(stdout);
        return EXIT_DONE;
    }
    if (word && (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)) {
        if (v.first)
            puts(argp_program_version);
        return EXIT_DONE;
    }
    v.command = word ? find_command(word) : NULL;
    if (!v.command) {
        if (v.first && word)
            fprintf(stderr, "bda: there is no %s '%s'; `bda --help' lists the commands\n",
                    word[0] == '-' ? "option" : "command", word);
        else if (v.first)
            print_help(stderr);
        return EXIT_USAGE;
    }
    options_parse(&v, argc - 1, argv + 1);
    int status = v.command->run(&v);
    bda_settings_free(v.settings);
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
    bda_error err = {0};
    launched = bda_comm_launch(&err);
    if (!launched) {
        fprintf(stderr, "bda: %s\n", err.text);
        return EXIT_FAILED;
    }
    atexit(close_comm);
    int status = run(launched, argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror("bda: cannot write to standard output");
        status = status == EXIT_DONE ? EXIT_FAILED : status;
    }
    return status;
}
