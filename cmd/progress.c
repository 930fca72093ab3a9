/* progress.c - a line on stderr that is rewritten after a round, at most ten times a second.
 *
 * The time left is a guess: the logarithm of the gap goes on falling as it did over the last rounds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd.h"

#define REMEMBERED 16 /* rounds that the guess is made from */
#define PAUSE 0.1     /* seconds between two lines */
#define WIDEST 160

struct progress {
    double seconds[REMEMBERED], log_gap[REMEMBERED];
    uint64_t rounds; /* seen so far */
    double shown;    /* when the last line was written */
    int width;       /* of it */
};

progress *progress_new(void)
{
    progress *p = calloc(1, sizeof *p);
    if (p)
        p->shown = -1;
    return p;
}

/* Seconds until the target is met; NAN: nobody knows. */
static double seconds_left(const progress *p, const bda_progress *now)
{
    uint64_t kept = p->rounds < REMEMBERED ? p->rounds : REMEMBERED;
    if (kept < 3 || !(now->target > 0) || !(now->relative_gap > 0))
        return NAN;
    uint64_t newest = (p->rounds - 1) % REMEMBERED, oldest = (p->rounds - kept) % REMEMBERED;
    double rate = (p->log_gap[oldest] - p->log_gap[newest]) / (p->seconds[newest] - p->seconds[oldest]);
    double left = (p->log_gap[newest] - log(now->target)) / rate;
    return rate > 0 && isfinite(left) ? fmax(left, 0) : NAN;
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

void progress_round(void *self, const bda_progress *now)
{
    progress *p = self;
    uint64_t at = p->rounds++ % REMEMBERED;
    p->seconds[at] = now->seconds;
    p->log_gap[at] = log(now->relative_gap);
    if (p->shown >= 0 && now->seconds - p->shown < PAUSE)
        return;
    p->shown = now->seconds;
    char since[32], left[48] = "", line[WIDEST + 1];
    double guess = seconds_left(p, now);
    describe_time(since, sizeof since, now->seconds);
    if (!isnan(guess)) {
        char time[32];
        describe_time(time, sizeof time, guess);
        snprintf(left, sizeof left, ", about %s left", time);
    }
    char gap[48] = "";
    if (now->has_dual)
        snprintf(gap, sizeof gap, "  gap %.1e (aim %g)", now->relative_gap, now->target);
    int width = snprintf(line, (size_t)terminal_width() + 1, "round %llu  objective %.6g%s  step %.2g  %s%s",
                         (unsigned long long)now->round, now->best_primal, gap, now->step, since, left);
    fprintf(stderr, "\r%-*s", p->width, line);
    fflush(stderr);
    p->width = width < terminal_width() ? width : terminal_width();
}

void progress_clear(progress *p)
{
    if (p && p->width > 0) {
        fprintf(stderr, "\r%*s\r", p->width, "");
        fflush(stderr);
        p->width = 0;
    }
}
