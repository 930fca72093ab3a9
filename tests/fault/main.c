/* main.c - every n-th call of a kind fails, in every command: what then?
 *
 * usage: faults [--every=N] [--case=TEXT] [--kind=NAME] [--verbose]
 *
 * Alone each run is a child process. Under a launcher all ranks run the program inside this process, one run after the
 * other, and the call fails on one of them, the first, the last and one between in turn. A run is good where it ends as
 * it does without a fault, with the same bytes in its files, or with status 1 and one sentence, its files whole or as
 * they were; where all ranks end alike; and where no temporary file is left. N: only every N-th call is tried. */
#include "fault/cases.h"
#include "fault/faults.h"

#include "cmd.h"

#include <dirent.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int bda_main(int argc, char **argv);

#define MOST_WORDS 32
#define SECONDS_OF_A_HANG 600
#define SHOWN 300

typedef struct text {
    char *bytes; /* NULL: there is no such file */
    size_t count;
} text;

typedef struct result {
    int status; /* 256 and more: ended by a signal */
    text out, err;
    uint64_t calls[FAULT_KINDS];
} result;

static struct {
    int rank, size;
    uint64_t every;
    const char *only, *kind;
    bool verbose;
} job = {.size = 1, .every = 1};

static struct tally {
    uint64_t tried, failed, wrong; /* failed: with a sentence */
} tally[FAULT_KINDS];

static void text_free(text *t)
{
    free(t->bytes);
    *t = (text){0};
}

static text text_of_fd(int fd)
{
    struct stat about;
    text t = {0};
    if (fstat(fd, &about) != 0 || !(t.bytes = malloc((size_t)about.st_size + 1)))
        abort();
    const ssize_t got = pread(fd, t.bytes, (size_t)about.st_size, 0);
    t.count = got < 0 ? 0 : (size_t)got;
    t.bytes[t.count] = 0;
    return t;
}

static text text_of_file(const char *path)
{
    const int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return (text){0};
    const text t = text_of_fd(fd);
    close(fd);
    return t;
}

static bool text_same(const text *a, const text *b)
{
    return !a->bytes == !b->bytes && a->count == b->count && (!a->bytes || memcmp(a->bytes, b->bytes, a->count) == 0);
}

/* "bda train: note: ..." */
static bool is_note(const char *line)
{
    const char *colon = strchr(line, ':');
    return colon && strncmp(colon, ": note:", 7) == 0;
}

