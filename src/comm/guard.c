/* guard.c - see guard.h. */
#include "comm/guard.h"

#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define TURN 0.25 /* seconds */

bool quiet_thread(pthread_t *thread, void *(*work)(void *self), void *self)
{
    sigset_t all, kept;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &kept);
    const bool started = pthread_create(thread, NULL, work, self) == 0;
    pthread_sigmask(SIG_SETMASK, &kept, NULL);
    return started;
}

/* Turns are counted, not seconds, for a stopped process has none. */
static void *count_turns(void *self)
{
    guard *g = self;
    for (double passed = 0; passed < g->patience; passed += TURN) {
        struct pollfd in = {.fd = g->fd, .events = POLLIN};
        if (poll(&in, 1, (int)(1000 * TURN)) > 0)
            return NULL;
    }
    g->lost(g->self, -1, true);
    return NULL;
}

void guard_begin(guard *g)
{
    if (!g)
        return;
    g->fd = g->patience > 0 ? eventfd(0, EFD_CLOEXEC) : -1;
    if (g->fd >= 0 && !quiet_thread(&g->thread, count_turns, g)) {
        close(g->fd);
        g->fd = -1;
    }
}

void guard_end(guard *g)
{
    if (!g || g->fd < 0)
        return;
    const uint64_t over = 1;
    (void)!write(g->fd, &over, sizeof over);
    pthread_join(g->thread, NULL);
    close(g->fd);
    g->fd = -1;
}
