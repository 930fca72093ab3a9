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
        poll(&in, 1, (int)(1000 * TURN));
        if (atomic_load(&g->over))
            return NULL;
    }
    g->lost(g->self, -1, true);
    return NULL;
}

void guard_begin(guard *g)
{
    if (!g)
        return;
    atomic_store(&g->over, false);
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
    const uint64_t wake = 1;
    atomic_store(&g->over, true);
    (void)!write(g->fd, &wake, sizeof wake); /* or the turn ends by itself */
    pthread_join(g->thread, NULL);
    close(g->fd);
    g->fd = -1;
}
