/* progress.c - how far a command has got, on stderr: on a terminal a line that is rewritten, at most ten times a second;
 * elsewhere a line every --progress-every seconds, for logs of jobs.
 *
 * A thread of its own writes where nothing is heard of for long: while data are read, and in long rounds. The time left
 * is a guess: the logarithm of the gap goes on falling as it did over the last rounds. */
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "cmd.h"

#define REMEMBERED 16 /* rounds that the guess is made from */
#define PAUSE 0.1     /* seconds between two lines of a terminal */
#define SILENCE 1.0   /* after which the thread writes there */
#define WIDEST 160

struct progress {
    const invocation *v;
    bool rewrites; /* on a terminal */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool end;
    double begun, shown; /* when what is told of began; when the last line was written */
    int width;           /* of it */
    char line[WIDEST + 1];
    double seconds[REMEMBERED], log_gap[REMEMBERED];
    uint64_t rounds; /* seen so far */
};

static double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Columns that a line may fill: one that wraps could not be rewritten. */
static int terminal_width(void)
{
    struct winsize size;
    bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    return known && size.ws_col <= WIDEST ? size.ws_col - 1 : WIDEST;
}

static void describe_time(char *text, size_t size, double seconds)
{
    if (seconds < 100)
        snprintf(text, size, "%.1f s", seconds);
    else if (seconds < 6000)
        snprintf(text, size, "%.0f min", seconds / 60);
    else
        snprintf(text, size, "%.1f h", seconds / 3600);
}

/* The lock is held. */
static void write_line(progress *p)
{
    const double now = now_seconds();
    char since[32];
    describe_time(since, sizeof since, now - p->begun);
    if (!p->rewrites) {
        say(p->v, "%s, %s so far", p->line, since);
    } else {
        char line[WIDEST + 64];
        const int most = terminal_width();
        snprintf(line, sizeof line, "%s, %s so far", p->line, since);
        fprintf(stderr, "\r%-*.*s", p->width, most, line);
        fflush(stderr);
        p->width = (int)strlen(line) < most ? (int)strlen(line) : most;
    }
    p->shown = now;
}

static void *watch_silence(void *self)
{
    progress *p = self;
    const double every = p->rewrites ? SILENCE : bda_get_number(p->v->settings, "progress-every");
    pthread_mutex_lock(&p->lock);
    while (!p->end) {
        const double due = p->shown + every;
        const struct timespec until = {.tv_sec = (time_t)due, .tv_nsec = (long)(1e9 * (due - floor(due)))};
        pthread_cond_timedwait(&p->ended, &p->lock, &until);
        if (!p->end && now_seconds() >= p->shown + every)
            write_line(p);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* Signals are for the thread that trains. */
static bool start_thread(progress *p)
{
    sigset_t all, before;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->ended, &monotonic);
    pthread_condattr_destroy(&monotonic);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool started = pthread_create(&p->thread, NULL, watch_silence, p) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

progress *progress_begin(const invocation *v, const char *what)
{
    const char *when = bda_get(v->settings, "progress");
    if (!v->first || is_set(v, "quiet") || strcmp(when, "never") == 0)
        return NULL;
    progress *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->v = v;
    p->rewrites = strcmp(when, "always") == 0 || isatty(STDERR_FILENO);
    p->begun = p->shown = now_seconds();
    snprintf(p->line, sizeof p->line, "%s", what);
    if (!start_thread(p)) {
        free(p);
        return NULL;
    }
    return p;
}

/* The gap in the units of the target. */
static double gap_to_judge(const bda_progress *now)
{
    return now->target_of_start ? now->gap_of_start : now->relative_gap;
}

/* Seconds until the target is met; NAN: nobody knows. */
static double seconds_left(const progress *p, const bda_progress *now)
{
    uint64_t kept = p->rounds < REMEMBERED ? p->rounds : REMEMBERED;
    if (kept < 3 || !(now->target > 0) || !(gap_to_judge(now) > 0))
        return NAN;
    uint64_t newest = (p->rounds - 1) % REMEMBERED, oldest = (p->rounds - kept) % REMEMBERED;
    double rate = (p->log_gap[oldest] - p->log_gap[newest]) / (p->seconds[newest] - p->seconds[oldest]);
    double left = (p->log_gap[newest] - log(now->target)) / rate;
    return rate > 0 && isfinite(left) ? fmax(left, 0) : NAN;
}

void progress_round(void *self, const bda_progress *now)
{
    progress *p = self;
    pthread_mutex_lock(&p->lock);
    uint64_t at = p->rounds++ % REMEMBERED;
    p->seconds[at] = now->seconds;
    p->log_gap[at] = log(gap_to_judge(now));
    char left[32] = "?", gap[48] = "";
    const double guess = seconds_left(p, now);
    if (!isnan(guess))
        describe_time(left, sizeof left, guess);
    if (now->has_dual)
        snprintf(gap, sizeof gap, "  gap %.1e (aim %g)", gap_to_judge(now), now->target);
    snprintf(p->line, sizeof p->line, "time left: %s  round %llu  objective %.6g%s  step %.2g", left,
             (unsigned long long)now->round, now->best_primal, gap, now->step);
    if (p->rounds == 1)
        p->begun = now_seconds() - now->seconds;
    if (p->rewrites && (p->rounds == 1 || now_seconds() - p->shown >= PAUSE))
        write_line(p);
    pthread_mutex_unlock(&p->lock);
}

void progress_end(progress *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->end = true;
    pthread_cond_signal(&p->ended);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    if (p->width > 0) {
        fprintf(stderr, "\r%*s\r", p->width, "");
        fflush(stderr);
    }
    pthread_cond_destroy(&p->ended);
    pthread_mutex_destroy(&p->lock);
    free(p);
}