static int lines_of_ours(const text *t)
{
    int count = 0;
    for (const char *line = t->bytes; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        count += strncmp(line, "bda", 3) == 0 && !is_note(line);
    return count;
}

/* ---- a run --------------------------------------------------------------------------------------------------------- */

typedef struct fault {
    fault_kind kind;
    fault_manner manner;
    uint64_t call;
    int rank; /* where */
} fault;

static int split(char *copy, char **word)
{
    int count = 0;
    word[count++] = "bda";
    for (char *rest = copy, *one; (one = strsep(&rest, " "));)
        if (*one && count < MOST_WORDS)
            word[count++] = one;
    word[count] = NULL;
    return count;
}

static void begin(const fault *f)
{
    if (f->rank == job.rank)
        fault_arm(f->kind, f->manner, f->call);
    else
        fault_arm(f->kind, f->manner, 0);
}

static int new_file(const char *name)
{
    const int fd = memfd_create(name, MFD_CLOEXEC);
    if (fd < 0)
        abort();
    return fd;
}

static void run_child(int argc, char **argv, const fault *f, result *to, int out, int err)
{
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        dup2(out, STDOUT_FILENO);
        dup2(err, STDERR_FILENO);
        alarm(SECONDS_OF_A_HANG);
        begin(f);
        exit(bda_main(argc, argv));
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    to->status = WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

static jmp_buf end_of_program;
static int ended_with;

static void end_here(int status)
{
    ended_with = status;
    longjmp(end_of_program, 1);
}

static const char *running;
static const fault *injected;
static int stderr_of_ours = STDERR_FILENO;

/* All ranks end with this one, so it says where it was. */
static void crash(int number)
{
    void *place[40];
    dprintf(stderr_of_ours, "WRONG: rank %d: %s: call %llu of %s %s on rank %d: signal %d\n", job.rank, running,
            (unsigned long long)injected->call, fault_kind_names[injected->kind],
            fault_manner_names[injected->manner], injected->rank, number);
    backtrace_symbols_fd(place, backtrace(place, 40), stderr_of_ours);
    _exit(1);
}

static void run_here(int argc, char **argv, const fault *f, result *to, int out, int err)
{
    fflush(NULL);
    const int kept_out = dup(STDOUT_FILENO), kept_err = dup(STDERR_FILENO);
    stderr_of_ours = kept_err;
    injected = f;
    signal(SIGSEGV, crash);
    signal(SIGABRT, crash);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    alarm(SECONDS_OF_A_HANG); /* ends all ranks, with what the launcher says about it */
    if (setjmp(end_of_program) == 0) {
        begin(f);
        ended_with = bda_main(argc, argv);
    }
    fault_off();
    fault_run_atexit();
    alarm(0);
    fflush(NULL);
    clearerr(stdout);
    dup2(kept_out, STDOUT_FILENO);
    dup2(kept_err, STDERR_FILENO);
    close(kept_out);
    close(kept_err);
    to->status = ended_with;
}

static result run(const char *words, const fault *f)
{
    running = words;
    char *copy = strdup(words), *argv[MOST_WORDS + 1];
    const int argc = split(copy, argv), out = new_file("stdout"), err = new_file("stderr");
    result r = {0};
    (job.size > 1 ? run_here : run_child)(argc, argv, f, &r, out, err);
    for (int k = 0; k < FAULT_KINDS; k++)
        r.calls[k] = fault_counted(k);
    r.out = text_of_fd(out);
    r.err = text_of_fd(err);
    close(out);
    close(err);
    free(copy);
    return r;
}

static void result_free(result *r)
{
    text_free(&r->out);
    text_free(&r->err);
}

static void meet(void)
{
    if (job.size > 1)
        MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- what is right ------------------------------------------------------------------------------------------------- */

static char why[SHOWN];

static bool wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));
static bool wrong(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    return false;
}

/* Removes what runs write, and sees that no temporary file is there. */
static bool tidy(void)
{
    bool good = true;
    DIR *here = opendir(".");
    for (struct dirent *entry; here && (entry = readdir(here));) {
        if (strncmp(entry->d_name, "out", 3) != 0)
            continue;
        if (strstr(entry->d_name, ".tmp"))
            good = wrong("the temporary file %.100s is left", entry->d_name);
        unlink(entry->d_name);
    }
    closedir(here);
    return good;
}

static void put_back(const char *path, const text *old)
{
    if (!old->bytes)
        return;
    FILE *to = fopen(path, "w");
    if (!to || fwrite(old->bytes, 1, old->count, to) != old->count || fclose(to) != 0)
        abort();
}

/* On rank 0, or alone. there: was the file there before? */
static bool judge(const fault_case *c, const result *base, const text *made, const result *r, bool there)
{
    text now = text_of_file(c->output);
    bool good = true;
    if (c->loose && now.bytes && now.count == made->count)
        memcpy(now.bytes, made->bytes, now.count); /* other bytes are right, too */
    if (r->status >= 256)
        good = wrong("ended by signal %d", r->status - 256);
    else if (r->status != base->status && r->status != EXIT_FAILED)
        good = wrong("status %d", r->status);
    else if (r->status == base->status && !text_same(&now, made))
        good = wrong("%s is not what it is without a fault", c->output);
    else if (r->status == base->status && !c->loose && !text_same(&r->out, &base->out))
        good = wrong("stdout is not what it is without a fault");
    else if (r->status == base->status && lines_of_ours(&r->err) != lines_of_ours(&base->err))
        good = wrong("%d lines on stderr", lines_of_ours(&r->err));
    else if (r->status != base->status && lines_of_ours(&r->err) != 1 &&
             !strstr(r->err.bytes, "the run log is incomplete"))
        good = wrong("%d sentences", lines_of_ours(&r->err));
    else if (there ? !text_same(&now, made) : now.bytes && !text_same(&now, made))
        good = wrong("%s was lost or is incomplete", c->output);
    text_free(&now);
    return good;
}

/* All ranks end alike, and only the first speaks. */
static bool alike(const result *r)
{
    int status[2] = {r->status, -r->status}, silent = job.rank == 0 || lines_of_ours(&r->err) == 0;
    if (job.size == 1)
        return true;
    MPI_Allreduce(MPI_IN_PLACE, status, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &silent, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (status[0] != -status[1])
        return wrong("ranks end with status %d to %d", -status[1], status[0]);
    return silent || wrong("a rank beside the first spoke");
}

static void try(const fault_case *c, const result *base, const text *made, const fault *f)
{
    const bool there = f->call % 2 == 0;
    if (job.rank == 0) {
        tidy();
        if (there && c->output)
            put_back(c->output, made);
    }
    meet();
    result r = run(c->words, f);
    bool good = alike(&r);
    if (job.rank == 0) {
        good = good && judge(c, base, made, &r, there);
        good = tidy() && good;
        tally[f->kind].tried++;
        tally[f->kind].failed += r.status == EXIT_FAILED;
        tally[f->kind].wrong += !good;
        if (!good || job.verbose)
            printf("%s: %s: call %llu of %s %s%s: %s\n%s", good ? "good" : "WRONG", c->words,
                   (unsigned long long)f->call, fault_kind_names[f->kind], fault_manner_names[f->manner],
                   f->rank ? " on another rank" : "", good ? "" : why, r.err.bytes);
        fflush(stdout);
    }
    meet();
    result_free(&r);
}

/* ---- all of them --------------------------------------------------------------------------------------------------- */

static uint64_t calls_of(const result *base, fault_kind kind, int rank)
{
    unsigned long long calls = base->calls[kind];
    if (job.size > 1)
        MPI_Bcast(&calls, 1, MPI_UNSIGNED_LONG_LONG, rank, MPI_COMM_WORLD);
    return calls;
}

static void try_kind(const fault_case *c, const result *base, const text *made, fault_kind kind, uint64_t *turn)
{
    if (job.kind && strcmp(job.kind, fault_kind_names[kind]) != 0)
        return;
    for (int manner = 0; manner < FAULT_MANNERS; manner++) {
        if (!fault_has(kind, manner))
            continue;
        for (int rank = 0; rank<job.size; rank += job.size> 2 ? job.size / 2 : 1) {
            const uint64_t calls = calls_of(base, kind, rank);
            for (uint64_t call = 1; call <= calls; call++)
                if ((*turn)++ % job.every == 0)
                    try(c, base, made, &(fault){kind, manner, call, rank});
        }
    }
}

static bool try_case(const fault_case *c, uint64_t *turn)
{
    const fault none = {.rank = -1};
    if ((job.only && !strstr(c->words, job.only)) || (c->most_ranks && job.size > c->most_ranks))
        return true;
    if (job.rank == 0)
        tidy();
    meet();
    result base = run(c->words, &none);
    text made = text_of_file(c->output);
    meet();
    const bool good = base.status == EXIT_DONE || base.status == EXIT_EARLY;
    if (!good && job.rank == 0)
        printf("WRONG: %s: status %d without a fault\n%s", c->words, base.status, base.err.bytes);
    for (int kind = 0; good && kind < FAULT_KINDS; kind++)
        try_kind(c, &base, &made, kind, turn);
    result_free(&base);
    text_free(&made);
    return good;
}

static bool prepare(char *directory)
{
    const fault none = {.rank = -1};
    int good = job.rank > 0 || (mkdtemp(directory) && chdir(directory) == 0 && fault_write_inputs());
    if (job.size > 1) {
        MPI_Bcast(directory, (int)strlen(directory), MPI_BYTE, 0, MPI_COMM_WORLD);
        MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
        good = good && chdir(directory) == 0;
    }
    for (const fault_case *c = fault_preparations; good && c->words; c++) {
        meet();
        result r = run(c->words, &none);
        if (r.status != EXIT_DONE && r.status != EXIT_EARLY) {
            printf("%s: status %d\n%s", c->words, r.status, r.err.bytes);
            good = false;
        }
        result_free(&r);
    }
    return good;
}

static void clear(const char *directory)
{
    char command[200];
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    if (job.rank == 0 && (chdir("/") != 0 || system(command) != 0))
        printf("%s could not be removed\n", directory);
}

static void read_words(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--every=", 8) == 0)
            job.every = strtoull(argv[i] + 8, NULL, 10);
        else if (strncmp(argv[i], "--case=", 7) == 0)
            job.only = argv[i] + 7;
        else if (strncmp(argv[i], "--kind=", 7) == 0)
            job.kind = argv[i] + 7;
        else if (strcmp(argv[i], "--verbose") == 0)
            job.verbose = true;
    }
    job.every = job.every ? job.every : 1;
}

static uint64_t report(void)
{
    struct tally all = {0};
    for (int k = 0; k < FAULT_KINDS; k++) {
        const struct tally *t = &tally[k];
        printf("%-8s %8llu tried, %8llu ended with a sentence, %8llu went on, %llu wrong\n", fault_kind_names[k],
               (unsigned long long)t->tried, (unsigned long long)t->failed,
               (unsigned long long)(t->tried - t->failed), (unsigned long long)t->wrong);
        all.tried += t->tried;
        all.wrong += t->wrong;
    }
    printf("faults on %d rank%s: %llu tried, %llu wrong\n", job.size, job.size == 1 ? "" : "s",
           (unsigned long long)all.tried, (unsigned long long)all.wrong);
    return all.wrong;
}

int main(int argc, char **argv)
{
    if (argc > 1 && has_command(argv[1])) /* bda bench starts itself */
        return bda_main(argc, argv);
    read_words(argc, argv);
    setenv("OMP_WAIT_POLICY", "passive", 1); /* with it the program does not start itself anew */
    if (getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMI_RANK") || getenv("PMIX_RANK")) {
        MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
        MPI_Comm_size(MPI_COMM_WORLD, &job.size);
        fault_exit = job.size > 1 ? end_here : NULL;
    }
    char directory[] = "/tmp/bda-faults-XXXXXX";
    bool good = prepare(directory);
    uint64_t turn = 0;
    const bool prepared = good;
    for (const fault_case *c = fault_cases; prepared && c->words; c++)
        good = try_case(c, &turn) && good;
    int status = job.rank == 0 && (report() > 0 || !good);
    clear(directory);
    if (job.size > 1) {
        MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Finalize();
    }
    return status;
}
