/* bench_make.c - one run: the program itself, started alone, through mpirun for more than one rank. Beside its log
 * NAME.log are NAME.cmd, the command line by which a later comparison knows that nothing has changed, and NAME.err, what
 * the run said. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

extern char **environ;

/* [words] and NULL: launcher, program, train, its words. `numbers` gets the number of ranks as text. */
static void list_words(const bench_run *run, const char *program, char *ranks, size_t size, char *model,
                       const char **words)
{
    const char *launcher = getenv("MPIEXEC");
    int count = 0;
    if (run->ranks > 1) {
        snprintf(ranks, size, "%d", run->ranks);
        words[count++] = launcher && launcher[0] ? launcher : "mpirun";
        words[count++] = "-n";
        words[count++] = ranks;
    }
    words[count++] = program;
    words[count++] = "train";
    for (int i = 0; i < run->words; i++)
        words[count++] = run->word[i];
    words[count++] = model;
    words[count] = NULL;
}

static bool write_command(const char *path, const char *const *words)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return false;
    for (; *words; words++)
        fprintf(file, "%s%s", *words, words[1] ? " " : "\n");
    return fclose(file) == 0;
}

static bool same_command(const char *path, const char *const *words)
{
    FILE *file = fopen(path, "r");
    bool same = file != NULL;
    for (; same && *words; words++) {
        for (const char *c = *words; same && *c; c++)
            same = getc(file) == *c;
        same = same && getc(file) == (words[1] ? ' ' : '\n');
    }
    if (file)
        fclose(file);
    return same;
}

/* Did the run of this log end by itself? */
static bool has_ended(const char *log)
{
    bda_error err;
    bda_settings *settings = bda_settings_new("report", &err);
    bda_report *report = settings ? bda_report_read(&log, 1, settings, &err) : NULL;
    bool ended = false;
    if (report && bda_report_runs(report) == 1) {
        bda_run_summary run;
        bda_report_run(report, 0, &run);
        ended = run.reason && strcmp(run.reason, "interrupted") != 0;
    }
    bda_report_free(report);
    bda_settings_free(settings);
    return ended;
}

/* The last line that begins with the program's name, for launchers add their own; the first with words if none does. */
static void read_sentence(const char *path, char *why, size_t size)
{
    char line[1200];
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "bda", 3) == 0 || (!why[0] && line[strspn(line, "- \n")])) {
            line[strcspn(line, "\n")] = 0;
            const char *sentence = strncmp(line, "bda train: ", 11) == 0 ? line + 11 : line;
            snprintf(why, size, "%.*s", (int)strcspn(sentence, ";"), sentence); /* advice comes after it */
        }
    if (file)
        fclose(file);
}

/* Exit status of the program, 128 and the signal that ended it; -1: it could not be started. */
static int start_and_wait(const char *const *words, const char *said)
{
    pid_t child;
    int status = 0;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, said, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    const int reason = posix_spawnp(&child, words[0], &actions, NULL, (char *const *)words, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (reason != 0) {
        errno = reason;
        return -1;
    }
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static bench_result judge(int status, const char *said, const char *log, const char *launched, char *why, size_t size)
{
    why[0] = 0;
    if (status == 128 + 2 || status == 128 + 15)
        return BENCH_STOPPED;
    if (status == -1) {
        snprintf(why, size, "cannot start %s: %s", launched, strerror(errno));
        return BENCH_FAILED;
    }
    if ((status == EXIT_DONE || status == EXIT_EARLY) && has_ended(log))
        return BENCH_DONE;
    read_sentence(said, why, size);
    if (!why[0])
        snprintf(why, size, "ended with status %d", status);
    return BENCH_FAILED;
}

bench_result bench_make(const invocation *v, const bench_run *run, char *why, size_t size)
{
    char program[4096] = "", ranks[24];
    const char *words[BENCH_WORDS + 8];
    if (readlink("/proc/self/exe", program, sizeof program - 1) <= 0)
        snprintf(program, sizeof program, "bda");
    char *log = bench_path(v, run->name, ".log"), *command = bench_path(v, run->name, ".cmd");
    char *said = bench_path(v, run->name, ".err"), *model = bench_path(v, run->name, ".model");
    list_words(run, program, ranks, sizeof ranks, model, words);
    bench_result result = BENCH_KNOWN;
    if (!same_command(command, words) || !has_ended(log)) {
        unlink(log);
        unlink(command);
        result = judge(start_and_wait(words, said), said, log, words[0], why, size);
        if (result == BENCH_FAILED)
            unlink(log); /* the half of a run would count as a run */
        else if (result == BENCH_DONE && !write_command(command, words))
            unlink(command); /* then it is made again the next time */
    }
    unlink(model);
    free(log);
    free(command);
    free(said);
    free(model);
    return result;
}
