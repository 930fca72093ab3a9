/* guard.h - private to src/comm: a limit for what must not take long, but cannot be left by whoever waits in it, such as
 * the first messages of MPI. */
#ifndef COMM_GUARD_H
#define COMM_GUARD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef struct guard {
    double patience; /* seconds; 0: no limit */
    void (*lost)(void *self, int rank, bool first);
    void *self;
    int fd; /* wakes the thread; -1: it has not begun */
    _Atomic bool over;
    pthread_t thread;
} guard;

/* From now on, until guard_end, `patience` seconds may pass; then `lost` is called, from another thread. Time during
 * which this process is stopped does not count. Where there is no thread, there is no limit. Accepts NULL. */
void guard_begin(guard *g);
void guard_end(guard *g);

/* A thread that gets no signals: they are for those that the program knows of. */
bool quiet_thread(pthread_t *thread, void *(*work)(void *self), void *self);

#endif
