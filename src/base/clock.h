/* clock.h - wall-clock seconds from a clock that never runs backwards. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

double clock_now(void);

#endif
