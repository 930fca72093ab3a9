/* signals.c - what signals do to the program. */
#include <signal.h>
#include <unistd.h>

#include "cmd.h"

static const struct {
    int number;
    const char *name;
    bool ends; /* the program, unless it is caught; SIGUSR1 asks for an end that is no failure */
} known[] = {
    {SIGINT, "SIGINT", true}, {SIGTERM, "SIGTERM", true}, {SIGHUP, "SIGHUP", true}, {SIGUSR1, "SIGUSR1", false}};

#define KNOWN (sizeof known / sizeof *known)

volatile sig_atomic_t interrupted;
static volatile sig_atomic_t seen[KNOWN];

const char *signal_name(int number)
{
    for (size_t i = 0; i < KNOWN; i++)
        if (known[i].number == number)
            return known[i].name;
    return "a signal";
}

/* Ends as the signal would have done by itself: it is blocked here, and strikes on return. */
static void end_at_once(int number)
{
    bda_discard_outputs();
    signal(number, SIG_DFL);
    raise(number);
}

static void note(int number)
{
    for (size_t i = 0; i < KNOWN; i++) {
        if (known[i].number != number)
            continue;
        if (seen[i] && known[i].ends) {
            end_at_once(number);
            return;
        }
        seen[i] = 1;
        if (interrupted == 0 || known[i].ends)
            interrupted = number;
    }
}

static void handle(int number, void (*handler)(int), bool even_if_ignored)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}, before;
    sigemptyset(&action.sa_mask);
    if (sigaction(number, NULL, &before) == 0 && (before.sa_handler != SIG_IGN || even_if_ignored))
        sigaction(number, &action, NULL);
}

/* A mapped file was cut off. */
static void replace_page(int number, siginfo_t *info, void *context)
{
    static const char sentence[] = "bda: a file of data became shorter while it was used\n";
    (void)context;
    if (info->si_code == BUS_ADRERR && bda_replace_lost_page(info->si_addr))
        return;
    if (info->si_code != BUS_ADRERR) {
        end_at_once(number);
        return;
    }
    bda_discard_outputs();
    (void)!write(STDERR_FILENO, sentence, sizeof sentence - 1);
    _exit(EXIT_FAILED);
}

/* A column of a mapped file that was written to leads out of the vectors. What is in memory by now is not to be trusted. */
static void blame_data(int number, siginfo_t *info, void *context)
{
    static const char sentence[] = "bda: a file of data was changed while it was used\n";
    (void)info, (void)context;
    if (!bda_data_changed()) {
        end_at_once(number);
        return;
    }
    bda_discard_outputs();
    (void)!write(STDERR_FILENO, sentence, sizeof sentence - 1);
    _exit(EXIT_FAILED);
}

void signals_begin(void)
{
    struct sigaction action = {.sa_sigaction = replace_page, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
    action.sa_sigaction = blame_data;
    struct sigaction before;
    if (sigaction(SIGSEGV, NULL, &before) == 0 && before.sa_handler == SIG_DFL) /* a sanitizer has one of its own */
        sigaction(SIGSEGV, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    for (size_t i = 0; i < KNOWN; i++)
        handle(known[i].number, end_at_once, false);
}

/* Ctrl-C is asked to save a model also where a shell ignores it on behalf of what runs in the background. */
void signals_catch(void)
{
    for (size_t i = 0; i < KNOWN; i++)
        handle(known[i].number, note, known[i].number != SIGHUP);
}
