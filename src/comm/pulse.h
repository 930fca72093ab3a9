/* pulse.h - private to src/comm: signs of life beside MPI, which waits for ever for a rank whose host or network is gone,
 * or that was stopped. See bda_comm_watch. */
#ifndef COMM_PULSE_H
#define COMM_PULSE_H

typedef struct pulse pulse;

/* Nobody misses this rank any more. Accepts NULL. */
void pulse_stop(pulse *p);

#endif
