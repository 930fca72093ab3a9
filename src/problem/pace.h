/* pace.h - how fast the gap falls for the work that is done, and how much work is left.
 *
 * The gap of a dual method falls about linearly on a logarithmic scale, with jumps. So its rate is that of the last
 * observations, averaged, and the work left is log(gap / target) over the rate. Work is in the unit of who observes:
 * epochs, or what corresponds to them. All numbers are the same on every rank. */
#ifndef PROBLEM_PACE_H
#define PROBLEM_PACE_H

typedef struct pace {
    double to_go;      /* gap over target at the last observation; 0: there was none */
    double work;       /* in all */
    double rate;       /* decrease of log(gap) for a unit of work, smoothed; 0: not known */
    double left;       /* work until the target at that rate; 0: not known */
    double left_worst; /* the same where it falls at no more than twice the rate seen last */
} pace;

/* The gap is to_go times the target, after `work` more. to_go INFINITY: not known, or the target is 0. */
void pace_observe(pace *p, double to_go, double work);

#endif
